//! Where the marks of a piece of text stand: one bit for each byte, 64 bytes to a word.
//!
//! A parser that looks for the end of each field byte by byte waits for the field before: where one
//! ends decides where the next begins. Here all ends are found beforehand by comparisons without
//! branches, which the compiler makes wide, and a field's ends are then two set bits. Eight bytes of
//! 0 or 1 become eight bits by one multiplication: the byte i has its bit at 8i, and 2^(56−7i) moves
//! it to 56 + i; no two products meet in one bit.
//!
//! The same look tells whether the piece has quotes, NUL bytes or bytes beyond ASCII, so that no
//! other pass over the text is needed.

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

/// Bytes that one word covers.
const SPAN: usize = 64;

const QUOTE: u8 = 1;
const NUL: u8 = 2;
const BEYOND_ASCII: u8 = 0x80;

impl Marks {
    /// Finds every byte of `piece` that is one of `marks`.
    pub(crate) fn find(&mut self, piece: &[u8], marks: [u8; 3]) {
        self.words.clear();
        self.words.reserve(piece.len() / SPAN + 1);
        let (blocks, rest) = piece.as_chunks::<SPAN>();
        let mut facts = 0;
        self.words.extend(blocks.iter().map(|block| look(block, marks, &mut facts)));
        if !rest.is_empty() {
            let mut block = [b'0'; SPAN];
            block[..rest.len()].copy_from_slice(rest);
            let within = (1 << rest.len()) - 1;
            self.words.push(look(&block, marks, &mut facts) & within);
        }
        self.quotes = facts & QUOTE != 0;
        self.nul = facts & NUL != 0;
        self.beyond_ascii = facts & BEYOND_ASCII != 0;
    }

    /// Goes through the marks at or after the byte `start`.
    pub(crate) fn from(&self, start: usize) -> Walk<'_> {
        let mut walk = Walk { words: &self.words, word: 0, bits: 0 };
        walk.skip_to(start);
        walk
    }
}

/// The marks of one block of text as bits; what else it holds is added to `facts`.
#[inline(always)]
fn look(block: &[u8; SPAN], marks: [u8; 3], facts: &mut u8) -> u64 {
    let mut hits = [0u8; SPAN];
    let mut seen = 0;
    for (hit, &byte) in hits.iter_mut().zip(block) {
        *hit = u8::from(byte == marks[0]) | u8::from(byte == marks[1]) | u8::from(byte == marks[2]);
        seen |= u8::from(byte == b'"') * QUOTE | u8::from(byte == 0) * NUL | byte & BEYOND_ASCII;
    }
    *facts |= seen;
    let (eights, _) = hits.as_chunks::<8>();
    eights.iter().enumerate().fold(0, |word, (k, eight)| {
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word | bits << (8 * k)
    })
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
