//! The voted perceptron (Freund and Schapire 1999): every plane of the run votes.
//!
//! Problem: on rows that no plane separates the last plane of a perceptron is whatever the last
//! mistake made of it. Idea: keep every plane w_k with the number c_k of visits that it survived, the
//! one that made it included, and let all of them vote:
//!
//! ```text
//! score = Σ c_k sign(w_k·x + b_k) / Σ c_k,   sign(0) = +1;   at least 0 means the positive class
//! ```
//!
//! [`crate::learn::averaged`] votes with scores instead of signs and so needs one plane only; the ballot
//! bends: its boundary is made of pieces of many planes. For a row drawn as the others were, the chance
//! of a mistake after one pass over m rows is at most 2/(m + 1) times the expected mistakes of a run on
//! m + 1 rows, which are at most ((R + D)/γ)² for any plane of margin γ with D² the sum of the squared
//! shortfalls (theorem 3 there).
//!
//! Every correction makes a plane. To bound memory at most `most` planes vote: those with the most
//! votes, and among equals the newest. Which ones these are does not depend on when one looks.
//!
//! A ballot is no plane, so nothing is proved of it as such. If one plane holds more than half of the
//! votes, the ballot says what that plane says everywhere, and the claim is that of the plane.
//!
//! K classes by machines side by side: [`crate::run::reduction`].

use crate::engine::online::is_count;
use crate::engine::perceptron::{Online, Perceptron, Planes};
use crate::model::{Ballot, LinearModel, Plane, Rule};
use crate::run::ability::CarriesOn;
use crate::run::{
    BinaryLearner, Budget, Certificate, Learner, Remark, SavedPlane, State, Status, Task, Training,
};
use linsep_data::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// A perceptron all of whose planes vote.
///
/// ```
/// use linsep::learn::voted::Voted;
/// use linsep::{Dataset, Learner, Limits, Task};
/// let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
/// let or = Task::new(Dataset::from_rows(&rows, &["0", "1", "1", "1"])?);
/// let fit = Voted::default().fit(&or, &Limits::default(), &mut ())?;
/// assert_eq!(fit.model.predict(&[1., 1.])?, "1");
/// assert!(fit.model.planes.len() > 1);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Voted {
    /// The perceptron whose planes vote.
    pub run: Perceptron,
    /// The most planes that vote for one machine, at least 1.
    pub most: usize,
}

linsep_proof::setters! {
    Voted {
        with_run => run: Perceptron,
        with_most => most: usize,
    }
}

impl Default for Voted {
    fn default() -> Self {
        Voted { run: Perceptron::default(), most: 500 }
    }
}

impl Learner for Voted {
    /// One ballot for two classes; K classes by one-versus-rest.
    fn start(&self, task: &Task) -> Result<Box<dyn Training>> {
        crate::run::reduction::OneVsRest(self.clone()).start(task)
    }
}

impl BinaryLearner for Voted {
    fn start_binary(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        if self.most == 0 {
            return Err(Error::usage("a ballot needs at least one plane"));
        }
        let run = self.run.launch(task, Planes::One(positive), false)?;
        let (now, most) = (run.plane(), self.most);
        let count = Counts { made: 1, earlier: 0, left_out: 0, left_out_votes: 0 };
        Ok(Box::new(VotedRun { run, most, now, kept: Vec::new(), count }))
    }
}

struct VotedRun {
    run: Online,
    most: usize,
    /// The plane in motion.
    now: Plane,
    /// Earlier planes with their votes, oldest first.
    kept: Vec<(u64, Plane)>,
    count: Counts,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    /// The visit that made the plane in motion; 1 for the start.
    made: u64,
    /// Its votes on other data before.
    earlier: u64,
    /// Planes that no longer vote, and their votes.
    left_out: u64,
    left_out_votes: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedVoted {
    run: State,
    most: usize,
    now: SavedPlane,
    /// Votes of the plane in motion.
    votes: u64,
    kept: Vec<(u64, SavedPlane)>,
    count: Counts,
}

impl SavedVoted {
    fn check(&self, most: usize) -> Result<()> {
        let Counts { made, earlier, left_out, left_out_votes } = self.count;
        let counts = [self.votes, made, earlier, left_out, left_out_votes];
        let votes = self.kept.iter().map(|(votes, _)| *votes).chain(counts);
        let fits = self.most == most && self.kept.len() <= most && made > 0;
        match fits && votes.into_iter().all(is_count) {
            true => Ok(()),
            false => Err(Error::usage("the saved state belongs to a run with other settings")),
        }
    }
}

impl VotedRun {
    /// Keeps the plane in motion, which the given visit corrected.
    fn retire(&mut self, visit: u64) {
        let votes = visit.saturating_sub(self.count.made) + self.count.earlier;
        self.count.earlier = 0;
        let plane = std::mem::replace(&mut self.now, self.run.plane());
        self.count.made = visit;
        if votes > 0 {
            self.kept.push((votes, plane));
        }
        self.keep_most();
    }

    /// The votes of the plane in motion.
    fn votes(&self) -> u64 {
        (self.run.progress().visits + 1).saturating_sub(self.count.made) + self.count.earlier
    }

    /// Takes the plane with the fewest votes out where there are too many.
    fn keep_most(&mut self) {
        if self.kept.len() > self.most {
            let (votes, _) = self.kept.remove(least(&self.kept));
            self.count.left_out += 1;
            self.count.left_out_votes += votes;
        }
    }

    /// All planes that vote, the one in motion last unless it has too few votes.
    fn ballot(&self) -> Vec<(u64, Plane)> {
        let votes = self.votes();
        let mut ballot = self.kept.clone();
        if votes > 0 || ballot.is_empty() {
            ballot.push((votes.max(1), self.now.clone()));
        }
        if ballot.len() > self.most {
            ballot.remove(least(&ballot));
        }
        ballot
    }
}

/// The place of the plane with the fewest votes, the oldest among equals.
fn least(ballot: &[(u64, Plane)]) -> usize {
    let places = ballot.iter().enumerate();
    places.min_by_key(|(_, (votes, _))| *votes).map_or(0, |(place, _)| place)
}

impl Training for VotedRun {
    fn advance(&mut self, budget: Budget) -> Status {
        let Budget { mut visits, mut updates } = budget;
        loop {
            let before = self.run.progress();
            let status = self.run.advance(Budget { visits, updates: updates.min(1) });
            let after = self.run.progress();
            visits -= after.visits - before.visits;
            if after.updates > before.updates {
                updates -= 1;
                self.retire(after.visits);
            }
            if status != Status::Running || visits == 0 || updates == 0 {
                return status;
            }
        }
    }

    fn model(&self) -> LinearModel {
        let (votes, planes) = self.ballot().into_iter().unzip();
        let rule = Rule::Ballot(Ballot::new(vec![votes], Rule::Sign));
        LinearModel { planes, rule, ..self.run.model() }
    }

    fn certificate(&self) -> Certificate {
        match self.model().deciding_plane() {
            Some(plane) => self.run.certificate_of(std::slice::from_ref(plane)),
            None => Certificate::unproved(
                "no plane holds more than half of the votes, so none can stand for the ballot",
            ),
        }
    }

    fn remarks(&self) -> Vec<Remark> {
        let ballot = self.ballot();
        let votes: u64 = ballot.iter().map(|(votes, _)| votes).sum();
        let all = self.run.progress().visits.max(1);
        let share = 100.0 * votes as f64 / all as f64;
        let words = match ballot.len() as u64 {
            1 => format!("one plane holds {share:.1} % of all votes"),
            planes => format!("{planes} planes hold {share:.1} % of all votes"),
        };
        let data = [("planes", ballot.len().into()), ("votes", votes.into()), ("of", all.into())];
        vec![Remark::new("ballot", words, data)]
    }

    fn save(&self) -> State {
        let kept = self.kept.iter().map(|(votes, plane)| (*votes, SavedPlane::of(plane)));
        State::encode(&SavedVoted {
            run: self.run.save(),
            most: self.most,
            now: SavedPlane::of(&self.now),
            votes: self.votes(),
            kept: kept.collect(),
            count: self.count,
        })
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let saved: SavedVoted = state.decode()?;
        let plane = |plane: &SavedPlane| {
            let there = std::slice::from_ref(&self.now);
            SavedPlane::all(std::slice::from_ref(plane), there).map(|mut planes| planes.remove(0))
        };
        let now = plane(&saved.now)?;
        let kept: Result<Vec<(u64, Plane)>> =
            saved.kept.iter().map(|(votes, kept)| Ok((*votes, plane(kept)?))).collect();
        let kept = kept?;
        saved.check(self.most)?;
        self.run.restore(&saved.run)?;
        (self.now, self.kept, self.count) = (now, kept, saved.count);
        Ok(())
    }

    crate::training_has!(carries_on);
    crate::training_forwards!(run: epoch_rows, progress, traces, bounds_margin);
    crate::training_lacks!(warm_starts, bounds_objective, generates, seeks);
}

impl CarriesOn for VotedRun {
    /// Planes keep their votes, also the one in motion.
    fn carry_on(&mut self, state: &State) -> Result<()> {
        let saved: SavedVoted = state.decode()?;
        saved.check(self.most)?;
        let there = std::slice::from_ref(&self.now);
        let widened = |plane: &SavedPlane| {
            let planes = SavedPlane::widened(std::slice::from_ref(plane), there);
            planes.map(|mut planes| planes.remove(0))
        };
        let mut kept = Vec::new();
        for (votes, plane) in &saved.kept {
            kept.push((*votes, widened(plane)?));
        }
        self.run.carry_on(&saved.run)?;
        (self.now, self.kept) = (self.run.plane(), kept);
        self.count = Counts { made: 1, earlier: saved.votes, ..saved.count };
        Ok(())
    }
}
