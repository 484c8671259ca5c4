//! What burstier arrivals cost a replica, by the simulated engine.

use fizeau::core::{Nanos, Tokens};
use fizeau::experiment::replica_level;
use fizeau::harness::{Cancel, Rig, SelfWatch};
use fizeau::metrics::GoodputGoals;
use fizeau::record::{
    BurstAccount, BurstSubject, BurstsLevel, BurstsQuery, DevicePlanSource, NoBurstSubject,
    PlanLevel, PlanQuery, TestedReplica,
};
use fizeau::roofline::Calibration;
use fizeau::sim::{EngineConfig, Overheads, ReplicaRouting, Scenario, SimTransport, VirtualTime};

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
    found: &TestedReplica,
    asked: &BurstsRequest<'_>,
) -> Result<BurstAccount, Fail> {
    let subject = match source.burst_subject(found, &asked.plan.goals, &asked.goodput) {
        Ok(subject) => subject,
        Err(why) => return Ok(BurstAccount::NotAccounted { reason: reason(why) }),
    };
    let (scenario, [input, output]) = (scenario(&subject)?, subject.tokens);
    let engine = format!(
        "{}; requests of {input} tokens in and {output} out, all alike",
        scenario.describe()
    );
    let ask = BurstsQuery {
        goals: &asked.plan.goals,
        demand: &asked.plan.demand,
        carried: &subject.carried,
        measured: found.burstiness,
        burstiness: asked.burstiness,
        engine: &engine,
    };
    BurstAccount::simulated(&ask, |of| level(&scenario, of, subject.tokens, &asked.goodput))
}

fn reason(why: NoBurstSubject) -> String {
    match why {
        NoBurstSubject::NoReference => super::NO_MODEL.to_owned(),
        NoBurstSubject::NoCalibration => {
            format!(
                "{why}: --engine vllm, sglang or trtllm, or --calibration FILE of `fizeau sol --fit`"
            )
        }
        NoBurstSubject::NoLengths => super::NO_LENGTHS.to_owned(),
        NoBurstSubject::NoGoodput => {
            "a goal on goodput can be simulated only with --goodput".to_owned()
        }
        why => why.to_string(),
    }
}

/// The engine of a replica, as its calibration has it.
fn scenario(of: &BurstSubject<'_>) -> Result<Scenario, Fail> {
    let calibration = Calibration::from_json(of.calibration).named("--calibration")?;
    let system = of.reference.reference().system.clone();
    let config = EngineConfig::new(1, Tokens::ZERO);
    let deployment = of.reference.deployment();
    let (most, engine) = (deployment.max_num_seqs, deployment.engine.clone());
    let usual = || Scenario::usual_sequences(&system, &config);
    let config = EngineConfig { max_num_seqs: most.map_or_else(usual, Into::into), ..config };
    let scenario = Scenario::of(of.reference.model_name(), system, config, Overheads::default());
    scenario.map_err(Fail::usage)?.with_calibration(calibration, engine).named("--calibration")
}

/// A level in virtual time; none where nothing completed, or so many replicas cannot be.
fn level(
    scenario: &Scenario,
    of: BurstsLevel,
    tokens: [Tokens; 2],
    goals: &GoodputGoals,
) -> Result<Option<PlanLevel>, Fail> {
    let shared = match of.replicas.get() {
        1 => Ok(scenario.clone()),
        _ => scenario.clone().with_replicas(of.replicas, ReplicaRouting::LeastInFlight),
    };
    let Ok(scenario) = shared else { return Ok(None) };
    let (time, cancel) = (VirtualTime::new(), Cancel::new());
    let transport = SimTransport::new(&time, scenario.serve()).with_delay(DELAY);
    let rig = Rig { transport: &transport, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
    let level = time.block_on(replica_level(rig, of, tokens, goals)).map_err(Fail::broken)?;
    level.map_err(Fail::broken)
}
