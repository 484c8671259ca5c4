//! Plans as JSON.

use fizeau_metrics::Goal;
use fizeau_pareto::{Estimate, Fleet};
use serde::{Serialize, Serializer};

use super::{Bursts, GoalPrice, LightCost, Money, NotPlanned, Plan, PlanCost, PlanReport, Planned};
use crate::LoadPoint;
use crate::goal::Bounds;
use crate::text::price_origin;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PlanDocument"))]
struct Document<'a> {
    #[cfg_attr(feature = "schema", schemars(extend("const" = "fizeau.plan/1")))]
    schema: &'static str,
    version: &'static str,
    requests_per_s: f64,
    goals: Vec<String>,
    headroom: f64,
    spare_replicas: u32,
    /// The name of the plan that costs least.
    cheapest: Option<&'a str>,
    plans: Vec<PlanJson<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Plan"))]
struct PlanJson<'a> {
    name: &'a str,
    from: &'a str,
    devices_per_replica: u64,
    usd_per_device_hour: Money,
    price_from: String,
    #[serde(flatten)]
    outcome: Outcome<'a>,
    bursts: BurstsJson<'a>,
    other_goals: Vec<PriceJson<'a>>,
    tightest_share_of_latency_limits: Option<f64>,
    left_out: &'a [String],
}

/// Every figure, or all of them null and the reason.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Outcome<'a> {
    requests_per_s_per_replica: Option<Ends>,
    planned_requests_per_s_per_replica: Option<Ends>,
    served_requests_per_s_per_replica: Option<Ends>,
    ends_are: Option<&'static str>,
    may_be_higher: Option<bool>,
    nearest_tested: Option<LoadPoint>,
    breaks_first: Option<&'a str>,
    likely: Option<FleetJson<'a>>,
    at_the_low_end: Option<FleetJson<'a>>,
    speed_of_light: Option<LightJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed_of_light_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_plan_reason: Option<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Estimate"))]
struct Ends {
    value: f64,
    low: f64,
    high: f64,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Fleet"))]
struct FleetJson<'a> {
    replicas_needed: u64,
    replicas_spare: u64,
    devices: u64,
    utilisation: f64,
    #[serde(flatten)]
    cost: &'a PlanCost,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PlanLight"))]
struct LightJson {
    requests_per_s_per_replica: f64,
    share_of_replica: f64,
    usd_per_hour: Money,
    share_of_cost: f64,
}

#[derive(Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Bursts"))]
enum BurstsJson<'a> {
    Not {
        accounted: bool,
        reason: &'a str,
    },
    Simulated {
        accounted: bool,
        burstiness: f64,
        engine: &'a str,
        measured_with: &'a str,
        as_measured_requests_per_s: f64,
        under_bursts_requests_per_s: f64,
        factor: f64,
        counted_factor: f64,
        pooled_replicas: Option<u32>,
        pooled_requests_per_s_per_replica: Option<f64>,
    },
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "GoalPrice"))]
struct PriceJson<'a> {
    label: &'a str,
    goals: Vec<String>,
    #[serde(flatten)]
    outcome: Outcome<'a>,
}

#[cfg(feature = "schema")]
fizeau_core::written_as!(PlanReport, Document<'static>);

impl Serialize for PlanReport {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let cheapest = self.cheapest().and_then(|index| self.plans.get(index));
        let document = Document {
            schema: "fizeau.plan/1",
            version: env!("CARGO_PKG_VERSION"),
            requests_per_s: self.ask.demand.rate(),
            goals: goals(&self.ask.goals),
            headroom: self.ask.demand.headroom(),
            spare_replicas: self.ask.demand.spare(),
            cheapest: cheapest.map(|plan| plan.source.name.as_str()),
            plans: self.plans.iter().map(plan).collect(),
        };
        document.serialize(to)
    }
}

impl PlanReport {
    /// JSON, indented, with a newline at its end.
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for these types.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}

fn goals(goals: &[Goal]) -> Vec<String> {
    goals.iter().map(ToString::to_string).collect()
}

fn plan(plan: &Plan) -> PlanJson<'_> {
    let source = &plan.source;
    let each = source.devices_per_replica.get();
    let hour = &source.hour;
    PlanJson {
        name: &source.name,
        from: &source.from,
        devices_per_replica: each,
        usd_per_device_hour: Money { low: hour.low.get(), high: hour.high.get() },
        price_from: price_origin(hour),
        outcome: outcome(&plan.outcome, each),
        bursts: bursts(&source.bursts),
        other_goals: plan.prices.iter().map(|other| price(other, each)).collect(),
        tightest_share_of_latency_limits: plan.tightest,
        left_out: &source.left_out,
    }
}

fn price(price: &GoalPrice, each: u64) -> PriceJson<'_> {
    let GoalPrice { label, goals: asked, outcome: found } = price;
    PriceJson { label, goals: goals(asked), outcome: outcome(found, each) }
}

fn outcome(outcome: &Result<Planned, NotPlanned>, each: u64) -> Outcome<'_> {
    let planned = outcome.as_ref().ok();
    let fleet = |fleet: Fleet, cost| FleetJson {
        replicas_needed: fleet.needed,
        replicas_spare: fleet.spare,
        devices: fleet.installed().saturating_mul(each),
        utilisation: fleet.utilisation,
        cost,
    };
    let light = planned.map(|planned| &planned.light);
    Outcome {
        requests_per_s_per_replica: planned.map(|planned| ends(planned.carried.requests_per_s)),
        planned_requests_per_s_per_replica: planned.map(|planned| ends(planned.per_replica)),
        served_requests_per_s_per_replica: planned.map(|planned| ends(planned.carried.served)),
        ends_are: planned.map(|planned| match planned.carried.bounds {
            Bounds::Interval => "interval",
            Bounds::Runs => "runs",
            Bounds::Tested => "tested_loads",
        }),
        may_be_higher: planned.map(|planned| planned.carried.is_open_above),
        nearest_tested: planned.map(|planned| planned.carried.nearest),
        breaks_first: planned.and_then(|planned| planned.carried.breaks.as_deref()),
        likely: planned.map(|planned| fleet(planned.fleets.likely, &planned.cost)),
        at_the_low_end: planned.and_then(|planned| {
            Some(fleet(planned.fleets.cautious?, planned.cautious_cost.as_ref()?))
        }),
        speed_of_light: light.and_then(|light| light.as_ref().ok().map(light_json)),
        speed_of_light_reason: light.and_then(|light| light.as_ref().err().map(String::as_str)),
        no_plan_reason: outcome.as_ref().err().map(ToString::to_string),
    }
}

fn ends(estimate: Estimate) -> Ends {
    Ends { value: estimate.value(), low: estimate.low(), high: estimate.high() }
}

const fn light_json(light: &LightCost) -> LightJson {
    LightJson {
        requests_per_s_per_replica: light.requests_per_s.get(),
        share_of_replica: light.share_of_replica,
        usd_per_hour: light.usd_per_hour,
        share_of_cost: light.share_of_cost,
    }
}

fn bursts(bursts: &Bursts) -> BurstsJson<'_> {
    match bursts {
        Bursts::NotAccounted { reason } => BurstsJson::Not { accounted: false, reason },
        Bursts::Simulated(simulated) => BurstsJson::Simulated {
            accounted: true,
            burstiness: simulated.burstiness,
            engine: &simulated.engine,
            measured_with: &simulated.measured_with,
            as_measured_requests_per_s: simulated.as_measured.get(),
            under_bursts_requests_per_s: simulated.under_bursts.get(),
            factor: simulated.factor(),
            counted_factor: simulated.counted(),
            pooled_replicas: simulated.pooled.map(|pooled| pooled.0),
            pooled_requests_per_s_per_replica: simulated.pooled.map(|pooled| pooled.1.get()),
        },
    }
}
