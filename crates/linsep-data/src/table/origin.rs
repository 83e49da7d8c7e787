//! Where each row came from: file and line, held as the few rows at which the counting jumps.

/// Files and lines of the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// (first row, name) of each file, in order.
    files: Vec<(u64, String)>,
    /// (row, line): from this row on, lines follow one another.
    lines: Vec<(u64, u64)>,
}

impl Origin {
    /// Rows from here on come from this file.
    pub(crate) fn start_file(&mut self, first_row: u64, name: &str) {
        self.files.push((first_row, name.to_owned()));
    }

    /// This row stands in this 1-based line, and the next rows in the next lines.
    pub(crate) fn jump(&mut self, row: u64, line: u64) {
        if self.line(row) != Some(line) || self.lines.is_empty() {
            self.lines.push((row, line));
        }
    }

    /// The file of a row.
    pub fn file(&self, row: u64) -> Option<&str> {
        let after = self.files.partition_point(|(first, _)| *first <= row);
        self.files.get(after.checked_sub(1)?).map(|(_, name)| name.as_str())
    }

    /// The 1-based line of a row, if the input was text.
    pub fn line(&self, row: u64) -> Option<u64> {
        let after = self.lines.partition_point(|(first, _)| *first <= row);
        let (first, line) = self.lines.get(after.checked_sub(1)?)?;
        Some(line + (row - first))
    }

    /// The names of all files.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(_, name)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_the_last_jump() {
        let mut origin = Origin::default();
        origin.start_file(0, "a.csv");
        origin.jump(0, 2);
        origin.jump(3, 5);
        origin.jump(4, 9);
        origin.start_file(10, "b.csv");
        origin.jump(10, 2);
        assert_eq!(origin.lines.len(), 3, "a jump that is none is not kept");
        let found: Vec<_> = [0, 3, 4, 9, 10, 12].map(|row| origin.line(row)).to_vec();
        assert_eq!(found, [Some(2), Some(5), Some(9), Some(14), Some(2), Some(4)]);
        assert_eq!((origin.file(9), origin.file(10)), (Some("a.csv"), Some("b.csv")));
        assert_eq!(Origin::default().line(0), None);
    }
}
