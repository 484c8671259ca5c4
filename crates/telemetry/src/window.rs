//! What samples come to over a window: pure functions of points and instants.

mod counter;
mod gauge;
mod histogram;

use fizeau_core::{Nanos, Stamp};

pub use counter::CounterOver;
pub(crate) use counter::EdgePages;
pub use gauge::GaugeOver;
pub use histogram::{Bucket, HistogramOver, PercentileBucket};

/// What lies before and behind a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowEdges {
    /// Nothing: the server was idle, so that a counter has at the edges what it has on the last page before and on the first
    /// page behind. So it is with a whole level that is alone on its server.
    Quiet,
    /// More of the same: the window is cut out of a load that goes on, such as the steady part of a level. A counter's value at
    /// an edge lies between those of the pages around it.
    Cut,
}

/// A stretch of the run's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its first instant.
    pub from: Stamp,
    /// Its last.
    pub to: Stamp,
    /// What lies around it.
    pub edges: WindowEdges,
}

impl Window {
    /// From the first send to the last end of a level that had its server to itself.
    #[must_use]
    pub const fn alone(from: Stamp, to: Stamp) -> Self {
        Self { from, to, edges: WindowEdges::Quiet }
    }

    /// A part of a load that goes on around it.
    #[must_use]
    pub const fn within(from: Stamp, to: Stamp) -> Self {
        Self { from, to, edges: WindowEdges::Cut }
    }

    /// How long it is.
    #[must_use]
    pub const fn length(&self) -> Nanos {
        self.to.saturating_since(self.from)
    }
}
