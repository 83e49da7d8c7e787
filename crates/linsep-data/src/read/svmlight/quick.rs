//! The quick way through a line: its marks are known, its numbers are short. Whatever is unusual ends
//! it with `None`, and the line is then read with care, so that there is one place that judges faults.
//! Pairs go straight to the columns and values of the block, many at a time.

use super::{Out, SvmPlan};
use crate::matrix::staging::Room;
use crate::table::labels::label_name;
use linsep_kernels::number;
use linsep_kernels::text::{self as kernel, MOST, Scratch};

/// The quick way through the lines of a piece.
pub(super) struct QuickLine<'a> {
    pub(super) piece: &'a [u8],
    pub(super) plan: &'a SvmPlan,
    pub(super) scratch: &'a mut Scratch,
}

impl QuickLine<'_> {
    /// Reads the line at `start`, whose marks end with its line break.
    #[inline]
    pub(super) fn read(
        &mut self,
        start: usize,
        marks: &mut [u32],
        out: &mut Out<'_>,
    ) -> Option<()> {
        let piece = self.piece;
        let (mark, marks) = regular(piece, start, marks);
        let label = &piece[start..mark];
        if label.is_empty() || piece[mark] == b':' || !label.iter().all(|&b| is_plain(b)) {
            return None;
        }
        let code = out.block.labels.number(label, label_name);
        out.block.labels.codes.push(code);
        if marks.len().is_multiple_of(2) {
            return None;
        }
        // The least index that may follow.
        let mut least = self.plan.base;
        let mut is_plain = true;
        let mut rest = marks;
        let mut left = self.pairs_before_the_end(marks)?;
        while left > 0 {
            let count = left.min(MOST);
            is_plain &= self.run(&rest[..=2 * count], &mut least, out)?;
            rest = &rest[2 * count..];
            left -= count;
        }
        if rest.len() > 1 {
            is_plain &= self.last_pairs(rest, &mut least, out)?;
        }
        let SvmPlan { selection, width, .. } = self.plan;
        if let Some(selection) = selection {
            out.staging.sift(|column, _| selection.map(column));
        }
        if let Some(width) = *width {
            let columns = out.staging.open_columns();
            let inside = columns.partition_point(|column| (*column as usize) < width);
            out.block.outside += (columns.len() - inside) as u64;
            out.staging.cut(inside);
        }
        if !is_plain {
            out.staging.sift(|column, value| (value != 0.0).then_some(column));
        }
        Some(())
    }

    /// How many pairs have so much text behind them that more than they are may be looked at.
    #[inline]
    fn pairs_before_the_end(&self, marks: &[u32]) -> Option<usize> {
        let inside = |mark: &u32| *mark as usize + ROOM <= self.piece.len();
        Some(match inside(marks.last()?) {
            true => marks.len() / 2,
            false => marks.partition_point(inside).saturating_sub(1) / 2,
        })
    }

    /// Reads the last pairs of a piece from a copy that has room behind them.
    #[cold]
    fn last_pairs(&mut self, marks: &[u32], least: &mut u32, out: &mut Out<'_>) -> Option<bool> {
        let start = *marks.first()?;
        let mut text = self.piece[start as usize..].to_vec();
        if marks.len() / 2 > MOST {
            return None;
        }
        text.extend_from_slice(&[b'0'; ROOM]);
        let marks: Vec<u32> = marks.iter().map(|mark| mark - start).collect();
        let mut tail = QuickLine { piece: &text, plan: self.plan, scratch: self.scratch };
        tail.run(&marks, least, out)
    }

    /// Reads pairs between marks and says whether none is 0.
    #[inline]
    fn run(&mut self, marks: &[u32], least: &mut u32, out: &mut Out<'_>) -> Option<bool> {
        let count = marks.len() / 2;
        let Room { columns, values, places } = out.staging.room(count);
        let scratch = &mut *self.scratch;
        let found = kernel::read_pairs(self.piece, marks, columns, values, places, scratch);
        if found.wrong || columns[0] < *least {
            return None;
        }
        *least = columns[count - 1] + 1;
        if self.plan.base > 0 {
            columns.iter_mut().for_each(|column| *column -= self.plan.base);
        }
        if found.unread {
            scratch.odd.clear();
            scratch.odd.extend(0..count as u32);
        } else if found.padded {
            values.iter_mut().zip(places).for_each(|(value, places)| shorten(value, places));
        }
        for at in 0..self.scratch.odd.len() {
            let k = self.scratch.odd[at] as usize;
            let (start, end) = (marks[2 * k + 1] as usize + 1, marks[2 * k + 2] as usize);
            self.other(k, start, end, out)?;
        }
        let is_plain =
            !(found.zero || found.unread) || !out.staging.room(count).values.contains(&0.0);
        out.staging.keep(count);
        Some(is_plain)
    }

    /// Reads one value that is not as short as most.
    fn other(&self, k: usize, start: usize, end: usize, out: &mut Out<'_>) -> Option<()> {
        let short = number::short(number::window(self.piece, start)?, end - start);
        if !short.is_none() {
            let room = out.staging.room(k + 1);
            (room.values[k], room.places[k]) = (short.whole as f64, short.places as u8);
            return Some(());
        }
        let text = &self.piece[start..end];
        let number = other_number(text)?;
        out.staging.set(k, number.value, number.places);
        if number.long {
            let column = out.staging.room(k + 1).columns[k];
            let SvmPlan { selection, width, .. } = self.plan;
            let column = selection.as_ref().map_or(Some(column), |selection| selection.map(column));
            let is_inside = |column: &u32| width.is_none_or(|width| (*column as usize) < width);
            if let Some(column) = column.filter(is_inside) {
                out.long_text(column, text);
            }
        }
        Some(())
    }
}

/// So many bytes may be looked at behind the end of a line.
const ROOM: usize = 32;

/// Where the label of a line ends, and the marks without those of blanks that follow blanks or stand at the
/// end. A line break of two bytes begins with its first.
#[inline]
fn regular<'m>(piece: &[u8], start: usize, marks: &'m mut [u32]) -> (usize, &'m [u32]) {
    let mut count = marks.len();
    let end = marks[count - 1] as usize;
    if end > start && piece[end - 1] == b'\r' {
        marks[count - 1] -= 1;
    }
    let label = marks[0] as usize;
    let is_blank = |mark: u32| piece[mark as usize] == b' ';
    while count > 1 && marks[count - 2] + 1 == marks[count - 1] && is_blank(marks[count - 2]) {
        count -= 1;
    }
    if count.is_multiple_of(2) {
        let mut kept = 1;
        for k in 1..count {
            let before = marks[kept - 1];
            if marks[k] == before + 1 && is_blank(marks[k]) && is_blank(before) {
                // The pair starts behind the last of the blanks.
                marks[kept - 1] = marks[k];
            } else {
                marks[kept] = marks[k];
                kept += 1;
            }
        }
        count = kept;
    }
    (label, &marks[..count])
}

/// Takes away zeros at the end of a decimal.
#[inline]
fn shorten(value: &mut f64, places: &mut u8) {
    let mut whole = *value as i64;
    while *places > 0 && whole % 10 == 0 {
        whole /= 10;
        *places -= 1;
    }
    *value = whole as f64;
}

/// A number that is not short but fills the text.
#[inline(never)]
fn other_number(text: &[u8]) -> Option<number::Number> {
    let (number, len) = number::parse_prefix(text).ok()?;
    (len == text.len()).then_some(number)
}

/// What may stand in a label without a second thought.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b'#'
}
