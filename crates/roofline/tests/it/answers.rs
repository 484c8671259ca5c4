//! Answers: what fits, what limits, what is said beside them.

use std::num::NonZeroU64;

use fizeau_core::{Seconds, Tokens};
use fizeau_roofline::{
    Admission, Deployment, Device, EstimateKind, FigureGain, LimitingResource, LoadAnalysisError,
    MathType, Prefix, RequestLengths, Serving, ServingGoal, ServingNeed, System, UniformLoad,
    UnmetNeed,
};

use crate::golden::model;

fn system(name: &str, device: &str, deployment: &str) -> System {
    let device = Device::named(device).unwrap().clone();
    System::new(model(name), device, deployment.parse().unwrap()).unwrap()
}

fn load(input: u64, output: u64, concurrency: u64) -> UniformLoad {
    UniformLoad::new(Tokens::new(input), Tokens::new(output), NonZeroU64::new(concurrency).unwrap())
}

#[test]
fn limits_are_what_takes_longest() {
    let limits = |name, device, deployment, load: UniformLoad| {
        system(name, device, deployment).limits(&load)
    };
    let one = limits("llama-3.1-8b", "h100-sxm", "1 device", load(2048, 256, 1));
    assert_eq!((one.prefill, one.decode), (LimitingResource::Compute, LimitingResource::Weights));
    let long = limits("llama-3.1-8b", "h200-sxm", "1 device", load(60_000, 256, 8));
    assert_eq!(long.decode, LimitingResource::Kv);
    // 126 layers in two: nothing but hops for one sequence.
    let spread = limits("qwen3-0.6b", "h100-sxm", "TP8", load(128, 128, 1));
    assert_eq!(spread.decode, LimitingResource::Link);
    // 70 of 80 GB are weights: the cache holds a few sequences, which wait for them.
    let full = limits("llama-3.1-70b", "h100-sxm", "TP2", load(1024, 256, 256));
    assert_eq!(full.decode, LimitingResource::Capacity);
    assert_eq!(LimitingResource::Kv.to_string(), "KV");
}

#[test]
fn the_running_batch_is_what_memory_holds() {
    let system = system("llama-3.1-8b", "h100-sxm", "1 device");
    let answer = system.answer(&load(2048, 256, 10_000)).unwrap();
    // 131,072 bytes for each token of 2,176, in blocks of 16.
    let room = 0.9 * system.device().usable_memory().get() - 2.0 * 8_030_261_248.0;
    let most = room / (131_072.0 * 2176.0);
    assert_eq!(answer.running_batch, most.floor());
    assert_eq!(answer.max_batch, Some(most as u64));
    assert!(
        answer.warnings.iter().any(|warning| warning.contains("of 10000 requests run at once"))
    );
    let few = system.answer(&load(2048, 256, 7)).unwrap();
    assert_eq!(few.running_batch, 7.0);
    assert!(few.warnings.is_empty(), "{:?}", few.warnings);
}

#[test]
fn requests_of_one_token_have_no_tpot_and_miss_no_goal_for_it() {
    let system = system("llama-3.1-8b", "h100-sxm", "1 device");
    let (one, two) = (load(2048, 1, 32), load(2048, 2, 32));
    let goal = ServingGoal::new([ServingNeed::Tpot(Seconds::new(1e-6))]).unwrap();
    for by in EstimateKind::ALL {
        let figures = system.meet(by, &one, &goal).unwrap();
        assert_eq!((figures.tpot, figures.tokens_per_s_per_user()), (None, None));
        assert_eq!((figures.e2el, figures.batch), (figures.ttft, 32.0));
        assert_eq!(system.largest_batch(by, &one, Seconds::new(1e-6)).unwrap().batch, 32);
        assert_eq!(system.meet(by, &two, &goal).unwrap_err().need, UnmetNeed::Tpot);
    }
    let [before, after] = [Deployment::SINGLE, "TP2".parse().unwrap()].map(|deployment| {
        System::new(system.model().clone(), system.device().clone(), deployment).unwrap()
    });
    let figures = |system: &System| system.expected_figures(&one);
    let gain = FigureGain::between(&figures(&before), &figures(&after));
    assert_eq!(gain.tokens_per_s_per_user, None);
    assert!(gain.requests_per_s > 0.0);
}

#[test]
fn settings_of_the_engine_decide_on_the_batch() {
    let with = |set: fn(&mut Serving)| {
        let mut serving = Serving::default();
        set(&mut serving);
        let system = system("llama-3.1-8b", "h100-sxm", "DP2").with_serving(serving);
        system.max_batch(&load(2000, 1000, 10_000).with_cached(Tokens::new(1000)))
    };
    let default = with(|_| {});
    assert!(with(|serving| serving.memory_share = 0.8) < default);
    assert!(with(|serving| serving.admission = Admission::Whole) < default);
    assert!(with(|serving| serving.prefix = Prefix::Own) < default);
    assert!(with(|serving| serving.block = Tokens::new(4096)) < default);
    assert!(with(|serving| serving.reserve = fizeau_core::Bytes::new(5e9)) < default);
    // In each of two groups.
    assert_eq!(with(|serving| serving.max_sequences = NonZeroU64::new(8)), 16.0);
}

/// Of a prefix that all share, one copy.
#[test]
fn a_shared_prefix_is_kept_once() {
    let system = system("llama-3.1-8b", "h100-sxm", "1 device");
    let shared = load(8000, 160, 1000).with_cached(Tokens::new(6400));
    let room = 0.9 * system.device().usable_memory().get() - 2.0 * 8_030_261_248.0;
    let most = (room / 131_072.0 - 6400.0) / (8080.0 - 6400.0);
    assert_eq!(system.max_batch(&shared), most.floor());
}

#[test]
fn what_does_not_fit_says_by_how_much_and_what_would() {
    let error = system("llama-3.1-70b", "h100-sxm", "1 device").answer(&load(1, 1, 1)).unwrap_err();
    let two = || vec!["TP2".parse().unwrap()];
    assert!(
        matches!(&error, LoadAnalysisError::WeightsDoNotFit { would_do, .. } if *would_do == two())
    );
    let message = error.to_string();
    assert!(
        message.contains("take 141.11 GB, 64.") && message.ends_with("take 2 devices (TP2)"),
        "{message}"
    );

    let error = system("llama-3.1-405b", "h100-sxm", "TP8").answer(&load(1, 1, 1)).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("on each of 8 devices")
            && message.ends_with("take 12 devices (TP4 PP3) or 16 (TP16)"),
        "{message}"
    );

    let error =
        system("llama-3.1-8b", "h100-sxm", "1 device").answer(&load(600_000, 9, 1)).unwrap_err();
    assert!(
        matches!(&error, LoadAnalysisError::NoRoomForRequest { would_do, .. } if *would_do == two()),
        "{error}"
    );
    // A request that misses by a part of its last block misses by that block, and is told what would do.
    let fp8 = model("llama-3.1-70b").with_weights(&"fp8".parse().unwrap());
    let h100 = Device::named("h100-sxm").unwrap().clone();
    let one = System::new(fp8, h100, Deployment::SINGLE).unwrap();
    let fits = |input| one.answer(&load(input, 2, 1)).is_ok();
    let longest = (1..200_000).rev().step_by(16).find(|&input| fits(input)).unwrap();
    let longest = (longest..longest + 16).rev().find(|&input| fits(input)).unwrap();
    let error = one.answer(&load(longest + 1, 2, 1)).unwrap_err();
    let LoadAnalysisError::NoRoomForRequest { needed, room, would_do, .. } = &error else {
        panic!("{error}");
    };
    assert!(needed > room && *would_do == two(), "{error}");
    assert!(one.would_do(Tokens::new(longest + 3)) != ["1 device".parse().unwrap()]);

    let error = system("llama-3.1-8b", "h100-sxm", "1 device").answer(&load(0, 9, 1)).unwrap_err();
    assert_eq!(error.to_string(), "the load has 0 input tokens; it must have at least 1");
}

/// The fewest devices hold the model, and one device less does not, however it is cut.
#[test]
fn the_fewest_devices_are_the_fewest() {
    for (name, device) in
        [("llama-3.1-405b", "h100-sxm"), ("deepseek-v3", "h200-sxm"), ("qwen3-32b", "l40s")]
    {
        let fewest = system(name, device, "1 device").fewest_devices(Tokens::new(1000)).unwrap();
        let mut fits = Vec::new();
        for devices in 1..=fewest {
            for ranks in (1..=devices).filter(|ranks| devices % ranks == 0) {
                let tensor = Deployment::SINGLE.with_tensor(ranks as u32).unwrap();
                let deployment = tensor.with_pipeline((devices / ranks) as u32).unwrap();
                let device = Device::named(device).unwrap().clone();
                let system = System::new(model(name), device, deployment);
                if system.is_ok_and(|system| system.answer(&load(500, 500, 1)).is_ok()) {
                    fits.push(devices);
                }
            }
        }
        assert!(
            !fits.is_empty() && fits.iter().all(|devices| *devices == fewest),
            "{name}: {fits:?}"
        );
    }
}

#[test]
fn arithmetic_that_the_device_lacks_is_named() {
    let on_ampere = System::new(
        model("llama-3.1-8b").with_weights(&"fp8".parse().unwrap()),
        Device::named("a100-sxm-80").unwrap().clone(),
        Deployment::SINGLE,
    );
    let notes = on_ampere.unwrap().notes().to_vec();
    let expected = "a100-sxm-80 has no fp8 arithmetic: fp8 computes at its bf16 rate";
    assert!(notes.iter().any(|note| note == expected), "{notes:?}");
    let hopper = Device::named("h100-sxm").unwrap();
    assert!(hopper.dense_rate(MathType::Fp4).is_none());
}

/// The bound assumes what could be, the expected what engines do: where the two differ both are said.
#[test]
fn arithmetic_that_engines_do_not_use_is_named() {
    let notes = |name: &str, weights: &str| {
        let model = model(name).with_weights(&weights.parse().unwrap());
        let device = Device::named("h100-sxm").unwrap().clone();
        System::new(model, device, Deployment::SINGLE).unwrap().notes().join("\n")
    };
    let says = |notes: &str, expected: &str| assert!(notes.contains(expected), "{notes}");
    let both = "at h100-sxm's bf16 rate in the expectation; the bound assumes its fp8 rate";
    says(&notes("gpt-oss-20b", "mxfp4"), &format!("engines compute mxfp4 {both}"));
    says(&notes("llama-3.1-8b", "int4"), &format!("engines compute int4-g128 {both}"));
    let lacks =
        "has no fp4 arithmetic: nvfp4 computes at its bf16 rate; the bound assumes its fp8 rate";
    says(&notes("llama-3.1-8b", "nvfp4"), lacks);
    assert_eq!(notes("llama-3.1-8b", "fp8"), "");
}

#[test]
fn a_context_beyond_the_model_s_is_said() {
    let answer =
        system("llama-3.1-8b", "h200-sxm", "1 device").answer(&load(200_000, 10, 1)).unwrap();
    let expected = "requests of 200010 tokens are longer than the model's context of 131072";
    assert_eq!(answer.warnings, [expected]);
}

/// All replicas work, and one request cannot be in several.
#[test]
fn replicas_multiply_rates_and_not_the_pace() {
    let one = system("llama-3.1-8b", "h100-sxm", "1 device");
    let four = system("llama-3.1-8b", "h100-sxm", "x4");
    let (few, many) =
        (one.bound_figures(&load(2048, 256, 8)), four.bound_figures(&load(2048, 256, 32)));
    assert_eq!(few.step, many.step);
    assert!((many.requests_per_s / few.requests_per_s - 4.0).abs() < 1e-9);
    let alone = four.bound_figures(&load(2048, 256, 1));
    assert_eq!(alone.requests_per_s, one.bound_figures(&load(2048, 256, 1)).requests_per_s);
}

/// A prompt of 133.7 ms and 15 steps of 4.80 ms, which nothing else delays.
#[test]
fn a_request_alone_takes_its_prompt_and_its_steps() {
    let alone = system("llama-3.1-8b", "h100-sxm", "tp=1").expected_figures(&load(8192, 16, 1));
    let ms = |time: Seconds| time.to_millis().get();
    assert_eq!(format!("{:.2} {:.1}", ms(alone.step), ms(alone.e2el)), "4.80 205.7");
    assert_eq!(format!("{:.2}", alone.requests_per_s.get()), "4.86");
}

/// Where each request has one token, none decodes: the rate is that of prompts, as many of them in a pass as its tokens allow.
#[test]
fn prompts_alone_share_passes_within_the_budget() {
    let system = system("llama-3.1-8b", "h100-sxm", "tp=1");
    for (concurrency, together) in [(1, 1.0), (4, 4.0), (256, 81.92)] {
        let load = load(100, 1, concurrency);
        assert_eq!(system.prompts_of_pass(&load, concurrency as f64), together);
        let expected = system.expected_figures(&load);
        let in_flight = expected.requests_per_s.get() * expected.e2el.get();
        assert!((in_flight / concurrency as f64 - 1.0).abs() < 1e-9, "{in_flight}");
        let mut pass = system.prefill_pass(&load);
        pass.prompts = together;
        let prompts = expected.requests_per_s.get() * system.expected_pass(&pass).total.get();
        assert!((prompts / together - 1.0).abs() < 1e-9, "{prompts}");
    }
}

/// Prompts of 100 tokens and 20 generated, 400 at once: 20 prompts come in for each step, and share a pass.
#[test]
fn short_prompts_share_passes() {
    let expected = system("llama-3.1-8b", "h100-sxm", "tp=1").expected_figures(&load(100, 20, 400));
    assert_eq!(format!("{:.0}", expected.output_tokens_per_s.get()), "11085");
}

/// By Little's law: of 4096 in flight those that do not fit wait.
#[test]
fn requests_that_do_not_fit_wait_for_their_place() {
    let system = crate::single(crate::llama_8b(), Device::named("h100-sxm").unwrap());
    let of = |concurrency: u64| {
        let concurrency = NonZeroU64::new(concurrency).unwrap();
        let load = UniformLoad::new(Tokens::new(1000), Tokens::new(1000), concurrency);
        (system.answer(&load).unwrap(), load)
    };
    let (answer, load) = of(4_096);
    assert!(answer.running_batch < 1_000.0);
    let in_flight = answer.expected.e2el.get() * answer.expected.requests_per_s.get();
    assert!((in_flight / 4_096.0 - 1.0).abs() < 1e-9, "{in_flight}");
    let mut lengths = RequestLengths::for_model(system.model());
    lengths.add(load.input_tokens, load.output_tokens);
    let over = system.expected_over(&lengths, load.concurrency).unwrap().figures;
    assert!((over.e2el.get() / answer.expected.e2el.get() - 1.0).abs() < 1e-9, "{over:?}");
    // Where all of them run, nothing waits.
    let (answer, load) = of(64);
    assert_eq!(answer.expected.e2el, system.expected_figures(&load).e2el);
}
