//! Level curves of a function on a grid by marching squares (Lorensen and Cline 1987, in the plane).
//!
//! In each cell the curve enters and leaves where a linear function of the edge reaches the level. Of
//! the two ways through a saddle the one is taken that the mean of the corners suggests. Cells with a
//! corner that is not finite are left out.

use super::axes::Axis;

/// Values of a function at the corners of equal cells.
pub(crate) struct Grid {
    values: Vec<f64>,
    across: usize,
    up: usize,
    x: Axis,
    y: Axis,
}

impl Grid {
    /// The function at (across + 1) by (up + 1) points of two axes.
    pub(crate) fn new(
        x: &Axis,
        y: &Axis,
        across: usize,
        up: usize,
        mut function: impl FnMut([f64; 2]) -> f64,
    ) -> Grid {
        let mut grid = Grid { values: Vec::new(), across, up, x: x.clone(), y: y.clone() };
        for j in 0..=up {
            for i in 0..=across {
                let value = function(grid.point(i as f64, j as f64));
                grid.values.push(value);
            }
        }
        grid
    }

    /// The values at all corners.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    fn point(&self, i: f64, j: f64) -> [f64; 2] {
        let on = |axis: &Axis, share: f64| axis.low + share * axis.span();
        [on(&self.x, i / self.across as f64), on(&self.y, j / self.up as f64)]
    }

    fn value(&self, i: usize, j: usize) -> f64 {
        self.values[j * (self.across + 1) + i]
    }

    /// The level curves, joined into paths.
    pub(crate) fn curves(&self, level: f64) -> Vec<Vec<[f64; 2]>> {
        let mut segments = Vec::new();
        for j in 0..self.up {
            for i in 0..self.across {
                self.cell(i, j, level, &mut segments);
            }
        }
        join(segments)
            .into_iter()
            .map(|path| path.into_iter().map(|e| self.on_edge(e, level)).collect())
            .collect()
    }

    fn cell(&self, i: usize, j: usize, level: f64, segments: &mut Vec<[Edge; 2]>) {
        // Counter-clockwise from the lower left.
        let corners = [
            self.value(i, j),
            self.value(i + 1, j),
            self.value(i + 1, j + 1),
            self.value(i, j + 1),
        ];
        if corners.iter().any(|value| !value.is_finite()) {
            return;
        }
        let above = corners.map(|value| value >= level);
        let edges = [
            Edge { i, j, upright: false },
            Edge { i: i + 1, j, upright: true },
            Edge { i, j: j + 1, upright: false },
            Edge { i, j, upright: true },
        ];
        let crossed: Vec<usize> = (0..4).filter(|&k| above[k] != above[(k + 1) % 4]).collect();
        match crossed[..] {
            [a, b] => segments.push([edges[a], edges[b]]),
            [..] if crossed.len() == 4 => {
                let mean = corners.iter().map(|value| value / 4.0).sum::<f64>();
                // Corners 0 and 2 are joined through the middle, or 1 and 3 are.
                let pairs =
                    if (mean >= level) == above[0] { [(0, 1), (2, 3)] } else { [(3, 0), (1, 2)] };
                segments.extend(pairs.map(|(a, b)| [edges[a], edges[b]]));
            }
            _ => {}
        }
    }

    fn on_edge(&self, edge: Edge, level: f64) -> [f64; 2] {
        let Edge { i, j, upright } = edge;
        let from = self.value(i, j);
        let to = if upright { self.value(i, j + 1) } else { self.value(i + 1, j) };
        let share = if to == from { 0.5 } else { ((level - from) / (to - from)).clamp(0.0, 1.0) };
        let (i, j) = (i as f64, j as f64);
        if upright { self.point(i, j + share) } else { self.point(i + share, j) }
    }
}

/// An edge between two corners: from (i, j) to the right, or upwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    j: usize,
    i: usize,
    upright: bool,
}

/// Segments with common ends as paths, in a fixed order.
fn join(segments: Vec<[Edge; 2]>) -> Vec<Vec<Edge>> {
    let mut at = std::collections::BTreeMap::<Edge, Vec<usize>>::new();
    for (k, segment) in segments.iter().enumerate() {
        segment.iter().for_each(|edge| at.entry(*edge).or_default().push(k));
    }
    let mut used = vec![false; segments.len()];
    let mut paths = Vec::new();
    // Open paths start at an end, closed ones anywhere.
    let ends = at.iter().filter(|(_, list)| list.len() == 1).map(|(edge, _)| *edge);
    let starts: Vec<Edge> = ends.chain(at.keys().copied()).collect();
    for start in starts {
        let mut path = vec![start];
        let mut here = start;
        while let Some(&k) = at[&here].iter().find(|&&k| !used[k]) {
            used[k] = true;
            here = if segments[k][0] == here { segments[k][1] } else { segments[k][0] };
            path.push(here);
        }
        if path.len() > 1 {
            paths.push(path);
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curves_of_a_bowl_are_closed_rings_of_the_right_radius() {
        let axis = Axis { low: -2.0, high: 2.0 };
        let grid = Grid::new(&axis, &axis, 60, 60, |[x, y]| x * x + y * y);
        let curves = grid.curves(1.0);
        assert_eq!(curves.len(), 1);
        let ring = &curves[0];
        assert_eq!(ring.first(), ring.last());
        assert!(ring.iter().all(|[x, y]| (x.hypot(*y) - 1.0).abs() < 1e-3));
        assert!(grid.curves(100.0).is_empty());
    }

    #[test]
    fn saddles_and_holes_are_no_trouble() {
        let axis = Axis { low: -1.0, high: 1.0 };
        let saddle = Grid::new(&axis, &axis, 5, 5, |[x, y]| x * y);
        assert_eq!(saddle.curves(0.01).len(), 2);
        let hole = Grid::new(&axis, &axis, 5, 5, |[x, y]| if x > 0.5 { f64::NAN } else { y });
        assert!(hole.curves(0.1).iter().flatten().all(|point| point[0].is_finite()));
    }
}
