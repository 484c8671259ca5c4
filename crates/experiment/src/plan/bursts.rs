//! What burstier arrivals cost a replica, by the simulated engine.

use fizeau_core::Tokens;
use fizeau_harness::{Cancel, SelfWatch, TaskDriver};
use fizeau_metrics::GoodputGoals;
use fizeau_record::{
    BurstAccount, BurstSubject, BurstsLevel, BurstsQuery, DevicePlanSource, PlanLevel, PlanQuery,
    TestedReplica,
};
use fizeau_roofline::Calibration;
use fizeau_sim::{EngineConfig, Overheads, ReplicaRouting, Scenario, SimTransport, VirtualTime};
use fizeau_workload::{Lengths, PlanSpec, PromptContent};

use super::PlanError;
use crate::{LevelSize, LevelSpec, SimulatedSystem, SweepRunner, SweepSpec};

/// What arrivals of this burstiness leave of what was measured.
pub(super) fn of(
    source: &DevicePlanSource,
    tested: &TestedReplica,
    plan: &PlanQuery,
    goodput: &GoodputGoals,
    burstiness: f64,
) -> Result<BurstAccount, PlanError> {
    let subject = match source.burst_subject(tested, &plan.goals, goodput) {
        Ok(subject) => subject,
        Err(why) => return Ok(BurstAccount::NotAccounted(why)),
    };
    let (scenario, [input, output]) = (scenario(&subject)?, subject.tokens);
    let engine = format!(
        "{}; requests of {input} tokens in and {output} out, all alike",
        scenario.describe()
    );
    let ask = BurstsQuery {
        goals: &plan.goals,
        demand: &plan.demand,
        carried: &subject.carried,
        measured: tested.burstiness,
        burstiness,
        engine: &engine,
    };
    BurstAccount::simulated(&ask, |of| level(&scenario, of, subject.tokens, goodput))
}

/// The engine of a replica, as its calibration has it.
fn scenario(of: &BurstSubject<'_>) -> Result<Scenario, PlanError> {
    let calibration = Calibration::from_json(of.calibration)?;
    let system = of.reference.reference().system.clone();
    let config = EngineConfig::new(1, Tokens::ZERO);
    let deployment = of.reference.deployment();
    let (most, engine) = (deployment.max_num_seqs, deployment.engine.clone());
    let usual = || Scenario::usual_sequences(&system, &config);
    let config = EngineConfig { max_num_seqs: most.map_or_else(usual, Into::into), ..config };
    let scenario = Scenario::of(of.reference.model_name(), system, config, Overheads::default())?;
    Ok(scenario.with_calibration(calibration, engine)?)
}

/// A level in virtual time, whose requests all have so many tokens of prompt and of output; none where nothing completed, or so many
/// replicas cannot be.
fn level(
    scenario: &Scenario,
    of: BurstsLevel,
    tokens: [Tokens; 2],
    goals: &GoodputGoals,
) -> Result<Option<PlanLevel>, PlanError> {
    let shared = match of.replicas.get() {
        1 => Ok(scenario.clone()),
        _ => scenario.clone().with_replicas(of.replicas, ReplicaRouting::LeastInFlight),
    };
    let Ok(scenario) = shared else { return Ok(None) };
    let (time, cancel) = (VirtualTime::new(), Cancel::new());
    let transport = SimTransport::new(&time, scenario.serve());
    let transport = transport.with_delay(SimulatedSystem::NETWORK_DELAY);
    let rig =
        TaskDriver { transport: &transport, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
    let [input, output] = tokens.map(Tokens::get);
    let workload =
        PlanSpec::new(of.requests.get()).map_err(|error| PlanError::Level(error.into()))?;
    let (lengths, content) = (Lengths::fixed(input, output), PromptContent::Unread);
    let workload = PlanSpec { lengths, content, ..workload };
    let goals = goals.clone();
    let spec = SweepSpec { spacing: of.spacing, goals, ..SweepSpec::new([], workload) };
    let size = LevelSize { requests: Some(of.requests), time: None, warmup: None };
    let ask = LevelSpec { load: of.load, visit: 0, size };
    let mut runner = SweepRunner::new(rig, &spec, None);
    let ended = time.block_on(runner.level(ask, &mut ()));
    let ended = ended.map_err(|error| PlanError::Level(error.into()))?;
    let level = ended.map_err(|error| PlanError::Level(error.into()))?;
    Ok(level.and_then(|at| PlanLevel::simulated(of.load, &at.run.summary)))
}
