//! Small schedules, worked out by hand.

use std::num::NonZeroU32;

use fizeau_core::{Nanos, Tokens};
use fizeau_roofline::{Acceptance, Admission};
use fizeau_sim::{
    AdmissionOrder, Chunking, Emission, Engine, EngineConfig, EngineDrafts, EngineJob, Policy,
    Priority, Serve, StepLoad, StepTime, SubmitError,
};

use proptest::prelude::*;

use super::random::{Grows, began};
use crate::support::{drain, job, ms, of};

/// Steps of 10 ms through so many stages beyond the first.
struct Tens(u32);

impl StepTime for Tens {
    fn step_time(&self, _: &StepLoad) -> Nanos {
        Nanos::from_millis(10)
    }

    fn stages(&self) -> NonZeroU32 {
        NonZeroU32::MIN.saturating_add(self.0)
    }
}

/// Four slots, blocks of 4 tokens, 100 of them, and 20 tokens a step.
fn config() -> EngineConfig {
    EngineConfig {
        block: Tokens::new(4),
        blocks: 100,
        max_batched_tokens: Tokens::new(20),
        ..EngineConfig::new(4, Tokens::new(16))
    }
}

fn run(config: EngineConfig, jobs: impl IntoIterator<Item = EngineJob>) -> Vec<Emission> {
    let mut engine = Engine::new(config, Tens(0)).unwrap();
    jobs.into_iter().for_each(|job| engine.submit(job).unwrap());
    drain(&mut engine)
}

/// The loads of its steps.
fn loads(config: EngineConfig, jobs: impl IntoIterator<Item = EngineJob>) -> Vec<StepLoad> {
    let step_time = Grows::default();
    let loads = step_time.loads.clone();
    let mut engine = Engine::new(config, step_time).unwrap();
    jobs.into_iter().for_each(|job| engine.submit(job).unwrap());
    drain(&mut engine);
    loads.take()
}

/// When a job's tokens left, in ms.
fn times(emissions: &[Emission], id: u64) -> Vec<u64> {
    let mine = of(emissions, id).into_iter();
    mine.map(|emission| emission.at.as_nanos() / 1_000_000).collect()
}

proptest! {
    /// A prompt has the same pairs however it is cut into chunks: position p attends to p tokens.
    #[test]
    fn chunks_have_the_pairs_of_the_whole(prompt in 1u64..380, budget in 4u64..300) {
        let config = EngineConfig { max_batched_tokens: Tokens::new(budget), ..config() };
        let loads = loads(config, [job(0, prompt, 1, ms(0))]);
        prop_assert_eq!(loads.iter().map(|load| load.prefill_pairs).sum::<u64>(), (1..=prompt).sum::<u64>());
        let read = loads.iter().map(|load| load.prefill_tokens.get()).sum::<u64>();
        prop_assert_eq!((read, loads.len() as u64), (prompt, prompt.div_ceil(budget)));
    }
}

#[test]
fn chunks_share_a_step_with_decoding() {
    let left = run(config(), [job(0, 4, 4, ms(0)), job(1, 45, 2, ms(0)), job(2, 3, 1, ms(0))]);
    assert_eq!(times(&left, 0), [10, 20, 30, 40]);
    // 16 tokens beside the first prompt, 19 beside its decoding, the last 10; then there is budget for the third.
    assert_eq!(times(&left, 1), [30, 40]);
    assert_eq!(times(&left, 2), [30]);
    let loads = loads(config(), [job(0, 4, 4, ms(0)), job(1, 45, 2, ms(0))]);
    let read: Vec<_> = loads.iter().map(|load| load.prefill_tokens.get()).collect();
    assert_eq!(read, [20, 19, 10, 0]);
    // One token after another: 17 + ... + 35 behind 16.
    assert_eq!(loads[1].prefill_pairs, (17..=35).sum::<u64>());
    assert_eq!(loads[1].decode_context_tokens, Tokens::new(5));
}

#[test]
fn prefill_first_lets_decoding_wait() {
    let config = EngineConfig { policy: Policy::PrefillFirst, ..config() };
    let left = run(config, [job(0, 4, 4, ms(0)), job(1, 45, 2, ms(5))]);
    // Chunks of 20, 20 and 5 from 10 ms on, and nothing else.
    assert_eq!(times(&left, 0), [10, 50, 60, 70]);
    assert_eq!(times(&left, 1), [40, 50]);
}

#[test]
fn whole_prompts_wait_for_a_step_with_room() {
    let config = EngineConfig { chunking: Chunking::Whole, ..config() };
    let left =
        run(config.clone(), [job(0, 4, 3, ms(0)), job(1, 18, 2, ms(0)), job(2, 1, 1, ms(0))]);
    // 18 do not fit beside 4, but beside one that decodes; the third may not overtake, and fits too.
    assert_eq!((times(&left, 0), times(&left, 1)), (vec![10, 20, 30], vec![20, 30]));
    assert_eq!(times(&left, 2), [20]);
    // One beyond the budget is alone in its step, and decoding waits.
    let left = run(config, [job(0, 4, 3, ms(0)), job(1, 50, 2, ms(0))]);
    assert_eq!((times(&left, 0), times(&left, 1)), (vec![10, 30, 40], vec![20, 30]));
}

/// A prompt just within the budget waits for those that decode no longer than one just beyond it.
#[test]
fn whole_prompts_do_not_starve() {
    for policy in [Policy::Mixed, Policy::PrefillFirst] {
        let config = EngineConfig { chunking: Chunking::Whole, policy, ..config() };
        for prompt in [18, 19, 20, 21] {
            let others = [0, 2].map(|id| job(id, 4, 100, ms(0)));
            let jobs = others.into_iter().chain([job(1, prompt, 2, ms(5))]);
            let left = run(config.clone(), jobs);
            assert_eq!(times(&left, 1)[0], 20, "{policy:?} {prompt}");
            // 18 fit beside the two: they go on meanwhile.
            let beside = prompt == 18 && policy == Policy::Mixed;
            assert_eq!(times(&left, 0)[1], if beside { 20 } else { 30 }, "{policy:?} {prompt}");
        }
    }
}

/// 4 blocks of 4. Two prompts of 7 hold 2 each. At 20 ms each has computed 8, and the first needs a third: the second makes room.
/// It reads its 7 tokens and the 2 that it has given when the first has ended. The third job would have had room before, but
/// is behind it.
#[test]
fn the_last_makes_room_and_reads_all_again() {
    let config = EngineConfig { blocks: 4, max_num_seqs: 2, ..config() };
    let jobs = || [job(0, 7, 5, ms(0)), job(1, 7, 4, ms(0)), job(2, 2, 1, ms(1))];
    let left = run(config.clone(), jobs());
    assert_eq!(times(&left, 0), [10, 20, 30, 40, 50]);
    assert_eq!(times(&left, 1), [10, 20, 60, 70]);
    assert_eq!(times(&left, 2), [60]);
    let again = of(&left, 1);
    assert_eq!((again[2].index, again[2].timing.preemptions), (2, 1));
    assert_eq!(again[2].timing.first_token, ms(10));
    let loads = loads(config, jobs());
    let read: Vec<_> = loads.iter().map(|load| load.prefill_tokens.get()).collect();
    assert_eq!(read, [14, 0, 0, 0, 0, 7 + 2 + 2, 0]);
}

/// Nor the one that goes before whoever made room, though it would have room now.
#[test]
fn a_step_that_preempts_admits_nobody() {
    let config = EngineConfig { blocks: 5, order: AdmissionOrder::Priority, ..config() };
    let lower = EngineJob { priority: Priority(1), ..job(1, 12, 5, ms(0)) };
    let left = run(config, [job(0, 4, 3, ms(0)), lower, job(2, 1, 1, ms(5))]);
    // At 10 ms the first takes the fifth block, and the second, which needs one too, gives its three back.
    assert_eq!(times(&left, 0), [10, 20, 30]);
    assert_eq!(times(&left, 2), [30], "admitted at 20 ms");
    assert_eq!(times(&left, 1), [10, 40, 50, 60, 70], "its 13 tokens need four blocks");
}

#[test]
fn whoever_has_reserved_is_not_preempted() {
    let config = EngineConfig { blocks: 5, admission: Admission::Whole, ..config() };
    let left = run(config, [job(0, 7, 5, ms(0)), job(1, 7, 4, ms(0))]);
    assert_eq!(times(&left, 0), [10, 20, 30, 40, 50]);
    assert_eq!(times(&left, 1), [60, 70, 80, 90], "3 blocks and 3 are more than 5");
}

#[test]
fn priority_goes_first_and_is_preempted_last() {
    let of_priority = |job: EngineJob, priority| EngineJob { priority: Priority(priority), ..job };
    let jobs = || {
        let last = of_priority(job(0, 7, 4, ms(0)), 2);
        let first = of_priority(job(1, 7, 5, ms(0)), 1);
        [last, first]
    };
    let config = EngineConfig { blocks: 5, order: AdmissionOrder::Priority, ..config() };
    let left = run(config.clone(), jobs());
    assert_eq!(times(&left, 1), [10, 20, 30, 40, 50]);
    assert_eq!(times(&left, 0), [10, 20, 60, 70]);
    // One at a time: the order of admission.
    let alone = EngineConfig { max_num_seqs: 1, ..config };
    let left = run(alone.clone(), jobs());
    assert_eq!((times(&left, 1)[0], times(&left, 0)[0]), (10, 60));
    let left = run(EngineConfig { order: AdmissionOrder::Arrival, ..alone }, jobs());
    assert_eq!((times(&left, 0)[0], times(&left, 1)[0]), (10, 50));
}

/// The one to make room decodes before the one that needs it: what was planned for it is taken back, and nobody is skipped.
#[test]
fn priority_preempts_what_was_scheduled() {
    let config = EngineConfig { blocks: 6, order: AdmissionOrder::Priority, ..config() };
    let lower = EngineJob { priority: Priority(2), ..job(0, 6, 6, ms(0)) };
    let left = run(config, [lower, job(1, 7, 5, ms(5)), job(2, 1, 3, ms(5))]);
    // At 30 ms both have computed 8, and the first has taken the last block, which the second needs.
    assert_eq!(times(&left, 1), [20, 30, 40, 50, 60]);
    assert_eq!(times(&left, 2), [20, 30, 40]);
    assert_eq!(times(&left, 0), [10, 20, 30, 50, 60, 70]);
    assert_eq!(of(&left, 0).last().unwrap().timing.preemptions, 1);
}

#[test]
fn steps_that_decode_are_padded_to_a_captured_size() {
    let config = EngineConfig { captured: vec![1, 4], ..config() };
    let jobs = (0..3).map(|id| job(id, 1, 2 + id, ms(0)));
    let loads = loads(config, jobs);
    let sizes = loads.iter().map(|load| (load.decode_sequences, load.padded_tokens));
    assert_eq!(sizes.collect::<Vec<_>>(), [(0, 0), (3, 1), (2, 2), (1, 0)]);
}

/// Sizes are in tokens, and a draft's are among them.
#[test]
fn drafts_count_to_a_captured_size() {
    let drafts = EngineDrafts { length: 3, acceptance: Acceptance::uniform(0.0).unwrap() };
    let config = EngineConfig { captured: vec![8, 10], drafts: Some(drafts), ..config() };
    let loads = loads(config, (0..3).map(|id| job(id, 1, 2 + id, ms(0))));
    let sizes = loads.iter().map(|load| (load.decode_sequences, load.padded_tokens));
    // 12 tokens are more than were captured, 8 just as many, 4 half as many.
    assert_eq!(sizes.collect::<Vec<_>>(), [(0, 0), (3, 0), (2, 0), (1, 4)]);
}

#[test]
fn a_queue_has_an_end() {
    let config = EngineConfig { max_waiting: Some(2), max_num_seqs: 1, ..config() };
    let mut engine = Engine::new(config, Tens(0)).unwrap();
    engine.submit(job(0, 1, 2, ms(0))).unwrap();
    engine.advance(ms(0), &mut |_| {});
    engine.submit(job(1, 1, 1, ms(1))).unwrap();
    engine.submit(job(2, 1, 1, ms(1))).unwrap();
    let refused = engine.submit(job(3, 1, 1, ms(1)));
    assert_eq!(refused, Err(SubmitError::QueueFull { waiting: 2 }));
    assert_eq!(drain(&mut engine).len(), 4);
}

/// Groups wait for each other, and attention costs what that of the busiest does.
#[test]
fn groups_have_slots_and_blocks_of_their_own() {
    let config = EngineConfig { groups: 2, max_num_seqs: 1, captured: vec![1], ..config() };
    let jobs = || [job(0, 10, 3, ms(0)), job(1, 4, 3, ms(0)), job(2, 4, 2, ms(0))];
    let left = run(config.clone(), jobs());
    // The third is the second of group 0, of which both have one job.
    assert_eq!((times(&left, 0), times(&left, 1)), (vec![10, 20, 30], vec![10, 20, 30]));
    assert_eq!(times(&left, 2), [40, 50]);
    let loads = loads(config, jobs());
    assert_eq!(loads[0].prefill_tokens, Tokens::new(14));
    assert_eq!(loads[0].prefill_context_tokens, Tokens::new(20));
    assert_eq!(loads[0].prefill_pairs, 2 * (10 * 11 / 2));
    assert_eq!((loads[1].decode_sequences, loads[1].padded_tokens), (2, 0));
    assert_eq!(loads[1].decode_context_tokens, Tokens::new(2 * 11));
    // Nobody else has one, so that the busiest group's share is all.
    assert_eq!((loads[4].decode_sequences, loads[4].padded_tokens), (1, 0));
    assert_eq!(loads[4].decode_context_tokens, Tokens::new(5));
}

/// Two stages of 5 ms: two batches of one sequence each are under way at once, half a step apart.
#[test]
fn a_pipeline_decodes_in_turns() {
    let mut engine = Engine::new(config(), Tens(1)).unwrap();
    [0, 1].into_iter().for_each(|id| engine.submit(job(id, 4, 3, ms(0))).unwrap());
    let left = drain(&mut engine);
    assert_eq!(times(&left, 0), [10, 20, 30], "both prompts are read together");
    assert_eq!(times(&left, 1), [10, 25, 35]);
    assert_eq!(engine.gauges().steps, 5);
}

/// Two stages of 5 ms: a chunk enters the first as the one before it leaves that. Only the last is waited for.
#[test]
fn chunks_of_one_prompt_overlap_in_a_pipeline() {
    let mut engine = Engine::new(config(), Tens(1)).unwrap();
    engine.submit(job(0, 50, 2, ms(0))).unwrap();
    let left = drain(&mut engine);
    assert_eq!(times(&left, 0), [20, 30], "chunks from 0, 5 and 10 ms on");
    assert_eq!(engine.gauges().steps, 4);
    assert_eq!(times(&run(config(), [job(0, 50, 2, ms(0))]), 0), [30, 40], "without a pipeline");
}

/// A batch does not overtake a longer one: it leaves the last stage one stage's time after it.
#[test]
fn a_pipeline_keeps_its_order() {
    #[derive(Debug)]
    struct TwoStages;
    impl StepTime for TwoStages {
        fn step_time(&self, load: &StepLoad) -> Nanos {
            Nanos::from_millis(10 * load.prefill_tokens.get())
        }
        fn stages(&self) -> NonZeroU32 {
            NonZeroU32::MIN.saturating_add(1)
        }
    }
    let mut engine = Engine::new(config(), TwoStages).unwrap();
    engine.submit(job(0, 10, 1, ms(0))).unwrap();
    engine.submit(job(1, 1, 1, ms(1))).unwrap();
    let left = drain(&mut engine);
    // 100 ms; 10 ms from 50 ms on, of which the last stage's 5 begin at 100 ms.
    assert_eq!((times(&left, 0), times(&left, 1)), (vec![100], vec![105]));
}

#[test]
fn accepted_drafts_leave_together() {
    let drafts = |q| Some(EngineDrafts { length: 3, acceptance: Acceptance::uniform(q).unwrap() });
    let always = EngineConfig { drafts: drafts(1.0), ..config() };
    let left = run(always.clone(), [job(0, 4, 10, ms(0))]);
    let counts: Vec<_> = left.iter().map(|emission| (emission.index, emission.count)).collect();
    assert_eq!(counts, [(0, 1), (1, 4), (5, 4), (9, 1)], "not beyond the last");
    assert_eq!(times(&left, 0), [10, 20, 30, 40]);
    let verified = loads(always, [job(0, 4, 10, ms(0))]);
    let verified: Vec<_> = verified.iter().map(|load| load.drafted_tokens).collect();
    assert_eq!(verified, [0, 3, 3, 3]);
    let never = EngineConfig { drafts: drafts(0.0), ..config() };
    assert_eq!(run(never, [job(0, 4, 10, ms(0))]).len(), 10);
}

/// A prompt that was read elsewhere is not read again, and its first token not given again.
#[test]
fn a_job_begun_elsewhere_goes_on() {
    let begun = EngineJob { begun: Some(began(ms(0))), ..job(1, 30, 3, ms(12)) };
    let jobs = [job(0, 4, 4, ms(0)), begun.clone()];
    let left = run(config(), jobs.clone());
    assert_eq!(times(&left, 1), [30, 40], "from the step that begins at 20 ms");
    let first = of(&left, 1)[0];
    assert_eq!((first.index, first.timing), (1, began(ms(0))));
    let read = loads(config(), jobs).iter().map(|load| load.prefill_tokens.get()).sum::<u64>();
    assert_eq!(read, 4);
    let mut engine = Engine::new(config(), Tens(0)).unwrap();
    let over = EngineJob { output_tokens: Tokens::new(1), ..begun };
    assert!(matches!(engine.submit(over), Err(SubmitError::Empty { .. })));
}
