//! Steps in which nothing changes, without planning each.

use fizeau_core::Tokens;
use fizeau_roofline::Admission;
use fizeau_sim::{Emission, Engine, EngineConfig, EngineJob, Gauges, JobId, PrefixCaching, Serve};
use proptest::prelude::*;

use super::random::{Grows, cases, fixed};
use crate::support::{drain, job, ms, of};

/// All that can be seen of an engine that is given `jobs`, and is looked at and told to give up jobs at some instants.
fn story(
    config: &EngineConfig,
    step_time: Grows,
    jobs: &[EngineJob],
    events: &[(u64, Option<u64>)],
) -> (Vec<Emission>, Vec<Gauges>) {
    let mut engine = Engine::new(config.clone(), step_time).unwrap();
    let (early, late) = jobs.split_at(jobs.len() / 2);
    early.iter().for_each(|job| engine.submit(job.clone()).unwrap());
    let mut late = late.iter();
    let (mut emissions, mut gauges) = (Vec::new(), Vec::new());
    let mut now = 0;
    for &(pause, doomed) in events {
        now += pause;
        engine.advance(ms(now), &mut |emission| emissions.push(emission));
        gauges.push(engine.gauges());
        if let Some(doomed) = doomed {
            engine.cancel(JobId(doomed));
        }
        if let Some(job) = late.next() {
            engine.submit(EngineJob { at: job.at.max(ms(now)), ..job.clone() }).unwrap();
        }
    }
    late.for_each(|job| engine.submit(job.clone()).unwrap());
    emissions.extend(drain(&mut engine));
    gauges.push(engine.gauges());
    (emissions, gauges)
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn runs_are_the_steps_they_stand_for(
        (config, jobs, _) in cases(),
        foresight in 1u64..40,
        events in prop::collection::vec((0u64..60, prop::option::weighted(0.3, 0u64..40)), 0..30),
    ) {
        let config = EngineConfig { groups: 1, drafts: None, ..config };
        let stepped = story(&config, Grows::default(), &jobs, &events);
        let step_time = Grows { foresight, ..Grows::default() };
        prop_assert_eq!(story(&config, step_time, &jobs, &events), stepped);
    }
}

/// The same where there is time for long runs, and blocks are taken and run out in their midst.
#[test]
fn a_run_ends_where_blocks_do() {
    let config = EngineConfig::new(4, Tokens::new(40 * 16));
    let jobs: Vec<_> = (0..4).map(|id| job(id, 30 + id, 300, ms(id))).collect();
    let seen = |foresight| {
        let step_time = Grows { foresight, ..Grows::default() };
        story(&config, step_time, &jobs, &[(0, None), (1, None), (1, None), (1, None)])
    };
    let stepped = seen(0);
    assert_eq!(seen(u64::MAX), stepped);
    assert!(stepped.1.last().unwrap().preemptions > 0);
}

/// Who waits can be let in without anything else happening: when what runs has written what it needs.
#[test]
fn a_run_does_not_overlook_what_becomes_known() {
    let config = EngineConfig {
        block: Tokens::new(4),
        blocks: 10,
        admission: Admission::Whole,
        prefix_caching: PrefixCaching::On,
        ..EngineConfig::new(4, Tokens::new(16))
    };
    let content = Some((0..7).collect());
    let written = EngineJob { content: content.clone(), ..job(0, 8, 20, ms(0)) };
    // Of 7 blocks 4 must be known, since 3 are free: 16 tokens.
    let read = EngineJob { content, ..job(1, 25, 3, ms(3)) };
    let seen = |foresight| {
        let step_time = Grows { foresight, ..Grows::default() };
        story(&config, step_time, &[written.clone(), read.clone()], &[(3, None)])
    };
    let stepped = seen(0);
    assert_eq!(of(&stepped.0, 1)[0].timing.cached_tokens, Tokens::new(16));
    assert_eq!(seen(u64::MAX), stepped);
}

#[test]
fn a_run_asks_for_one_step_time() {
    let step_time = Grows { foresight: 1_000, ..Grows::default() };
    let loads = step_time.loads.clone();
    let mut engine = Engine::new(EngineConfig::new(4, Tokens::new(10_000)), step_time).unwrap();
    (0..4).for_each(|id| engine.submit(job(id, 10, 500, ms(0))).unwrap());
    assert_eq!(drain(&mut engine).len(), 2_000);
    assert_eq!(engine.gauges().steps, 500);
    assert_eq!(loads.borrow().len(), 2, "one that reads, one that stands for 499 others");
}
