//! Every reader: whatever the bytes are, it answers or refuses, and what it reads can be used.

use linsep::data::basis::BasisSpec;
use linsep::data::read::{
    BadRows, Categorical, Format, Missing, ReadOptions, ReadingChoice, read_from,
};
use linsep::data::write::{OutputFormat, write};
use linsep::file::ModelFile;
use linsep::file::checkpoint::Checkpoint;
use linsep::learn::perceptron::Perceptron;
use linsep::model::foreign::ForeignModel;
use linsep::proof::{CertificateFile, check_file};
use linsep::{Dataset, Learner, Limits, Task, drive};
use linsep_teach::trace::{Replay, Tracer};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// No input may make a reader hold more.
const MEMORY: u64 = 64 << 20;

/// Options that the first byte chooses, and the rest of the bytes.
fn options(bytes: &[u8], format: Format) -> (ReadOptions, &[u8]) {
    let (first, rest) = bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest));
    let mut options = ReadOptions::default();
    options.format = format;
    options.max_memory = Some(MEMORY);
    options.threads = 1 + usize::from(first & 1);
    options.missing = [Missing::Error, Missing::DropRow, Missing::Mean, Missing::Zero]
        [usize::from(first >> 1 & 3)];
    if first & 8 > 0 {
        options.categorical = Categorical::OneHot;
    }
    if first & 16 > 0 {
        options.bad_rows = BadRows::Skip;
        options.allow_bad = Some(1000);
    }
    if first & 32 > 0 {
        options.reading = ReadingChoice::Binary64;
    }
    options.allow_lossy = first & 64 > 0;
    (options, rest)
}

fn read(bytes: &[u8], format: Format) {
    let (options, rest) = options(bytes, format);
    if let Ok(result) = read_from(rest, "bytes", &options) {
        let data = result.data;
        assert_eq!(data.digest(1), data.digest(2));
        for row in 0..data.n_rows() {
            // Row by row as it is stored: a row of all columns may be far larger than the data.
            data.for_each(row, |_, x| assert!(x.is_finite()));
            assert!((data.class_of(row) as usize) < data.n_classes());
        }
    }
}

pub(crate) fn csv(bytes: &[u8]) {
    read(bytes, Format::Csv);
    read(bytes, Format::Auto);
}

pub(crate) fn svmlight(bytes: &[u8]) {
    read(bytes, Format::Svmlight);
}

/// The bytes as they are, which are mostly no archive, and their archive, which is mostly no table.
pub(crate) fn packed(bytes: &[u8]) {
    read(bytes, Format::Auto);
    let (first, rest) = bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest));
    let mut packed = match first & 128 {
        0 => gzip(rest),
        _ => zstd::encode_all(rest, 1).unwrap_or_default(),
    };
    packed.insert(0, first);
    read(&packed, Format::Auto);
}

/// Parquet and Arrow, which are known by their first bytes.
pub(crate) fn columnar(bytes: &[u8]) {
    read(bytes, Format::Auto);
}

/// Small files of columns, as other programs and as linsep write them.
pub(crate) fn columns() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/columnar");
    let names = [
        "table-polars.parquet",
        "table-groups.parquet",
        "table-pages2.parquet",
        "gaps-polars.arrow",
        "table-stream.arrows",
    ];
    let mut seeds: Vec<Vec<u8>> =
        names.iter().filter_map(|name| std::fs::read(folder.join(name)).ok()).collect();
    assert_eq!(seeds.len(), names.len(), "testdata is there");
    for format in [OutputFormat::Parquet, OutputFormat::Arrow] {
        let mut file = Vec::new();
        write(&table_of_and(), format, &mut file).expect("memory can be written to");
        seeds.push(file);
    }
    // The first byte chooses the options.
    seeds.iter_mut().for_each(|seed| seed.insert(0, 0));
    seeds
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default()
}

/// A container whose checksum fits again, so that what is behind it is reached.
fn sealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let size = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
    let start = 8usize.checked_add(usize::try_from(size).ok()?)?;
    let header = std::str::from_utf8(bytes.get(8..start)?).ok()?;
    let (_, entry) = header.split_once("\"sha256\":")?;
    let (_, offsets) = entry.split_once("\"data_offsets\":[")?;
    let at = start.checked_add(offsets.split_once(',')?.0.trim().parse().ok()?)?;
    let mut sealed = bytes.to_vec();
    sealed.get_mut(at..at.checked_add(32)?)?.fill(0);
    let digest = Sha256::digest(&sealed);
    sealed[at..at + 32].copy_from_slice(&digest);
    Some(sealed)
}

pub(crate) fn model(bytes: &[u8]) {
    let path = Path::new("bytes");
    for bytes in [Some(bytes.to_vec()), sealed(bytes)].into_iter().flatten() {
        let Ok(file) = ModelFile::from_bytes(&bytes, path, MEMORY) else { continue };
        let written = file.to_bytes().expect("what was read can be written");
        let again = ModelFile::from_bytes(&written, path, u64::MAX).expect("and read again");
        assert_eq!(again.model.planes.len(), file.model.planes.len());
        let features = vec![0.5; file.model.input.width()];
        let _ = file.model.predict(&features);
    }
}

pub(crate) fn certificate(bytes: &[u8]) {
    let Ok(file) = CertificateFile::from_json(bytes) else { return };
    let again =
        CertificateFile::from_json(file.to_json().as_bytes()).expect("what was read is written");
    assert_eq!(again, file);
    let data = table_of_and();
    let digest = data.digest_of(file.data.digest, 1);
    let one = check_file(&file, &data, &digest, 1);
    assert_eq!(one, check_file(&file, &data, &digest, 3));
    // The data is the file's only by its digest; without it every claim is still looked at.
    let mut own = file;
    (own.data.sha256, own.data.rows) = (digest.clone(), 4);
    check_file(&own, &data, &digest, 1);
}

pub(crate) fn checkpoint(bytes: &[u8]) {
    for bytes in [Some(bytes.to_vec()), sealed(bytes)].into_iter().flatten() {
        let _ = Checkpoint::from_bytes(&bytes, Path::new("bytes"));
    }
}

pub(crate) fn trace(bytes: &[u8]) {
    let Ok(mut replay) = Replay::open(Path::new("bytes"), bytes, Some(MEMORY)) else { return };
    if replay.on(Arc::new(table_of_and()), 1).is_err() {
        return;
    }
    for _ in 0..1000 {
        match replay.next_step(true) {
            Ok(Some(_)) => {}
            _ => return,
        }
    }
}

pub(crate) fn foreign(bytes: &[u8]) {
    let Ok(model) = ForeignModel::parse(bytes, Path::new("bytes")) else { return };
    let _ = model.planes_for(&["-1".to_owned(), "1".to_owned()], 4);
}

pub(crate) fn expressions(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = text.parse::<BasisSpec>();
    let _ = text.parse::<linsep::engine::rate::Rate>();
    for recipe in linsep::recipe::ALL {
        for parameter in recipe.parameters {
            let mut settings = linsep::recipe::Settings::default();
            settings.set(parameter.name, text);
            let _ = recipe.build(&settings);
        }
    }
}

// ---- Seeds.

fn testdata(folder: &str, endings: &[&str]) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../testdata").join(folder);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let fits = |path: &PathBuf| endings.iter().any(|end| path.to_string_lossy().ends_with(end));
    let files = paths.iter().filter(|path| fits(path));
    files.filter_map(|path| std::fs::read(path).ok()).filter(|bytes| bytes.len() < 50_000).collect()
}

fn with_options(seeds: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let options = [0u8, 10, 31, 64, 52];
    let with = |(k, mut seed): (usize, Vec<u8>)| {
        seed.insert(0, options[k % options.len()]);
        seed
    };
    seeds.into_iter().enumerate().map(with).collect()
}

pub(crate) fn tables() -> Vec<Vec<u8>> {
    let mut seeds = testdata("certificates", &[".csv"]);
    seeds.push(b"a;b;label\n1,5;?;x\n\"2\";\"q\"\"\";y\r\n".to_vec());
    seeds.push(b"\xef\xbb\xbfid,colour,y\n1,red,0\n2,,1\n3,NA,1\n4,blue,0".to_vec());
    seeds.push(b"1\t2\t1e300\tno\n-0\t0.1\t9007199254740993\tyes\n".to_vec());
    with_options(seeds)
}

pub(crate) fn sparse() -> Vec<Vec<u8>> {
    let mut seeds = testdata("certificates", &[".svm"]);
    seeds.push(b"+1 1:0.5 3:2 # note\n-1 qid:4 2:1e-3\n+1\n".to_vec());
    seeds.push(b"2 0:1 4294967290:0.12345678901234567\n1 1:1\n".to_vec());
    with_options(seeds)
}

pub(crate) fn packings() -> Vec<Vec<u8>> {
    let plain = tables();
    let packed = plain.iter().map(|seed| gzip(&seed[1..]));
    let dense = plain.iter().filter_map(|seed| zstd::encode_all(&seed[1..], 1).ok());
    let seeds = packed.chain(dense).collect();
    with_options(seeds).into_iter().chain(plain.clone()).collect()
}

pub(crate) fn models() -> Vec<Vec<u8>> {
    let mut seeds = testdata("models/v2", &[".linsep"]);
    seeds.extend(testdata("models/runs", &[".linsep"]));
    seeds.extend(testdata("models", &[".linsep"]));
    seeds
}

pub(crate) fn certificates() -> Vec<Vec<u8>> {
    let mut seeds = testdata("certificates", &[".json"]);
    seeds.extend(testdata("certificates/optimal", &[".json"]));
    seeds.extend(testdata("certificates/basis", &[".json"]));
    seeds
}

pub(crate) fn checkpoints() -> Vec<Vec<u8>> {
    testdata("models/runs", &[".checkpoint"])
}

/// Traces of real runs on the table that they are replayed on.
pub(crate) fn traces() -> Vec<Vec<u8>> {
    let trace = |perceptron: Perceptron| {
        let task = Task::new(table_of_and());
        let mut run = perceptron.start(&task).expect("two classes");
        let (mut file, mut nobody) = (Vec::new(), ());
        let mut tracer = Tracer::new(&task.data, "perceptron", &mut file, &mut nobody);
        drive(run.as_mut(), &Limits::default(), &mut tracer);
        tracer.finish().expect("memory takes everything");
        file
    };
    vec![trace(Perceptron::default()), trace(Perceptron::default().with_seed(3))]
}

/// The table of AND.
fn table_of_and() -> Dataset {
    let table = "a,b,label\n0,0,0\n0,1,0\n1,0,0\n1,1,1\n";
    read_from(table.as_bytes(), "table", &ReadOptions::default()).expect("a table").data
}

pub(crate) fn foreign_models() -> Vec<Vec<u8>> {
    vec![
        b"solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 3\nbias 1\nw\n0.5 \n-1 \n2e-3 \n0.25 \n".to_vec(),
        b"svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0.5\nlabel 1 -1\nnr_sv 1 0\nSV\n0.5 1:1 \n".to_vec(),
        b"{\"coef\":[[0.5,-1.0]],\"intercept\":[0.25],\"classes\":[\"a\",\"b\"]}".to_vec(),
        b"label,bias,x1,x2\n1,0.5,1,2\n".to_vec(),
    ]
}

pub(crate) fn words() -> Vec<Vec<u8>> {
    let words = [
        "poly:2",
        "rbf:3,0.5",
        "x1*x2",
        "x1^2*x3,x2",
        "1/k",
        "0.5/sqrt(k)",
        "inv:0.1",
        "halve:3",
        "none",
        "x1=0.1",
        "x1=-1,x2=2",
        "1e-3",
        "auto",
        "clean-window:5",
        "below:0.1",
    ];
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}
