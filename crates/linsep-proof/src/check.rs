//! How each claim is checked, in whole numbers.
//!
//! A binary64 filter spares most rows the exact sum. With v the stored values, u = 2^-53 and n terms
//! (the bias is one), s = fl(Σ v·w) and a = fl(Σ |v·w|), any order of summation gives
//! |s − Σ v·w| ≤ γ_n A and a ≥ (1 − γ_n) A − n·2^-1075 for A = Σ |v·w|, γ_k = k·u/(1 − k·u), plus
//! n·2^-1075 where products underflow. A decimal x differs from its binary64 v by at most u·|v|,
//! which adds u·A. Together |s − Σ x·w| ≤ γ_{n+1} A + n·2^-1075, and A ≤ (a + n·2^-1075)/(1 − γ_n), so
//!
//! ```text
//! |s − Σ x·w| < γ_{n+4} · a + n · 2^-1073
//! ```
//!
//! for n < 2^40. A sum beyond that bound has the sign of s; all others are summed exactly. Overflow
//! makes a infinite, and the test fails.

use crate::claim::{Against, Claim, ClassPlane, ExactPlane, Problem, Scheme, Weighted};
use crate::exact::{Scaled, WholePlane, positive, ratio, scaled_sum, whole};
use crate::file::{CertificateFile, ReadingField};
use crate::rank::rank_at_least;
use crate::rows::Rows;
use dashu_int::IBig;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

/// What the checker says of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It is true; the words say what was proved.
    Holds(String),
    /// It claims nothing; the words are its reason.
    Nothing(String),
    /// It is not true, or not shown by its evidence.
    Fails(String),
}

impl Finding {
    /// Whether the claim is true.
    pub fn holds(&self) -> bool {
        matches!(self, Finding::Holds(_))
    }
}

/// Checks every claim of a file against data whose digest the caller computed with
/// [`crate::digest`].
pub fn check_file(
    file: &CertificateFile,
    rows: &dyn Rows,
    digest: &str,
    threads: usize,
) -> Vec<Finding> {
    let wrong_data = if file.data.sha256 != digest {
        Some(format!(
            "the data has digest {digest}, the certificate speaks of {}",
            file.data.sha256
        ))
    } else if file.data.rows != rows.len() {
        Some(format!("the data has {} rows, the certificate {}", rows.len(), file.data.rows))
    } else {
        None
    };
    let check = |claim| match &wrong_data {
        Some(words) => Finding::Fails(words.clone()),
        None => check_claim(claim, rows, &file.reading, file.bias, threads),
    };
    file.claims.iter().map(check).collect()
}

/// Checks one claim.
pub fn check_claim(
    claim: &Claim,
    rows: &dyn Rows,
    reading: &ReadingField,
    bias: bool,
    threads: usize,
) -> Finding {
    let checker = Checker { rows, reading, bias, threads };
    let result = match claim {
        Claim::Unproved { reason } => return Finding::Nothing(reason.clone()),
        Claim::Separable { problem, plane } => checker.separable(problem, plane),
        Claim::Inseparable { problem, witness } => checker.inseparable(problem, witness),
        Claim::Touching { problem, witness, plane } => checker.touching(problem, witness, plane),
        Claim::Overlapping { problem, witness, null } => {
            checker.overlapping(problem, witness, null)
        }
        Claim::Margin { problem, constant, support, gamma2 } => {
            checker.margin(problem, constant, support, gamma2)
        }
        Claim::GeometricMargin { problem, support, gamma2 } => {
            checker.geometric_margin(problem, support, gamma2)
        }
        Claim::Bracket { problem, weights, bound } => checker.bracket(problem, weights, bound),
        Claim::JointSeparable { planes } => checker.joint_separable(planes),
        Claim::JointInseparable { witness } => checker.joint_inseparable(witness),
    };
    match result {
        Ok(words) => Finding::Holds(words),
        Err(words) => Finding::Fails(words),
    }
}

type Checked<T> = Result<T, String>;

/// A vector of D numbers: the constant first (key `None`), then the columns.
type Vector = BTreeMap<Option<u32>, Scaled>;

struct Checker<'a> {
    rows: &'a dyn Rows,
    reading: &'a ReadingField,
    bias: bool,
    threads: usize,
}

impl Checker<'_> {
    fn separable(&self, problem: &Problem, plane: &ExactPlane) -> Checked<String> {
        let signs = self.signs(problem)?;
        let plane = Side::new(plane, self)?;
        let count = self.every_row(&signs, |row, sign| {
            match self.side(&plane, row)?
                == if sign > 0 { Ordering::Greater } else { Ordering::Less }
            {
                true => Ok(()),
                false => Err(format!("row {row} is not strictly on its side")),
            }
        })?;
        Ok(format!("every one of {count} rows is strictly on its side of the plane"))
    }

    fn inseparable(&self, problem: &Problem, witness: &[Weighted]) -> Checked<String> {
        let signs = self.signs(problem)?;
        self.zero_sum(&signs, witness, self.dimension() + 1)?;
        Ok(format!(
            "{} rows with positive weights add up to 0, so no plane separates",
            witness.len()
        ))
    }

    fn touching(
        &self,
        problem: &Problem,
        witness: &[Weighted],
        plane: &ExactPlane,
    ) -> Checked<String> {
        let signs = self.signs(problem)?;
        self.zero_sum(&signs, witness, self.dimension() + 1)?;
        let plane = Side::new(plane, self)?;
        let off = std::sync::atomic::AtomicU64::new(0);
        self.every_row(&signs, |row, sign| {
            let side = self.side(&plane, row)?;
            let wrong = if sign > 0 { Ordering::Less } else { Ordering::Greater };
            if side == wrong {
                return Err(format!("row {row} is on the wrong side of the weak plane"));
            }
            if side != Ordering::Equal {
                off.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            Ok(())
        })?;
        match off.into_inner() {
            0 => Err("every row lies on the weak plane".into()),
            off => Ok(format!("no plane separates strictly; a weak one has {off} rows off it")),
        }
    }

    fn overlapping(
        &self,
        problem: &Problem,
        witness: &[Weighted],
        null: &[Vec<String>],
    ) -> Checked<String> {
        let signs = self.signs(problem)?;
        let dimension = self.dimension();
        self.zero_sum(&signs, witness, 2 * dimension)?;
        let mut vectors = Vec::new();
        for vector in null {
            let numbers: Checked<Vec<IBig>> = vector.iter().map(|n| whole(n)).collect();
            let numbers = numbers?;
            if numbers.len() != dimension {
                return Err(format!(
                    "a null vector has {} numbers, not {dimension}",
                    numbers.len()
                ));
            }
            vectors.push(numbers);
        }
        if rank_at_least(&vectors) < vectors.len() {
            return Err("the null vectors are not independent".into());
        }
        for vector in &vectors {
            let plane = Side::whole(vector, self.bias);
            self.every_row(&signs, |row, _| match self.exact_side(&plane, row)? {
                Ordering::Equal => Ok(()),
                _ => Err(format!("row {row} is not orthogonal to a null vector")),
            })?;
        }
        let rank = rank_at_least(&self.witness_matrix(witness)?);
        if rank + vectors.len() < dimension {
            return Err(format!(
                "the witness rows have rank {rank}, {} is needed",
                dimension - vectors.len()
            ));
        }
        Ok(format!(
            "{} rows add up to 0 and span all rows, so no plane separates even weakly",
            witness.len()
        ))
    }

    fn margin(
        &self,
        problem: &Problem,
        constant: &str,
        support: &[Weighted],
        gamma2: &str,
    ) -> Checked<String> {
        let signs = self.signs(problem)?;
        if !self.bias {
            return Err("the augmented margin needs a bias".into());
        }
        let constant = positive(constant)?;
        let (sum, total) = self.blend(&signs, support, &constant)?;
        let square = square(&sum);
        self.expect_ratio(&square, &(&total * &total), gamma2)?;
        // z·X·L ≥ X·X for every row, with X the sum of the blend and L its weights.
        let side = Side::vector(&sum, &constant);
        self.every_row(&signs, |row, sign| {
            let mut terms = self.terms(&side, row)?;
            let factor = if sign > 0 { total.clone() } else { -total.clone() };
            terms.iter_mut().for_each(|term| *term = term.times(&factor));
            terms.push(square.times(&IBig::from(-1)));
            match scaled_sum(&terms) >= IBig::ZERO {
                true => Ok(()),
                false => Err(format!("row {row} is closer to the plane than the margin")),
            }
        })?;
        Ok(format!("the largest margin with constant {constant} is the root of {gamma2}"))
    }

    fn geometric_margin(
        &self,
        problem: &Problem,
        support: &[Weighted],
        gamma2: &str,
    ) -> Checked<String> {
        let signs = self.signs(problem)?;
        let part = |sign: i8| -> Vec<Weighted> {
            let of_sign = |w: &&Weighted| signs.of(self.rows, w.row) == Some(sign);
            support.iter().filter(of_sign).cloned().collect()
        };
        let (above, above_total) = self.blend(&signs, &part(1), &IBig::ONE)?;
        let (below, below_total) = self.blend(&signs, &part(-1), &IBig::ONE)?;
        if part(1).len() + part(-1).len() != support.len() {
            return Err("a support row does not take part".into());
        }
        // V = L₋ Σ₊ λx − L₊ Σ₋ λx; the blend of the negative side already has the sign −.
        let mut v = Vector::new();
        for (column, value) in above.iter().filter(|(column, _)| column.is_some()) {
            add(&mut v, *column, value.times(&below_total));
        }
        for (column, value) in below.iter().filter(|(column, _)| column.is_some()) {
            add(&mut v, *column, value.times(&above_total));
        }
        let square = square(&v);
        let scale = &above_total * &below_total;
        self.expect_ratio(&square, &(IBig::from(4) * &scale * &scale), gamma2)?;
        let side = Side::vector(&v, &IBig::ZERO);
        // The lowest positive and the highest negative support row bound all others.
        let edge = |sign: i8| -> Checked<Vec<Scaled>> {
            let mut best: Option<Vec<Scaled>> = None;
            for row in part(sign) {
                let terms = self.terms(&side, row.row)?;
                let nearer = match &best {
                    None => true,
                    Some(other) => {
                        let order = difference(&terms, other).cmp(&IBig::ZERO);
                        order == if sign > 0 { Ordering::Less } else { Ordering::Greater }
                    }
                };
                if nearer {
                    best = Some(terms);
                }
            }
            best.ok_or_else(|| "the support needs rows of both sides".to_owned())
        };
        let (low, high) = (edge(1)?, edge(-1)?);
        // (low − high) · L₊L₋ ≥ V·V, because x·V is L₊L₋ times x·v and V·V is (L₊L₋)² times v·v.
        let mut gap: Vec<Scaled> = low.iter().map(|term| term.times(&scale)).collect();
        gap.extend(high.iter().map(|term| term.times(&-scale.clone())));
        gap.push(square.times(&IBig::from(-1)));
        if scaled_sum(&gap) < IBig::ZERO {
            return Err("the support rows do not hold the margin".into());
        }
        self.every_row(&signs, |row, sign| {
            let edge = if sign > 0 { &low } else { &high };
            let order = difference(&self.terms(&side, row)?, edge).cmp(&IBig::ZERO);
            match order == if sign > 0 { Ordering::Less } else { Ordering::Greater } {
                false => Ok(()),
                true => Err(format!("row {row} is closer to the plane than the margin")),
            }
        })?;
        Ok(format!("the largest geometric margin is the root of {gamma2}"))
    }

    fn bracket(&self, problem: &Problem, weights: &[Weighted], bound: &str) -> Checked<String> {
        let signs = self.signs(problem)?;
        let (sum, total) = self.blend(&signs, weights, &IBig::ONE)?;
        let (p, q) = ratio(bound)?;
        // X·X · q ≤ p · L².
        let left = square(&sum).times(&q);
        let right = Scaled::whole(-(p * &total * &total));
        match scaled_sum(&[left, right]) <= IBig::ZERO {
            true => Ok(format!("no plane of unit length has a margin above the root of {bound}")),
            false => Err("the blend of rows is longer than the bound".into()),
        }
    }

    fn joint_separable(&self, planes: &[ClassPlane]) -> Checked<String> {
        let mut sides: HashMap<&str, Side> = HashMap::new();
        for plane in planes {
            let ClassPlane { class, weights, sparse, bias } = plane;
            let exact =
                ExactPlane { weights: weights.clone(), sparse: sparse.clone(), bias: bias.clone() };
            if sides.insert(class, Side::new(&exact, self)?).is_some() {
                return Err(format!("class {class} has two planes"));
            }
        }
        // Planes are only comparable when they were made whole by the same factor.
        let sides = Side::common(planes, self, sides)?;
        let all = Signs::all();
        let count = self.every_row(&all, |row, _| {
            let label = self.rows.label(row);
            let own = sides.get(label).ok_or_else(|| format!("class {label} has no plane"))?;
            let own_terms = self.terms(own, row)?;
            for (class, other) in sides.iter().filter(|(class, _)| **class != label) {
                if self.filter_greater(own, other, row) {
                    continue;
                }
                if difference(&own_terms, &self.terms(other, row)?) <= IBig::ZERO {
                    return Err(format!(
                        "row {row} does not score higher on {label} than on {class}"
                    ));
                }
            }
            Ok(())
        })?;
        Ok(format!("every one of {count} rows scores highest on its own class"))
    }

    fn joint_inseparable(&self, witness: &[Against]) -> Checked<String> {
        let mut classes: Vec<&str> = (0..self.rows.len()).map(|row| self.rows.label(row)).collect();
        classes.sort_unstable();
        classes.dedup();
        let most = (classes.len() - 1) * self.dimension() + 1;
        if witness.is_empty() || witness.len() > most {
            return Err(format!(
                "the witness has {} entries, at least 1 and at most {most} are allowed",
                witness.len()
            ));
        }
        let mut sums: HashMap<&str, Vector> = HashMap::new();
        for entry in witness {
            self.check_row(entry.row)?;
            let own = self.rows.label(entry.row);
            let against = entry.against.as_str();
            let Ok(against) = classes.binary_search(&against).map(|at| classes[at]) else {
                return Err(format!("there is no class {against}"));
            };
            if against == own {
                return Err(format!("row {} is against its own class", entry.row));
            }
            let lambda = positive(&entry.lambda)?;
            self.add_row(sums.entry(own).or_default(), entry.row, &lambda, &IBig::ONE)?;
            self.add_row(sums.entry(against).or_default(), entry.row, &-lambda, &IBig::ONE)?;
        }
        match sums.values().all(is_zero) {
            true => Ok(format!(
                "{} weighted rows balance in every class, so no planes separate",
                witness.len()
            )),
            false => Err("the weighted rows do not balance".into()),
        }
    }

    /// D: the columns, and one for the bias.
    fn dimension(&self) -> usize {
        self.rows.width() + usize::from(self.bias)
    }

    fn signs(&self, problem: &Problem) -> Checked<Signs> {
        let mut signs = HashMap::new();
        for (labels, sign) in [(&problem.positive, 1), (&problem.negative, -1)] {
            if labels.is_empty() {
                return Err("a side has no class".into());
            }
            for label in labels {
                if signs.insert(label.clone(), sign).is_some() {
                    return Err(format!("class {label} stands twice"));
                }
            }
        }
        Ok(Signs { signs: Some(signs), all_rows: problem.scheme != Scheme::Pair })
    }

    fn check_row(&self, row: u64) -> Checked<()> {
        match row < self.rows.len() && self.rows.takes_part(row) {
            true => Ok(()),
            false => Err(format!("row {row} is not in the data")),
        }
    }

    /// Σ λ z = 0 for a witness of at most `most` different rows.
    fn zero_sum(&self, signs: &Signs, witness: &[Weighted], most: usize) -> Checked<()> {
        if witness.len() > most {
            return Err(format!(
                "the witness has {} rows, at most {most} are allowed",
                witness.len()
            ));
        }
        let (sum, _) = self.blend(signs, witness, &IBig::ONE)?;
        if is_zero(&sum) { Ok(()) } else { Err("the weighted rows do not add up to 0".into()) }
    }

    /// Σ λ z and Σ λ over different rows, z = ±(constant, x).
    fn blend(&self, signs: &Signs, rows: &[Weighted], constant: &IBig) -> Checked<(Vector, IBig)> {
        if rows.is_empty() {
            return Err("there are no rows".into());
        }
        let mut seen = std::collections::HashSet::new();
        let (mut sum, mut total) = (Vector::new(), IBig::ZERO);
        for entry in rows {
            self.check_row(entry.row)?;
            if !seen.insert(entry.row) {
                return Err(format!("row {} stands twice", entry.row));
            }
            let lambda = positive(&entry.lambda)?;
            let sign = signs
                .of(self.rows, entry.row)
                .ok_or_else(|| format!("row {} does not take part", entry.row))?;
            total += &lambda;
            self.add_row(&mut sum, entry.row, &(lambda * IBig::from(sign)), constant)?;
        }
        Ok((sum, total))
    }

    fn add_row(&self, sum: &mut Vector, row: u64, factor: &IBig, constant: &IBig) -> Checked<()> {
        if self.bias {
            add(sum, None, Scaled::whole(constant * factor));
        }
        for (column, value) in self.values(row)? {
            add(sum, Some(column), value.times(factor));
        }
        Ok(())
    }

    /// The exact values of a row.
    fn values(&self, row: u64) -> Checked<Vec<(u32, Scaled)>> {
        let mut values = Vec::new();
        let mut failed = None;
        self.rows.for_each(row, &mut |column, value| match Scaled::read(
            value,
            self.reading.of(column),
        ) {
            Ok(value) => values.push((column, value)),
            Err(words) => failed = Some(format!("row {row}, column {column}: {words}")),
        });
        failed.map_or(Ok(values), Err)
    }

    /// The witness rows as whole numbers, each row by a factor of its own.
    fn witness_matrix(&self, witness: &[Weighted]) -> Checked<Vec<Vec<IBig>>> {
        let shift = usize::from(self.bias);
        witness
            .iter()
            .map(|entry| {
                let values = self.values(entry.row)?;
                let two = values.iter().map(|(_, v)| v.two).min().unwrap_or(0).min(0);
                let five = values.iter().map(|(_, v)| v.five).min().unwrap_or(0).min(0);
                let whole = |v: &Scaled| {
                    (&v.m * crate::exact::power_of_five((v.five - five) as usize))
                        << (v.two - two) as usize
                };
                let mut row = vec![IBig::ZERO; self.dimension()];
                if self.bias {
                    row[0] = whole(&Scaled::whole(1));
                }
                values.iter().for_each(|(column, v)| row[*column as usize + shift] = whole(v));
                Ok(row)
            })
            .collect()
    }

    /// The exact terms of a row on a plane.
    fn terms(&self, side: &Side, row: u64) -> Checked<Vec<Scaled>> {
        let mut terms = vec![side.bias.clone()];
        for (column, value) in self.values(row)? {
            if let Some(weight) = side.weight(column) {
                terms.push(value.product(weight));
            }
        }
        Ok(terms)
    }

    fn exact_side(&self, side: &Side, row: u64) -> Checked<Ordering> {
        Ok(scaled_sum(&self.terms(side, row)?).cmp(&IBig::ZERO))
    }

    /// On which side of the plane a row lies.
    fn side(&self, side: &Side, row: u64) -> Checked<Ordering> {
        if let Some(floats) = &side.floats {
            let (sum, bound) = filtered(self.rows, floats, row);
            if sum > bound {
                return Ok(Ordering::Greater);
            }
            if sum < -bound {
                return Ok(Ordering::Less);
            }
        }
        self.exact_side(side, row)
    }

    /// Whether the filter proves that a row scores higher on one plane than on another.
    fn filter_greater(&self, own: &Side, other: &Side, row: u64) -> bool {
        let (Some(a), Some(b)) = (&own.floats, &other.floats) else { return false };
        let ((a, a_bound), (b, b_bound)) =
            (filtered(self.rows, a, row), filtered(self.rows, b, row));
        // The subtraction and the addition round once more each; twice the bounds covers that.
        a - b > 2.0 * (a_bound + b_bound) + f64::EPSILON * (a.abs() + b.abs())
    }

    /// Runs a check on every row that takes part and counts them.
    fn every_row(
        &self,
        signs: &Signs,
        check: impl Fn(u64, i8) -> Checked<()> + Sync,
    ) -> Checked<u64> {
        let rows = self.rows;
        let run = |range: std::ops::Range<u64>| -> Checked<u64> {
            let mut count = 0;
            for row in range.filter(|&row| rows.takes_part(row)) {
                match signs.of(rows, row) {
                    Some(sign) => check(row, sign)?,
                    None if signs.all_rows => {
                        return Err(format!(
                            "row {row} of class {} belongs to no side",
                            rows.label(row)
                        ));
                    }
                    None => continue,
                }
                count += 1;
            }
            Ok(count)
        };
        let workers = (self.threads as u64).clamp(1, rows.len() / 1000 + 1);
        let share = rows.len().div_ceil(workers);
        let parts: Vec<Checked<u64>> = std::thread::scope(|scope| {
            let range = |k: u64| k * share..((k + 1) * share).min(rows.len());
            let handles: Vec<_> = (0..workers)
                .map(|k| {
                    scope.spawn({
                        let run = &run;
                        move || run(range(k))
                    })
                })
                .collect();
            let joined = handles.into_iter().map(|handle| match handle.join() {
                Ok(result) => result,
                Err(_) => Err("the check broke off".to_owned()),
            });
            joined.collect()
        });
        parts.into_iter().sum()
    }

    /// Whether numerator/denominator equals the claimed positive ratio.
    fn expect_ratio(&self, numerator: &Scaled, denominator: &IBig, claimed: &str) -> Checked<()> {
        let (p, q) = ratio(claimed)?;
        if p <= IBig::ZERO {
            return Err("the squared margin is not positive".into());
        }
        let terms = [numerator.times(&q), Scaled::whole(-(p * denominator))];
        match scaled_sum(&terms) == IBig::ZERO {
            true => Ok(()),
            false => Err(format!("the squared margin is not {claimed}")),
        }
    }
}

/// Which sign the rows of a class have.
struct Signs {
    /// `None`: every row has the sign +.
    signs: Option<HashMap<String, i8>>,
    all_rows: bool,
}

impl Signs {
    fn all() -> Signs {
        Signs { signs: None, all_rows: true }
    }

    fn of(&self, rows: &dyn Rows, row: u64) -> Option<i8> {
        match &self.signs {
            None => Some(1),
            Some(signs) => signs.get(rows.label(row)).copied(),
        }
    }
}

/// A plane ready to be multiplied with rows.
struct Side {
    weights: HashMap<u32, Scaled>,
    bias: Scaled,
    floats: Option<(Vec<f64>, f64)>,
}

impl Side {
    fn new(plane: &ExactPlane, checker: &Checker<'_>) -> Checked<Side> {
        let width = checker.rows.width();
        let whole = WholePlane::new(plane, width, checker.bias)?;
        let floats = whole.floats.map(|(pairs, bias)| {
            let mut dense = vec![0.0; width];
            pairs.iter().for_each(|&(column, weight)| dense[column as usize] = weight);
            (dense, bias)
        });
        let weights =
            whole.weights.into_iter().map(|(column, w)| (column, Scaled::whole(w))).collect();
        Ok(Side { weights, bias: Scaled::whole(whole.bias), floats })
    }

    /// A plane of D whole numbers, the constant first.
    fn whole(numbers: &[IBig], bias: bool) -> Side {
        let shift = usize::from(bias);
        let weights = numbers[shift..].iter().enumerate();
        Side {
            weights: weights.map(|(j, w)| (j as u32, Scaled::whole(w.clone()))).collect(),
            bias: if bias { Scaled::whole(numbers[0].clone()) } else { Scaled::whole(0) },
            floats: None,
        }
    }

    /// A vector as a plane for rows (constant, x).
    fn vector(vector: &Vector, constant: &IBig) -> Side {
        let bias = vector.get(&None).map_or(Scaled::whole(0), |value| value.times(constant));
        let columns = vector.iter().filter_map(|(column, value)| Some(((*column)?, value.clone())));
        Side { weights: columns.collect(), bias, floats: None }
    }

    fn weight(&self, column: u32) -> Option<&Scaled> {
        self.weights.get(&column)
    }

    /// Brings the planes of all classes to one factor, so that their scores can be compared.
    fn common<'a>(
        planes: &'a [ClassPlane],
        checker: &Checker<'_>,
        sides: HashMap<&'a str, Side>,
    ) -> Checked<HashMap<&'a str, Side>> {
        let width = checker.rows.width();
        let mut result = HashMap::new();
        for plane in planes {
            let number = |x: &crate::claim::ExactNumber| match x {
                crate::claim::ExactNumber::Binary64(x) => Ok(Scaled::binary64(*x)),
                crate::claim::ExactNumber::Ratio(text) => match ratio(text)? {
                    (p, q) if q == IBig::ONE => Ok(Scaled::whole(p)),
                    _ => Err("planes of several classes need whole numbers or binary64".to_owned()),
                },
            };
            let mut weights = HashMap::new();
            let dense = plane.weights.iter().flatten().enumerate().map(|(j, w)| (j as u32, w));
            let sparse = plane.sparse.iter().flatten().map(|(j, w)| (*j, w));
            for (column, weight) in dense.chain(sparse) {
                weights.insert(column, number(weight)?);
            }
            let bias = plane.bias.as_ref().map_or(Ok(Scaled::whole(0)), number)?;
            let floats = sides.get(plane.class.as_str()).and_then(|side| side.floats.clone());
            debug_assert!(weights.len() <= width);
            result.insert(plane.class.as_str(), Side { weights, bias, floats });
        }
        Ok(result)
    }
}

/// The sum of a row on a plane of binary64 weights, and a bound on its error (see the module).
fn filtered(rows: &dyn Rows, (weights, bias): &(Vec<f64>, f64), row: u64) -> (f64, f64) {
    let (mut sum, mut size, mut terms) = (*bias, bias.abs(), 1.0f64);
    rows.for_each(row, &mut |column, value| {
        let product = value * weights[column as usize];
        sum += product;
        size += product.abs();
        terms += 1.0;
    });
    let unit = f64::EPSILON / 2.0;
    let k = (terms + 4.0) * unit;
    // 2^-1073 is 2 of the smallest positive numbers.
    (sum, k / (1.0 - k) * size * (1.0 + 8.0 * f64::EPSILON) + terms * 2.0 * f64::from_bits(1))
}

fn add(sum: &mut Vector, key: Option<u32>, value: Scaled) {
    let entry = sum.entry(key).or_insert_with(|| Scaled::whole(0));
    *entry = plus(entry, &value);
}

fn plus(a: &Scaled, b: &Scaled) -> Scaled {
    if a.m == IBig::ZERO {
        return b.clone();
    }
    if b.m == IBig::ZERO {
        return a.clone();
    }
    Scaled {
        m: scaled_sum(&[a.clone(), b.clone()]),
        two: a.two.min(b.two),
        five: a.five.min(b.five),
    }
}

fn is_zero(sum: &Vector) -> bool {
    sum.values().all(|value| value.m == IBig::ZERO)
}

fn square(vector: &Vector) -> Scaled {
    vector
        .values()
        .map(|value| value.product(value))
        .fold(Scaled::whole(0), |sum, x| plus(&sum, &x))
}

/// Σ a − Σ b, times a positive factor.
fn difference(a: &[Scaled], b: &[Scaled]) -> IBig {
    let mut terms = a.to_vec();
    terms.extend(b.iter().map(|term| term.times(&IBig::from(-1))));
    scaled_sum(&terms)
}
