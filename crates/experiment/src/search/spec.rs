//! What to search.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::{LoadKind, Nanos};
use fizeau_metrics::{Goal, Slo, Statistic};
use fizeau_pareto::{Loads, SearchSpec, SearchSpecError};

use super::time::SHORTEST_BUDGET;
use crate::input::InputField;
use crate::sweep::{LevelSize, SweepSettings};
use crate::system::PromptReader;
use crate::workload::PromptSource;

/// What to search, and with what levels.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LoadSearchSpec {
    /// Which load.
    pub over: LoadKind,
    /// What must hold.
    pub slo: Slo,
    /// The lowest load, with which the search begins unless `to` is given too.
    pub from: Option<f64>,
    /// The highest.
    pub to: Option<f64>,
    /// The most levels, the first closed loop included and long ones at the end not.
    pub most_levels: u32,
    /// How narrow the answer's interval is to be: half its width over the answer.
    pub tolerance: f64,
    /// How sure it is to be.
    pub confidence: f64,
    /// How large a level is.
    pub size: LevelSize,
    /// How large the level is at the load that was found; none for no such level.
    pub confirm: Option<LevelSize>,
    /// The time for all of it; none for as long as it takes. The sizes then are the most that a level may take: how long each
    /// is follows from what is left.
    pub budget: Option<Nanos>,
}

/// Why nothing can be searched so.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadSearchError {
    /// No goal gets worse with load.
    #[error(
        "{0}: a search needs a goal that gets worse with load, such as p99 ttft<500ms or goodput>0.99"
    )]
    NothingBreaks(String),
    /// The range, the tolerance or the confidence is invalid.
    #[error(transparent)]
    Spec(#[from] SearchSpecError),
    /// Not even the first loop and one level on each side.
    #[error("{0} is too few levels: a search needs at least 3")]
    TooFewLevels(u32),
    /// No load is as low or as high.
    #[error("{load} cannot be used as {what}: {right}")]
    NoLoad {
        /// What was given.
        load: f64,
        /// What it was to be.
        what: &'static str,
        /// What would be one.
        right: &'static str,
    },
    /// Too little time.
    #[error("{} s is too short for a search; give at least {} s", .0.as_secs_f64(), SHORTEST_BUDGET.as_secs_f64())]
    TooLittleTime(Nanos),
}

impl LoadSearchError {
    /// The input at fault.
    pub(super) const fn field(&self) -> InputField {
        match self {
            Self::NothingBreaks(_) => InputField::Slo,
            Self::TooFewLevels(_) => InputField::MaxLevels,
            Self::TooLittleTime(_) => InputField::Budget,
            Self::Spec(SearchSpecError::Tolerance(_)) => InputField::Tolerance,
            Self::Spec(SearchSpecError::Confidence(_)) => InputField::Confidence,
            Self::Spec(_) | Self::NoLoad { .. } => InputField::Start,
        }
    }
}

impl LoadSearchSpec {
    /// Slots of the closed loop that says where a rate begins; the first concurrency too, where no range is given.
    pub const FIRST: NonZeroU32 = NonZeroU32::new(16).unwrap();

    /// The usual: at most twelve levels, to 3 % at 95 %, without a long level at the end.
    #[must_use]
    pub fn new(over: LoadKind, slo: Slo) -> Self {
        let size = LevelSize::default();
        let (most_levels, tolerance, confidence) = (12, 0.03, 0.95);
        let (from, to, confirm, budget) = (None, None, None, None);
        Self { over, slo, from, to, most_levels, tolerance, confidence, size, confirm, budget }
    }

    /// The same, with levels as `settings` have them: until their time is up, and where time costs nobody any and is not said, of as
    /// many requests as the goals need. A long level that takes `confirm` comes at the end, if that is some time.
    #[must_use]
    pub(super) fn sized(
        self,
        settings: &SweepSettings,
        reader: PromptReader,
        confirm: Option<Nanos>,
    ) -> Self {
        // A closed loop has requests until its time is up, but of a data set no more than it has; an open one those that come by then.
        let source = &settings.workload.source;
        let is_endless = self.over == LoadKind::Concurrency && source.is_endless();
        let most_in = |time: Nanos| is_endless.then(|| source.most_in(time));
        let size = settings.size;
        let by_default = match (reader, size.time) {
            (PromptReader::Simulation, None) if self.budget.is_none() => Some(needed(&self.slo)),
            (_, Some(time)) => most_in(time),
            (_, None) => is_endless.then_some(PromptSource::MOST_UNTIL_KNOWN),
        };
        let long = |time| LevelSize { requests: most_in(time), time: Some(time), ..size };
        let confirm = confirm.filter(|time| *time > Nanos::ZERO).map(long);
        Self { size: LevelSize { requests: size.requests.or(by_default), ..size }, confirm, ..self }
    }

    pub(super) fn check(&self) -> Result<(), LoadSearchError> {
        if !self.slo.goals.iter().any(Goal::breaks_under_load) {
            return Err(LoadSearchError::NothingBreaks(self.slo.to_string()));
        }
        if self.most_levels < 3 {
            return Err(LoadSearchError::TooFewLevels(self.most_levels));
        }
        let (range, what, right) = match self.over {
            LoadKind::Rate => {
                (1e-9..=1e9, "a rate", "give one from 1e-9 to 1e9 requests per second")
            }
            LoadKind::Concurrency => {
                (0.0..=f64::from(u32::MAX), "a concurrency", "the highest is 4294967295")
            }
        };
        let ends = [self.from, self.to].into_iter().flatten();
        if let Some(load) = ends
            .clone()
            .filter(|load| load.is_finite() && *load > 0.0)
            .find(|load| !range.contains(load))
        {
            return Err(LoadSearchError::NoLoad { load, what, right });
        }
        let most = self.most_slots();
        if let Some(load) = ends.clone().find(|load| *load > most) {
            let right = "a level needs at least as many requests as slots; allow more requests, or \
                         give a lower load";
            return Err(LoadSearchError::NoLoad { load, what, right });
        }
        if let Some(budget) = self.budget.filter(|budget| *budget < SHORTEST_BUDGET) {
            return Err(LoadSearchError::TooLittleTime(budget));
        }
        Ok(())
    }

    /// The most requests that a level of a closed loop could have in flight: more slots than requests are never full.
    fn most_slots(&self) -> f64 {
        let requests = self.size.requests.filter(|_| self.over == LoadKind::Concurrency);
        requests.map_or(f64::INFINITY, |requests| requests.get() as f64)
    }

    /// The search itself, which begins at `start` where no range says otherwise.
    pub(super) fn search_from(&self, start: f64, most: u32) -> SearchSpec {
        let (loads, lowest, highest) = match self.over {
            LoadKind::Rate => (Loads::Any, start / 100.0, start * 100.0),
            LoadKind::Concurrency => (Loads::Whole, 1.0, self.most_slots().min(4096.0)),
        };
        let lowest = self.from.unwrap_or_else(|| lowest.min(self.to.unwrap_or(lowest)));
        let highest = self.to.unwrap_or_else(|| highest.max(10.0 * lowest).min(self.most_slots()));
        let between = SearchSpec::between(loads, lowest, highest);
        let start = match (self.from, self.to) {
            (Some(_), Some(_)) => between.start,
            (Some(from), None) => from,
            (None, _) => start.clamp(lowest.min(highest), highest),
        };
        let (tolerance, confidence) = (self.tolerance, self.confidence);
        SearchSpec { start, most, tolerance, confidence, ..between }
    }
}

/// Two hundred requests beyond a p99, a hundred beyond a p999. Near its capacity a queue takes thousands of requests to be as
/// long as it gets: of 2,000 the edge of a goal on p99 TTFT comes out several percent too high.
fn needed(slo: &Slo) -> NonZeroU64 {
    const USUAL: NonZeroU64 = NonZeroU64::new(20_000).unwrap();
    const FAR_OUT: NonZeroU64 = NonZeroU64::new(100_000).unwrap();
    let is_far_out = |statistic| matches!(statistic, Statistic::P999 | Statistic::Max);
    let far_out = slo.goals.iter().any(|goal| is_far_out(goal.statistic));
    if far_out { FAR_OUT } else { USUAL }
}
