//! What a prefix cache could do for a trace.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::num::NonZeroU64;

use fizeau_core::Tokens;
use serde::{Deserialize, Serialize};

/// How many distinct blocks are remembered: more than the published traces have, in less than 16 MiB.
const MOST: usize = 450_000;

/// How many prompt tokens a prefix cache without bounds would supply over the part of a trace that is replayed, all
/// requests coming one after another: the most that a server can save by its cache.
///
/// Blocks count whole or as far as the prompt goes; what a server keeps in smaller or larger pieces differs by less than a
/// piece for each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExpectedCache {
    /// Tokens that a prompt before began with alike.
    pub cached: Tokens,
    /// Tokens of all prompts.
    pub prompt: Tokens,
    /// How `cached` is known.
    pub basis: CacheBasis,
}

/// How an [`ExpectedCache`] was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheBasis {
    /// Every block was looked up.
    Exact,
    /// The trace has more than 450,000 distinct blocks, and memory stays bounded: from a random sample of blocks. The share
    /// is then good to a point or two, and less so where a few blocks have most of the hits.
    Sampled,
}

impl ExpectedCache {
    /// The share of prompt tokens, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.prompt == Tokens::ZERO {
            return 0.0;
        }
        (self.cached.get() as f64 / self.prompt.get() as f64).min(1.0)
    }
}

/// Counts blocks that came before.
///
/// A block is told by the ids from the start of the prompt up to its own, so that it counts only where all before it are
/// alike. With every block the set has those before it too; whether a block was seen therefore tells all, and a sample of
/// blocks by their hashes is a fair one of hits (the idea of SHARDS: Waldspurger and others, "Efficient MRC construction
/// with SHARDS", 2015).
#[derive(Debug, Default)]
pub(super) struct CacheTally {
    seen: HashSet<u64, BuildHasherDefault<PathHasher>>,
    /// One block in 2^`thinned` is looked up.
    thinned: u32,
    pub(super) cached: u64,
}

impl CacheTally {
    /// Takes note of a prompt of `input` tokens that begins with `blocks`, of `block` tokens each.
    pub(super) fn add(&mut self, blocks: &[u64], input: Tokens, block: NonZeroU64) {
        let (mut path, mut left) = (ODD, input.get());
        for id in blocks {
            path = fold(path ^ id);
            let tokens = left.min(block.get());
            left -= tokens;
            if path.leading_zeros() >= self.thinned && !self.seen.insert(path) {
                self.cached = self.cached.saturating_add(tokens << self.thinned);
            }
        }
        while self.seen.len() > MOST {
            self.thinned += 1;
            // Into a new table, because one that many were taken from grows when it is filled again.
            let mut kept = HashSet::with_capacity_and_hasher(MOST, BuildHasherDefault::new());
            kept.extend(self.seen.drain().filter(|path| path.leading_zeros() >= self.thinned));
            self.seen = kept;
        }
    }

    pub(super) const fn basis(&self) -> CacheBasis {
        match self.thinned {
            0 => CacheBasis::Exact,
            _ => CacheBasis::Sampled,
        }
    }
}

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes all bits of `x` by one wide multiplication, as wyhash does.
fn fold(x: u64) -> u64 {
    let wide = u128::from(x) * u128::from(ODD);
    (wide >> 64) as u64 ^ wide as u64
}

/// The paths are random already, but the sampled ones begin with zeros; the table wants both ends mixed.
#[derive(Debug, Default)]
struct PathHasher(u64);

impl Hasher for PathHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, path: u64) {
        self.0 = (self.0 ^ path).wrapping_mul(ODD);
    }
}
