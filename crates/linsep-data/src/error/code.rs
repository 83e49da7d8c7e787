//! The table of error codes: number, title, explanation. Tests and `linsep help CODE` read it.

use std::fmt;

/// A stable error code such as `E0104`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(u16);

macro_rules! codes {
    ($($name:ident = $number:literal, $title:literal, $explanation:literal;)*) => {
        impl Code {
            $(#[doc = $title] pub const $name: Code = Code($number);)*

            /// Every code, in order.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// A short name of the problem.
            pub fn title(self) -> &'static str {
                match self.0 { $($number => $title,)* _ => "unknown code" }
            }

            /// What the code means and what to do about it.
            pub fn explanation(self) -> &'static str {
                match self.0 { $($number => $explanation,)* _ => "" }
            }
        }
    };
}

codes! {
    EMPTY = 101, "empty input",
        "The file or stream holds no bytes, or nothing but blank lines and comments.";
    HEADER_ONLY = 102, "no data rows",
        "There is a header but no row below it, or every row was dropped by `missing=drop-row` or `limit=0`.";
    RAGGED = 103, "wrong number of fields",
        "Every record must have as many fields as the first one. A missing quote or a decimal comma is the usual cause.";
    NOT_A_NUMBER = 104, "not a number in a feature column",
        "Feature columns hold decimal numbers such as 5, -0.3, .5, +2 or 1e-3. Leave the column out with `drop`, or skip bad rows with `bad-rows=skip` `allow-bad=N`, or keep them apart with `bad-rows=rejects=FILE`.";
    NOT_FINITE = 105, "NaN or infinity",
        "A plane cannot be fitted to NaN or infinite values. Repair the value, or treat NaN as missing with `missing=drop-row`, median, mean or zero.";
    OUT_OF_RANGE = 106, "number outside the range of binary64",
        "The magnitude is above 1.8e308, or it is not zero but rounds to zero. Rescale the column.";
    INEXACT_INTEGER = 107, "integer with no exact binary64",
        "Integers above 2^53 in magnitude cannot all be held exactly. Usually such a column is an identifier: leave it out with `drop`. `allow-lossy` rounds instead.";
    MISSING = 108, "missing value",
        "An empty field, NA, N/A, null or ? stands where a value is needed. A fill changes what is proved, so nothing is filled unasked. Choose `missing=drop-row`, median, mean, mode or zero.";
    NOT_UTF8 = 109, "invalid UTF-8",
        "Text must be UTF-8. Convert the file, for example with iconv -f latin1 -t utf-8.";
    NUL_BYTE = 110, "NUL byte",
        "A NUL byte shows a binary or damaged file. UTF-16 text without a byte-order mark has them too: convert it to UTF-8.";
    OPEN_QUOTE = 111, "quote that never closes",
        "A field begins with a double quote and the file ends before the closing one. Double every quote inside a quoted field.";
    STRAY_QUOTE = 112, "text after a closing quote",
        "After the closing quote of a field only the delimiter or the end of the line may follow. Double every quote inside a quoted field.";
    TEXT_COLUMN = 113, "text in a column without a rule for categories",
        "The column holds words where `categorical=error` refuses them, or texts such as percentages and amounts that stand for numbers but are none. Write plain numbers, encode it with `categorical=onehot`, or leave it out with `drop`.";
    NO_LABEL = 114, "label column not found",
        "`label` names no column of the file. Columns are given by name, by #N (1-based), or as first or last.";
    AMBIGUOUS_LABEL = 115, "label column not clear",
        "No column is named label, target, class or y, the last column does not look like classes, and not exactly one other does. Dates, an index and columns in which nearly every row differs are no classes. Choose with `label`.";
    ONE_CLASS = 116, "only one class",
        "A classifier needs rows of at least two classes. Check `label`, `limit` and the file's order.";
    MANY_CLASSES = 117, "too many classes",
        "The label has so many distinct values that it looks continuous or like an identifier, not a class. linsep classifies; it does not fit regressions.";
    NO_COLUMN = 118, "column not found",
        "A column that was asked for, or that the model needs, is not in the file.";
    LABEL_VALUE = 119, "label that cannot be used",
        "The label is empty, or an svmlight label holds a colon.";
    BAD_INDEX = 120, "wrong feature index",
        "svmlight features are written index:value with a whole number as index; with 1-based indices 0 is not allowed. See `index-base`.";
    INDEX_ORDER = 121, "feature index repeated or out of order",
        "Within an svmlight line the indices must rise. A repeated index has no clear meaning, so it is refused rather than added up.";
    INDEX_TOO_LARGE = 122, "feature index too large",
        "Feature indices go up to 4294967294. An index far outside the data usually comes from a damaged line.";
    BAD_PAIR = 123, "not an index:value pair",
        "After the label an svmlight line holds index:value pairs, an optional qid:N first, and an optional comment behind #.";
    BAD_WEIGHT = 124, "row weight that cannot be used",
        "Row weights are finite numbers of at least 0, and at least one row must have a weight above 0.";
    DAMAGED = 125, "damaged compressed file",
        "The gzip or zstd stream ends early or fails its checksum. Fetch or create the file again.";
    LONG_RECORD = 126, "record too long",
        "One record is longer than the limit of 256 MiB. A missing line break or an unbalanced quote is the usual cause.";
    NO_FEATURES = 127, "no feature columns",
        "After taking out the label, the weight and what `drop` and `features` exclude, no column is left.";
    UNKNOWN_CLASS = 128, "class that the model does not know",
        "The file has a label that did not occur in training, so its rows cannot be scored as right or wrong.";
    UNKNOWN_LEVEL = 129, "category that the model does not know",
        "A one-hot column holds a level that did not occur in training. Train with `unknown-level=zeros` to accept such rows.";
    PARTS_DIFFER = 130, "parts of a data set do not fit together",
        "All files of one data set need the same format, the same header and the same number of columns.";
    FOLD = 131, "fold or split without every class",
        "A class has too few rows to stand in every part. Use fewer folds or a larger share.";
    WRONG_FORMAT = 132, "input of a form that cannot be read",
        "The content is neither a delimited table, nor JSON objects in lines, nor svmlight, Parquet or Arrow, or not the format that `format` claims. Workbooks and JSON documents have to be exported first.";
    WIDTH = 133, "number of columns does not fit the model",
        "Without names on both sides columns are matched by position, and the file must have as many as the model was trained on, with or without the label.";
    DUPLICATE_NAME = 134, "column name that occurs twice",
        "The name stands for two columns, so it cannot be used to choose one. Rename a column or use #N.";
    NEGATIVE_COUNT = 135, "value below 0 where counts are needed",
        "Multinomial naive Bayes takes each value for a count, and no count is below 0. Use shared-variance-nb or lda for measurements, or leave the column out with `drop`.";
    SHAPE = 136, "array whose shape does not fit",
        "The number of rows and columns, the strides or the row offsets of an array do not fit its values, or labels or weights are not as many as rows. The message says which numbers disagree.";
    DAMAGED_COLUMNS = 137, "damaged Parquet or Arrow file",
        "The file ends early, or a size or a value in it contradicts the rest. The message names the row group or record batch and the column. Fetch or create the file again.";
    NO_LEVEL = 138, "level not found",
        "`reference` names a level that no row of the column has, or a column of numbers, which has no levels. The message lists the levels. With `terms` factor(x) takes numbers for levels.";

    SETTING = 201, "setting that cannot be used",
        "The value of a setting is outside what the setting accepts.";
    LOSSY = 202, "conversion would lose something",
        "The target format cannot hold everything that the source has. `allow-lossy` converts all the same.";
    NOT_SEPARABLE = 203, "no plane separates the rows",
        "A hard margin asks for a plane with every row strictly on its side, and some rows prove that there is none. linsep separable `cert=FILE` writes the proof; svm learns from such rows with a soft margin; for K classes `multiclass=ovo` only asks that every pair be separable.";

    MODEL_SYNTAX = 401, "not a model file",
        "The file is not a linsep model: it is not of the documented shape, or it was cut short.";
    MODEL_VERSION = 402, "model format of an unknown version",
        "The file was written by a newer linsep. Update the program.";
    MODEL_CHECKSUM = 403, "model file was changed",
        "The checksum in the file does not fit its content. Nothing in an edited model can be trusted: train again or fetch it again.";
    MODEL_CONTENT = 404, "model file contradicts itself",
        "The parts of the file do not fit together: lengths, class counts or rules disagree.";
    TRACE = 405, "trace that cannot be replayed",
        "The trace is of other data, was cut off or changed, or is none at all. The message names the line of the trace. Write it again with train `trace`.";
    FOREIGN_MODEL = 406, "model of another program that cannot be used",
        "The file is neither a model of LIBLINEAR nor a JSON of weights as linsep certify reads them, or it does not fit the data. The message names the line and what is expected.";
    EXPORT = 407, "model that cannot be exported so",
        "The format that was asked for cannot hold the model, or what is proved of the model does not hold of what would be written. The message says why and which format can.";

    LIMIT = 501, "limit reached before the goal",
        "A limit that was given, or one of the learner itself, ended the run before its goal. A model that was written says so; a run that can go on does so with `resume=MODEL` and a larger limit.";

    IO = 601, "the system refused to read or write",
        "The file is missing, the folder cannot be written, or the disk is full. An existing file is left as it was.";
    MEMORY = 602, "memory limit",
        "The work needs more memory than `max-memory` allows.";

    INTERNAL = 700, "a fault inside linsep",
        "This is a bug in the program, not in the data. Please report it with the command that was run.";
    INTERRUPTED = 701, "interrupted",
        "The run was stopped by a signal before there was anything to save.";
}

impl Code {
    /// The code with this text, such as `E0104`.
    pub fn parse(text: &str) -> Option<Code> {
        let number = text.strip_prefix(['E', 'e'])?.parse::<u16>().ok()?;
        Code::ALL.iter().copied().find(|code| code.0 == number)
    }

    /// The group of the code: 1 data, 2 settings, 4 models, 5 limits, 6 resources, 7 signals.
    pub fn group(self) -> u16 {
        self.0 / 100
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "E{:04}", self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_explained_and_found_by_their_text() {
        for (i, code) in Code::ALL.iter().enumerate() {
            assert!(!Code::ALL[..i].contains(code), "{code} stands twice");
            assert!(code.explanation().len() > 40, "{code} is not explained");
            assert_eq!(Code::parse(&code.to_string()), Some(*code));
        }
        assert_eq!(Code::parse("E9999"), None);
        assert_eq!(Code::parse("104"), None);
    }
}
