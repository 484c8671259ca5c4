//! Means over a range of contexts, in closed form.

/// Contexts from `from` to `to` tokens, each equally often: what a sequence has while it grows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Span {
    /// The shortest, in tokens.
    pub from: f64,
    /// The longest, not below `from`.
    pub to: f64,
}

impl Span {
    /// One context.
    #[must_use]
    pub const fn at(context: f64) -> Self {
        Self { from: context, to: context }
    }

    /// Every whole context from `from` to `to`; `from` alone where `to` is less.
    #[must_use]
    pub const fn between(from: f64, to: f64) -> Self {
        Self { from, to: from.max(to) }
    }

    /// How many contexts there are.
    #[must_use]
    pub const fn count(&self) -> f64 {
        self.to - self.from + 1.0
    }

    /// The mean context.
    #[must_use]
    pub const fn mean(&self) -> f64 {
        (self.from + self.to) / 2.0
    }

    /// The mean of `min(c, cap)`: what a layer with a window reads.
    ///
    /// Exact for whole `from`, `to` and `cap`: `(to - cap) cap` beyond the cap, and whole numbers up to it.
    #[must_use]
    pub fn mean_capped(&self, cap: f64) -> f64 {
        if self.to <= cap {
            return self.mean();
        }
        if self.from >= cap {
            return cap;
        }
        let below = cap - self.from + 1.0;
        let above = self.to - cap;
        (below * (self.from + cap) / 2.0 + above * cap) / (below + above)
    }
}
