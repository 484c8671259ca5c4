//! What an engine tells of its steps.

use fizeau_core::{Nanos, Stamp, Tokens};
use fizeau_sim::{
    Engine, EngineConfig, EnginePass, FixedStep, Job, JobId, Serve, StepLoad, StepTime,
};
use proptest::prelude::*;

const STEP: FixedStep = FixedStep {
    per_step: Nanos::from_micros(900),
    per_sequence: Nanos::from_micros(10),
    per_prompt_token: Nanos::from_micros(1),
};

/// Serves `jobs` of so many prompt and output tokens, one every millisecond; the passes, and how many tokens left.
fn served(step: impl StepTime, jobs: &[(u64, u64)]) -> (Vec<EnginePass>, u64, u64) {
    let config = EngineConfig::new(8, Tokens::new(4_000));
    let config = EngineConfig { max_batched_tokens: Tokens::new(64), ..config };
    let mut engine = Engine::new(config, step).unwrap();
    engine.record_passes();
    for (number, (prompt, output)) in (0..).zip(jobs) {
        let at = Stamp::EPOCH + Nanos::from_millis(number);
        engine
            .submit(Job::new(JobId(number), Tokens::new(*prompt), Tokens::new(*output), at))
            .unwrap();
    }
    let (mut passes, mut tokens) = (Vec::new(), 0);
    while let Some(at) = engine.next_event() {
        engine.advance(at, &mut |emission| tokens += emission.count);
        engine.take_passes(&mut |pass| passes.push(pass));
    }
    (passes, tokens, engine.gauges().steps)
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
}
