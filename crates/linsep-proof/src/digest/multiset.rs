//! A digest that does not depend on the order of the rows: MuHash.
//!
//! The SHA-256 h of the bytes of a row becomes a number of 3,072 bits, twelve SHA-256 of a prefix, h and a counter, the
//! lowest byte first. The rows are multiplied modulo the safe prime p = 2^3072 − 1103717, so parts of a table can be
//! multiplied in any order and by anybody. The digest is the SHA-256 of a prefix, the number of rows and the product.
//!
//! **Security.** Two tables whose rows are not the same multiset, but whose digests are, show a collision of SHA-256,
//! or numbers x, not all 0 and none as large as 2^64, with Π g^x = 1 for the numbers g of different rows. If the g are
//! random, whoever finds such x finds discrete logarithms in the group of p (Bellare and Micciancio, A New Paradigm for
//! Collision-free Hashing, Eurocrypt 1997): the order of the squares is the prime (p − 1)/2, far above every x. The
//! work for that is put at 2^128 for 3,072 bits (NIST SP 800-57), that for a collision of SHA-256 at 2^128.
//!
//! Sums of lanes of 16 bits (LtHash) are faster, but they bound how often a row may stand in a table: 65,536 equal rows add
//! up to 0 whatever they are. In a group of prime order above the number of rows there is no such bound.

use super::{Version, Writer, hex};
use crate::rows::Rows;
use crate::threads::side_by_side;
use dashu_int::UBig;
use sha2::{Digest as _, Sha256};

/// Bytes of a product.
const BYTES: usize = 384;
/// p = 2^3072 − this.
const BELOW: u64 = 1_103_717;
const ROW: &[u8] = b"linsep.row/1\n";
const WHOLE: &[u8] = b"linsep.multiset/1\n";
/// Rows that one thread takes at a time.
const AT_ONCE: u64 = 4096;

/// The product over some rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multiset {
    product: UBig,
    rows: u64,
}

impl Default for Multiset {
    fn default() -> Multiset {
        Multiset { product: UBig::ONE, rows: 0 }
    }
}

impl Multiset {
    /// The product over all rows.
    pub fn of(rows: &dyn Rows, threads: usize) -> Multiset {
        let part = |part: u64| {
            let mut all = Multiset::default();
            let mut hasher = RowHasher::default();
            for row in part * AT_ONCE..(part * AT_ONCE + AT_ONCE).min(rows.len()) {
                all.add(&hasher.hash(rows, row));
            }
            all
        };
        let mut all = Multiset::default();
        let parts = side_by_side(threads, 0..rows.len().div_ceil(AT_ONCE), &part);
        parts.iter().for_each(|part| all.merge(part));
        all
    }

    /// Adds a row by the hash of its bytes.
    fn add(&mut self, hash: &[u8; 32]) {
        let mut bytes = [0; BYTES];
        let start = Sha256::new_with_prefix(ROW).chain_update(hash);
        for (counter, part) in bytes.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            *part = start.clone().chain_update([counter as u8]).finalize().into();
        }
        self.product = times(&self.product, &UBig::from_le_bytes(&bytes));
        self.rows += 1;
    }

    /// Adds the rows of another part of the table.
    pub fn merge(&mut self, other: &Multiset) {
        self.product = times(&self.product, &other.product);
        self.rows += other.rows;
    }

    /// The product and the number of rows as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.rows.to_le_bytes().to_vec();
        bytes.extend(self.product.to_le_bytes());
        bytes.resize(8 + BYTES, 0);
        bytes
    }

    /// The way back; none for bytes that are no product.
    pub fn from_bytes(bytes: &[u8]) -> Option<Multiset> {
        let (rows, product) = bytes.split_first_chunk::<8>()?;
        let product = UBig::from_le_bytes(product);
        let is_one = bytes.len() == 8 + BYTES && product < prime() && product != UBig::ZERO;
        is_one.then(|| Multiset { product, rows: u64::from_le_bytes(*rows) })
    }

    /// The digest in hexadecimal.
    pub fn finish(&self) -> String {
        hex(&Sha256::new_with_prefix(WHOLE).chain_update(self.to_bytes()).finalize())
    }
}

/// The SHA-256 of the bytes of a row, by which it is found in a table of another order.
pub fn row_hash(rows: &dyn Rows, row: u64) -> [u8; 32] {
    RowHasher::default().hash(rows, row)
}

/// Hashes rows one after the other.
pub(crate) struct RowHasher(Writer);

impl Default for RowHasher {
    fn default() -> RowHasher {
        RowHasher(Writer::new(Version::Two))
    }
}

impl RowHasher {
    pub(crate) fn hash(&mut self, rows: &dyn Rows, row: u64) -> [u8; 32] {
        let mut hash = Sha256::new();
        self.0.write(rows, row, &mut hash);
        self.0.flush(&mut hash);
        hash.finalize().into()
    }
}

fn prime() -> UBig {
    (UBig::ONE << (8 * BYTES)) - UBig::from(BELOW)
}

/// a b modulo p, by 2^3072 = 1103717.
fn times(a: &UBig, b: &UBig) -> UBig {
    let mut product = a * b;
    loop {
        let high = &product >> (8 * BYTES);
        if high == UBig::ZERO {
            break;
        }
        let low = product - (&high << (8 * BYTES));
        product = low + high * UBig::from(BELOW);
    }
    let prime = prime();
    if product >= prime { product - prime } else { product }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Table(Vec<(f64, &'static str)>);

    impl Rows for Table {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }

        fn width(&self) -> usize {
            1
        }

        fn label(&self, row: u64) -> &str {
            self.0[row as usize].1
        }

        fn for_each(&self, row: u64, each: &mut dyn FnMut(u32, f64)) {
            each(0, self.0[row as usize].0);
        }

        fn takes_part(&self, _: u64) -> bool {
            true
        }
    }

    fn digest(rows: &[(f64, &'static str)]) -> String {
        Multiset::of(&Table(rows.to_vec()), 1).finish()
    }

    #[test]
    fn order_and_parts_change_nothing_and_everything_else_does() {
        let rows = [(1.5, "a"), (2.0, "b"), (1.5, "a"), (-3.25, "b")];
        let turned = [rows[3], rows[0], rows[2], rows[1]];
        assert_eq!(digest(&rows), digest(&turned));
        let mut parts = Multiset::of(&Table(rows[2..].to_vec()), 1);
        parts.merge(&Multiset::of(&Table(rows[..2].to_vec()), 2));
        assert_eq!(parts.finish(), digest(&rows));
        let back = Multiset::from_bytes(&parts.to_bytes()).unwrap();
        assert_eq!(back, parts);
        // Another value, another label, a row more, a row less, another row repeated.
        let others: [&[(f64, &'static str)]; 5] = [
            &[(1.5, "a"), (2.0, "b"), (1.5, "a"), (-3.250_000_000_000_001, "b")],
            &[(1.5, "b"), (2.0, "b"), (1.5, "a"), (-3.25, "b")],
            &[(1.5, "a"), (2.0, "b"), (1.5, "a"), (-3.25, "b"), (2.0, "b")],
            &rows[1..],
            &[(1.5, "a"), (2.0, "b"), (2.0, "b"), (-3.25, "b")],
        ];
        for other in others {
            assert_ne!(digest(other), digest(&rows));
        }
    }

    /// What sums of 16-bit lanes lose: 2^16 equal rows for as many others.
    #[test]
    fn many_equal_rows_are_counted() {
        let power = |hash: &[u8; 32]| {
            let mut all = Multiset::default();
            all.add(hash);
            for _ in 0..16 {
                let again = all.clone();
                all.merge(&again);
            }
            all
        };
        assert_ne!(power(&[1; 32]).finish(), power(&[2; 32]).finish());
        assert_eq!(power(&[1; 32]).rows, 1 << 16);
    }

    #[test]
    fn bytes_that_are_no_product_are_refused() {
        let good = Multiset::of(&Table(vec![(1.0, "a")]), 1).to_bytes();
        assert!(Multiset::from_bytes(&good[1..]).is_none());
        assert!(Multiset::from_bytes(&[good.clone(), vec![0]].concat()).is_none());
        assert!(Multiset::from_bytes(&[&good[..8], &[0; BYTES][..]].concat()).is_none());
        assert!(Multiset::from_bytes(&[&good[..8], &[255; BYTES][..]].concat()).is_none());
    }

    #[test]
    fn products_are_those_of_whole_numbers() {
        let a = prime() - UBig::from(2u8);
        let b = prime() - UBig::from(3u8);
        assert_eq!(times(&a, &b), UBig::from(6u8));
        assert_eq!(times(&a, &UBig::ONE), a);
    }
}
