//! A sweep as `sweep.json`.

use fizeau_metrics::Verdict;
use serde::{Serialize, Serializer};

use super::cost_json::CostJson;
use super::decision_json::{DecisionJson, Nearest, Operating};
use super::places::knee_of;
use super::repeats::RepeatsJson;
use super::sustained::SustainedJson;
use super::{Place, Profile, STAND_IN_NOTE, SweepReport, Unmeasured};
use crate::{Checklist, Engine, LatencyBasis, LevelReport, LightCurve, LoadPoint, Setup, Tail};

/// The file as it is written: the schema's names in the schema's order.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Sweep<'a> {
    #[cfg_attr(feature = "schema", schemars(extend("const" = "fizeau.sweep/1")))]
    schema: &'static str,
    version: &'static str,
    setup: &'a Setup,
    verdict: Verdict,
    slo: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slo_reason: Option<&'static str>,
    operating_point: Option<Operating<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operating_point_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operating_point_nearest: Option<Nearest<'a>>,
    /// What a million output tokens take there, and cost.
    operating_cost: Option<CostJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operating_cost_reason: Option<String>,
    /// What is put first where several levels keep the goals.
    profile: &'a Profile,
    /// The load to run at, for each kind of load and both ends of the goals.
    decisions: Vec<DecisionJson<'a>>,
    frontier: Vec<OnFrontier>,
    knee: Option<KneeJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    knee_reason: Option<&'static str>,
    /// What the hardware could do with these requests, by requests in flight.
    speed_of_light_curve: Option<&'a LightCurve>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed_of_light_curve_reason: Option<&'static str>,
    checklist: Checklist,
    levels: Vec<Level<'a>>,
    /// Loads that were planned and of which there is nothing.
    unmeasured: &'a [Unmeasured],
    /// Loads that were measured more than once.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    repeats: Vec<RepeatsJson<'a>>,
    /// The run at the operating point, after all levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    sustained: Option<SustainedJson<'a>>,
    notes: Vec<String>,
}

/// Where more load stops paying.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Knee"))]
struct KneeJson {
    level: usize,
    load: Option<LoadPoint>,
    beyond: usize,
    requests_gain: f64,
    e2el_factor: f64,
}

/// A level of the frontier, with the two figures that put it there.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct OnFrontier {
    level: usize,
    load: LoadPoint,
    requests_per_s: f64,
    e2el_ms: Option<f64>,
    latency_basis: Option<LatencyBasis>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SweepLevel"))]
struct Level<'a> {
    on_frontier: bool,
    dominated_by: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dominated_by_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out_reason: Option<&'a str>,
    folder: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder_reason: Option<&'static str>,
    #[serde(flatten)]
    level: &'a LevelReport,
}

#[cfg(feature = "schema")]
fizeau_core::written_as!(SweepReport, Sweep<'static>);

impl Serialize for SweepReport {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let load = |level: usize| self.levels.get(level).map(|level| level.load);
        let knee = knee_of(&self.levels);
        let point = self.operating_point();
        let operating_point = self.operating_json(point);
        let (operating_cost, operating_cost_reason) = self.cost_json();
        let sweep = Sweep {
            schema: "fizeau.sweep/1",
            version: env!("CARGO_PKG_VERSION"),
            setup: &self.setup,
            verdict: self.verdict(),
            slo: self.slo.as_ref().map(ToString::to_string),
            slo_reason: self.slo.is_none().then_some("no goal was given"),
            operating_point_reason: operating_point.is_none().then(|| self.no_point(point)),
            operating_point_nearest: self.nearest_json(point),
            operating_point,
            operating_cost,
            operating_cost_reason,
            profile: &self.profile,
            decisions: self.decisions_json(),
            frontier: self.frontier_entries(),
            knee: knee.map(|knee| KneeJson {
                level: knee.at,
                load: load(knee.at),
                beyond: knee.beyond,
                requests_gain: knee.gain,
                e2el_factor: knee.cost,
            }),
            knee_reason: knee.is_none().then(|| no_knee(&self.places)),
            speed_of_light_curve: self.curve(),
            speed_of_light_curve_reason: self
                .curve()
                .is_none()
                .then_some("no speed of light is known: see the levels"),
            checklist: self.checklist(),
            levels: self.placed().map(|(level, place)| Level::new(level, place)).collect(),
            unmeasured: &self.unmeasured,
            repeats: RepeatsJson::of(self),
            sustained: SustainedJson::of(self),
            notes: self.notes(),
        };
        sweep.serialize(to)
    }
}

/// Why there is no knee.
fn no_knee(places: &[Place]) -> &'static str {
    let compared = |place: &&Place| !matches!(place, Place::LeftOut { .. });
    if places.iter().filter(compared).count() < 2 {
        "fewer than two levels can be compared"
    } else {
        "at no level does more load cost latency without giving throughput"
    }
}

impl<'a> Level<'a> {
    fn new(level: &'a LevelReport, place: &'a Place) -> Self {
        let (dominated_by, left_out_reason) = match place {
            Place::Frontier => (None, None),
            Place::Dominated { by } => (Some(*by), None),
            Place::LeftOut { reason } => (None, Some(reason.as_str())),
        };
        let dominated_by_reason = match place {
            Place::Frontier => Some("no level dominates it"),
            Place::Dominated { .. } => None,
            Place::LeftOut { .. } => Some("it is compared with no level"),
        };
        Self {
            on_frontier: *place == Place::Frontier,
            dominated_by,
            dominated_by_reason,
            left_out_reason,
            folder: level.folder.as_deref(),
            folder_reason: level.folder.is_none().then_some("no folder was written"),
            level,
        }
    }
}

impl SweepReport {
    /// The content of `sweep.json`, indented, with a newline at its end.
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for these types.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    fn frontier_entries(&self) -> Vec<OnFrontier> {
        let entry = |level: usize| {
            let report = self.levels.get(level)?;
            let tail = Tail::of(&report.summary.metrics.e2el);
            Some(OnFrontier {
                level,
                load: report.load,
                requests_per_s: report.summary.throughput.requests_per_s.get(),
                e2el_ms: tail.map(|tail| tail.ms()),
                latency_basis: tail.map(|tail| tail.basis),
            })
        };
        self.frontier().into_iter().filter_map(entry).collect()
    }

    /// What a reader of the file must know beside the figures.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Engine::Simulated { description } = &self.setup.engine {
            notes.push(format!("The engine was simulated: {description}"));
        }
        if self.has_stand_in() {
            notes.push(format!("latency_basis max: {STAND_IN_NOTE}"));
        }
        notes
    }
}
