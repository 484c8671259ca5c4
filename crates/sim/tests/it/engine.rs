//! The continuous-batching state machine.

use std::cell::RefCell;
use std::collections::BTreeMap;

use fizeau_core::{Nanos, Stamp, Tokens};
use fizeau_sim::{ConfigError, Engine, EngineConfig, Job, JobId, Serve, StepLoad, SubmitError};
use proptest::prelude::*;

use crate::support::{affine, drain, job, ms, of};

const STEP: Nanos = Nanos::from_millis(10);

fn constant(_: &StepLoad) -> Nanos {
    STEP
}

fn config(slots: u64, kv: u64) -> EngineConfig {
    EngineConfig::new(slots, Tokens::new(kv))
}

/// Jobs that fit a cache of 500 tokens, in any order of arrival.
fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let one = (1u64..400, 1u64..30, 0u64..200);
    prop::collection::vec(one, 1..40).prop_map(|all| {
        let numbered = all.into_iter().zip(0..);
        let job = |((prompt, output, at), id)| job(id, prompt, output, ms(at));
        numbered.map(job).collect()
    })
}

/// Small engines, so that every limit is met.
fn configs() -> impl Strategy<Value = EngineConfig> {
    (1u64..6, 448u64..1_500, 16u64..600).prop_map(|(slots, kv, budget)| {
        let config = config(slots, kv);
        EngineConfig { max_batched_tokens: Tokens::new(budget), ..config }
    })
}

proptest! {
    #[test]
    fn every_job_gives_exactly_its_tokens_in_order(jobs in jobs(), config in configs()) {
        let mut engine = Engine::new(config.clone(), affine).unwrap();
        for job in &jobs {
            engine.submit(job.clone()).unwrap();
        }
        let emissions = drain(&mut engine);
        prop_assert!(emissions.is_sorted_by_key(|emission| emission.at));
        for job in &jobs {
            let tokens = of(&emissions, job.id.0);
            prop_assert_eq!(tokens.len() as u64, job.output_tokens.get());
            prop_assert!(tokens.iter().zip(0..).all(|(token, index)| token.index == index));
            let lasts: Vec<_> = tokens.iter().map(|token| token.last).collect();
            prop_assert_eq!(lasts.iter().position(|&last| last), Some(lasts.len() - 1));
            let timing = tokens[0].timing;
            prop_assert!(timing.submitted == job.at && job.at <= timing.admitted);
            prop_assert!(timing.admitted < timing.first_token && timing.first_token == tokens[0].at);
        }
        prop_assert_eq!((engine.running(), engine.waiting()), (0, 0));
        prop_assert_eq!(engine.gauges().blocks_used, 0);
    }

    #[test]
    fn limits_hold_at_every_step(jobs in jobs(), config in configs()) {
        let loads = RefCell::new(Vec::new());
        let mut engine = Engine::new(config.clone(), |load: &StepLoad| {
            loads.borrow_mut().push(*load);
            affine(load)
        }).unwrap();
        for job in &jobs {
            engine.submit(job.clone()).unwrap();
        }
        while let Some(at) = engine.next_event() {
            engine.advance(at, &mut |_| {});
            prop_assert!(engine.running() as u64 <= config.max_num_seqs);
            prop_assert!(engine.gauges().blocks_used <= config.blocks);
        }
        for load in loads.borrow().iter() {
            prop_assert!(load.sequences() <= config.max_num_seqs);
            prop_assert!(load.prefill_tokens <= config.max_batched_tokens);
            prop_assert!(load.decode_context_tokens + load.prefill_context_tokens <= config.kv_capacity());
            prop_assert!(load.sequences() > 0, "a step without work");
        }
        let prompts: u64 = jobs.iter().map(|job| job.prompt_tokens.get()).sum();
        let read: u64 = loads.borrow().iter().map(|load| load.prefill_tokens.get()).sum();
        prop_assert_eq!(read, prompts, "each prompt is read once");
    }

    /// One token a slot and step is the most there can be.
    #[test]
    fn throughput_is_what_the_steps_allow(jobs in jobs(), config in configs()) {
        let mut engine = Engine::new(config.clone(), constant).unwrap();
        let first = jobs.iter().map(|job| job.at).min().unwrap();
        for job in &jobs {
            engine.submit(job.clone()).unwrap();
        }
        let emissions = drain(&mut engine);
        let end = emissions.last().unwrap().at;
        let steps = end.since(first).unwrap().as_nanos() / STEP.as_nanos();
        prop_assert!(emissions.len() as u64 <= steps * config.max_num_seqs);
    }

    /// How often the engine is looked at does not change what it does.
    #[test]
    fn the_grid_of_advances_does_not_matter(
        jobs in jobs(),
        config in configs(),
        strides in prop::collection::vec(1u64..50_000_000, 1..20),
    ) {
        let engine = || {
            let mut engine = Engine::new(config.clone(), affine).unwrap();
            jobs.iter().for_each(|job| engine.submit(job.clone()).unwrap());
            engine
        };
        let by_event = drain(&mut engine());
        let (mut engine, mut now, mut by_stride) = (engine(), Stamp::EPOCH, Vec::new());
        for stride in strides.iter().cycle() {
            if engine.next_event().is_none() {
                break;
            }
            now += Nanos::from_nanos(*stride);
            engine.advance(now, &mut |emission| by_stride.push(emission));
        }
        prop_assert_eq!(by_event, by_stride);
    }

    /// Whatever is cancelled and when, the rest is served in full and everything is given back.
    #[test]
    fn cancelling_leaves_the_rest_whole(
        jobs in jobs(),
        config in configs(),
        doomed in prop::collection::btree_map(0u64..40, 0u64..300, 0..20),
    ) {
        let mut engine = Engine::new(config.clone(), affine).unwrap();
        jobs.iter().for_each(|job| engine.submit(job.clone()).unwrap());
        let mut tokens: BTreeMap<JobId, u64> = BTreeMap::new();
        let mut doomed: Vec<_> = doomed.into_iter().map(|(id, at)| (ms(at), JobId(id))).collect();
        doomed.sort();
        for (at, id) in &doomed {
            engine.advance(*at, &mut |emission| *tokens.entry(emission.job).or_default() += 1);
            engine.cancel(*id);
        }
        for emission in drain(&mut engine) {
            *tokens.entry(emission.job).or_default() += 1;
        }
        for job in jobs {
            let got = tokens.get(&job.id).copied().unwrap_or(0);
            let spared = doomed.iter().all(|(_, id)| *id != job.id);
            prop_assert!(got <= job.output_tokens.get());
            prop_assert!(!spared || got == job.output_tokens.get());
        }
        prop_assert_eq!((engine.running(), engine.waiting()), (0, 0));
        prop_assert_eq!(engine.gauges().blocks_used, 0);
    }
}

#[test]
fn an_idle_engine_keeps_the_closed_form() {
    let mut engine = Engine::new(config(4, 10_000), affine).unwrap();
    engine.submit(job(0, 200, 5, ms(7))).unwrap();
    let at: Vec<_> = drain(&mut engine).iter().map(|token| token.at).collect();
    // 1 ms and 200 prompt tokens of 10 us; then 1 ms and one sequence of 100 us a token.
    let first = ms(7) + Nanos::from_micros(3_000);
    let expected: Vec<_> = (0..5).map(|k| first + Nanos::from_micros(1_100) * k).collect();
    assert_eq!(at, expected);
}

#[test]
fn latency_grows_with_the_batch() {
    let tpot = |batch: u64| {
        let mut engine = Engine::new(config(64, 100_000), affine).unwrap();
        (0..batch).for_each(|id| engine.submit(job(id, 10, 50, ms(0))).unwrap());
        let emissions = drain(&mut engine);
        let tokens = of(&emissions, 0);
        tokens[49].at.since(tokens[0].at).unwrap() / 49
    };
    assert_eq!(tpot(1), Nanos::from_micros(1_100));
    assert_eq!(tpot(8), Nanos::from_micros(1_800));
    assert_eq!(tpot(64), Nanos::from_micros(7_400));
}

#[test]
fn beyond_the_slots_jobs_wait_for_a_completion() {
    let slots = 4;
    let mut engine = Engine::new(config(slots, 100_000), affine).unwrap();
    (0..=slots).for_each(|id| engine.submit(job(id, 10, 20 + id, ms(0))).unwrap());
    let emissions = drain(&mut engine);
    let first_completion = emissions.iter().find(|token| token.last).unwrap().at;
    let late = of(&emissions, slots)[0];
    assert_eq!(late.timing.admitted, first_completion);
    assert!(late.at > first_completion);
    assert!(late.timing.queue() > Nanos::ZERO);
}

#[test]
fn a_full_cache_queues_though_slots_are_free() {
    let mut engine = Engine::new(config(4, 100), constant).unwrap();
    engine.submit(job(0, 50, 10, ms(0))).unwrap();
    engine.submit(job(1, 50, 10, ms(0))).unwrap();
    // Would fit beside the first, but may not overtake the second.
    engine.submit(job(2, 10, 10, ms(0))).unwrap();
    let emissions = drain(&mut engine);
    let first_end = of(&emissions, 0)[9].at;
    assert_eq!(of(&emissions, 1)[0].timing.admitted, first_end);
    assert_eq!(of(&emissions, 2)[0].timing.admitted, first_end);
}

#[test]
fn a_long_prompt_is_read_beside_decoding() {
    let config = EngineConfig { max_batched_tokens: Tokens::new(100), ..config(4, 10_000) };
    let mut engine = Engine::new(config.clone(), constant).unwrap();
    engine.submit(job(0, 10, 8, ms(0))).unwrap();
    engine.submit(job(1, 250, 2, ms(5))).unwrap();
    let emissions = drain(&mut engine);
    let at = |id| of(&emissions, id).iter().map(|token| token.at).collect::<Vec<_>>();
    let every_step: Vec<_> = (1..=8).map(|k| ms(10 * k)).collect();
    assert_eq!(at(0), every_step, "decoding is not held up");
    assert_eq!(at(1), [ms(40), ms(50)], "three chunks from 10 ms on");
}

/// What is submitted at the instant at which a step ends is part of the next.
#[test]
fn a_replacement_joins_at_once() {
    let mut engine = Engine::new(config(1, 100), constant).unwrap();
    engine.submit(job(0, 10, 1, ms(0))).unwrap();
    let mut left = 0;
    engine.advance(ms(0), &mut |_| left += 1);
    engine.advance(ms(10), &mut |_| left += 1);
    assert_eq!((left, engine.next_event()), (1, None));
    engine.submit(job(1, 10, 1, ms(10))).unwrap();
    assert_eq!(engine.next_event(), Some(ms(10)));
    assert_eq!(drain(&mut engine)[0].at, ms(20));
}

#[test]
fn jobs_that_can_never_run_are_refused() {
    let mut engine = Engine::new(config(4, 100), constant).unwrap();
    engine.submit(job(0, 60, 40, ms(0))).unwrap();
    let refuse = |engine: &mut Engine<_>, job| engine.submit(job).unwrap_err();
    assert_eq!(refuse(&mut engine, job(0, 1, 1, ms(0))), SubmitError::DuplicateId(JobId(0)));
    let error = refuse(&mut engine, job(1, 60, 41, ms(0)));
    assert_eq!(
        error.to_string(),
        "60 prompt tokens and 41 output tokens are 101 together, more than the 100 that one request may have"
    );
    for (prompt, output) in [(0, 1), (1, 0)] {
        let error = refuse(&mut engine, job(1, prompt, output, ms(0)));
        assert!(matches!(error, SubmitError::Empty { .. }), "{error}");
    }
    assert!(matches!(
        refuse(&mut engine, job(1, u64::MAX, u64::MAX, ms(0))),
        SubmitError::TooLong { .. }
    ));
    drain(&mut engine);
    engine.submit(job(0, 1, 1, ms(0))).unwrap();
}

#[test]
fn senseless_limits_are_refused() {
    let refused = |config: EngineConfig| config.check().unwrap_err();
    assert_eq!(refused(config(0, 100)), ConfigError::NoSequences);
    assert!(matches!(refused(config(1, 1)), ConfigError::ContextTooSmall(_)));
}

/// A step that takes no time would make an engine that stands still and never ends.
#[test]
fn time_always_moves() {
    let mut engine = Engine::new(config(1, 100), |_: &StepLoad| Nanos::ZERO).unwrap();
    engine.submit(job(0, 10, 5, ms(0))).unwrap();
    let at: Vec<_> = drain(&mut engine).iter().map(|token| token.at.as_nanos()).collect();
    assert_eq!(at, [1, 2, 3, 4, 5]);
}
