//! What prompts begin with that others begin with too, so that a prefix cache has something to do.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use serde::{Deserialize, Serialize};

/// What prompts begin with that others begin with too.
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

/// How often each group of a [`SharedPrefix`] comes.
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
