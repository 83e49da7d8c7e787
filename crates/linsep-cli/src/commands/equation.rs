//! Planes as people write them: sums of named features.

use linsep::Plane;
use linsep_teach::geometry::Line;

/// `2 x1 - x2`; `0` where every weight is 0.
pub(super) fn sum(weights: &[f64], names: &[String]) -> String {
    let mut text = String::new();
    for (weight, name) in weights.iter().zip(names).filter(|(weight, _)| **weight != 0.0) {
        let size = match weight.abs() {
            1.0 => name.clone(),
            size => format!("{size} {name}"),
        };
        text.push_str(match (text.is_empty(), *weight < 0.0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        });
        text.push_str(&size);
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

/// `2 x1 - x2 - 1.5`.
pub(super) fn score(plane: &Plane, names: &[String]) -> String {
    format!("{}{}", sum(&plane.weights, names), signed(plane.bias))
}

/// ` + 1.5`, ` - 1.5`, or nothing for 0.
fn signed(number: f64) -> String {
    match number {
        0.0 => String::new(),
        number if number < 0.0 => format!(" - {}", -number),
        number => format!(" + {number}"),
    }
}

/// The line of a plane of two features: `x2 = -x1 + 1.5`.
pub(super) fn line(plane: &Plane, names: &[String]) -> Option<String> {
    let [first, second] = names else { return None };
    Some(match Line::of(plane)? {
        Line::Upright { at } => format!("{first} = {at} (upright: no slope)"),
        Line::Sloped { slope: 0.0, intercept } => format!("{second} = {intercept}"),
        Line::Sloped { slope, intercept } => {
            format!(
                "{second} = {}{}",
                sum(&[slope], std::slice::from_ref(first)),
                signed(intercept)
            )
        }
    })
}

/// Feature names, safe to print.
pub(super) fn printable_names(names: &[String]) -> Vec<String> {
    names.iter().map(|name| linsep::printable(name.as_bytes(), 30)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_are_written_as_people_do() {
        let names = ["x1".to_owned(), "x2".to_owned()];
        let plane = |weights: &[f64], bias| Plane::new(weights.to_vec(), bias);
        assert_eq!(score(&plane(&[1.0, 1.0], -1.5), &names), "x1 + x2 - 1.5");
        assert_eq!(score(&plane(&[-1.0, 0.5], 2.0), &names), "-x1 + 0.5 x2 + 2");
        assert_eq!(score(&plane(&[0.0, 0.0], 0.0), &names), "0");
        assert_eq!(line(&plane(&[1.0, 1.0], -1.5), &names).unwrap(), "x2 = -x1 + 1.5");
        assert_eq!(line(&plane(&[0.0, 2.0], -1.0), &names).unwrap(), "x2 = 0.5");
        assert_eq!(
            line(&plane(&[2.0, 0.0], 1.0), &names).unwrap(),
            "x1 = -0.5 (upright: no slope)"
        );
        assert_eq!(line(&plane(&[0.0, 0.0], 1.0), &names), None);
    }
}
