//! What burstier arrivals cost a replica, by the simulated engine.

use fizeau::core::{Nanos, Tokens};
use fizeau::experiment::{LevelSize, LevelSpec, SweepRunner, SweepSpec};
use fizeau::harness::{Cancel, Rig, SelfWatch};
use fizeau::metrics::{Goal, GoodputGoals, Metric};
use fizeau::record::{
    BurstAccount, BurstsLevel, BurstsQuery, DevicePlanSource, PlanLevel, PlanQuery,
};
use fizeau::record::{ReplicaCapacity, SpeedOfLightReference};
use fizeau::roofline::Calibration;
use fizeau::sim::{EngineConfig, Overheads, ReplicaRouting, Scenario, SimTransport, VirtualTime};
use fizeau::workload::{Lengths, PlanSpec, PromptContent};

use super::ReadSource;
use crate::exit::{Fail, Named};

/// What the simulated engine is asked.
pub(super) struct BurstsRequest<'a> {
    pub(super) plan: &'a PlanQuery,
    /// What makes a single request a good one, for goals on goodput.
    pub(super) goodput: GoodputGoals,
    pub(super) burstiness: f64,
}

/// How long a request is on its way, as `fizeau simulate` has it by default.
const DELAY: Nanos = Nanos::from_micros(50);

/// What arrivals of this burstiness leave of what was measured.
pub(super) fn of(
    source: &DevicePlanSource,
    found: &ReadSource,
    asked: &BurstsRequest<'_>,
) -> Result<BurstAccount, Fail> {
    let (replica, carried) = match replica(source, found, asked)? {
        Ok(ready) => ready,
        Err(reason) => return Ok(BurstAccount::NotAccounted { reason: reason.to_owned() }),
    };
    let [input, output] = replica.tokens;
    let engine = format!(
        "{}; requests of {input} tokens in and {output} out, all alike",
        replica.scenario.describe()
    );
    let ask = BurstsQuery {
        goals: &asked.plan.goals,
        demand: &asked.plan.demand,
        carried: &carried,
        measured: found.burstiness,
        burstiness: asked.burstiness,
        engine: &engine,
    };
    BurstAccount::simulated(&ask, |level| replica.level(level))
}

/// The simulated engine, and what was measured; or why there is none.
fn replica<'a>(
    source: &DevicePlanSource,
    found: &ReadSource,
    asked: &'a BurstsRequest<'_>,
) -> Result<Result<(Replica<'a>, ReplicaCapacity), &'static str>, Fail> {
    let Some(physics) = &found.physics else { return Ok(Err(super::NO_MODEL)) };
    let Some(calibration) = &physics.files().calibration else {
        return Ok(Err(
            "there is no calibration of the engine: --calibration FILE, of `fizeau sol --fit`",
        ));
    };
    let Some(tokens) = source.lengths.whole() else {
        return Ok(Err(super::NO_LENGTHS));
    };
    let Ok(carried) = source.capacity(&asked.plan.goals) else {
        return Ok(Err("the goals are not met"));
    };
    let is_goodput = |goal: &Goal| matches!(goal.metric, Metric::GoodShare | Metric::GoodputPerSec);
    if asked.goodput.is_empty() && asked.plan.goals.iter().any(is_goodput) {
        return Ok(Err("a goal on goodput can be simulated only with --goodput"));
    }
    let scenario = scenario(physics, calibration)?;
    Ok(Ok((Replica { scenario, tokens, goodput: &asked.goodput }, carried)))
}

/// The engine of a replica, as its calibration has it.
fn scenario(physics: &SpeedOfLightReference, calibration: &str) -> Result<Scenario, Fail> {
    let calibration = Calibration::from_json(calibration).named("--calibration")?;
    let system = physics.reference().system.clone();
    let config = EngineConfig::new(1, Tokens::ZERO);
    let most = physics.deployment().max_num_seqs;
    let usual = || Scenario::usual_sequences(&system, &config);
    let config = EngineConfig { max_num_seqs: most.map_or_else(usual, Into::into), ..config };
    let scenario = Scenario::of(physics.model_name(), system, config, Overheads::default());
    scenario.map_err(Fail::usage)?.with_calibration(calibration, None).named("--calibration")
}

/// A simulated engine, and the requests that it gets.
struct Replica<'a> {
    scenario: Scenario,
    /// Of a prompt and of an output.
    tokens: [Tokens; 2],
    goodput: &'a GoodputGoals,
}

impl Replica<'_> {
    /// A level in virtual time; none where nothing completed.
    fn level(&self, of: BurstsLevel) -> Result<Option<PlanLevel>, Fail> {
        let scenario = match of.replicas.get() {
            1 => self.scenario.clone(),
            _ => match self
                .scenario
                .clone()
                .with_replicas(of.replicas, ReplicaRouting::LeastInFlight)
            {
                Ok(shared) => shared,
                Err(_) => return Ok(None),
            },
        };
        let [input, output] = self.tokens.map(Tokens::get);
        let workload = PlanSpec::new(of.requests.get()).map_err(Fail::broken)?;
        let lengths = Lengths::fixed(input, output);
        let workload = PlanSpec { lengths, content: PromptContent::Unread, ..workload };
        let goals = self.goodput.clone();
        let spec = SweepSpec { spacing: of.spacing, goals, ..SweepSpec::new([], workload) };
        let (time, cancel) = (VirtualTime::new(), Cancel::new());
        let transport = SimTransport::new(&time, scenario.serve()).with_delay(DELAY);
        let rig =
            Rig { transport: &transport, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
        let mut sweep = SweepRunner::new(rig, &spec, None);
        let size = LevelSize { requests: Some(of.requests), time: None, warmup: None };
        let ask = LevelSpec { load: of.load, visit: 0, size };
        let level = time.block_on(sweep.level(ask, &mut ())).map_err(Fail::broken)?;
        let level = level.map_err(Fail::broken)?;
        Ok(level.and_then(|at| PlanLevel::simulated(of.load, &at.run.summary)))
    }
}
