//! Train a model on rows, look at what is proved about it, and predict classes and probabilities.

#![allow(clippy::print_stdout)]

use linsep::learn::logistic::Logistic;
use linsep::{Claim, Dataset, Learner, Limits, Task};

pub(crate) fn main() -> linsep::Result<()> {
    // Height in metres and weight in kilograms.
    let rows = [[1.2, 21.0], [1.3, 30.0], [1.1, 19.0], [1.8, 80.0], [1.7, 62.0], [1.6, 71.0]];
    let labels = ["child", "child", "child", "adult", "adult", "adult"];
    let task = Task::new(Dataset::from_rows(&rows, &labels)?).with_threads(2);

    // Settings are a struct with defaults; `gap` is how near to the optimum is near enough.
    let learner = Logistic::default().with_c(10.0).with_gap(1e-6);
    let fit = learner.fit(&task, &Limits::default(), &mut ())?;
    println!("{} epochs, ended by: {}", fit.progress.epochs, fit.stop.word());
    for claim in &fit.certificate.claims {
        match claim {
            Claim::Optimal { optimality, .. } => println!("proved gap {:.1e}", optimality.gap),
            other => println!("claim {}", other.name()),
        }
    }

    let model = &fit.model;
    for row in [[1.25, 24.0], [1.75, 70.0]] {
        let shares = model.probabilities(&row)?.unwrap_or_default();
        println!("{row:?}: {}, {:?} of {:?}", model.predict(&row)?, shares, model.classes);
    }
    assert_eq!(model.predict(&[1.25, 24.0])?, "child");
    Ok(())
}
