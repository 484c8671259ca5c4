//! Which replica a job goes to.

use super::prefixes::Prefixes;
use super::tournament::Tournament;
use crate::job::Job;

/// How a router chooses among replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Routing {
    /// Each in turn.
    RoundRobin,
    /// The one with the fewest jobs in flight, waiting and running; of equals the one of the lowest number.
    #[default]
    LeastInFlight,
    /// The one that holds the most blocks of the job's beginning; of equals the one with the fewest in
    /// flight.
    ///
    /// Unless it has far more in flight than the least loaded: more than 32 more, and more than half as
    /// many again. Then, and where no replica holds any of it, as [`Routing::LeastInFlight`]. The rule has
    /// the shape of that of SGLang's cache-aware router, an absolute and a relative threshold of imbalance;
    /// the figures are chosen here.
    ///
    /// What replicas hold is what the router sent there, as far as it remembers: as many blocks as they
    /// have together, those not seen for longest forgotten first. It does not look into them.
    PrefixAware,
}

impl Routing {
    /// The name used in files and flags: `round-robin`, `least-in-flight`, `prefix-aware`.
    ///
    /// ```
    /// use fizeau_sim::Routing;
    /// assert_eq!(Routing::default().as_str(), "least-in-flight");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::LeastInFlight => "least-in-flight",
            Self::PrefixAware => "prefix-aware",
        }
    }
}

/// More in flight than the least loaded replica by this many may be far more.
const FAR: u64 = 32;

/// Blocks that are remembered at least, should the replicas not say how many they have.
const LEAST_REMEMBERED: usize = 1 << 16;

/// A router with what it knows of its replicas.
#[derive(Debug, Clone)]
pub(super) struct Router {
    routing: Routing,
    /// Jobs in flight, of each replica.
    loads: Tournament,
    replicas: usize,
    /// Whose turn it is.
    turn: usize,
    prefixes: Prefixes,
}

impl Router {
    /// A router over `replicas` idle replicas that have `blocks` blocks together.
    pub(super) fn new(routing: Routing, replicas: usize, blocks: u64) -> Self {
        let blocks = usize::try_from(blocks).unwrap_or(usize::MAX);
        Self {
            routing,
            loads: Tournament::new(replicas, 0),
            replicas,
            turn: 0,
            prefixes: Prefixes::new(replicas, blocks.max(LEAST_REMEMBERED)),
        }
    }

    /// Where `job` should go.
    pub(super) fn choose(&mut self, job: &Job) -> usize {
        let (least, idlest) = self.loads.least();
        match self.routing {
            Routing::RoundRobin => self.turn,
            Routing::LeastInFlight => idlest,
            Routing::PrefixAware => {
                let content = job.content.as_deref().unwrap_or_default();
                let loads = &self.loads;
                let holders = self.prefixes.holders(content);
                let best = holders.map(|replica| (loads.key(replica), replica)).min();
                let far = |load: u64| load > least + FAR && 2 * load > 3 * least;
                best.filter(|&(load, _)| !far(load)).map_or(idlest, |(_, replica)| replica)
            }
        }
    }

    /// `job` went to `replica`.
    pub(super) fn joined(&mut self, replica: usize, job: &Job) {
        self.loads.set(replica, self.loads.key(replica).saturating_add(1));
        self.turn = (replica + 1) % self.replicas;
        if let (Routing::PrefixAware, Some(content)) = (self.routing, &job.content) {
            self.prefixes.note(content, replica);
        }
    }

    /// A job of `replica` is over.
    pub(super) fn left(&mut self, replica: usize) {
        self.loads.set(replica, self.loads.key(replica).saturating_sub(1));
    }
}
