//! The geometry of planes: normal, distances, angles, the boundaries between classes.
//!
//! For a plane w·x + b = 0 with w ≠ 0: w is its normal, w/‖w‖ the unit normal, −b/‖w‖ its signed
//! distance from the origin along the normal, and (w·x + b)/‖w‖ the signed distance of a point x. Proof:
//! write x = p + r w/‖w‖ with p on the plane; then w·x + b = r‖w‖. For points A and B on the plane
//! w·(A − B) = 0, so w is perpendicular to everything inside it. |w·x + b| alone is a distance only if
//! ‖w‖ = 1.
//!
//! With a = (b, w) and z = (1, x) the same plane is a·z = 0, a plane through the origin in one more
//! dimension. The angle α of a and z has cos α = a·z/(‖a‖‖z‖): below 90° on the positive side, above it
//! on the other.
//!
//! Where the highest score wins, classes k and j meet in (w_k − w_j)·x + (b_k − b_j) = 0. The region of a
//! class is an intersection of half-spaces, so it is convex, and from a point inside it the nearest point
//! outside is behind the nearest of these planes. From a point outside, the way in is at least as long as
//! the way to the farthest plane that it is behind.
//!
//! Lengths are computed in binary64 and carry its rounding; [`score_rounding`] bounds what rounding can do
//! to a score.
//!
//! Reference: Bishop, Pattern Recognition and Machine Learning, 4.1.1 and 4.1.2; Duda, Hart, Stork 5.2.

use linsep::model::{LinearModel, Plane, Rule};

/// The lengths and directions of a plane.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Shape {
    /// ‖w‖.
    pub norm: f64,
    /// w/‖w‖.
    pub unit: Vec<f64>,
    /// −b/‖w‖: how far the plane is from the origin, in the direction of the normal.
    pub offset: f64,
}

impl Shape {
    /// The shape of a plane; `None` where every weight is 0, so that there is no plane.
    ///
    /// ```
    /// use linsep::Plane;
    /// use linsep_teach::geometry::Shape;
    /// let shape = Shape::of(&Plane::new(vec![3.0, 4.0], -10.0)).unwrap();
    /// assert_eq!((shape.norm, shape.offset), (5.0, 2.0));
    /// assert_eq!(shape.unit, [0.6, 0.8]);
    /// ```
    pub fn of(plane: &Plane) -> Option<Shape> {
        let largest = plane.weights.iter().fold(0f64, |most, w| most.max(w.abs()));
        if largest == 0.0 || !largest.is_finite() {
            return None;
        }
        // Divided by the largest weight first, so that no square leaves the range of binary64.
        let scaled: Vec<f64> = plane.weights.iter().map(|w| w / largest).collect();
        let length = scaled.iter().map(|w| w * w).sum::<f64>().sqrt();
        let norm = length * largest;
        let offset = 0.0 - plane.bias / norm;
        Some(Shape { norm, unit: scaled.iter().map(|w| w / length).collect(), offset })
    }

    /// The angles of the normal with the axes, in degrees.
    pub fn axis_angles(&self) -> Vec<f64> {
        self.unit.iter().map(|cosine| cosine.clamp(-1.0, 1.0).acos().to_degrees()).collect()
    }
}

/// A plane of two features as a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Line {
    /// x2 = slope · x1 + intercept.
    Sloped {
        /// The slope.
        slope: f64,
        /// The value of x2 where x1 is 0.
        intercept: f64,
    },
    /// x1 = at: the line stands upright and has no slope.
    Upright {
        /// The value of x1.
        at: f64,
    },
}

impl Line {
    /// The line of a plane of two features, of which not both weights are 0.
    pub fn of(plane: &Plane) -> Option<Line> {
        match plane.weights[..] {
            [first, 0.0] if first != 0.0 => Some(Line::Upright { at: 0.0 - plane.bias / first }),
            [first, second] if second != 0.0 => Some(Line::Sloped {
                slope: 0.0 - first / second,
                intercept: 0.0 - plane.bias / second,
            }),
            _ => None,
        }
    }
}

/// The boundary of two classes where the highest score wins: positive where the first one leads.
pub fn boundary(first: &Plane, second: &Plane) -> Plane {
    let weights = first.weights.iter().zip(&second.weights).map(|(a, b)| a - b + 0.0).collect();
    Plane::new(weights, first.bias - second.bias + 0.0)
}

/// The angle of (b, w) and (1, x) in degrees; `None` where the plane is 0. `row` has the entries of x that
/// are not 0.
pub fn angle(plane: &Plane, row: &[(u32, f64)]) -> Option<f64> {
    let shape =
        Shape::of(&Plane::new(plane.weights.iter().chain([&plane.bias]).copied().collect(), 0.0))?;
    let longest = row.iter().fold(1f64, |most, (_, x)| most.max(x.abs()));
    let square: f64 = row.iter().map(|(_, x)| (x / longest) * (x / longest)).sum();
    let length = (square + (1.0 / longest) * (1.0 / longest)).sqrt();
    let own = shape.unit.last().copied().unwrap_or(0.0) / longest;
    let dot = row.iter().map(|(j, x)| shape.unit[*j as usize] * (x / longest)).sum::<f64>() + own;
    Some((dot / length).clamp(-1.0, 1.0).acos().to_degrees())
}

/// How far rounding can have moved the score of a row from the exact w·x + b, values being read as
/// decimals or as they are.
///
/// A sum of n products, in any order, is off by at most γ(n + 1) = (n + 1)u/(1 − (n + 1)u) times the sum of
/// the magnitudes, u = 2^-53; a decimal value is off by u once more.
pub fn score_rounding(plane: &Plane, row: &[(u32, f64)]) -> f64 {
    let sum: f64 = row.iter().map(|(j, x)| (plane.weights[*j as usize] * x).abs()).sum();
    let steps = (row.len() + 6) as f64 * (f64::EPSILON / 2.0);
    // The magnitudes were summed in binary64 as well; one part in a thousand covers that.
    1.001 * steps / (1.0 - steps).max(0.5) * (sum + plane.bias.abs())
}

/// Distances of rows from the boundaries of a model.
pub struct Distances<'a> {
    model: &'a LinearModel,
    /// ‖w‖ of the one plane, or ‖w_k − w_j‖ of classes k and j, row after row.
    norms: Vec<f64>,
}

impl<'a> Distances<'a> {
    /// Measures the boundaries of a model: about classes² · features operations.
    pub fn new(model: &'a LinearModel) -> Distances<'a> {
        let norm = |plane: &Plane| Shape::of(plane).map_or(0.0, |shape| shape.norm);
        let norms = match (&model.rule, &model.planes[..]) {
            (Rule::Sign, [plane]) => vec![norm(plane)],
            (_, planes) => {
                let count = planes.len();
                let mut norms = vec![0.0; count * count];
                for k in 0..count {
                    for j in 0..k {
                        let value = norm(&boundary(&planes[k], &planes[j]));
                        norms[k * count + j] = value;
                        norms[j * count + k] = value;
                    }
                }
                norms
            }
        };
        Distances { model, norms }
    }

    /// How far a row with these scores is inside the region of a class, and the class across the nearest
    /// boundary. Negative: it is outside, and the way in is at least so long. `None` where no boundary
    /// exists because weights are the same.
    pub fn inside(&self, scores: &[f64], class: u32) -> Option<(f64, u32)> {
        if let (Rule::Sign, [score]) = (&self.model.rule, scores) {
            let sign = if class == 1 { 1.0 } else { -1.0 };
            return (self.norms[0] > 0.0).then(|| (sign * score / self.norms[0], 1 - class.min(1)));
        }
        let own = class as usize;
        let rivals = (0..scores.len()).filter(|&rival| rival != own);
        let heights = rivals.filter_map(|rival| {
            let norm = self.norms[own * scores.len() + rival];
            (norm > 0.0).then(|| ((scores[own] - scores[rival]) / norm, rival as u32))
        });
        heights.min_by(|a, b| a.0.total_cmp(&b.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep_data::input::InputMap;

    fn plane(weights: &[f64], bias: f64) -> Plane {
        Plane::new(weights.to_vec(), bias)
    }

    #[test]
    fn lines_have_a_slope_or_stand_upright() {
        let line = Line::of(&plane(&[1.0, 1.0], -1.5));
        assert_eq!(line, Some(Line::Sloped { slope: -1.0, intercept: 1.5 }));
        assert_eq!(Line::of(&plane(&[2.0, 0.0], -1.0)), Some(Line::Upright { at: 0.5 }));
        assert_eq!(Line::of(&plane(&[0.0, 0.0], 1.0)), None);
        assert_eq!(Line::of(&plane(&[1.0, 1.0, 1.0], 1.0)), None);
    }

    #[test]
    fn lengths_stay_in_range() {
        for size in [1e-300, 1.0, 1e300] {
            let shape = Shape::of(&plane(&[3.0 * size, -4.0 * size], 10.0 * size)).unwrap();
            assert!((shape.norm / size - 5.0).abs() < 1e-14, "{}", shape.norm);
            assert!((shape.offset + 2.0).abs() < 1e-14);
            assert!((shape.unit[0] - 0.6).abs() < 1e-15);
        }
        assert!(Shape::of(&plane(&[0.0, 0.0], 1.0)).is_none());
    }

    #[test]
    fn the_angle_is_below_90_degrees_exactly_on_the_positive_side() {
        let p = plane(&[1.0, 2.0], -2.0);
        for (row, side) in [([0.0, 0.0], -1.0), ([2.0, 0.0], 0.0), ([3.0, 1e8], 1.0)] {
            let entries: Vec<(u32, f64)> = (0..).zip(row).filter(|(_, x)| *x != 0.0).collect();
            let alpha = angle(&p, &entries).unwrap();
            let found = if (alpha - 90.0).abs() < 1e-9 { 0.0 } else { (90.0 - alpha).signum() };
            assert_eq!(found, side, "{alpha}");
        }
        // w = (1), b = 0 and x = 1: (0, 1) and (1, 1) enclose 45 degrees.
        assert!((angle(&plane(&[1.0], 0.0), &[(0, 1.0)]).unwrap() - 45.0).abs() < 1e-12);
    }

    /// Steps along the normal of the nearest boundary: just short of it nothing changes, beyond it all does.
    #[test]
    fn the_nearest_boundary_is_where_the_class_changes() {
        let planes =
            vec![plane(&[1.0, 0.5], 0.0), plane(&[-0.5, 1.0], 0.25), plane(&[0.0, -1.5], 0.5)];
        let classes = ["a", "b", "c"].map(str::to_owned).to_vec();
        let input = InputMap::plain(2);
        let model = LinearModel::new(planes, Rule::ArgMax, classes, input);
        let distances = Distances::new(&model);
        for row in [[1.0, 0.3], [-2.0, 1.0], [0.1, -3.0], [4.0, 4.0]] {
            let scores = model.scores(&row).unwrap();
            let class = model.class_of(&scores);
            let (distance, rival) = distances.inside(&scores, class).unwrap();
            assert!(distance > 0.0);
            let wall = boundary(&model.planes[rival as usize], &model.planes[class as usize]);
            let unit = Shape::of(&wall).unwrap().unit;
            let moved = |by: f64| [row[0] + by * unit[0], row[1] + by * unit[1]];
            assert_eq!(model.class_of(&model.scores(&moved(0.999 * distance)).unwrap()), class);
            assert_eq!(model.class_of(&model.scores(&moved(1.001 * distance)).unwrap()), rival);
            for turn in 0..360 {
                let (y, x) = f64::from(turn).to_radians().sin_cos();
                let by = 0.999 * distance;
                let near = [row[0] + by * x, row[1] + by * y];
                assert_eq!(
                    model.class_of(&model.scores(&near).unwrap()),
                    class,
                    "no shorter way out"
                );
            }
        }
    }
}
