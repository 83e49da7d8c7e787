//! Compressed files that are damaged or expand too far, and unreadable files.

use super::common::{TWO, gzip, zstd};
use super::{Room, refused, refused_for_a_model};

/// A table that does not fit one small block of a packed stream.
fn table() -> Vec<u8> {
    let rows =
        (0..5_000u32).map(|i| format!("{},{},{}\n", i, i.wrapping_mul(2_654_435_761), i % 2));
    format!("a,b,label\n{}", rows.collect::<String>()).into_bytes()
}

#[test]
fn a_gzip_that_ends_early_is_refused_wherever_it_is_cut() {
    let whole = gzip(&table());
    for length in [3, 5, 11, 40, whole.len() / 2, whole.len() - 9, whole.len() - 8, whole.len() - 1]
    {
        let says = [
            "error[E0125]: the compressed stream ends early\n",
            "--> f.csv.gz\n",
            "help: fetch or create the file again",
        ];
        refused("f.csv.gz", &whole[..length], "", &says);
    }
    refused_for_a_model("f.csv.gz", &gzip(TWO.as_bytes())[..40], &["error[E0125]", "--> f.csv.gz"]);
}

#[test]
fn a_zstd_that_ends_early_is_refused_wherever_it_is_cut() {
    let whole = zstd(&table());
    for length in [5, 9, 40, whole.len() / 2, whole.len() - 1] {
        let says =
            ["error[E0125]: the compressed stream ends early\n", "--> f.csv.zst\n", "help: "];
        refused("f.csv.zst", &whole[..length], "", &says);
    }
}

#[test]
fn a_packed_file_with_changed_bytes_is_refused() {
    for (name, mut bytes) in [("f.csv.gz", gzip(&table())), ("f.svm.gz", gzip(&table()))] {
        let end = bytes.len();
        // The checksum of the content stands in the last eight bytes.
        bytes[end - 6] ^= 1;
        refused(name, bytes, "", &["error[E0125]", "damaged", "help: "]);
    }
    let mut bytes = gzip(&table());
    bytes.extend([7; 30]);
    refused("f.csv.gz", bytes, "", &["error[E0125]"]);
}

#[test]
fn a_packed_file_that_expands_too_far_ends_at_the_memory_limit() {
    let text = format!("a,b,label\n{}", "1.5,2.25,x\n3,4,y\n".repeat(200_000));
    for (name, bytes) in [("f.csv.gz", gzip(text.as_bytes())), ("f.csv.zst", zstd(text.as_bytes()))]
    {
        assert!(bytes.len() < text.len() / 50, "the file is small, what it holds is not");
        let room = Room::holding(name, bytes);
        for command in ["train", "inspect"] {
            let run = room.run(&format!("{command} {name} --max-memory 100KiB")).exits(6);
            run.says(&["error[E0602]", "memory limit is 102400 bytes", "help: raise --max-memory"]);
            assert_eq!(room.names(), [name]);
        }
    }
}

#[test]
fn one_endless_record_in_a_packed_file_ends_at_the_memory_limit() {
    let mut text = b"a,b,label\n1,2,x\n".to_vec();
    text.resize(40_000_000, b'1');
    let room = Room::holding("f.csv.zst", zstd(&text));
    room.run("train f.csv.zst --max-memory 8MiB").exits(6).says(&["error[E0602]", "f.csv.zst"]);
    let model = Room::with_model();
    std::fs::rename(room.path("f.csv.zst"), model.path("f.csv.zst")).expect("the same disk");
    model.run("predict two.linsep f.csv.zst -o out.csv --max-memory 8MiB").exits(6);
    assert!(!model.exists("out.csv"));
}

#[test]
fn an_input_that_is_not_there_is_an_error_of_the_system() {
    let room = Room::with_model();
    for line in [
        "train nope.csv",
        "inspect nope.csv",
        "inspect nope-*.csv",
        "inspect two.csv nope.csv",
        "convert nope.csv out.csv",
        "predict two.linsep nope.csv -o out.csv",
        "predict nope.linsep two.csv -o out.csv",
        "evaluate two.linsep nope.csv",
        "show nope.linsep",
        "train two.csv -o out.linsep --test nope.csv",
        "train two.csv -o out.linsep --init nope.linsep",
        "train two.csv -o out.linsep --config nope.toml",
    ] {
        room.run(line).exits(6).says(&["error[E0601]: cannot read nope", "help: check the path"]);
        assert_eq!(room.names(), ["two.csv", "two.linsep"], "{line}");
    }
}

#[test]
fn an_empty_folder_is_refused_with_its_name() {
    let room = Room::new();
    std::fs::create_dir(room.path("parts")).expect("a folder");
    room.run("inspect parts").exits(3).says(&["error[E0101]", "--> parts\n"]);
}

#[test]
#[cfg(feature = "arrow")]
fn files_of_columns_that_end_early_are_named() {
    for start in [&b"PAR1\x15\x04"[..], b"ARROW1\0\0", b"PAR1\x15\x04....PAR1", &[0xff; 9]] {
        refused("f.bin", start, "", &["error[E0137]", "--> f.bin", "help: fetch or create"]);
    }
}

#[test]
fn binary_formats_that_are_not_supported_are_named() {
    let start = b"\x93NUMPY\x01\0";
    refused("f.bin", start, "", &["error[E0132]", "--> f.bin", "help: export the table as CSV"]);
}
