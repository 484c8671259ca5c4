//! What a client sees of a run.

use std::sync::Arc;

use fizeau_core::{Nanos, Stamp, Tokens};
use fizeau_sim::{
    Engine, EngineConfig, EngineJob, JobTiming, Overheads, RooflineStep, Scenario, Serve, StepLoad,
    StepTime,
};

use crate::support::{drain, job};

/// One job as its client saw it; lengths of time in seconds.
pub(super) struct Seen {
    pub(super) id: u64,
    pub(super) ttft: f64,
    /// Between tokens, in order.
    pub(super) gaps: Vec<f64>,
    pub(super) timing: JobTiming,
}

impl Seen {
    /// From the first token to the last, for each token but the first.
    pub(super) fn tpot(&self) -> f64 {
        self.gaps.iter().sum::<f64>() / self.gaps.len() as f64
    }
}

/// Serves `jobs`, submitted ahead; what became of each is in order of their numbers.
pub(super) fn run(serve: &mut impl Serve, jobs: &[EngineJob]) -> Vec<Seen> {
    jobs.iter().for_each(|job| serve.submit(job.clone()).unwrap());
    let emissions = drain(serve);
    let mut seen: Vec<(Option<Seen>, Stamp)> = jobs.iter().map(|job| (None, job.at)).collect();
    for emission in emissions {
        let (of_job, before) = &mut seen[emission.job.0 as usize];
        let gap = emission.at.since(*before).unwrap().as_secs_f64();
        *before = emission.at;
        let Some(of_job) = of_job else {
            let (id, timing) = (emission.job.0, emission.timing);
            *of_job = Some(Seen { id, ttft: gap, gaps: Vec::new(), timing });
            continue;
        };
        // Tokens of one emission arrive together.
        of_job.gaps.push(gap);
        of_job.gaps.extend((1..emission.count).map(|_| 0.0));
        of_job.timing = emission.timing;
    }
    seen.into_iter().map(|(of_job, _)| of_job.unwrap()).collect()
}

/// Llama-3.1-8B in bf16 on one H100 SXM, with the usual overheads.
pub(super) fn step() -> RooflineStep {
    let scenario = Scenario::llama_3_1_8b_h100().unwrap();
    RooflineStep::new(scenario.system().clone(), Overheads::default()).unwrap()
}

/// What all these engines have in common: more than enough room.
pub(super) fn roomy() -> EngineConfig {
    EngineConfig::new(256, Tokens::new(400_000))
}

pub(super) fn engine(config: EngineConfig) -> Engine<RooflineStep> {
    Engine::new(config, step()).unwrap()
}

/// How long a step takes in which `sequences` decode at `context` each.
pub(super) fn decode_step(sequences: u64, context: u64) -> Nanos {
    step().step_time(&StepLoad {
        decode_sequences: sequences,
        decode_context_tokens: Tokens::new(sequences * context),
        sampled_sequences: sequences,
        ..StepLoad::default()
    })
}

/// A job whose first `shared` blocks of 16 tokens are those of its `family`, and whose others are its own.
pub(super) fn of_family(family: u64, shared: u64, plain: &EngineJob) -> EngineJob {
    let blocks = plain.total_tokens().get() / 16;
    let own = 1_000_000 * (1 + plain.id.0);
    let hash = |block| if block < shared { family * 1_000 + block } else { own + block };
    let content: Arc<[u64]> = (0..blocks).map(hash).collect();
    EngineJob { content: Some(content), ..plain.clone() }
}

/// `count` jobs of one shape, the first at `from` and then every `gap`, numbered on from `id`.
pub(super) fn stream(
    id: u64,
    count: u64,
    shape: (u64, u64),
    from: Stamp,
    gap: Nanos,
) -> Vec<EngineJob> {
    (0..count).map(|i| job(id + i, shape.0, shape.1, from + gap * i)).collect()
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

pub(super) fn most(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}
