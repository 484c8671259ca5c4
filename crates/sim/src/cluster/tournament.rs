//! The least of several keys, kept while they change.

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
