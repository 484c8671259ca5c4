//! A level that begins at an instant of the wall clock: shards that cannot speak to one another begin together so, where their clocks agree.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use fizeau_core::{Nanos, Stamp};
use fizeau_harness::StartGate;
use fizeau_record::{ClockAxis, ClockReading, ClockSource, ShardHealth, ShardRecord};
use fizeau_transport::wall_clock_error;
use jiff::Timestamp;
use thiserror::Error;

use super::error::{LateShardStart, ShardError};

/// An instant of the wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartTime(Timestamp);

/// Why a text is no instant.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text}: write an instant in UTC, such as 2026-11-23T20:00:00Z")]
pub struct StartTimeError {
    text: String,
}

impl FromStr for StartTime {
    type Err = StartTimeError;

    /// As RFC 3339 has it: `2026-11-23T20:00:00Z`.
    fn from_str(text: &str) -> Result<Self, StartTimeError> {
        let time = text.trim().parse().map(Self);
        time.map_err(|_| StartTimeError { text: text.to_owned() })
    }
}

impl fmt::Display for StartTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StartTime {
    /// How long it is until then, `now` since 1970 began; none where it is over, and by how much.
    fn until(self, now: Nanos) -> Result<Nanos, Nanos> {
        let at = u64::try_from(self.0.as_nanosecond()).map_or(Nanos::ZERO, Nanos::from_nanos);
        match at < now {
            true => Err(now.saturating_sub(at)),
            false => Ok(at.saturating_sub(now)),
        }
    }
}

/// The gate of a level that begins at an instant of the wall clock, which is read once, when the client is ready.
#[derive(Debug)]
pub(crate) struct WallGate {
    at: StartTime,
    /// When the level began, on this client's clock, or by how much it would have been late; none before it is ready.
    begun: Mutex<Option<Result<Stamp, Nanos>>>,
}

/// How long before the instant the common axis of such shards has its epoch: nothing that is on tapes is earlier.
const AHEAD: Nanos = Nanos::from_secs(3600);

impl WallGate {
    pub(crate) fn new(at: StartTime) -> Self {
        Self { at, begun: Mutex::new(None) }
    }

    fn begun(&self) -> Option<Result<Stamp, Nanos>> {
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a part that began here and whose client fared so: the instant is the same for all of them, as far as their wall
    /// clocks agree.
    pub(crate) fn record(
        &self,
        first: Option<(Stamp, Stamp)>,
        health: ShardHealth,
    ) -> Option<ShardRecord> {
        let start = self.begun()?.ok()?;
        let own = start.saturating_since(Stamp::EPOCH).as_nanos();
        let ahead = i128::from(own) - i128::from(AHEAD.as_nanos());
        let reading = ClockReading {
            at: start,
            ahead_ns: i64::try_from(ahead).unwrap_or(i64::MAX),
            uncertainty_ns: wall_clock_error().map(Nanos::as_nanos),
            source: ClockSource::WallClocks,
        };
        let meeting = format!("start-at {}", self.at);
        let mut health = health;
        // The axis is nobody's clock, and by the wall all clocks are taken for one.
        health.clock_ahead_ms = Some(0.0);
        Some(ShardRecord { meeting, start, first, clock: Some(ClockAxis::at(reading)), health })
    }

    /// Why the level did not begin; none where it did.
    pub(crate) fn error(&self) -> Option<ShardError> {
        let late = self.begun()?.err()?;
        Some(ShardError::LateStart(LateShardStart::Ready { at: self.at, late }))
    }
}

impl StartGate for WallGate {
    fn begin(&self, ready: Stamp) -> Option<Stamp> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let begun = self.at.until(now.into()).map(|left| ready + left);
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(begun);
        begun.ok()
    }
}

#[cfg(test)]
mod tests {
    use fizeau_record::{ShardsReport, TailShares};

    use super::*;

    #[test]
    fn an_instant_is_ahead_or_over() {
        // `date -u -d @1795200300 +%Y-%m-%dT%H:%M:%SZ` of GNU coreutils.
        let at: StartTime = "2026-11-20T18:45:00Z".parse().unwrap();
        assert_eq!(at.until(Nanos::from_secs(1_795_200_290)), Ok(Nanos::from_secs(10)));
        assert_eq!(at.until(Nanos::from_secs(1_795_200_301)), Err(Nanos::from_secs(1)));
        assert!("soon".parse::<StartTime>().unwrap_err().to_string().contains("in UTC"));
        let gate = WallGate::new("2001-01-01T00:00:00Z".parse().unwrap());
        assert_eq!(gate.begin(Stamp::EPOCH), None);
        assert!(gate.error().unwrap().to_string().starts_with("the level was to begin at 2001-"));
        assert_eq!(gate.record(None, ShardHealth::default()), None);
    }

    /// However long ago each client's clock began to count, the instant is the same on the axis that they have in common.
    #[test]
    fn parts_that_began_at_one_instant_have_it_on_one_axis() {
        let parts = [5, 7_205].map(|ready| {
            let gate = WallGate::new("2100-01-01T00:00:00Z".parse().unwrap());
            let start = gate.begin(Stamp::EPOCH + Nanos::from_secs(ready)).unwrap();
            let first = Some((start, start + Nanos::from_millis(ready)));
            gate.record(first, ShardHealth::default()).unwrap()
        });
        let common = parts.each_ref().map(|part| part.clock.unwrap().common(part.start));
        assert_eq!(common, [Stamp::EPOCH + AHEAD; 2]);
        let report = ShardsReport::of_parts(2, &parts, &TailShares::of(1));
        assert_eq!(report.start_skew_ms, Some(7_200.0));
        let ahead = report.health.iter().map(|one| one.clock_ahead_ms);
        assert_eq!(ahead.collect::<Vec<_>>(), [Some(0.0); 2], "the axis is nobody's clock");
        assert_eq!(report.meeting.as_deref(), Some("start-at 2100-01-01T00:00:00Z"));
    }
}
