//! Separable or not: the verdict, with a proof either way.
//!
//! The lectures leave one problem open: until the perceptron converges, nobody can tell rows that no
//! plane separates from rows that merely take long. [`Judge`] decides it. Floats propose, exact
//! arithmetic disposes: every claim that leaves this room has passed the checker of
//! [`linsep_proof`], which shares no code with the search.

pub(crate) mod active;
mod bounds;
mod coefficients;
mod column_scan;
mod complement;
mod conflict;
mod cycling;
mod descent;
pub(crate) mod disjoint;
mod exactly;
pub(crate) mod existence;
mod forced;
mod hull;
pub(crate) mod inquiry;
mod joint;
mod kind;
mod lift;
mod logistic;
mod margin;
mod meeting;
mod min_norm;
mod mistakes;
mod newton;
mod precondition;
mod proposal;
pub(crate) mod rank;
mod ratio;
mod recession;
mod removal;
mod search;
mod signed;
mod simplex;
mod span;
mod stacked;
mod stretch;
#[doc(hidden)]
pub mod violators;
mod wide;
pub(crate) mod widest;
mod written;

pub use coefficients::Coefficients;
pub use cycling::Cycle;
pub use forced::Forced;
pub use logistic::Logistic;
pub use margin::Margin;
pub use mistakes::{Corrections, MistakeBounds};
pub use rank::Rank;
pub use ratio::Ratio;
pub use removal::Removal;

#[doc(hidden)]
pub use crate::claim::planes::problem_of;
#[doc(hidden)]
pub use crate::claim::separating::separable;
use crate::model::Plane;
use dashu_int::IBig;
use linsep_data::Dataset;
use linsep_data::cancel;
use linsep_data::error::{Code, Error, Place, Result};
use linsep_data::read::LongColumn;
use linsep_proof::{Certificate, Claim, Question, ReadingField, Scheme, Weighted, check_claim};
use search::{Answer, Effort, Search};
#[doc(hidden)]
pub use signed::Signed;
use std::sync::Arc;

/// The five answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A plane has every row strictly on its side.
    Separable,
    /// A plane has every row on its side or on itself and some off it, but none is strict.
    Touching,
    /// Not even that.
    Overlapping,
    /// Proved not separable; touching or overlapping was not asked or not decided.
    Inseparable,
    /// A limit was reached first.
    Undecided,
}

impl Verdict {
    /// The word in reports and files.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Separable => "separable",
            Verdict::Touching => "touching",
            Verdict::Overlapping => "overlapping",
            Verdict::Inseparable => "inseparable",
            Verdict::Undecided => "undecided",
        }
    }
}

/// One decided question.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Decision {
    /// What was asked: a two-class question, or all classes at once when `None`.
    pub problem: Option<Question>,
    /// The answer.
    pub verdict: Verdict,
    /// The proof, accepted by the checker, or the explicit word that there is none.
    pub claim: Claim,
    /// The shortest list of rows found that refutes a strict plane, where there is one.
    refutation: Vec<Weighted>,
    /// (row of the question, share) of the blend of rows that bounds the margin.
    blend: Vec<(usize, f64)>,
    /// What a logistic fit would lose itself in, where the answer is touching.
    pub escape: Option<Escape>,
    /// (row of the question, weight) of tied rows that span all of them, where the answer is touching.
    face: Vec<(usize, IBig)>,
    /// The decision on Kesler's vectors, where all classes at once were told apart further.
    stacked: Option<Box<Decision>>,
    /// Why there is no answer, where it is undecided.
    pub limit: Option<Limit>,
    /// What the run of the perceptron did, where it was asked ([`Method::Cycling`]).
    pub cycle: Option<Cycle>,
    /// Passes over the rows that the decision took, begun ones counted whole.
    pub passes: u64,
    /// Times that the exact simplex method decided on a set of rows.
    pub exact_decisions: u64,
    /// Seconds in the checker, by the judge's clock.
    pub proving: f64,
}

impl Decision {
    /// A question whose search was given up in the middle.
    fn given_up(problem: Option<Question>) -> Decision {
        Decision {
            problem,
            verdict: Verdict::Undecided,
            claim: Claim::Unproved { reason: Limit::Stopped.words().to_owned() },
            refutation: Vec::new(),
            blend: Vec::new(),
            escape: None,
            face: Vec::new(),
            stacked: None,
            limit: Some(Limit::Stopped),
            cycle: None,
            passes: 0,
            exact_decisions: 0,
            proving: 0.0,
        }
    }
}

/// How two-class questions are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Floats propose, exact arithmetic disposes: the way that decides.
    Search,
    /// The integer perceptron in file order until it ends or comes back to earlier weights: the way
    /// that teaches. It does not tell touching from overlapping.
    Cycling {
        /// Passes after which it is given up.
        epochs: u64,
    },
}

impl Method {
    /// The perceptron with a million passes.
    pub const CYCLING: Method = Method::Cycling { epochs: cycling::DEFAULT_EPOCHS };
}

/// Why a question stayed open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The caller said stop: a time limit or a signal.
    Stopped,
    /// The search came to the end of what it tries.
    Search,
    /// The epochs that the perceptron may make are over.
    Epochs,
    /// The whole numbers of the perceptron do not fit 64 bits.
    Overflow,
    /// There is too much data for the method.
    TooLarge,
}

impl Limit {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Limit::Stopped => "the search was stopped before it was decided",
            Limit::Search => "the search ended at its limit before it was decided",
            Limit::Epochs => {
                "the epochs allowed are over, and neither a clean one nor a return to earlier weights was seen"
            }
            Limit::Overflow => "the numbers do not fit whole numbers of 64 bits",
            Limit::TooLarge => "there are too many numbers for this method",
        }
    }
}

/// Numbers that a quantity is proved to lie between. `None` where nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Interval {
    /// It is at least this.
    pub lower: Option<f64>,
    /// It is at most this.
    pub upper: Option<f64>,
}

linsep_proof::setters! {
    Interval {
        with_lower => lower: Option<f64>,
        with_upper => upper: Option<f64>,
    }
}

/// Where a maximum-likelihood fit of touching rows has no finite answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Escape {
    /// The columns whose coefficients are infinite or not identified; `None` is the bias.
    pub coefficients: Vec<Option<u32>>,
    /// The rows that some weak plane has off itself: they push the coefficients away.
    pub rows: Vec<u64>,
}

impl Decision {
    /// The plane of a proof that two classes are separable, positive on the side of the positive class, if it has
    /// so many features and is one of binary64 numbers.
    pub fn plane(&self, features: usize) -> Option<Plane> {
        let Claim::Separable { plane, .. } = &self.claim else { return None };
        let (weights, bias) = proposal::binary64(plane, features)?;
        Some(Plane { weights, bias })
    }

    /// Rows of the witness, if the answer rests on one.
    pub fn witness_rows(&self) -> usize {
        match &self.claim {
            Claim::Inseparable { witness, .. }
            | Claim::Touching { witness, .. }
            | Claim::Overlapping { witness, .. } => witness.len(),
            Claim::JointInseparable { witness }
            | Claim::JointTouching { witness, .. }
            | Claim::JointOverlapping { witness, .. } => witness.len(),
            _ => 0,
        }
    }
}

/// Decides questions about one data set.
///
/// ```
/// use linsep::Dataset;
/// use linsep::verdict::{Judge, Verdict};
/// let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
/// let xor = Judge::new(Dataset::from_rows(&rows, &["0", "1", "1", "0"])?);
/// let decision = xor.class("1", &|| false)?;
/// assert_eq!(decision.verdict, Verdict::Overlapping);
/// assert_eq!(decision.witness_rows(), 4);
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Judge {
    /// The data.
    pub data: Arc<Dataset>,
    /// Whether planes have a bias.
    pub bias: bool,
    /// Whether inseparable rows are told apart further; by default with at most 500 columns.
    pub kind: bool,
    /// The same for all classes at once; by default while (K − 1)·D is at most 500.
    pub joint_kind: bool,
    /// How two-class questions are decided; `joint` is always searched.
    pub by: Method,
    /// Threads; never changes an answer.
    pub threads: usize,
    /// Tells the time in seconds; only used to say how long proving took.
    pub clock: fn() -> f64,
}

linsep_proof::setters! {
    Judge {
        with_data => data: Arc<Dataset>,
        with_bias => bias: bool,
        with_kind => kind: bool,
        with_joint_kind => joint_kind: bool,
        with_by => by: Method,
        with_threads => threads: usize,
        with_clock => clock: fn() -> f64,
    }
}

impl Judge {
    /// A judge with bias, on one thread.
    pub fn new(data: impl Into<Arc<Dataset>>) -> Judge {
        let data = data.into();
        let kind = data.n_features() <= 500;
        let blocks = data.n_classes().saturating_sub(1);
        let joint_kind = blocks.saturating_mul(data.n_features() + 1) <= 500;
        Judge { data, bias: true, kind, joint_kind, by: Method::Search, threads: 1, clock: || 0.0 }
    }

    /// One class against all others. `stop` is asked now and then; true ends the search.
    pub fn class(&self, positive: &str, stop: &dyn Fn() -> bool) -> Result<Decision> {
        self.known(positive)?;
        self.decide(problem_of(&self.data, positive, None), stop)
    }

    /// One class against another; other rows do not take part.
    pub fn pair(
        &self,
        positive: &str,
        negative: &str,
        stop: &dyn Fn() -> bool,
    ) -> Result<Decision> {
        self.known(positive)?;
        self.known(negative)?;
        if positive == negative {
            return Err(Error::usage(format!(
                "a pair needs two classes, not \"{positive}\" twice"
            )));
        }
        self.decide(problem_of(&self.data, positive, Some(negative)), stop)
    }

    /// All classes at once: one plane for each class, the highest score wins. `pairs` are decisions
    /// on pairs of classes that are known already; one that is not separable settles the question.
    pub fn joint(&self, pairs: &[Decision], stop: &dyn Fn() -> bool) -> Result<Decision> {
        self.provable()?;
        let decision = cancel::catch(|| joint::decide(self, pairs, stop));
        Ok(decision.unwrap_or_else(|| Decision::given_up(None)))
    }

    /// What is proved of the largest margin of a plane of unit length (w, b): one more pass.
    pub fn margin(&self, decision: &Decision) -> Interval {
        cancel::catch(|| self.bounded_margin(decision)).unwrap_or_default()
    }

    fn bounded_margin(&self, decision: &Decision) -> Interval {
        let Some(problem) = &decision.problem else { return Interval::default() };
        let view = Signed::new(Arc::clone(&self.data), problem.clone(), self.bias);
        match decision.verdict {
            Verdict::Separable => Interval {
                lower: bounds::lower(&view, &decision.claim, self.threads),
                upper: bounds::upper(&view, &decision.blend),
            },
            Verdict::Undecided => {
                Interval { lower: None, upper: bounds::upper(&view, &decision.blend) }
            }
            _ => Interval { lower: None, upper: Some(0.0) },
        }
    }

    /// What the answer means for a logistic fit without a penalty: whether one exists, and if not,
    /// what nothing bounds. `None` where the kind of the rows is not known.
    pub fn logistic(&self, decision: &Decision) -> Option<Logistic> {
        cancel::catch(|| logistic::meaning(self, decision)).flatten()
    }

    /// What becomes of each coefficient of a logistic fit without a penalty, with a proof for each. `None`
    /// where the kind of the rows is not known or there is too much data.
    pub fn coefficients(
        &self,
        decision: &Decision,
        stop: &dyn Fn() -> bool,
    ) -> Option<Coefficients> {
        cancel::catch(|| coefficients::of(self, decision, stop)).flatten()
    }

    /// What all planes that separate the rows say of some points, given by the values of their columns that
    /// are not 0, columns rising. `None` for a point where a search ended before it knew, and for one that lies
    /// on every plane. Refused where the decision is not separable.
    pub fn forced(
        &self,
        decision: &Decision,
        points: &[Vec<(u32, f64)>],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<Option<Forced>>> {
        forced::of(self, decision, points, stop)
    }

    /// Rows without which a plane separates the others, none of which can be put back, and how many any such
    /// set has at least. `None` for all classes at once, without a bias, and where it would take too long.
    pub fn removal(&self, decision: &Decision, stop: &dyn Fn() -> bool) -> Option<Removal> {
        cancel::catch(|| removal::of(self, decision, stop)).flatten()
    }

    /// The point that the hulls of both sides share, where a witness proves that they do: (column,
    /// exact value as a decimal or a fraction) of the coordinates that are not 0.
    pub fn common_point(&self, decision: &Decision) -> Option<Vec<(u32, String)>> {
        cancel::catch(|| meeting::point(self, decision)).flatten()
    }

    /// Whether a plane separates the rows of a question when the numbers of these columns are the decimals that
    /// are written, not their binary64. Exact, but proved by no certificate. `None` for all classes at once, with
    /// basis functions, and where it is not known or would take long.
    pub fn separable_as_written(
        &self,
        decision: &Decision,
        columns: &[LongColumn],
        stop: &dyn Fn() -> bool,
    ) -> Option<bool> {
        cancel::catch(|| written::separable(self, decision, columns, stop)).flatten()
    }

    /// The rank of the rows (1, x) of a question, exact or not at all; `None` for all classes at once
    /// and for data that is too large.
    pub fn rank(&self, decision: &Decision, stop: &dyn Fn() -> bool) -> Option<Rank> {
        cancel::catch(|| rank::of(self, decision, stop)).flatten()
    }

    /// How exact arithmetic understands the data.
    pub fn reading(&self) -> ReadingField {
        self.data.reading_field()
    }

    /// Refuses data on which no verdict could be proved.
    fn provable(&self) -> Result<()> {
        self.data.require_two_classes()?;
        match self.data.unprovable() {
            None => Ok(()),
            Some(words) => Err(Error::usage(format!(
                "a verdict is a proof, and {words}; products such as x1*x2 or poly:2 have exact values"
            ))),
        }
    }

    fn known(&self, class: &str) -> Result<()> {
        self.provable()?;
        let names = self.data.label_names();
        if names.iter().any(|name| name == class) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "there is no class \"{class}\"; the classes are {}",
            names.join(", ")
        )))
    }

    fn decide(&self, problem: Question, stop: &dyn Fn() -> bool) -> Result<Decision> {
        let decision = cancel::catch(|| self.search(problem.clone(), stop));
        decision.unwrap_or_else(|| Ok(Decision::given_up(Some(problem))))
    }

    fn search(&self, problem: Question, stop: &dyn Fn() -> bool) -> Result<Decision> {
        let view = Signed::new(Arc::clone(&self.data), problem.clone(), self.bias);
        if !view.signs.contains(&1) || !view.signs.contains(&-1) {
            let words = "one side of the question has no rows with a weight above 0";
            let place = self.data.origin().files().next().map_or_else(Place::default, Place::file);
            return Err(Error::data(Code::ONE_CLASS, words, place));
        }
        let effort = Effort { threads: self.threads, stop, clock: self.clock };
        if let Method::Cycling { epochs } = self.by {
            return Ok(cycling::decide(self, &view, epochs, &effort));
        }
        let mut search = Search::new(view, self.reading(), self.kind);
        let answer = search.run(&effort);
        let (view, mut work) = (&search.view, search.work);
        let (mut refutation, mut face) = (Vec::new(), Vec::new());
        let (mut escape, mut limit) = (None, None);
        let (verdict, claim) = match answer {
            Answer::Proved(claim @ Claim::Separable { .. }) => (Verdict::Separable, claim),
            Answer::Proved(claim) => {
                let seen_at_once = matches!(claim, Claim::Overlapping { .. });
                if let Claim::Inseparable { witness, .. } | Claim::Overlapping { witness, .. } =
                    &claim
                {
                    refutation.clone_from(witness);
                }
                match self.kind {
                    true if seen_at_once => (Verdict::Overlapping, claim),
                    true => {
                        let kept = claim.clone();
                        let refine = || kind::refine(view, self.reading(), &effort, claim);
                        let Some(refined) = cancel::catch(refine) else {
                            // What is proved stays proved where the rest is given up.
                            let (verdict, claim, limit) = (Verdict::Inseparable, kept, None);
                            let open = Decision::given_up(Some(problem));
                            return Ok(Decision { verdict, claim, refutation, limit, ..open });
                        };
                        work.visits += refined.work.visits;
                        work.exact += refined.work.exact;
                        work.proving += refined.work.proving;
                        (escape, face) = (refined.escape, refined.face);
                        (refined.verdict, refined.claim)
                    }
                    false => (Verdict::Inseparable, claim),
                }
            }
            Answer::Open => {
                let reached = if stop() { Limit::Stopped } else { Limit::Search };
                limit = Some(reached);
                self.undecided(view, &search.blend, reached)
            }
        };
        let passes = work.visits.div_ceil(view.len() as u64);
        let (exact_decisions, proving) = (work.exact, work.proving);
        let problem = Some(problem);
        Ok(Decision {
            problem,
            verdict,
            claim,
            refutation,
            blend: search.blend,
            escape,
            face,
            stacked: None,
            limit,
            cycle: None,
            passes,
            exact_decisions,
            proving,
        })
    }

    /// The answer of a search that reached a limit, with the little that it still proves.
    fn undecided(&self, view: &Signed, blend: &[(usize, f64)], limit: Limit) -> (Verdict, Claim) {
        let unproved = || Claim::Unproved { reason: limit.words().to_owned() };
        (Verdict::Undecided, self.bracket(view, blend).unwrap_or_else(unproved))
    }

    /// What an open search still proves: no margin above the length of a blend of rows.
    fn bracket(&self, view: &Signed, blend: &[(usize, f64)]) -> Option<Claim> {
        let whole = |l: f64| IBig::try_from((l * 2f64.powi(40)).round()).unwrap_or(IBig::ZERO);
        let lambda: Vec<(usize, IBig)> =
            blend.iter().map(|(k, l)| (*k, whole(*l))).filter(|(_, l)| *l > IBig::ZERO).collect();
        let total: f64 = lambda.iter().map(|(_, l)| l.to_f64().value()).sum();
        let mut sum = vec![0.0; view.dimension()];
        let shift = usize::from(view.bias);
        for (k, l) in &lambda {
            let l = f64::from(view.signs[*k]) * l.to_f64().value() / total;
            if view.bias {
                sum[0] += l;
            }
            view.for_each(*k, &mut Vec::new(), |j, x| sum[j as usize + shift] += l * x);
        }
        let square: f64 = sum.iter().map(|x| x * x).sum();
        // Rounded up far enough that the exact check holds.
        let bound = format!("{}/{}", whole(square * (1.0 + 1e-6)) + IBig::ONE, IBig::ONE << 40);
        let weights = proposal::weighted(view, &lambda);
        let claim = Claim::Bracket { problem: view.problem.clone(), weights, bound };
        let holds =
            check_claim(&claim, view.data.as_ref(), &self.reading(), self.bias, self.threads)
                .holds();
        holds.then_some(claim)
    }
}

/// The claims of some decisions as one certificate.
pub fn certificate(decisions: &[Decision]) -> Certificate {
    Certificate::new(decisions.iter().map(|decision| decision.claim.clone()).collect())
}

/// Whether a question is about all classes at once.
pub fn scheme_of(decision: &Decision) -> Scheme {
    decision.problem.as_ref().map_or(Scheme::Joint, |problem| problem.scheme)
}
