//! Where the rows of sparse storage start.

/// Where each sparse row starts: 64 bits for each block of rows and 32 bits for each row, so that a row
/// costs 4 bytes and the number of entries has no limit of 2^32. A block has 4,096 rows, fewer where these
/// have 2^32 entries or more, down to one row.
#[derive(Clone, Debug)]
pub struct Offsets {
    base: Vec<u64>,
    pub(super) relative: Vec<u32>,
    /// A block has 2^shift rows.
    shift: u32,
}

/// 4,096 rows.
const SHIFT: u32 = 12;

impl Offsets {
    pub fn new() -> Offsets {
        Offsets::with_capacity(0)
    }

    /// No row starts yet, with memory for those of so many rows.
    pub(crate) fn with_capacity(rows: usize) -> Offsets {
        let mut base = Vec::with_capacity((rows >> SHIFT) + 1);
        let mut relative = Vec::with_capacity(rows + 1);
        base.push(0);
        relative.push(0);
        Offsets { base, relative, shift: SHIFT }
    }

    #[inline]
    pub fn rows(&self) -> usize {
        self.relative.len() - 1
    }

    /// The row starts that follow from the lengths of rows, which stand behind a first 0; `None` when
    /// one block of rows has 2^32 entries.
    pub(crate) fn from_lengths(mut lengths: Vec<u32>) -> Option<Offsets> {
        let block = 1 << SHIFT;
        let mut base = Vec::with_capacity(lengths.len().div_ceil(block));
        let mut end = 0;
        for block in lengths.chunks_mut(block) {
            // The first row of a block starts where the row that its length belongs to ends.
            end += u64::from(std::mem::take(&mut block[0]));
            let start = end;
            base.push(start);
            for length in &mut block[1..] {
                end += u64::from(*length);
                *length = u32::try_from(end - start).ok()?;
            }
        }
        Some(Offsets { base, relative: lengths, shift: SHIFT })
    }

    /// Ends the next row after `len` more entries.
    pub fn push(&mut self, len: usize) {
        let end = (self.start(self.rows()) + len) as u64;
        loop {
            let next = self.relative.len();
            if next & ((1 << self.shift) - 1) == 0 {
                self.base.push(end);
                self.relative.push(0);
                return;
            }
            if let Ok(relative) = u32::try_from(end - self.base[next >> self.shift]) {
                self.relative.push(relative);
                return;
            }
            self.halve_blocks();
        }
    }

    /// Twice as many blocks of half as many rows; a block of one row has no limit.
    #[cold]
    fn halve_blocks(&mut self) {
        let starts: Vec<u64> = (0..self.relative.len()).map(|row| self.start(row) as u64).collect();
        self.shift -= 1;
        self.base = starts.iter().copied().step_by(1 << self.shift).collect();
        for (row, start) in starts.iter().enumerate() {
            // Never more than it was from the start of the longer block.
            self.relative[row] = (start - self.base[row >> self.shift]) as u32;
        }
    }

    #[inline]
    pub fn start(&self, row: usize) -> usize {
        (self.base[row >> self.shift] + u64::from(self.relative[row])) as usize
    }

    #[inline]
    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.start(row)..self.start(row + 1)
    }

    pub fn append(&mut self, other: &Offsets) {
        for row in 0..other.rows() {
            self.push(other.range(row).len());
        }
    }

    pub fn bytes(&self) -> u64 {
        (8 * self.base.len() + 4 * self.relative.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn rows_with_more_than_two_to_the_32_entries_keep_their_starts() {
        for long in [1usize << 20, 1 << 24, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40] {
            let mut offsets = Offsets::new();
            let lengths = (0..10_000).map(|row| if row % 3 == 0 { long } else { row % 7 });
            let mut start = 0;
            for (row, length) in lengths.enumerate() {
                offsets.push(length);
                assert_eq!(offsets.range(row), start..start + length, "row {row} of {long}");
                start += length;
            }
            assert_eq!((offsets.start(0), offsets.rows()), (0, 10_000));
            assert_eq!(offsets.range(9_999), start - long..start);
        }
    }
}
