//! Copies of rows in other layouts, made once and shared by all who go over the same rows.
//!
//! K binary problems of one run differ in signs and costs, not in rows; folds and the points of a path
//! differ in even less. What an engine derives from the rows alone (sparse rows of dense ones, quantised
//! rows, rows in a random order) is therefore asked for here, by what it depends on:
//!
//! ```text
//! (type of the layout, rows that take part, storage they are read from, seed of the order)
//! ```
//!
//! Rows that take part are compared by their numbers, so no two different sets are ever taken for one.
//! Signs, costs and penalties never enter a layout.
//!
//! A layout of all rows that every run on the data asks for (the sparse copy) is kept as long as the
//! data. All others belong to the runs that use them: the cache refers to them without holding them, so
//! the copy of a fold is freed with its run. A store that changes has no copies: [`RowCopies::change`] is
//! the only way to change one, and starts a new cache.

use super::values::{Codes, Values};
use super::{Kind, Offsets, Shape, Sparse, Store};
use crate::buffer::Buffer;
use crate::parallel::parallel_map;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A store with the copies that were made of its rows. Clones share the copies.
#[derive(Clone, Debug)]
pub struct RowCopies {
    store: Store,
    layouts: Arc<Layouts>,
}

/// The copies made of the rows of one store.
#[derive(Default)]
pub struct Layouts {
    made: Mutex<Made>,
}

/// Rows in another layout.
pub trait Layout: Any + Send + Sync {
    /// What it is called in a list of what is held.
    const NAME: &'static str;

    /// Bytes that it takes in memory.
    fn bytes(&self) -> u64;
}

/// What a layout depends on, besides its type and the values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LayoutKey {
    rows: RowSet,
    of_sparse_copy: bool,
    seed: Option<u64>,
}

/// The rows that take part, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum RowSet {
    All,
    Some(Box<[u32]>),
}

impl RowCopies {
    pub fn new(store: Store) -> RowCopies {
        RowCopies { store, layouts: Arc::default() }
    }

    /// The store, to be changed: what was copied from it before is forgotten here, but not by clones.
    pub fn change(&mut self) -> &mut Store {
        self.layouts = Arc::default();
        &mut self.store
    }

    pub fn into_store(self) -> Store {
        self.store
    }

    pub fn layouts(&self) -> &Layouts {
        &self.layouts
    }

    /// Rows of one-byte codes that are mostly zeros, as sparse rows: small as they are, but slow to go
    /// over again and again. `None` where the rows are best read as they stand.
    pub fn sparse_copy(&self, threads: usize) -> Option<Arc<Store>> {
        let rows = ByteRows::of(&self.store)?;
        let make = || rows.to_sparse(threads);
        Some(self.layouts.get(LayoutKey::all(), Keep::WithData, make))
    }
}

impl Deref for RowCopies {
    type Target = Store;

    #[inline]
    fn deref(&self) -> &Store {
        &self.store
    }
}

impl LayoutKey {
    /// All rows of the store, in their order.
    fn all() -> LayoutKey {
        LayoutKey { rows: RowSet::All, of_sparse_copy: false, seed: None }
    }

    /// Some rows of a store that has `count`.
    pub fn new(rows: &[u32], count: usize) -> LayoutKey {
        let is_all = rows.len() == count && rows.iter().copied().eq(0..count as u32);
        let rows = if is_all { RowSet::All } else { RowSet::Some(rows.into()) };
        LayoutKey { rows, ..LayoutKey::all() }
    }

    /// Whether the layout is made of the sparse copy. The values are the same, but not how passes over
    /// them are cut into pieces.
    pub fn of_sparse_copy(self, of_sparse_copy: bool) -> LayoutKey {
        LayoutKey { of_sparse_copy, ..self }
    }

    /// The seed of what is random in the layout.
    pub fn seed(self, seed: u64) -> LayoutKey {
        LayoutKey { seed: Some(seed), ..self }
    }
}

#[derive(Default)]
struct Made {
    slots: HashMap<(TypeId, LayoutKey), Arc<Slot>>,
    /// Slots that were in use when the others were last removed.
    in_use: usize,
}

/// A layout, or the place where one is being made: whoever comes meanwhile waits for it.
struct Slot {
    name: &'static str,
    entry: Mutex<Option<Entry>>,
}

/// Who holds a layout.
enum Keep {
    /// The cache.
    WithData,
    /// Those who asked for it.
    WithUsers,
}

struct Entry {
    layout: Weak<dyn Any + Send + Sync>,
    /// The same once more, where the cache is to hold it.
    _kept: Option<Arc<dyn Any + Send + Sync>>,
    bytes: u64,
}

impl Layouts {
    /// The layout of a key: the one that is in use anywhere, or else a new one, which lives as long as
    /// anyone has it. `make` must follow from the rows and the key alone, and must not ask for a layout.
    pub fn shared<T: Layout>(&self, key: LayoutKey, make: impl FnOnce() -> T) -> Arc<T> {
        self.get(key, Keep::WithUsers, make)
    }

    /// Name and bytes of every layout that is in memory, in the order of the names.
    pub fn held(&self) -> Vec<(&'static str, u64)> {
        let slots: Vec<Arc<Slot>> = locked(&self.made).slots.values().cloned().collect();
        let mut held: Vec<(&'static str, u64)> = slots
            .iter()
            .filter_map(|slot| {
                let entry = locked(&slot.entry);
                entry
                    .as_ref()
                    .filter(|entry| entry.is_alive())
                    .map(|entry| (slot.name, entry.bytes))
            })
            .collect();
        held.sort_unstable();
        held
    }

    fn get<T: Layout>(&self, key: LayoutKey, keep: Keep, make: impl FnOnce() -> T) -> Arc<T> {
        let slot = locked(&self.made).slot::<T>(key);
        let mut entry = locked(&slot.entry);
        let at_hand = entry.as_ref().and_then(|entry| entry.layout.upgrade());
        // The type is part of the key.
        if let Some(Ok(layout)) = at_hand.map(Arc::downcast::<T>) {
            return layout;
        }
        let made = Arc::new(make());
        let any: Arc<dyn Any + Send + Sync> = made.clone();
        *entry = Some(Entry {
            layout: Arc::downgrade(&any),
            _kept: matches!(keep, Keep::WithData).then_some(any),
            bytes: made.bytes(),
        });
        made
    }
}

/// The names and bytes of what is held, not the rows.
impl fmt::Debug for Layouts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.held()).finish()
    }
}

impl Made {
    fn slot<T: Layout>(&mut self, key: LayoutKey) -> Arc<Slot> {
        // Keys of layouts that are gone are few at any time, and removing them takes little of the time
        // of those that came.
        if self.slots.len() > 2 * self.in_use {
            self.slots.retain(|_, slot| Slot::is_in_use(slot));
            self.in_use = self.slots.len();
        }
        let new = || Arc::new(Slot { name: T::NAME, entry: Mutex::new(None) });
        Arc::clone(self.slots.entry((TypeId::of::<T>(), key)).or_insert_with(new))
    }
}

impl Slot {
    /// Slots are handed out while their table is locked, so one that nobody else has stays so.
    fn is_in_use(slot: &Arc<Slot>) -> bool {
        Arc::strong_count(slot) > 1 || locked(&slot.entry).as_ref().is_some_and(Entry::is_alive)
    }
}

impl Entry {
    fn is_alive(&self) -> bool {
        self.layout.strong_count() > 0
    }
}

/// What a thread that panicked leaves behind is a slot without a layout.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Layout for Store {
    const NAME: &'static str = "sparse copy";

    fn bytes(&self) -> u64 {
        let columns = self.profile.columns.as_ref().map_or(0, |columns| size_of_val(&columns[..]));
        Store::bytes(self) + columns as u64
    }
}

/// Dense rows of one-byte codes that are mostly 0.
struct ByteRows<'a> {
    store: &'a Store,
    codes: &'a [u8],
    table: &'a [f64],
    width: usize,
}

impl<'a> ByteRows<'a> {
    /// The rows of a store, if they are such.
    fn of(store: &'a Store) -> Option<ByteRows<'a>> {
        let Shape::Dense(dense) = &store.shape else { return None };
        let Codes::Table8(codes) = &dense.values.codes else { return None };
        let mostly_zeros = dense.width > 0 && 3 * store.nonzeros < store.held_values();
        let (table, width) = (&dense.values.table[..], dense.width);
        mostly_zeros.then_some(ByteRows { store, codes, table, width })
    }

    /// The same rows as sparse ones, with the same codes.
    fn to_sparse(&self, threads: usize) -> Store {
        let (store, width) = (self.store, self.width);
        const ROWS: usize = 4096;
        /// Blocks that wait to be put together, at most.
        const BLOCKS: usize = 64;
        let make = |block: usize| {
            let rows = block * ROWS..((block + 1) * ROWS).min(store.rows);
            let likely = (store.nonzeros as usize / store.rows + 8) * rows.len();
            let (mut ends, mut indices, mut kept) = (
                Vec::with_capacity(rows.len()),
                Vec::with_capacity(likely),
                Vec::with_capacity(likely),
            );
            for row in self.codes[rows.start * width..rows.end * width].chunks_exact(width) {
                let before = indices.len();
                let (eights, rest) = row.as_chunks::<8>();
                for (k, eight) in eights.iter().enumerate() {
                    let mut word = u64::from_le_bytes(*eight);
                    // The codes that are not 0, from the lowest byte on.
                    while word != 0 {
                        let byte = word.trailing_zeros() / 8;
                        indices.push((8 * k) as u32 + byte);
                        kept.push(eight[byte as usize]);
                        word &= !(0xff << (8 * byte));
                    }
                }
                for (j, &code) in rest.iter().enumerate().filter(|(_, code)| **code != 0) {
                    indices.push((8 * eights.len() + j) as u32);
                    kept.push(code);
                }
                ends.push(indices.len() - before);
            }
            (ends, indices, kept)
        };
        let mut offsets = Offsets::with_capacity(store.rows);
        let (mut indices, mut kept) = (Buffer::new(), Buffer::new());
        indices.reserve(store.nonzeros as usize);
        kept.reserve(store.nonzeros as usize);
        let count = store.rows.div_ceil(ROWS);
        for first in (0..count).step_by(BLOCKS) {
            let blocks = BLOCKS.min(count - first);
            for (ends, part, codes) in parallel_map(blocks, threads, |block| make(first + block)) {
                ends.into_iter().for_each(|len| offsets.push(len));
                indices.extend_from_slice(&part);
                kept.extend_from_slice(&codes);
            }
        }
        let values = Values {
            codes: Codes::Table8(kept),
            ..Values::zeros(Kind::Ones, 0, self.table.to_vec(), vec![1.0])
        };
        let shape = Shape::Sparse(Sparse { offsets, indices, values });
        Store { shape, profile: store.profile.clone(), ..*store }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dataset;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A layout of some bytes.
    struct Bytes(Vec<u8>);

    impl Layout for Bytes {
        const NAME: &'static str = "bytes";

        fn bytes(&self) -> u64 {
            self.0.len() as u64
        }
    }

    struct Others;

    impl Layout for Others {
        const NAME: &'static str = "others";

        fn bytes(&self) -> u64 {
            1
        }
    }

    fn key(rows: &[u32]) -> LayoutKey {
        LayoutKey::new(rows, 4)
    }

    #[test]
    fn a_layout_is_made_once_for_all_threads() {
        let (layouts, made) = (Layouts::default(), AtomicUsize::new(0));
        let make = || {
            made.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(20));
            Bytes(vec![0; 7])
        };
        let all = parallel_map(8, 8, |_| layouts.shared(key(&[1, 2]), make));
        assert_eq!(made.load(Ordering::Relaxed), 1);
        assert!(all.iter().all(|layout| Arc::ptr_eq(layout, &all[0])));
        assert_eq!(layouts.held(), [("bytes", 7)]);
    }

    #[test]
    fn a_layout_lives_as_long_as_its_users() {
        let layouts = Layouts::default();
        let first = layouts.shared(key(&[0]), || Bytes(vec![1]));
        let second = first.clone();
        drop(first);
        assert_eq!(layouts.held(), [("bytes", 1)]);
        drop(second);
        assert!(layouts.held().is_empty());
        let new = layouts.shared(key(&[0]), || Bytes(vec![1, 2]));
        assert_eq!((new.0.len(), layouts.held()), (2, vec![("bytes", 2)]));
    }

    #[test]
    fn what_a_layout_depends_on_tells_it_apart() {
        let layouts = Layouts::default();
        let keys = [
            key(&[0, 1, 2, 3]),
            key(&[0, 1, 2]),
            key(&[0, 2, 1]),
            key(&[0, 1, 2]).seed(0),
            key(&[0, 1, 2]).seed(1),
            key(&[0, 1, 2]).of_sparse_copy(true),
        ];
        let make = |k: usize| layouts.shared(keys[k].clone(), || Bytes(vec![0; k]));
        let made: Vec<Arc<Bytes>> = (0..keys.len()).map(make).collect();
        let _others = layouts.shared(keys[0].clone(), || Others);
        assert!(made.iter().enumerate().all(|(k, layout)| layout.0.len() == k));
        assert!((0..keys.len()).all(|k| Arc::ptr_eq(&make(k), &made[k])));
        let bytes = (0..keys.len() as u64).map(|k| ("bytes", k));
        assert_eq!(layouts.held(), bytes.chain([("others", 1)]).collect::<Vec<_>>());
    }

    #[test]
    fn keys_of_layouts_that_are_gone_are_removed() {
        let layouts = Layouts::default();
        let kept = layouts.shared(key(&[9]), || Bytes(vec![9]));
        for row in 0..100 {
            layouts.shared(key(&[row, row]), || Bytes(vec![0]));
            assert!(locked(&layouts.made).slots.len() <= 3);
        }
        assert!(Arc::ptr_eq(&kept, &layouts.shared(key(&[9]), || Bytes(Vec::new()))));
    }

    #[test]
    fn a_panic_leaves_no_layout() {
        let layouts = Layouts::default();
        let make = || layouts.shared(key(&[0]), || -> Bytes { panic!("no memory") });
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(make)).is_err());
        assert!(layouts.held().is_empty());
        assert_eq!(layouts.shared(key(&[0]), || Bytes(vec![5])).0, [5]);
    }

    /// Rows of one-byte codes, one value in five not 0.
    fn mostly_zeros() -> Dataset {
        let value = |i: usize, j: usize| match (i + j) % 5 {
            0 => (1 + (i * j) % 90) as f64,
            _ => 0.0,
        };
        let rows: Vec<Vec<f64>> =
            (0..5000).map(|i| (0..19).map(|j| value(i, j)).collect()).collect();
        let labels: Vec<&str> = (0..rows.len()).map(|i| ["a", "b"][i % 2]).collect();
        Dataset::from_rows(&rows, &labels).unwrap()
    }

    #[test]
    fn the_sparse_copy_has_the_same_rows() {
        let data = mostly_zeros();
        let copy = data.sparse_copy(2).unwrap();
        assert!(data.is_dense() && !copy.is_dense());
        assert_eq!((copy.rows(), copy.nonzeros()), (data.n_rows(), data.nonzeros()));
        for row in 0..data.n_rows() {
            let (mut expected, mut found) = (Vec::new(), Vec::new());
            data.for_each(row, |j, x| expected.push((j, x.to_bits())));
            copy.for_each(row, &mut Vec::new(), |j, x| found.push((j, x.to_bits())));
            assert_eq!(found, expected, "row {row}");
        }
        let Shape::Sparse(sparse) = &copy.shape else { panic!("not sparse") };
        let Codes::Table8(codes) = &sparse.values.codes else { panic!("not of one byte") };
        // No memory but what is listed.
        let held = sparse.indices.memory_bytes() + codes.memory_bytes();
        assert_eq!(held, 5 * codes.len() as u64);
        let columns = 16 * data.n_features() as u64;
        assert_eq!(data.layouts().held(), [("sparse copy", copy.bytes() + columns)]);
    }

    #[test]
    fn a_change_of_the_rows_forgets_their_copies() {
        let data = mostly_zeros();
        let copy = data.sparse_copy(1).unwrap();
        let mut other = data.clone();
        assert!(Arc::ptr_eq(&copy, &other.sparse_copy(1).unwrap()), "clones share");
        other.widen_to(data.n_features());
        assert!(Arc::ptr_eq(&copy, &other.sparse_copy(1).unwrap()), "nothing has changed");
        other.widen_to(23);
        assert!(other.layouts().held().is_empty());
        assert_eq!(other.sparse_copy(1).unwrap().width(), 23);
        assert!(Arc::ptr_eq(&copy, &data.sparse_copy(1).unwrap()), "a clone changed, not this");
        let sparse = data.with_other_storage();
        assert!(sparse.sparse_copy(1).is_none() && sparse.layouts().held().is_empty());
    }
}
