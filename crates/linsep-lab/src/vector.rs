//! Vectors of as many numbers as there are features.

/// The vector along one feature.
pub(crate) fn axis(j: usize, width: usize) -> Vec<f64> {
    (0..width).map(|k| f64::from(u8::from(k == j))).collect()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(crate) fn square(a: &[f64]) -> f64 {
    dot(a, a)
}

pub(crate) fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// The same direction with length 1; the first axis where there is no direction.
pub(crate) fn unit(a: Vec<f64>) -> Vec<f64> {
    let length = square(&a).sqrt();
    let is_direction = length > 0.0 && length.is_finite();
    if is_direction { a.into_iter().map(|x| x / length).collect() } else { axis(0, a.len()) }
}

/// What is left of a vector at a right angle to a unit vector.
pub(crate) fn beside(mut a: Vec<f64>, other: &[f64]) -> Vec<f64> {
    let along = dot(&a, other);
    a.iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
    a
}
