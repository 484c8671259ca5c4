//! How often to ask, and what that cost.

use fizeau_core::{Millis, Nanos};
use serde::{Deserialize, Serialize};

/// What asking for pages cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ScrapeCost {
    /// Pages that came.
    pub pages: u64,
    /// Pages that did not.
    pub failed: u64,
    /// Bytes of those that came.
    pub bytes: u64,
    /// The time that all of them took together.
    #[serde(rename = "fetch_ms")]
    pub fetch: Millis,
    /// The time that the slowest took.
    #[serde(rename = "slowest_ms")]
    pub slowest: Millis,
    /// From one page to the next, at last.
    #[serde(rename = "interval_ms")]
    pub interval: Millis,
}

impl ScrapeCost {
    /// The mean time of a fetch; none before the first.
    #[must_use]
    pub fn mean_fetch(&self) -> Option<Millis> {
        let all = self.pages + self.failed;
        (all > 0).then(|| Millis::new(self.fetch.get() / all as f64))
    }

    pub(super) fn add(&mut self, took: Nanos, page_bytes: Option<u64>) {
        match page_bytes {
            Some(bytes) => {
                self.pages += 1;
                self.bytes += bytes;
            }
            None => self.failed += 1,
        }
        self.fetch = self.fetch + took.to_millis();
        if took.to_millis() > self.slowest {
            self.slowest = took.to_millis();
        }
    }
}

/// How long to wait before the next page: the interval, or five times what a page takes where that is longer, so that a server is
/// not busy with its metrics for more than a fifth of the time.
///
/// ```
/// use fizeau_core::Nanos;
/// use fizeau_telemetry::Pace;
/// let mut pace = Pace::every(Nanos::from_secs(1));
/// pace.took(Nanos::from_millis(100));
/// assert_eq!(pace.interval(), Nanos::from_secs(1));
/// pace.took(Nanos::from_millis(400));
/// assert_eq!(pace.interval(), Nanos::from_secs(2));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    wanted: Nanos,
    last: Nanos,
}

impl Pace {
    /// Once in every `interval`.
    #[must_use]
    pub const fn every(interval: Nanos) -> Self {
        Self { wanted: interval, last: Nanos::ZERO }
    }

    /// A page took that long.
    pub const fn took(&mut self, time: Nanos) {
        self.last = time;
    }

    /// From the beginning of that page to that of the next.
    #[must_use]
    pub fn interval(&self) -> Nanos {
        self.wanted.max(self.last * 5)
    }
}
