//! What burstier arrivals cost a replica, by the simulated engine.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau::core::LevelLoad;
use fizeau::core::{Nanos, PerSec, Tokens};
use fizeau::experiment::{LevelAsk, LevelSize, Sweep, SweepSpec, load_point};
use fizeau::harness::{Cancel, Rig, SelfWatch};
use fizeau::metrics::{Goal, GoodputGoals, Metric};
use fizeau::record::SpeedOfLightReference;
use fizeau::record::{Bursts, Carried, LoadPoint, PlanAsk, PlanLevel, PlanSource, SimulatedBursts};
use fizeau::roofline::Calibration;
use fizeau::sim::{EngineConfig, Overheads, Routing, Scenario, SimTransport, VirtualTime};
use fizeau::workload::{Content, Lengths, Spacing, Spec};

use super::Found;
use super::curve::whole;
use crate::exit::{Fail, Named};

/// Requests of a simulated level for each replica: as many as tell a p99 to a few percent.
const REQUESTS: NonZeroU64 = NonZeroU64::new(2000).unwrap();
/// From one rate to the next, until one keeps the goals and one does not.
const STEP: f64 = 1.3;
const MOST_STEPS: usize = 12;
/// Halvings of what then lies between: `1.3^(1/16)` is 1.7 %.
const HALVINGS: usize = 4;
/// More replicas behind one router change little more, and take long.
const MOST_POOLED: u32 = 4;

/// What the simulated engine is asked.
pub(super) struct Asked<'a> {
    pub(super) plan: &'a PlanAsk,
    /// What makes a single request a good one, for goals on goodput.
    pub(super) goodput: GoodputGoals,
    pub(super) burstiness: f64,
}

/// What arrivals of this burstiness leave of what was measured.
pub(super) fn of(source: &PlanSource, found: &Found, asked: &Asked<'_>) -> Result<Bursts, Fail> {
    let not = |reason: &str| Ok(Bursts::NotAccounted { reason: reason.to_owned() });
    let (trial, carried) = match trial(source, found, asked)? {
        Ok(ready) => ready,
        Err(reason) => return not(reason),
    };
    let (most, measured_with) = as_measured(&trial, &carried)?;
    let Some(as_measured) = most else {
        return not("the simulated engine keeps the goals at no load, however little");
    };
    let bursty = Trial { spacing: random(asked.burstiness), ..trial.clone() };
    let Some(under_bursts) = bursty.most(Kind::Open, as_measured)? else {
        return not(
            "with such bursts the simulated engine keeps the goals at no rate, however low",
        );
    };
    let [input, output] = trial.tokens;
    Ok(Bursts::Simulated(SimulatedBursts {
        burstiness: asked.burstiness,
        engine: format!(
            "{}; requests of {input} tokens in and {output} out, all alike",
            trial.scenario.describe()
        ),
        measured_with,
        as_measured: PerSec::new(as_measured),
        under_bursts: PerSec::new(under_bursts),
        pooled: pooled(&bursty, under_bursts)?,
    }))
}

/// The simulated engine, with arrivals as they were measured, and what was measured; or why there is none.
fn trial<'a>(
    source: &PlanSource,
    found: &Found,
    asked: &'a Asked<'_>,
) -> Result<Result<(Trial<'a>, Carried), &'static str>, Fail> {
    let Some(physics) = &found.physics else { return Ok(Err(super::NO_MODEL)) };
    let Some(calibration) = &physics.files().calibration else {
        return Ok(Err(
            "there is no calibration of the engine: --calibration FILE, of `fizeau sol --fit`",
        ));
    };
    let (Some(input), Some(output)) = (source.lengths.input, source.lengths.output) else {
        return Ok(Err("the lengths of requests are not known: --input-len, --output-len"));
    };
    let Ok(carried) = source.carried(&asked.plan.goals) else {
        return Ok(Err("the goals are not met"));
    };
    let is_goodput = |goal: &Goal| matches!(goal.metric, Metric::GoodShare | Metric::GoodputPerSec);
    if asked.goodput.is_empty() && asked.plan.goals.iter().any(is_goodput) {
        return Ok(Err("a goal on goodput can be simulated only with --goodput"));
    }
    let scenario = scenario(physics, calibration)?;
    let tokens = [whole(input), whole(output)];
    let spacing = random(found.burstiness.unwrap_or(1.0));
    Ok(Ok((Trial { scenario, tokens, asked, spacing, requests: REQUESTS }, carried)))
}

/// What the simulated replica carries with arrivals as they were measured, and how they came.
fn as_measured(trial: &Trial<'_>, carried: &Carried) -> Result<(Option<f64>, String), Fail> {
    match carried.nearest {
        LoadPoint::Concurrency(slots) => {
            Ok((trial.most(Kind::Closed, slots.into())?, "a closed loop".to_owned()))
        }
        LoadPoint::Rate(_) => {
            let words = match trial.spacing {
                Spacing::Random { burstiness: 1.0 } => "Poisson".to_owned(),
                Spacing::Random { burstiness } => format!("burstiness {burstiness}"),
                Spacing::Even => "evenly spaced".to_owned(),
            };
            Ok((trial.most(Kind::Open, carried.requests_per_s.value())?, words))
        }
    }
}

/// What each of the plan's replicas carries where they share the arrivals.
fn pooled(bursty: &Trial<'_>, each: f64) -> Result<Option<(u32, PerSec)>, Fail> {
    let Ok(fleet) = bursty.asked.plan.demand.fleet(each) else { return Ok(None) };
    let count = u32::try_from(fleet.needed).unwrap_or(MOST_POOLED).min(MOST_POOLED);
    let Some(count) = NonZeroU32::new(count).filter(|count| count.get() > 1) else {
        return Ok(None);
    };
    let shared = bursty.scenario.clone().with_replicas(count, Routing::LeastInFlight);
    let Ok(scenario) = shared else { return Ok(None) };
    let all = f64::from(count.get());
    let requests = REQUESTS.saturating_mul(NonZeroU64::from(count));
    let most = Trial { scenario, requests, ..bursty.clone() }.most(Kind::Open, each * all)?;
    Ok(most.map(|most| (count.get(), PerSec::new(most / all))))
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

fn random(burstiness: f64) -> Spacing {
    match burstiness.is_finite() {
        true => Spacing::Random { burstiness },
        false => Spacing::Even,
    }
}

/// Whether a load waits for its replies.
#[derive(Clone, Copy)]
enum Kind {
    Open,
    Closed,
}

/// A simulated engine, and what it is asked within what.
#[derive(Clone)]
struct Trial<'a> {
    scenario: Scenario,
    /// Of a prompt and of an output.
    tokens: [Tokens; 2],
    asked: &'a Asked<'a>,
    spacing: Spacing,
    /// Requests of a level.
    requests: NonZeroU64,
}

impl Trial<'_> {
    /// The most requests per second within the goals, from `start` on; none where no load keeps them.
    fn most(&self, kind: Kind, start: f64) -> Result<Option<f64>, Fail> {
        let spec = self.spec()?;
        let (mut kept, mut broken, mut levels) = (None, None, Vec::new());
        let mut next = start;
        for _ in 0..MOST_STEPS + HALVINGS {
            let Some(level) = self.level(&spec, kind, next)? else { break };
            let is_kept = Carried::of(std::slice::from_ref(&level), &self.asked.plan.goals).is_ok();
            let at = level.load.value();
            levels.push(level);
            if is_kept {
                kept = Some(at)
            } else {
                broken = Some(at)
            }
            next = match (kept, broken) {
                (Some(kept), None) => kept * STEP,
                (None, Some(broken)) => broken / STEP,
                (Some(kept), Some(broken)) if broken / kept > STEP.powf(1.0 / 16.0) => {
                    (kept * broken).sqrt()
                }
                _ => break,
            };
            if matches!(kind, Kind::Closed)
                && levels.iter().any(|level| level.load.value() == next.round())
            {
                break;
            }
        }
        let carried = Carried::of(&levels, &self.asked.plan.goals);
        Ok(carried.ok().map(|carried| carried.requests_per_s.value()).filter(|most| *most > 0.0))
    }

    fn spec(&self) -> Result<SweepSpec, Fail> {
        let workload = Spec::new(self.requests.get()).map_err(Fail::broken)?;
        let [input, output] = self.tokens.map(Tokens::get);
        let lengths = Lengths::fixed(input, output);
        let workload = Spec { lengths, content: Content::Unread, ..workload };
        let goals = self.asked.goodput.clone();
        Ok(SweepSpec { spacing: self.spacing, goals, ..SweepSpec::new([], workload) })
    }

    /// A level in virtual time; none where nothing completed.
    fn level(&self, spec: &SweepSpec, kind: Kind, load: f64) -> Result<Option<PlanLevel>, Fail> {
        let load = match kind {
            Kind::Open => LevelLoad::Rate(PerSec::new(load)),
            Kind::Closed => LevelLoad::Concurrency(
                NonZeroU32::new(load.round() as u32).unwrap_or(NonZeroU32::MIN),
            ),
        };
        let (time, cancel) = (VirtualTime::new(), Cancel::new());
        let transport = SimTransport::new(&time, self.scenario.serve()).with_delay(DELAY);
        let rig =
            Rig { transport: &transport, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
        let mut sweep = Sweep::new(rig, spec, None);
        let size = LevelSize { requests: Some(self.requests), time: None, warmup: None };
        let ask = LevelAsk { load, visit: 0, size };
        let level = time.block_on(sweep.level(ask, &mut ())).map_err(Fail::broken)?;
        let level = level.map_err(Fail::broken)?;
        Ok(level.and_then(|level| PlanLevel::simulated(load_point(load), &level.run.summary)))
    }
}

/// How long a request is on its way, as `fizeau simulate` has it by default.
const DELAY: Nanos = Nanos::from_micros(50);
