//! What a prefix cache ought to find.

use std::collections::HashMap;

use fizeau_core::Tokens;

use crate::parts::Outline;

/// How much of all prompts a prefix cache would supply.
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
    pub(crate) fn of(outlines: impl Iterator<Item = Option<(u64, Outline)>>) -> Option<Self> {
        let (mut starts, mut rows) = (HashMap::new(), HashMap::new());
        let mut sum = Self::default();
        for outline in outlines {
            let (model, Outline { shared, row, tokens }) = outline?;
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
