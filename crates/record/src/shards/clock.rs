//! The clock of one client as read by that of another.

use fizeau_core::{Nanos, Stamp, Tape};
use serde::{Deserialize, Serialize};

/// By how much a client's clock was ahead of the first shard's at one instant, and how well that is known. A clock's reading is the
/// time since its own epoch, so that the difference holds that of the epochs too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockReading {
    /// When, on the client's own clock.
    #[serde(rename = "at_ns")]
    pub at: Stamp,
    /// What its clock showed more than the first shard's, in nanoseconds.
    pub ahead_ns: i64,
    /// By how much that may be wrong; absent where nobody knows.
    pub uncertainty_ns: Option<u64>,
    /// How it was found out.
    pub source: ClockSource,
}

/// How it was found out by how much two clocks differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ClockSource {
    /// From messages that went to and fro; the least round trip bounds the error.
    RoundTrips,
    /// From the machines' wall clocks, by what their kernels say of them.
    WallClocks,
}

/// From the stamps of one client's clock to those of the first shard's: a reading before a level and one after it, and a straight
/// line between.
///
/// ```
/// use fizeau_core::{Nanos, Stamp};
/// use fizeau_record::{ClockAxis, ClockReading, ClockSource};
///
/// let read = |ms, ahead_ns| ClockReading {
///     at: Stamp::EPOCH + Nanos::from_millis(ms),
///     ahead_ns,
///     uncertainty_ns: Some(20_000),
///     source: ClockSource::RoundTrips,
/// };
/// // It is 3 s ahead, and gains 50 millionths: 50 us in each second.
/// let axis = ClockAxis::between(read(4_000, 3_000_000_000), read(14_000, 3_000_500_000));
/// assert_eq!(axis.ahead_ns(Stamp::EPOCH + Nanos::from_millis(9_000)), 3_000_250_000);
/// assert_eq!(axis.drift_ppm().map(f64::round), Some(50.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockAxis {
    first: ClockReading,
    last: ClockReading,
}

/// The most that a clock's rate is believed to be off, as a share: by so much do kernels turn a clock faster or slower at the most. Readings
/// that say more are themselves wrong by more.
const MOST_DRIFT: f64 = 500e-6;

/// Of a shorter level what two readings are wrong says more than what the clock drifted.
const LONG_ENOUGH: Nanos = Nanos::from_secs(1);

impl ClockAxis {
    /// By two readings.
    #[must_use]
    pub const fn between(first: ClockReading, last: ClockReading) -> Self {
        Self { first, last }
    }

    /// By one reading alone: a clock that goes as fast as the first shard's.
    #[must_use]
    pub const fn at(reading: ClockReading) -> Self {
        Self { first: reading, last: reading }
    }

    /// By how much the clock was ahead as it showed `at`, in nanoseconds. Before the first reading and after the last one the line
    /// goes on.
    #[must_use]
    pub fn ahead_ns(&self, at: Stamp) -> i64 {
        let Self { first, last } = self;
        let Some(span) = last.at.since(first.at).filter(|span| *span > Nanos::ZERO) else {
            return last.ahead_ns;
        };
        let signed = |stamp: Stamp| i128::from(stamp.saturating_since(Stamp::EPOCH).as_nanos());
        let gained = i128::from(last.ahead_ns) - i128::from(first.ahead_ns);
        let part = gained * (signed(at) - signed(first.at)) / i128::from(span.as_nanos());
        i64::try_from(i128::from(first.ahead_ns) + part).unwrap_or(last.ahead_ns)
    }

    /// What the first shard's clock showed as this one showed `at`; the epoch for what was before it.
    #[must_use]
    pub fn common(&self, at: Stamp) -> Stamp {
        let ahead = self.ahead_ns(at);
        let since = at.saturating_since(Stamp::EPOCH);
        let by = Nanos::from_nanos(ahead.unsigned_abs());
        Stamp::EPOCH + if ahead < 0 { since + by } else { since.saturating_sub(by) }
    }

    /// What this clock shows as the first shard's shows `at`, by the last reading: how an instant is told to a client.
    #[must_use]
    pub fn own(&self, at: Stamp) -> Stamp {
        let since = at.saturating_since(Stamp::EPOCH);
        let by = Nanos::from_nanos(self.last.ahead_ns.unsigned_abs());
        let is_behind = self.last.ahead_ns < 0;
        Stamp::EPOCH + if is_behind { since.saturating_sub(by) } else { since + by }
    }

    /// By how much its readings may be wrong; none where nobody knows.
    #[must_use]
    pub fn uncertainty(&self) -> Option<Nanos> {
        let both = self.first.uncertainty_ns.zip(self.last.uncertainty_ns);
        both.map(|(first, last)| Nanos::from_nanos(first.max(last)))
    }

    /// The last reading.
    #[must_use]
    pub const fn last(&self) -> ClockReading {
        self.last
    }

    /// By how much it goes fast, in millionths; none where the readings are too close to one another to say.
    #[must_use]
    pub fn drift_ppm(&self) -> Option<f64> {
        let span = self.last.at.since(self.first.at).filter(|span| *span >= LONG_ENOUGH)?;
        let gained = self.last.ahead_ns.checked_sub(self.first.ahead_ns)?;
        Some(gained as f64 * 1e6 / span.as_nanos() as f64)
    }

    /// By which share of a length of time the clock is believed to go fast; zero where only one reading was taken.
    fn drift(&self) -> f64 {
        let Self { first, last } = self;
        let span = last.at.since(first.at).filter(|span| *span > Nanos::ZERO);
        let gained = last.ahead_ns.saturating_sub(first.ahead_ns) as f64;
        let drift = span.map_or(0.0, |span| gained / span.as_nanos() as f64);
        drift.clamp(-MOST_DRIFT, MOST_DRIFT)
    }

    /// Puts a tape onto the first shard's clock: its release by what the clock was ahead then, and every other instant by what it has
    /// drifted since as well. So the end of a long reply is as well known as its release, and a length of time within the tape changes by
    /// half a thousandth at the most, however wrong the readings are.
    pub fn correct(&self, tape: &mut Tape) {
        let released = tape.marks.released;
        let (ahead, drift) = (self.ahead_ns(released), self.drift());
        tape.map_stamps(|at| {
            let since = match at.since(released) {
                Some(after) => after.as_nanos() as f64,
                None => -(released.saturating_since(at).as_nanos() as f64),
            };
            let ahead = ahead.saturating_add((since * drift).round() as i64);
            Stamp::from_nanos(at.as_nanos().saturating_add_signed(ahead.saturating_neg()))
        });
    }
}
