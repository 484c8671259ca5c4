//! A mergeable histogram of latencies, for live figures and for `*.hdr` files.

use std::fmt;

use fizeau_core::{Nanos, Tokens};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::IntervalLogWriterBuilder;

/// Significant decimal digits: a value is known to one part in a thousand.
const DIGITS: u8 = 3;

/// The longest length of time that is told apart from longer ones: 146 years.
const LONGEST: u64 = i64::MAX as u64 / 2;

/// A histogram of latencies in whole nanoseconds, to three significant digits, of bounded size (under half a
/// mebibyte).
///
/// It is for what must be cheap while a run goes on, and for other tools to read. It forgets order and
/// pairing and rounds its values, so the figures of a report come from tapes ([`crate::LevelSummary`]), never
/// from here.
///
/// ```
/// use fizeau_core::Nanos;
/// let mut live = fizeau_metrics::LatencyHistogram::new();
/// live.record(Nanos::from_millis(20));
/// let p50 = live.percentile(50.0).unwrap();
/// assert!((p50.as_millis_f64() / 20.0 - 1.0).abs() < 0.001);
/// ```
#[derive(Clone)]
pub struct LatencyHistogram(Histogram<u64>);

/// Why a histogram could not be written out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the histogram cannot be written: {0}")]
pub struct HistogramError(String);

impl LatencyHistogram {
    /// A histogram of nothing.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the digits are a constant in range")]
    pub fn new() -> Self {
        Self(Histogram::new(DIGITS).expect("0 to 5 digits make a histogram, and 3 is one of them"))
    }

    /// Takes one latency in. One beyond 146 years counts as 146 years.
    pub fn record(&mut self, latency: Nanos) {
        self.record_n(latency, Tokens::new(1));
    }

    /// Takes one latency in as often as its weight says: for the shares of [`crate::inter_token`].
    pub fn record_n(&mut self, latency: Nanos, weight: Tokens) {
        if weight == Tokens::ZERO {
            return; // It would still move the extremes.
        }
        let recorded = self.0.record_n(latency.as_nanos().min(LONGEST), weight.get());
        // It grows by itself up to LONGEST; only an address space of 16 bits could be too small.
        debug_assert!(recorded.is_ok());
    }

    /// Takes in all that `other` has, as if recorded here.
    pub fn merge(&mut self, other: &Self) {
        let added = self.0.add(&other.0);
        // As above.
        debug_assert!(added.is_ok());
    }

    /// How many latencies it has taken in.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The latency that `percent` (from 0 to 100) of all do not exceed, to three digits and rounded up; none
    /// if the histogram is empty or `percent` is out of range.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<Nanos> {
        let defined = !self.0.is_empty() && (0.0..=100.0).contains(&percent);
        defined.then(|| Nanos::from_nanos(self.0.value_at_percentile(percent)))
    }

    /// The content of a `*.hdr` file: HdrHistogram's interval log with a single interval from 0 to
    /// `duration`, the histogram in compressed V2 encoding and base64. Values are nanoseconds, the log's
    /// greatest value milliseconds.
    ///
    /// # Errors
    /// If the counts cannot be encoded (one beyond 2^63).
    pub fn to_interval_log(&self, duration: Nanos) -> Result<String, HistogramError> {
        let failed = |error: &dyn fmt::Display| HistogramError(error.to_string());
        let mut bytes = Vec::new();
        let mut serializer = V2DeflateSerializer::new();
        let mut log = IntervalLogWriterBuilder::new()
            .add_comment("values in nanoseconds")
            .with_max_value_divisor(1e6)
            .begin_log_with(&mut bytes, &mut serializer)
            .map_err(|error| failed(&error))?;
        log.write_histogram(&self.0, Nanos::ZERO.into(), duration.into(), None)
            .map_err(|error| failed(&error))?;
        String::from_utf8(bytes).map_err(|error| failed(&error))
    }
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for LatencyHistogram {
    /// Only the size: the counts would be thousands of lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LatencyHistogram").field("count", &self.count()).finish_non_exhaustive()
    }
}
