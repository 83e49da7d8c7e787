//! Where the marks of a piece of text stand: a list of places, and which of them end lines.
//!
//! A parser that looks for the end of each field byte by byte waits for the field before: where one
//! ends decides where the next begins. Here all ends are found beforehand by comparisons without
//! branches, one bit for each byte, and the bits are then made a list.
//!
//! The same look tells whether the piece has quotes, NUL bytes or bytes beyond ASCII, so that no
//! other pass over the text is needed.

use linsep_kernels::text::{self as kernel, SPAN};

/// The marks of one piece. The buffers serve piece after piece.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    words: Vec<u64>,
    line_words: Vec<u64>,
    /// The place of every mark, rising; what stands behind them is room.
    places: Vec<u32>,
    count: usize,
    /// The marks that are line breaks, by their numbers.
    lines: Vec<u32>,
    /// There is a double quote.
    pub(crate) quotes: bool,
    /// There is a NUL byte.
    pub(crate) nul: bool,
    /// There is a byte beyond ASCII.
    pub(crate) beyond_ascii: bool,
}

impl Marks {
    /// Finds every byte of `piece` that is one of `marks` or a line break. A piece has less than 2^32 bytes.
    pub(crate) fn find(&mut self, piece: &[u8], marks: [u8; 2]) {
        let (blocks, rest) = piece.as_chunks::<SPAN>();
        for words in [&mut self.words, &mut self.line_words] {
            words.clear();
            words.resize(blocks.len(), 0);
        }
        let mut facts = kernel::find_marks(blocks, marks, &mut self.words, &mut self.line_words);
        if !rest.is_empty() {
            let mut block = [b'0'; SPAN];
            block[..rest.len()].copy_from_slice(rest);
            let (mut word, mut line) = ([0], [0]);
            facts |= kernel::find_marks(&[block], marks, &mut word, &mut line);
            let within = (1 << rest.len()) - 1;
            self.words.push(word[0] & within);
            self.line_words.push(line[0] & within);
        }
        self.quotes = facts & kernel::QUOTE != 0;
        self.nul = facts & kernel::NUL != 0;
        self.beyond_ascii = facts & kernel::BEYOND_ASCII != 0;
        let room = self.words.iter().map(|word| word.count_ones() as usize).sum::<usize>() + SPAN;
        if self.places.len() < room {
            self.places.resize(room, 0);
        }
        self.lines.clear();
        self.count =
            kernel::list_marks(&self.words, &self.line_words, &mut self.places, &mut self.lines);
    }

    /// Which mark ends the line with this number, from 0.
    #[inline]
    pub(crate) fn end_of_line(&self, line: usize) -> Option<usize> {
        self.lines.get(line).map(|mark| *mark as usize)
    }

    /// The places of all marks. A parser may move them.
    #[inline]
    pub(crate) fn places(&mut self) -> &mut [u32] {
        &mut self.places[..self.count]
    }

    /// The number of the first line break at or after a byte.
    pub(crate) fn line_at(&self, at: usize) -> usize {
        self.lines.partition_point(|mark| (self.places[*mark as usize] as usize) < at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn marks_are_the_bytes_that_were_asked_for(
            text in prop::collection::vec(prop::sample::select(b"0123,;\n:\"\0 \xc3".to_vec()), 0..300),
            start in 0usize..300,
        ) {
            let mut marks = Marks::default();
            marks.find(b"1,2\n3,4\n5:\n", *b",:");
            marks.find(&text, *b",:");
            let expected: Vec<u32> = (0..text.len() as u32)
                .filter(|&at| b",\n:".contains(&text[at as usize]))
                .collect();
            prop_assert_eq!(&*marks.places(), &expected[..]);
            let is_break = |at: &u32| text[*at as usize] == b'\n';
            let breaks: Vec<usize> =
                (0..expected.len()).filter(|mark| is_break(&expected[*mark])).collect();
            let listed: Vec<usize> = (0..).map_while(|line| marks.end_of_line(line)).collect();
            prop_assert_eq!(&listed, &breaks);
            let before = breaks.iter().filter(|mark| (expected[**mark] as usize) < start).count();
            prop_assert_eq!(marks.line_at(start), before);
            prop_assert_eq!(marks.quotes, text.contains(&b'"'));
            prop_assert_eq!(marks.nul, text.contains(&0));
            prop_assert_eq!(marks.beyond_ascii, !text.is_ascii());
        }
    }
}
