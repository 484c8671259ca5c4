//! A sweep as `sweep.json`.

use fizeau_core::{LevelLoad, document};
use fizeau_metrics::Verdict;
use fizeau_pareto::Knee;

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

/// The schema of `sweep.json`.
pub(crate) const SWEEP: &str = "fizeau.sweep/2";

document! {
    /// `sweep.json` (schema `fizeau.sweep/2`): levels side by side, and the one to run at.
    pub struct SweepDocument as "Sweep" of SWEEP, from |report: &SweepReport| {
        let point = report.operating_point();
    } {
        /// What was run.
        pub setup: RunSetup = report.setup.clone(),
        /// The worst verdict of any level.
        pub verdict: Verdict = report.verdict(),
        /// Whether it was called off before its end; absent where it was not.
        #[serde(default, skip_serializing_if = "SweepEnding::is_complete")]
        pub ending: SweepEnding = report.ending(),
        /// The goals, as they are typed; null if there were none.
        pub slo: Option<String> = report.slo.as_ref().map(ToString::to_string),
        /// Why there are none, or that these were assumed since none were given.
        slo_reason?: String = match report.slo {
            None => Some("no goal was given".to_owned()),
            Some(_) => report.assumed_goals(),
        },
        operating_point, operating_point_reason: PointDocument =
            report.point_document(point).ok_or_else(|| report.no_point(point)),
        operating_point_nearest?: NearestDocument = report.nearest_document(point),
        /// What a million output tokens take there, and cost.
        operating_cost, operating_cost_reason: CostDocument = match report.cost_at_operating_point() {
            Ok(cost) => Ok(CostDocument::of(&cost, report.price())),
            Err(reason) => Err(reason.to_string()),
        },
        /// What is put first where several levels keep the goals.
        pub(crate) profile: Option<ProfileDocument> = Some(report.profile.into()),
        /// The load to run at, for each kind of load and both ends of the goals.
        decisions: Vec<DecisionDocument> = report.decision_documents(),
        frontier: Vec<OnFrontier> = report.frontier_entries(),
        knee, knee_reason: KneeDocument = report.knee_document().ok_or_else(|| no_knee(&report.places)),
        /// What the hardware could do with these requests, by requests in flight.
        speed_of_light_curve, speed_of_light_curve_reason: Vec<LightPlace> =
            report.curve().map(SpeedOfLightCurve::places).ok_or("no speed of light is known: see the levels"),
        checklist: Checklist = report.checklist(),
        /// The levels, in the order in which they are shown.
        pub levels: Vec<SweptLevelDocument> = report.with_positions().map(SweptLevelDocument::from).collect(),
        /// Loads that were planned and of which there is nothing.
        pub unmeasured: Vec<Unmeasured> = report.unmeasured.clone(),
        /// Loads that were measured more than once.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        repeats: Vec<RepeatsDocument> = RepeatsDocument::all(report),
        /// The run at the operating point, after all levels.
        sustained?: SustainedDocument = SustainedDocument::of(report),
        notes: Vec<String> = report.notes(),
    }
}

document! {
    /// Where more load stops paying.
    struct KneeDocument as "Knee", fn of(report: &SweepReport, knee: Knee) {} {
        level: usize = knee.at,
        load: Option<LevelLoad> = report.load_of(knee.at),
        beyond: usize = knee.beyond,
        requests_gain: f64 = knee.gain,
        e2el_factor: f64 = knee.cost,
    }
}

document! {
    /// A level of the frontier, with the two figures that put it there.
    struct OnFrontier, fn of(at: usize, report: &LevelReport) {
        let tail = TailLatency::of(&report.summary.metrics.e2el);
    } {
        level: usize = at,
        load: LevelLoad = report.load,
        requests_per_s: f64 = report.summary.throughput.requests_per_s.get(),
        e2el_ms: Option<f64> = tail.map(|tail| tail.ms()),
        latency_basis: Option<LatencyBasis> = tail.map(|tail| tail.basis),
    }
}

document! {
    /// A level, and how it stands to the others.
    pub struct SweptLevelDocument as "SweepLevel", from |swept: (&LevelReport, &FrontierPosition)| {
        let (report, place) = swept;
    } {
        on_frontier: bool = *place == FrontierPosition::Frontier,
        dominated_by, dominated_by_reason: usize = match place {
            FrontierPosition::Frontier => Err("no level dominates it"),
            FrontierPosition::Dominated { by } => Ok(*by),
            FrontierPosition::LeftOut { .. } => Err("it is not compared with other levels"),
        },
        left_out_reason?: String = match place {
            FrontierPosition::LeftOut { reason } => Some(reason.clone()),
            _ => None,
        },
        /// Its folder; null if none was written.
        pub folder, folder_reason: String = report.folder.clone().ok_or("no folder was written"),
        /// What was measured.
        #[serde(flatten)]
        pub level: SummaryDocument = report.into(),
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

impl SweepReport {
    /// The content of `sweep.json`, indented, with a newline at its end.
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for these types.
    pub fn to_json(&self) -> Result<String, JsonError> {
        JsonError::pretty(&SweepDocument::from(self))
    }

    fn knee_document(&self) -> Option<KneeDocument> {
        Some(KneeDocument::of(self, knee_of(&self.levels)?))
    }

    /// The load of the level of that index.
    pub(super) fn load_of(&self, level: usize) -> Option<LevelLoad> {
        self.levels.get(level).map(|level| level.load)
    }

    fn frontier_entries(&self) -> Vec<OnFrontier> {
        let entry = |level: usize| Some(OnFrontier::of(level, self.levels.get(level)?));
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
