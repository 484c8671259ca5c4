//! The wall clock, which is read once per run, for the record.

use std::time::{SystemTime, UNIX_EPOCH};

use fizeau_core::{Clock as _, Nanos, Stamp};
use fizeau_transport::MonotonicClock;
use jiff::Timestamp;

/// What the wall clock showed, to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WallTime(Timestamp);

impl WallTime {
    /// Now.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::from_unix(since.as_secs())
    }

    /// So many seconds after 1970 began; what no calendar has is the last instant that one has.
    pub(crate) fn from_unix(seconds: u64) -> Self {
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        Self(Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX))
    }

    /// In UTC, such as `2026-11-20T18:45:00Z`.
    pub fn rfc3339(self) -> String {
        self.0.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// In UTC, such as `20261120-184500`, as vLLM dates its results.
    pub fn compact(self) -> String {
        self.0.strftime("%Y%m%d-%H%M%S").to_string()
    }

    /// What the wall clock showed at the epoch of `clock`, in nanoseconds since 1970: runs on several machines are put on one
    /// axis by it.
    pub fn epoch_unix_ns(clock: &MonotonicClock) -> u64 {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = Nanos::from(wall).saturating_sub(clock.now().saturating_since(Stamp::EPOCH));
        since.as_nanos()
    }
}

#[cfg(test)]
mod tests {
    use super::WallTime;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // `date -u -d @SECONDS +%Y-%m-%dT%H:%M:%SZ` of GNU coreutils.
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_795_200_300, "2026-11-20T18:45:00Z"),
        ];
        for (unix, text) in cases {
            assert_eq!(WallTime::from_unix(unix).rfc3339(), text);
        }
        assert_eq!(WallTime::from_unix(1_795_200_300).compact(), "20261120-184500");
        assert!(WallTime::from_unix(u64::MAX).rfc3339().starts_with("9999-"));
    }
}
