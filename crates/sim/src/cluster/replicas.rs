//! Replicas behind a router.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::num::NonZeroU64;

use fizeau_core::{Nanos, Stamp, Tokens};

use super::router::{OUT, ReplicaRouting, Router, Tournament};
use super::{ClusterError, common_block, longest_job};
use crate::pass::EnginePass;
use crate::serve::{Emission, EngineJob, Gauges, JobId, Serve, SubmitError};

/// Several engines, each serving the jobs that a router sends it.
///
/// A job is routed at the instant at which it arrives, by what is in flight then, not when it is submitted
/// ahead of time; at that instant it comes before whatever engines do. Jobs are to be submitted in order of
/// arrival. Only where nothing happens before it arrives is it routed at once, so that a full queue is
/// told. One that finds the queue full later, when it arrives, waits at the router until there is room.
///
/// The cost of an event does not depend on the number of replicas, but for its logarithm.
///
/// ```
/// use fizeau_core::{Nanos, Stamp, Tokens};
/// use fizeau_sim::{Engine, EngineConfig, EngineJob, JobId, Replicas, ReplicaRouting, Serve, StepLoad};
///
/// let engine = || Engine::new(EngineConfig::new(1, Tokens::new(1_000)), |_: &StepLoad| Nanos::from_millis(10));
/// let mut two = Replicas::new(vec![engine()?, engine()?], ReplicaRouting::LeastInFlight)?;
/// for id in 0..2 {
///     two.submit(EngineJob::new(JobId(id), Tokens::new(100), Tokens::new(2), Stamp::EPOCH))?;
/// }
/// let mut left = Vec::new();
/// while let Some(at) = two.next_event() {
///     two.advance(at, &mut |emission| left.push((emission.job.0, emission.at.as_nanos() / 1_000_000)));
/// }
/// assert_eq!(left, [(0, 10), (1, 10), (0, 20), (1, 20)], "side by side");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Replicas<E> {
    engines: Vec<E>,
    /// The number of the first rank of each.
    first_ranks: Vec<u32>,
    router: Router,
    /// When something happens next in each engine.
    events: Tournament,
    /// Where each live job is.
    homes: HashMap<JobId, JobReplica>,
    /// Jobs that are still to arrive, by when, and then by when they were submitted.
    ahead: BTreeMap<ArrivalTicket, EngineJob>,
    /// Jobs submitted ahead so far.
    tickets: u64,
    /// Jobs that have arrived and found no room.
    held: VecDeque<EngineJob>,
    /// Engines of which more is to be done at the same instant, while it is gone through.
    again: Vec<usize>,
    longest_job: Option<Tokens>,
    prefix_block: Option<NonZeroU64>,
}

/// When a job arrives, and the number of its submission.
type ArrivalTicket = (Stamp, u64);

#[derive(Debug, Clone, Copy)]
enum JobReplica {
    Ahead(ArrivalTicket),
    Held,
    Engine(usize),
}

impl<E: Serve> Replicas<E> {
    /// `engines`, all idle, behind a router.
    ///
    /// # Errors
    /// If there are none, or they find prefixes by blocks of different sizes.
    pub fn new(engines: Vec<E>, routing: ReplicaRouting) -> Result<Self, ClusterError> {
        let prefix_block = common_block(&engines)?;
        let blocks = engines.iter().map(|engine| engine.gauges().blocks).sum();
        let ranks = engines.iter().map(|engine| engine.gauges_by_rank().len() as u32);
        let first_ranks = ranks.scan(0, |next, ranks| Some(std::mem::replace(next, *next + ranks)));
        Ok(Self {
            first_ranks: first_ranks.collect(),
            router: Router::new(routing, engines.len(), blocks),
            events: Tournament::new(engines.len(), OUT),
            homes: HashMap::new(),
            ahead: BTreeMap::new(),
            tickets: 0,
            held: VecDeque::new(),
            again: Vec::new(),
            longest_job: longest_job(&engines),
            prefix_block,
            engines,
        })
    }

    /// The engines, by number.
    #[must_use]
    pub fn engines(&self) -> &[E] {
        &self.engines
    }

    /// Takes a job that arrives at or after the last event, even if there is no room for it when it does.
    pub(super) fn take(&mut self, job: EngineJob) -> Result<(), SubmitError> {
        self.check(&job)?;
        let ticket = (job.at, self.tickets);
        self.tickets += 1;
        self.homes.insert(job.id, JobReplica::Ahead(ticket));
        self.ahead.insert(ticket, job);
        Ok(())
    }

    /// [`Serve::advance`], and of each token the number of the engine that gave it.
    pub(super) fn advance_by_engine(&mut self, to: Stamp, emit: &mut dyn FnMut(usize, Emission)) {
        loop {
            let (event, engine) = self.events.least();
            let arrival = self.arrival();
            if arrival <= event.min(to.as_nanos()) && arrival != OUT {
                self.route_first();
            } else if event < to.as_nanos() {
                // As far as nothing else happens.
                let others = self.events.runner_up();
                let quiet = arrival.min(to.as_nanos()) - 1;
                self.step(engine, Stamp::from_nanos(others.min(quiet)), emit);
            } else {
                break;
            }
        }
        // Each engine acts once at `to` itself, and what that sets off can then be submitted.
        while let (event, engine) = self.events.least()
            && event <= to.as_nanos()
            && event != OUT
        {
            self.step(engine, to, emit);
            if self.events.key(engine) <= to.as_nanos() {
                self.events.set(engine, OUT);
                self.again.push(engine);
            }
        }
        while let Some(engine) = self.again.pop() {
            self.note_event(engine);
        }
    }

    fn check(&self, job: &EngineJob) -> Result<(), SubmitError> {
        job.check(self.longest_job)?;
        if self.homes.contains_key(&job.id) {
            return Err(SubmitError::DuplicateId(job.id));
        }
        Ok(())
    }

    /// When the next job arrives of those submitted ahead.
    fn arrival(&self) -> u64 {
        self.ahead.first_key_value().map_or(OUT, |(&(at, _), _)| at.as_nanos())
    }

    /// Routes the job that arrives next.
    fn route_first(&mut self) {
        let Some((_, job)) = self.ahead.pop_first() else { return };
        if !self.held.is_empty() || self.route(&job).is_err() {
            self.homes.insert(job.id, JobReplica::Held);
            self.held.push_back(job);
        }
    }

    fn route(&mut self, job: &EngineJob) -> Result<(), SubmitError> {
        let engine = self.router.choose(job);
        self.engines[engine].submit(job.clone())?;
        self.router.joined(engine, job);
        self.homes.insert(job.id, JobReplica::Engine(engine));
        self.note_event(engine);
        Ok(())
    }

    /// Lets `engine` go on until `to`.
    fn step(&mut self, engine: usize, to: Stamp, emit: &mut dyn FnMut(usize, Emission)) {
        let Self { engines, first_ranks, router, homes, .. } = self;
        let first = first_ranks[engine];
        engines[engine].advance(to, &mut |emission| {
            if emission.last {
                homes.remove(&emission.job);
                router.left(engine);
            }
            emit(engine, Emission { rank: first + emission.rank, ..emission });
        });
        self.note_event(engine);
        self.release();
    }

    /// Routes the jobs that are held back, as far as there is room for them now.
    fn release(&mut self) {
        while let Some(job) = self.held.front().cloned() {
            if self.route(&job).is_err() {
                return;
            }
            self.held.pop_front();
        }
    }

    fn note_event(&mut self, engine: usize) {
        let event = self.engines[engine].next_event();
        self.events.set(engine, event.map_or(OUT, Stamp::as_nanos));
    }
}

impl<E: Serve> Serve for Replicas<E> {
    fn submit(&mut self, job: EngineJob) -> Result<(), SubmitError> {
        let at = job.at.as_nanos();
        if at <= self.events.least().0 && at < self.arrival() {
            self.check(&job)?;
            return self.route(&job);
        }
        self.take(job)
    }

    fn cancel(&mut self, id: JobId) {
        match self.homes.remove(&id) {
            None => {}
            Some(JobReplica::Ahead(ticket)) => {
                self.ahead.remove(&ticket);
            }
            Some(JobReplica::Held) => self.held.retain(|job| job.id != id),
            Some(JobReplica::Engine(engine)) => {
                self.engines[engine].cancel(id);
                self.router.left(engine);
                self.note_event(engine);
                self.release();
            }
        }
    }

    fn next_event(&self) -> Option<Stamp> {
        let next = self.events.least().0.min(self.arrival());
        (next != OUT).then_some(Stamp::from_nanos(next))
    }

    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission)) {
        self.advance_by_engine(to, &mut |_, emission| emit(emission));
    }

    fn longest_job(&self) -> Option<Tokens> {
        self.longest_job
    }

    fn prefix_block(&self) -> Option<NonZeroU64> {
        self.prefix_block
    }

    fn record_passes(&mut self) {
        self.engines.iter_mut().for_each(Serve::record_passes);
    }

    fn take_passes(&mut self, take: &mut dyn FnMut(EnginePass)) {
        for (first, engine) in self.first_ranks.iter().zip(&mut self.engines) {
            engine.take_passes(&mut |pass| take(EnginePass { rank: first + pass.rank, ..pass }));
        }
    }

    /// All of them together; a job that the router holds back waits.
    fn gauges(&self) -> Gauges {
        let held = Gauges { waiting: self.held.len() as u64, ..Gauges::default() };
        self.engines.iter().map(Serve::gauges).fold(held, |sum, each| sum + each)
    }

    /// A job that the router holds back waits in the first.
    fn gauges_by_rank(&self) -> Vec<Gauges> {
        let mut all: Vec<Gauges> = self.engines.iter().flat_map(Serve::gauges_by_rank).collect();
        let held = self.held.len() as u64;
        all.iter_mut().take(1).for_each(|first| first.waiting += held);
        all
    }
}

/// The last instant before `at`.
pub(super) fn before(at: Stamp) -> Stamp {
    at - Nanos::from_nanos(1)
}
