//! What sets the pace of a load.

/// What sets the pace of a run, and so what makes its rates uncertain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LoadPacing {
    /// A slot sends when it is free: the time that requests take makes the rate.
    #[default]
    ClosedLoop,
    /// A schedule: the gaps between ends make the rate.
    OpenLoop,
    /// Nothing: all are sent at once, and the one that ends last makes the rate.
    AllAtOnce,
}

impl LoadPacing {
    /// Whether requests have instants at which they are due, whatever the endpoint does.
    pub(crate) const fn has_schedule(self) -> bool {
        !matches!(self, Self::ClosedLoop)
    }
}
