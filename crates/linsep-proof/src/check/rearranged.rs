//! A table whose rows stand in another order than those that a certificate speaks of.
//!
//! No claim depends on the order of the rows but by the numbers of the rows that it names. With the digest of the
//! rows as a multiset a certificate can give the hashes of these rows, and here they are found again and put where the
//! certificate says that they are, each changing places with the row that is there. The claims are then checked of
//! the rows as they are: wherever a row was put, what is found of them is true of the table.

use crate::basis::Basis;
use crate::digest::{Multiset, RowHasher, hex};
use crate::file::{AnyOrder, DataIdentity};
use crate::rows::{Decimals, Entries, RowBuffer, Rows};
use std::collections::{HashMap, HashSet};

/// Rows of which some change places.
pub(super) struct Rearranged<'a> {
    rows: &'a dyn Rows,
    /// Which row stands at a place, where it is not the row of that number.
    moved: HashMap<u64, u64>,
}

impl<'a> Rearranged<'a> {
    /// The rows as the certificate numbers them; none if they are not the same multiset.
    pub(super) fn new(
        rows: &'a dyn Rows,
        identity: &DataIdentity,
        threads: usize,
    ) -> Option<Rearranged<'a>> {
        let AnyOrder { sha256, rows: named } = identity.multiset.as_ref()?;
        // A place that stands twice would hide a row behind another.
        let is_order = named.is_sorted_by(|a, b| a.0 < b.0);
        if !is_order || identity.rows != rows.len() {
            return None;
        }
        if Multiset::of(rows, threads).finish() != *sha256 {
            return None;
        }
        let mut places: HashMap<&str, Vec<u64>> = HashMap::new();
        for (place, hash) in named.iter().rev().filter(|(place, _)| *place < rows.len()) {
            places.entry(hash).or_default().push(*place);
        }
        let mut this = Rearranged { rows, moved: HashMap::new() };
        if places.is_empty() {
            return Some(this);
        }
        let (mut hasher, mut found) = (RowHasher::default(), Vec::new());
        for row in 0..rows.len() {
            let hash = hex(&hasher.hash(rows, row));
            if let Some(place) = places.get_mut(hash.as_str()).and_then(Vec::pop) {
                found.push((place, row));
            }
        }
        this.put(&found);
        Some(this)
    }

    /// Puts each row at its place; rows that lose their places fill those that become free, in their order.
    fn put(&mut self, found: &[(u64, u64)]) {
        let places: HashSet<u64> = found.iter().map(|(place, _)| *place).collect();
        let taken: HashSet<u64> = found.iter().map(|(_, row)| *row).collect();
        let mut free: Vec<u64> = taken.difference(&places).copied().collect();
        let mut homeless: Vec<u64> = places.difference(&taken).copied().collect();
        free.sort_unstable();
        homeless.sort_unstable();
        self.moved.extend(found.iter().copied());
        self.moved.extend(free.into_iter().zip(homeless));
    }

    fn at(&self, place: u64) -> u64 {
        self.moved.get(&place).copied().unwrap_or(place)
    }
}

impl Rows for Rearranged<'_> {
    fn len(&self) -> u64 {
        self.rows.len()
    }

    fn width(&self) -> usize {
        self.rows.width()
    }

    fn label(&self, row: u64) -> &str {
        self.rows.label(self.at(row))
    }

    fn for_each(&self, row: u64, each: &mut dyn FnMut(u32, f64)) {
        self.rows.for_each(self.at(row), each);
    }

    fn entries<'b>(&'b self, row: u64, buffer: &'b mut RowBuffer) -> Entries<'b> {
        self.rows.entries(self.at(row), buffer)
    }

    fn load(&self, row: u64, columns: &mut Vec<u32>, values: &mut Vec<f64>) {
        self.rows.load(self.at(row), columns, values);
    }

    fn decimals(&self, row: u64) -> Option<Decimals<'_>> {
        self.rows.decimals(self.at(row))
    }

    fn takes_part(&self, row: u64) -> bool {
        self.rows.takes_part(self.at(row))
    }

    fn weight(&self, row: u64) -> f64 {
        self.rows.weight(self.at(row))
    }

    fn column_name(&self, column: u32) -> String {
        self.rows.column_name(column)
    }

    fn basis(&self) -> Option<&Basis> {
        self.rows.basis()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check_file;
    use crate::digest::{digest, row_hash};
    use crate::{CertificateFile, Finding};

    #[derive(Clone)]
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

    /// 1 and 5 of b around two 3 of a: no plane separates. Rows 1, 2 and 4 show it.
    fn table() -> Table {
        Table(vec![(3.0, "a"), (1.0, "b"), (3.0, "a"), (2.5, "a"), (5.0, "b"), (6.0, "b")])
    }

    fn certificate(named: &[u64]) -> CertificateFile {
        let table = table();
        let hash = |row: &u64| (*row, hex(&row_hash(&table, *row)));
        let named: Vec<(u64, String)> = named.iter().map(hash).collect();
        let any = AnyOrder::new(Multiset::of(&table, 1).finish(), named);
        let identity = DataIdentity::new(digest(&table), 6).with_multiset(Some(any));
        let text = r#"{"format": "linsep.certificate/2", "data": DATA, "bias": true, "basis": null,
            "reading": {"default": "binary64", "binary64": []}, "claims": [{"claim": "inseparable",
            "scheme": "binary", "positive": ["b"], "negative": ["a"], "witness": [
            {"row": 1, "lambda": "1"}, {"row": 2, "lambda": "2"}, {"row": 4, "lambda": "1"}]}]}"#;
        let data = serde_json::to_string(&identity).unwrap();
        CertificateFile::from_json(text.replace("DATA", &data).as_bytes()).unwrap()
    }

    fn finding(certificate: &CertificateFile, rows: &Table) -> Finding {
        check_file(certificate, rows, &digest(rows), 2).swap_remove(0)
    }

    #[test]
    fn rows_in_another_order_are_found_by_their_hashes() {
        let certificate = certificate(&[1, 2, 4]);
        assert!(finding(&certificate, &table()).holds());
        let mut order = vec![0, 1, 2, 3, 4, 5];
        for turn in 0..60 {
            order.swap(turn % 6, (turn * 5 + 2) % 6);
            let rows = Table(order.iter().map(|&row| table().0[row]).collect());
            let found = finding(&certificate, &rows);
            assert!(found.holds(), "{order:?}: {found:?}");
            let words = format!("{found:?}");
            let is_given = rows.0 == table().0;
            assert_eq!(words.contains("in another order"), !is_given, "{order:?}");
            // Nothing but a permutation: every row is somewhere.
            let view = Rearranged::new(&rows, &certificate.data, 1).unwrap();
            let mut seen: Vec<u64> = (0..6).map(|place| view.at(place)).collect();
            seen.sort_unstable();
            assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
            // A value, a label or a row more is another table.
            let mut changed = rows.clone();
            changed.0[turn % 6].0 = f64::from_bits(changed.0[turn % 6].0.to_bits() ^ 1);
            assert!(!finding(&certificate, &changed).holds());
            let mut changed = rows.clone();
            changed.0[turn % 6].1 = if changed.0[turn % 6].1 == "a" { "b" } else { "a" };
            assert!(!finding(&certificate, &changed).holds());
            let mut changed = rows;
            changed.0.push((6.0, "b"));
            assert!(!finding(&certificate, &changed).holds());
        }
    }

    #[test]
    fn a_changed_digest_hash_or_place_is_refused() {
        let turned = Table(table().0.into_iter().rev().collect());
        let good = certificate(&[1, 2, 4]);
        assert!(finding(&good, &turned).holds());
        let any = good.data.multiset.clone().unwrap();
        let with = |any: AnyOrder| {
            let mut changed = good.clone();
            changed.data.multiset = Some(any);
            finding(&changed, &turned).holds()
        };
        for at in 0..64 {
            let mut changed = any.clone();
            let last = if &changed.sha256[at..at + 1] == "0" { "1" } else { "0" };
            changed.sha256.replace_range(at..at + 1, last);
            assert!(!with(changed), "{at}");
        }
        // Row 2 as row 1, hashes of no row, and places that stand twice.
        let mut changed = any.clone();
        changed.rows[0].0 = 3;
        changed.rows.swap(0, 1);
        assert!(!with(changed));
        let mut changed = any.clone();
        changed.rows[0].1.replace_range(0..2, "zz");
        assert!(!with(changed));
        let mut changed = any.clone();
        changed.rows[1].0 = 1;
        assert!(!with(changed));
        let mut without = good.clone();
        without.data.multiset = None;
        assert!(!finding(&without, &turned).holds());
        // Rows that are not named are where they are.
        assert!(!finding(&certificate(&[]), &turned).holds());
    }
}
