//! Random engines, jobs and step times.

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::rc::Rc;

use fizeau_core::{Nanos, Stamp, Tokens};
use fizeau_roofline::{Acceptance, Admission};
use fizeau_sim::{
    AdmissionOrder, BlockHashes, Chunking, EngineConfig, EngineDrafts, EngineJob, JobTiming,
    LinearStepTimes, Policy, PrefixCaching, Priority, StepLoad, StepTime,
};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

use crate::support::{job, ms};

/// The same cases in every run.
pub(super) fn fixed() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(1849),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A step time that grows with all that a step carries, and keeps a record of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Grows {
    /// Beyond the first.
    pub(super) more_stages: u32,
    /// For how many steps it says how long they take; 0: for none.
    pub(super) foresight: u64,
    pub(super) loads: Rc<RefCell<Vec<StepLoad>>>,
}

/// In 2^-32 ns, what a token of context adds to a step: no whole number of nanoseconds.
const PER_CONTEXT: u128 = (1 << 32) * 13 / 10;

impl Grows {
    fn fine(load: &StepLoad) -> u128 {
        let tokens = load.prefill_tokens.get() + load.drafted_tokens;
        let sequences = load.sequences() + load.padded_tokens;
        let nanos = 1_000_000 + 100_000 * sequences + 10_000 * tokens + load.prefill_pairs;
        let context = load.decode_context_tokens + load.prefill_context_tokens;
        (u128::from(nanos) << 32) + u128::from(context.get()) * PER_CONTEXT
    }
}

impl StepTime for Grows {
    fn step_time(&self, load: &StepLoad) -> Nanos {
        self.loads.borrow_mut().push(*load);
        Nanos::from_nanos((Self::fine(load) >> 32) as u64)
    }

    fn pace(&self, load: &StepLoad) -> Option<LinearStepTimes> {
        let growth = u128::from(load.decode_sequences) * PER_CONTEXT;
        let pace = LinearStepTimes { steps: self.foresight, first: Self::fine(load), growth };
        (self.foresight > 0).then_some(pace)
    }

    fn stages(&self) -> NonZeroU32 {
        NonZeroU32::MIN.saturating_add(self.more_stages)
    }
}

/// What is drawn for a job: prompt, output, arrival and priority; family and how many blocks are its; whether it is begun.
type Draw = ((u64, u64, u64, i64), Option<(u64, u64)>, bool);

/// What two jobs of one family have in common is the beginning; the rest is each one's own.
fn content(job: &EngineJob, block: u64, family: u64, common: u64) -> BlockHashes {
    let blocks = job.total_tokens().get() / block;
    let own = 1_000_000 * (job.id.0 + 1);
    (0..blocks).map(|k| if k < common { 1_000 * family + k } else { own + k }).collect()
}

/// Jobs of up to 428 tokens for an engine of that configuration, of few kinds, in any order of arrival; some were begun
/// elsewhere.
pub(super) fn jobs(config: &EngineConfig) -> impl Strategy<Value = Vec<EngineJob>> + use<> {
    let block = config.block.get();
    let what = (1u64..400, 1u64..30, 0u64..200, -1i64..2);
    let shared = prop::option::weighted(0.8, (0u64..3, 0u64..100));
    let one = (what, shared, prop::bool::weighted(0.1));
    prop::collection::vec(one, 1..40).prop_map(move |all| {
        let numbered = all.into_iter().zip(0..);
        let job = |(((prompt, output, at, priority), shared, begun), id): (Draw, u64)| {
            let mut job = job(id, prompt, output, ms(at));
            job.priority = Priority(priority);
            job.content = shared.map(|(family, common)| content(&job, block, family, common));
            job.begun = (begun && output > 1).then(|| began(job.at));
            job
        };
        numbered.map(job).collect()
    })
}

/// What another engine says of a job that it gives away at `at`.
pub(super) fn began(at: Stamp) -> JobTiming {
    let (cached_tokens, preemptions) = (Tokens::ZERO, 0);
    JobTiming { submitted: at, admitted: at, first_token: at, cached_tokens, preemptions }
}

/// Engines of all kinds, so small that every limit is met.
pub(super) fn configs() -> impl Strategy<Value = EngineConfig> {
    let sizes = (1u64..6, select(vec![1u64, 4, 16]), 430u64..1_500, 16u64..600);
    let drafts = prop::option::weighted(0.3, (1u32..5, 0.0..=1.0f64));
    let ways = (
        select(vec![Policy::Mixed, Policy::PrefillFirst]),
        select(vec![Chunking::Chunked, Chunking::Whole]),
        select(vec![Admission::AsItGrows, Admission::Whole]),
        select(vec![PrefixCaching::Off, PrefixCaching::On]),
        select(vec![AdmissionOrder::Arrival, AdmissionOrder::Priority]),
    );
    let captured = select(vec![vec![], vec![1, 2, 4, 8]]);
    (sizes, ways, drafts, captured, 1u64..4).prop_map(|(sizes, ways, drafts, captured, groups)| {
        let (slots, block, kv, budget) = sizes;
        let (policy, chunking, admission, prefix_caching, order) = ways;
        let drafts = drafts.map(|(length, q)| EngineDrafts {
            length,
            acceptance: Acceptance::uniform(q).unwrap(),
        });
        let budget = Tokens::new(budget.max(25));
        EngineConfig {
            max_num_seqs: slots,
            max_batched_tokens: budget,
            block: Tokens::new(block),
            blocks: kv.div_ceil(block),
            policy,
            chunking,
            admission,
            prefix_caching,
            order,
            captured,
            drafts,
            groups,
            ..EngineConfig::new(1, Tokens::new(16))
        }
    })
}

/// A configuration, jobs for it and stages of a pipeline beyond the first.
pub(super) fn cases() -> impl Strategy<Value = (EngineConfig, Vec<EngineJob>, u32)> {
    configs().prop_flat_map(|config| {
        let jobs = jobs(&config);
        (Just(config), jobs, select(vec![0u32, 0, 1, 2]))
    })
}
