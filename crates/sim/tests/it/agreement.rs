//! The simulated scheduler beside a real one: the same requests, step by step (fixtures/sim/README.md).

use std::cell::RefCell;
use std::rc::Rc;

use fizeau_core::{Nanos, Stamp, Tokens};
use fizeau_sim::{Engine, EngineConfig, EngineJob, JobId, Serve, StepLoad, StepTime};

const BURSTS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/sim/vllm-0.32-bursts.csv"));

/// Of a step: prompts that it read from, their tokens, and sequences that decoded.
type Batch = (u64, u64, u64);

/// Steps that take a millisecond each, and are written down.
#[derive(Debug, Clone, Default)]
struct Noted(Rc<RefCell<Vec<Batch>>>);

impl StepTime for Noted {
    fn step_time(&self, load: &StepLoad) -> Nanos {
        let batch = (load.prefill_sequences, load.prefill_tokens.get(), load.decode_sequences);
        self.0.borrow_mut().push(batch);
        Nanos::from_millis(1)
    }
}

/// The steps of a burst of which `first` requests have come when the first step is planned.
fn simulated(first: u64) -> Vec<Batch> {
    let mut config = EngineConfig::new(16, Tokens::new(1_000_000));
    config.max_batched_tokens = Tokens::new(512);
    let noted = Noted::default();
    let mut engine = Engine::new(config, noted.clone()).unwrap();
    for number in 0..24 {
        let input = Tokens::new(50 + number * 137 % 700);
        let come = Stamp::EPOCH + Nanos::from_micros(if number < first { 0 } else { 100 });
        engine.submit(EngineJob::new(JobId(number), input, Tokens::new(24), come)).unwrap();
    }
    while let Some(now) = engine.next_event() {
        engine.advance(now, &mut |_| {});
    }
    noted.0.take()
}

#[test]
fn batches_are_those_of_vllm_step_by_step() {
    for (burst, first) in [("1", 3), ("2", 2)] {
        let of_vllm: Vec<Batch> = BURSTS
            .lines()
            .map(|line| line.split(',').collect::<Vec<&str>>())
            .filter(|fields| fields[0] == burst)
            .map(|fields| {
                let count = |at: usize| fields[at].parse().unwrap();
                (count(1), count(2), count(3))
            })
            .collect();
        assert!(of_vllm.len() > 50);
        assert_eq!(simulated(first), of_vllm, "burst {burst}");
    }
}
