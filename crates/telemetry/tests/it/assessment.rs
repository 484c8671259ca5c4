//! What a server did, held against what its devices could do.

use std::num::NonZeroU64;

use fizeau_core::{Nanos, Tokens, UsdPerHour};
use fizeau_roofline::{
    Bound, ContextSpan, Deployment, Device, HourlyRate, KnownModel, Model, Pass, System,
    UniformLoad,
};
use fizeau_telemetry::{
    AssessmentError, ContextSource, History, Page, ServerWindow, ServingAssessment, ServingLimit,
    Window,
};
use proptest::prelude::*;

use super::pages::{at, instant};

/// What the server of a page does, all the time.
#[derive(Debug, Clone, Copy)]
struct Steady {
    /// Blocks of the cache, of 16 tokens each.
    blocks: f64,
    running: f64,
    waiting: f64,
    context: f64,
    output_per_s: f64,
    prompt_per_s: f64,
    requests_per_s: f64,
}

/// Nobody asks.
const IDLE: Steady = Steady {
    blocks: 30_000.0,
    running: 0.0,
    waiting: 0.0,
    context: 0.0,
    output_per_s: 0.0,
    prompt_per_s: 0.0,
    requests_per_s: 0.0,
};

impl Steady {
    /// Uniform requests at `share` of the bound that the requests themselves have.
    fn at_share(system: &System, load: &UniformLoad, share: f64) -> Self {
        let bound = Bound::at(system, load).unwrap();
        let requests_per_s = bound.requests_per_s.get() * share;
        let [input, output] = [load.input_tokens, load.output_tokens].map(|of| of.get() as f64);
        Self {
            running: bound.batch,
            context: input + output / 2.0,
            output_per_s: requests_per_s * output,
            prompt_per_s: requests_per_s * input,
            requests_per_s,
            ..IDLE
        }
    }

    fn page(&self, seconds: f64) -> Page {
        let Self { running, waiting, context, blocks, .. } = *self;
        let kv_use = running * context / (16.0 * blocks);
        let [output, prompt, requests] =
            [self.output_per_s, self.prompt_per_s, self.requests_per_s].map(|rate| rate * seconds);
        let text = format!(
            "vllm:num_requests_running {running}\nvllm:num_requests_waiting {waiting}\n\
             vllm:kv_cache_usage_perc {kv_use}\n\
             vllm:cache_config_info{{num_gpu_blocks=\"{blocks}\",block_size=\"16\"}} 1\n\
             vllm:generation_tokens_total {output}\nvllm:prompt_tokens_total {prompt}\n\
             vllm:request_success_total {requests}\n"
        );
        Page::read(text.as_bytes(), None).unwrap()
    }

    fn window(&self) -> ServerWindow {
        let mut history = History::new();
        for second in 0..=20 {
            history.record(instant(1_000 * second), &self.page(second as f64));
        }
        ServerWindow::of(&history, Window::within(at(0), at(20_000)), Nanos::from_secs(2))
    }

    fn assessed(&self, system: &System) -> ServingAssessment {
        let price = HourlyRate::given(UsdPerHour::new(2.0)).unwrap();
        ServingAssessment::of(&self.window(), Nanos::from_secs(20), system, Some(&price)).unwrap()
    }
}

fn system(deployment: Deployment) -> System {
    let model = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    System::new(model, Device::named("h100-sxm").unwrap().clone(), deployment).unwrap()
}

fn experts(tensor: u32) -> System {
    let model = KnownModel::named("gpt-oss-120b").unwrap().model().unwrap();
    let deployment = Deployment::SINGLE.with_tensor(tensor).unwrap();
    System::new(model, Device::named("b200-sxm").unwrap().clone(), deployment).unwrap()
}

/// As a load begins the gauge lags behind what its pages count: the bound is that of the batch which made the tokens.
#[test]
fn a_gauge_that_lags_makes_no_share_above_the_bound() {
    let mut history = History::new();
    for (second, running) in [(0, 0.0), (1, 4.0), (2, 16.0)] {
        let tokens = 2500 * second;
        let text = format!(
            "vllm:num_requests_running {running}\nvllm:generation_tokens_total {tokens}\n\
             vllm:inter_token_latency_seconds_count {tokens}\nvllm:inter_token_latency_seconds_sum {}\n",
            16 * second
        );
        history.record(instant(1_000 * second), &Page::read(text.as_bytes(), None).unwrap());
    }
    let window = Window::within(at(0), at(2_000));
    let server = ServerWindow::of(&history, window, Nanos::from_secs(2));
    let told =
        ServingAssessment::of(&server, Nanos::from_secs(2), &system(Deployment::SINGLE), None);
    let told = told.unwrap();
    assert_eq!(format!("{:.1}", told.running), "16.0");
    assert!(told.share.is_some_and(|share| (0.6..0.8).contains(&share)), "{told:?}");
    assert!(!told.is_impossible());
}

fn load(input: u64, output: u64, concurrency: u64) -> UniformLoad {
    let many = NonZeroU64::new(concurrency).unwrap();
    UniformLoad::new(Tokens::new(input), Tokens::new(output), many)
}

fn deployments() -> impl Strategy<Value = Deployment> {
    let one = Deployment::SINGLE;
    prop::sample::select(vec![
        one,
        one.with_tensor(2).unwrap(),
        one.with_pipeline(2).unwrap(),
        one.with_replicas(2).unwrap(),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The bound of the requests themselves is that of the counters, however many run and however long they are: what is possible is
    /// never called impossible, and what is not is.
    #[test]
    fn the_share_is_that_of_the_requests(
        deployment in deployments(),
        (input, output, concurrency) in (16_u64..4_000, 8_u64..1_000, 4_u64..64),
        share in 0.02..1.0,
    ) {
        let system = system(deployment);
        let load = load(input, output, concurrency);
        prop_assume!(Bound::at(&system, &load).unwrap().batch >= concurrency as f64);
        let now = Steady::at_share(&system, &load, share).assessed(&system);
        let found = now.share.unwrap();
        prop_assert_eq!((now.headline(), &now.even_routing), (Some(found), &None));
        prop_assert!(found <= share * 1.02, "{found} of {share}: {now:?}");
        prop_assert!(found >= share * 0.9, "{found} of {share}: {now:?}");
        prop_assert!(!now.is_impossible());
        // At the bound itself a whole number of requests may be one less.
        let same = now.same_latency.as_ref().map(|same| same.output_tokens_per_s.get());
        prop_assert!(share > 0.9 || same.unwrap() >= 0.95 * now.output_tokens_per_s.get());
        let beyond = Steady::at_share(&system, &load, 1.3).assessed(&system);
        prop_assert!(beyond.is_impossible());
    }

    /// A mixture of experts is held against balanced routing first, as its requests themselves are; and against the bound beside it.
    #[test]
    fn experts_are_held_against_even_routing(
        tensor in prop::sample::select(vec![1, 4]),
        (input, output, concurrency) in (16_u64..500, 200_u64..1_000, 8_u64..128),
        share in 0.02..0.9,
    ) {
        let system = experts(tensor);
        let load = load(input, output, concurrency);
        let bound = Bound::at(&system, &load).unwrap().output_tokens_per_s;
        // Prompts so long beside their replies that arithmetic limits both are held against the bound alone.
        let Some(even) = system.answer(&load).unwrap().evenly_routed else { return Ok(()) };
        let even = even.output_tokens_per_s;
        let now = Steady::at_share(&system, &load, share * even.get() / bound.get()).assessed(&system);
        let found = now.headline().unwrap();
        prop_assert!(found <= share * 1.02 && found >= share * 0.85, "{found} of {share}: {now:?}");
        let told = now.even_routing.as_ref().unwrap();
        prop_assert!(found > now.share.unwrap() && !now.is_impossible());
        let tpots = [&told.decode, &now.decode].map(|of| of.as_ref().unwrap().bound_tpot.get());
        prop_assert!(tpots[0] > tpots[1], "{now:?}");
        let same = [&told.same_latency, &now.same_latency].map(|of| of.as_ref().unwrap());
        prop_assert!(same[0].batch <= same[1].batch, "{now:?}");
        prop_assert!(same[0].output_tokens_per_s >= now.output_tokens_per_s * 0.95, "{now:?}");
    }

    #[test]
    fn more_tokens_of_the_same_devices_cost_less(share in 0.1..0.9, more in 1.01..1.1) {
        let system = system(Deployment::SINGLE);
        let of = |share| Steady::at_share(&system, &load(512, 128, 16), share).assessed(&system);
        let (less, more) = (of(share), of(share * more));
        let cost = |of: &ServingAssessment| of.usd_per_million_output_tokens.unwrap().get();
        prop_assert!(cost(&more) < cost(&less));
        let expected = 2.0 / 3_600.0 * 1e6 / less.output_tokens_per_s.get();
        prop_assert!((cost(&less) / expected - 1.0).abs() < 1e-9);
    }
}

/// Llama-3.1-8B on one H100: 15.0 GB of weights, 131 kB of cache a token.
#[test]
fn what_limits_is_named() {
    let system = system(Deployment::SINGLE);
    let of = |input, output, concurrency| {
        Steady::at_share(&system, &load(input, output, concurrency), 0.5)
    };
    let limit = |steady: Steady| steady.assessed(&system).limited_by;
    assert_eq!(limit(IDLE), ServingLimit::Idle);
    assert_eq!(limit(of(256, 256, 4)), ServingLimit::BatchTooSmall);
    // Four contexts of 384 tokens fill half of a small cache.
    assert_eq!(limit(Steady { blocks: 180.0, ..of(256, 256, 4) }), ServingLimit::Weights);
    assert_eq!(limit(of(6_000, 4_000, 40)), ServingLimit::Cache);
    assert_eq!(limit(of(4_000, 16, 32)), ServingLimit::Compute);
    assert_eq!(limit(Steady { waiting: 8.0, ..of(256, 256, 4) }), ServingLimit::Queue);
    // One that waits now and then is no queue.
    assert_eq!(limit(Steady { waiting: 0.3, ..of(256, 256, 4) }), ServingLimit::BatchTooSmall);
}

/// Faster than any server is without drafts, on the same devices.
#[test]
fn accepted_drafts_are_in_what_the_same_latency_allows() {
    let system = system(Deployment::SINGLE);
    let mut server = Steady::at_share(&system, &load(512, 256, 16), 1.5).window();
    let generated = server.generation_tokens.clone().unwrap();
    let part = |share: f64| {
        let figure = generated.figure.scaled(share);
        fizeau_telemetry::ReportedCounter { figure, ..generated.clone() }
    };
    // Two of three tokens are drafted.
    server.drafts = Some(part(1.0 / 3.0));
    server.accepted_tokens = Some(part(2.0 / 3.0));
    let now = ServingAssessment::of(&server, Nanos::from_secs(20), &system, None).unwrap();
    assert!(now.share.unwrap() < 1.0 && !now.is_impossible(), "{now:?}");
    let same = now.same_latency.as_ref().unwrap();
    assert!(same.batch >= 16 && same.output_tokens_per_s > now.output_tokens_per_s, "{now:?}");
}

/// SGLang counts no accepted tokens, and says how many a round of drafting gives.
#[test]
fn drafts_of_an_engine_that_tells_their_length_alone_are_in_the_bound() {
    let page = |second: u64| {
        let text = format!(
            "sglang:num_running_reqs 1\nsglang:spec_accept_length 3\n\
             sglang:generation_tokens_total {}\nsglang:inter_token_latency_seconds_count {}\n\
             sglang:inter_token_latency_seconds_sum {}\n",
            461 * second,
            461 * second,
            461.0 * 0.00217 * second as f64
        );
        Page::read(text.as_bytes(), None).unwrap()
    };
    let mut history = History::new();
    (0..=20).for_each(|second| history.record(instant(1_000 * second), &page(second)));
    let window = Window::within(at(0), at(20_000));
    let server = ServerWindow::of(&history, window, Nanos::from_secs(2));
    let system = system(Deployment::SINGLE);
    let now = ServingAssessment::of(&server, window.length(), &system, None).unwrap();
    let decode = now.decode.as_ref().unwrap();
    assert!((0.6..0.8).contains(&decode.share) && !now.is_impossible(), "{now:?}");
}

#[test]
fn an_idle_server_costs_and_has_no_share() {
    let idle = IDLE.assessed(&system(Deployment::SINGLE));
    assert_eq!((idle.share, idle.bound_output_tokens_per_s), (None, None));
    assert_eq!(
        (idle.decode, idle.same_latency, idle.usd_per_million_output_tokens),
        (None, None, None)
    );
}

#[test]
fn contexts_come_from_the_cache_or_from_lengths() {
    let system = system(Deployment::SINGLE);
    let steady = Steady::at_share(&system, &load(900, 200, 16), 0.5);
    let context = steady.assessed(&system).context.unwrap();
    assert_eq!(context.source, ContextSource::KvCache);
    assert!((context.tokens - 1_000.0).abs() < 1e-6, "{context:?}");
    // No request has ended yet: the ratio of prompts to tokens and the cache say as much.
    let early = Steady { requests_per_s: 0.0, ..steady }.assessed(&system);
    let share = |of: &ServingAssessment| of.share.unwrap();
    let late = steady.assessed(&system);
    assert!((share(&early) / share(&late) - 1.0).abs() < 1e-3, "{early:?} {late:?}");
}

/// The pool of blocks of a model with windows is shared by its kinds of layers: vLLM's says 5,790 tokens of a request of 2,000.
#[test]
fn a_cache_of_windows_says_nothing_of_contexts() {
    let text = include_str!("../../../../fixtures/configs/gemma-3-27b.json");
    let model = Model::from_config_json(text).unwrap();
    let device = Device::named("h200-sxm").unwrap().clone();
    let windowed = System::new(model, device, Deployment::SINGLE).unwrap();
    let steady = Steady::at_share(&windowed, &load(1_900, 200, 16), 0.5);
    let pooled = Steady { context: 5_790.0, ..steady };
    let context = pooled.assessed(&windowed).context.unwrap();
    assert_eq!(context.source, ContextSource::RequestLengths);
    assert!((context.tokens - 2_000.0).abs() < 1e-6, "{context:?}");
    // Where nothing else says how long contexts are, nothing does.
    let early = Steady { requests_per_s: 0.0, ..pooled }.assessed(&windowed);
    assert_eq!(early.context, None);
    let states = KnownModel::named("qwen3-next-80b-a3b").unwrap().model().unwrap();
    assert!(!states.keeps_whole_contexts());
}

/// A batch in which windows end some contexts is never called impossible: half of the requests are of 300 tokens and half of 8,000.
#[test]
fn requests_on_both_sides_of_a_window_are_not_called_impossible() {
    let text = include_str!("../../../../fixtures/configs/mistral-7b-v0.1.json");
    let model = Model::from_config_json(text).unwrap();
    let windowed =
        System::new(model, Device::named("h100-sxm").unwrap().clone(), Deployment::SINGLE);
    let windowed = windowed.unwrap();
    let half = |context: f64| windowed.bound_pass(&Pass::decode(32.0, ContextSpan::at(context)));
    let (short, long) = (half(300.0), half(8_000.0));
    let step = (short.weights + short.cache + long.cache).get() * 1.05;
    let server = Steady {
        running: 64.0,
        output_per_s: 64.0 / step,
        prompt_per_s: 64.0 / step * 3_950.0 / 400.0,
        requests_per_s: 64.0 / step / 400.0,
        ..IDLE
    };
    let now = server.assessed(&windowed);
    assert!(
        !now.is_impossible() && now.context.is_some_and(|context| context.tokens == 4_150.0),
        "{now:?}"
    );
}

/// Two hundred prompts of 2000 tokens were taken in while forty ended.
#[test]
fn the_lengths_of_requests_are_their_own_while_the_load_changes() {
    let prompt = |histograms: &str, running: [u32; 2]| {
        let mut history = History::new();
        for (ms, of) in [(0, 0), (10_000, 1)] {
            let text = format!(
                "vllm:num_requests_running {}\nvllm:generation_tokens_total {}\n\
                 vllm:prompt_tokens_total {}\nvllm:request_success_total {}\n{}",
                running[of],
                12_000 * of,
                400_000 * of,
                40 * of,
                histograms
                    .replace("PROMPTS", &(80_000 * of).to_string())
                    .replace("OUTPUTS", &(8_000 * of).to_string())
                    .replace("COUNT", &(40 * of).to_string()),
            );
            history.record(instant(ms), &Page::read(text.as_bytes(), None).unwrap());
        }
        let window = Window::within(at(0), at(10_000));
        let server = ServerWindow::of(&history, window, Nanos::from_secs(20));
        let system = system(Deployment::SINGLE);
        let now = ServingAssessment::of(&server, window.length(), &system, None).unwrap();
        now.context.map(|context| context.tokens)
    };
    let histograms = "vllm:request_prompt_tokens_sum PROMPTS\nvllm:request_prompt_tokens_count COUNT\n\
                      vllm:request_generation_tokens_sum OUTPUTS\nvllm:request_generation_tokens_count COUNT\n";
    assert_eq!(prompt(histograms, [8, 168]), Some(2_000.0 + 100.0));
    assert_eq!(prompt("", [8, 168]), None, "many more run than ended");
    assert_eq!(prompt("", [160, 168]), Some(10_000.0 + 150.0));
}

#[test]
fn a_page_that_does_not_tell_is_named() {
    let told = |text: &str| {
        let mut history = History::new();
        for ms in [0, 1_000] {
            history.record(instant(ms), &Page::read(text.as_bytes(), None).unwrap());
        }
        let window = Window::within(at(0), at(1_000));
        let server = ServerWindow::of(&history, window, Nanos::from_secs(2));
        let system = system(Deployment::SINGLE);
        ServingAssessment::of(&server, window.length(), &system, None).unwrap_err().to_string()
    };
    assert!(
        told("node_load1 1\n")
            .starts_with("the page of node_exporter has no known series for running requests")
    );
    let renamed = "vllm:num_requests_running 1\nvllm:tokens_made_total 7\n";
    assert!(told(renamed).starts_with("the page of vLLM has no known series for generated tokens"));
    let triton = "nv_trt_llm_request_metrics{request_type=\"scheduled\"} 3\n";
    assert!(told(triton).starts_with("the page of TensorRT-LLM has no known series for generated"));
    let now = ServingAssessment::of(&IDLE.window(), Nanos::ZERO, &system(Deployment::SINGLE), None);
    assert_eq!(now, Err(AssessmentError::NoTime));
}

#[test]
fn an_assessment_is_written_and_read() {
    let system = system(Deployment::SINGLE);
    let now = Steady::at_share(&system, &load(900, 200, 16), 0.5).assessed(&system);
    let text = serde_json::to_string(&now).unwrap();
    assert_eq!(serde_json::from_str::<ServingAssessment>(&text).unwrap(), now);
    assert!(!text.contains("null"), "{text}");
}
