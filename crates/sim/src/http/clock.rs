//! The server's clock.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use fizeau_core::{Clock, Nanos, Stamp};

/// Monotonic time since the server started. The wall clock is read once, for the record.
#[derive(Debug, Clone, Copy)]
pub(super) struct WallClock {
    epoch: Instant,
    started: SystemTime,
}

impl WallClock {
    pub(super) fn start() -> Self {
        Self { epoch: Instant::now(), started: SystemTime::now() }
    }

    /// When the server started, in seconds since 1970; zero on a machine that believes to be before that.
    pub(super) fn started_unix(&self) -> u64 {
        let since = self.started.duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_secs())
    }

    /// When the server started, as RFC 3339 in UTC.
    pub(super) fn started_rfc3339(&self) -> String {
        rfc3339(self.started_unix())
    }
}

impl Clock for WallClock {
    fn now(&self) -> Stamp {
        Stamp::EPOCH + Nanos::from(self.epoch.elapsed())
    }
}

/// Seconds since 1970 as a date, by Howard Hinnant's `civil_from_days`
/// (<https://howardhinnant.github.io/date_algorithms.html>): years begin in March, so that the leap day comes
/// last.
fn rfc3339(unix: u64) -> String {
    let (days, second) = (unix / 86_400 + 719_468, unix % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let leap_days = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    /// Values from GNU `date -u -d @N`.
    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(rfc3339(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(rfc3339(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(rfc3339(4_102_444_800), "2100-01-01T00:00:00Z");
    }
}
