//! A sweep's result: levels, the frontier among them, and the one to run at.

mod cost;
mod decision;
mod document;
mod ending;
mod frontier_positions;
mod maximum;
mod operating;
mod profile;
mod repeats;
mod searched;
mod sustained;
mod unmeasured;
pub(crate) mod unmet_goals;
mod verdict;

use fizeau_core::LevelLoad;
use fizeau_metrics::{ClientNeed, Goal, Interval, Slo, Thresholds, Verdict};
use fizeau_pareto::Knee;
use fizeau_roofline::HourlyRate;

pub use cost::{CostFigure, NoTokenCost, TokenCost};
pub use decision::{GoalDecision, OperatingDecision};
pub(crate) use document::SWEEP;
pub use document::{SweepDocument, SweptLevelDocument};
pub use ending::SweepEnding;
pub use frontier_positions::FrontierPosition;
use frontier_positions::LoadRate;
pub use maximum::HighestLoad;
pub use operating::{OperatingChoiceReason, OperatingPoint};
pub use profile::{Profile, ProfileAim, ProfileChoice};
pub use repeats::{LoadRepeats, MeanOverRuns, RangeOverRuns};
pub use sustained::SustainedRun;
pub use unmeasured::Unmeasured;

use crate::goal::{GoalResult, GoalSource};
use crate::text::{listed, number};
use crate::{
    Checklist, EngineRecord, ImportUnknowns, LatencyBasis, LevelDetail, LevelReport, RunSetup,
    SpeedOfLightCurve, TailLatency, UnknownFact, UntilPrecise,
};

/// The result of a sweep over levels of load.
///
/// The frontier is of request throughput (more is better) against the 99th percentile of end-to-end latency
/// (less is better). Where a level has too few requests for that percentile, the greatest latency seen stands
/// in for it and is marked. Levels that are partial, invalid or without a completed request are compared with
/// nothing.
///
/// A [`SweepDocument`] is made of it, which is `sweep.json`.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepReport {
    setup: RunSetup,
    levels: Vec<LevelReport>,
    slo: Option<Slo>,
    goal_source: GoalSource,
    places: Vec<FrontierPosition>,
    unmeasured: Vec<Unmeasured>,
    repeats: Vec<LoadRepeats>,
    sustained: Option<Box<SustainedRun>>,
    profile: Profile,
    decisions: Vec<OperatingDecision>,
    curve: Option<SpeedOfLightCurve>,
    price: Option<HourlyRate>,
    ending: SweepEnding,
    /// The load that a search confirmed.
    answer: Option<LevelLoad>,
}

impl SweepReport {
    /// What the client of the level that pressed it hardest would need; none where all levels kept below `limits`.
    #[must_use]
    pub fn client_need(&self, limits: &Thresholds) -> Option<ClientNeed> {
        let needs = self.levels.iter().filter_map(|of| {
            let clients = of.shards.as_ref().map_or(1, |shards| shards.clients());
            ClientNeed::of(&of.summary, &of.client, clients, limits)
        });
        needs.max_by_key(|need| need.threads)
    }

    /// The result of `levels`, given in the order in which they are to be shown. Without an `slo` there is no
    /// operating point.
    #[must_use]
    pub fn new(setup: RunSetup, levels: Vec<LevelReport>, slo: Option<Slo>) -> Self {
        let places = frontier_positions::places(&levels);
        let report = Self {
            setup,
            levels,
            slo,
            goal_source: GoalSource::Given,
            places,
            unmeasured: Vec::new(),
            repeats: Vec::new(),
            sustained: None,
            profile: Profile::GENERAL,
            decisions: Vec::new(),
            curve: None,
            price: None,
            ending: SweepEnding::Complete,
            answer: None,
        };
        report.with_profile(Profile::GENERAL)
    }

    /// The same, with something else put first where several levels keep the goals.
    #[must_use]
    pub fn with_profile(self, profile: Profile) -> Self {
        let goals = self.slo.as_ref();
        let decisions = goals.map(|slo| decision::decide(self.runs(), slo, &profile));
        Self { profile, decisions: decisions.unwrap_or_default(), ..self }
    }

    const fn runs(&self) -> maximum::Runs<'_> {
        let (levels, repeats) = (self.levels.as_slice(), self.repeats.as_slice());
        maximum::Runs { levels, repeats, answer: self.answer }
    }

    /// The same, naming the loads that were planned and of which there is nothing.
    #[must_use]
    pub fn with_unmeasured(self, unmeasured: Vec<Unmeasured>) -> Self {
        Self { unmeasured, ..self }
    }

    /// The same, saying how it came to its end.
    #[must_use]
    pub fn with_ending(self, ending: SweepEnding) -> Self {
        Self { ending, ..self }
    }

    /// How it came to its end.
    #[must_use]
    pub const fn ending(&self) -> SweepEnding {
        self.ending
    }

    /// The same, saying whose its goals are.
    #[must_use]
    pub fn with_goal_source(self, goal_source: GoalSource) -> Self {
        Self { goal_source, ..self }
    }

    /// The same, with what the hardware could do with these requests.
    #[must_use]
    pub fn with_curve(self, curve: Option<SpeedOfLightCurve>) -> Self {
        Self { curve, ..self }
    }

    /// The same, with what `read` gives of the tapes of each level that has no [detail](LevelReport::detail).
    ///
    /// # Errors
    /// The first of `read`.
    pub fn with_details<E>(
        mut self,
        mut read: impl FnMut(&LevelReport) -> Result<Option<LevelDetail>, E>,
    ) -> Result<Self, E> {
        for level in self.levels.iter_mut().filter(|level| level.detail.is_none()) {
            level.detail = read(level)?.map(Box::new);
        }
        Ok(self)
    }

    /// The same, with what an hour of one device costs.
    #[must_use]
    pub fn with_price(self, price: Option<HourlyRate>) -> Self {
        Self { price, ..self }
    }

    /// What an hour of one device costs; none where it was not given.
    #[must_use]
    pub const fn price(&self) -> Option<&HourlyRate> {
        self.price.as_ref()
    }

    /// How many devices it took; none where that is not known.
    #[must_use]
    pub fn devices(&self) -> Option<u64> {
        self.curve.as_ref().map(SpeedOfLightCurve::devices)
    }

    /// What was measured, in one line: model, hardware, engine, as far as they are known.
    #[must_use]
    pub fn title(&self) -> String {
        let setup = &self.setup;
        let engine = match &setup.engine {
            EngineRecord::Simulated { .. } => Some("simulated"),
            EngineRecord::Remote { description } => description.as_deref(),
        };
        let parts = [Some(setup.endpoint.model.as_str()), setup.hardware.as_deref(), engine];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    /// What the hardware could do with these requests; none where model or device are not known.
    #[must_use]
    pub const fn curve(&self) -> Option<&SpeedOfLightCurve> {
        self.curve.as_ref()
    }

    /// The loads that were planned and of which there is nothing.
    #[must_use]
    pub fn unmeasured(&self) -> &[Unmeasured] {
        &self.unmeasured
    }

    /// What was run.
    #[must_use]
    pub const fn setup(&self) -> &RunSetup {
        &self.setup
    }

    /// The levels, in the order given.
    #[must_use]
    pub fn levels(&self) -> &[LevelReport] {
        &self.levels
    }

    /// The checklist of what the sweep must show before it is believed.
    #[must_use]
    pub fn checklist(&self) -> Checklist {
        Checklist::of(&self.setup, &self.levels)
    }

    /// How each level stands to the others, in the same order.
    #[must_use]
    pub fn positions(&self) -> &[FrontierPosition] {
        &self.places
    }

    /// The goals, if there were any.
    #[must_use]
    pub const fn slo(&self) -> Option<&Slo> {
        self.slo.as_ref()
    }

    /// That the goals were assumed, and which; nothing where somebody gave them, or there are none.
    #[must_use]
    pub fn assumed_goals(&self) -> Option<String> {
        self.goal_source.assumed(self.slo.as_ref()?)
    }

    /// The indices of the levels on the frontier, in the order given.
    #[must_use]
    pub fn frontier(&self) -> Vec<usize> {
        let on_frontier = |&i: &usize| self.places.get(i) == Some(&FrontierPosition::Frontier);
        (0..self.levels.len()).filter(on_frontier).collect()
    }

    /// What is put first where several levels keep the goals.
    #[must_use]
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What the sweep says of the load to run at, for each kind of load that was swept, rates first; nothing without goals.
    #[must_use]
    pub fn decisions(&self) -> &[OperatingDecision] {
        &self.decisions
    }

    /// The level to run at: that of the first decision, at the loose end of the goals where only that is met.
    #[must_use]
    pub fn operating_point(&self) -> &OperatingPoint {
        static NO_GOAL: OperatingPoint = OperatingPoint::NoGoal;
        static NO_LEVEL: OperatingPoint = OperatingPoint::NoLevel;
        match self.decisions.first() {
            Some(decision) => &decision.foremost().point,
            None if self.slo.is_none() => &NO_GOAL,
            None => &NO_LEVEL,
        }
    }

    /// The level at the [operating point](Self::operating_point); none where no level keeps the goals.
    #[must_use]
    pub fn operating_level(&self) -> Option<&LevelReport> {
        self.levels.get(self.operating_point().level()?)
    }

    /// Where more load stops paying, in words; none if every level pays. Means something only where the levels are
    /// given in order of rising load.
    #[must_use]
    pub fn knee(&self) -> Option<String> {
        let knee = frontier_positions::knee_of(&self.levels)?;
        let load = |i: usize| self.levels.get(i).map(|level| level.load);
        let (at, next) = (load(knee.at)?, load(knee.beyond)?);
        let cause =
            self.cause_of(knee).map_or_else(String::new, |limit| format!("; there {limit}"));
        Some(format!(
            "{at}: {} gives {:+.1} % requests/s for {:.1} times the {}{cause}",
            next.number(),
            100.0 * knee.gain,
            knee.cost,
            self.tail_of_knee(knee)
        ))
    }

    /// The same, where the server's counters name its cause.
    #[must_use]
    pub fn explained_knee(&self) -> Option<String> {
        self.cause_of(frontier_positions::knee_of(&self.levels)?)?;
        self.knee()
    }

    /// What limited the server beyond `knee`, as it says.
    fn cause_of(&self, knee: Knee) -> Option<String> {
        self.levels.get(knee.beyond)?.telemetry.as_ref()?.limit()
    }

    /// What is to be known of levels of a closed loop that did less than both a lower and a higher load, a sentence each. A load that
    /// was measured more than once counts by the mean of its runs.
    #[must_use]
    pub fn dips(&self) -> Vec<String> {
        let words = |of: LoadRate| format!("{} ({} requests/s)", of.load, number(of.rate));
        let sentence = |of: [LoadRate; 3]| {
            let [one, dip, next] = of.map(words);
            format!(
                "{dip} gave fewer requests/s than both {one} and {next}; measure it again, and if \
                 the result repeats, look at what the engine does at that batch size"
            )
        };
        let dips = frontier_positions::dips_of(&self.levels, &self.repeats);
        dips.into_iter().map(sentence).collect()
    }

    /// Which loads of a closed loop were never in flight, and why, in a sentence; none where all were, or one level is all there is.
    #[must_use]
    pub fn never_full_words(&self) -> Option<String> {
        let several = self.levels.len() > 1;
        let empty = self.compared().filter(|level| several && level.is_never_full());
        let (loads, sent): (Vec<String>, Vec<u64>) =
            empty.map(|level| (level.load.number(), level.summary.requests.sent)).unzip();
        let most = sent.into_iter().max()?;
        let was = if loads.len() == 1 { "was" } else { "were" };
        let requests = if most == 1 { "1 request was" } else { &format!("{most} requests were") };
        Some(format!(
            "Concurrency {} {was} never reached, since {requests} sent there at most: it says \
             nothing of loads above {most}; send at least as many requests as slots",
            listed(&loads)
        ))
    }

    /// Which latencies a knee was seen in.
    fn tail_of_knee(&self, knee: Knee) -> &'static str {
        use LatencyBasis::{Max, P99};
        let basis = |i: usize| {
            let level = self.levels.get(i)?;
            TailLatency::of(&level.summary.metrics.e2el).map(|tail| tail.basis)
        };
        match (basis(knee.at), basis(knee.beyond)) {
            (Some(Max), Some(Max)) => "greatest E2EL",
            (Some(P99), Some(Max)) => "tail E2EL (a p99 against the greatest)",
            (Some(Max), Some(P99)) => "tail E2EL (the greatest against a p99)",
            _ => "p99 E2EL",
        }
    }

    /// Whether the frontier compares a greatest latency, in place of a 99th percentile, with anything.
    #[must_use]
    pub fn compares_stand_ins(&self) -> bool {
        let compared = self
            .with_positions()
            .filter(|(_, place)| !matches!(place, FrontierPosition::LeftOut { .. }));
        let mut tails =
            compared.filter_map(|(level, _)| TailLatency::of(&level.summary.metrics.e2el));
        tails.any(|tail| tail.basis == LatencyBasis::Max)
    }

    /// Whether each level that was measured knows well enough what it was to find out. Where nothing was asked for, it does.
    #[must_use]
    pub fn is_precise(&self) -> bool {
        !self.levels().iter().filter_map(|level| level.until.as_ref()).any(UntilPrecise::is_missed)
    }

    /// Whether all levels were simulated in virtual time, and nothing was measured.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        !self.levels.is_empty() && self.levels.iter().all(LevelReport::is_simulated)
    }

    /// Whether goals were asked for and no level meets them, not even at their loose ends.
    #[must_use]
    pub fn misses_goals(&self) -> bool {
        self.slo.is_some() && self.operating_point().level().is_none()
    }

    /// Whether the goals of a run of one level are missed, or not decided.
    #[must_use]
    pub fn leaves_goals_open(&self) -> bool {
        self.misses_goals() || self.requests_needed().is_some()
    }

    /// Whether what was measured is to be believed and knows what it was to find out, and a load keeps the goals that somebody asked for (at
    /// their loose end, and where it was measured for long).
    #[must_use]
    pub fn passes(&self) -> bool {
        let is_asked = self.slo.is_some() && self.goal_source == GoalSource::Given;
        let holds = || self.sustained().is_none_or(SustainedRun::holds);
        let is_met = || self.decisions().iter().any(OperatingDecision::is_met) && holds();
        self.is_sound() && (!is_asked || is_met())
    }

    /// The same of a run of one level alone, whose goals have to be decided too.
    #[must_use]
    pub fn passes_alone(&self) -> bool {
        self.is_sound() && !self.leaves_goals_open()
    }

    fn is_sound(&self) -> bool {
        self.verdict() != Verdict::Invalid && self.is_precise()
    }

    /// About how many requests decide the goals of a run of one level, where a percentile takes more values than there are and their
    /// greatest keeps its limit: more than values where not each request has one, as those that failed.
    #[must_use]
    pub fn requests_needed(&self) -> Option<u64> {
        let sent = self.levels.iter().map(|level| level.summary.requests.sent).max()?;
        let goals = self.operating_point();
        goals.goals().iter().filter_map(|goal| goal.requests_needed(sent)).max()
    }

    /// How the goals came out at the operating point, or at the nearest level, each in words.
    #[must_use]
    pub fn goal_words(&self) -> Vec<String> {
        let words = match self.is_simulated() {
            true => GoalResult::words_simulated,
            false => GoalResult::words,
        };
        self.operating_point().goals().iter().map(words).collect()
    }

    /// The level to run at, in a sentence, its goals apart.
    #[must_use]
    pub fn operating_words(&self) -> String {
        let words = self.operating_point().words(self.levels(), &self.profile);
        match self.decisions.first() {
            Some(decision) if decision.is_loose_only() => {
                format!("{words}; met at the loose end of the goals only")
            }
            _ => words,
        }
    }

    /// The interval of what a goal is about at a level, where it has one.
    #[must_use]
    pub fn goal_interval(&self, goal: &Goal, level: usize) -> Option<Interval<f64>> {
        self.runs().result(goal, self.levels().get(level)?).outcome.interval
    }

    /// What is not known of some level since another tool measured it, with the reasons, each once.
    #[must_use]
    pub fn not_known(&self) -> Vec<&UnknownFact> {
        let levels = self.levels().iter().filter_map(|level| level.unseen.as_deref());
        fizeau_core::distinct(levels.flat_map(ImportUnknowns::not_known))
    }

    /// Who measured, where another tool did each level.
    #[must_use]
    pub fn measured_by(&self) -> Option<&str> {
        let all = self.levels().iter();
        let tools = all.map(|level| level.unseen.as_deref().map(ImportUnknowns::tool));
        tools.reduce(|first, tool| first.filter(|_| tool.is_some())).flatten()
    }

    /// Each level with its position.
    pub fn with_positions(&self) -> impl Iterator<Item = (&LevelReport, &FrontierPosition)> {
        self.levels.iter().zip(&self.places)
    }

    /// The levels that are compared with one another.
    pub fn compared(&self) -> impl Iterator<Item = &LevelReport> {
        let compared = |(_, place): &(&LevelReport, &FrontierPosition)| {
            !matches!(place, FrontierPosition::LeftOut { .. })
        };
        self.with_positions().filter(compared).map(|placed| placed.0)
    }

    /// Whether the greatest value stands in for a 99th percentile anywhere that a table shows one.
    #[must_use]
    pub fn has_stand_in(&self) -> bool {
        let samples = self.levels.iter().flat_map(|level| {
            let metrics = &level.summary.metrics;
            [&metrics.ttft, &metrics.tpot, &metrics.e2el]
        });
        let mut tails = samples.filter_map(TailLatency::of);
        tails.any(|tail| tail.basis == LatencyBasis::Max)
    }
}

/// What the mark `*` means, wherever it stands.
pub const STAND_IN_NOTE: &str = "fewer than 100 values: the greatest seen, since a p99 needs 100";
