//! One table through every source: files, readers of any kind, several texts, and memory.

use crate::files::{Files, options};
use linsep_data::basis::BasisSpec;
use linsep_data::input::InputMap;
use linsep_data::read::{Input, RowSource, read, read_from, stream_from};
use linsep_data::{Code, Dataset, Error, RowsView};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;

/// A table of some thousand rows, so that it takes several pieces.
fn table() -> String {
    let row =
        |i: usize| format!("{},{}.5,{},{}\n", i % 7, i % 11, (i * i) % 13, ["no", "yes"][i % 2]);
    let rows: String = (0..30_000).map(row).collect();
    format!("a,b,c,label\n{rows}")
}

/// A reader that gives a few bytes at a time.
struct Drops<'a>(&'a [u8]);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let few = buffer.len().min(1013);
        self.0.read(&mut buffer[..few])
    }
}

/// A reader that breaks off.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::from(io::ErrorKind::ConnectionReset))
    }
}

#[test]
fn a_table_is_the_same_from_files_and_from_readers() {
    let text = table();
    let plain = options(|_| ());
    let files = Files::new(&[("t.csv", text.as_bytes())]);
    let wanted = read(&files.paths, &plain).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let (head, rows) = text.split_once('\n').unwrap();
    let half = rows.len() / 2 + rows[rows.len() / 2..].find('\n').unwrap() + 1;
    let first = format!("{head}\n{}", &rows[..half]);
    let second = Files::new(&[("second.csv", format!("{head}\n{}", &rows[half..]).as_bytes())]);
    let several = vec![Input::reader(first.as_bytes(), "first"), Input::path(&second.paths[0])];
    let sources = [
        ("bytes", RowSource::reader(text.as_bytes(), "bytes", &plain)),
        ("drops", RowSource::reader(Drops(text.as_bytes()), "drops", &plain)),
        ("packed", RowSource::reader(&packed[..], "packed", &plain)),
        ("several", RowSource::new(several, &plain)),
        ("data", RowSource::from(&wanted.data)),
    ];
    for (name, source) in sources {
        let found = source.read(None).unwrap().data;
        assert_eq!(found.identity(1), wanted.data.identity(1), "{name}");
        assert_eq!(found.classes(), wanted.data.classes(), "{name}");
        assert_eq!(found.input(), wanted.data.input(), "{name}");
        assert_eq!(found.encoding(), wanted.data.encoding(), "{name}");
    }
    let found = read_from(text.as_bytes(), "table", &plain).unwrap();
    assert_eq!(found.data.digest(1), wanted.data.digest(1));
    let (mut rows, mut digests) = (0, linsep_proof::digest::Digester::default());
    let source = RowSource::reader(Drops(text.as_bytes()), "drops", &plain);
    source
        .parts(None, |_, part| {
            rows += part.n_rows();
            digests.add(&part);
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    assert_eq!(rows, wanted.data.n_rows());
    assert_eq!(digests.finish().1, wanted.data.digest(1));
}

#[test]
fn errors_in_readers_name_them_and_their_line() {
    let plain = options(|_| ());
    let error = read_from("a,label\n1,x\nq,y\n".as_bytes(), "my table", &plain).unwrap_err();
    let Error::Data(data) = &error else { panic!("{error}") };
    let place = &data.problems[0].place;
    assert_eq!((place.file.as_deref(), place.line), (Some("my table"), Some(3)));
    for rows in [0, 1, 200_000] {
        let text = "1,2,a\n3,4,b\n".repeat(rows);
        let error = read_from(text.as_bytes().chain(Broken), "a socket", &plain).unwrap_err();
        let names_it = error.to_string().contains("a socket");
        assert!(matches!(error, Error::Io { .. }) && names_it, "{error}");
    }
    let error = read_from(&b""[..], "nothing", &plain).unwrap_err();
    assert_eq!(error.code(), Code::EMPTY);
    assert!(error.to_string().contains("nothing"), "{error}");
    let map = InputMap::plain(1);
    let none = stream_from("label,a\n".as_bytes(), "no rows", &plain, &map, false, |_, _| Ok(()));
    assert!(none.unwrap_err().to_string().contains("no rows"));
    // What is only in a reader cannot be read again.
    let late: String =
        (0..40_000).map(|i| format!("{} 1:1 5:2\n", i % 2)).collect::<String>() + "1 0:3\n";
    let files = Files::new(&[("late.svm", late.as_bytes())]);
    assert_eq!(read(&files.paths, &plain).unwrap().data.n_features(), 6);
    let error = read_from(late.as_bytes(), "a pipe", &plain).unwrap_err();
    assert_eq!(error.code(), Code::BAD_INDEX);
    assert!(error.to_string().contains("a pipe"), "{error}");
}

/// Columns and bits of the values of a row that are not 0.
type Entries = Vec<(u32, u64)>;

/// Labels and features of all rows, as a model with this map takes them.
fn rows_of(source: RowSource<'_>, map: &InputMap) -> (Vec<Option<String>>, Vec<Entries>) {
    let (mut labels, mut rows) = (Vec::new(), Vec::new());
    source
        .blocks(map, false, |_, chunk| {
            for row in 0..chunk.n_rows() {
                labels.push(chunk.label(row).map(str::to_owned));
                let mut entries = Vec::new();
                chunk.store().for_each_entry(row, &mut |j, x| entries.push((j, x.to_bits())));
                rows.push(entries);
            }
            Ok(())
        })
        .unwrap();
    (labels, rows)
}

#[test]
fn blocks_are_the_same_from_texts_and_from_memory() {
    let text = table();
    let plain = options(|_| ());
    let data = read_from(text.as_bytes(), "t", &plain).unwrap().data;
    let basis: BasisSpec = "poly:2".parse().unwrap();
    let expanded = data.clone().with_basis(&basis, None, 0, None).unwrap();
    let other: BasisSpec = "a*b".parse().unwrap();
    let other = data.clone().with_basis(&other, None, 0, None).unwrap();
    let values: Vec<f64> = (0..data.n_rows()).flat_map(|row| data.row(row)).collect();
    let view = || RowsView::dense(&values, data.n_rows(), data.n_features()).unwrap();
    let (mut starts, mut columns, mut kept) = (vec![0], Vec::new(), Vec::new());
    for row in 0..data.n_rows() {
        data.for_each(row, |column, value| {
            columns.push(column);
            kept.push(value);
        });
        starts.push(kept.len());
    }
    let sparse = || RowsView::csr(&starts, &columns, &kept, data.n_features()).unwrap();
    for map in [data.input(), expanded.input()] {
        let (labels, rows) = rows_of(RowSource::reader(text.as_bytes(), "t", &plain), map);
        assert_eq!(labels.len(), 30_000);
        for (name, data) in [("data", &data), ("same basis", &expanded), ("other basis", &other)] {
            let found = rows_of(data.into(), map);
            assert!(found == (labels.clone(), rows.clone()), "{name}");
            let whole = RowSource::from(data).read(Some(map)).unwrap().data;
            assert_eq!(whole.input().basis, map.basis, "{name}");
            assert_eq!(whole.n_features(), map.width(), "{name}");
            assert_eq!(whole.digest(1), data.digest(1), "{name}");
        }
        let features = RowsView::from(data.features());
        for (name, view) in [("dense", view()), ("sparse", sparse()), ("features", features)] {
            let found = rows_of(view.into(), map);
            assert!(found.0.iter().all(Option::is_none), "{name}");
            assert!(found.1 == rows, "{name}");
        }
    }
}

#[test]
fn memory_that_does_not_fit_is_refused() {
    let data = Dataset::from_rows(&[[1.0, 2.0], [3.0, 4.0]], &["a", "b"]).unwrap();
    let view = RowsView::dense(&[1.0, 2.0], 1, 2).unwrap();
    let blocks = |source: RowSource<'_>, width: usize, need_label: bool| {
        let map = InputMap::plain(width);
        source.blocks(&map, need_label, |_, _| Ok(())).map(|_| ()).map_err(|error| error.code())
    };
    assert_eq!(blocks((&data).into(), 3, false), Err(Code::WIDTH));
    assert_eq!(blocks(view.into(), 1, false), Err(Code::WIDTH));
    assert_eq!(blocks(view.into(), 2, true), Err(Code::NO_LABEL));
    assert_eq!(blocks(view.into(), 2, false), Ok(()));
    assert_eq!(blocks((&data).into(), 2, true), Ok(()));
    let code = |source: RowSource<'_>, map: Option<&InputMap>| source.read(map).unwrap_err().code();
    assert_eq!(code(view.into(), None), Code::NO_LABEL);
    assert_eq!(code((&data).into(), Some(&InputMap::plain(5))), Code::WIDTH);
}
