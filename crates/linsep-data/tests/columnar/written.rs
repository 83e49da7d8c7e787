//! What is written reads back as the same data set.

use crate::files::{read_text, read_with};
use crate::{assert_same, read_bytes};
use linsep_data::Dataset;
use linsep_data::write::{OutputFormat, RowWriter, losses, write};

fn written(data: &Dataset, format: OutputFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(data, format, &mut bytes).unwrap();
    bytes
}

#[test]
fn tables_come_back() {
    let texts = [
        "a,b,label\n1,0.1,x\n-2,0,y\n0.30000000000000004,1e300,x\n",
        "a,b,kind\n1,0.5,red\n2,5,blue\n3,7,red\n4,-8,blue\n",
        "label,f 1,\"f,2\"\n1,2,3\n-1,4,5\n1,0,0\n",
    ];
    for text in texts {
        let data = read_text(text).data;
        for format in [OutputFormat::Parquet, OutputFormat::Arrow] {
            assert!(losses(&data, format).is_empty());
            let back = read_bytes(&written(&data, format), |_| ()).unwrap();
            assert_same(&back.data, &data, text);
        }
    }
}

#[test]
fn weights_are_a_column() {
    let set = |options: &mut linsep_data::read::ReadOptions| {
        options.weight = Some("w".parse().unwrap());
    };
    let data = read_with("a,w,label\n1,2,x\n3,0.5,y\n", set).unwrap().data;
    let back = read_bytes(&written(&data, OutputFormat::Parquet), |options| {
        options.weight = Some("weight".parse().unwrap());
    });
    assert_same(&back.unwrap().data, &data, "weights");
}

#[test]
fn many_rows_are_several_groups() {
    let rows = 300_000;
    for format in [OutputFormat::Parquet, OutputFormat::Arrow] {
        let mut bytes = Vec::new();
        let names = ["a".to_owned(), "b".to_owned()];
        let mut writer = RowWriter::new(&mut bytes, format, "label", &names, None).unwrap();
        for i in 0..rows {
            let entries = [(0, f64::from(i % 1000)), (1, f64::from(i) / 8.0)];
            writer.row(["no", "yes"][i as usize % 2], &entries[(i % 2) as usize..], None).unwrap();
        }
        writer.finish().unwrap();
        let one = read_bytes(&bytes, |_| ()).unwrap().data;
        let two = read_bytes(&bytes, |options| options.threads = 2).unwrap().data;
        assert_eq!((one.n_rows(), one.digest(2)), (rows as usize, two.digest(1)));
        // What comes through a reader is held as a whole, where that is allowed.
        let error = read_bytes(&bytes, |options| options.max_memory = Some(1 << 20)).unwrap_err();
        assert_eq!(error.code(), linsep_data::Code::MEMORY);
    }
}

#[test]
fn labels_that_would_read_as_gaps_are_losses() {
    let data = read_text("1 1:2\nNA 1:3\n").data;
    for format in [OutputFormat::Parquet, OutputFormat::Arrow] {
        assert!(losses(&data, format)[0].contains("missing value"));
    }
}
