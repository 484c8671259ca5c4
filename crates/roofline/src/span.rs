//! Means over a range of contexts, in closed form.

/// Contexts from `from` to `to` tokens, each equally often: what a sequence has while it grows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ContextSpan {
    /// The shortest, in tokens.
    pub from: f64,
    /// The longest, not below `from`.
    pub to: f64,
}

impl ContextSpan {
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
    pub(crate) const fn count(&self) -> f64 {
        self.to - self.from + 1.0
    }

    /// The mean context.
    pub(crate) const fn mean(&self) -> f64 {
        (self.from + self.to) / 2.0
    }

    /// The mean of `min(c, cap)`: what a layer with a window reads.
    ///
    /// Exact for whole `from`, `to` and `cap`: `(to - cap) cap` beyond the cap, and whole numbers up to it.
    pub(crate) fn mean_capped(&self, cap: f64) -> f64 {
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

    /// The mean of `((c - 1) mod chunk) + 1`: what a layer reads that sees back to the start of its chunk.
    ///
    /// Exact for whole `from`, `to` and `chunk`: the sum over the first `n = q chunk + r` contexts is
    /// `q chunk (chunk + 1) / 2 + r (r + 1) / 2`.
    pub(crate) fn mean_in_chunks(&self, chunk: f64) -> f64 {
        let sum = |contexts: f64| {
            let whole = (contexts / chunk).floor();
            let rest = contexts - whole * chunk;
            (whole * chunk * (chunk + 1.0) + rest * (rest + 1.0)) / 2.0
        };
        if self.to <= chunk {
            return self.mean();
        }
        (sum(self.to) - sum((self.from - 1.0).max(0.0))) / self.count()
    }
}

#[cfg(test)]
mod tests {
    use super::ContextSpan;

    #[test]
    fn means_are_those_of_all_contexts() {
        for chunk in [1_u32, 2, 3, 5, 8] {
            for (from, to) in [(1_u32, 1), (1, 7), (3, 4), (5, 5), (6, 23), (8, 8), (9, 16)] {
                let span = ContextSpan::between(f64::from(from), f64::from(to));
                let mean = |of: fn(u32, u32) -> u32| {
                    let sum: u32 = (from..=to).map(|context| of(context, chunk)).sum();
                    f64::from(sum) / f64::from(to - from + 1)
                };
                let near = |one: f64, other: f64| (one - other).abs() < 1e-12;
                assert!(near(span.mean_capped(f64::from(chunk)), mean(u32::min)));
                let within = |context: u32, chunk: u32| (context - 1) % chunk + 1;
                assert!(
                    near(span.mean_in_chunks(f64::from(chunk)), mean(within)),
                    "{from} {to} {chunk}"
                );
            }
        }
    }
}
