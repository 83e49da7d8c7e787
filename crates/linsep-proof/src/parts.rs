//! How other crates make the parts of claims, which may get more fields one day.

use crate::claim::{Against, ClassPlane, ExactNumber, ExactPlane, Question, Scheme, Weighted};

impl Question {
    /// The classes of the two sides.
    pub fn new(scheme: Scheme, positive: Vec<String>, negative: Vec<String>) -> Question {
        Question { scheme, positive, negative }
    }
}

impl Weighted {
    /// A row of which no line is known.
    pub fn new(row: u64, lambda: String) -> Weighted {
        Weighted { row, lambda, line: None, file: None }
    }
}

setters! {
    Weighted {
        with_line => line: Option<u64>,
        with_file => file: Option<String>,
    }
}

impl Against {
    /// A row of which no line is known.
    pub fn new(row: u64, against: String, lambda: String) -> Against {
        Against { row, against, lambda, line: None, file: None }
    }
}

setters! {
    Against {
        with_line => line: Option<u64>,
        with_file => file: Option<String>,
    }
}

setters! {
    ExactPlane {
        with_weights => weights: Option<Vec<ExactNumber>>,
        with_sparse => sparse: Option<Vec<(u32, ExactNumber)>>,
        with_bias => bias: Option<ExactNumber>,
    }
}

impl ClassPlane {
    /// A plane of a class, without numbers yet.
    pub fn new(class: String) -> ClassPlane {
        ClassPlane { class, weights: None, sparse: None, bias: None }
    }
}

setters! {
    ClassPlane {
        with_weights => weights: Option<Vec<ExactNumber>>,
        with_sparse => sparse: Option<Vec<(u32, ExactNumber)>>,
        with_bias => bias: Option<ExactNumber>,
    }
}
