//! Where the marks of a piece of text stand: one bit for each byte, 64 bytes to a word.
//!
//! A parser that looks for the end of each field byte by byte waits for the field before: where one
//! ends decides where the next begins. Here all ends are found beforehand by comparisons without
//! branches, and a field's ends are then two set bits.
//!
//! The same look tells whether the piece has quotes, NUL bytes or bytes beyond ASCII, so that no
//! other pass over the text is needed.

use linsep_kernels::{self as kernel, SPAN};

/// The marks of one piece. The buffer serves piece after piece.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    words: Vec<u64>,
    /// There is a double quote.
    pub(crate) quotes: bool,
    /// There is a NUL byte.
    pub(crate) nul: bool,
    /// There is a byte beyond ASCII.
    pub(crate) beyond_ascii: bool,
}

impl Marks {
    /// Finds every byte of `piece` that is one of `marks`.
    pub(crate) fn find(&mut self, piece: &[u8], marks: [u8; 3]) {
        self.words.clear();
        let (blocks, rest) = piece.as_chunks::<SPAN>();
        self.words.resize(blocks.len(), 0);
        let mut facts = kernel::find_marks(blocks, marks, &mut self.words);
        if !rest.is_empty() {
            let mut block = [b'0'; SPAN];
            block[..rest.len()].copy_from_slice(rest);
            let mut word = [0];
            facts |= kernel::find_marks(&[block], marks, &mut word);
            self.words.push(word[0] & ((1 << rest.len()) - 1));
        }
        self.quotes = facts & kernel::QUOTE != 0;
        self.nul = facts & kernel::NUL != 0;
        self.beyond_ascii = facts & kernel::BEYOND_ASCII != 0;
    }

    /// Goes through the marks at or after the byte `start`.
    pub(crate) fn from(&self, start: usize) -> Walk<'_> {
        let mut walk = Walk { words: &self.words, word: 0, bits: 0 };
        walk.skip_to(start);
        walk
    }
}

/// A walk over marks in rising order.
#[derive(Clone)]
pub(crate) struct Walk<'a> {
    words: &'a [u64],
    word: usize,
    bits: u64,
}

impl Walk<'_> {
    /// The place of the next mark, and goes past it.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<usize> {
        let at = self.peek();
        self.pass();
        at
    }

    /// The place of the next mark.
    #[inline(always)]
    pub(crate) fn peek(&mut self) -> Option<usize> {
        while self.bits == 0 {
            self.word += 1;
            self.bits = *self.words.get(self.word)?;
        }
        Some(self.word * SPAN + self.bits.trailing_zeros() as usize)
    }

    /// Goes past the mark that was looked at.
    #[inline(always)]
    pub(crate) fn pass(&mut self) {
        self.bits &= self.bits.wrapping_sub(1);
    }

    /// Goes on with the marks at or after the byte `at`.
    #[inline(always)]
    pub(crate) fn skip_to(&mut self, at: usize) {
        self.word = at / SPAN;
        self.bits = self.words.get(self.word).map_or(0, |word| word & (u64::MAX << (at % SPAN)));
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
            marks.find(&text, *b",\n:");
            let expected: Vec<usize> =
                (start..text.len()).filter(|&at| b",\n:".contains(&text[at])).collect();
            let mut walk = marks.from(start);
            let found: Vec<usize> = std::iter::from_fn(|| walk.next()).collect();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(marks.quotes, text.contains(&b'"'));
            prop_assert_eq!(marks.nul, text.contains(&0));
            prop_assert_eq!(marks.beyond_ascii, !text.is_ascii());
        }
    }
}
