//! Why one client is not enough, and what would be.

use std::fmt;

use super::judge::percent;
use super::{ClientProof, Thresholds};
use crate::LevelSummary;

/// That a level came near to what its client can do, and how many measuring threads would have room for it; of a level of several
/// clients, of all of them.
///
/// ```
/// use fizeau_metrics::{ClientNeed, ClientWatch, GoodputGoals, LevelTally, Thresholds};
/// let level = LevelTally::new(&GoodputGoals::default());
/// let busy = ClientWatch { cpu_share: Some(0.95), ..ClientWatch::default() };
/// let proof = level.proof(busy);
/// let need = ClientNeed::of(&level.summary(), &proof, 1, &Thresholds::default());
/// let text = "this client uses 95.0 % of a core; the load needs 2 threads, or 2 shards";
/// assert_eq!(need.map(|need| need.to_string()).as_deref(), Some(text));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ClientNeed {
    /// CPU share of the busiest measuring thread, from 0 to 1; absent where the system does not report it.
    pub cpu_share: Option<f64>,
    /// Share of the client's own ceiling that the level reached; absent where that was not measured.
    pub ceiling_share: Option<f64>,
    /// How many clients measured together.
    pub clients: u32,
    /// How many threads they measured with.
    pub measured: u32,
    /// How many would have kept below the limits, if each does as much as one did: at least one more.
    pub threads: u32,
}

impl ClientNeed {
    /// Of a level whose `client` is so many together, or one where that is none; absent where it kept below `limits`.
    #[must_use]
    pub fn of(
        level: &LevelSummary,
        client: &ClientProof,
        clients: u32,
        limits: &Thresholds,
    ) -> Option<Self> {
        let watch = &client.watch;
        let ceiling_share = watch.ceiling.and_then(|ceiling| ceiling.nearest(level));
        let ceiling_share = ceiling_share.map(|(_, share)| share);
        let over = |share: Option<f64>, limit: f64| share.map_or(0.0, |share| share / limit);
        let cpu = over(watch.cpu_share, limits.cpu_suspect);
        let most = cpu.max(over(ceiling_share, limits.ceiling_suspect));
        if most.is_nan() || most <= 1.0 {
            return None;
        }
        let (measured, clients) = (watch.threads.max(1), clients.max(1));
        // A float beyond the range becomes the greatest number there is.
        let threads = (f64::from(measured) * most).ceil() as u32;
        let threads = threads.max(measured.saturating_add(1));
        Some(Self { cpu_share: watch.cpu_share, ceiling_share, clients, measured, threads })
    }

    /// How many clients with as many threads as one has now are as many threads.
    #[must_use]
    pub fn shards(&self) -> u32 {
        let threads = u64::from(self.threads) * u64::from(self.clients);
        u32::try_from(threads.div_ceil(self.measured.into())).unwrap_or(u32::MAX)
    }

    /// How many threads each of the clients that there are would need.
    #[must_use]
    pub const fn threads_each(&self) -> u32 {
        self.threads.div_ceil(self.clients)
    }
}

impl fmt::Display for ClientNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_core = self.cpu_share.map(|share| format!("{} of a core", percent(share)));
        let of_ceiling =
            self.ceiling_share.map(|share| format!("{share:.2} of its measured ceiling"));
        let reached: Vec<String> = of_core.into_iter().chain(of_ceiling).collect();
        let (threads, shards) = (self.threads, self.shards());
        let reached = reached.join(" and ");
        write!(
            f,
            "this client uses {reached}; the load needs {threads} threads, or {shards} shards"
        )
    }
}
