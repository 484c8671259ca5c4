//! What a prefix cache ought to find.

use std::collections::HashSet;

use fizeau_core::Tokens;

use crate::parts::Outline;

/// How much of all prompts a prefix cache would supply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheShare {
    /// The tokens that an earlier prompt began with as well.
    pub cached: Tokens,
    /// All tokens of all prompts.
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

    /// Summed over prompts in order; none if one of them is not known.
    pub(crate) fn of(outlines: impl Iterator<Item = Option<Outline>>) -> Option<Self> {
        let mut seen = HashSet::new();
        let mut sum = Self::default();
        for outline in outlines {
            let Outline { shared, tokens } = outline?;
            sum.prompt += tokens;
            if let Some(start) = shared.filter(|start| !seen.insert(start.number)) {
                sum.cached += start.tokens;
            }
        }
        Some(sum)
    }
}
