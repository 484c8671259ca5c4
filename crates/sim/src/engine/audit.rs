//! After whatever happens the books are right: each job is in one place, each block in one state.

use std::sync::Arc;

use fizeau_core::Nanos;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use fizeau_roofline::Acceptance;

impl<S: StepTime> Engine<S> {
    fn audit(&self) {
        let mut live = self.arriving.len();
        for (number, group) in self.groups.iter().enumerate() {
            live += group.jobs();
            assert!(group.running.len() as u64 <= self.config.max_num_seqs);
            for (rank, &slot) in &group.waiting {
                assert_eq!(
                    (self.jobs[slot].place, self.jobs[slot].rank),
                    (JobState::Waiting(number), *rank)
                );
                assert_eq!((self.jobs[slot].hold.room, self.jobs[slot].scheduled), (0, 0));
            }
            for &slot in &group.running {
                let sequence = &self.jobs[slot];
                assert_eq!(sequence.place, JobState::Running(number));
                assert!(sequence.computed <= sequence.hold.room);
            }
            group.blocks.audit(group.running.iter().map(|&slot| &self.jobs[slot].hold));
        }
        assert_eq!(live, self.jobs.live());
        let mut under_way: Vec<_> = self.batches.iter().flat_map(|batch| &batch.members).collect();
        let members = under_way.len();
        under_way.sort_unstable_by_key(|&&slot| self.jobs[slot].id);
        under_way.dedup();
        assert_eq!(under_way.len(), members, "in two batches at once");
        assert!(self.batches.iter().is_sorted_by_key(|batch| batch.end));
    }
}

/// Constant steps through so many stages.
#[derive(Debug)]
struct Steps(u32);

impl StepTime for Steps {
    fn step_time(&self, _: &StepLoad) -> Nanos {
        Nanos::from_millis(10)
    }

    fn pace(&self, load: &StepLoad) -> Option<LinearStepTimes> {
        let first = u128::from(self.step_time(load).as_nanos()) << 32;
        Some(LinearStepTimes { steps: u64::MAX, first, growth: 0 })
    }

    fn stages(&self) -> std::num::NonZeroU32 {
        std::num::NonZeroU32::MIN.saturating_add(self.0)
    }
}

/// Blocks of 4, few of them, kept and shared.
fn config(groups: u64, blocks: u64, drafts: Option<u32>) -> EngineConfig {
    let acceptance = Acceptance::uniform(0.6).unwrap();
    EngineConfig {
        block: Tokens::new(4),
        blocks,
        groups,
        max_batched_tokens: Tokens::new(30),
        prefix_caching: PrefixCaching::On,
        drafts: drafts.map(|length| EngineDrafts { length, acceptance }),
        ..EngineConfig::new(5, Tokens::new(16))
    }
}

/// What is known of a job is one of three beginnings of any length, and a rest of its own.
fn job(id: u64, prompt: u64, output: u64, family: u64, common: u64) -> EngineJob {
    let blocks = (prompt + output) / 4;
    let content =
        (0..blocks).map(|k| if k < common { 100 * family + k } else { 1_000 * (id + 1) + k });
    let job = EngineJob::new(JobId(id), Tokens::new(prompt), Tokens::new(output), Stamp::EPOCH);
    EngineJob { content: Some(Arc::from_iter(content)), ..job }
}

/// How often each of the rarer things happened in all cases.
#[derive(Debug, Default)]
struct AuditCounts {
    preemptions: u64,
    hits: u64,
    evictions: u64,
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(1849),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_books_are_right(
        config in (1u64..3, 20u64..40, prop::option::weighted(0.3, 1u32..4))
            .prop_map(|(groups, blocks, drafts)| config(groups, blocks, drafts)),
        order in prop::sample::select(vec![AdmissionOrder::Arrival, AdmissionOrder::Priority]),
        stages in 0u32..3,
        jobs in prop::collection::vec((1u64..50, 1u64..30, (0u64..3, 0u64..20), -1i64..2), 1..40),
        events in prop::collection::vec((1u64..40, 0u64..120), 1..60),
    ) {
        let mut engine = Engine::new(EngineConfig { order, ..config }, Steps(stages)).unwrap();
        let mut jobs = jobs.into_iter().zip(0..);
        let mut now = Stamp::EPOCH;
        for (pause, doomed) in events {
            now += Nanos::from_millis(pause);
            for ((prompt, output, (family, common), priority), id) in jobs.by_ref().take(2) {
                let job = job(id, prompt, output, family, common);
                let priority = crate::Priority(priority);
                engine.submit(EngineJob { at: now, priority, ..job }).unwrap();
            }
            engine.audit();
            engine.cancel(JobId(doomed));
            engine.audit();
            while let Some(at) = engine.next_event().filter(|&at| at <= now) {
                engine.advance(at, &mut |_| {});
                engine.audit();
            }
        }
    }
}

/// The jobs above are such that blocks run out, are found and are forgotten.
#[test]
fn the_books_are_put_to_the_test() {
    let mut engine = Engine::new(config(1, 22, None), Steps(0)).unwrap();
    for id in 0..60 {
        let at = Stamp::EPOCH + Nanos::from_millis(40 * id);
        let job = job(id, 10 + 7 * id % 40, 5 + 3 * id % 24, id % 3, id % 7);
        engine.submit(EngineJob { at, ..job }).unwrap();
    }
    let mut seen = AuditCounts::default();
    while let Some(at) = engine.next_event() {
        let known = engine.groups[0].blocks.known();
        engine.advance(at, &mut |_| {});
        engine.audit();
        seen.evictions += known.saturating_sub(engine.groups[0].blocks.known());
    }
    (seen.preemptions, seen.hits) = (engine.gauges().preemptions, engine.gauges().prefix_hits);
    assert!(seen.preemptions > 5 && seen.hits > 50 && seen.evictions > 50, "{seen:?}");
}
