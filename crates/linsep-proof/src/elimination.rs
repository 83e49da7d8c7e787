//! Symmetric linear equations in whole numbers, without rounding.
//!
//! Fraction-free elimination (Bareiss): with pivots p₁, p₂, …, step k replaces
//!
//! ```text
//! a_ij ← (p_k a_ij − a_ik a_kj) / p_{k−1}
//! ```
//!
//! and the division has no remainder, since every number is a minor of the matrix. The matrix has no
//! negative eigenvalue, so a row whose diagonal element is 0 is 0 altogether: pivots are taken from the
//! diagonal, the first that is not 0, and their number is the rank. By Cramer's rule the last pivot is a
//! common denominator of all answers.
//!
//! Reference: Bareiss, Sylvester's identity and multistep integer-preserving Gaussian elimination, 1968.

use dashu_int::IBig;

/// A symmetric matrix without negative eigenvalues, after its elimination.
pub(crate) struct Elimination {
    /// The columns of the pivots, in their order.
    pub(crate) pivots: Vec<usize>,
    /// The denominator of all answers; above 0.
    pub(crate) denominator: IBig,
    /// The upper triangle, each row as it was when it became a pivot.
    rows: Vec<Vec<IBig>>,
    /// The right sides alike.
    rights: Vec<Vec<IBig>>,
    /// The columns that depend on the others.
    rest: Vec<usize>,
}

impl Elimination {
    /// Eliminates the upper triangle (row i has the columns from i on) with right sides.
    pub(crate) fn new(mut rows: Vec<Vec<IBig>>, mut rights: Vec<Vec<IBig>>) -> Elimination {
        let mut rest: Vec<usize> = (0..rows.len()).collect();
        let mut pivots = Vec::new();
        let mut before = IBig::ONE;
        while let Some(at) = rest.iter().position(|&i| rows[i][0] != IBig::ZERO) {
            let p = rest.remove(at);
            let pivot = rows[p][0].clone();
            let line: Vec<IBig> = rest.iter().map(|&j| entry(&rows, p, j).clone()).collect();
            for (at, &i) in rest.iter().enumerate() {
                for (&j, beside) in rest[at..].iter().zip(&line[at..]) {
                    let element = &mut rows[i][j - i];
                    *element = (&*element * &pivot - &line[at] * beside) / &before;
                }
                for right in &mut rights {
                    right[i] = (&right[i] * &pivot - &line[at] * &right[p]) / &before;
                }
            }
            pivots.push(p);
            before = pivot;
        }
        Elimination { pivots, denominator: before, rows, rights, rest }
    }

    /// The answer of a right side times the denominator, 0 on the columns that depend on others; none if
    /// there is no answer.
    pub(crate) fn answer(&self, right: usize) -> Option<Vec<IBig>> {
        let right = &self.rights[right];
        let solvable = self.rest.iter().all(|&i| right[i] == IBig::ZERO);
        solvable.then(|| self.substitute(|p| right[p].clone()))
    }

    /// Vectors that the matrix takes to 0: one for each column that depends on others.
    pub(crate) fn null(&self) -> Vec<Vec<IBig>> {
        let vector = |&q: &usize| {
            let mut vector = self.substitute(|p| -entry(&self.rows, p, q).clone());
            vector[q] = self.denominator.clone();
            vector
        };
        self.rest.iter().map(vector).collect()
    }

    fn substitute(&self, right: impl Fn(usize) -> IBig) -> Vec<IBig> {
        let mut answer = vec![IBig::ZERO; self.rows.len()];
        for (k, &p) in self.pivots.iter().enumerate().rev() {
            let mut sum = right(p) * &self.denominator;
            for &q in &self.pivots[k + 1..] {
                sum -= entry(&self.rows, p, q) * &answer[q];
            }
            answer[p] = sum / &self.rows[p][0];
        }
        answer
    }
}

/// Row i, column j of a symmetric matrix given by its upper triangle.
pub(crate) fn entry(rows: &[Vec<IBig>], i: usize, j: usize) -> &IBig {
    let (i, j) = (i.min(j), i.max(j));
    &rows[i][j - i]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(list: &[i64]) -> Vec<IBig> {
        list.iter().map(|&x| IBig::from(x)).collect()
    }

    #[test]
    fn a_regular_system_has_one_answer() {
        let rows = vec![numbers(&[4, 2, 0]), numbers(&[5, 1]), numbers(&[9])];
        let solved = Elimination::new(rows, vec![numbers(&[8, 15, 29])]);
        assert_eq!(solved.pivots, [0, 1, 2]);
        let answer = solved.answer(0).unwrap();
        let expected = [1, 2, 3].map(|x| &solved.denominator * IBig::from(x));
        assert_eq!(answer, expected);
        assert!(solved.null().is_empty());
    }

    #[test]
    fn a_singular_system_has_many_or_none() {
        // The squares of (1, 2, 0, 1) and (0, 0, 0, 1).
        let rows =
            || vec![numbers(&[1, 2, 0, 1]), numbers(&[4, 0, 2]), numbers(&[0, 0]), numbers(&[2])];
        let rights = vec![numbers(&[5, 10, 0, 6]), numbers(&[5, 9, 0, 6]), numbers(&[0, 0, 1, 0])];
        let solved = Elimination::new(rows(), rights);
        assert_eq!(solved.pivots, [0, 3]);
        let d = &solved.denominator;
        assert_eq!(
            solved.answer(0).unwrap(),
            [d * IBig::from(4), IBig::ZERO, IBig::ZERO, d * IBig::ONE]
        );
        assert_eq!((solved.answer(1), solved.answer(2)), (None, None));
        let null = solved.null();
        assert_eq!(null.len(), 2);
        for vector in null {
            for i in 0..4 {
                let sum = (0..4).fold(IBig::ZERO, |sum, j| sum + entry(&rows(), i, j) * &vector[j]);
                assert_eq!(sum, IBig::ZERO);
            }
        }
    }
}
