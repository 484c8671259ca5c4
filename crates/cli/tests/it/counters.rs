//! What pages of metrics count over a level, against what the engine itself did in it.

use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::{Arc, Mutex};

use fizeau::core::{Bytes, BytesPerSec, Nanos, Stamp, Tokens};
use fizeau::experiment::{
    Experiment, SweepLoads, SweepRates, TelemetrySpec, WorkloadSpec, level_size,
};
use fizeau::roofline::{Acceptance, CacheTransfer};
use fizeau::sim::http::ServerConfig;
use fizeau::sim::{
    DisaggregatedEngine, Emission, Engine, EngineConfig, EngineDrafts, EngineJob, EnginePass,
    FixedStep, Gauges, Handover, JobId, PrefixCaching, ReplicaRouting, Replicas, Serve, StepModel,
    SubmitError,
};
use fizeau::telemetry::{CounterOver, HistogramOver, ReportedCounter, ServerWindow};
use fizeau::transport::{Backend, Target};
use fizeau::workload::{Length, Lengths, SharedPrefix};

use crate::stand::serve;

/// What an engine was given and what it did.
#[derive(Default)]
struct Deeds {
    jobs: Vec<EngineJob>,
    emissions: Vec<Emission>,
    /// Each rank when the first job was over, which is the one that looks at the endpoint.
    before: Vec<Gauges>,
    now: Vec<Gauges>,
}

/// An engine that writes down what it does.
struct Watched {
    engine: Box<dyn Serve + Send>,
    deeds: Arc<Mutex<Deeds>>,
}

impl Serve for Watched {
    fn submit(&mut self, job: EngineJob) -> Result<(), SubmitError> {
        self.deeds.lock().unwrap().jobs.push(job.clone());
        self.engine.submit(job)
    }

    fn cancel(&mut self, id: JobId) {
        self.engine.cancel(id);
    }

    fn next_event(&self) -> Option<Stamp> {
        self.engine.next_event()
    }

    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission)) {
        let mut deeds = self.deeds.lock().unwrap();
        self.engine.advance(to, &mut |emission| {
            deeds.emissions.push(emission);
            emit(emission);
        });
        deeds.now = self.engine.gauges_by_rank();
        if deeds.jobs.len() == 1 {
            deeds.before = deeds.now.clone();
        }
    }

    fn longest_job(&self) -> Option<Tokens> {
        self.engine.longest_job()
    }

    fn prefix_block(&self) -> Option<NonZeroU64> {
        self.engine.prefix_block()
    }

    fn record_passes(&mut self) {
        self.engine.record_passes();
    }

    fn take_passes(&mut self, take: &mut dyn FnMut(EnginePass)) {
        self.engine.take_passes(take);
    }

    fn gauges(&self) -> Gauges {
        self.engine.gauges()
    }

    fn gauges_by_rank(&self) -> Vec<Gauges> {
        self.engine.gauges_by_rank()
    }
}

/// A level of 24 requests, six at once, at `engine`: what the server's pages come to, and what the engine did.
fn measured(engine: impl Serve + Send + 'static) -> (ServerWindow, Deeds) {
    let deeds = Arc::new(Mutex::new(Deeds::default()));
    let watched = Watched { engine: Box::new(engine), deeds: Arc::clone(&deeds) };
    let server = serve(ServerConfig::new(watched));
    let mut workload = WorkloadSpec::default();
    let between =
        |least, most| Length::Between { least: Tokens::new(least), most: Tokens::new(most) };
    workload.lengths = Lengths::Independent { input: between(40, 90), output: between(2, 30) };
    workload.prefix = SharedPrefix::Common { tokens: Tokens::new(32) };
    let target = Target::new(&server.base_url(), Backend::Vllm, "m").unwrap();
    let experiment = Experiment::new(target)
        .workload(workload)
        .loads(SweepLoads::new(&[6], SweepRates::default()).unwrap())
        .size(level_size(Some(24), None, Some(0)).unwrap())
        .telemetry(TelemetrySpec::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let sweep = runtime.block_on(experiment.run(&mut ())).unwrap();
    let said = sweep.levels()[0].telemetry.as_ref().unwrap().server.clone().unwrap();
    drop(server);
    (said, std::mem::take(&mut *deeds.lock().unwrap()))
}

fn config(blocks: u64, groups: u64) -> EngineConfig {
    EngineConfig {
        max_batched_tokens: Tokens::new(64),
        prefix_caching: PrefixCaching::On,
        groups,
        ..EngineConfig::new(4, Tokens::new(16 * blocks))
    }
}

fn engine(config: EngineConfig) -> Engine<StepModel> {
    let step = FixedStep {
        per_step: Nanos::from_micros(300),
        per_sequence: Nanos::from_micros(10),
        per_prompt_token: Nanos::from_micros(1),
    };
    Engine::new(config, StepModel::from(step)).unwrap()
}

fn drafts() -> Option<EngineDrafts> {
    Some(EngineDrafts { length: 3, acceptance: Acceptance::uniform(0.7).unwrap() })
}

/// A counter of several ranks grew by `truth` in all, and the edges of the level leave no doubt of it.
fn is(told: Option<&ReportedCounter>, truth: u64) {
    let told = told.unwrap();
    same(&told.metric, told.figure, truth as f64);
}

fn same(name: &str, CounterOver { low, delta, high, .. }: CounterOver, truth: f64) {
    for value in [low, delta, high] {
        assert!((value - truth).abs() <= 1e-9 * truth.max(1.0), "{name}: {value} is not {truth}");
    }
}

/// A histogram has just these values.
fn has(told: &HistogramOver, values: &[f64]) {
    same("count", told.count, values.len() as f64);
    same("sum", told.sum, values.iter().sum());
    let mut above = f64::NEG_INFINITY;
    for bucket in &told.buckets {
        let to = bucket.up_to.unwrap_or(f64::INFINITY);
        // Edges in milliseconds are those in seconds a thousand times.
        let (low, high) = (above * (1.0 + 1e-12), to * (1.0 + 1e-12));
        let inside = values.iter().filter(|value| low < **value && **value <= high).count();
        assert_eq!(bucket.count, inside as f64, "{above} to {to} of {values:?}");
        above = to;
    }
}

/// Every counter and every histogram of the level is what the engine did, to the token and the nanosecond.
fn is_the_engines_truth(said: &ServerWindow, deeds: &Deeds) {
    let jobs = &deeds.jobs[1..];
    assert_eq!(jobs.len(), 24);
    let grew = |of: &dyn Fn(&Gauges) -> u64| {
        let sum = |all: &[Gauges]| all.iter().map(of).sum::<u64>();
        sum(&deeds.now) - sum(&deeds.before)
    };
    assert_eq!(said.engines as usize, deeds.now.len());
    let capacity: u64 = deeds.now.iter().map(|rank| rank.cache_tokens).sum();
    assert_eq!(said.kv_capacity_tokens, Some(Tokens::new(capacity)));
    is(said.preemptions.as_ref(), grew(&|rank| rank.preemptions));
    is(said.prefix_queries.as_ref(), grew(&|rank| rank.prefix_queries));
    is(said.prefix_hits.as_ref(), grew(&|rank| rank.prefix_hits));
    if deeds.now[0].accepted_by_position.is_empty() {
        assert!(said.drafts.is_none() && said.accepted_by_position.is_empty());
    } else {
        is(said.drafts.as_ref(), grew(&|rank| rank.drafts));
        is(said.draft_tokens.as_ref(), grew(&|rank| rank.drafted));
        is(said.accepted_tokens.as_ref(), grew(&|rank| rank.accepted));
        for position in 0..3 {
            let accepted = grew(&|rank| rank.accepted_by_position[position]);
            is(said.accepted_by_position.get(&(position as u32)), accepted);
            assert!(accepted > 0, "{position}");
        }
    }
    let of = |job: &EngineJob| {
        deeds.emissions.iter().filter(|emission| emission.job == job.id).collect()
    };
    let replies: Vec<(&EngineJob, Vec<&Emission>)> =
        jobs.iter().map(|job| (job, of(job))).collect();
    let (mut prompts, mut cached) = (0, 0);
    let mut iterations: BTreeMap<(u32, Stamp), u64> = BTreeMap::new();
    let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (job, reply) in &replies {
        let (first, last) = (reply[0], reply[reply.len() - 1]);
        let hit = first.timing.cached_tokens.get();
        prompts += job.prompt_tokens.get();
        cached += hit;
        *iterations.entry((first.rank, first.at)).or_default() += job.prompt_tokens.get() - hit;
        for emission in reply {
            *iterations.entry((emission.rank, emission.at)).or_default() += emission.count;
        }
        let mut took = |name, from: Stamp, to: Stamp| {
            times.entry(name).or_default().push(to.since(from).unwrap().as_nanos() as f64 / 1e6);
        };
        let admitted = last.timing.admitted;
        took("ttft", job.at, first.at);
        took("e2el", job.at, last.at);
        took("queue", job.at, admitted);
        took("prefill", admitted, first.at);
        took("decode", first.at, last.at);
        took("inference", admitted, last.at);
        let pace = last.at.since(first.at).unwrap().as_nanos() / (last.index + last.count - 1);
        reply.windows(2).for_each(|two| took("itl", two[0].at, two[1].at));
        times.entry("tpot").or_default().push(pace as f64 / 1e6);
    }
    let generated = replies.iter().flat_map(|(_, reply)| reply).map(|emission| emission.count);
    is(said.prompt_tokens.as_ref(), prompts);
    is(said.prompt_tokens_cached.as_ref(), cached);
    for (source, truth) in [
        ("local_compute", prompts - cached),
        ("local_cache_hit", cached),
        ("external_kv_transfer", 0),
    ] {
        is(said.prompt_tokens_by_source.get(source), truth);
    }
    is(said.generation_tokens.as_ref(), generated.sum());
    is(said.requests.as_ref(), 24);
    for (name, told) in [
        ("ttft", &said.ttft),
        ("itl", &said.itl),
        ("tpot", &said.tpot),
        ("e2el", &said.e2el),
        ("queue", &said.queue_time),
        ("prefill", &said.prefill_time),
        ("decode", &said.decode_time),
        ("inference", &said.inference_time),
    ] {
        has(&told.as_ref().unwrap().figure, &times[name]);
    }
    let iterations: Vec<f64> = iterations.values().map(|tokens| *tokens as f64).collect();
    has(&said.iteration_tokens.as_ref().unwrap().figure, &iterations);
}

#[test]
fn what_a_full_cache_preempts_is_counted() {
    let (said, deeds) = measured(engine(config(14, 1)));
    is_the_engines_truth(&said, &deeds);
    assert!(said.preemptions.unwrap().figure.delta > 0.0);
    assert!(said.prefix_hits.unwrap().figure.delta > 0.0);
}

#[test]
fn groups_of_attention_are_engines_that_draft() {
    let (said, deeds) = measured(engine(EngineConfig { drafts: drafts(), ..config(200, 2) }));
    is_the_engines_truth(&said, &deeds);
}

#[test]
fn replicas_of_groups_are_as_many_engines() {
    let one = || engine(EngineConfig { drafts: drafts(), ..config(100, 2) });
    let two = Replicas::new(vec![one(), one()], ReplicaRouting::RoundRobin).unwrap();
    let (said, deeds) = measured(two);
    is_the_engines_truth(&said, &deeds);
    let ranks: BTreeSet<u32> = deeds.emissions.iter().map(|emission| emission.rank).collect();
    assert_eq!(ranks, BTreeSet::from([0, 1, 2, 3]), "all of them gave tokens");
}

#[test]
fn engines_that_read_and_engines_that_decode_are_told_apart() {
    let handover = Handover {
        per_token: Bytes::new(1.0),
        per_sequence: Bytes::new(0.0),
        links: NonZeroU32::MIN,
        bandwidth: BytesPerSec::new(100_000.0),
        latency: Nanos::from_micros(100),
        transfer: CacheTransfer::BeforeSecondToken,
        layers: NonZeroU32::MIN,
    };
    let one = || engine(config(100, 1));
    let apart = DisaggregatedEngine::new(vec![one()], vec![one(), one()], handover).unwrap();
    let (said, deeds) = measured(apart);
    is_the_engines_truth(&said, &deeds);
    assert!(deeds.emissions.iter().all(|emission| (emission.rank == 0) == (emission.index == 0)));
}
