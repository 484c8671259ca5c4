//! Which way is better.

/// Whether more or less of a figure is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// More is better, as with throughput.
    Maximize,
    /// Less is better, as with latency.
    Minimize,
}

impl Direction {
    /// What to multiply a figure by so that less is better.
    pub(crate) const fn sign(self) -> f64 {
        match self {
            Self::Maximize => -1.0,
            Self::Minimize => 1.0,
        }
    }
}
