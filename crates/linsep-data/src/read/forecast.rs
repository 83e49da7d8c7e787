//! How long the lists of a file will get, told by the part that has been read.
//!
//! A list that doubles when it is full is copied again and again into memory that no one has touched yet,
//! and the system hands that out a page at a time: for a file of some hundred megabytes a fifth of the time
//! that reading took. A text of known size says early how much room it will take.

/// What is left of a text, in the measure of what has come.
pub(super) struct Forecast {
    /// Bytes of the text, where they are known.
    size: Option<u64>,
    seen: u64,
    /// Bytes after which there is a word on the rest.
    next: u64,
}

impl Forecast {
    pub(super) fn new(size: Option<u64>) -> Forecast {
        /// Enough lines for a first guess, in all but the longest ones.
        const FIRST: u64 = 1 << 19;
        Forecast { size, seen: 0, next: FIRST }
    }

    /// Takes note of a piece. Now and then tells how many times as much as there is there will be in the end.
    pub(super) fn after(&mut self, bytes: usize) -> Option<f64> {
        /// More than this times as much, and there is another word. A first guess may have been wrong.
        const LATER: u64 = 8;
        /// Lines differ, and a list that is a little too short is copied whole.
        const ROOM: f64 = 1.02;
        self.seen += bytes as u64;
        let size = self.size.filter(|size| self.seen >= self.next && self.seen < *size)?;
        self.next = LATER * self.seen;
        Some(ROOM * size as f64 / self.seen as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_word_after_a_part_and_none_where_nothing_is_known() {
        let mut forecast = Forecast::new(Some(100 << 20));
        let told: Vec<f64> = (0..400).filter_map(|_| forecast.after(1 << 18)).collect();
        // After half a megabyte, after 4 and after 32.
        assert_eq!(told, [200.0, 25.0, 3.125].map(|times| 1.02 * times));
        let mut unknown = Forecast::new(None);
        assert!((0..400).all(|_| unknown.after(1 << 18).is_none()));
    }
}
