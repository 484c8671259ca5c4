//! A level that begins at an instant of the wall clock: shards that cannot speak to one another begin together so, where their clocks agree.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use fizeau_core::{Nanos, Stamp};
use fizeau_harness::StartGate;
use jiff::Timestamp;
use thiserror::Error;

use super::error::ShardError;

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
    late: Mutex<Option<Nanos>>,
}

impl WallGate {
    pub(crate) fn new(at: StartTime) -> Self {
        Self { at, late: Mutex::new(None) }
    }

    /// Why the level did not begin; none where it did.
    pub(crate) fn error(&self) -> Option<ShardError> {
        let late = (*self.late.lock().unwrap_or_else(PoisonError::into_inner))?;
        let (at, late) = (self.at, late.as_secs_f64());
        Some(ShardError::LateStart(format!(
            "the level was to begin at {at}, but this client was ready {late:.3} s later; it sent nothing"
        )))
    }
}

impl StartGate for WallGate {
    fn begin(&self, ready: Stamp) -> Option<Stamp> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        match self.at.until(now.into()) {
            Ok(left) => Some(ready + left),
            Err(late) => {
                *self.late.lock().unwrap_or_else(PoisonError::into_inner) = Some(late);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
    }
}
