//! What an engine tells of its steps.

use fizeau_core::{Nanos, Stamp, Tokens};
use fizeau_sim::{
    Emission, Engine, EngineConfig, EngineJob, EnginePass, FixedStep, Gauges, JobId, Serve,
    StepLoad, StepTime,
};
use proptest::prelude::*;

const STEP: FixedStep = FixedStep {
    per_step: Nanos::from_micros(900),
    per_sequence: Nanos::from_micros(10),
    per_prompt_token: Nanos::from_micros(1),
};

/// Serves `jobs` of so many prompt and output tokens, one every millisecond; the passes, and how many tokens left.
fn served(step: impl StepTime, jobs: &[(u64, u64)]) -> (Vec<EnginePass>, u64, u64) {
    let (engine, passes, emissions) = run(EngineConfig::new(8, Tokens::new(4_000)), step, jobs);
    let tokens = emissions.iter().map(|emission| emission.count).sum();
    (passes, tokens, engine.gauges().steps)
}

/// The same in an engine with `config`: the passes, what left, and each rank at the end.
fn told(
    config: EngineConfig,
    jobs: &[(u64, u64)],
) -> (Vec<EnginePass>, Vec<Emission>, Vec<Gauges>) {
    let (engine, passes, emissions) = run(config, STEP, jobs);
    (passes, emissions, engine.gauges_by_rank())
}

fn run<S: StepTime>(
    config: EngineConfig,
    step: S,
    jobs: &[(u64, u64)],
) -> (Engine<S>, Vec<EnginePass>, Vec<Emission>) {
    let config = EngineConfig { max_batched_tokens: Tokens::new(64), ..config };
    let mut engine = Engine::new(config, step).unwrap();
    engine.record_passes();
    for (number, (prompt, output)) in (0..).zip(jobs) {
        let at = Stamp::EPOCH + Nanos::from_millis(number);
        engine
            .submit(EngineJob::new(JobId(number), Tokens::new(*prompt), Tokens::new(*output), at))
            .unwrap();
    }
    let (mut passes, mut emissions) = (Vec::new(), Vec::new());
    while let Some(at) = engine.next_event() {
        engine.advance(at, &mut |emission| emissions.push(emission));
        engine.take_passes(&mut |pass| passes.push(pass));
    }
    (engine, passes, emissions)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]
    /// Steps that the engine plans in runs are told as those that it plans one by one, and together they are what was asked.
    #[test]
    fn passes_add_up_to_the_work(jobs in prop::collection::vec((1u64..150, 1u64..60), 1..20)) {
        let (passes, tokens, steps) = served(STEP, &jobs);
        let one_by_one = served(|load: &StepLoad| STEP.step_time(load), &jobs);
        prop_assert_eq!(&passes, &one_by_one.0);
        prop_assert_eq!(passes.len() as u64, steps);
        let prompts: u64 = jobs.iter().map(|(prompt, _)| prompt).sum();
        let outputs: u64 = jobs.iter().map(|(_, output)| output).sum();
        let read: u64 = passes.iter().map(|pass| pass.prefill_tokens.get()).sum();
        let decoded: u64 = passes.iter().map(|pass| pass.decode_sequences).sum();
        // The first token of each job comes with its prompt.
        prop_assert_eq!((read, decoded), (prompts, outputs - jobs.len() as u64));
        prop_assert_eq!(tokens, outputs);
        let contexts: u64 = passes.iter().map(|pass| pass.decode_context_tokens.get()).sum();
        let each = |(prompt, output): &(u64, u64)| (1..*output).map(|given| prompt + given).sum::<u64>();
        prop_assert_eq!(contexts, jobs.iter().map(each).sum::<u64>());
        prop_assert!(passes.windows(2).all(|two| two[0].end < two[1].end));
    }

    /// Each group tells of its own batch, and all of them of the one time that they take together.
    #[test]
    fn groups_tell_of_their_own_share(
        jobs in prop::collection::vec((1u64..150, 1u64..40), 1..24), groups in 2u64..5,
    ) {
        let config = EngineConfig { groups, ..EngineConfig::new(4, Tokens::new(4_000)) };
        let (passes, emissions, ranks) = told(config, &jobs);
        let sum = |of: &dyn Fn(&EnginePass) -> u64| passes.iter().map(of).sum::<u64>();
        let prompts: u64 = jobs.iter().map(|(prompt, _)| prompt).sum();
        let outputs: u64 = jobs.iter().map(|(_, output)| output).sum();
        prop_assert_eq!(sum(&|pass| pass.prefill_tokens.get()), prompts);
        prop_assert_eq!(sum(&|pass| pass.decode_sequences), outputs - jobs.len() as u64);
        prop_assert_eq!(ranks.len() as u64, groups);
        prop_assert!(ranks.iter().all(|rank| rank.running + rank.waiting == 0));
        for two in passes.windows(2).filter(|two| two[0].end == two[1].end) {
            prop_assert!(two[0].rank < two[1].rank && two[0].length == two[1].length);
        }
        // A rank's tokens come at the end of its own steps.
        let ends: std::collections::BTreeSet<_> = passes.iter().map(|pass| (pass.rank, pass.end)).collect();
        prop_assert!(emissions.iter().all(|emission| ends.contains(&(emission.rank, emission.at))));
    }
}
