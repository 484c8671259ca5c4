//! What must hold for any model on any devices: the bound is a bound, and better silicon is never worse.

use fizeau_core::Tokens;
use fizeau_roofline::{
    AttentionKeys, ContextSpan, Deployment, Device, ExpertRouting, Figures, Format, KnownModel,
    MathType, Pass, PassPhase, PassSums, PhaseSchedule, System, TensorClass, UniformLoad,
};
use proptest::prelude::*;

use crate::anything::{at_least, devices, loads, models, systems};
use crate::fixed;

fn times(figures: &Figures) -> [f64; 3] {
    [figures.ttft, figures.step, figures.e2el].map(fizeau_core::Seconds::get)
}

fn rates(figures: &Figures) -> [f64; 2] {
    [figures.requests_per_s.get(), figures.output_tokens_per_s.get()]
}

fn is_no_worse(better: &Figures, worse: &Figures) -> bool {
    let times = times(better).into_iter().zip(times(worse));
    let rates = rates(better).into_iter().zip(rates(worse));
    times.into_iter().all(|(a, b)| at_least(b, a)) && rates.into_iter().all(|(a, b)| at_least(a, b))
}

/// Bound and expectation with the same sequences running.
fn at(system: &System, load: &UniformLoad, batch: f64) -> (Figures, Figures) {
    let expected = system.expected_at(load, batch, PhaseSchedule::Mixed);
    (system.bound_at(load, batch, PhaseSchedule::Overlapped), expected)
}

/// Fewer bytes of cache are no slower, whatever the weights are stored in and whatever the device multiplies: of each pair of
/// neighbours the second takes fewer bits.
#[test]
fn a_narrower_cache_never_worsens_the_bound() {
    let caches = ["bf16", "int8", "fp8", "mxfp6", "nvfp4", "mxfp4", "int4-g128"];
    let caches = caches.map(|name| name.parse::<Format>().unwrap());
    let load = UniformLoad::new(Tokens::new(8192), Tokens::new(256), 32.try_into().unwrap());
    for known in KnownModel::all() {
        let published = known.model().unwrap();
        let stored = ["bf16", "int8", "fp8", "int4-g128", "nvfp4"]
            .map(|weights| published.clone().with_weights(&weights.parse().unwrap()));
        for (model, device) in stored
            .iter()
            .chain([&published])
            .flat_map(|model| Device::all().iter().map(move |device| (model, device)))
        {
            let with = |cache| model.clone().with_kv_cache(cache);
            let system =
                |cache| System::new(with(cache), device.clone(), Deployment::SINGLE).unwrap();
            let figures =
                caches.map(|cache| system(cache).bound_at(&load, 32.0, PhaseSchedule::Overlapped));
            for (at, pair) in figures.windows(2).enumerate() {
                let ([wide, narrow], [wider, narrower]) =
                    ([&pair[0], &pair[1]], [caches[at], caches[at + 1]]);
                let what = || format!("{} on {}: {wider} to {narrower}", known.name, device.name);
                assert!(is_no_worse(narrow, wide), "{} {wide:?} {narrow:?}", what());
            }
        }
    }
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn nothing_expected_beats_the_bound(system in systems(), load in loads()) {
        if system.answer(&load).is_err() {
            return Ok(());
        }
        let (bound, expected) = (system.bound_figures(&load), system.expected_figures(&load));
        prop_assert!(is_no_worse(&bound, &expected), "{bound:?} {expected:?}");
        if let Some(even) = system.answer(&load).unwrap().evenly_routed {
            prop_assert!(is_no_worse(&bound, &even), "{bound:?} {even:?}");
            // Experts that are liked unevenly are not under its assumption.
            let is_even = system.routing() == ExpertRouting::Expected;
            prop_assert!(!is_even || is_no_worse(&even, &expected), "{even:?} {expected:?}");
        }
        prop_assert!(at_least(system.ideal_max_batch(&load), system.max_batch(&load)));
    }

    /// Little's law in a closed loop: what is offered is in flight, and of those that run none is in two places.
    #[test]
    fn as_many_requests_are_expected_in_flight_as_are_offered(
        system in systems(), load in loads(), batch in 1.0..5_000.0,
    ) {
        let in_flight = |figures: &Figures| figures.requests_per_s.get() * figures.e2el.get();
        let serial = system.expected_at(&load, batch, PhaseSchedule::Serial);
        prop_assert!(at_least(batch, in_flight(&serial)), "{batch} {serial:?}");
        if let Ok(answer) = system.answer(&load) {
            let offered = load.concurrency.get() as f64;
            prop_assert!(at_least(in_flight(&answer.expected), offered), "{:?}", answer.expected);
        }
    }

    /// Nor does a request wait for its own prompt: alone its tokens come at the pace of decode steps.
    #[test]
    fn a_request_alone_delays_itself_by_nothing(system in systems(), load in loads()) {
        for schedule in [PhaseSchedule::Mixed, PhaseSchedule::Serial] {
            let expected = system.expected_at(&load, 1.0, schedule);
            let step = system.expected_decode(&load, 1.0).total;
            prop_assert!((expected.step / step - 1.0).abs() < 1e-9, "{expected:?} {step:?}");
            let in_flight = expected.requests_per_s.get() * expected.e2el.get();
            prop_assert!((in_flight - 1.0).abs() < 1e-9, "{in_flight} {expected:?}");
        }
    }

    /// Passes that read prompts while they decode take no longer than the same in turns.
    #[test]
    fn prompts_in_passes_that_decode_are_never_slower_than_in_turns(
        system in systems(), load in loads(), batch in 1.0..5_000.0,
    ) {
        let rate = |schedule| system.expected_at(&load, batch, schedule).requests_per_s.get();
        let (mixed, serial) = (rate(PhaseSchedule::Mixed), rate(PhaseSchedule::Serial));
        prop_assert!(at_least(mixed, serial), "{mixed} {serial}");
    }

    #[test]
    fn no_pass_is_expected_faster_than_its_bound(
        system in systems(), decoding in 0.0..300.0, prompts in 0.0..3.0, from in 1.0..9_000.0, more in 0.0..9_000.0,
    ) {
        let (from, more) = (f64::floor(from), f64::floor(more));
        let mut pass = Pass::decode(decoding, ContextSpan::at(from));
        (pass.prompts, pass.positions) = (prompts, ContextSpan::between(from, from + more));
        let (bound, expected) = (system.bound_pass(&pass), system.expected_pass(&pass));
        for (part, least) in [
            (expected.total, bound.total), (expected.weights, bound.weights), (expected.cache, bound.cache),
            (expected.matrices, bound.matrices), (expected.attention, bound.attention),
        ] {
            prop_assert!(at_least(part.get(), least.get()), "{expected:?} {bound:?}");
        }
        for pass in [bound, expected] {
            prop_assert!(pass.total.get().is_finite() && pass.total.get() > 0.0);
            prop_assert!((pass.binding.total() / pass.total - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn figures_are_positive_and_finite(system in systems(), load in loads(), batch in 0.1..5_000.0) {
        let (bound, expected) = at(&system, &load, batch);
        for figures in [bound, expected, system.bound_at(&load, batch, PhaseSchedule::Serial)] {
            for figure in times(&figures).into_iter().chain(rates(&figures)) {
                prop_assert!(figure.is_finite() && figure > 0.0, "{figures:?}");
            }
        }
        if let Ok(answer) = system.answer(&load) {
            prop_assert!(answer.running_batch >= 1.0);
            prop_assert!(answer.memory.free.get() >= 0.0);
            let memory = answer.memory;
            let all = memory.reserve + memory.weights + memory.cache + memory.free;
            prop_assert!(at_least(memory.total.get(), all.get()), "{memory:?}");
        }
    }

    #[test]
    fn a_faster_memory_or_unit_is_never_worse(
        system in systems(), load in loads(), batch in 1.0..500.0, factor in 1.0..4.0,
    ) {
        let (bound, expected) = at(&system, &load, batch);
        let better = [system.with_bandwidth(factor).unwrap(), system.with_arithmetic(factor).unwrap()];
        let each = MathType::ALL.into_iter().filter_map(|math| {
            let rate = system.device().dense_rate(math)?;
            Some(system.with_device(system.device().clone().with_rate(math, rate * factor).unwrap()))
        });
        for better in better.into_iter().chain(each) {
            let (faster_bound, faster) = at(&better, &load, batch);
            prop_assert!(is_no_worse(&faster_bound, &bound), "{faster_bound:?} {bound:?}");
            prop_assert!(is_no_worse(&faster, &expected));
        }
    }

    #[test]
    fn fewer_bits_are_never_slower_at_best(
        model in models(), device in devices(), load in loads(), batch in 1.0..500.0,
    ) {
        let system = |model: &fizeau_roofline::Model| {
            System::new(model.clone(), device.clone(), Deployment::SINGLE).unwrap()
        };
        let wide = model.with_weights(&"bf16".parse().unwrap()).with_kv_cache(Format::Bf16);
        let narrow = wide.clone().with_weights(&"fp8".parse().unwrap());
        let cached = narrow.clone().with_kv_cache(Format::Fp8);
        let least = wide.clone().with_weights(&"nvfp4".parse().unwrap());
        let of = |model| at(&system(model), &load, batch).0;
        prop_assert!(is_no_worse(&of(&narrow), &of(&wide)));
        prop_assert!(is_no_worse(&of(&cached), &of(&narrow)));
        prop_assert!(is_no_worse(&of(&least), &of(&wide)));
    }

    /// Of any of the degrees, with the same sequences running; throughput also with all that then fits.
    #[test]
    fn twice_the_devices_never_lower_the_ideal_bound(
        system in systems(), load in loads(), batch in 1.0..500.0,
    ) {
        let d = *system.deployment();
        let doubled = [
            d.with_tensor(2 * d.tensor()), d.with_pipeline(2 * d.pipeline()),
            d.with_attention_groups(2 * d.attention_groups()), d.with_replicas(2 * d.replicas()),
        ];
        let (few, _) = at(&system, &load, batch);
        for deployment in doubled.into_iter().map(Result::unwrap) {
            let Ok(more) = System::new(system.model().clone(), system.device().clone(), deployment) else {
                continue;
            };
            let (many, _) = at(&more, &load, batch);
            prop_assert!(is_no_worse(&many, &few), "{deployment}: {many:?} {few:?}");
            if system.answer(&load).is_ok() && more.answer(&load).is_ok() {
                let rate = |system: &System| system.bound_figures(&load).requests_per_s.get();
                prop_assert!(at_least(rate(&more), rate(&system)), "{deployment}");
                prop_assert!(at_least(more.ideal_max_batch(&load), system.ideal_max_batch(&load)));
            }
        }
    }

    #[test]
    fn a_larger_batch_is_slower_for_each_and_faster_for_all(
        system in systems(), load in loads(), batch in 1.0..500.0, more in 1.0..500.0,
    ) {
        let few = at(&system, &load, batch);
        let many = at(&system, &load, batch + more);
        for (few, many) in [(few.0, many.0), (few.1, many.1)] {
            prop_assert!(at_least(many.step.get(), few.step.get()), "{few:?} {many:?}");
        }
        prop_assert!(at_least(many.0.requests_per_s.get(), few.0.requests_per_s.get()));
    }

    #[test]
    fn a_longer_context_is_never_faster(system in systems(), context in 1.0..100_000.0, more in 0.0..100_000.0) {
        let step = |context: f64| Pass::decode(8.0, ContextSpan::at(context));
        let (short, long) = (step(context), step(context + more));
        prop_assert!(at_least(system.bound_pass(&long).total.get(), system.bound_pass(&short).total.get()));
        prop_assert!(at_least(system.expected_pass(&long).total.get(), system.expected_pass(&short).total.get()));
    }

    /// `(W + k c) / BW`, of all the devices of a stage, where memory is the limit.
    #[test]
    fn one_sequence_is_the_closed_form(model in models(), bandwidth in 1e11..1e13, context in 1_u64..100_000) {
        let device = crate::anything::device(3e12, bandwidth, 1e20);
        let system = System::new(model.clone(), device, Deployment::SINGLE).unwrap();
        let load = UniformLoad::new(Tokens::new(context), Tokens::new(1), std::num::NonZeroU64::MIN);
        let pace = 1.0 / system.single_request(&load).bound.get();
        let weights = model.streamed_weight_bytes().get();
        // But what an indexer chooses by, which the bound leaves out.
        let indexers = model.tensors().into_iter().filter(|of| of.class == TensorClass::Indexer);
        let choosing: f64 = indexers.map(|of| of.bytes().get()).sum();
        prop_assert!(at_least(pace * bandwidth, weights - choosing));
        let is_plain = model.layers.iter().all(|layers| matches!(
            &layers.mixer, fizeau_roofline::Mixer::Attention(attention)
                if attention.window.is_none() && attention.keys != AttentionKeys::Shared
        ));
        if is_plain {
            let closed = (weights + model.kv_bytes_per_token().get() * context as f64) / bandwidth;
            prop_assert!((pace / closed - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn skewed_routing_reads_less_and_never_less_than_the_bound(
        system in systems(), batch in 1.0..300.0, alpha in 0.0..3.0,
    ) {
        let pass = Pass::decode(batch, ContextSpan::at(100.0));
        let of = |routing| system.clone().with_routing(routing).expected_pass(&pass).weights.get();
        let (even, skewed, strict) = (of(ExpertRouting::Expected), of(ExpertRouting::Skewed(alpha)), of(ExpertRouting::Strict));
        prop_assert!(at_least(even, skewed) && at_least(skewed, strict));
        prop_assert!(at_least(strict, system.bound_pass(&pass).weights.get()));
    }

    /// Each elasticity against the difference that a small change makes; a kink in between would show as neither.
    #[test]
    fn sensitivities_are_the_derivatives(system in systems(), load in loads()) {
        if system.answer(&load).is_err() {
            return Ok(());
        }
        let step = 1e-6;
        let faster = (system.with_bandwidth(1.0 + step).unwrap(), system.with_arithmetic(1.0 + step).unwrap());
        let (bound, expected) = (system.bound_sensitivities(&load), system.expected_sensitivities(&load));
        let slope = |before: f64, after: f64| (after / before).ln() / step;
        for (of, is_bound) in [(bound, true), (expected, false)] {
            let figures = |system: &System| {
                if is_bound { system.bound_figures(&load) } else { system.expected_figures(&load) }
            };
            let (now, memory, units) = (figures(&system), figures(&faster.0), figures(&faster.1));
            for (sensitivity, value) in [
                (of.ttft, (|f| f.ttft.get()) as fn(&Figures) -> f64),
                (of.tpot, |f| f.step.get()),
                (of.requests_per_s, |f| f.requests_per_s.get()),
            ] {
                let by_memory = slope(value(&now), value(&memory));
                let by_units = slope(value(&now), value(&units));
                prop_assert!((by_memory - sensitivity.bandwidth).abs() < 1e-3, "{by_memory} {sensitivity:?}");
                prop_assert!((by_units - sensitivity.arithmetic).abs() < 1e-3, "{by_units} {sensitivity:?}");
                let all = sensitivity.bandwidth + sensitivity.arithmetic + sensitivity.link - sensitivity.latency;
                prop_assert!((all.abs() - 1.0).abs() < 1e-9, "{sensitivity:?}");
            }
        }
    }

    #[test]
    fn terms_add_up_to_the_expected_passes(system in systems(), load in loads()) {
        let step = system.decode_pass(&load, system.running_batch(&load));
        for (phase, pass) in [(PassPhase::Prefill, system.prefill_pass(&load)), (PassPhase::Decode, step)] {
            let terms = system.pass_terms(phase, &pass);
            let sum: f64 = terms.iter().map(|term| term.expected.get()).sum();
            prop_assert!((sum / system.expected_pass(&pass).total.get() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn many_loads_at_once_are_each_alone(system in systems(), loads in prop::collection::vec(loads(), 0..20)) {
        let mut figures = Vec::new();
        system.bound_batch(&loads, &mut figures);
        let alone: Vec<Figures> = loads.iter().map(|load| system.bound_figures(load)).collect();
        prop_assert_eq!(figures, alone);
    }
}

proptest! {
    #![proptest_config(fixed())]

    /// The two ways of adding up operators agree, and what overlaps is between bound and expectation.
    #[test]
    fn overlapped_sums_have_the_parts_of_the_expected(
        system in systems(), decoding in 0.0..300.0, context in 1.0..5_000.0, prompts in 0.0..4.0, each in 1.0..3_000.0,
        (drafts, padding) in (0.0..4.0, 0.0..20.0),
    ) {
        let (tokens, cached) = (prompts * each, prompts * 100.0);
        let sums = PassSums {
            decoding, drafted: decoding * drafts, padding, context: decoding * context, prompts,
            prompt_tokens: tokens, prompt_context: tokens + cached,
            prompt_pairs: prompts * each * (each / 2.0 + 100.0), ..PassSums::default()
        };
        let (all, overlapped) = (system.expected_sums(&sums), system.overlapped_sums(&sums));
        for (a, b) in [
            (all.weights, overlapped.weights), (all.cache, overlapped.cache),
            (all.matrices, overlapped.matrices), (all.attention, overlapped.attention),
            (all.link, overlapped.link), (all.hops, overlapped.hops),
        ] {
            prop_assert!(at_least(a.get(), b.get()) && at_least(b.get(), a.get()), "{all:?} {overlapped:?}");
        }
        prop_assert!(at_least(all.total.get(), overlapped.total.get()));
        prop_assert!(at_least(overlapped.total.get(), system.bound_sums(&sums).total.get()));
    }

    /// Drafts and padding add, and a batch of sums is the pass that it stands for.
    #[test]
    fn drafts_and_padding_only_add(
        system in systems(), decoding in 1.0..300.0, context in 1.0..5_000.0, drafts in 0.1..8.0, padding in 0.1..20.0,
    ) {
        let plain = PassSums { decoding, context: decoding * context, ..PassSums::default() };
        let drafting = PassSums { drafted: decoding * drafts, ..plain };
        let padded = PassSums { padding, ..plain };
        for pass in [System::bound_sums, System::overlapped_sums, System::expected_sums] {
            let [plain, drafting, padded] = [plain, drafting, padded].map(|sums| pass(&system, &sums));
            for more in [drafting, padded] {
                prop_assert!(at_least(more.total.get(), plain.total.get()), "{more:?} {plain:?}");
                prop_assert!(more.matrices > plain.matrices);
                prop_assert_eq!(more.cache, plain.cache);
            }
            prop_assert_eq!(padded.attention, plain.attention);
        }
        let mut alike = Pass::decode(decoding, ContextSpan::at(context));
        alike.tokens_each = 1.0 + drafts;
        let (found, alike) = (system.bound_sums(&drafting), system.bound_pass(&alike));
        prop_assert!(at_least(found.total.get(), alike.total.get()), "{found:?} {alike:?}");
    }
}
