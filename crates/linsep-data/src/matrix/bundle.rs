//! Several planes side by side, so that one pass over a sparse row scores all of them.
//!
//! K dot products with K vectors of weights go to memory K times for each entry of a sparse row. Here
//! the weights of one column stand next to each other: an entry meets one line of K numbers. The bits are
//! those of K single products, because every plane has the lanes of the module `kernel` for itself. Dense
//! rows need none of this: their weights come in the order in which they stand.

use super::kernel::{self, LANES, add_plane_lanes, dots_sparse};
use super::{Rows, Store};

/// The weights of K planes, column by column.
#[derive(Clone, Debug)]
pub struct Bundle {
    /// Numbers for a column: K, filled up with zeros to a multiple of four.
    stride: usize,
    weights: Vec<f64>,
    /// The line of each column, where only columns with weights have lines of their own. Empty: every column
    /// has its own, in order.
    places: Vec<u32>,
}

/// The products of one row with several planes, and room to find them.
#[derive(Clone, Debug)]
pub struct Products {
    pub sums: Vec<f64>,
    pub(super) lanes: Vec<f64>,
    pub(super) scratch: Vec<f64>,
    places: Vec<u32>,
}

/// Finds the products of the row with these columns and values.
pub type FindProducts<'a> = dyn Fn(&[u32], &[f64], &mut Products) + Sync + 'a;

/// Finds the products of sparse rows with so many planes, on any thread.
#[derive(Clone, Copy)]
pub struct Planes<'a> {
    pub count: usize,
    pub products: &'a FindProducts<'a>,
}

impl Products {
    pub fn of(planes: usize) -> Products {
        let lanes = vec![0.0; LANES * planes.next_multiple_of(4)];
        let sums = vec![0.0; planes];
        Products { sums, lanes, scratch: Vec::new(), places: Vec::new() }
    }

    /// The products of a dense row, four planes at a time.
    pub fn dense<'w>(&mut self, values: &[f64], plane: impl Fn(usize) -> &'w [f64]) {
        let (fours, rest) = self.sums.as_chunks_mut::<4>();
        let single = 4 * fours.len();
        for (k, four) in fours.iter_mut().enumerate() {
            *four = kernel::dot_four(values, std::array::from_fn(|lane| plane(4 * k + lane)));
        }
        for (k, sum) in rest.iter_mut().enumerate() {
            *sum = kernel::dot_f64(values, plane(single + k));
        }
    }

    /// The products of a sparse row, from the bundle of the planes if there is one.
    pub fn sparse<'w>(
        &mut self,
        indices: &[u32],
        values: &[f64],
        plane: impl Fn(usize) -> &'w [f64],
        bundle: Option<&Bundle>,
    ) {
        match bundle {
            Some(bundle) => {
                let Products { sums, lanes, places, .. } = self;
                bundle.dot_sparse(indices, values, (lanes, places), sums);
            }
            None => {
                let dot = |k| kernel::dot_sparse_f64(indices, values, plane(k));
                self.sums.iter_mut().enumerate().for_each(|(k, sum)| *sum = dot(k));
            }
        }
    }
}

impl Bundle {
    /// The bundle of planes of the same width, if the rows of a store are better off with it.
    pub fn for_rows<'a>(
        store: &Store,
        planes: impl ExactSizeIterator<Item = &'a [f64]>,
    ) -> Option<Bundle> {
        (planes.len() > 1 && !store.is_dense()).then(|| Bundle::new(planes))
    }

    /// The bundle of planes of the same width.
    pub fn new<'a>(planes: impl ExactSizeIterator<Item = &'a [f64]>) -> Bundle {
        /// Columns that are put in their places together: their lines stay in the cache.
        const TOGETHER: usize = 64;
        let planes: Vec<&[f64]> = planes.collect();
        let stride = planes.len().next_multiple_of(4);
        let width = planes.iter().map(|plane| plane.len()).max().unwrap_or(0);
        let mut weights = vec![0.0; width * stride];
        for (block, lines) in weights.chunks_mut((TOGETHER * stride).max(1)).enumerate() {
            for (k, plane) in planes.iter().enumerate() {
                let own = plane.get(TOGETHER * block..).unwrap_or_default();
                let column = lines.iter_mut().skip(k).step_by(stride);
                column.zip(own).for_each(|(place, w)| *place = *w);
            }
        }
        Bundle { stride, weights, places: Vec::new() }
    }

    /// The same for planes that stay as they are. Where most columns have no weight in any plane, those share
    /// lines of zeros: what is left may fit into a cache.
    pub fn fixed(planes: &[&[f64]]) -> Bundle {
        let width = planes.iter().map(|plane| plane.len()).max().unwrap_or(0);
        let mut used = vec![false; width];
        for plane in planes {
            // 0 alone is left out: the sign of -0 may show in a sum.
            used.iter_mut().zip(*plane).for_each(|(used, w)| *used |= w.to_bits() != 0);
            if is_mostly(&used) {
                return Bundle::new(planes.iter().copied());
            }
        }
        let (mut bundle, stride) = Bundle::empty(planes.len(), &used);
        for (j, &place) in bundle.places.iter().enumerate().filter(|(j, _)| used[*j]) {
            let line = &mut bundle.weights[place as usize * stride..][..stride];
            let own = planes.iter().map(|plane| plane.get(j).copied().unwrap_or(0.0));
            line.iter_mut().zip(own).for_each(|(place, w)| *place = w);
        }
        bundle
    }

    /// The same from lists of the columns of each plane with their weights. Planes of so many columns never
    /// stand in memory by themselves.
    pub fn of_entries<I: Iterator<Item = (usize, f64)>>(
        (count, width): (usize, usize),
        entries: impl Fn(usize) -> I,
    ) -> Bundle {
        let weights_of = |k| entries(k).filter(|(_, w)| w.to_bits() != 0);
        let mut used = vec![false; width];
        (0..count).flat_map(weights_of).for_each(|(j, _)| used[j] = true);
        let (mut bundle, stride) = match is_mostly(&used) {
            true => {
                let stride = count.next_multiple_of(4);
                let weights = vec![0.0; width * stride];
                (Bundle { stride, weights, places: Vec::new() }, stride)
            }
            false => Bundle::empty(count, &used),
        };
        let Bundle { weights, places, .. } = &mut bundle;
        for k in 0..count {
            for (j, w) in weights_of(k) {
                let line = places.get(j).map_or(j, |&place| place as usize);
                weights[line * stride + k] = w;
            }
        }
        bundle
    }

    /// The weights of a plane of so many columns.
    pub fn plane(&self, k: usize, width: usize) -> Vec<f64> {
        let line = |j: usize| self.places.get(j).map_or(j, |&place| place as usize);
        (0..width).map(|j| self.weights[line(j) * self.stride + k]).collect()
    }

    /// Lines of zeros for the columns that are used, and the numbers of a line.
    fn empty(planes: usize, used: &[bool]) -> (Bundle, usize) {
        let stride = planes.next_multiple_of(4);
        // A column adds to the lane of its number modulo LANES, so its line has the same remainder. The first
        // LANES lines are the zeros.
        let mut next: [u32; LANES] = std::array::from_fn(|lane| (LANES + lane) as u32);
        let mut places: Vec<u32> = (0..used.len()).map(|j| (j % LANES) as u32).collect();
        for (j, place) in places.iter_mut().enumerate().filter(|(j, _)| used[*j]) {
            *place = next[j % LANES];
            next[j % LANES] += LANES as u32;
        }
        let lines = next.into_iter().max().unwrap_or(0) as usize;
        (Bundle { stride, weights: vec![0.0; lines * stride], places }, stride)
    }

    /// Takes over a weight of a plane that moved.
    #[inline]
    pub fn set(&mut self, column: u32, plane: usize, weight: f64) {
        self.weights[column as usize * self.stride + plane] = weight;
    }

    /// Asks the memory for the weights that a row needs soon.
    #[inline]
    pub fn prefetch<R: Rows>(&self, rows: &R, row: usize) {
        rows.prefetch_weights(row, &self.weights, self.stride);
    }

    #[inline]
    pub(super) fn dot_sparse(
        &self,
        indices: &[u32],
        values: &[f64],
        (lanes, places): (&mut [f64], &mut Vec<u32>),
        sums: &mut [f64],
    ) {
        lanes.fill(0.0);
        let lines = match self.places.is_empty() {
            true => indices,
            false => {
                places.clear();
                places.extend(indices.iter().map(|&j| self.places[j as usize]));
                places.as_slice()
            }
        };
        dots_sparse(lines, values, &self.weights, self.stride, lanes);
        add_plane_lanes(lanes, self.stride, sums);
    }
}

/// Whether more than half of the columns are used.
fn is_mostly(used: &[bool]) -> bool {
    2 * used.iter().filter(|used| **used).count() > used.len()
}

#[cfg(test)]
mod tests {
    use super::super::Stage;
    use super::super::{Staging, with_rows};
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn products_with_many_planes_have_the_bits_of_single_ones() {
        let mut stream = Stream::new(4, Purpose::Generate(2));
        for (width, density) in [(1, 1.0), (7, 0.9), (8, 0.3), (37, 1.0), (100, 0.05)] {
            let mut staging = Staging::new(width);
            for _ in 0..40 {
                for j in 0..width {
                    if stream.unit() < density {
                        staging.push(j as u32, stream.normal(), super::super::profile::NO_PLACES);
                    }
                }
                staging.end_row();
            }
            let mut store = staging.pack();
            store.widen_to(width);
            let mut other: Store = store.clone();
            other.change_shape();
            for count in [1, 2, 3, 4, 5, 10, 20] {
                let plane = |_| (0..width).map(|_| stream.normal()).collect();
                let mut planes: Vec<Vec<f64>> = (0..count).map(plane).collect();
                let mut bundle = Bundle::new(planes.iter().map(Vec::as_slice));
                planes[count - 1][width / 2] = 0.7;
                bundle.set(width as u32 / 2, count - 1, 0.7);
                let mut found = Products::of(count);
                for store in [&store, &other] {
                    for (row, with) in (0..store.rows()).flat_map(|r| [(r, true), (r, false)]) {
                        with_rows!(store, rows => {
                            let bundle = with.then_some(&bundle);
                            rows.dot_all(row, |k| &planes[k], bundle, &mut found);
                            for (w, found) in planes.iter().zip(&found.sums) {
                                assert_eq!(rows.dot(row, w).to_bits(), found.to_bits());
                            }
                        });
                    }
                }
            }
        }
    }

    #[test]
    fn columns_without_weights_share_lines_and_change_no_bit() {
        let mut stream = Stream::new(5, Purpose::Generate(2));
        for (width, share) in [(1, 0.0), (9, 0.3), (100, 0.2), (1000, 0.02), (1000, 0.7)] {
            let kept: Vec<bool> = (0..width).map(|_| stream.unit() < share).collect();
            let first: Vec<f64> =
                kept.iter().map(|kept| if *kept { stream.normal() } else { 0.0 }).collect();
            let other = |k: u32| first.iter().map(|w| w * f64::from(k) - w / 3.0).collect();
            let mut planes: Vec<Vec<f64>> = (1..5).map(other).collect();
            planes.push(first.clone());
            let views: Vec<&[f64]> = planes.iter().map(Vec::as_slice).collect();
            let (fixed, full) = (Bundle::fixed(&views), Bundle::new(views.iter().copied()));
            assert_eq!(fixed.places.is_empty(), share > 0.5);
            assert!(width < 1000 || share > 0.5 || 10 * fixed.weights.len() < full.weights.len());
            let columns: Vec<u32> = (0..width as u32).filter(|_| stream.unit() < 0.5).collect();
            let values: Vec<f64> = columns.iter().map(|_| stream.normal()).collect();
            let sums = |bundle: &Bundle| {
                let mut products = Products::of(planes.len());
                products.sparse(&columns, &values, |k| views[k], Some(bundle));
                products.sums.iter().map(|sum| sum.to_bits()).collect::<Vec<u64>>()
            };
            assert_eq!(sums(&fixed), sums(&full), "{width} columns");
            let entries = |k: usize| {
                let all = planes[k].iter().copied().enumerate();
                all.filter(move |(j, w)| *w != 0.0 || (j + k).is_multiple_of(5))
            };
            let listed = Bundle::of_entries((planes.len(), width), entries);
            assert_eq!((&listed.places, &listed.weights), (&fixed.places, &fixed.weights));
            let back = (0..planes.len()).map(|k| listed.plane(k, width)).collect::<Vec<_>>();
            assert_eq!(back, planes);
        }
    }
}
