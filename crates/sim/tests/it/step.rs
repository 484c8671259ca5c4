//! Step times: runs in closed form, drafts, padding, drafters and limits of power.

use std::num::NonZeroU32;

use fizeau_core::{Nanos, Seconds, Tokens, Watts};
use fizeau_roofline::{
    Acceptance, ContextSpan, Deployment, Device, Drafter, EstimateKind, KnownModel, Model, Pass,
    PassSums, PassTime, PowerDraw, Speculation, System, UniformLoad,
};
use fizeau_sim::{
    CalibratedStep, FixedStep, LinearStepTimes, Overheads, RooflineStep, StepLoad, StepModel,
    StepTime,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::calibration::published;
use crate::support::{NONE, SYSTEMS, config, system};

fn fixed(cases: u32) -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(1850);
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

fn decode(sequences: u64, context: u64) -> StepLoad {
    StepLoad {
        decode_sequences: sequences,
        decode_context_tokens: Tokens::new(context),
        sampled_sequences: sequences,
        ..StepLoad::default()
    }
}

/// The whole of several tokens of prompts, read in one step beside decoding sequences.
fn mixed(of: StepLoad, prompts: u64, each: u64) -> StepLoad {
    StepLoad {
        prefill_sequences: prompts,
        prefill_tokens: Tokens::new(prompts * each),
        prefill_context_tokens: Tokens::new(prompts * each),
        prefill_pairs: prompts * each * (each + 1) / 2,
        sampled_sequences: of.decode_sequences + prompts,
        ..of
    }
}

fn tdp(system: &System) -> Watts {
    system.device().tdp().unwrap()
}

/// A system's step time of each kind.
fn step_of(system: &System, kind: usize) -> StepModel {
    let roofline = |overheads| RooflineStep::new(system.clone(), overheads).unwrap();
    match kind {
        0 => roofline(NONE).into(),
        1 => roofline(Overheads::default()).into(),
        2 => {
            let draw = PowerDraw::estimate(system.device()).unwrap();
            roofline(NONE).with_power_limit(draw, tdp(system) * 0.45).unwrap().into()
        }
        _ => CalibratedStep::new(system.clone(), published(), None).into(),
    }
}

const KINDS: usize = 4;
const CALIBRATED: usize = 3;

/// Matrices and attention one after the other, each the longer of its memory and its arithmetic.
fn kernels(pass: &PassTime) -> Seconds {
    pass.weights.max(pass.matrices) + pass.cache.max(pass.attention)
}

/// Batches of all sizes, at contexts about windows and far from them.
fn batches() -> impl Strategy<Value = (u64, u64, u64)> {
    let sequences = prop_oneof![1u64..40, 1u64..2_000];
    let means = prop_oneof![0u64..300, 0u64..5_000, 0u64..200_000];
    (sequences, means, any::<u64>(), 0u64..3).prop_map(|(sequences, mean, odd, padded)| {
        (sequences, sequences * mean + odd % sequences, padded * 7)
    })
}

proptest! {
    #![proptest_config(fixed(200))]

    /// Whatever a pace says, each step by itself takes, and the next pace goes on where it ends.
    #[test]
    fn a_pace_is_what_each_step_takes(
        which in 0..SYSTEMS.len(), kind in 0..KINDS, (sequences, context, padded) in batches(), shared in 0.0..1.0f64,
        picks in prop::collection::vec(any::<u64>(), 8),
    ) {
        let step = step_of(&system(which), kind);
        let at = |index: u64| StepLoad {
            padded_tokens: padded,
            decode_shared_tokens: Tokens::new((shared * context as f64) as u64),
            ..decode(sequences, context + index * sequences)
        };
        let mut gone = 0;
        for _ in 0..4 {
            let pace = step.pace(&at(gone)).unwrap();
            let steps = pace.steps.min(100_000);
            let ends = [0, 1, 2, steps - 1];
            // Another instance, so that nothing that is kept plays a part.
            let other = step_of(&system(which), kind);
            for index in picks.iter().map(|pick| pick % steps).chain(ends).filter(|index| *index < steps) {
                prop_assert_eq!(pace.at(index), step.step_time(&at(gone + index)));
                prop_assert_eq!(pace.at(index), other.step_time(&at(gone + index)));
            }
            gone += steps;
        }
    }

    /// What sequences share is read once, and computed with as often as there are sequences: a step takes no longer than if each had its own, and no
    /// shorter than if there were that much less.
    #[test]
    fn what_is_shared_is_read_once(
        which in 0..SYSTEMS.len(), (sequences, context, _) in batches(), shared in 0.0..1.0f64, prompts in 0u64..3,
    ) {
        let step = step_of(&system(which), CALIBRATED);
        let shared = (shared * context as f64) as u64;
        let time = |context: u64, shared: u64| {
            let decode_shared_tokens = Tokens::new(shared);
            let load = StepLoad { decode_shared_tokens, ..decode(sequences, context) };
            step.step_time(&if prompts > 0 { mixed(load, prompts, 40) } else { load })
        };
        let (own, once) = (time(context, 0), time(context, shared));
        prop_assert!(once <= own, "{once} {own}");
        let less = time(context - shared, 0);
        prop_assert!(once + Nanos::from_nanos(1) >= less, "{once} {less}");
    }

    /// In integers a decode step is what the formula says, to a nanosecond and a millionth of a millionth, and no step is
    /// below the bound.
    #[test]
    fn integers_are_close_to_the_formula(
        which in 0..SYSTEMS.len(), (sequences, context, padded) in batches(),
    ) {
        let system = system(which);
        let step = RooflineStep::new(system.clone(), NONE).unwrap();
        let load = StepLoad { padded_tokens: padded, ..decode(sequences, context) };
        let found = step.step_time(&load).as_nanos() as f64;
        let sums = PassSums {
            decoding: sequences as f64,
            padding: padded as f64,
            context: context as f64,
            ..PassSums::default()
        };
        let pass = system.overlapped_sums(&sums);
        let exact = (kernels(&pass) + pass.communication()).get() * 1e9;
        let allowed = 1.0 + exact * 1e-12;
        prop_assert!(found >= exact * (1.0 - 1e-12) && found <= exact + allowed, "{found} {exact}");
        let bound = system.bound_sums(&sums).total.get() * 1e9;
        prop_assert!(found >= bound * (1.0 - 1e-12), "{found} {bound}");
    }

    /// A window may end anywhere: steps and paces know where.
    #[test]
    fn windows_end_anywhere(window in 1u64..3_000, (sequences, mean, odd) in (1u64..200, 0u64..4_000, any::<u64>())) {
        let config = config("gemma-3-1b").replace("\"sliding_window\": 512", &format!("\"sliding_window\": {window}"));
        let model = Model::from_config_json(&config).unwrap();
        let device = Device::named("a100-80gb-sxm").unwrap().clone();
        let system = System::new(model, device, Deployment::SINGLE).unwrap();
        prop_assert_eq!(system.windows().collect::<Vec<_>>(), [window]);
        let step = RooflineStep::new(system.clone(), NONE).unwrap();
        let mut context = sequences * mean + odd % sequences;
        for _ in 0..3 {
            let pace = step.pace(&decode(sequences, context)).unwrap();
            for index in [0, 1, pace.steps.min(10_000) - 1].into_iter().filter(|index| *index < pace.steps) {
                let now = context + index * sequences;
                let sums = PassSums { decoding: sequences as f64, context: now as f64, ..PassSums::default() };
                let pass = system.overlapped_sums(&sums);
                let exact = kernels(&pass).get() * 1e9;
                let found = pace.at(index).as_nanos() as f64;
                prop_assert!(found >= exact * (1.0 - 1e-12) && found <= exact * (1.0 + 1e-12) + 1.0);
                prop_assert_eq!(pace.at(index), step.step_time(&decode(sequences, now)));
            }
            context += pace.steps.min(10_000) * sequences;
        }
    }

    /// More work never takes less time, of whatever kind it is, and no step of any model is below the bound.
    #[test]
    fn more_work_takes_no_less(
        which in 0..SYSTEMS.len(), kind in 0..KINDS, (sequences, context, padded) in batches(),
        (drafted, prompts, each) in (0u64..4, 0u64..4, 1u64..3_000),
    ) {
        let system = system(which);
        let step = step_of(&system, kind);
        let plain = decode(sequences, context);
        let padding = StepLoad { padded_tokens: padded, ..plain };
        let drafting = StepLoad { drafted_tokens: drafted * sequences, ..plain };
        let both = mixed(drafting, prompts, each);
        let time = |load: &StepLoad| step.step_time(load).as_nanos();
        prop_assert!(time(&padding) >= time(&plain));
        prop_assert!(time(&drafting) + 1 >= time(&plain));
        prop_assert!(time(&both) + 1 >= time(&drafting), "{:?}", (time(&both), time(&drafting)));

        let mut verifying = Pass::decode(sequences as f64, ContextSpan::at((context / sequences).max(1) as f64));
        verifying.tokens_each = 1.0 + drafted as f64;
        if context >= sequences {
            let bound = system.bound_pass(&verifying).total.get() * 1e9;
            prop_assert!(time(&drafting) as f64 >= bound * (1.0 - 1e-12), "{} {bound}", time(&drafting));
        }
    }

    /// A limit of power only ever takes time, more of it the lower it is, and at twice the draw of everything none.
    #[test]
    fn less_power_takes_more_time(which in 0..SYSTEMS.len(), (sequences, context, _) in batches(), each in 1u64..3_000) {
        let system = system(which);
        let free = RooflineStep::new(system.clone(), Overheads::default()).unwrap();
        let draw = PowerDraw::estimate(system.device()).unwrap();
        let load = mixed(decode(sequences, context), 1, each);
        let mut last = free.step_time(&load);
        for share in [4.0, 1.0, 0.7, 0.5, 0.3] {
            let limited = free.clone().with_power_limit(draw, tdp(&system) * share).unwrap();
            let time = limited.step_time(&load);
            if share > 2.0 {
                prop_assert_eq!(time, last);
            }
            prop_assert!(time >= last, "{} {}", time, last);
            last = time;
        }
    }
}

/// Verifying drafts takes what the roofline's own account of speculation says, where nothing is added.
#[test]
fn verification_is_the_rooflines() {
    let system = system(0);
    let step = RooflineStep::new(system.clone(), NONE).unwrap();
    let load = UniformLoad::new(Tokens::new(999), Tokens::new(2), 8.try_into().unwrap());
    let acceptance = Acceptance::uniform(0.5).unwrap();
    let speculation = Speculation::new(acceptance, Drafter::Lookup);
    for length in [1, 3, 7] {
        let expected = speculation.chain(&system, EstimateKind::Bound, &load, 8.0, length).verify;
        let drafted_tokens = 8 * u64::from(length);
        let found = step.step_time(&StepLoad { drafted_tokens, ..decode(8, 8_000) });
        // The drafts' own cache is read and written besides.
        let ratio = found.as_secs_f64() / expected.get();
        assert!((1.0..1.01).contains(&ratio), "{ratio} with {length}");
    }
}

/// A search costs nothing, a share its share of a plain step for each token, a model its own passes.
#[test]
fn drafters_take_their_time() {
    let (system, length) = (system(1), NonZeroU32::new(3).unwrap());
    let step = RooflineStep::new(system.clone(), NONE).unwrap();
    let draft = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    let draft = System::new(draft, system.device().clone(), *system.deployment()).unwrap();
    let drafting = RooflineStep::new(draft.clone(), NONE).unwrap();
    let load = StepLoad { drafted_tokens: 24, ..decode(8, 8_000) };
    let with = |drafter| step.clone().with_drafter(drafter, length);
    let nanos = |step: &RooflineStep, load: &StepLoad| step.step_time(load).as_nanos();
    let own = nanos(&step, &load);

    assert_eq!(nanos(&with(Drafter::Lookup), &load), own);
    let share = nanos(&with(Drafter::Share(0.1)), &load) - own;
    let tenth = 3 * nanos(&step, &decode(8, 8_024)) / 10;
    assert!(share.abs_diff(tenth) <= 2, "{share} {tenth}");
    let model = with(Drafter::Model(Box::new(draft)));
    let passes = 3 * nanos(&drafting, &decode(8, 8_024));
    assert!((nanos(&model, &load) - own).abs_diff(passes) <= 4);
    // It reads prompts as well, and has nothing to do where nothing is drafted.
    let prompt = mixed(StepLoad::default(), 2, 1_000);
    let reading = nanos(&model, &prompt) - nanos(&step, &prompt);
    assert!(reading.abs_diff(nanos(&drafting, &prompt)) <= 2);
    assert_eq!(model.step_time(&decode(8, 8_000)), step.step_time(&decode(8, 8_000)));
}

/// Half the memory of a dense model's own: what a limit does is [`PowerDraw`]'s formula.
#[test]
fn a_limited_step_takes_its_energy_over_the_limit() {
    let system = system(0);
    let draw = PowerDraw::estimate(system.device()).unwrap();
    let limit = tdp(&system) * 0.3;
    let free = RooflineStep::new(system.clone(), NONE).unwrap();
    let limited = free.clone().with_power_limit(draw, limit).unwrap();
    let pass =
        system.overlapped_sums(&PassSums { decoding: 1.0, context: 100.0, ..PassSums::default() });
    let joules =
        draw.memory.get() * pass.memory().get() + draw.arithmetic.get() * pass.arithmetic().get();
    let expected = joules / (limit.get() - draw.constant.get());
    let found = limited.step_time(&decode(1, 100));
    assert!(found > free.step_time(&decode(1, 100)));
    assert!((found.as_secs_f64() / expected - 1.0).abs() < 1e-6, "{found} {expected}");
    let error = free.with_power_limit(draw, draw.constant).unwrap_err();
    assert!(error.to_string().contains("must be above"), "{error}");
}

/// Padding to a captured batch is computed, and reads no cache.
#[test]
fn padding_is_arithmetic() {
    let system = system(0);
    let step = RooflineStep::new(system, NONE).unwrap();
    // Past the ridge, where only arithmetic counts, padded or not is the same.
    let padded = StepLoad { padded_tokens: 24, ..decode(1_000, 1_000) };
    let (padded, whole) = (step.step_time(&padded), step.step_time(&decode(1_024, 1_024)));
    let ratio = padded.as_secs_f64() / whole.as_secs_f64();
    assert!((ratio - 1.0).abs() < 1e-3, "{ratio}");
    // Alone, the weights' time hides it.
    let few = StepLoad { padded_tokens: 7, ..decode(1, 1_000) };
    assert_eq!(step.step_time(&few), step.step_time(&decode(1, 1_000)));
}

/// So many micro-batches are under way as there are pipeline stages.
#[test]
fn stages_are_the_deployments() {
    for (which, (_, _, deployment)) in SYSTEMS.iter().enumerate() {
        let stages = if deployment.contains("PP2") { 2 } else { 1 };
        for kind in 0..KINDS {
            assert_eq!(step_of(&system(which), kind).stages().get(), stages);
        }
    }
}

#[test]
fn a_fixed_step_is_what_it_says() {
    let fixed = FixedStep {
        per_step: Nanos::from_nanos(1_000),
        per_sequence: Nanos::from_nanos(10),
        per_prompt_token: Nanos::from_nanos(3),
    };
    let step = StepModel::from(fixed);
    let load = mixed(decode(4, 4_000), 2, 100);
    assert_eq!(step.step_time(&load).as_nanos(), 1_000 + 40 + 600);
    assert_eq!(step.pace(&load), None);
    let pace: LinearStepTimes = step.pace(&decode(4, 4_000)).unwrap();
    assert_eq!(
        (pace.at(0), pace.at(1_000_000)),
        (Nanos::from_nanos(1_040), Nanos::from_nanos(1_040))
    );
}

/// A server runs engines on threads of its own.
const fn is_send<T: Send + Clone>() {}
const _: () = is_send::<StepModel>();
