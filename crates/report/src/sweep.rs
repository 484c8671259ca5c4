//! A sweep's result: levels, the frontier among them, and the one to run at.

mod client;
mod decided;
mod decision;
mod decision_json;
mod goals;
mod json;
pub(crate) mod lacking;
mod maximum;
mod operating;
mod places;
mod profile;
mod repeats;
mod sustained;
mod unmeasured;
mod until;

use std::collections::BTreeMap;

use fizeau_core::FailureClass;
use fizeau_metrics::{Slo, Verdict};
use fizeau_pareto::Knee;

pub use decision::{Decision, Within};
pub(crate) use goals::results;
pub use goals::{GoalResult, StandIn};
pub use maximum::Maximum;
pub use operating::{OperatingPoint, Why};
pub use places::Place;
pub use profile::{Aim, Profile};
pub use repeats::Repeats;
pub(crate) use repeats::{HEADS, REPEATS_NOTE};
pub use sustained::Sustained;
pub use unmeasured::Unmeasured;

use crate::words::listed;
use crate::{Checklist, LatencyBasis, LevelReport, LightCurve, LoadPoint, Setup, Tail};

/// The result of a sweep over levels of load.
///
/// The frontier is of request throughput (more is better) against the 99th percentile of end-to-end latency
/// (less is better). Where a level has too few requests for that percentile, the greatest latency seen stands
/// in for it and is marked. Levels that are partial, invalid or without a completed request are compared with
/// nothing.
///
/// It serializes as `sweep.json` (schema `fizeau.sweep/1`).
#[derive(Debug, Clone, PartialEq)]
pub struct SweepReport {
    setup: Setup,
    levels: Vec<LevelReport>,
    slo: Option<Slo>,
    places: Vec<Place>,
    unmeasured: Vec<Unmeasured>,
    repeats: Vec<Repeats>,
    sustained: Option<Box<Sustained>>,
    profile: Profile,
    decisions: Vec<Decision>,
    curve: Option<LightCurve>,
}

impl SweepReport {
    /// The result of `levels`, given in the order in which they are to be shown. Without an `slo` there is no
    /// operating point.
    #[must_use]
    pub fn new(setup: Setup, levels: Vec<LevelReport>, slo: Option<Slo>) -> Self {
        let places = places::places(&levels);
        let report = Self {
            setup,
            levels,
            slo,
            places,
            unmeasured: Vec::new(),
            repeats: Vec::new(),
            sustained: None,
            profile: Profile::GENERAL,
            decisions: Vec::new(),
            curve: None,
        };
        report.with_profile(Profile::GENERAL)
    }

    /// The same, with something else put first where several levels keep the goals.
    #[must_use]
    pub fn with_profile(self, profile: Profile) -> Self {
        let goals = self.slo.as_ref();
        let decisions = goals.map(|slo| decision::decide(&self.levels, slo, &profile));
        Self { profile, decisions: decisions.unwrap_or_default(), ..self }
    }

    /// The same, naming the loads that were planned and never measured.
    #[must_use]
    pub fn with_unmeasured(self, unmeasured: Vec<Unmeasured>) -> Self {
        Self { unmeasured, ..self }
    }

    /// The same, with what the hardware could do with these requests.
    #[must_use]
    pub fn with_curve(self, curve: Option<LightCurve>) -> Self {
        Self { curve, ..self }
    }

    /// What the hardware could do with these requests; none where model or device are not known.
    #[must_use]
    pub const fn curve(&self) -> Option<&LightCurve> {
        self.curve.as_ref()
    }

    /// The loads that were planned and never measured.
    #[must_use]
    pub fn unmeasured(&self) -> &[Unmeasured] {
        &self.unmeasured
    }

    /// What was run.
    #[must_use]
    pub const fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The levels, in the order given.
    #[must_use]
    pub fn levels(&self) -> &[LevelReport] {
        &self.levels
    }

    /// What the sweep is held against before it is believed.
    #[must_use]
    pub fn checklist(&self) -> Checklist {
        Checklist::of(&self.setup, &self.levels)
    }

    /// How each level stands to the others, in the same order.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// The goals, if there were any.
    #[must_use]
    pub const fn slo(&self) -> Option<&Slo> {
        self.slo.as_ref()
    }

    /// The indices of the levels on the frontier, in the order given.
    #[must_use]
    pub fn frontier(&self) -> Vec<usize> {
        let on_frontier = |&i: &usize| self.places.get(i) == Some(&Place::Frontier);
        (0..self.levels.len()).filter(on_frontier).collect()
    }

    /// What is put first where several levels keep the goals.
    #[must_use]
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What the sweep says of the load to run at, for each kind of load that was swept, rates first; nothing without goals.
    #[must_use]
    pub fn decisions(&self) -> &[Decision] {
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

    /// Where more load stops paying, in words; none if every level pays. Means something only where the levels are
    /// given in order of rising load.
    #[must_use]
    pub fn knee(&self) -> Option<String> {
        let knee = places::knee_of(&self.levels)?;
        let load = |i: usize| self.levels.get(i).map(|level| level.load);
        let (at, next) = (load(knee.at)?, load(knee.beyond)?);
        Some(format!(
            "{}: {next} gives {:+.1} % requests/s for {:.1} times the {}",
            at.words(),
            100.0 * knee.gain,
            knee.cost,
            self.tail_of_knee(knee)
        ))
    }

    /// Which latencies a knee was seen in.
    fn tail_of_knee(&self, knee: Knee) -> &'static str {
        use LatencyBasis::{Max, P99};
        let basis = |i: usize| {
            let level = self.levels.get(i)?;
            Tail::of(&level.summary.metrics.e2el).map(|tail| tail.basis)
        };
        match (basis(knee.at), basis(knee.beyond)) {
            (Some(Max), Some(Max)) => "greatest E2EL",
            (Some(P99), Some(Max)) => "tail E2EL (a p99 against the greatest)",
            (Some(Max), Some(P99)) => "tail E2EL (the greatest against a p99)",
            _ => "p99 E2EL",
        }
    }

    /// Whether the frontier compares a greatest latency, in place of a 99th percentile, with anything.
    pub(crate) fn compares_stand_ins(&self) -> bool {
        let compared = self.placed().filter(|(_, place)| !matches!(place, Place::LeftOut { .. }));
        let mut tails = compared.filter_map(|(level, _)| Tail::of(&level.summary.metrics.e2el));
        tails.any(|tail| tail.basis == LatencyBasis::Max)
    }

    /// The worst verdict of all levels; invalid if there is no level, since nothing was shown.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let verdicts = self.levels.iter().map(|level| level.validity.verdict);
        verdicts.max().unwrap_or(Verdict::Invalid)
    }

    /// The indices of the levels, those of each kind of load by themselves.
    pub(crate) fn kinds(&self) -> Vec<Vec<usize>> {
        let mut kinds: Vec<(LoadPoint, Vec<usize>)> = Vec::new();
        for (i, level) in self.levels.iter().enumerate() {
            match kinds.iter_mut().find(|(kind, _)| kind.same_kind(level.load)) {
                Some((_, levels)) => levels.push(i),
                None => kinds.push((level.load, vec![i])),
            }
        }
        // Without a level there is a table all the same, of which only the heads are shown.
        if kinds.is_empty() { vec![Vec::new()] } else { kinds.into_iter().map(|k| k.1).collect() }
    }

    /// Whether it has both closed and open loops.
    pub(crate) fn is_mixed(&self) -> bool {
        self.kinds().len() > 1
    }

    /// A load in a list: the number alone, but for a rate beside concurrencies, `12.5/s`.
    pub(crate) fn label(&self, load: LoadPoint) -> String {
        match load {
            LoadPoint::Rate(_) if self.is_mixed() => format!("{load}/s"),
            _ => load.to_string(),
        }
    }

    /// The load of the level with this index, in a list.
    pub(crate) fn label_of(&self, level: usize) -> String {
        self.levels.get(level).map_or_else(String::new, |level| self.label(level.load))
    }

    /// Each level with its place.
    pub(crate) fn placed(&self) -> impl Iterator<Item = (&LevelReport, &Place)> {
        self.levels.iter().zip(&self.places)
    }

    /// The levels that are compared with one another.
    pub(crate) fn compared(&self) -> impl Iterator<Item = &LevelReport> {
        let compared =
            |(_, place): &(&LevelReport, &Place)| !matches!(place, Place::LeftOut { .. });
        self.placed().filter(compared).map(|placed| placed.0)
    }

    /// Every reason against a level, each text once, with the loads of the levels that it applies to. Of what was measured
    /// beyond the speed of light, that which is furthest beyond speaks for all.
    pub(crate) fn reasons(&self) -> Vec<(Verdict, &str, Vec<String>)> {
        let mut all: Vec<(Verdict, &str, Vec<String>)> = Vec::new();
        let beyond = self.beyond_light();
        for level in &self.levels {
            let load = self.label(level.load);
            for reason in &level.validity.reasons {
                let text = match beyond {
                    Some(furthest) if level.is_of_light(reason) => furthest,
                    _ => reason.text.as_str(),
                };
                let key = (reason.verdict, text);
                match all.iter_mut().find(|known| (known.0, known.1) == key) {
                    Some(known) if known.2.contains(&load) => {}
                    Some(known) => known.2.push(load.clone()),
                    None => all.push((key.0, key.1, vec![load.clone()])),
                }
            }
        }
        // The gravest first; reasons of one weight keep their order.
        all.sort_by_key(|reason| std::cmp::Reverse(reason.0));
        all
    }

    /// The reason against the level that is furthest beyond the speed of light; none if none is.
    fn beyond_light(&self) -> Option<&str> {
        let times = |level: &LevelReport| level.speed_of_light.excess().map(|excess| excess.times);
        let beyond = self.levels.iter().filter_map(|level| Some((times(level)?, level)));
        let (_, furthest) = beyond.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let mut reasons = furthest.validity.reasons.iter();
        reasons.find(|reason| furthest.is_of_light(reason)).map(|reason| reason.text.as_str())
    }

    /// What could not be checked, and what else is worth knowing: each note once.
    pub(crate) fn level_notes(&self) -> Vec<&str> {
        let mut notes: Vec<&str> = Vec::new();
        for note in self.levels.iter().flat_map(|level| &level.validity.notes) {
            if !notes.contains(&note.as_str()) {
                notes.push(note);
            }
        }
        notes
    }

    /// Each class of failure, with the loads of the levels that had one.
    pub(crate) fn failures(&self) -> Vec<String> {
        let mut all: BTreeMap<FailureClass, Vec<String>> = BTreeMap::new();
        for level in &self.levels {
            for class in level.summary.requests.by_class.keys() {
                let loads = all.entry(*class).or_default();
                loads.push(self.label(level.load));
            }
        }
        let words = |(class, loads): (FailureClass, Vec<String>)| {
            format!("{class} (at {})", listed(&loads))
        };
        all.into_iter().map(words).collect()
    }

    /// Why there is no speed of light, if there is none at any level: each reason once.
    pub(crate) fn speed_of_light_reasons(&self) -> Vec<&str> {
        let mut reasons: Vec<&str> = Vec::new();
        for reason in self.levels.iter().filter_map(|level| level.speed_of_light.reason()) {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons
    }

    /// Whether the greatest value stands in for a 99th percentile anywhere that a table shows one.
    pub(crate) fn has_stand_in(&self) -> bool {
        let samples = self.levels.iter().flat_map(|level| {
            let metrics = &level.summary.metrics;
            [&metrics.ttft, &metrics.tpot, &metrics.e2el]
        });
        let mut tails = samples.filter_map(Tail::of);
        tails.any(|tail| tail.basis == LatencyBasis::Max)
    }
}

/// What the mark `*` means, wherever it stands.
pub(crate) const STAND_IN_NOTE: &str =
    "fewer than 100 values: the greatest seen, since a p99 needs 100";

/// What the mark `!` means, wherever it stands.
pub(crate) const SATURATED_NOTE: &str =
    "saturated: more was sent than served, so that latencies depend on how long the level ran";
