//! Plans as JSON.

use fizeau_core::LevelLoad;
use fizeau_metrics::Goal;
use fizeau_pareto::{FigureEstimate, Fleet};
use serde::{Deserialize, Serialize};

use super::{
    BoundCost, BurstAccount, DevicePlan, GoalPrice, MoneyRange, NoPlanReason, PlanCost, PlanReport,
    PlannedFleet,
};
use crate::JsonError;
use crate::goal::HighestLoadBasis;
use crate::text::price_origin;

/// What `fizeau plan` prints as JSON (schema `fizeau.plan/1`): how many devices a rate takes, and what they cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanDocument {
    #[cfg_attr(feature = "schema", schemars(extend("const" = PLAN)))]
    schema: String,
    version: String,
    /// The rate that is planned for.
    pub requests_per_s: f64,
    /// The goals, as they are typed.
    pub goals: Vec<String>,
    headroom: f64,
    spare_replicas: u32,
    /// The name of the plan that costs least; null where none has a price, or where `findings` say why that is not known.
    pub cheapest: Option<String>,
    /// What is to be known before the plans are believed, a line each.
    #[serde(default)]
    pub findings: Vec<String>,
    plans: Vec<PlanEntry>,
}

/// The schema of a plan.
const PLAN: &str = "fizeau.plan/1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Plan"))]
struct PlanEntry {
    name: String,
    from: String,
    devices_per_replica: u64,
    usd_per_device_hour: Option<MoneyRange>,
    price_from: String,
    #[serde(flatten)]
    outcome: PlanOutcome,
    bursts: BurstsDocument,
    other_goals: Vec<PriceDocument>,
    tightest_share_of_latency_limits: Option<f64>,
    left_out: Vec<String>,
}

/// Every figure, or all of them null and the reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PlanOutcome {
    requests_per_s_per_replica: Option<CapacityEnds>,
    planned_requests_per_s_per_replica: Option<CapacityEnds>,
    served_requests_per_s_per_replica: Option<CapacityEnds>,
    ends_are: Option<String>,
    may_be_higher: Option<bool>,
    nearest_tested: Option<LevelLoad>,
    breaks_first: Option<String>,
    likely: Option<FleetDocument>,
    at_the_low_end: Option<FleetDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_the_low_end_reason: Option<String>,
    speed_of_light: Option<PlanLight>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed_of_light_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_plan_reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Estimate"))]
struct CapacityEnds {
    value: f64,
    low: f64,
    high: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Fleet"))]
struct FleetDocument {
    replicas_needed: u64,
    replicas_spare: u64,
    devices: u64,
    utilisation: f64,
    #[serde(flatten)]
    cost: Option<PlanCost>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct PlanLight {
    requests_per_s_per_replica: f64,
    share_of_replica: f64,
    usd_per_hour: Option<MoneyRange>,
    share_of_cost: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Bursts"))]
enum BurstsDocument {
    Not {
        accounted: bool,
        reason: String,
    },
    Simulated {
        accounted: bool,
        burstiness: f64,
        engine: String,
        measured_with: String,
        as_measured_requests_per_s: f64,
        under_bursts_requests_per_s: f64,
        factor: f64,
        counted_factor: f64,
        pooled_replicas: Option<u32>,
        pooled_requests_per_s_per_replica: Option<f64>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "GoalPrice"))]
struct PriceDocument {
    label: String,
    goals: Vec<String>,
    #[serde(flatten)]
    outcome: PlanOutcome,
}

impl From<&PlanReport> for PlanDocument {
    fn from(report: &PlanReport) -> Self {
        let PlanReport { ask, plans } = report;
        let cheapest = report.cheapest().and_then(|index| plans.get(index));
        Self {
            schema: PLAN.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            requests_per_s: ask.demand.rate(),
            goals: goals(&ask.goals),
            headroom: ask.demand.headroom(),
            spare_replicas: ask.demand.spare(),
            cheapest: cheapest.map(|plan| plan.source.name.clone()),
            findings: report.findings(),
            plans: plans.iter().map(plan).collect(),
        }
    }
}

impl PlanReport {
    /// A [`PlanDocument`], indented, with a newline at its end.
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for these types.
    pub fn to_json(&self) -> Result<String, JsonError> {
        JsonError::pretty(&PlanDocument::from(self))
    }
}

fn goals(goals: &[Goal]) -> Vec<String> {
    goals.iter().map(ToString::to_string).collect()
}

fn plan(plan: &DevicePlan) -> PlanEntry {
    let source = &plan.source;
    let each = source.devices_per_replica.get();
    let hour = source.hour.as_ref();
    PlanEntry {
        name: source.name.clone(),
        from: source.from.clone(),
        devices_per_replica: each,
        usd_per_device_hour: hour
            .map(|hour| MoneyRange { low: hour.low.get(), high: hour.high.get() }),
        price_from: hour.map_or_else(|| "no price is known".to_owned(), price_origin),
        outcome: outcome(&plan.outcome, each),
        bursts: bursts(&source.bursts),
        other_goals: plan.prices.iter().map(|other| price(other, each)).collect(),
        tightest_share_of_latency_limits: plan.tightest,
        left_out: source.left_out.clone(),
    }
}

fn price(price: &GoalPrice, each: u64) -> PriceDocument {
    let GoalPrice { label, goals: requested, outcome: found } = price;
    PriceDocument { label: label.clone(), goals: goals(requested), outcome: outcome(found, each) }
}

fn outcome(outcome: &Result<PlannedFleet, NoPlanReason>, each: u64) -> PlanOutcome {
    let planned = outcome.as_ref().ok();
    let fleet = |fleet: Fleet, cost: Option<PlanCost>| FleetDocument {
        replicas_needed: fleet.needed,
        replicas_spare: fleet.spare,
        devices: fleet.installed().saturating_mul(each),
        utilisation: fleet.utilisation,
        cost,
    };
    let light = planned.map(|planned| &planned.light);
    PlanOutcome {
        requests_per_s_per_replica: planned.map(|planned| ends(planned.carried.requests_per_s)),
        planned_requests_per_s_per_replica: planned.map(|planned| ends(planned.per_replica)),
        served_requests_per_s_per_replica: planned.map(|planned| ends(planned.carried.served)),
        ends_are: planned.map(|planned| match planned.carried.bounds {
            HighestLoadBasis::Interval => "interval".to_owned(),
            HighestLoadBasis::Runs => "runs".to_owned(),
            HighestLoadBasis::Tested => "tested_loads".to_owned(),
        }),
        may_be_higher: planned.map(|planned| planned.carried.is_open_above),
        nearest_tested: planned.map(|planned| planned.carried.nearest),
        breaks_first: planned.and_then(|planned| planned.carried.breaks.clone()),
        likely: planned.map(|planned| fleet(planned.fleets.likely, planned.cost)),
        at_the_low_end: planned
            .and_then(|planned| Some(fleet(planned.fleets.cautious?, planned.cautious_cost))),
        at_the_low_end_reason: planned
            .and_then(|planned| Some(planned.no_cautious_reason()?.to_owned())),
        speed_of_light: light.and_then(|light| light.as_ref().ok().map(light_json)),
        speed_of_light_reason: light.and_then(|light| Some(light.as_ref().err()?.to_string())),
        no_plan_reason: outcome.as_ref().err().map(ToString::to_string),
    }
}

fn ends(estimate: FigureEstimate) -> CapacityEnds {
    CapacityEnds { value: estimate.value(), low: estimate.low(), high: estimate.high() }
}

const fn light_json(light: &BoundCost) -> PlanLight {
    PlanLight {
        requests_per_s_per_replica: light.requests_per_s.get(),
        share_of_replica: light.share_of_replica,
        usd_per_hour: light.usd_per_hour,
        share_of_cost: light.share_of_cost,
    }
}

fn bursts(bursts: &BurstAccount) -> BurstsDocument {
    match bursts {
        BurstAccount::NotAccounted(reason) => {
            BurstsDocument::Not { accounted: false, reason: reason.to_string() }
        }
        BurstAccount::Simulated(simulated) => BurstsDocument::Simulated {
            accounted: true,
            burstiness: simulated.burstiness,
            engine: simulated.engine.clone(),
            measured_with: simulated.measured_with.clone(),
            as_measured_requests_per_s: simulated.as_measured.get(),
            under_bursts_requests_per_s: simulated.under_bursts.get(),
            factor: simulated.factor(),
            counted_factor: simulated.counted(),
            pooled_replicas: simulated.pooled.map(|pooled| pooled.0),
            pooled_requests_per_s_per_replica: simulated.pooled.map(|pooled| pooled.1.get()),
        },
    }
}
