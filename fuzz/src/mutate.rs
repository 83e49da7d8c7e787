//! Inputs that are nearly right: seeds with bytes flipped, cut, doubled, mixed, and words of the formats
//! thrown in. The same seed gives the same inputs.

/// Makes inputs out of seeds.
pub struct Mutator {
    seeds: Vec<Vec<u8>>,
    state: u64,
}

const WORDS: &[&[u8]] = &[
    b"1e999",
    b"-1e-400",
    b"nan",
    b"inf",
    b"-0",
    b"0x1",
    b"9007199254740993",
    b"4294967296",
    b"\"",
    b"\"\"",
    b",",
    b";",
    b"\t",
    b"\n",
    b"\r\n",
    b"\0",
    b":",
    b"1:1",
    b"0:1",
    b"4294967295:2",
    b"#",
    b"qid:3",
    b"label",
    b"{}",
    b"[]",
    b"null",
    b"{\"",
    b"\\u0000",
    b"\\ud800",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"poly:2",
    b"1/k",
    b"x1*x2",
    b"p/q",
    b"-1",
    b"18446744073709551616",
    b"1e308",
    b"0.1",
    b"[[0,1]]",
    b"true",
];

impl Mutator {
    /// Mutations of these seeds, the first of which is empty.
    pub fn new(seeds: Vec<Vec<u8>>, seed: u64) -> Mutator {
        let seeds = if seeds.is_empty() { vec![Vec::new()] } else { seeds };
        Mutator { seeds, state: seed ^ 0x9e37_79b9_7f4a_7c15 }
    }

    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// The next input.
    pub fn input(&mut self) -> Vec<u8> {
        let at = self.below(self.seeds.len());
        let mut bytes = self.seeds[at].clone();
        for _ in 0..=self.below(4) {
            self.mutate(&mut bytes);
        }
        bytes
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        match self.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 if at < bytes.len() => bytes[at] = self.next() as u8,
            2 => bytes.truncate(at),
            3 => {
                let end = (at + 1 + self.below(16)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let end = (at + 1 + self.below(64)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            5 => {
                let other = self.below(self.seeds.len());
                let from = self.below(self.seeds[other].len() + 1);
                let tail = self.seeds[other][from..].to_vec();
                bytes.truncate(at);
                bytes.extend(tail);
            }
            6 => {
                let count = self.below(200);
                let byte = self.next() as u8;
                bytes.splice(at..at, std::iter::repeat_n(byte, count));
            }
            _ => {
                let word = WORDS[self.below(WORDS.len())];
                bytes.splice(at..at, word.iter().copied());
            }
        }
        bytes.truncate(1 << 16);
    }
}
