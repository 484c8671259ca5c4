//! Plans as JSON.

use fizeau_core::{LevelLoad, document};
use fizeau_pareto::{FigureEstimate, Fleet};
use serde::{Deserialize, Serialize};

use super::{
    BoundCost, BurstAccount, DevicePlan, GoalPrice, MoneyRange, NoPlanReason, PlanCost, PlanReport,
    PlannedFleet,
};
use crate::JsonError;
use crate::goal::HighestLoadBasis;
use crate::text::price_origin;

document! {
    /// What `fizeau plan` prints as JSON (schema `fizeau.plan/1`): how many devices a rate takes, and what they cost.
    pub struct PlanDocument, from |report: &PlanReport| {
        let ask = &report.ask;
        let least = report.cheapest().and_then(|index| report.plans.get(index));
    } {
        #[cfg_attr(feature = "schema", schemars(extend("const" = PLAN)))]
        schema: String = PLAN.to_owned(),
        version: String = env!("CARGO_PKG_VERSION").to_owned(),
        /// The rate that is planned for.
        pub requests_per_s: f64 = ask.demand.rate(),
        /// The goals, as they are typed.
        pub goals: Vec<String> = ask.goals.iter().map(ToString::to_string).collect(),
        headroom: f64 = ask.demand.headroom(),
        spare_replicas: u32 = ask.demand.spare(),
        /// The name of the plan that costs least; null where none has a price, or where `findings` say why that is not
        /// known.
        pub cheapest: Option<String> = least.map(|plan| plan.source.name.clone()),
        /// What is to be known before the plans are believed, a line each.
        #[serde(default)]
        pub findings: Vec<String> = report.findings(),
        plans: Vec<PlanEntry> = report.plans.iter().map(PlanEntry::from).collect(),
    }
}

/// The schema of a plan.
const PLAN: &str = "fizeau.plan/1";

document! {
    struct PlanEntry as "Plan", from |plan: &DevicePlan| {
        let source = &plan.source;
        let (each, hour) = (source.devices_per_replica.get(), source.hour.as_ref());
    } {
        name: String = source.name.clone(),
        from: String = source.from.clone(),
        devices_per_replica: u64 = each,
        usd_per_device_hour: Option<MoneyRange> =
            hour.map(|hour| MoneyRange { low: hour.low.get(), high: hour.high.get() }),
        price_from: String = hour.map_or_else(|| "no price is known".to_owned(), price_origin),
        #[serde(flatten)]
        outcome: PlanOutcome = PlanOutcome::of(&plan.outcome, each),
        bursts: BurstsDocument = bursts_document(&source.bursts),
        other_goals: Vec<PriceDocument> =
            plan.prices.iter().map(|other| PriceDocument::of(other, each)).collect(),
        tightest_share_of_latency_limits: Option<f64> = plan.tightest,
        left_out: Vec<String> = source.left_out.clone(),
    }
}

document! {
    /// Every figure, or all of them null and the reason.
    struct PlanOutcome, fn of(outcome: &Result<PlannedFleet, NoPlanReason>, each: u64) {
        let planned = outcome.as_ref().ok();
        let carried = planned.map(|planned| &planned.carried);
        let light = planned.map(|planned| planned.light.as_ref());
    } {
        requests_per_s_per_replica: Option<CapacityEnds> = carried.map(|carried| carried.requests_per_s.into()),
        planned_requests_per_s_per_replica: Option<CapacityEnds> = planned.map(|planned| planned.per_replica.into()),
        served_requests_per_s_per_replica: Option<CapacityEnds> = carried.map(|carried| carried.served.into()),
        ends_are: Option<String> = carried.map(|carried| match carried.bounds {
            HighestLoadBasis::Interval => "interval".to_owned(),
            HighestLoadBasis::Runs => "runs".to_owned(),
            HighestLoadBasis::Tested => "tested_loads".to_owned(),
        }),
        may_be_higher: Option<bool> = carried.map(|carried| carried.is_open_above),
        nearest_tested: Option<LevelLoad> = carried.map(|carried| carried.nearest),
        breaks_first: Option<String> = carried.and_then(|carried| carried.breaks.clone()),
        likely: Option<FleetDocument> =
            planned.map(|planned| FleetDocument::of(planned.fleets.likely, each, planned.cost)),
        at_the_low_end: Option<FleetDocument> = planned
            .and_then(|planned| Some(FleetDocument::of(planned.fleets.cautious?, each, planned.cautious_cost))),
        at_the_low_end_reason?: String =
            planned.and_then(|planned| Some(planned.no_cautious_reason()?.to_owned())),
        speed_of_light: Option<PlanLight> = light.and_then(|light| light.ok().map(PlanLight::from)),
        speed_of_light_reason?: String = light.and_then(|light| Some(light.err()?.to_string())),
        no_plan_reason?: String = outcome.as_ref().err().map(ToString::to_string),
    }
}

document! {
    struct CapacityEnds as "Estimate", from |estimate: FigureEstimate| {} {
        value: f64 = estimate.value(),
        low: f64 = estimate.low(),
        high: f64 = estimate.high(),
    }
}

document! {
    struct FleetDocument as "Fleet", fn of(fleet: Fleet, each: u64, money: Option<PlanCost>) {} {
        replicas_needed: u64 = fleet.needed,
        replicas_spare: u64 = fleet.spare,
        devices: u64 = fleet.installed().saturating_mul(each),
        utilisation: f64 = fleet.utilisation,
        #[serde(flatten)]
        cost: Option<PlanCost> = money,
    }
}

document! {
    struct PlanLight, from |light: &BoundCost| {} {
        requests_per_s_per_replica: f64 = light.requests_per_s.get(),
        share_of_replica: f64 = light.share_of_replica,
        usd_per_hour: Option<MoneyRange> = light.usd_per_hour,
        share_of_cost: f64 = light.share_of_cost,
    }
}

document! {
    struct PriceDocument as "GoalPrice", fn of(price: &GoalPrice, each: u64) {} {
        label: String = price.label.clone(),
        goals: Vec<String> = price.goals.iter().map(ToString::to_string).collect(),
        #[serde(flatten)]
        outcome: PlanOutcome = PlanOutcome::of(&price.outcome, each),
    }
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

impl PlanReport {
    /// A [`PlanDocument`], indented, with a newline at its end.
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for these types.
    pub fn to_json(&self) -> Result<String, JsonError> {
        JsonError::pretty(&PlanDocument::from(self))
    }
}

fn bursts_document(bursts: &BurstAccount) -> BurstsDocument {
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
