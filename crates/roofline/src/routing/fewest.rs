//! The fewest experts that tokens read which choose each for themselves.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How rare a pass must be that reads fewer experts than [`fewest`] says: one in a million.
const RARE: f64 = 1e-6;

/// Chains made so far, by experts and experts a token: each is walked on where more tokens are asked for.
static MADE: Mutex<BTreeMap<(usize, usize), ReadChain>> = Mutex::new(BTreeMap::new());
/// More are not kept.
const MOST_MADE: usize = 16;

/// The fewest of `count` experts that are read for `tokens` in passes of at most so many, where each token chooses `per_token` for itself
/// and all sets of so many equally often. A pass that reads fewer for its tokens is one in a million.
pub(crate) fn fewest(count: f64, per_token: f64, tokens: f64) -> f64 {
    let (count, per_token) = (count as usize, per_token as usize);
    if per_token >= count {
        return count as f64;
    }
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if made.len() >= MOST_MADE && !made.contains_key(&(count, per_token)) {
        made.clear();
    }
    let chain = made.entry((count, per_token)).or_insert_with(|| ReadChain::new(count, per_token));
    let tokens = tokens.max(1.0);
    (tokens * chain.a_token(tokens.ceil() as usize)).max(per_token as f64)
}

/// How many experts were read after each token: a Markov chain, as what a token adds is hypergeometric. Fewer tokens read more a token on
/// average, but chance has more room among them, so that passes of any size are looked at.
struct ReadChain {
    arrivals: Vec<Vec<f64>>,
    /// How likely each number of experts is after as many tokens as were walked.
    odds: Vec<f64>,
    /// The fewest experts a token in passes of at most one token, two, and so on, up to where all are read.
    least: Vec<f64>,
    reads_all: bool,
}

impl ReadChain {
    fn new(count: usize, per_token: usize) -> Self {
        let mut odds = vec![0.0; count + 1];
        odds[per_token] = 1.0;
        let least = vec![per_token as f64];
        Self { arrivals: arrivals(count, per_token), odds, least, reads_all: false }
    }

    /// The fewest experts a token in passes of at most `most` tokens, one or more.
    fn a_token(&mut self, most: usize) -> f64 {
        while self.least.len() < most && !self.reads_all {
            self.walk();
        }
        let all = (self.odds.len() - 1) as f64;
        let last = self.least.last().copied().unwrap_or(all);
        // All are read from there on.
        self.least.get(most - 1).copied().unwrap_or_else(|| last.min(all / most as f64))
    }

    /// One token more.
    fn walk(&mut self) {
        for read in (0..self.odds.len()).rev() {
            let before = self.odds[..=read].iter().rev();
            self.odds[read] =
                self.arrivals[read].iter().zip(before).map(|(new, odds)| new * odds).sum();
        }
        let (read, tokens) = (quantile(&self.odds), self.least.len() + 1);
        self.reads_all = read + 1 == self.odds.len();
        let last = self.least.last().copied().unwrap_or(f64::INFINITY);
        self.least.push(last.min(read as f64 / tokens as f64));
    }
}

/// The least number than which fewer are rare.
fn quantile(odds: &[f64]) -> usize {
    let mut below = 0.0;
    let is_rare = |odds: &&f64| {
        below += **odds;
        below < RARE
    };
    odds.iter().take_while(is_rare).count()
}

/// For each number of experts that are read after a token, how likely it is that `n` of that token's are new, by `n`.
fn arrivals(count: usize, per_token: usize) -> Vec<Vec<f64>> {
    let factorials = (1..=count).scan(0.0, |sum: &mut f64, n| {
        *sum += (n as f64).ln();
        Some(*sum)
    });
    let factorials: Vec<f64> = std::iter::once(0.0).chain(factorials).collect();
    // The logarithm of how many ways there are to choose `some` of `all`.
    let ways = |all: usize, some: usize| match all.checked_sub(some) {
        Some(rest) => factorials[all] - factorials[some] - factorials[rest],
        None => f64::NEG_INFINITY,
    };
    let likely = |read: usize, new: usize| {
        let before = read - new;
        (ways(count - before, new) + ways(before, per_token - new) - ways(count, per_token)).exp()
    };
    let after =
        |read: usize| (0..=per_token.min(read)).map(|new| likely(read, new)).collect::<Vec<_>>();
    (0..=count).map(after).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Coverage, ExpertRouting};
    use super::fewest;

    /// Of tokens that choose for themselves, whether among all experts or first four of eight groups, as DeepSeek's router does.
    #[test]
    fn draws_read_more_than_the_fewest_and_exact_odds_agree_with_their_mean() {
        // Of n tosses of a coin one of 2^(n - 1) series shows one side alone: up to 20 it may be.
        assert_eq!([20.0, 40.0].map(|tokens| fewest(2.0, 1.0, tokens)), [1.0, 2.0]);
        assert_eq!(fewest(4.0, 4.0, 9.0), 4.0);
        let mut state = 9_u64;
        let mut draw = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for (count, per_token, tokens, groups) in
            [(128, 4, 64, 1), (128, 8, 8, 1), (256, 8, 64, 8), (256, 8, 16, 8), (8, 2, 4, 1)]
        {
            let least = fewest(count as f64, per_token as f64, tokens as f64);
            let mean = Coverage::new(ExpertRouting::Expected, count as f64, per_token as f64);
            assert!(least >= per_token as f64 && least < mean.of(tokens as f64), "{least}");
            for _ in 0..300 {
                let mut read = vec![false; count];
                for _ in 0..tokens {
                    let mut allowed: Vec<usize> = (0..groups).collect();
                    while allowed.len() > groups.div_ceil(2) {
                        allowed.swap_remove(draw(allowed.len()));
                    }
                    let mut free: Vec<usize> =
                        (0..count).filter(|n| allowed.contains(&(n * groups / count))).collect();
                    for _ in 0..per_token {
                        read[free.swap_remove(draw(free.len()))] = true;
                    }
                }
                let read = read.iter().filter(|read| **read).count() as f64;
                assert!(read >= least, "{count} {per_token} {tokens}: {read} < {least}");
            }
        }
    }

    /// More tokens read no fewer, and no more a token; never more than are expected.
    #[test]
    fn the_fewest_rise_with_tokens_and_fall_a_token() {
        for (count, per_token) in [(128.0, 4.0), (128.0, 8.0), (256.0, 8.0), (32.0, 4.0)] {
            let mean = Coverage::new(ExpertRouting::Expected, count, per_token);
            let mut last = (0.0, f64::INFINITY);
            for tokens in [1.0, 1.5, 2.0, 3.0, 8.0, 16.0, 63.5, 64.0, 128.0, 256.0, 5000.0] {
                let least = fewest(count, per_token, tokens);
                assert!(least + 1e-9 >= last.0 && least / tokens <= last.1 + 1e-9, "{tokens}");
                assert!(least <= mean.of(tokens) + 1e-9, "{tokens}: {least}");
                last = (least, least / tokens);
            }
            assert_eq!((fewest(count, per_token, 1.0), last.0), (per_token, count));
        }
        assert_eq!([16.0, 64.0].map(|tokens| fewest(128.0, 4.0, tokens).round()), [37.0, 95.0]);
    }
}
