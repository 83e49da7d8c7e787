//! Every type of a column, against the texts that a CSV has for its values.

use crate::files::read_with;
use crate::{assert_same, forms, parquet, read_bytes};
use arrow_array::types::{Float16Type, Int8Type, Int32Type, UInt16Type};
use arrow_array::*;
use linsep_data::read::{Categorical, ColumnRange, Missing};
use linsep_data::{Code, Error};
use std::sync::Arc;

fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap()
}

fn labels(rows: usize) -> ArrayRef {
    Arc::new((0..rows).map(|i| Some(["no", "yes"][i % 2])).collect::<StringArray>())
}

/// The CSV of a column and labels.
fn csv(texts: &[&str]) -> String {
    let mut text = "x,z,label\n".to_owned();
    for (i, field) in texts.iter().enumerate() {
        text.push_str(&format!("{field},{i},{}\n", ["no", "yes"][i % 2]));
    }
    text
}

fn of_column(column: ArrayRef) -> RecordBatch {
    let rows = column.len();
    let z: ArrayRef = Arc::new(
        (0..rows as i32).collect::<Vec<_>>().into_iter().map(Some).collect::<Int32Array>(),
    );
    table(vec![("x", column), ("z", z), ("label", labels(rows))])
}

#[test]
fn every_type_gives_what_its_text_gives() {
    let half = |x: f32| <Float16Type as ArrowPrimitiveType>::Native::from_f32(x);
    let dictionary: DictionaryArray<Int8Type> = ["a", "b", "a", "c"].into_iter().collect();
    let mut numbers = builder::PrimitiveDictionaryBuilder::<UInt16Type, Int32Type>::new();
    [7, -3, 7, 9].into_iter().for_each(|n| numbers.append_value(n));
    let decimals = |scale| {
        let array = Decimal128Array::from(vec![12345, -600, 7, 0]);
        Arc::new(array.with_precision_and_scale(20, scale).unwrap()) as ArrayRef
    };
    let cases: Vec<(ArrayRef, [&str; 4])> = vec![
        (Arc::new(Int8Array::from(vec![1, -128, 127, 0])), ["1", "-128", "127", "0"]),
        (Arc::new(Int16Array::from(vec![1, -32768, 5, 0])), ["1", "-32768", "5", "0"]),
        (Arc::new(Int32Array::from(vec![1, i32::MIN, 5, 0])), ["1", "-2147483648", "5", "0"]),
        (
            Arc::new(Int64Array::from(vec![1 << 60, -1, 5, 0])),
            ["1152921504606846976", "-1", "5", "0"],
        ),
        (Arc::new(UInt8Array::from(vec![1, 255, 5, 0])), ["1", "255", "5", "0"]),
        (Arc::new(UInt16Array::from(vec![1, 65535, 5, 0])), ["1", "65535", "5", "0"]),
        (Arc::new(UInt32Array::from(vec![1, u32::MAX, 5, 0])), ["1", "4294967295", "5", "0"]),
        (
            Arc::new(UInt64Array::from(vec![1, 1 << 63, 5, 0])),
            ["1", "9223372036854775808", "5", "0"],
        ),
        (
            Arc::new(Float16Array::from(vec![half(0.5), half(-2.0), half(0.1), half(0.0)])),
            ["0.5", "-2", "0.0999755859375", "0"],
        ),
        (
            Arc::new(Float32Array::from(vec![0.5, -2.0, 0.1, 0.0])),
            ["0.5", "-2", "0.10000000149011612", "0"],
        ),
        (
            Arc::new(Float64Array::from(vec![0.1, -1e300, 1.0 / 3.0, -0.0])),
            ["0.1", "-1e300", "0.3333333333333333", "0"],
        ),
        (decimals(2), ["123.45", "-6", "0.07", "0"]),
        (decimals(0), ["12345", "-600", "7", "0"]),
        (
            Arc::new(BooleanArray::from(vec![true, false, true, true])),
            ["true", "false", "true", "true"],
        ),
        (Arc::new(StringArray::from(vec!["a", "b", "a", "c"])), ["a", "b", "a", "c"]),
        (Arc::new(StringArray::from(vec![" 1.5 ", "2", "-3e2", "0"])), ["1.5", "2", "-3e2", "0"]),
        (Arc::new(LargeStringArray::from(vec!["a", "b", "a", "c"])), ["a", "b", "a", "c"]),
        (
            Arc::new(StringViewArray::from(vec!["a", "a text that is longer", "a", "c"])),
            ["a", "a text that is longer", "a", "c"],
        ),
        (Arc::new(dictionary), ["a", "b", "a", "c"]),
        (Arc::new(numbers.finish()), ["7", "-3", "7", "9"]),
    ];
    for (column, texts) in cases {
        let kind = column.data_type().clone();
        let wanted = read_with(csv(&texts), |_| ()).unwrap();
        for (form, bytes) in forms(&of_column(column), 3) {
            let found = read_bytes(&bytes, |_| ()).unwrap_or_else(|e| panic!("{kind} {form}: {e}"));
            assert_same(&found.data, &wanted.data, &format!("{kind} {form}"));
        }
    }
}

#[test]
fn labels_of_every_type_are_the_same_classes() {
    let dictionary: DictionaryArray<Int32Type> = ["1", "2", "1", "2"].into_iter().collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![1, 2, 1, 2])),
        Arc::new(UInt8Array::from(vec![1, 2, 1, 2])),
        Arc::new(Float64Array::from(vec![1.0, 2.0, 1.0, 2.0])),
        Arc::new(StringArray::from(vec!["1", "2.0", "+1", "2"])),
        Arc::new(LargeStringArray::from(vec!["1", "2", "1", "2"])),
        Arc::new(StringViewArray::from(vec!["1", "2", "1", "2"])),
        Arc::new(dictionary),
    ];
    let wanted = read_with("x,label\n1,1\n2,2\n3,1\n4,2\n", |_| ()).unwrap();
    for label in columns {
        let kind = label.data_type().clone();
        let x: ArrayRef = Arc::new(Float32Array::from(vec![1.0, 2.0, 3.0, 4.0]));
        for (form, bytes) in forms(&table(vec![("x", x), ("label", label)]), 2) {
            let found = read_bytes(&bytes, |_| ()).unwrap();
            assert_same(&found.data, &wanted.data, &format!("{kind} {form}"));
        }
    }
}

#[test]
fn weights_and_chosen_columns() {
    let batch = table(vec![
        ("a", Arc::new(Int32Array::from(vec![1, 2, 3, 4]))),
        ("w", Arc::new(UInt8Array::from(vec![1, 0, 3, 4]))),
        ("b", Arc::new(Float64Array::from(vec![0.5, 0.25, 0.125, 4.0]))),
        ("label", labels(4)),
    ]);
    let text = "a,w,b,label\n1,1,0.5,no\n2,0,0.25,yes\n3,3,0.125,no\n4,4,4,yes\n";
    for (form, bytes) in forms(&batch, 3) {
        let set = |options: &mut linsep_data::read::ReadOptions| {
            options.weight = Some("w".parse().unwrap());
            options.drop = vec!["a".parse::<ColumnRange>().unwrap()];
        };
        let (found, wanted) = (read_bytes(&bytes, set).unwrap(), read_with(text, set).unwrap());
        assert_same(&found.data, &wanted.data, form);
    }
}

#[test]
fn dates_times_and_what_is_no_value_are_left_out_and_named() {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(
        (0..20).map(|i| Some(vec![Some(i), None])),
    );
    let pairs = vec![("p", Arc::new(Int32Array::from(vec![1; 20])) as ArrayRef)];
    let batch = table(vec![
        ("day", Arc::new(Date32Array::from((0..20).map(|i| 19_000 + i).collect::<Vec<_>>()))),
        (
            "at",
            Arc::new(TimestampNanosecondArray::from(
                (0..20).map(|i| i * 1_000_000_007).collect::<Vec<_>>(),
            )),
        ),
        (
            "hour",
            Arc::new(Time64MicrosecondArray::from(
                (0..20).map(|i| i * 61_000_000).collect::<Vec<_>>(),
            )),
        ),
        ("list", Arc::new(lists)),
        ("pair", Arc::new(StructArray::try_from(pairs).unwrap())),
        ("raw", Arc::new(BinaryArray::from(vec![&b"ab"[..]; 20]))),
        (
            "x",
            Arc::new(Float64Array::from((0..20).map(|i| f64::from(i) / 8.0).collect::<Vec<_>>())),
        ),
        ("label", labels(20)),
    ]);
    for (form, bytes) in forms(&batch, 7) {
        let found = read_bytes(&bytes, |_| ()).unwrap_or_else(|e| panic!("{form}: {e}"));
        assert_eq!(found.data.input().feature_names(), ["x"], "{form}");
        let words: Vec<&str> =
            found.choices.columns.iter().map(|note| note.words.as_str()).collect();
        for (name, why) in [
            ("day", "it holds dates"),
            ("at", "it holds dates"),
            ("hour", "it holds dates"),
            ("list", "it holds lists"),
            ("pair", "several values in each row"),
            ("raw", "it holds bytes"),
        ] {
            let named =
                |words: &&str| words.contains(&format!("\"{name}\"")) && words.contains(why);
            assert!(words.iter().any(named), "{form} {name}: {words:?}");
        }
        let error =
            read_bytes(&bytes, |options| options.keep = vec!["list".parse().unwrap()]).unwrap_err();
        assert_eq!(error.code(), Code::TEXT_COLUMN, "{form}");
        assert!(error.to_string().contains("it holds lists"), "{error}");
        let all = read_bytes(&bytes, |options| {
            options.categorical = Categorical::OneHot;
            options.keep = vec!["day".parse().unwrap()];
        });
        assert!(all.unwrap().data.n_features() > 20, "{form}");
    }
}

#[test]
fn bad_values_have_their_row_and_column() {
    let numbers = |bad: f64| -> ArrayRef { Arc::new(Float64Array::from(vec![1.0, 2.0, bad, 4.0])) };
    let wide: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, (1 << 53) + 1, 4]));
    let wide_unsigned: ArrayRef = Arc::new(UInt64Array::from(vec![1, 2, u64::MAX, 4]));
    for (column, code) in [
        (numbers(f64::NAN), Code::NOT_FINITE),
        (numbers(f64::INFINITY), Code::NOT_FINITE),
        (wide, Code::INEXACT_INTEGER),
        (wide_unsigned, Code::INEXACT_INTEGER),
        (Arc::new(Float64Array::from(vec![Some(1.0), Some(2.0), None, Some(4.0)])), Code::MISSING),
    ] {
        for (form, bytes) in forms(&of_column(column.clone()), 2) {
            for threads in [1, 2] {
                let Err(Error::Data(error)) =
                    read_bytes(&bytes, |options| options.threads = threads)
                else {
                    panic!("{form} {code}")
                };
                let problem = &error.problems[0];
                assert_eq!(problem.code, code, "{form}");
                assert_eq!((problem.place.row, problem.place.line), (Some(2), None), "{form}");
                assert_eq!(problem.place.field, Some((1, Some("x".into()))), "{form}");
            }
            let lossy = read_bytes(&bytes, |options| options.allow_lossy = true);
            assert_eq!(lossy.is_ok(), code == Code::INEXACT_INTEGER, "{form}");
            let rejects = read_bytes(&bytes, |options| {
                options.bad_rows = linsep_data::read::BadRows::Reject;
            });
            let rejects = String::from_utf8(rejects.unwrap().rejects).unwrap();
            assert!(
                rejects.starts_with("x,z,label\n") && rejects.ends_with(",2,no\n"),
                "{rejects}"
            );
        }
    }
    // What is not a number is a gap where gaps have a rule.
    let bytes = parquet(&of_column(numbers(f64::NAN)), 2);
    let dropped = read_bytes(&bytes, |options| options.missing = Missing::DropRow).unwrap();
    assert_eq!((dropped.data.n_rows(), dropped.choices.dropped_rows), (3, 1));
}

#[test]
fn threads_and_groups_change_nothing() {
    let rows = 6000;
    let value = |i: usize, k: usize| ((i * 7919 + k * 104_729) % 10_007) as f64;
    let words = ["red", "green", "blue", "a longer word"];
    let batch = table(vec![
        ("a", Arc::new(Float64Array::from_iter_values((0..rows).map(|i| value(i, 1) / 100.0)))),
        ("b", Arc::new(Int32Array::from_iter_values((0..rows).map(|i| value(i, 2) as i32)))),
        (
            "c",
            Arc::new(Float32Array::from_iter_values((0..rows).map(|i| value(i, 3) as f32 / 3.0))),
        ),
        ("d", Arc::new((0..rows).map(|i| Some(words[i * i % 4])).collect::<StringArray>())),
        ("label", labels(rows)),
    ]);
    let wanted = read_bytes(&parquet(&batch, rows), |_| ()).unwrap();
    for group in [1000, 6000, 311] {
        for (form, bytes) in forms(&batch, group) {
            for threads in [1, 2, 7] {
                let found = read_bytes(&bytes, |options| options.threads = threads).unwrap();
                assert_same(&found.data, &wanted.data, &format!("{form} {group} {threads}"));
            }
        }
    }
}

#[test]
fn dictionaries_of_a_stream_may_be_replaced() {
    use arrow_ipc::writer::StreamWriter;
    let part = |words: [&str; 2], first: i32| {
        let label: DictionaryArray<Int32Type> = words.into_iter().collect();
        let x: ArrayRef = Arc::new(Int32Array::from(vec![first, first + 1]));
        table(vec![("x", x), ("label", Arc::new(label))])
    };
    let parts = [part(["a", "b"], 0), part(["b", "c"], 2), part(["a", "c"], 4)];
    let mut writer = StreamWriter::try_new(Vec::new(), &parts[0].schema()).unwrap();
    parts.iter().for_each(|part| writer.write(part).unwrap());
    let bytes = writer.into_inner().unwrap();
    let wanted = read_with("x,label\n0,a\n1,b\n2,b\n3,c\n4,a\n5,c\n", |_| ()).unwrap();
    for threads in [1, 2] {
        let found = read_bytes(&bytes, |options| options.threads = threads).unwrap();
        assert_same(&found.data, &wanted.data, "replaced");
    }
}
