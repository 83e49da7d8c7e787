//! Convex polygons cut by lines: decision regions of linear models are made of them.

/// a·x + b·y + c.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) a: f64,
    pub(crate) b: f64,
    pub(crate) c: f64,
}

impl Line {
    pub(crate) fn at(&self, [x, y]: [f64; 2]) -> f64 {
        self.a * x + self.b * y + self.c
    }

    pub(crate) fn minus(&self, other: &Line) -> Line {
        Line { a: self.a - other.a, b: self.b - other.b, c: self.c - other.c }
    }

    pub(crate) fn turned(&self) -> Line {
        Line { a: -self.a, b: -self.b, c: -self.c }
    }

    pub(crate) fn raised(&self, by: f64) -> Line {
        Line { c: self.c + by, ..*self }
    }

    /// Whether it is a line at all.
    pub(crate) fn is_line(&self) -> bool {
        self.a != 0.0 || self.b != 0.0
    }
}

/// The part of a convex polygon where the line's value is at least 0.
pub(crate) fn keep(polygon: &[[f64; 2]], line: &Line) -> Vec<[f64; 2]> {
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (k, &from) in polygon.iter().enumerate() {
        let to = polygon[(k + 1) % polygon.len()];
        let (s, t) = (line.at(from), line.at(to));
        if s >= 0.0 {
            kept.push(from);
        }
        if (s > 0.0 && t < 0.0) || (s < 0.0 && t > 0.0) {
            kept.push(between(from, to, s / (s - t)));
        }
    }
    if kept.len() < 3 { Vec::new() } else { kept }
}

/// The part of a segment where the line's value is at least 0.
pub(crate) fn keep_segment(ends: [[f64; 2]; 2], line: &Line) -> Option<[[f64; 2]; 2]> {
    let [from, to] = ends;
    let (s, t) = (line.at(from), line.at(to));
    match (s >= 0.0, t >= 0.0) {
        (true, true) => Some(ends),
        (true, false) => Some([from, between(from, to, s / (s - t))]),
        (false, true) => Some([between(from, to, s / (s - t)), to]),
        _ => None,
    }
}

/// The part of a line inside a convex polygon.
pub(crate) fn inside(polygon: &[[f64; 2]], line: &Line) -> Option<[[f64; 2]; 2]> {
    if !line.is_line() {
        return None;
    }
    let mut ends: Vec<[f64; 2]> = Vec::new();
    for (k, &from) in polygon.iter().enumerate() {
        let to = polygon[(k + 1) % polygon.len()];
        let (s, t) = (line.at(from), line.at(to));
        if s == 0.0 {
            ends.push(from);
        } else if s * t.signum() < 0.0 && t != 0.0 {
            ends.push(between(from, to, s / (s - t)));
        }
    }
    let first = *ends.first()?;
    let far = |p: &[f64; 2]| (p[0] - first[0]).abs() + (p[1] - first[1]).abs();
    let last = ends.into_iter().max_by(|p, q| far(p).total_cmp(&far(q)))?;
    (far(&last) > 0.0).then_some([first, last])
}

/// The pieces into which lines cut a convex polygon.
pub(crate) fn pieces(polygon: Vec<[f64; 2]>, lines: &[Line]) -> Vec<Vec<[f64; 2]>> {
    let mut pieces = vec![polygon];
    for line in lines.iter().filter(|line| line.is_line()) {
        let halves = |piece: &Vec<[f64; 2]>| [keep(piece, line), keep(piece, &line.turned())];
        pieces = pieces.iter().flat_map(halves).filter(|half| half.len() > 2).collect();
    }
    pieces
}

/// A point inside a convex polygon.
pub(crate) fn middle(polygon: &[[f64; 2]]) -> [f64; 2] {
    let count = polygon.len().max(1) as f64;
    let mean = |axis: usize| polygon.iter().map(|point| point[axis] / count).sum();
    [mean(0), mean(1)]
}

fn between(from: [f64; 2], to: [f64; 2], share: f64) -> [f64; 2] {
    [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];

    fn area(polygon: &[[f64; 2]]) -> f64 {
        let corner = |k: usize| {
            let ([x, y], [u, v]) = (polygon[k], polygon[(k + 1) % polygon.len()]);
            x * v - u * y
        };
        (0..polygon.len()).map(corner).sum::<f64>() / 2.0
    }

    #[test]
    fn pieces_cover_the_polygon_once() {
        let lines: Vec<Line> = (0..7)
            .map(|k| {
                let k = f64::from(k);
                Line { a: (k * 1.3).sin(), b: (k * 1.3).cos(), c: 0.1 * k - 0.5 }
            })
            .collect();
        let pieces = pieces(SQUARE.to_vec(), &lines);
        assert!(pieces.len() > 7);
        assert!((pieces.iter().map(|piece| area(piece)).sum::<f64>() - 1.0).abs() < 1e-12);
        for piece in &pieces {
            for line in &lines {
                let side = line.at(middle(piece));
                assert!(piece.iter().all(|corner| line.at(*corner) * side >= -1e-12));
            }
        }
    }

    #[test]
    fn a_line_meets_the_edge_twice_or_not_at_all() {
        let diagonal = Line { a: 1.0, b: -1.0, c: 0.0 };
        assert_eq!(inside(&SQUARE, &diagonal), Some([[0.0, 0.0], [1.0, 1.0]]));
        assert_eq!(inside(&SQUARE, &Line { a: 1.0, b: 0.0, c: -2.0 }), None);
        assert_eq!(inside(&SQUARE, &Line { a: 0.0, b: 0.0, c: 0.0 }), None);
        let half = keep_segment([[0.0, 0.0], [2.0, 0.0]], &Line { a: 1.0, b: 0.0, c: -1.0 });
        assert_eq!(half, Some([[1.0, 0.0], [2.0, 0.0]]));
    }
}
