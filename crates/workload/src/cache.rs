//! What a prefix cache ought to find.

use std::collections::HashMap;
use std::num::NonZeroU64;

use fizeau_core::Tokens;
use serde::{Deserialize, Serialize};

use crate::parts::PromptOutline;

/// The share of all prompt tokens that a prefix cache would supply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheShare {
    /// The tokens that an earlier prompt began with as well.
    pub cached: Tokens,
    /// All tokens of all prompts that were summed.
    pub prompt: Tokens,
}

impl CacheShare {
    /// The share of all prompt tokens that the cache would supply, from 0 to 1.
    #[must_use]
    pub fn share(self) -> f64 {
        match self.prompt.get() {
            0 => 0.0,
            prompt => self.cached.get() as f64 / prompt as f64,
        }
    }

    /// Summed over prompts in order, each with the number of the model that is asked, since a cache holds what one model
    /// made of a prompt; none if one of them is not known.
    pub(crate) fn of(outlines: impl Iterator<Item = Option<(u64, PromptOutline)>>) -> Option<Self> {
        let (mut starts, mut rows) = (HashMap::new(), HashMap::new());
        let mut sum = Self::default();
        for outline in outlines {
            let (model, PromptOutline { shared, row, tokens }) = outline?;
            sum.prompt += tokens;
            let start = shared.map(|start| found(&mut starts, (model, start.number), start.tokens));
            let row = row.map(|row| found(&mut rows, (model, row), tokens));
            sum.cached += start.max(row).unwrap_or_default();
        }
        Some(sum)
    }
}

/// How many of `tokens` tokens have been there under `key` before; now all have.
fn found(seen: &mut HashMap<(u64, u64), Tokens>, key: (u64, u64), tokens: Tokens) -> Tokens {
    let longest = seen.entry(key).or_default();
    let cached = tokens.min(*longest);
    *longest = tokens.max(*longest);
    cached
}

// What prompts begin with that others begin with too, so that a prefix cache has something to do.

/// A beginning that prompts share with others.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SharedPrefix {
    /// Nothing: no two prompts are alike.
    #[default]
    None,
    /// The same tokens for all prompts: vLLM's `--random-prefix-len`. A server with a prefix cache computes them once.
    Common {
        /// How many.
        tokens: Tokens,
    },
    /// One of several prefixes, as users of several applications, each with its system prompt, would send.
    Groups {
        /// How many prefixes there are.
        groups: NonZeroU64,
        /// How many tokens each has.
        tokens: Tokens,
        /// The share of requests that begin with a group's prefix, from 0 to 1. The others begin with as many tokens of
        /// their own, so that all prompts are equally long.
        share: f64,
        /// How often each group comes.
        popularity: Popularity,
    },
}

/// How often requests draw each group of a [`SharedPrefix`].
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Popularity {
    /// All alike.
    #[default]
    Uniform,
    /// The k-th in proportion to 1 / k^`exponent`.
    Zipf {
        /// From 0, where all are alike; 1 is the classic law.
        exponent: f64,
    },
}

impl SharedPrefix {
    /// How many tokens stand before each prompt's own part.
    #[must_use]
    pub const fn tokens(&self) -> Tokens {
        match *self {
            Self::None => Tokens::ZERO,
            Self::Common { tokens } | Self::Groups { tokens, .. } => tokens,
        }
    }

    /// The most groups there can be, 2^20: how often each comes is summed up before the run.
    pub const MOST_GROUPS: u32 = 1 << 20;
}

impl Popularity {
    /// How often each of `groups` groups comes, in proportion.
    pub(crate) fn weights(self, groups: NonZeroU64) -> impl Iterator<Item = f64> {
        (1..=groups.get()).map(move |rank| match self {
            Self::Uniform => 1.0,
            Self::Zipf { exponent } => libm::pow(rank as f64, -exponent),
        })
    }
}
