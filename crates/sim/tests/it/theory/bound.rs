//! No setting makes an engine, or several, faster than silicon.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::{Bytes, Nanos, Tokens};
use fizeau_roofline::{
    Acceptance, Admission, Bound, CacheTransfer, Drafter, PowerDraw, RequestLengths, Serving,
    System,
};
use fizeau_sim::{
    AdmissionOrder, Chunking, DisaggregatedEngine, Engine, EngineConfig, EngineDrafts, EngineJob,
    Handover, Policy, PrefixCaching, ReplicaRouting, Replicas, RooflineStep, Serve,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::{NONE, SYSTEMS, drain, job, ms, system};

/// How engines are put together.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Replicas(usize, ReplicaRouting),
    Apart(usize, usize, CacheTransfer),
}

fn shapes() -> impl Strategy<Value = Shape> {
    let routing =
        [ReplicaRouting::RoundRobin, ReplicaRouting::LeastInFlight, ReplicaRouting::PrefixAware];
    let transfer = [
        CacheTransfer::BeforeFirstToken,
        CacheTransfer::BeforeSecondToken,
        CacheTransfer::LayerWise,
    ];
    prop_oneof![
        (1usize..5, prop::sample::select(routing.to_vec()))
            .prop_map(|(count, routing)| Shape::Replicas(count, routing)),
        (1usize..4, 1usize..4, prop::sample::select(transfer.to_vec()))
            .prop_map(|(prefill, decode, transfer)| Shape::Apart(prefill, decode, transfer)),
    ]
}

/// None, or drafts that are always accepted, or nearly so.
fn drafts() -> impl Strategy<Value = Option<EngineDrafts>> {
    let drafts = (1u32..6, prop::sample::select(vec![0.9, 1.0])).prop_map(|(length, share)| {
        let acceptance = Acceptance::uniform(share).unwrap();
        EngineDrafts { length, acceptance }
    });
    prop::option::of(drafts)
}

fn configs() -> impl Strategy<Value = EngineConfig> {
    let switches = (
        prop::sample::select(vec![Policy::Mixed, Policy::PrefillFirst]),
        prop::sample::select(vec![Chunking::Chunked, Chunking::Whole]),
        prop::sample::select(vec![Admission::AsItGrows, Admission::Whole]),
        prop::sample::select(vec![AdmissionOrder::Arrival, AdmissionOrder::Priority]),
        prop::sample::select(vec![vec![], vec![1, 2, 4, 8]]),
        prop::sample::select(vec![PrefixCaching::Off, PrefixCaching::On]),
        drafts(),
    );
    // A cache of the longest job up to plenty, so that some runs preempt.
    (1u64..9, 190u64..1_000, 16u64..4_096, switches).prop_map(|(slots, blocks, budget, of)| {
        let (policy, chunking, admission, order, captured, prefix_caching, drafts) = of;
        // Less than a token of each sequence with its drafts is refused.
        let each = drafts.as_ref().map_or(1, |drafts| u64::from(drafts.length) + 1);
        EngineConfig {
            blocks,
            max_batched_tokens: Tokens::new(budget.max(slots * each)),
            policy,
            chunking,
            admission,
            order,
            captured,
            prefix_caching,
            drafts,
            ..EngineConfig::new(slots, Tokens::ZERO)
        }
    })
}

/// The silicon alone, at half its power or at any.
fn step(system: &System, limited: bool) -> RooflineStep {
    let step = RooflineStep::new(system.clone(), NONE).unwrap();
    if !limited {
        return step;
    }
    let draw = PowerDraw::estimate(system.device()).unwrap();
    step.with_power_limit(draw, system.device().tdp().unwrap() * 0.5).unwrap()
}

/// A job whose first so many blocks are those of all.
fn with_content(job: &EngineJob, common: u64) -> EngineJob {
    let own = 1_000 * (job.id.0 + 1);
    let blocks = 0..job.total_tokens().get() / 16;
    let content = blocks.map(|block| if block < common { block } else { own + block }).collect();
    EngineJob { content: Some(content), ..job.clone() }
}

/// Engines of one kind, and how many they are.
fn build(
    system: &System,
    config: &EngineConfig,
    step: RooflineStep,
    shape: Shape,
) -> (Box<dyn Serve>, f64) {
    let step = match &config.drafts {
        Some(drafts) => step.with_drafter(Drafter::Lookup, NonZeroU32::new(drafts.length).unwrap()),
        None => step,
    };
    let engines = |count: usize| {
        let engine = || Engine::new(config.clone(), step.clone()).unwrap();
        (0..count).map(|_| engine()).collect::<Vec<_>>()
    };
    match shape {
        Shape::Replicas(count, routing) => {
            (Box::new(Replicas::new(engines(count), routing).unwrap()), count as f64)
        }
        Shape::Apart(prefill, decode, transfer) => {
            let link = system.device().link().copied().unwrap();
            let layers = system.model().layers.iter().map(|layers| layers.count).sum::<u64>();
            let handover = Handover {
                per_token: Bytes::new(1e4),
                per_sequence: Bytes::new(0.0),
                links: NonZeroU32::MIN,
                bandwidth: link.bandwidth,
                latency: Nanos::ZERO,
                transfer,
                layers: NonZeroU32::new(layers as u32).unwrap(),
            };
            let apart =
                DisaggregatedEngine::new(engines(prefill), engines(decode), handover).unwrap();
            (Box::new(apart), (prefill + decode) as f64)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, rng_seed: RngSeed::Fixed(1862), ..ProptestConfig::default() })]

    /// Tokens over the time from the first arrival to the last token, of all engines, against the bound of
    /// as many devices as they have; and the first token of each job against the bound of one alone.
    #[test]
    fn nothing_beats_the_bound_at_any_setting(
        which in 0..SYSTEMS.len(),
        config in configs(),
        shape in shapes(),
        limited in prop::bool::weighted(0.2),
        jobs in prop::collection::vec((1u64..3_000, 1u64..40, 0u64..200), 1..16),
    ) {
        let mut serving = Serving::default();
        let drafted = config.drafts.as_ref().map_or(0, |drafts| drafts.length);
        serving.tokens_per_step = NonZeroU64::new(1 + u64::from(drafted)).unwrap();
        let system = system(which).with_serving(serving);
        let config = EngineConfig { groups: system.deployment().attention_groups().into(), ..config };
        let (mut serve, engines) = build(&system, &config, step(&system, limited), shape);
        for (id, &(input, output, common)) in jobs.iter().enumerate() {
            serve.submit(with_content(&job(id as u64, input, output, ms(0)), common)).unwrap();
        }
        let emissions = drain(&mut serve);
        let mut lengths = RequestLengths::for_model(system.model());
        for first in emissions.iter().filter(|emission| emission.index == 0) {
            let (input, output, _) = jobs[first.job.0 as usize];
            let mut alone = RequestLengths::for_model(system.model());
            alone.add_cached(Tokens::new(input), first.timing.cached_tokens, Tokens::new(output));
            prop_assert!(lengths.merge(&alone));
            let bound = Bound::over(&system, &alone, NonZeroU64::MIN).unwrap();
            let ttft = first.at.since(ms(0)).unwrap().as_secs_f64();
            prop_assert!(ttft >= bound.ttft.get() * (1.0 - 1e-6));
        }
        let tokens: u64 = emissions.iter().map(|emission| emission.count).sum();
        prop_assert_eq!(tokens, jobs.iter().map(|&(_, output, _)| output).sum::<u64>());
        let span = emissions.last().unwrap().at.since(ms(0)).unwrap().as_secs_f64();
        let slots = NonZeroU64::new(config.max_num_seqs * config.groups).unwrap();
        let bound = Bound::over(&system, &lengths, slots).unwrap();
        let rate = tokens as f64 / span;
        // Steps are whole nanoseconds.
        prop_assert!(rate <= engines * bound.output_tokens_per_s.get() * (1.0 + 1e-6));
    }
}
