//! The certificate of Firth's fit: the modified score at its coefficients is next to 0, as the checker measures it.

use super::summary::{InferenceSummary, Standing};
use crate::claim::planes::{float_plane, problem_of};
use linsep_data::Dataset;
use linsep_proof::{
    Certificate, Claim, Finding, ModifiedScore, Planes, check_claim, measure_modified_score,
};

/// What the checker may find above what it has measured: sums in another order.
const ROOM: f64 = 1e-3;

impl InferenceSummary {
    /// What the checker confirms of Firth's coefficients on data that may have more columns than were fitted: those
    /// have no coefficient. Columns are found by their names.
    pub fn certificate(&self, data: &Dataset, fitted: &Dataset, threads: usize) -> Certificate {
        match self.claim(data, fitted, threads) {
            Ok(claim) => Certificate::new(vec![claim]),
            Err(words) => Certificate::unproved(words),
        }
    }

    fn claim(&self, data: &Dataset, fitted: &Dataset, threads: usize) -> Result<Claim, String> {
        let [_, positive] = self.classes.as_slice() else {
            return Err("the modified score is proved of two classes".into());
        };
        const SCOPE: &str = "the modified score is proved of Firth's fit without corrections, products of columns, an offset or groups";
        let has_products = data.input().basis.is_some() || fitted.input().basis.is_some();
        if !self.firth || self.is_corrected || has_products {
            return Err(SCOPE.into());
        }
        let (mut weights, mut bias) = (vec![0.0; data.n_features()], None);
        let mut has = vec![false; data.n_features()];
        for one in &self.coefficients {
            let Some(column) = one.column else {
                bias = Some(one.estimate);
                continue;
            };
            if one.standing == Standing::Finite {
                let name = fitted.input().feature_name(column as usize);
                let at = data.input().feature_called(&name).ok_or(SCOPE)?;
                (weights[at as usize], has[at as usize]) = (one.estimate, true);
            }
        }
        let left_out: Vec<u32> =
            (0..data.n_features() as u32).filter(|column| !has[*column as usize]).collect();
        let planes = Planes::Two {
            problem: problem_of(data, positive, None),
            plane: float_plane(&weights, bias),
        };
        let (reading, biased) = (data.reading_field(), bias.is_some());
        let found = measure_modified_score(&planes, &left_out, data, &reading, biased, threads)?;
        let residual = found * (1.0 + ROOM) + f64::MIN_POSITIVE;
        let modified_score = ModifiedScore::new(residual).with_left_out(left_out);
        let claim = Claim::ModifiedScore { planes, modified_score };
        match check_claim(&claim, data, &reading, biased, threads) {
            Finding::Holds(_) => Ok(claim),
            Finding::Nothing(words) | Finding::Fails(words) => {
                Err(format!("the checker does not confirm it: {words}"))
            }
        }
    }
}
