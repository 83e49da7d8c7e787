//! Claims of a model file against data. The checker judges each claim; what is left to do here is to see
//! that a claim is about the model it stands beside: its planes, and the objective of its parameters.

use crate::file::{ModelFile, Subject};
use crate::recipe::Recipe;
use crate::run::{Claim, Task};
use linsep_data::error::Result;
use linsep_proof::{Finding, Statistics, check_file};

/// What the checker finds of each claim of a model file on the rows of a task, which must be all rows of
/// the data, read as the model reads them.
///
/// ```
/// use linsep::file::ModelFile;
/// use linsep::learn::perceptron::Perceptron;
/// use linsep::{Dataset, Learner, Limits, Task, verify};
/// let data = Dataset::from_rows(&[[0.0], [1.0]], &["no", "yes"])?;
/// let (identity, reading) = (data.identity(1), data.reading_field());
/// let task = Task::new(data);
/// let fit = Perceptron::default().fit(&task, &Limits::default(), &mut ())?;
/// let ended = (fit.stop, fit.progress);
/// let (model, claims) = (fit.model, fit.certificate);
/// let file = ModelFile::new(model, claims, "perceptron", Default::default(), 0, ended, (identity, reading));
/// assert!(verify::findings(&file, &task)?.iter().all(|finding| finding.holds()));
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn findings(file: &ModelFile, task: &Task) -> Result<Vec<Finding>> {
    let certificate = &file.certificate;
    let digest = task.data.digest_of(certificate.data.digest, task.threads);
    let mut findings = check_file(certificate, task.data.as_ref(), &digest, task.threads);
    bind(file, task, &mut findings)?;
    Ok(findings)
}

/// Refuses claims that are true of something else: another objective than that of the model's parameters,
/// or a margin without a word about the model's own plane.
pub fn bind(file: &ModelFile, task: &Task, findings: &mut [Finding]) -> Result<()> {
    let recipe = Recipe::find(&file.learner)?;
    let settings = recipe.settings_of(&file.parameters, file.seed);
    let (claims, subjects) = (&file.certificate.claims, file.subjects());
    let about_planes: Vec<_> = claims
        .iter()
        .zip(&subjects)
        .filter(|(_, subject)| matches!(subject, Subject::Plane(_)))
        .filter_map(|(claim, _)| claim.problem())
        .collect();
    for (claim, finding) in claims.iter().zip(findings) {
        if !finding.holds() {
            continue;
        }
        let alone = match claim {
            Claim::GeometricMargin { problem, .. } => !about_planes.contains(&problem),
            _ => false,
        };
        if alone {
            let words = "no claim about the model's own plane goes with this margin";
            *finding = Finding::Fails(words.into());
        } else if counts_others(claim, file.model.input.binarize) {
            let words = "the claim counts values above another threshold than the model does";
            *finding = Finding::Fails(words.into());
        } else if let Err(words) = recipe.check_claim(&settings, claim, task) {
            *finding = Finding::Fails(words);
        }
    }
    Ok(())
}

/// Whether a claim counts values above another threshold than the model does.
fn counts_others(claim: &Claim, binarize: Option<f64>) -> bool {
    let Claim::Counts { statistics, .. } = claim else { return false };
    let claimed = match statistics {
        Statistics::Bernoulli { binarize, .. } => Some(*binarize),
        _ => None,
    };
    claimed != binarize
}
