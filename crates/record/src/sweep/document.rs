//! A sweep as `sweep.json`.

use fizeau_core::LevelLoad;
use fizeau_metrics::Verdict;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use super::cost::CostDocument;
use super::decision::{DecisionDocument, NearestDocument, PointDocument};
use super::frontier_positions::knee_of;
use super::profile::ProfileDocument;
use super::repeats::RepeatsDocument;
use super::sustained::SustainedDocument;
use super::{FrontierPosition, STAND_IN_NOTE, SweepEnding, SweepReport, Unmeasured};
use crate::curve::LightPlace;
use crate::{
    Checklist, EngineRecord, GoalSource, JsonError, LatencyBasis, LevelReport, RunSetup,
    SpeedOfLightCurve, SummaryDocument, TailLatency,
};

/// `sweep.json` (schema `fizeau.sweep/2`): levels side by side, and the one to run at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Sweep"))]
pub struct SweepDocument {
    #[cfg_attr(feature = "schema", schemars(extend("const" = SWEEP)))]
    #[serde(deserialize_with = "present_schema")]
    schema: String,
    pub(crate) version: String,
    /// What was run.
    pub setup: RunSetup,
    /// The worst verdict of any level.
    pub verdict: Verdict,
    /// Whether it was called off before its end; absent where it was not.
    #[serde(default, skip_serializing_if = "SweepEnding::is_complete")]
    pub ending: SweepEnding,
    /// The goals, as they are typed; null if there were none.
    pub slo: Option<String>,
    /// Why there are none, or that these were assumed since none were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    slo_reason: Option<String>,
    operating_point: Option<PointDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operating_point_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operating_point_nearest: Option<NearestDocument>,
    /// What a million output tokens take there, and cost.
    operating_cost: Option<CostDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operating_cost_reason: Option<String>,
    /// What is put first where several levels keep the goals.
    pub(crate) profile: Option<ProfileDocument>,
    /// The load to run at, for each kind of load and both ends of the goals.
    decisions: Vec<DecisionDocument>,
    frontier: Vec<OnFrontier>,
    knee: Option<KneeDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    knee_reason: Option<String>,
    /// What the hardware could do with these requests, by requests in flight.
    speed_of_light_curve: Option<Vec<LightPlace>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed_of_light_curve_reason: Option<String>,
    checklist: Checklist,
    /// The levels, in the order in which they are shown.
    pub levels: Vec<SweptLevelDocument>,
    /// Loads that were planned and of which there is nothing.
    pub unmeasured: Vec<Unmeasured>,
    /// Loads that were measured more than once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    repeats: Vec<RepeatsDocument>,
    /// The run at the operating point, after all levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    sustained: Option<SustainedDocument>,
    notes: Vec<String>,
}

/// The schema of `sweep.json`.
pub(crate) const SWEEP: &str = "fizeau.sweep/2";

/// A document of an earlier schema is read as one of the present.
fn present_schema<'de, D: Deserializer<'de>>(schema: D) -> Result<String, D::Error> {
    IgnoredAny::deserialize(schema).map(|_| SWEEP.to_owned())
}

/// Where more load stops paying.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Knee"))]
struct KneeDocument {
    level: usize,
    load: Option<LevelLoad>,
    beyond: usize,
    requests_gain: f64,
    e2el_factor: f64,
}

/// A level of the frontier, with the two figures that put it there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct OnFrontier {
    level: usize,
    load: LevelLoad,
    requests_per_s: f64,
    e2el_ms: Option<f64>,
    latency_basis: Option<LatencyBasis>,
}

/// A level, and how it stands to the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SweepLevel"))]
pub struct SweptLevelDocument {
    on_frontier: bool,
    dominated_by: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dominated_by_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out_reason: Option<String>,
    /// Its folder; null if none was written.
    pub folder: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder_reason: Option<String>,
    /// What was measured.
    #[serde(flatten)]
    pub level: SummaryDocument,
}

impl From<&SweepReport> for SweepDocument {
    fn from(report: &SweepReport) -> Self {
        let point = report.operating_point();
        let operating_point = report.point_document(point);
        let cost = report.cost_at_operating_point();
        let curve = report.curve();
        let knee = report.knee_document();
        let no_curve = || "no speed of light is known: see the levels".to_owned();
        Self {
            schema: SWEEP.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            setup: report.setup.clone(),
            verdict: report.verdict(),
            ending: report.ending(),
            slo: report.slo.as_ref().map(ToString::to_string),
            slo_reason: match report.slo {
                None => Some("no goal was given".to_owned()),
                Some(_) => report.assumed_goals(),
            },
            operating_point_reason: operating_point.is_none().then(|| report.no_point(point)),
            operating_point_nearest: report.nearest_document(point),
            operating_point,
            operating_cost_reason: cost.as_ref().err().map(ToString::to_string),
            operating_cost: cost.ok().map(|cost| CostDocument::of(&cost, report.price())),
            profile: Some(report.profile.into()),
            decisions: report.decision_documents(),
            frontier: report.frontier_entries(),
            knee_reason: knee.is_none().then(|| no_knee(&report.places).to_owned()),
            knee,
            speed_of_light_curve_reason: curve.is_none().then(no_curve),
            speed_of_light_curve: curve.map(SpeedOfLightCurve::places),
            checklist: report.checklist(),
            levels: report.with_positions().map(SweptLevelDocument::from).collect(),
            unmeasured: report.unmeasured.clone(),
            repeats: RepeatsDocument::all(report),
            sustained: SustainedDocument::of(report),
            notes: report.notes(),
        }
    }
}

impl SweepDocument {
    /// Whose the goals are: goals with a reason were assumed.
    pub(crate) const fn goal_source(&self) -> GoalSource {
        match (&self.slo, &self.slo_reason) {
            (Some(_), Some(_)) => GoalSource::Assumed,
            _ => GoalSource::Given,
        }
    }
}

/// Why there is no knee.
fn no_knee(places: &[FrontierPosition]) -> &'static str {
    let compared = |place: &&FrontierPosition| !matches!(place, FrontierPosition::LeftOut { .. });
    if places.iter().filter(compared).count() < 2 {
        "fewer than two levels can be compared"
    } else {
        "at no level does more load cost latency without giving throughput"
    }
}

impl From<(&LevelReport, &FrontierPosition)> for SweptLevelDocument {
    fn from((level, place): (&LevelReport, &FrontierPosition)) -> Self {
        let (dominated_by, dominated_by_reason, left_out_reason) = match place {
            FrontierPosition::Frontier => (None, Some("no level dominates it"), None),
            FrontierPosition::Dominated { by } => (Some(*by), None, None),
            FrontierPosition::LeftOut { reason } => {
                (None, Some("it is not compared with other levels"), Some(reason))
            }
        };
        Self {
            on_frontier: *place == FrontierPosition::Frontier,
            dominated_by,
            dominated_by_reason: dominated_by_reason.map(str::to_owned),
            left_out_reason: left_out_reason.cloned(),
            folder: level.folder.clone(),
            folder_reason: level.folder.is_none().then(|| "no folder was written".to_owned()),
            level: SummaryDocument::from(level),
        }
    }
}

impl SweepReport {
    /// The content of `sweep.json`, indented, with a newline at its end.
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for these types.
    pub fn to_json(&self) -> Result<String, JsonError> {
        JsonError::pretty(&SweepDocument::from(self))
    }

    fn knee_document(&self) -> Option<KneeDocument> {
        let knee = knee_of(&self.levels)?;
        Some(KneeDocument {
            level: knee.at,
            load: self.load_of(knee.at),
            beyond: knee.beyond,
            requests_gain: knee.gain,
            e2el_factor: knee.cost,
        })
    }

    /// The load of the level of that index.
    pub(super) fn load_of(&self, level: usize) -> Option<LevelLoad> {
        self.levels.get(level).map(|level| level.load)
    }

    fn frontier_entries(&self) -> Vec<OnFrontier> {
        let entry = |level: usize| {
            let report = self.levels.get(level)?;
            let tail = TailLatency::of(&report.summary.metrics.e2el);
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
        if let EngineRecord::Simulated { description } = &self.setup.engine {
            notes.push(format!("The engine was simulated: {description}"));
        }
        if self.has_stand_in() {
            notes.push(format!("latency_basis max: {STAND_IN_NOTE}"));
        }
        notes.extend(self.never_full_words());
        notes
    }
}
