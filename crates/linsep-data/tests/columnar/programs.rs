//! Files as pandas, polars and pyarrow write them: the same data set as from the CSV of the table.

use crate::assert_same;
use crate::files::options;
use linsep_data::read::{Choices, Format, Missing, ReadOptions, ReadResult, RowSource, read};
use linsep_data::{Code, Error, Result};
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/columnar")
}

fn read_file(name: &str, set: impl FnOnce(&mut ReadOptions)) -> Result<ReadResult> {
    read(&[folder().join(name)], &options(set))
}

/// The files of the folder that hold a table, by their first word.
fn files(table: &str) -> Vec<String> {
    let names = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.starts_with(&format!("{table}-")))
        .collect();
    names.sort();
    assert!(names.len() >= 5, "{names:?}");
    names
}

/// What was decided about columns, without the index of pandas, which the CSV does not have.
fn decisions(choices: &Choices) -> Vec<String> {
    let notes = choices.columns.iter().filter(|note| !note.name.starts_with("__index_level"));
    notes.map(|note| note.words.clone()).collect()
}

#[test]
fn a_table_is_the_same_in_every_form() {
    let wanted = read_file("table.csv", |_| ()).unwrap();
    assert!(decisions(&wanted.choices).iter().any(|words| words.contains("it holds dates")));
    for name in files("table") {
        for threads in [1, 3] {
            let found = read_file(&name, |options| options.threads = threads).unwrap();
            assert_same(&found.data, &wanted.data, &name);
            assert_eq!(decisions(&found.choices), decisions(&wanted.choices), "{name}");
            assert_eq!(found.choices.label, wanted.choices.label, "{name}");
            assert!(!found.data.reading().decimal && wanted.data.reading().decimal, "{name}");
        }
        let index = name == "table-index.parquet";
        let left_out = |choices: &Choices| choices.columns.iter().filter(|note| !note.used).count();
        let found = read_file(&name, |_| ()).unwrap();
        assert_eq!(left_out(&found.choices), 1 + usize::from(index), "{name}");
    }
}

#[test]
fn gaps_are_refused_dropped_and_filled_alike() {
    for name in files("gaps") {
        for rule in [Missing::DropRow, Missing::Mean, Missing::Median, Missing::Mode, Missing::Zero]
        {
            for indicator in [false, true] {
                let set = |options: &mut ReadOptions| {
                    options.missing = rule;
                    options.missing_indicator = indicator && rule != Missing::DropRow;
                };
                let (found, wanted) =
                    (read_file(&name, set).unwrap(), read_file("gaps.csv", set).unwrap());
                assert_same(&found.data, &wanted.data, &format!("{name} {rule:?}"));
                assert_eq!(found.choices.filled, wanted.choices.filled, "{name}");
                assert_eq!(found.choices.dropped_rows, wanted.choices.dropped_rows, "{name}");
            }
        }
        let refused = |name: &str| match read_file(name, |_| ()) {
            Err(Error::Data(error)) => error.problems[0].clone(),
            _ => panic!("{name} has gaps"),
        };
        let (found, wanted) = (refused(&name), refused("gaps.csv"));
        assert_eq!((found.code, &found.message), (Code::MISSING, &wanted.message), "{name}");
        assert_eq!((found.place.row, &found.place.field), (wanted.place.row, &wanted.place.field));
        assert_eq!((found.place.line, found.help), (None, wanted.help), "{name}");
    }
}

#[test]
fn the_reading_is_decimal_where_that_is_asked_for() {
    use linsep_data::read::ReadingChoice::Decimal;
    let wanted = read_file("table.csv", |_| ()).unwrap();
    for name in files("table") {
        let found = read_file(&name, |options| options.reading = Decimal).unwrap();
        assert_eq!(found.data.reading(), wanted.data.reading(), "{name}");
        assert_eq!(found.choices.long, wanted.choices.long, "{name}");
    }
}

#[test]
fn formats_are_found_and_wrong_claims_refused() {
    for name in files("table") {
        let format = if name.ends_with("parquet") { Format::Parquet } else { Format::Arrow };
        assert_eq!(read_file(&name, |_| ()).unwrap().choices.format, format);
        assert!(read_file(&name, |options| options.format = format).is_ok());
        let other = if format == Format::Arrow { Format::Parquet } else { Format::Csv };
        let error = read_file(&name, |options| options.format = other).unwrap_err();
        assert_eq!(error.code(), Code::WRONG_FORMAT, "{name}");
        let error = read_file("table.csv", |options| options.format = format).unwrap_err();
        assert_eq!(error.code(), Code::WRONG_FORMAT, "{name}");
    }
}

#[test]
fn a_model_of_one_form_takes_the_rows_of_the_others() {
    let map = read_file("table.csv", |_| ()).unwrap().data.input().clone();
    let rows = |name: &str, fields: bool| {
        let options = options(|options| options.keep_fields = fields);
        let (mut values, mut texts) = (Vec::new(), Vec::new());
        let source = RowSource::files(&[folder().join(name)], &options);
        let each = |choices: &Choices, chunk: linsep_data::read::Chunk<'_>| {
            for row in 0..chunk.n_rows() {
                let mut scratch = Vec::new();
                chunk.store().for_each(row, &mut scratch, |column, value: f64| {
                    values.push((column, value.to_bits()));
                });
                values.push((u32::MAX, 0));
                texts.push(chunk.fields(row, choices));
            }
            Ok(())
        };
        source.blocks(&map, true, each).unwrap();
        (values, texts)
    };
    let (wanted, fields) = rows("table.csv", false);
    for name in files("table") {
        let (values, texts) = rows(&name, true);
        assert_eq!(values, wanted, "{name}");
        let numbers = |texts: &[Vec<String>]| -> Vec<String> {
            texts.iter().map(|fields| [0, 2, 3].map(|f| fields[f].clone()).join("|")).collect()
        };
        assert_eq!(numbers(&texts), numbers(&fields), "{name}");
        assert!(rows(&name, false).1.iter().all(Vec::is_empty), "{name}");
    }
}

#[test]
fn several_files_packed_files_and_streams() {
    let wanted = read_file("table.csv", |_| ()).unwrap();
    let bytes = std::fs::read(folder().join("table-polars.parquet")).unwrap();
    let twice = crate::files::Files::new(&[("1.parquet", &bytes), ("2.parquet", &bytes)]);
    assert_eq!(twice.read(|_| ()).unwrap().data.n_rows(), 2 * wanted.data.n_rows());
    let csv = std::fs::read(folder().join("table.csv")).unwrap();
    let mixed = crate::files::Files::new(&[("1.parquet", &bytes), ("2.csv", &csv)]);
    assert_eq!(mixed.read(|_| ()).unwrap_err().code(), Code::PARTS_DIFFER);
    #[cfg(feature = "gzip")]
    {
        let path = twice.folder().join("t.parquet.gz");
        crate::files::pack(&path, linsep_data::write::Packing::Gzip, |out| {
            out.write_all(&bytes).unwrap();
        });
        assert_same(&read(&[path], &options(|_| ())).unwrap().data, &wanted.data, "gzip");
    }
    let limited = crate::read_bytes(&bytes, |options| options.limit = Some(7)).unwrap();
    assert_eq!(limited.data.n_rows(), 7);
}

#[test]
fn a_survey_sees_the_same_columns() {
    let survey = |name: &str| {
        let source = RowSource::files(&[folder().join(name)], &options(|_| ()));
        source.survey().unwrap().unwrap()
    };
    let wanted = survey("gaps.csv");
    for name in files("gaps") {
        let found = survey(&name);
        assert_eq!((found.records, found.label), (wanted.records, wanted.label), "{name}");
        for (found, wanted) in found.columns.iter().zip(&wanted.columns) {
            assert_eq!((&found.name, found.kind), (&wanted.name, wanted.kind), "{name}");
            assert_eq!(
                (found.missing, found.distinct),
                (wanted.missing, wanted.distinct),
                "{name}"
            );
            assert_eq!(found.range, wanted.range, "{name}");
        }
    }
}
