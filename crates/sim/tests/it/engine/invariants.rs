//! What holds for every engine and every load.

use fizeau_core::{Nanos, Stamp};
use fizeau_roofline::Admission;
use fizeau_sim::{
    Chunking, Emission, Engine, EngineConfig, EngineJob, JobId, Policy, PrefixCaching, Serve,
    StepLoad,
};
use proptest::prelude::*;

use super::random::{Grows, cases, fixed};
use crate::support::{drain, ms, of};

/// An engine to which all has been submitted.
fn loaded(config: &EngineConfig, jobs: &[EngineJob], more_stages: u32) -> Engine<Grows> {
    let step_time = Grows { more_stages, ..Grows::default() };
    let mut engine = Engine::new(config.clone(), step_time).unwrap();
    jobs.iter().for_each(|job| engine.submit(job.clone()).unwrap());
    engine
}

/// The number of a job's first token here.
fn first_index(job: &EngineJob) -> u64 {
    u64::from(job.begun.is_some())
}

/// Whether the emissions of a job are its tokens, all of them or the first few, each once and in order.
fn in_order(job: &EngineJob, mine: &[Emission]) -> bool {
    let mut index = first_index(job);
    for emission in mine {
        if emission.index != index || emission.count == 0 {
            return false;
        }
        index += emission.count;
        if emission.last != (index == job.output_tokens.get()) {
            return false;
        }
    }
    index <= job.output_tokens.get()
}

proptest! {
    #![proptest_config(fixed())]

    /// Over preemption nothing is lost, and nothing is given twice.
    #[test]
    fn every_job_gives_exactly_its_tokens_in_order((config, jobs, stages) in cases()) {
        let mut engine = loaded(&config, &jobs, stages);
        let emissions = drain(&mut engine);
        prop_assert!(emissions.is_sorted_by_key(|emission| emission.at));
        for job in &jobs {
            let mine = of(&emissions, job.id.0);
            prop_assert!(in_order(job, &mine), "{:?}", mine);
            prop_assert!(mine.last().unwrap().last);
            let timing = mine[0].timing;
            prop_assert!(timing.submitted == job.at && job.at <= timing.admitted);
            if job.begun.is_none() {
                prop_assert!(timing.admitted < timing.first_token);
                prop_assert_eq!(timing.first_token, mine[0].at);
                prop_assert!(timing.cached_tokens < job.prompt_tokens);
            }
        }
        prop_assert_eq!((engine.running(), engine.waiting()), (0, 0));
        let gauges = engine.gauges();
        prop_assert_eq!(gauges.blocks_used, 0);
        let lost: u64 = jobs.iter().map(|job| {
            u64::from(of(&emissions, job.id.0).last().unwrap().timing.preemptions)
        }).sum();
        prop_assert_eq!(gauges.preemptions, lost);
    }

    #[test]
    fn limits_hold_at_every_step((config, jobs, stages) in cases()) {
        let slots = config.max_num_seqs * config.groups;
        let budget = config.max_batched_tokens.get() * config.groups;
        let step_time = Grows { more_stages: stages, ..Grows::default() };
        let mut engine = Engine::new(config.clone(), step_time.clone()).unwrap();
        jobs.iter().for_each(|job| engine.submit(job.clone()).unwrap());
        while let Some(at) = engine.next_event() {
            engine.advance(at, &mut |_| {});
            let gauges = engine.gauges();
            prop_assert!(gauges.running <= slots);
            prop_assert!(gauges.blocks_used <= gauges.blocks);
        }
        let loads = step_time.loads.borrow();
        for load in loads.iter() {
            prop_assert!(load.sequences() > 0, "a step without work");
            prop_assert!(load.sequences() <= slots);
            let tokens = load.decode_sequences + load.drafted_tokens + load.prefill_tokens.get();
            let alone = config.chunking == Chunking::Whole && load.prefill_sequences > 0;
            prop_assert!(alone || tokens <= budget, "{:?}", load);
            if config.prefix_caching == PrefixCaching::Off {
                let context = load.decode_context_tokens + load.prefill_context_tokens;
                // Of the group with most decoding, and of that with most reading.
                prop_assert!(context.get() <= 2 * config.groups * config.kv_capacity().get());
            }
            if config.policy == Policy::PrefillFirst {
                prop_assert!(load.decode_sequences == 0 || load.prefill_sequences == 0);
            }
        }
        let new = jobs.iter().filter(|job| job.begun.is_none());
        let prompts: u64 = new.clone().map(|job| job.prompt_tokens.get()).sum();
        let read: u64 = loads.iter().map(|load| load.prefill_tokens.get()).sum();
        let gauges = engine.gauges();
        if gauges.preemptions == 0 {
            prop_assert_eq!(read + gauges.prefix_hits, prompts, "each prompt is read once");
        }
        if config.chunking == Chunking::Whole {
            let chunks: u64 = loads.iter().map(|load| load.prefill_sequences).sum();
            prop_assert_eq!(chunks, new.count() as u64 + gauges.preemptions, "none is cut");
        }
        if config.admission == Admission::Whole {
            prop_assert_eq!(gauges.preemptions, 0);
        }
    }

    /// One token and its accepted drafts a slot and step is the most there can be.
    #[test]
    fn throughput_is_what_the_steps_allow((config, jobs, stages) in cases()) {
        let mut engine = loaded(&config, &jobs, stages);
        let emissions = drain(&mut engine);
        let gauges = engine.gauges();
        let given: u64 = emissions.iter().map(|emission| emission.count).sum();
        prop_assert_eq!(given, emissions.len() as u64 + gauges.accepted);
        prop_assert!(emissions.len() as u64 <= gauges.steps * config.max_num_seqs * config.groups);
        prop_assert!(gauges.accepted <= gauges.drafted);
    }

    /// How often the engine is looked at does not change what it does.
    #[test]
    fn the_grid_of_advances_does_not_matter(
        (config, jobs, stages) in cases(),
        strides in prop::collection::vec(1u64..50_000_000, 1..20),
    ) {
        let by_event = drain(&mut loaded(&config, &jobs, stages));
        let (mut engine, mut now, mut by_stride) = (loaded(&config, &jobs, stages), Stamp::EPOCH, Vec::new());
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
        (config, jobs, stages) in cases(),
        doomed in prop::collection::btree_map(0u64..40, 0u64..300, 0..20),
    ) {
        let mut engine = loaded(&config, &jobs, stages);
        let mut by_time: Vec<_> = doomed.iter().map(|(&id, &at)| (ms(at), id)).collect();
        by_time.sort_unstable();
        let mut emissions = Vec::new();
        for (at, id) in by_time {
            engine.advance(at, &mut |emission| emissions.push(emission));
            engine.cancel(JobId(id));
        }
        emissions.extend(drain(&mut engine));
        for job in &jobs {
            let mine = of(&emissions, job.id.0);
            prop_assert!(in_order(job, &mine));
            let spared = !doomed.contains_key(&job.id.0);
            prop_assert!(!spared || mine.last().is_some_and(|emission| emission.last));
        }
        prop_assert_eq!((engine.running(), engine.waiting()), (0, 0));
        prop_assert_eq!(engine.gauges().blocks_used, 0);
    }

    /// Little's law: jobs in the engine, summed over time, are the times that jobs spend in it, summed up.
    #[test]
    fn jobs_over_time_are_times_over_jobs((config, mut jobs, stages) in cases()) {
        jobs.sort_by_key(|job| job.at);
        let mut engine = loaded(&config, &[], stages);
        let (mut spent, mut area, mut now) = (0, 0, Stamp::EPOCH);
        let mut coming = jobs.iter().peekable();
        loop {
            let arrival = coming.peek().map(|job| job.at);
            let Some(next) = [arrival, engine.next_event()].into_iter().flatten().min() else {
                break;
            };
            let inside = (engine.running() + engine.waiting()) as u64;
            area += inside * next.saturating_since(now).as_nanos();
            now = now.max(next);
            if arrival == Some(next) {
                engine.submit(coming.next().unwrap().clone()).unwrap();
                continue;
            }
            engine.advance(next, &mut |emission| {
                if emission.last {
                    spent += emission.at.saturating_since(emission.timing.submitted).as_nanos();
                }
            });
        }
        prop_assert_eq!(area, spent);
    }

    /// Decoding is never held up where it comes first and nobody has to make room: it gives in each step.
    #[test]
    fn mixed_steps_decode_all_that_runs((config, jobs, _) in cases()) {
        let config = EngineConfig {
            policy: Policy::Mixed,
            chunking: Chunking::Chunked,
            admission: Admission::Whole,
            ..config
        };
        let step = Nanos::from_millis(10);
        let mut engine = Engine::new(config, |_: &StepLoad| step).unwrap();
        jobs.iter().for_each(|job| engine.submit(job.clone()).unwrap());
        let emissions = drain(&mut engine);
        for job in &jobs {
            let mine = of(&emissions, job.id.0);
            prop_assert!(mine.windows(2).all(|pair| pair[0].at + step == pair[1].at));
        }
    }
}
