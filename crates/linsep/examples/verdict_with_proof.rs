//! Can a plane separate two classes? The answer comes with a proof either way, and the proof is checked
//! by a crate that shares no code with the search.

#![allow(clippy::print_stdout)]

use linsep::proof::check_claim;
use linsep::verdict::{Judge, Verdict};
use linsep::{Claim, Dataset};

pub(crate) fn main() -> linsep::Result<()> {
    let corners = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    for (name, labels) in
        [("and", ["no", "no", "no", "yes"]), ("exclusive or", ["no", "yes", "yes", "no"])]
    {
        let judge = Judge::new(Dataset::from_rows(&corners, &labels)?);
        let decision = judge.pair("yes", "no", &|| false)?;
        println!("{name}: {}", decision.verdict.word());
        match &decision.claim {
            Claim::Separable { plane, .. } => println!("  by the plane {plane:?}"),
            claim => {
                println!("  {} with {} rows as witness", claim.name(), decision.witness_rows())
            }
        }
        assert_eq!(decision.verdict == Verdict::Separable, name == "and");

        // Whoever does not trust the search checks the claim, in exact arithmetic.
        let finding = check_claim(&decision.claim, judge.data.as_ref(), &judge.reading(), true, 1);
        assert!(finding.holds(), "{finding:?}");
    }
    Ok(())
}
