//! The continuous-batching state machine.

mod closed_form;
mod invariants;
mod prefix;
mod random;
mod schedules;

use crate::support::{affine, drain, job, ms, of};
use fizeau_core::{Nanos, Tokens};
use fizeau_roofline::Acceptance;
use fizeau_sim::{
    ConfigError, Engine, EngineConfig, EngineDrafts, JobId, Serve, StepLoad, SubmitError,
};

const STEP: Nanos = Nanos::from_millis(10);

fn constant(_: &StepLoad) -> Nanos {
    STEP
}

fn config(slots: u64, kv: u64) -> EngineConfig {
    EngineConfig::new(slots, Tokens::new(kv))
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
fn a_front_end_takes_its_time_before_a_request_can_be_scheduled() {
    let front_end = Nanos::from_millis(3);
    let held = EngineConfig { front_end, ..config(4, 10_000) };
    let of = |config: EngineConfig| {
        let mut engine = Engine::new(config, affine).unwrap();
        // The second comes while the first one's prompt is read, and is held as long as if it had been alone.
        engine.submit(job(0, 200, 5, ms(7))).unwrap();
        engine.submit(job(1, 200, 5, ms(8))).unwrap();
        let emissions = drain(&mut engine);
        emissions.iter().map(|token| (token.job, token.at)).collect::<Vec<_>>()
    };
    let later = of(config(4, 10_000)).into_iter().map(|(job, at)| (job, at + front_end));
    assert_eq!(of(held.clone()), later.collect::<Vec<_>>());
    let mut engine = Engine::new(held, affine).unwrap();
    engine.submit(job(0, 200, 5, ms(7))).unwrap();
    assert_eq!(drain(&mut engine)[0].timing.queue(), front_end);
}

#[test]
fn a_front_end_takes_one_after_another_in() {
    let [front_end, front_end_per_request] = [3, 2].map(Nanos::from_millis);
    let held = EngineConfig { front_end, front_end_per_request, ..config(4, 10_000) };
    let mut engine = Engine::new(held, affine).unwrap();
    // Three at once, and one when the last of them keeps nobody waiting any more.
    [7, 7, 7, 13].into_iter().zip(0..).for_each(|(at, id)| {
        engine.submit(job(id, 1, 1, ms(at))).unwrap();
    });
    let emissions = drain(&mut engine);
    let queued = |id| of(&emissions, id)[0].timing.admitted;
    assert_eq!([0, 1, 2, 3].map(queued), [10, 12, 14, 16].map(ms));
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
    let mut engine = Engine::new(config(4, 112), constant).unwrap();
    engine.submit(job(0, 60, 52, ms(0))).unwrap();
    let refuse = |engine: &mut Engine<_>, job| engine.submit(job).unwrap_err();
    assert_eq!(refuse(&mut engine, job(0, 1, 1, ms(0))), SubmitError::DuplicateId(JobId(0)));
    let error = refuse(&mut engine, job(1, 60, 53, ms(0)));
    assert_eq!(
        error.to_string(),
        "60 prompt tokens and 53 output tokens are 113 together, more than the 112 that one request may have"
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

/// Each names the nearest that works, and that works.
#[test]
fn senseless_limits_are_refused() {
    let refused = |config: &EngineConfig| config.check().unwrap_err().to_string();
    let good = config(4, 160);
    let mut bad = good.clone();
    bad.max_num_seqs = 0;
    assert!(refused(&bad).ends_with("give at least 1"));
    bad = EngineConfig { block: Tokens::ZERO, ..good.clone() };
    assert!(refused(&bad).ends_with("give at least 1; 16 is usual"));
    bad = EngineConfig { max_batched_tokens: Tokens::new(15), ..good.clone() };
    assert!(refused(&bad).ends_with("is below one block of 16: give at least 16"));
    bad = EngineConfig { max_num_seqs: 20, max_batched_tokens: Tokens::new(19), ..good.clone() };
    assert!(refused(&bad).ends_with("give a budget of at least 20"));
    bad = EngineConfig { max_context: Some(Tokens::new(161)), ..good.clone() };
    assert!(refused(&bad).ends_with("it takes 11 blocks, or a context of at most 160"));
    bad = EngineConfig { blocks: 0, ..good.clone() };
    assert!(matches!(bad.check(), Err(ConfigError::ContextTooSmall(_))));
    bad = EngineConfig { groups: 0, ..good.clone() };
    assert!(refused(&bad).ends_with("give at least 1"));
    bad = EngineConfig { max_waiting: Some(0), ..good.clone() };
    assert!(refused(&bad).ends_with("give at least 1"));
    bad = EngineConfig { captured: vec![4, 2], ..good.clone() };
    assert!(refused(&bad).contains("size 2 comes after 4"));
    let acceptance = Acceptance::uniform(0.5).unwrap();
    let drafts = |length| Some(EngineDrafts { length, acceptance: acceptance.clone() });
    bad = EngineConfig { drafts: drafts(0), ..good.clone() };
    assert!(refused(&bad).contains("a draft of 0 tokens"));
    bad = EngineConfig { drafts: drafts(4), max_batched_tokens: Tokens::new(16), ..good.clone() };
    assert!(refused(&bad).ends_with("give a budget of at least 20"));
    assert!(Engine::new(EngineConfig { max_num_seqs: 0, ..good.clone() }, constant).is_err());
    assert_eq!(good.check(), Ok(()));
}

/// A step that takes no time would make an engine that stands still and never ends.
#[test]
fn time_always_moves() {
    let mut engine = Engine::new(config(1, 100), |_: &StepLoad| Nanos::ZERO).unwrap();
    engine.submit(job(0, 10, 5, ms(0))).unwrap();
    let at: Vec<_> = drain(&mut engine).iter().map(|token| token.at.as_nanos()).collect();
    assert_eq!(at, [1, 2, 3, 4, 5]);
}
