//! Findings of a run that belong to no other part of a report: in words, and as data of a few plain
//! kinds, so that a caller turns them into whatever format it writes.

/// Something that a learner found out and that belongs to no other part of a report.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Remark {
    /// What it is about, as at the start of a line of a report.
    pub name: &'static str,
    /// The finding in words.
    pub words: String,
    /// The finding as data.
    pub data: Datum,
}

/// A finding as data.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Datum {
    /// Nothing is known.
    #[default]
    Unknown,
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// A text. It names parameters in backticks, as all texts of the library do.
    Text(String),
    /// Names that come from the data, as they are.
    Names(Vec<String>),
    /// Several findings, each with its name.
    Fields(Vec<(&'static str, Datum)>),
}

impl Remark {
    /// A finding in words and as data.
    pub fn new(name: &'static str, words: impl Into<String>, data: impl Into<Datum>) -> Remark {
        Remark { name, words: words.into(), data: data.into() }
    }
}

impl Datum {
    /// The field of this name, if there are fields and one has it.
    pub fn get(&self, name: &str) -> Option<&Datum> {
        match self {
            Datum::Fields(fields) => fields.iter().find(|(n, _)| *n == name).map(|(_, d)| d),
            _ => None,
        }
    }

    /// The number, whole or not.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Datum::Count(count) => Some(count as f64),
            Datum::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The whole number.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Datum::Count(count) => Some(count),
            _ => None,
        }
    }

    /// The text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Datum::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl<const N: usize> From<[(&'static str, Datum); N]> for Datum {
    fn from(fields: [(&'static str, Datum); N]) -> Datum {
        Datum::Fields(fields.into())
    }
}

impl From<u64> for Datum {
    fn from(count: u64) -> Datum {
        Datum::Count(count)
    }
}

impl From<usize> for Datum {
    fn from(count: usize) -> Datum {
        Datum::Count(count as u64)
    }
}

impl From<f64> for Datum {
    fn from(number: f64) -> Datum {
        Datum::Number(number)
    }
}

impl From<Vec<String>> for Datum {
    fn from(names: Vec<String>) -> Datum {
        Datum::Names(names)
    }
}

impl From<&str> for Datum {
    fn from(text: &str) -> Datum {
        Datum::Text(text.to_owned())
    }
}

impl From<String> for Datum {
    fn from(text: String) -> Datum {
        Datum::Text(text)
    }
}

impl<T: Into<Datum>> From<Option<T>> for Datum {
    fn from(known: Option<T>) -> Datum {
        known.map_or(Datum::Unknown, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name_and_read_as_what_they_are() {
        let data = Datum::from([
            ("rows", 3_u64.into()),
            ("share", 0.5.into()),
            ("why", "because".into()),
            ("bound", None::<f64>.into()),
        ]);
        let field = |name: &str| data.get(name).unwrap();
        assert_eq!((field("rows").as_u64(), field("rows").as_f64()), (Some(3), Some(3.0)));
        assert_eq!((field("share").as_u64(), field("share").as_f64()), (None, Some(0.5)));
        assert_eq!(field("why").as_str(), Some("because"));
        assert_eq!((field("bound"), data.get("none")), (&Datum::Unknown, None));
    }
}
