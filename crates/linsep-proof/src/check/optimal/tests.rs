//! Sums of every care about the same claim.

use super::*;
use crate::claim::Scheme;
use crate::rows::Reading;

/// Sparse rows of many columns, made by a small generator.
struct Text;

const ROWS: u64 = 1500;
const WIDTH: usize = 700;

impl Rows for Text {
    fn len(&self) -> u64 {
        ROWS
    }

    fn width(&self) -> usize {
        WIDTH
    }

    fn label(&self, row: u64) -> &str {
        if row * row % 7 < 3 { "up" } else { "down" }
    }

    fn for_each(&self, row: u64, each: &mut dyn FnMut(u32, f64)) {
        for k in 0..20 {
            let column = 35 * k + (row * 13 + k * k * 5) % 35;
            each(column as u32, ((row * 31 + k * 17) % 19) as f64 / 16.0 - 0.5);
        }
    }

    fn takes_part(&self, _: u64) -> bool {
        true
    }
}

fn claim(loss: Loss) -> (Planes, Optimality) {
    let weight = |j: usize| ((j * 29) % 23) as f64 / 64.0 - 0.17;
    let plane = FloatPlane::default()
        .with_weights(Some((0..WIDTH).map(weight).collect()))
        .with_bias(Some(0.0));
    let problem = Question::new(Scheme::Binary, vec!["up".into()], vec!["down".into()]);
    let mut objective = Objective::new(loss, 0.01);
    objective.intercept = Intercept::None;
    let optimality = Optimality::new(objective, DualPoint::default(), 0.0, 0.0, 1.0);
    (Planes::Two { problem, plane }, optimality)
}

#[test]
fn lighter_sums_show_less_and_never_more() {
    let reading = ReadingField::new(Reading::Binary64, Vec::new());
    for loss in [Loss::Logistic, Loss::Hinge, Loss::SquaredHinge] {
        let (planes, claimed) = claim(loss);
        let shown = |care: Care, threads: usize| {
            let products = Products::new(None, WIDTH).unwrap();
            let (rows, reading) = (&Text, &reading);
            let checker = Checker { rows, products, reading, bias: true, threads, elsewhere: None };
            checker.shown(&planes, &claimed, care).unwrap()
        };
        let [light, plain, careful] =
            [Care::Light, Care::Plain, Care::Careful].map(|care| shown(care, 1));
        assert!(light.looseness > 0.0 && plain.looseness == 0.0 && careful.looseness == 0.0);
        // What is true is between the careful bound and it plus its own error, 1e-13 of it.
        let slack = 1e-13 * careful.primal;
        assert!(light.bound < careful.bound + slack && plain.bound < careful.bound + slack);
        assert!(light.bound + light.looseness > careful.bound - slack, "{loss:?}");
        assert!((light.primal - careful.primal).abs() <= slack, "{loss:?}");
        let again = shown(Care::Light, 2);
        assert_eq!((again.primal, again.bound), (light.primal, light.bound), "{loss:?}");
    }
}

#[test]
fn a_claim_that_light_sums_do_not_confirm_is_checked_by_plain_ones() {
    let reading = ReadingField::new(Reading::Binary64, Vec::new());
    let products = Products::new(None, WIDTH).unwrap();
    let (rows, reading) = (&Text, &reading);
    let checker = Checker { rows, products, reading, bias: true, threads: 1, elsewhere: None };
    let (planes, estimate) = claim(Loss::SquaredHinge);
    let mut claimed = checker.measured(&planes, &estimate).unwrap();
    let [light, plain] =
        [Care::Light, Care::Plain].map(|care| checker.shown(&planes, &claimed, care).unwrap());
    assert!(claimed.gap > WIDEST_GAP && light.confirms(&claimed).is_ok());
    // A bound that only plain sums show.
    claimed.bound = 0.5 * (light.bound + plain.bound);
    assert!(light.bound < claimed.bound && claimed.bound < plain.bound);
    assert!(checker.optimal(&planes, &claimed).is_ok());
    claimed.bound = 2.0 * plain.bound - light.bound + 1e-12 * plain.bound;
    assert!(checker.optimal(&planes, &claimed).is_err());
}
