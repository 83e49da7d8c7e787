//! Every file that a command can be asked to write, with a command that does so.
//!
//! The program's own tests compare this list with its grammar, in both directions: a new argument that
//! names a file to write needs a line here, and so is tested with failing disks and signals.

/// A command that writes files.
pub(crate) struct Writer {
    /// The arguments of it that name files to write.
    pub(crate) arguments: &'static [&'static str],
    /// The command line. It runs in a folder with the files that `faults/room.rs` makes.
    pub(crate) line: &'static str,
    /// What it writes.
    pub(crate) files: &'static [&'static str],
    /// Those of them that must not cost the first one where they cannot be written.
    pub(crate) beside: &'static [&'static str],
    /// Its exit code when all is well.
    pub(crate) exit: i32,
    /// Whether there is an answer on standard output that a file must not cost.
    pub(crate) answers: bool,
}

impl Writer {
    /// The command.
    pub(crate) fn command(&self) -> &'static str {
        self.line.split(' ').next().unwrap_or("")
    }
}

const fn writer(
    arguments: &'static [&'static str],
    line: &'static str,
    files: &'static [&'static str],
) -> Writer {
    Writer { arguments, line, files, beside: &[], exit: 0, answers: false }
}

impl Writer {
    const fn beside(self, beside: &'static [&'static str]) -> Writer {
        Writer { beside, ..self }
    }

    const fn exits(self, exit: i32) -> Writer {
        Writer { exit, ..self }
    }

    const fn answers(self) -> Writer {
        Writer { answers: true, ..self }
    }
}

/// One line or more for each argument that names a file to write.
pub(crate) const WRITERS: &[Writer] = &[
    writer(&["output-file"], "train two.csv", &["two.linsep"]),
    writer(
        &["output-file", "trace"],
        "train two.csv --verdict off --trace o.ndjson -o o.linsep",
        &["o.linsep", "o.ndjson"],
    )
    .beside(&["o.ndjson"]),
    writer(
        &["output-file", "flips", "support"],
        "train mix.csv --learner svm --flips f.csv --support s.tsv.gz -o o.linsep",
        &["o.linsep", "f.csv", "s.tsv.gz"],
    )
    .beside(&["f.csv", "s.tsv.gz"]),
    writer(
        &["output-file", "tune-picture"],
        "train mix.csv --learner svm --tune c=0.1|1 --cv 3 --tune-picture t.svg -o o.linsep",
        &["o.linsep", "t.svg"],
    )
    .beside(&["t.svg"]),
    writer(
        &["output-file", "checkpoint"],
        "train mix.csv --verdict off --epochs 4 --checkpoint o.checkpoint --checkpoint-every 150visits -o o.linsep",
        &["o.linsep", "o.checkpoint"],
    )
    .beside(&["o.checkpoint"])
    .exits(5),
    // A run that is done removes its checkpoint.
    writer(
        &["output-file", "checkpoint"],
        "train two.csv --verdict off --checkpoint o.checkpoint --checkpoint-every 1visits -o o.linsep",
        &["o.linsep", "o.checkpoint"],
    )
    .beside(&["o.checkpoint"]),
    writer(&["output-file"], "train two.csv --stream -o o.linsep", &["o.linsep"]),
    writer(
        &["output-file", "bad-rows"],
        "train bad.csv --bad-rows rejects=r.csv -o o.linsep",
        &["o.linsep", "r.csv"],
    ),
    writer(
        &["output-file", "bad-rows"],
        "train bad.csv --resume bad.model --bad-rows rejects=r.csv -o o.linsep",
        &["o.linsep", "r.csv"],
    ),
    writer(&["cert"], "separable two.csv --cert o.json", &["o.json"]).answers(),
    writer(&["bad-rows"], "separable bad.csv --bad-rows rejects=r.csv", &["r.csv"]),
    writer(&["cert"], "forced two.csv --pair x,y --row 1,1 --cert o.json", &["o.json"]).answers(),
    writer(
        &["bad-rows"],
        "forced bad.csv --pair x,y --row 1,1 --bad-rows rejects=r.csv",
        &["r.csv"],
    ),
    writer(
        &["cert", "residuals", "picture"],
        "infer two.csv --penalty firth --cert o.json --residuals residuals.csv --picture o.svg",
        &["o.json", "residuals.csv", "o.svg"],
    )
    .answers(),
    writer(
        &["bad-rows"],
        "infer bad.csv --penalty firth --bad-rows rejects=r.csv",
        &["r.csv"],
    ),
    // They refuse to.
    writer(&["bad-rows"], "lab bad.csv --bad-rows rejects=r.csv", &[]).exits(2),
    writer(&["bad-rows"], "verify good.json bad.csv --bad-rows rejects=r.csv", &[]).exits(2),
    writer(
        &["cert"],
        "certify weights.json two.csv --learner logistic --cert o.json",
        &["o.json"],
    )
    .answers(),
    writer(
        &["bad-rows"],
        "certify weights.json bad.csv --learner logistic --bad-rows rejects=r.csv",
        &["r.csv"],
    ),
    writer(&["output-file"], "predict two.model two.csv -o o.csv", &["o.csv"]),
    writer(&["output-file"], "predict long.model long.csv --output scores -o o.csv", &["o.csv"]),
    writer(
        &["distances", "reflected"],
        "geometry long.model long.csv --distances d.csv --reflected e.csv",
        &["d.csv", "e.csv"],
    ),
    writer(
        &["distances", "reflected"],
        "geometry two.model two.csv --distances d.csv.gz --reflected e.tsv.zst",
        &["d.csv.gz", "e.tsv.zst"],
    ),
    writer(&["output-file"], "sample lda.model -n 20 -o o.csv", &["o.csv"]),
    writer(&["table", "cert"], "gate and --table o.csv --cert o.json", &["o.csv", "o.json"]),
    writer(&["output-file"], "plot two.csv", &["two.svg"]),
    writer(
        &["output-file", "bad-rows"],
        "plot bad.csv --bad-rows rejects=r.csv -o o.svg",
        &["o.svg", "r.csv"],
    ),
    writer(
        &["output-file", "bad-rows"],
        "plot bad.csv bad.model --bad-rows rejects=r.csv -o o.svg",
        &["o.svg", "r.csv"],
    ),
    writer(
        &["export-markdown"],
        "compare two.csv --learners fisher --cv 2 --no-time --export-markdown o.md",
        &["o.md"],
    )
    .answers(),
    writer(
        &["bad-rows"],
        "compare bad.csv --learners fisher --cv 2 --bad-rows rejects=r.csv",
        &["r.csv"],
    ),
    writer(&["bad-rows"], "inspect bad.csv --bad-rows rejects=r.csv", &["r.csv"]),
    writer(&["to"], "convert two.csv o.svm.gz", &["o.svm.gz"]),
    writer(&["to", "bad-rows"], "convert bad.csv o.tsv --bad-rows rejects=r.csv", &["o.tsv", "r.csv"]),
    writer(&["to"], "convert two.model o.linsep", &["o.linsep"]),
    writer(&["to"], "convert two.csv o.parquet", &["o.parquet"]),
    writer(&["output-file"], "export two.model --to c -o o.c", &["o.c"]),
    writer(
        &["output-file", "cert"],
        "export two.model --to onnx-f32 --check two.csv --cert o.json -o o.onnx",
        &["o.json", "o.onnx"],
    ),
    writer(&["output-file"], "generate blobs --rows 20 -o o.csv.zst", &["o.csv.zst"]),
    writer(&["output-file"], "replay two.trace two.csv -o o.linsep", &["o.linsep"]),
    writer(
        &["bad-rows"],
        "replay bad.trace bad.csv --bad-rows rejects=r.csv",
        &["r.csv"],
    ),
];
