//! No setting makes an engine, or several, faster than silicon.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::{Bytes, Nanos, Tokens};
use fizeau_roofline::{
    Acceptance, Admission, Bound, Deployment, Device, Drafter, KnownModel, Lengths, Serving,
    System, Transfer,
};
use fizeau_sim::{
    Chunking, Disaggregated, Drafts, Engine, EngineConfig, Handover, Order, Overheads, Policy,
    Replicas, RooflineStep, Routing, Serve,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::{drain, job, ms};

/// The silicon alone.
const NONE: Overheads = Overheads {
    bandwidth_efficiency: 1.0,
    compute_efficiency: 1.0,
    per_step: Nanos::ZERO,
    per_sequence: Nanos::ZERO,
    per_layer: Nanos::ZERO,
    per_collective: Nanos::ZERO,
};

const SYSTEMS: [(&str, &str, &str); 6] = [
    ("qwen3-0.6b", "h100-sxm", "1 device"),
    ("llama-3.1-8b", "h200-sxm", "1 device"),
    ("llama-3.1-70b", "h100-sxm", "TP4"),
    ("gpt-oss-20b", "h100-sxm", "1 device"),
    ("deepseek-v3", "b200-sxm", "TP8"),
    ("nemotron-h-56b", "h200-sxm", "TP4"),
];

fn system(which: usize) -> System {
    let (name, device, deployment) = SYSTEMS[which];
    let model = KnownModel::named(name).unwrap().model().unwrap();
    let deployment: Deployment = deployment.parse().unwrap();
    System::new(model, Device::named(device).unwrap().clone(), deployment).unwrap()
}

/// How engines are put together.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Replicas(usize, Routing),
    Apart(usize, usize, Transfer),
}

fn shapes() -> impl Strategy<Value = Shape> {
    let routing = [Routing::RoundRobin, Routing::LeastInFlight, Routing::PrefixAware];
    let transfer = [Transfer::BeforeFirstToken, Transfer::BeforeSecondToken, Transfer::LayerWise];
    prop_oneof![
        (1usize..5, prop::sample::select(routing.to_vec()))
            .prop_map(|(count, routing)| Shape::Replicas(count, routing)),
        (1usize..4, 1usize..4, prop::sample::select(transfer.to_vec()))
            .prop_map(|(prefill, decode, transfer)| Shape::Apart(prefill, decode, transfer)),
    ]
}

/// None, or drafts that are always accepted, or nearly so.
fn drafts() -> impl Strategy<Value = Option<Drafts>> {
    let drafts = (1u32..6, prop::sample::select(vec![0.9, 1.0])).prop_map(|(length, share)| {
        let acceptance = Acceptance::uniform(share).unwrap();
        Drafts { length, acceptance }
    });
    prop::option::of(drafts)
}

fn configs() -> impl Strategy<Value = EngineConfig> {
    let switches = (
        prop::sample::select(vec![Policy::Mixed, Policy::PrefillFirst]),
        prop::sample::select(vec![Chunking::Chunked, Chunking::Whole]),
        prop::sample::select(vec![Admission::AsItGrows, Admission::Whole]),
        prop::sample::select(vec![Order::Arrival, Order::Priority]),
        prop::sample::select(vec![vec![], vec![1, 2, 4, 8]]),
        drafts(),
    );
    // A cache of the longest job up to plenty, so that some runs preempt.
    (1u64..9, 190u64..1_000, 16u64..4_096, switches).prop_map(|(slots, blocks, budget, of)| {
        let (policy, chunking, admission, order, captured, drafts) = of;
        EngineConfig {
            blocks,
            max_batched_tokens: Tokens::new(budget),
            policy,
            chunking,
            admission,
            order,
            captured,
            drafts,
            ..EngineConfig::new(slots, Tokens::ZERO)
        }
    })
}

/// Engines of one kind, and how many they are.
fn build(system: &System, config: &EngineConfig, shape: Shape) -> (Box<dyn Serve>, f64) {
    let step = RooflineStep::new(system.clone(), NONE).unwrap();
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
            let layers = system.model().layers().iter().map(|layers| layers.count).sum::<u64>();
            let handover = Handover {
                per_token: Bytes::new(1e4),
                per_sequence: Bytes::new(0.0),
                links: NonZeroU32::MIN,
                bandwidth: link.bandwidth,
                latency: Nanos::ZERO,
                transfer,
                layers: NonZeroU32::new(layers as u32).unwrap(),
            };
            let apart = Disaggregated::new(engines(prefill), engines(decode), handover).unwrap();
            (Box::new(apart), (prefill + decode) as f64)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, rng_seed: RngSeed::Fixed(1862), ..ProptestConfig::default() })]

    /// Tokens over the time from the first arrival to the last token, of all engines, against the bound of
    /// as many devices as they have; and the first token of each job against the bound of one alone.
    #[test]
    fn nothing_beats_the_bound_at_any_setting(
        which in 0..SYSTEMS.len(),
        config in configs(),
        shape in shapes(),
        jobs in prop::collection::vec((1u64..3_000, 1u64..40), 1..16),
    ) {
        let mut serving = Serving::default();
        let drafted = config.drafts.as_ref().map_or(0, |drafts| drafts.length);
        serving.tokens_per_step = NonZeroU64::new(1 + u64::from(drafted)).unwrap();
        let system = system(which).with_serving(serving);
        let (mut serve, engines) = build(&system, &config, shape);
        let mut lengths = Lengths::for_model(system.model());
        for (id, &(input, output)) in jobs.iter().enumerate() {
            serve.submit(job(id as u64, input, output, ms(0))).unwrap();
            lengths.add(Tokens::new(input), Tokens::new(output));
        }
        let emissions = drain(&mut serve);
        let tokens: u64 = emissions.iter().map(|emission| emission.count).sum();
        prop_assert_eq!(tokens, jobs.iter().map(|&(_, output)| output).sum::<u64>());
        let span = emissions.last().unwrap().at.since(ms(0)).unwrap().as_secs_f64();
        let slots = NonZeroU64::new(config.max_num_seqs).unwrap();
        let bound = Bound::over(&system, &lengths, slots).unwrap();
        let rate = tokens as f64 / span;
        // Steps are whole nanoseconds.
        prop_assert!(rate <= engines * bound.output_tokens_per_s.get() * (1.0 + 1e-6));

        for first in emissions.iter().filter(|emission| emission.index == 0) {
            let (input, output) = jobs[first.job.0 as usize];
            let mut alone = Lengths::for_model(system.model());
            alone.add(Tokens::new(input), Tokens::new(output));
            let bound = Bound::over(&system, &alone, NonZeroU64::MIN).unwrap();
            let ttft = first.at.since(ms(0)).unwrap().as_secs_f64();
            prop_assert!(ttft >= bound.ttft.get() * (1.0 - 1e-6));
        }
    }
}
