//! Engines that only read prompts, and engines that only decode.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU64;

use fizeau_core::{Stamp, Tokens};

use super::handover::{Handover, TransferLink};
use super::replicas::{Replicas, before};
use super::router::ReplicaRouting;
use super::{ClusterError, blocks_differ};
use crate::pass::EnginePass;
use crate::serve::{Emission, EngineJob, Gauges, JobId, JobTiming, Serve, SubmitError};

/// Prefill apart from decode: a job is read by one of the prefill engines, which gives its first token; its
/// cache then crosses one of that engine's links, and one of the decode engines goes on with the second token. Each
/// goes where the fewest jobs are in flight.
///
/// No decode step ever waits for a prompt (DistServe, arXiv 2401.09670; Splitwise, arXiv 2311.18677). When
/// the first token is seen depends on [`Handover::transfer`]. A job of one output token never crosses. A
/// job for which the decode engines have no room waits there, and its cache with it; of what a cache takes
/// while it crosses and waits no account is kept, on neither side.
///
/// The timing of a job is that of its prefill, with the first token as its client saw it.
///
/// ```
/// use std::num::NonZeroU32;
/// use fizeau_core::{Bytes, BytesPerSec, Nanos, Stamp, Tokens};
/// use fizeau_roofline::CacheTransfer;
/// use fizeau_sim::{DisaggregatedEngine, Engine, EngineConfig, Handover, EngineJob, JobId, Serve, StepLoad};
///
/// let engine = || Engine::new(EngineConfig::new(8, Tokens::new(10_000)), |_: &StepLoad| Nanos::from_millis(10));
/// let handover = Handover {
///     per_token: Bytes::new(131_072.0),
///     per_sequence: Bytes::new(0.0),
///     links: NonZeroU32::MIN,
///     bandwidth: BytesPerSec::new(131_072e6),
///     latency: Nanos::ZERO,
///     transfer: CacheTransfer::BeforeSecondToken,
///     layers: NonZeroU32::new(32).ok_or("zero")?,
/// };
/// let mut apart = DisaggregatedEngine::new(vec![engine()?], vec![engine()?, engine()?], handover)?;
/// apart.submit(EngineJob::new(JobId(0), Tokens::new(2_000), Tokens::new(1), Stamp::EPOCH))?;
/// assert!(apart.next_event().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct DisaggregatedEngine<P, D> {
    prefill: Replicas<P>,
    decode: Replicas<D>,
    /// The number of the first rank that decodes: those of prefill come before.
    decode_rank: u32,
    handover: Handover,
    /// Of each prefill engine.
    links: Vec<Vec<TransferLink>>,
    /// Where each live job is.
    stages: HashMap<JobId, JobStage>,
    crossing: BTreeMap<TransferTicket, CacheInTransit>,
    /// Caches that have been sent so far.
    tickets: u64,
}

/// When a cache is over, and the number of its sending.
type TransferTicket = (Stamp, u64);

#[derive(Debug, Clone)]
enum JobStage {
    /// At a prefill engine; the job as it was submitted.
    Prefill(EngineJob),
    Crossing(TransferTicket),
    Decode,
}

/// A job whose cache is under way.
#[derive(Debug, Clone)]
struct CacheInTransit {
    job: EngineJob,
    /// The first token, if the client has not seen it.
    first: Option<Emission>,
}

impl<P: Serve, D: Serve> DisaggregatedEngine<P, D> {
    /// `prefill` engines before `decode` engines, all idle.
    ///
    /// # Errors
    /// If there are none of a kind, they find prefixes by blocks of different sizes, or the link carries nothing.
    pub fn new(prefill: Vec<P>, decode: Vec<D>, handover: Handover) -> Result<Self, ClusterError> {
        handover.check()?;
        let links = vec![handover.idle_links(); prefill.len()];
        let prefill = Replicas::new(prefill, ReplicaRouting::LeastInFlight)?;
        let decode = Replicas::new(decode, ReplicaRouting::LeastInFlight)?;
        let (one, other) = (prefill.prefix_block(), decode.prefix_block());
        if one.is_some() && other.is_some() && one != other {
            return Err(blocks_differ(one, other));
        }
        let (stages, crossing) = (HashMap::new(), BTreeMap::new());
        let decode_rank = prefill.gauges_by_rank().len() as u32;
        Ok(Self { prefill, decode, decode_rank, handover, links, stages, crossing, tickets: 0 })
    }

    /// The engines that read prompts.
    #[must_use]
    pub const fn prefill(&self) -> &Replicas<P> {
        &self.prefill
    }

    /// The engines that decode.
    #[must_use]
    pub const fn decode(&self) -> &Replicas<D> {
        &self.decode
    }

    /// What happens by `now`, at which something does: prompts are read, caches come over, tokens are
    /// decoded. The last as far as nothing else happens, but not past `until`.
    fn go_on(&mut self, now: Stamp, until: Stamp, emit: &mut dyn FnMut(Emission)) {
        if is_due(self.prefill.next_event(), now) {
            self.advance_prefill(now, emit);
        }
        while let Some(over) = self.next_over().filter(|&over| over <= now) {
            self.arrive(over, emit);
        }
        if is_due(self.decode.next_event(), now) {
            let other = [self.prefill.next_event(), self.next_over()].into_iter().flatten().min();
            let quiet = other.map_or(until, |other| before(other).min(until)).max(now);
            self.advance_decode(quiet, emit);
        }
    }

    fn advance_prefill(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission)) {
        let Self { prefill, handover, links, stages, crossing, tickets, .. } = self;
        prefill.advance_by_engine(to, &mut |engine, emission| {
            let Some(JobStage::Prefill(job)) = stages.remove(&emission.job) else { return };
            if job.output_tokens.get() <= emission.index + emission.count {
                emit(emission);
                return;
            }
            let (read, links) = (emission.timing, &mut links[engine]);
            let over = handover.cross(job.prompt_tokens, &read, links);
            let seen = handover.first_token(read.first_token, over);
            let timing = JobTiming { first_token: seen, ..read };
            let first = Emission { at: seen, last: false, timing, ..emission };
            let ticket = (over, *tickets);
            *tickets += 1;
            stages.insert(job.id, JobStage::Crossing(ticket));
            let job = EngineJob { at: over, begun: Some(timing), ..job };
            let deferred = if seen > emission.at {
                Some(first)
            } else {
                emit(first);
                None
            };
            crossing.insert(ticket, CacheInTransit { job, first: deferred });
        });
    }

    /// When the next cache is over.
    fn next_over(&self) -> Option<Stamp> {
        self.crossing.first_key_value().map(|(&(over, _), _)| over)
    }

    /// The next cache is over, at `over`.
    fn arrive(&mut self, over: Stamp, emit: &mut dyn FnMut(Emission)) {
        let Some((_, CacheInTransit { job, first })) = self.crossing.pop_first() else { return };
        if let Some(first) = first {
            emit(first);
        }
        debug_assert_eq!(job.at, over);
        let id = job.id;
        // It was checked when it was submitted, and is live once: its cache is never refused.
        if self.decode.take(job).is_ok() {
            self.stages.insert(id, JobStage::Decode);
        }
    }

    fn advance_decode(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission)) {
        let first = self.decode_rank;
        let stages = &mut self.stages;
        self.decode.advance(to, &mut |emission| {
            if emission.last {
                stages.remove(&emission.job);
            }
            emit(Emission { rank: first + emission.rank, ..emission });
        });
    }
}

fn is_due(event: Option<Stamp>, now: Stamp) -> bool {
    event.is_some_and(|event| event <= now)
}

impl<P: Serve, D: Serve> Serve for DisaggregatedEngine<P, D> {
    /// A job that has begun elsewhere goes to a decode engine as it is.
    fn submit(&mut self, job: EngineJob) -> Result<(), SubmitError> {
        job.check(self.longest_job())?;
        let id = job.id;
        if self.stages.contains_key(&id) {
            return Err(SubmitError::DuplicateId(id));
        }
        if job.begun.is_some() {
            self.decode.submit(job)?;
            self.stages.insert(id, JobStage::Decode);
            return Ok(());
        }
        self.prefill.submit(EngineJob { output_tokens: Tokens::new(1), ..job.clone() })?;
        self.stages.insert(id, JobStage::Prefill(job));
        Ok(())
    }

    /// What a link is sending it sends to the end.
    fn cancel(&mut self, id: JobId) {
        match self.stages.remove(&id) {
            None => {}
            Some(JobStage::Prefill(_)) => self.prefill.cancel(id),
            Some(JobStage::Crossing(ticket)) => {
                self.crossing.remove(&ticket);
            }
            Some(JobStage::Decode) => self.decode.cancel(id),
        }
    }

    fn next_event(&self) -> Option<Stamp> {
        let all = [self.prefill.next_event(), self.next_over(), self.decode.next_event()];
        all.into_iter().flatten().min()
    }

    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission)) {
        while let Some(now) = self.next_event().filter(|&now| now < to) {
            self.go_on(now, before(to), emit);
        }
        // Once at `to` itself, and what that sets off can then be submitted.
        if is_due(self.next_event(), to) {
            self.go_on(to, to, emit);
        }
    }

    fn longest_job(&self) -> Option<Tokens> {
        [self.prefill.longest_job(), self.decode.longest_job()].into_iter().flatten().min()
    }

    fn prefix_block(&self) -> Option<NonZeroU64> {
        self.prefill.prefix_block().or_else(|| self.decode.prefix_block())
    }

    fn record_passes(&mut self) {
        self.prefill.record_passes();
        self.decode.record_passes();
    }

    /// Ranks of decode follow those of prefill.
    fn take_passes(&mut self, take: &mut dyn FnMut(EnginePass)) {
        self.prefill.take_passes(take);
        let first = self.decode_rank;
        self.decode.take_passes(&mut |pass| take(EnginePass { rank: first + pass.rank, ..pass }));
    }

    /// Both sides together; a job whose cache is crossing waits.
    fn gauges(&self) -> Gauges {
        let deferred = self.crossing.len() as u64;
        let crossing = Gauges { waiting: deferred, deferred, ..Gauges::default() };
        crossing + self.prefill.gauges() + self.decode.gauges()
    }

    /// A job whose cache is crossing waits in the first of those that decode.
    fn gauges_by_rank(&self) -> Vec<Gauges> {
        let mut all = self.prefill.gauges_by_rank();
        let mut decode = self.decode.gauges_by_rank();
        let crossing = self.crossing.len() as u64;
        for first in decode.iter_mut().take(1) {
            first.waiting += crossing;
            first.deferred += crossing;
        }
        all.append(&mut decode);
        all
    }
}
