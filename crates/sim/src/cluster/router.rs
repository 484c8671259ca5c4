//! Which replica a job goes to.

use super::prefixes::RouterPrefixes;
use crate::serve::EngineJob;
use fizeau_core::{Choice, NamedChoice};

/// How a router chooses among replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ReplicaRouting {
    /// Each in turn.
    RoundRobin,
    /// The one with the fewest jobs in flight, waiting and running; of equals the one of the lowest number.
    #[default]
    LeastInFlight,
    /// The one that holds the most blocks of the job's beginning; of equals the one with the fewest in
    /// flight.
    ///
    /// Unless it has far more in flight than the least loaded: more than 32 more, and more than half as
    /// many again. Then, and where no replica holds any of it, as [`ReplicaRouting::LeastInFlight`]. The rule has
    /// the shape of that of SGLang's cache-aware router, an absolute and a relative threshold of imbalance;
    /// the figures are chosen here.
    ///
    /// What replicas hold is what the router sent there, as far as it remembers: as many blocks as they
    /// have together, those not seen for longest forgotten first. It does not look into them.
    PrefixAware,
}

impl Choice for ReplicaRouting {
    const CHOICES: &'static [NamedChoice<Self>] = &[
        NamedChoice::new(Self::RoundRobin.as_str(), Self::RoundRobin, "To each replica in turn"),
        NamedChoice::new(
            Self::LeastInFlight.as_str(),
            Self::LeastInFlight,
            "To the replica with the fewest requests",
        ),
        NamedChoice::new(
            Self::PrefixAware.as_str(),
            Self::PrefixAware,
            "To the replica that holds most of the prompt in its cache, unless it is far busier than others",
        ),
    ];
}

fizeau_core::words! {
    /// The name used in files and flags: `round-robin`, `least-in-flight`, `prefix-aware`.
    ///
    /// ```
    /// use fizeau_sim::ReplicaRouting;
    /// assert_eq!(ReplicaRouting::default().as_str(), "least-in-flight");
    /// ```
    pub ReplicaRouting::as_str {
        RoundRobin = "round-robin", LeastInFlight = "least-in-flight", PrefixAware = "prefix-aware",
    }
}

/// More in flight than the least loaded replica by this many may be far more.
const FAR: u64 = 32;

/// Blocks that are remembered at least, should the replicas not say how many they have.
const LEAST_REMEMBERED: usize = 1 << 16;

/// A router with what it knows of its replicas.
#[derive(Debug, Clone)]
pub(super) struct Router {
    routing: ReplicaRouting,
    /// Jobs in flight, of each replica.
    loads: Tournament,
    replicas: usize,
    /// Whose turn it is.
    turn: usize,
    prefixes: RouterPrefixes,
}

impl Router {
    /// A router over `replicas` idle replicas that have `blocks` blocks together.
    pub(super) fn new(routing: ReplicaRouting, replicas: usize, blocks: u64) -> Self {
        let blocks = usize::try_from(blocks).unwrap_or(usize::MAX);
        Self {
            routing,
            loads: Tournament::new(replicas, 0),
            replicas,
            turn: 0,
            prefixes: RouterPrefixes::new(replicas, blocks.max(LEAST_REMEMBERED)),
        }
    }

    /// Where `job` should go.
    pub(super) fn choose(&mut self, job: &EngineJob) -> usize {
        let (least, idlest) = self.loads.least();
        match self.routing {
            ReplicaRouting::RoundRobin => self.turn,
            ReplicaRouting::LeastInFlight => idlest,
            ReplicaRouting::PrefixAware => {
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
    pub(super) fn joined(&mut self, replica: usize, job: &EngineJob) {
        self.loads.set(replica, self.loads.key(replica).saturating_add(1));
        self.turn = (replica + 1) % self.replicas;
        if let (ReplicaRouting::PrefixAware, Some(content)) = (self.routing, &job.content) {
            self.prefixes.note(content, replica);
        }
    }

    /// A job of `replica` is over.
    pub(super) fn left(&mut self, replica: usize) {
        self.loads.set(replica, self.loads.key(replica).saturating_sub(1));
    }
}

// The least of several keys, kept while they change.

/// Who of a fixed number of players has the least key; of equals the one of the lowest number.
///
/// A tree of matches: a change costs the matches on its way up, six among 64 players, and the winner is
/// known at any time.
#[derive(Debug, Clone)]
pub(super) struct Tournament {
    /// As a heap lies: the winner of all at 1, the two matches below match `i` at `2 i` and `2 i + 1`, the
    /// players at the end.
    matches: Vec<(u64, usize)>,
}

/// The key of one who is out of the running.
pub(super) const OUT: u64 = u64::MAX;

impl Tournament {
    /// `players` players, at least 1, with `key` each.
    pub(super) fn new(players: usize, key: u64) -> Self {
        let leaves = players.max(1).next_power_of_two();
        let mut of = Self { matches: vec![(OUT, usize::MAX); 2 * leaves] };
        (0..players).for_each(|player| of.set(player, key));
        of
    }

    /// The least key, and whose it is.
    pub(super) fn least(&self) -> (u64, usize) {
        self.matches[1]
    }

    /// The least key of all others; of those, not the number.
    pub(super) fn runner_up(&self) -> u64 {
        let mut place = self.leaf(self.least().1);
        let mut best = OUT;
        // The second best lost against the best, in one match or another.
        while place > 1 {
            best = best.min(self.matches[place ^ 1].0);
            place /= 2;
        }
        best
    }

    /// The key of `player`.
    pub(super) fn key(&self, player: usize) -> u64 {
        self.matches[self.leaf(player)].0
    }

    /// Gives `player` another key.
    pub(super) fn set(&mut self, player: usize, key: u64) {
        let mut place = self.leaf(player);
        self.matches[place] = (key, player);
        while place > 1 {
            place /= 2;
            let winner = self.matches[2 * place].min(self.matches[2 * place + 1]);
            if self.matches[place] == winner {
                return;
            }
            self.matches[place] = winner;
        }
    }

    fn leaf(&self, player: usize) -> usize {
        (self.matches.len() / 2).saturating_add(player).min(self.matches.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_agrees_with_looking_at_all(
            players in 1usize..20,
            changes in prop::collection::vec((0usize..20, 0u64..10), 0..60),
        ) {
            let mut tournament = Tournament::new(players, 5);
            let mut keys = vec![5; players];
            for (player, key) in changes {
                let player = player % players;
                tournament.set(player, key);
                keys[player] = key;
                let best = (0..players).map(|player| (keys[player], player)).min().unwrap();
                prop_assert_eq!(tournament.least(), best);
                prop_assert_eq!(tournament.key(player), key);
                let others = (0..players).filter(|&other| other != best.1);
                let second = others.map(|other| keys[other]).min();
                prop_assert_eq!(tournament.runner_up(), second.unwrap_or(OUT));
            }
        }
    }
}
