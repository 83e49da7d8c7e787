//! Proven claims with data that can be altered: what the judge proves, what is hand-made under
//! `testdata/certificates`, and claims whose truth hangs on the reading.
#![allow(dead_code)] // Each test file uses its own part of this one.

use crate::proofs::{never, repository};
use linsep::Dataset;
use linsep::data::input::InputMap;
use linsep::data::read::{ReadOptions, ReadingChoice, read_with_map};
use linsep::proof::digest::digest_of;
use linsep::proof::{
    CertificateFile, Claim, Finding, Question, Reading, Rows, Scheme, Weighted, check_file,
};
use linsep::verdict::{Decision, Judge, Verdict};

/// A table of which every cell and label can be altered.
#[derive(Clone)]
pub(crate) struct Table {
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) labels: Vec<String>,
    takes_part: Vec<bool>,
}

impl Table {
    fn of(data: &Dataset) -> Table {
        let all = 0..data.n_rows();
        Table {
            rows: all.clone().map(|row| data.row(row)).collect(),
            labels: all.clone().map(|row| data.label_text(row).to_owned()).collect(),
            takes_part: all.map(|row| data.weight(row) > 0.0).collect(),
        }
    }
}

impl Rows for Table {
    fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    fn width(&self) -> usize {
        self.rows[0].len()
    }

    fn label(&self, row: u64) -> &str {
        &self.labels[row as usize]
    }

    fn for_each(&self, row: u64, each: &mut dyn FnMut(u32, f64)) {
        let values = self.rows[row as usize].iter().enumerate();
        values.filter(|(_, x)| **x != 0.0).for_each(|(j, &x)| each(j as u32, x));
    }

    fn takes_part(&self, row: u64) -> bool {
        self.takes_part[row as usize]
    }
}

/// One proven claim in a file of its own, with its data.
#[derive(Clone)]
pub(crate) struct Proven {
    /// Where it comes from.
    pub(crate) name: String,
    pub(crate) by_judge: bool,
    /// Whether the claim is false under the other reading.
    pub(crate) hangs_on_reading: bool,
    pub(crate) file: CertificateFile,
    pub(crate) table: Table,
}

impl Proven {
    pub(crate) fn claim(&self) -> &Claim {
        &self.file.claims[0]
    }

    /// The kind of the claim, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self.claim() {
            Claim::JointSeparable { .. } => "joint separable",
            Claim::JointInseparable { .. } => "joint inseparable",
            claim => claim.name(),
        }
    }

    /// What the checker says after the file went through its text form.
    pub(crate) fn check(&self) -> Finding {
        let file = match CertificateFile::from_json(self.file.to_json().as_bytes()) {
            Ok(file) => file,
            Err(error) => return Finding::Fails(error.to_string()),
        };
        let mut findings =
            check_file(&file, &self.table, &digest_of(file.data.digest, &self.table), 1);
        assert_eq!(findings.len(), 1);
        findings.remove(0)
    }

    /// Forges the digest of the file, so that the claim speaks of the altered data.
    pub(crate) fn forge(&mut self) {
        self.file.data.sha256 = digest_of(self.file.data.digest, &self.table);
    }
}

fn proven(name: &str, judge: &Judge, claim: Claim) -> Proven {
    let data = judge.data.identity(1);
    let certificate = linsep::Certificate::new(vec![claim]);
    Proven {
        name: name.to_owned(),
        by_judge: true,
        hangs_on_reading: false,
        file: CertificateFile::new(data, judge.reading(), judge.bias, certificate),
        table: Table::of(&judge.data),
    }
}

fn from_text(text: &str, reading: ReadingChoice) -> Judge {
    let file = crate::files::Files::new(&[("data.csv", text.as_bytes())]);
    Judge::new(file.read(|o| o.reading = reading).unwrap().data)
}

/// Every kind of claim that the judge makes.
pub(crate) fn by_judge() -> Vec<Proven> {
    let judge = |text: &str| from_text(text, ReadingChoice::Auto);
    let and = judge("u,v,label\n0,0,0\n0,1,0\n1,0,0\n1,1,1\n");
    let xor = judge("u,v,label\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n");
    let flat = judge("u,v,w,label\n0,0,0,0\n0,1,1,1\n1,0,1,1\n1,1,2,0\n");
    let touching = judge("u,v,label\n0,0,0\n2,1,0\n1,1,0\n1,1,1\n0,2,1\n2,2,1\n");
    let three = judge("u,v,label\n0,0,a\n1,0,a\n0,4,b\n1,5,b\n4,0,c\n5,1,c\n");
    let wound = judge("u,v,label\n4,4,a\n2,7,a\n3,5,b\n0,0,b\n2,3,c\n7,5,c\n");
    let mut short = xor.clone();
    short.kind = false;
    let no_bias = |text: &str| {
        let mut judge = judge(text);
        judge.bias = false;
        judge
    };
    let through_zero = no_bias("u,v,label\n1,2,a\n2,5,a\n-1,-2,b\n0.5,3.5,b\n");
    let against_zero = no_bias("u,v,label\n2,-4,a\n-3,6,a\n1,1,b\n");
    let class = |name: &str, judge: &Judge, positive: &str| {
        proven(name, judge, judge.class(positive, &never).unwrap().claim)
    };
    let joint = |name, judge: &Judge| {
        let short = judge.clone().with_joint_kind(false);
        proven(name, judge, short.joint(&[], &never).unwrap().claim)
    };
    // A search that is stopped at once knows how large the margin can be at most.
    let hurried = judge("u,v,label\n0,0,a\n3,4,a\n1,1,b\n-5,9,a\n2,2.5,b\n3,1,b\n");
    let bracket = hurried.class("a", &|| true).unwrap();
    assert_eq!(bracket.verdict, Verdict::Undecided);
    let margins = |name: &str, judge: &Judge, decision: &Decision, constant| {
        let augmented = judge.augmented_margin(decision, constant, &never).unwrap();
        let geometric = judge.geometric_margin(decision, &never).unwrap();
        [augmented, geometric].map(|margin| proven(name, judge, margin.claim))
    };
    let mut all = vec![
        class("and", &and, "1"),
        class("not and", &and, "0"),
        class("rest", &three, "b"),
        proven("pair", &three, three.pair("a", "c", &never).unwrap().claim),
        class("through zero", &through_zero, "a"),
        class("against zero", &against_zero, "a"),
        class("xor", &short, "1"),
        class("xor and its kind", &xor, "1"),
        class("flat xor", &flat, "1"),
        class("touching", &touching, "1"),
        joint("three", &three),
        joint("wound", &wound),
        proven("hurried", &hurried, bracket.claim),
    ];
    let slanted = judge("u,v,label\n0,2,1\n2,3,1\n2,0,0\n5,1,0\n1.5,-0.5,0\n");
    all.extend(margins("and", &and, &and.class("1", &never).unwrap(), 1));
    all.extend(margins("slanted", &slanted, &slanted.class("1", &never).unwrap(), 2));
    all.extend(margins("rest", &three, &three.class("c", &never).unwrap(), 1));
    all.extend(margins("pair", &three, &three.pair("a", "b", &never).unwrap(), 7));
    all
}

/// Claims of every kind that one reading makes true and the other false.
pub(crate) fn by_reading() -> Vec<Proven> {
    let tie = "u,v,x,label\n0,0,0.1,p\n1,1,0.2,p\n0,1,0.3,n\n1,0,0,n\n0.5,0.5,9,q\n";
    let (decimal, binary) =
        (from_text(tie, ReadingChoice::Decimal), from_text(tie, ReadingChoice::Binary64));
    let mut short = decimal.clone();
    short.kind = false;
    let sum = "s,t,label\n0.1,0.2,p\n0.3,0,n\n0,0.3,n\n1,1,p\n0,0,n\n";
    let sum = from_text(sum, ReadingChoice::Decimal);
    let pair =
        |name, judge: &Judge| proven(name, judge, judge.pair("p", "n", &never).unwrap().claim);
    let joint = |name, judge: &Judge| {
        let short = judge.clone().with_joint_kind(false);
        proven(name, judge, short.joint(&[], &never).unwrap().claim)
    };
    // Half a unit apart as decimals, a little more in binary64.
    let gap = from_text("x,label\n0.8,p\n0.3,n\n", ReadingChoice::Decimal);
    let problem = || Question::new(Scheme::Binary, vec!["p".into()], vec!["n".into()]);
    let rows = |lambda: [&str; 2]| -> Vec<Weighted> {
        let entry = |(row, l): (u64, &str)| Weighted::new(row, l.into());
        (0..).zip(lambda).map(entry).collect()
    };
    let (constant, gamma2) = ("1".to_owned(), "25/521".to_owned());
    let (support, bound) = (rows(["233", "288"]), gamma2.clone());
    let (weights, half) = (support.clone(), rows(["1", "1"]));
    let margin = Claim::Margin { problem: problem(), constant, support, gamma2 };
    let widest =
        Claim::GeometricMargin { problem: problem(), support: half, gamma2: "1/16".into() };
    let bracket = Claim::Bracket { problem: problem(), weights, bound };
    let hand_made = [("gap", margin), ("half gap", widest), ("gap at most", bracket)]
        .map(|(name, claim)| Proven { by_judge: false, ..proven(name, &gap, claim) });
    let mut all = vec![
        pair("tie in binary64", &binary),
        pair("tie in decimals", &short),
        pair("tie and its kind", &decimal),
        proven("sum", &sum, sum.class("p", &never).unwrap().claim),
        joint("joint tie in binary64", &binary),
        joint("joint tie in decimals", &decimal),
    ];
    all.extend(hand_made);
    all.into_iter().map(|case| Proven { hangs_on_reading: true, ..case }).collect()
}

/// Every claim under `testdata/certificates`, with the data file of the same name; files named after
/// the irises speak of `testdata/tables`. Mistakes are left out: they are a property of one plane, which a small
/// change of a number does not always change, and have their own refusals in `discrete.rs`.
pub(crate) fn hand_made() -> Vec<Proven> {
    let folder = repository("testdata/certificates");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".json").filter(|name| *name != "mistakes").map(str::to_owned)
        })
        .collect();
    names.sort();
    let mut all = Vec::new();
    for name in names {
        let text = std::fs::read(folder.join(format!("{name}.json"))).unwrap();
        let whole = CertificateFile::from_json(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let map = whole.input.as_ref().map(|value| InputMap::of_certificate(value).unwrap());
        let places = ["csv", "svm"].map(|extension| folder.join(format!("{name}.{extension}")));
        let iris = repository("testdata/tables/iris.csv");
        let data = match places.into_iter().find(|path| path.exists()) {
            Some(path) => path,
            None if name.ends_with("-iris") => iris,
            None => panic!("{name} has no data"),
        };
        let mut options = ReadOptions::default();
        if whole.reading.default == Reading::Binary64 {
            options.reading = ReadingChoice::Binary64;
        }
        let data = read_with_map(&[data], &options, map.as_ref()).unwrap().data;
        for (k, claim) in whole.claims.iter().enumerate() {
            all.push(Proven {
                name: format!("{name} {k}"),
                by_judge: false,
                hangs_on_reading: name.starts_with("tie-"),
                file: whole.clone().with_claims(vec![claim.clone()]),
                table: Table::of(&data),
            });
        }
    }
    assert!(all.len() >= 15, "{} hand-made claims", all.len());
    all
}
