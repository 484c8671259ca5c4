//! A search: the highest load within goals, from levels that are measured one after another.

mod judge;
mod run;
mod spec;
mod time;

use fizeau_core::{LevelLoad, LoadKind, Millis, Nanos};
use fizeau_metrics::{Goal, LevelSummary};
use fizeau_pareto::{
    EdgeSide, Evaluation, FigureEstimate, LoadOutcome, NextLoad, Search, SearchEnding, SearchResult,
};
use fizeau_record::{SearchJudgement, SearchPurpose};

use crate::sweep::MOST_WARMUPS;
use crate::{LevelSize, LevelSpec};

use time::SearchTime;

pub use run::{PreparedSearch, SearchOutcome, SearchSettings};
pub use spec::{LoadSearchError, LoadSearchSpec};

/// A search under way: it says which level to measure next, and is told what came of it. Whoever drives it measures with
/// [`SweepRunner::level`](crate::SweepRunner::level).
///
/// Which loads are tried is [`fizeau_pareto::Search`]'s doing. A rate begins at what a closed loop of
/// [`LoadSearchSpec::FIRST`] slots completes, where no range is given, so that a slow and a fast endpoint take equally few
/// levels; that level counts among the most.
///
/// ```
/// use fizeau_core::{LevelLoad, LoadKind, PerSec};
/// use fizeau_experiment::{LoadSearch, LoadSearchSpec, SearchStep};
///
/// let goals = "p99 ttft<500ms".parse()?;
/// let mut spec = LoadSearchSpec::new(LoadKind::Rate, goals);
/// spec.from = Some(2.0);
/// let search = LoadSearch::new(spec)?;
/// let SearchStep::Measure(ask) = search.next() else { panic!("nothing to measure") };
/// assert_eq!(ask.load, LevelLoad::Rate(PerSec::new(2.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct LoadSearch {
    spec: LoadSearchSpec,
    /// None before the closed loop that it begins with.
    search: Option<Search>,
    trials: Vec<SearchTrial>,
    confirmation: Confirmation,
    /// None where it takes as long as it takes.
    time: Option<SearchTime>,
    /// The most requests per second that any level completed.
    served: f64,
    /// The shortest time that requests of a level took in the mean.
    quickest: Option<Millis>,
}

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SearchStep {
    /// Measure this level.
    Measure(LevelSpec),
    /// Measure this one, at length, to see whether the goals hold where they were found to.
    Confirm(LevelSpec),
    /// Nothing.
    Done,
}

/// A level of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SearchTrial {
    /// What was measured.
    pub ask: LevelSpec,
    /// What for.
    pub purpose: SearchPurpose,
    /// On which side of the edge it lies, by itself.
    pub side: EdgeSide,
    /// Whether the goals held.
    pub judgement: SearchJudgement,
}

/// What came of the long level at the load that was found.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Confirmation {
    /// There was none: nobody asked, nothing was found, or the run was interrupted.
    #[default]
    NotRun,
    /// The goals held.
    Held {
        /// The load.
        load: f64,
        /// The lowest of the higher loads at which a long level missed them; none where the first held.
        refuted: Option<f64>,
    },
    /// They did not, at the lowest of the loads that were tried.
    Missed {
        /// That load.
        load: f64,
        /// How many long levels there were.
        missed: u32,
        /// Whether a goal that more load breaks was among those missed, so that a lower load may keep all of them.
        lower_may_hold: bool,
        /// The rate at which the last of them was served, where its queue grew to the end.
        served: Option<f64>,
    },
}

impl SearchTrial {
    /// Whether it kept the goals at a load that the search is about.
    fn is_kept(&self) -> bool {
        self.purpose == SearchPurpose::Evaluation && self.judgement == SearchJudgement::Held
    }
}

impl LoadSearch {
    /// Of nothing measured yet.
    ///
    /// # Errors
    /// If nothing can be searched so: see [`LoadSearchError`].
    pub fn new(spec: LoadSearchSpec) -> Result<Self, LoadSearchError> {
        spec.check()?;
        let search = match spec.over {
            LoadKind::Rate if spec.from.is_none() => {
                // Whether the rest is in order is known before anything is measured.
                Search::new(spec.search_from(1.0, spec.most_levels))?;
                None
            }
            LoadKind::Rate | LoadKind::Concurrency => Some(Search::new(
                spec.search_from(f64::from(LoadSearchSpec::FIRST.get()), spec.most_levels),
            )?),
        };
        let (time, confirmation) = (SearchTime::of(&spec), Confirmation::NotRun);
        Ok(Self {
            spec,
            search,
            trials: Vec::new(),
            confirmation,
            time,
            served: 0.0,
            quickest: None,
        })
    }

    /// What is to be done next. It changes nothing; the answer is the same until something is observed.
    #[must_use]
    pub fn next(&self) -> SearchStep {
        if self.is_unmeasurable() {
            return SearchStep::Done;
        }
        let Some(search) = &self.search else {
            let size = LevelSize { requests: None, ..self.spec.size };
            let size = self.in_time(first_loop(), size).unwrap_or(size);
            return SearchStep::Measure(self.ask(first_loop(), size));
        };
        let NextLoad::Evaluate { load } = search.next() else { return self.confirm(search) };
        if self.is_out_of_runs() {
            return self.confirm(search);
        }
        let load = self.spec.over.at(load);
        match self.in_time(load, self.spec.size) {
            Some(size) => SearchStep::Measure(self.ask(load, size)),
            None => self.confirm(search),
        }
    }

    /// How large a level of `load` is, where it may be as large as `size`; none if the time for levels is used up.
    fn in_time(&self, load: LevelLoad, size: LevelSize) -> Option<LevelSize> {
        let Some(time) = &self.time else { return Some(size) };
        let (expected, overload) = match load {
            // What is not served while requests are released is served afterwards.
            LevelLoad::Rate(rate) if self.served > 0.0 => (rate.get(), rate.get() / self.served),
            LevelLoad::Rate(rate) => (rate.get(), 1.0),
            LevelLoad::Concurrency(_) => (self.served, 1.0),
        };
        let is_kept = self.trials.iter().any(SearchTrial::is_kept);
        let time = if is_kept { *time } else { time.without_confirmation() };
        let time = time.of_level(self.trials.len(), Some(expected), overload)?;
        // Of a rate so low that hardly a request comes in that time nothing would be seen.
        let comes = matches!(load, LevelLoad::Concurrency(_))
            || expected * time.as_secs_f64() >= FEWEST_REQUESTS;
        if !comes {
            return None;
        }
        Some(timed(load, size, time))
    }

    /// Takes note that so much time has passed since the search began, after a level was [observed](Self::observe). Only a
    /// search with a [budget](LoadSearchSpec::budget) goes by it.
    pub fn note_elapsed(&mut self, elapsed: Nanos) {
        let last = self.trials.last();
        // How long the replies of too high a load take says nothing of the others.
        let last = last.filter(|trial| trial.judgement != SearchJudgement::Saturated);
        let released = last.and_then(|trial| trial.ask.size.time);
        self.time.iter_mut().for_each(|time| time.note(elapsed, released));
    }

    /// How much time is left of the budget; none where there is no budget.
    fn time_left(&self) -> Option<Nanos> {
        self.time.map(|time| time.left().into())
    }

    /// Takes note of the level that was asked for last.
    pub fn observe(&mut self, summary: &LevelSummary) {
        let Some((ask, purpose)) = self.asked() else { return };
        let judgement = judge::judge(&self.spec.slo, ask.load, summary, self.quickest);
        let evaluation = judge::evaluation(&self.spec.slo, ask.load, summary, judgement);
        match (purpose, &mut self.search) {
            (SearchPurpose::Evaluation, Some(search)) => search.observe(&evaluation),
            (SearchPurpose::Confirmation, _) => {
                self.note(ask.load.value(), summary, judgement, evaluation.bearing);
            }
            (SearchPurpose::Start | SearchPurpose::Evaluation, _) => {
                self.begin(&evaluation, summary)
            }
        }
        self.served = self.served.max(summary.throughput.requests_per_s.get());
        let times = [self.quickest, summary.metrics.e2el.mean].into_iter().flatten();
        self.quickest = times.min_by(|a, b| a.get().total_cmp(&b.get()));
        if let (Some(most), Some(search)) = (self.most_rate(), &mut self.search) {
            search.limit_to(most);
        }
        let side = evaluation.side(self.spec.confidence);
        self.trials.push(SearchTrial { ask, purpose, side, judgement });
    }

    /// The rate at which the requests of a level are all sent by the time that one takes: of a higher one a level shows nothing but
    /// how the server takes so many at once. None where that is no matter.
    fn most_rate(&self) -> Option<f64> {
        let requests = self.spec.size.requests.filter(|_| self.spec.over == LoadKind::Rate)?;
        let quickest = self.quickest.filter(|time| time.get() > 0.0)?;
        Some(requests.get() as f64 / (quickest.get() / 1e3))
    }

    /// Takes note that the level that was asked for last is no [evidence](fizeau_record::LevelReport::no_evidence): its load is
    /// neither kept nor missed, and is asked for again, but not for ever.
    pub fn pass_over(&mut self) {
        let Some((ask, purpose)) = self.asked() else { return };
        let (side, judgement) = (EdgeSide::Undecided, SearchJudgement::Invalid);
        self.trials.push(SearchTrial { ask, purpose, side, judgement });
    }

    /// The level that is asked for, and what for.
    fn asked(&self) -> Option<(LevelSpec, SearchPurpose)> {
        Some(match (self.next(), &self.search) {
            (SearchStep::Done, _) => return None,
            (SearchStep::Measure(ask), None) => (ask, SearchPurpose::Start),
            (SearchStep::Measure(ask), Some(_)) => (ask, SearchPurpose::Evaluation),
            (SearchStep::Confirm(ask), _) => (ask, SearchPurpose::Confirmation),
        })
    }

    /// Whether the last levels were of no use, one like the other.
    fn is_unmeasurable(&self) -> bool {
        let is_invalid = |trial: &&SearchTrial| trial.judgement == SearchJudgement::Invalid;
        self.trials.iter().rev().take_while(is_invalid).count() >= MOST_INVALID
    }

    /// Whether levels that were passed over took the place of those that the search would go on with.
    fn is_out_of_runs(&self) -> bool {
        let is_short = |trial: &&SearchTrial| trial.purpose != SearchPurpose::Confirmation;
        let short = self.trials.iter().filter(is_short).count();
        u32::try_from(short).is_ok_and(|short| short >= self.spec.most_levels)
    }

    /// The levels so far, in the order in which they were measured.
    #[must_use]
    pub fn trials(&self) -> &[SearchTrial] {
        &self.trials
    }

    /// What is known by now; of nothing evaluated yet, that it was interrupted.
    ///
    /// A long level outranks short ones: the load is one that it confirmed, and the edge lies below what it refuted. Where it
    /// refuted each load that it was tried at, there is no load.
    #[must_use]
    pub fn result(&self) -> SearchResult {
        let found = self.searched();
        let Some(edge) = found.edge else { return found };
        let (load, low, high) = match self.confirmation {
            Confirmation::NotRun => return found,
            Confirmation::Held { load, refuted } => {
                (Some(load), load, refuted.unwrap_or_else(|| edge.high()))
            }
            Confirmation::Missed { load, .. } => (None, edge.low().min(load), load),
        };
        let ending = match found.ending {
            SearchEnding::AllGood if high.is_finite() => SearchEnding::Refuted,
            ending => ending,
        };
        SearchResult { load, edge: around(edge, low, high), ending, ..found }
    }

    /// What the short levels say.
    fn searched(&self) -> SearchResult {
        let found = self.search.as_ref().map_or(SearchResult::NOTHING, Search::result);
        let next = self.search.as_ref().map_or(NextLoad::Done, Search::next);
        if found.ending == SearchEnding::BrokenOff && self.is_unmeasurable() {
            return SearchResult { ending: SearchEnding::Unmeasurable, ..found };
        }
        match next {
            NextLoad::Evaluate { .. } if self.is_out_of_runs() => {
                SearchResult { ending: SearchEnding::OutOfRuns, ..found }
            }
            NextLoad::Evaluate { load }
                if self.in_time(self.spec.over.at(load), self.spec.size).is_none() =>
            {
                SearchResult { ending: SearchEnding::OutOfTime, ..found }
            }
            NextLoad::Evaluate { .. } | NextLoad::Done => found,
        }
    }

    /// The goal that breaks first beyond the load that was found; none where no goal does.
    #[must_use]
    pub fn first_broken(&self) -> Option<Goal> {
        let mut goals = self.spec.slo.goals.iter().filter(|goal| goal.breaks_under_load());
        goals.nth(self.result().first_broken?).copied()
    }

    /// What came of the long level at the load that was found.
    #[must_use]
    pub const fn confirmation(&self) -> Confirmation {
        self.confirmation
    }

    /// What was asked.
    #[must_use]
    pub const fn spec(&self) -> &LoadSearchSpec {
        &self.spec
    }

    /// Begins at the rate that the closed loop completed, or at half of it where it missed the goals.
    fn begin(&mut self, evaluation: &Evaluation, summary: &LevelSummary) {
        let completed = summary.throughput.requests_per_s.get();
        let misses = evaluation.side(self.spec.confidence) == EdgeSide::Bad;
        let start = if misses { completed / 2.0 } else { completed };
        let start = if start > 0.0 { start } else { 1.0 };
        let most = self.spec.most_levels - 1;
        // What was asked is in order: it was tried before.
        self.search = Search::new(self.spec.search_from(start, most)).ok();
    }

    /// The long level at the load that was found, if there is one and it is still to be measured.
    fn confirm(&self, search: &Search) -> SearchStep {
        let found = self.searched();
        let is_found = matches!(
            found.ending,
            SearchEnding::Decided
                | SearchEnding::Undecided
                | SearchEnding::OutOfRuns
                | SearchEnding::OutOfTime
                | SearchEnding::AllGood
        );
        let (Some(load), Some(size), true) = (found.load, self.spec.confirm, is_found) else {
            return SearchStep::Done;
        };
        let size = match &self.time {
            None => Some(size),
            Some(time) => {
                let time = time.of_confirmation(self.confirmation == Confirmation::NotRun);
                time.map(|time| timed(self.spec.over.at(load), size, time))
            }
        };
        let Some(size) = size else { return SearchStep::Done };
        let load = match self.confirmation {
            // Where time is short, it goes to a load that kept the goals before.
            Confirmation::NotRun => self.kept_up_to(load).unwrap_or(load),
            // Again below it, by steps that double: a short level near capacity makes the edge seem too high. What a queue that grew
            // was served at is nearer to what can be kept up than any step.
            Confirmation::Missed { load: last, missed, lower_may_hold: true, served }
                if missed < MOST_LONG =>
            {
                let step = self.spec.tolerance * f64::from(1_u32 << (missed - 1));
                let low = found.edge.map_or(load, |edge| edge.low());
                let below = served.map_or(f64::INFINITY, |served| BELOW_SERVED * served);
                let below = below.min(last * (1.0 - step));
                let lower = self.kept_up_to(below).unwrap_or_else(|| search.floor(low.min(below)));
                if lower >= last {
                    return SearchStep::Done;
                }
                lower
            }
            Confirmation::Held { .. } | Confirmation::Missed { .. } => return SearchStep::Done,
        };
        SearchStep::Confirm(self.ask(self.spec.over.at(load), size))
    }

    /// Within a budget the highest load up to `load` that kept the goals; none without.
    fn kept_up_to(&self, load: f64) -> Option<f64> {
        let kept = self.trials.iter().filter(|trial| trial.is_kept());
        let loads = kept.map(|trial| trial.ask.load.value()).filter(|kept| *kept <= load);
        loads.reduce(f64::max).filter(|_| self.time.is_some())
    }

    fn note(
        &mut self,
        load: f64,
        level: &LevelSummary,
        judgement: SearchJudgement,
        bearing: LoadOutcome,
    ) {
        let (refuted, missed) = match self.confirmation {
            Confirmation::Missed { load, missed, .. } => (Some(load), missed),
            Confirmation::NotRun | Confirmation::Held { .. } => (None, 0),
        };
        let served = match bearing {
            LoadOutcome::Saturated { served } => served,
            LoadOutcome::Borne => None,
        };
        self.confirmation = match judgement {
            SearchJudgement::Held => Confirmation::Held { load, refuted },
            _ => Confirmation::Missed {
                load,
                missed: missed + 1,
                lower_may_hold: judge::lower_may_hold(&self.spec.slo, level, judgement),
                served,
            },
        };
    }

    /// A level of `load`, with the number of those before it whose folder would have the same name.
    fn ask(&self, load: LevelLoad, size: LevelSize) -> LevelSpec {
        let name = load.folder(0);
        let before = self.trials.iter().filter(|trial| trial.ask.load.folder(0) == name).count();
        LevelSpec { load, visit: u32::try_from(before).unwrap_or(u32::MAX), size }
    }
}

/// A level of a rate within a budget has room for so many requests at least.
const FEWEST_REQUESTS: f64 = 3.0;

/// After so many levels in a row that are no evidence a search gives up.
const MOST_INVALID: usize = 3;

/// After a queue that grew in a long level the next is at so much of what was served.
const BELOW_SERVED: f64 = 0.95;

/// How many long levels there are at the most.
const MOST_LONG: u32 = 3;

/// The edge within the bounds that long levels set; in the middle, by factors, where short ones put it beyond them.
fn around(edge: FigureEstimate, low: f64, high: f64) -> Option<FigureEstimate> {
    let is_within = (low..=high).contains(&edge.value());
    let value = if is_within { edge.value() } else { (low * high).sqrt().clamp(low, high) };
    FigureEstimate::new(value, low, high).ok()
}

/// `size`, of a level that takes `time`.
fn timed(load: LevelLoad, size: LevelSize, time: Nanos) -> LevelSize {
    // A tenth of its time, where the usual number of requests may take long.
    let of_rate = |rate: f64| (rate * time.as_secs_f64() / 10.0).ceil() as u64;
    let by_default = match load {
        LevelLoad::Rate(rate) => Some(of_rate(rate.get()).min(MOST_WARMUPS)),
        LevelLoad::Concurrency(_) => None,
    };
    LevelSize { time: Some(time), warmup: size.warmup.or(by_default), ..size }
}

fn first_loop() -> LevelLoad {
    LevelLoad::Concurrency(LoadSearchSpec::FIRST)
}
