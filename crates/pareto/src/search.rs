//! Searching the highest load within limits, by evaluations that are noisy and dear.

mod bracket;
mod edge;
mod fit;
mod pools;
mod reading;
mod spec;

pub use reading::{EdgeSide, Evaluation, LoadOutcome, log_margin};
pub use spec::{Loads, SearchSpec, SearchSpecError};

use crate::{FigureEstimate, MonotoneDeparture};
use bracket::Bracket;
use reading::SeenEvaluation;
use spec::deviations;

/// A search under way: it says which load to evaluate next, and is told what was found.
///
/// From the first load it goes up or down by factors until the edge lies between two loads, and from then on evaluates near
/// where the edge seems to be, on both sides of it, until that is known as narrowly as was asked. Which side a load lies on
/// follows from monotone regression over all evaluations, so that the others correct a mistaken one; where the edge lies between the
/// two sides, from a straight line through the margins around it, in the logarithm of the load. An evaluation of a load that is
/// saturated counts as beyond the edge, however it looks.
///
/// It reads no clock and draws no chance: the same evaluations give the same search.
///
/// ```
/// use fizeau_pareto::{LoadOutcome, FigureEstimate, Evaluation, Loads, NextLoad, LimitRelation, Search, SearchSpec, log_margin};
///
/// // Up to which rate does a queue with 20 requests/s of room answer within 500 ms?
/// let latency = |rate: f64| 1000.0 / (20.0 - rate).max(0.1);
/// let mut search = Search::new(SearchSpec::between(Loads::Any, 1.0, 100.0))?;
/// while let NextLoad::Evaluate { load } = search.next() {
///     let figure = FigureEstimate::exact(latency(load))?;
///     let margins = vec![log_margin(figure, LimitRelation::AtMost, 500.0)];
///     search.observe(&Evaluation { load, margins, bearing: LoadOutcome::Borne });
/// }
/// let found = search.result();
/// assert!((found.edge.unwrap().value() - 18.0).abs() < 0.2);
/// assert!(found.evaluations <= 12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    spec: SearchSpec,
    seen: Vec<SeenEvaluation>,
}

/// The next step of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NextLoad {
    /// Evaluate this load, which may have been evaluated before.
    Evaluate {
        /// The load.
        load: f64,
    },
    /// Nothing: [`Search::result`] has the answer.
    Done,
}

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchResult {
    /// The highest load within the goals that there is: the edge, or the next lower load of [`Loads`]. None where even the
    /// lowest load is beyond it.
    pub load: Option<f64>,
    /// Where the goals break, with its interval at the confidence that was asked for. Its upper end is infinite where the
    /// highest load is within the goals.
    pub edge: Option<FigureEstimate>,
    /// Why the search ended, or that it did not yet.
    pub ending: SearchEnding,
    /// How many evaluations there were.
    pub evaluations: u32,
    /// Whether the evaluations next to the edge came with intervals of their own. Where some did not, an error of a tenth was
    /// assumed of them, and so is the confidence of the edge's interval.
    pub has_errors: bool,
    /// The goal that sets the edge, by its index; none where no goal does, as where saturation comes before any goal breaks.
    pub first_broken: Option<usize>,
    /// The evaluation that misses the goals least, or keeps them with most to spare, by its index.
    pub nearest: Option<usize>,
    /// Two evaluations, by their indices, of which the one at the lower load surely missed a goal that the one at the higher
    /// load surely kept: the response is not monotone, and there may be several edges.
    pub not_monotone: Option<(usize, usize)>,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SearchEnding {
    /// The edge is known as narrowly as was asked.
    Decided,
    /// The edge lies between two whole loads, or on one of them, which stays too near to it however often it is evaluated.
    Undecided,
    /// The evaluations are used up, and the edge is known less narrowly.
    OutOfRuns,
    /// The time is used up, and the edge is known less narrowly. Only who counts the time of evaluations ends a search so.
    OutOfTime,
    /// Even the highest load is within the goals.
    AllGood,
    /// The highest load seemed to be within the goals, and a longer evaluation of it was not. Only who evaluates a load again at
    /// length ends a search so.
    Refuted,
    /// Even the lowest load is beyond them.
    Unmet,
    /// The next load could not be measured: what was measured of it was of no use, several times in a row. Only who judges
    /// evaluations ends a search so.
    Unmeasurable,
    /// It did not end: it was broken off.
    BrokenOff,
}

impl SearchEnding {
    /// The name used in files: `decided`, `undecided`, `out_of_runs`, `out_of_time`, `all_good`, `refuted`, `unmet`, `unmeasurable`, `broken_off`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Decided => "decided",
            Self::Undecided => "undecided",
            Self::OutOfRuns => "out_of_runs",
            Self::OutOfTime => "out_of_time",
            Self::AllGood => "all_good",
            Self::Refuted => "refuted",
            Self::Unmet => "unmet",
            Self::Unmeasurable => "unmeasurable",
            Self::BrokenOff => "broken_off",
        }
    }
}

impl SearchResult {
    /// Before anything was evaluated.
    pub const NOTHING: Self = Self {
        load: None,
        edge: None,
        ending: SearchEnding::BrokenOff,
        evaluations: 0,
        has_errors: false,
        first_broken: None,
        nearest: None,
        not_monotone: None,
    };
}

impl Search {
    /// Of nothing evaluated yet.
    ///
    /// # Errors
    /// If the range is none, or what was asked of the answer is none either.
    pub fn new(spec: SearchSpec) -> Result<Self, SearchSpecError> {
        Ok(Self { spec: spec.checked()?, seen: Vec::new() })
    }

    /// Tries no load above `highest` from now on, but the lowest in any case: what can be evaluated may hang on what was seen.
    pub fn limit_to(&mut self, highest: f64) {
        self.spec.highest = self.spec.below(highest);
    }

    /// The next step of a search. It changes nothing; the answer is the same until something is observed.
    #[must_use]
    pub fn next(&self) -> NextLoad {
        let step = self.step();
        match step {
            PlannedStep::Evaluate(load) if self.evaluations() < self.spec.most => {
                NextLoad::Evaluate { load }
            }
            PlannedStep::Evaluate(_) | PlannedStep::End(_) => NextLoad::Done,
        }
    }

    /// Takes note of an evaluation. It may be of a load that [`Search::next`] did not ask for; a load that is not above 0 is
    /// left out.
    pub fn observe(&mut self, evaluation: &Evaluation) {
        if evaluation.load > 0.0 && evaluation.load.is_finite() {
            self.seen.push(SeenEvaluation::of(evaluation));
        }
    }

    /// What is known by now.
    #[must_use]
    pub fn result(&self) -> SearchResult {
        let ending = match self.step() {
            PlannedStep::End(ending) => ending,
            PlannedStep::Evaluate(_) if self.evaluations() < self.spec.most => {
                SearchEnding::BrokenOff
            }
            PlannedStep::Evaluate(_) => SearchEnding::OutOfRuns,
        };
        let bracket = Bracket::of(&self.seen, self.deviations());
        let edge = bracket.edge(&self.seen, &self.spec);
        SearchResult {
            load: edge.map(|edge| self.spec.below(edge.load.value())),
            edge: edge.map(|edge| edge.load),
            ending,
            evaluations: self.evaluations(),
            has_errors: edge
                .is_some_and(|edge| bracket.has_errors(edge.at, &self.seen, &self.spec)),
            first_broken: edge
                .and_then(|edge| edge.goal)
                .filter(|goal| bracket.breaks(*goal, &self.seen)),
            nearest: self.nearest(),
            not_monotone: self.not_monotone(),
        }
    }

    /// The highest load that there is and that is no higher than `load`, within the range.
    #[must_use]
    pub fn floor(&self, load: f64) -> f64 {
        self.spec.below(load)
    }

    /// What would be done next, were there evaluations without end.
    fn step(&self) -> PlannedStep {
        if self.seen.is_empty() {
            return PlannedStep::Evaluate(self.spec.nearest(self.spec.start));
        }
        Bracket::of(&self.seen, self.deviations()).step(&self.seen, &self.spec)
    }

    fn evaluations(&self) -> u32 {
        u32::try_from(self.seen.len()).unwrap_or(u32::MAX)
    }

    /// How many standard errors make sure, on one side.
    fn deviations(&self) -> f64 {
        deviations(self.spec.confidence)
    }

    fn nearest(&self) -> Option<usize> {
        let worst = self.seen.iter().map(|seen| seen.worst().value).enumerate();
        let greater =
            |best: (usize, f64), next: (usize, f64)| if next.1 > best.1 { next } else { best };
        worst.reduce(greater).map(|(index, _)| index)
    }

    /// Of all pairs the one that chance explains least, if it does not explain it.
    fn not_monotone(&self) -> Option<(usize, usize)> {
        let pairs = self.seen.iter().enumerate().flat_map(|(missed, lower)| {
            let others = self.seen.iter().enumerate();
            others
                .filter_map(move |(kept, higher)| Some(((missed, kept), wrong_way(lower, higher)?)))
        });
        let pairs = pairs.filter(|(_, errors)| *errors > MonotoneDeparture::BY_CHANCE);
        pairs
            .reduce(|worst, next| if next.1 > worst.1 { next } else { worst })
            .map(|(pair, _)| pair)
    }
}

/// In how many standard errors the higher load keeps what the lower one misses; none if it does not.
fn wrong_way(lower: &SeenEvaluation, higher: &SeenEvaluation) -> Option<f64> {
    let (missed, kept) = (lower.worst(), higher.worst());
    let is_wrong = lower.load < higher.load && missed.value < 0.0 && kept.value > 0.0;
    is_wrong.then(|| (kept.value - missed.value) / kept.error().hypot(missed.error()))
}

/// The next step of a search.
enum PlannedStep {
    Evaluate(f64),
    End(SearchEnding),
}
