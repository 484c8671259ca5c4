//! Prompts that begin alike.

use fizeau_core::Tokens;
use fizeau_sim::{Engine, EngineConfig, EngineJob, PrefixCaching, Serve, StepLoad};

use super::random::Grows;
use crate::support::{drain, job, ms, of};

/// Blocks of 4, `blocks` of them.
fn config(blocks: u64) -> EngineConfig {
    EngineConfig {
        block: Tokens::new(4),
        blocks,
        prefix_caching: PrefixCaching::On,
        ..EngineConfig::new(4, Tokens::new(16))
    }
}

/// A job with so many blocks of family `family`, full ones only.
fn told(id: u64, prompt: u64, output: u64, at: u64, family: u64) -> EngineJob {
    let blocks = (prompt + output) / 4;
    let content = (0..blocks).map(|k| 100 * family + k).collect();
    EngineJob { content: Some(content), ..job(id, prompt, output, ms(at)) }
}

/// What each job found, in the order of jobs.
fn cached(config: EngineConfig, jobs: &[EngineJob]) -> Vec<u64> {
    let mut engine = Engine::new(config, Grows::default()).unwrap();
    jobs.iter().for_each(|job| engine.submit(job.clone()).unwrap());
    let left = drain(&mut engine);
    jobs.iter().map(|job| of(&left, job.id.0)[0].timing.cached_tokens.get()).collect()
}

#[test]
fn what_is_known_is_not_read() {
    let step_time = Grows::default();
    let loads = step_time.loads.clone();
    let mut engine = Engine::new(config(100), step_time).unwrap();
    engine.submit(told(0, 10, 1, 0, 1)).unwrap();
    engine.submit(told(1, 18, 1, 500, 1)).unwrap();
    let left = drain(&mut engine);
    // Two full blocks of the first prompt; 10 tokens behind 8.
    assert_eq!(of(&left, 1)[0].timing.cached_tokens, Tokens::new(8));
    let StepLoad { prefill_tokens, prefill_pairs, prefill_context_tokens, .. } = loads.borrow()[1];
    assert_eq!((prefill_tokens.get(), prefill_context_tokens.get()), (10, 18));
    assert_eq!(prefill_pairs, 10 * 8 + 10 * 11 / 2);
    let gauges = engine.gauges();
    assert_eq!((gauges.prefix_queries, gauges.prefix_hits), (28, 8));
    assert_eq!(gauges.blocks_used, 0, "what nobody uses is not in use");
}

#[test]
fn the_last_token_is_always_read() {
    assert_eq!(cached(config(100), &[told(0, 8, 1, 0, 1), told(1, 8, 1, 500, 1)]), [0, 4]);
    assert_eq!(cached(config(100), &[told(0, 8, 1, 0, 1), told(1, 9, 1, 500, 1)]), [0, 8]);
}

/// A reply is part of the next turn's prompt, as far as it was computed: its last token was not.
#[test]
fn replies_are_known_too() {
    let turns = [told(0, 8, 9, 0, 1), told(1, 40, 1, 500, 1)];
    assert_eq!(cached(config(100), &turns), [0, 16]);
    let turns = [told(0, 8, 8, 0, 1), told(1, 40, 1, 500, 1)];
    assert_eq!(cached(config(100), &turns), [0, 12]);
}

#[test]
fn running_sequences_share_blocks() {
    let step_time = Grows::default();
    let loads = step_time.loads.clone();
    let mut engine = Engine::new(config(100), step_time).unwrap();
    engine.submit(told(0, 41, 50, 0, 1)).unwrap();
    engine.submit(told(1, 41, 50, 2, 1)).unwrap();
    engine.advance(ms(5), &mut |_| {});
    assert_eq!(engine.gauges().running, 2);
    // 10 shared, and an 11th of each.
    assert_eq!(engine.gauges().blocks_used, 12);
    drain(&mut engine);
    let shared: Vec<u64> =
        loads.borrow().iter().map(|load| load.decode_shared_tokens.get()).collect();
    assert!(shared.contains(&40), "{shared:?}");
    assert_eq!(shared.last(), Some(&0), "the first is over: {shared:?}");
}

/// Whoever is admitted to a step finds what others read in it, and no step reads anything twice.
#[test]
fn one_step_is_enough_to_share() {
    let jobs: Vec<_> = (0..4).map(|id| told(id, 41, 1, 0, 1)).collect();
    assert_eq!(cached(config(100), &jobs), [0, 40, 40, 40]);
    let step_time = Grows::default();
    let loads = step_time.loads.clone();
    let mut engine = Engine::new(config(100), step_time).unwrap();
    jobs.into_iter().for_each(|job| engine.submit(job).unwrap());
    drain(&mut engine);
    let load = loads.borrow()[0];
    assert_eq!((load.prefill_tokens.get(), load.prefill_context_tokens.get()), (41 + 3, 4 * 41));
    assert_eq!(load.prefill_pairs, (1..=41).sum::<u64>() + 3 * 41);
}

/// Of a prompt that is read in chunks others find what has been read, or is about to be in their step.
#[test]
fn chunks_are_shared_as_they_are_read() {
    let config = EngineConfig { max_batched_tokens: Tokens::new(30), ..config(100) };
    // 30 tokens in the first step; in the second the last 11, and then there is budget for the other.
    assert_eq!(cached(config, &[told(0, 41, 1, 0, 1), told(1, 41, 1, 0, 1)]), [0, 40]);
}

/// Who decodes the same at the same time has a copy until the block is full; then one stays.
#[test]
fn copies_are_kept_once() {
    let mut engine = Engine::new(config(100), Grows::default()).unwrap();
    [0, 1].into_iter().for_each(|id| engine.submit(told(id, 41, 11, 0, 1)).unwrap());
    let mut used = Vec::new();
    while let Some(at) = engine.next_event() {
        engine.advance(at, &mut |_| {});
        used.push(engine.gauges().blocks_used);
    }
    // 10 shared, an 11th of each for tokens 41 to 44, again a 12th, and a 13th that is never full.
    used.dedup();
    assert_eq!(used, [12, 11, 13, 12, 14, 0]);
}

/// 8 blocks, of which two families fill 3 each. A third, of 5, takes the 2 that are free and of the first, which was used
/// last longest ago, the third, second and first block. Then the second is still there, and of the first nothing is.
#[test]
fn what_was_used_last_stays() {
    let jobs = |last| {
        let first = told(0, 12, 1, 0, 1);
        [first, told(1, 12, 1, 500, 2), told(2, 20, 1, 1_000, 3), told(3, 13, 1, 1_500, last)]
    };
    assert_eq!(cached(config(8), &jobs(2))[3], 12);
    assert_eq!(cached(config(8), &jobs(1))[3], 0);
}

/// The end of a prompt goes before its beginning: of 3 blocks that are known, and 5 that are free, others take 6, 7 and 8.
#[test]
fn ends_are_evicted_first() {
    for (other, left) in [(24, 8), (28, 4), (31, 0)] {
        let jobs = [told(0, 12, 1, 0, 1), told(1, other, 1, 500, 2), told(2, 13, 1, 1_000, 1)];
        assert_eq!(cached(config(8), &jobs)[2], left);
    }
}

/// Jobs of which nothing is known, and engines that keep nothing.
#[test]
fn nothing_is_found_where_nothing_is_kept() {
    let plain = [job(0, 12, 1, ms(0)), job(1, 12, 1, ms(500))];
    assert_eq!(cached(config(8), &plain), [0, 0]);
    let off = EngineConfig { prefix_caching: PrefixCaching::Off, ..config(8) };
    assert_eq!(cached(off, &[told(0, 12, 1, 0, 1), told(1, 12, 1, 500, 1)]), [0, 0]);
}
