//! An engine on a timetable, for tests of clients.

use std::collections::{BTreeMap, VecDeque};
use std::num::{NonZeroU64, NonZeroUsize};

use fizeau_core::{Nanos, Stamp, Tokens};

use crate::engine::KnownBlocks;
use crate::serve::{
    BlockHashes, Emission, EngineJob, Gauges, JobId, JobTiming, Serve, SubmitError,
};

/// The most tokens of one job, prompt and output together: longer than any model's context.
const LONGEST_JOB: Tokens = Tokens::new(1 << 20);

/// Tokens of a block by which prompts are found again: vLLM's default.
const BLOCK: NonZeroU64 = NonZeroU64::new(16).unwrap();

/// With no time between tokens, how many of one job leave before the next job has its turn. [`Serve::advance`]
/// then returns, so that whoever listens can take them in.
const RUN: u64 = 1 << 12;

/// Gives token `k` of every job exactly at its arrival `+ ttft + k * itl`, however many jobs there are and
/// however long their prompts. What a client reports against this engine can be held against two known
/// numbers. A job may have up to 1,048,576 tokens, prompt and output together.
///
/// A token costs the same few nanoseconds however many jobs are live.
#[derive(Debug, Clone)]
pub struct FixedTiming {
    ttft: Nanos,
    itl: Nanos,
    live: BTreeMap<JobId, LiveJob>,
    /// Jobs before their first token, the soonest in front.
    first: VecDeque<DueToken>,
    /// Jobs before a later one, the soonest in front. Apart, since both queues then grow at their ends: the first
    /// as jobs arrive, the second as tokens leave, each with the same time to wait.
    next: VecDeque<DueToken>,
    prefixes: Option<RecentBlocks>,
    /// Prompt tokens looked up there, and found.
    queries: u64,
    hits: u64,
}

/// What is to be remembered of a job's tokens.
#[derive(Debug, Clone, Default)]
struct LiveJob {
    content: Option<BlockHashes>,
    prompt_tokens: u64,
}

impl LiveJob {
    /// Its blocks, as far as they are full once `tokens` tokens have been computed.
    fn blocks(&self, tokens: u64) -> &[u64] {
        let content = self.content.as_deref().unwrap_or_default();
        let full = usize::try_from(tokens / BLOCK).unwrap_or(usize::MAX);
        content.get(..full).unwrap_or(content)
    }
}

/// The next token of a job.
#[derive(Debug, Clone, Copy)]
struct DueToken {
    at: Stamp,
    job: JobId,
    submitted: Stamp,
    output_tokens: u64,
    index: u64,
    cached_tokens: Tokens,
}

impl FixedTiming {
    /// An engine with `ttft` to each first token and `itl` between any two. Both may be zero.
    #[must_use]
    pub const fn new(ttft: Nanos, itl: Nanos) -> Self {
        Self {
            ttft,
            itl,
            live: BTreeMap::new(),
            first: VecDeque::new(),
            next: VecDeque::new(),
            prefixes: None,
            queries: 0,
            hits: 0,
        }
    }

    /// The same with a prefix cache of at most `blocks` blocks of 16 tokens, without limit where there is none. It changes no
    /// time, and says of each job how much of its prompt had been seen before, in whole blocks: a prompt's last token
    /// is always read, as in vLLM, and a reply's last one never is.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use fizeau_core::{Nanos, Stamp, Tokens};
    /// use fizeau_sim::{FixedTiming, EngineJob, JobId, Serve};
    /// let mut engine = FixedTiming::new(Nanos::ZERO, Nanos::ZERO).with_prefixes(None);
    /// for (id, cached) in [(0, 0), (1, 32)] {
    ///     let job = EngineJob::new(JobId(id), Tokens::new(40), Tokens::new(1), Stamp::EPOCH);
    ///     engine.submit(EngineJob { content: Some(Arc::new([7, 8])), ..job })?;
    ///     engine.advance(Stamp::EPOCH, &mut |emission| {
    ///         assert_eq!(emission.timing.cached_tokens, Tokens::new(cached));
    ///     });
    /// }
    /// # Ok::<(), fizeau_sim::SubmitError>(())
    /// ```
    #[must_use]
    pub fn with_prefixes(self, blocks: Option<NonZeroUsize>) -> Self {
        Self { prefixes: Some(RecentBlocks::new(blocks)), ..self }
    }

    /// How much of a prompt has been seen before.
    fn look_up(&mut self, live: &LiveJob) -> Tokens {
        let Some(prefixes) = &mut self.prefixes else {
            return Tokens::ZERO;
        };
        let found = prefixes.find(live.blocks(live.prompt_tokens.saturating_sub(1)));
        let cached = BLOCK.get().saturating_mul(found as u64);
        self.queries += live.prompt_tokens;
        self.hits += cached;
        Tokens::new(cached)
    }

    /// Takes over what has been computed as a token leaves: the prompt at the first, the reply at the last.
    fn remember(&mut self, emission: &Emission) {
        let id = emission.job;
        if emission.index == 0
            && let (Some(prefixes), Some(live)) = (&mut self.prefixes, self.live.get(&id))
        {
            prefixes.keep(live.blocks(live.prompt_tokens));
        }
        if emission.last
            && let (Some(live), Some(prefixes)) = (self.live.remove(&id), &mut self.prefixes)
        {
            prefixes.keep(live.blocks(live.prompt_tokens.saturating_add(emission.index)));
        }
    }

    /// Takes out the token that is due first, if that is by `to`.
    fn pop(&mut self, to: Stamp) -> Option<DueToken> {
        let first = self.first.front().map(|due| due.at);
        let next = self.next.front().map(|due| due.at);
        let queue = match (first, next) {
            (Some(first), Some(next)) if first <= next => &mut self.first,
            (Some(_), None) => &mut self.first,
            _ => &mut self.next,
        };
        queue.pop_front_if(|due| due.at <= to)
    }

    fn emission(&self, due: &DueToken) -> Emission {
        let DueToken { at, job, submitted, output_tokens, index, cached_tokens } = *due;
        let last = index + 1 == output_tokens;
        let timing = JobTiming {
            submitted,
            admitted: submitted,
            first_token: submitted + self.ttft,
            cached_tokens,
            preemptions: 0,
        };
        Emission { job, rank: 0, at, index, count: 1, last, timing }
    }
}

/// Puts `due` behind all that is not later, which is nearly always at the end.
fn insert(queue: &mut VecDeque<DueToken>, due: DueToken) {
    match queue.back() {
        Some(back) if back.at > due.at => {
            let place = queue.partition_point(|other| other.at <= due.at);
            queue.insert(place, due);
        }
        _ => queue.push_back(due),
    }
}

impl Serve for FixedTiming {
    fn submit(&mut self, job: EngineJob) -> Result<(), SubmitError> {
        job.check(self.longest_job())?;
        if self.live.contains_key(&job.id) {
            return Err(SubmitError::DuplicateId(job.id));
        }
        let EngineJob { id, at: submitted, output_tokens, content, .. } = job;
        let live = LiveJob { content, prompt_tokens: job.prompt_tokens.get() };
        let cached_tokens = self.look_up(&live);
        self.live.insert(id, live);
        let (at, output_tokens) = (submitted + self.ttft, output_tokens.get());
        let due = DueToken { at, job: id, submitted, output_tokens, index: 0, cached_tokens };
        insert(&mut self.first, due);
        Ok(())
    }

    fn cancel(&mut self, id: JobId) {
        if self.live.remove(&id).is_some() {
            self.first.retain(|due| due.job != id);
            self.next.retain(|due| due.job != id);
        }
    }

    fn next_event(&self) -> Option<Stamp> {
        [self.first.front(), self.next.front()].into_iter().flatten().map(|due| due.at).min()
    }

    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission)) {
        while let Some(mut due) = self.pop(to) {
            let started = due;
            loop {
                let emission = self.emission(&due);
                if emission.index == 0 || emission.last {
                    self.remember(&emission);
                }
                emit(emission);
                if emission.last {
                    break;
                }
                due.index += 1;
                due.at += self.itl;
                if due.at > started.at {
                    insert(&mut self.next, due);
                    break;
                }
                if due.index - started.index == RUN {
                    insert(&mut self.next, due);
                    return;
                }
            }
        }
    }

    fn longest_job(&self) -> Option<Tokens> {
        Some(LONGEST_JOB)
    }

    fn prefix_block(&self) -> Option<NonZeroU64> {
        self.prefixes.is_some().then_some(BLOCK)
    }

    fn gauges(&self) -> Gauges {
        Gauges {
            running: self.live.len() as u64,
            prefix_queries: self.queries,
            prefix_hits: self.hits,
            ..Gauges::default()
        }
    }
}

// Which blocks have been computed before, for an engine that has no cache of keys and values to keep them in.

/// Blocks by their hashes, those used last. Nobody holds any of them.
#[derive(Debug, Clone)]
struct RecentBlocks {
    /// The most that are kept; without limit where absent.
    capacity: Option<NonZeroUsize>,
    blocks: KnownBlocks,
}

impl RecentBlocks {
    fn new(capacity: Option<NonZeroUsize>) -> Self {
        Self { capacity, blocks: KnownBlocks::default() }
    }

    /// How many of `blocks` are there from the first on without a gap. They count as used.
    fn find(&mut self, blocks: &[u64]) -> usize {
        let found = blocks.iter().take_while(|block| self.blocks.find(**block).is_some()).count();
        self.touch(blocks.get(..found).unwrap_or_default());
        found
    }

    /// Keeps `blocks`, and lets go of those that were not used for longest.
    fn keep(&mut self, blocks: &[u64]) {
        self.touch(blocks);
        let capacity = self.capacity.map_or(u64::MAX, |capacity| capacity.get() as u64);
        while self.blocks.idle() > capacity && self.blocks.evict() {}
    }

    /// Marks `blocks` as used, the first last: a block is of no use without those before it, and goes before them.
    fn touch(&mut self, blocks: &[u64]) {
        for block in blocks.iter().rev() {
            let known = match self.blocks.find(*block) {
                Some(known) => {
                    self.blocks.share(known);
                    known
                }
                None => self.blocks.insert(*block),
            };
            self.blocks.drop_user(known);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_more_is_kept_than_there_is_room_for(
            chains in prop::collection::vec((0u64..9, 1u64..20), 1..20),
            capacity in 1usize..20,
        ) {
            let mut prefixes = RecentBlocks::new(NonZeroUsize::new(capacity));
            for (id, blocks) in chains {
                let chain: Vec<_> = (0..blocks).map(|block| id * 100 + block).collect();
                prefixes.keep(&chain);
                prop_assert!(prefixes.blocks.idle() <= capacity as u64);
                prop_assert_eq!(prefixes.find(&chain), chain.len().min(capacity), "its start is kept");
            }
        }
    }
}
