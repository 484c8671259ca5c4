//! How far figures of a series may be off, in the order in which its requests were sent.

use fizeau_core::{Confidence, Interval, Millis};

use crate::{Autocorrelation, BatchMeans, Percent, SampleSupport, least_for_percentile};

/// Where the true mean of a latency lies, from the bounds of the plain number: no latency is below zero.
pub(crate) const fn mean_interval(bounds: Interval<f64>) -> Interval<Millis> {
    let Interval { low, high, confidence } = bounds;
    Interval { low: Millis::new(low.max(0.0)), high: Millis::new(high), confidence }
}

type MeanInterval = (Option<SampleSupport<Interval<Millis>>>, Option<f64>);

/// The interval of the mean, and how many independent values it is worth.
pub(super) fn mean_of_series(values: &[f64]) -> MeanInterval {
    match BatchMeans::of(values, Confidence::P95) {
        Ok(SampleSupport::Known(found)) => {
            let interval = SampleSupport::Known(mean_interval(found.interval));
            // Only values near the end of the range of a float have infinite bounds.
            let is_finite = found.interval.high.is_finite() && found.interval.low.is_finite();
            (Some(interval).filter(|_| is_finite), Some(found.effective_n).filter(|_| is_finite))
        }
        Ok(SampleSupport::NotSupported { needs, has }) => {
            (Some(SampleSupport::NotSupported { needs, has }), None)
        }
        // Values that are no latencies were left out.
        Ok(SampleSupport::CorrelationUnknown) | Err(_) => (None, None),
    }
}

/// How many values stand for one that knows by itself whether values lie above `threshold`.
pub(super) fn inflation_above(values: &[f64], threshold: f64) -> f64 {
    let above: Vec<f64> =
        values.iter().map(|&value| if value > threshold { 1.0 } else { 0.0 }).collect();
    Autocorrelation::of(&above).map_or(1.0, Autocorrelation::inflation)
}

/// How many values an interval of the quantile `q` takes, if each is worth only one in `inflation` independent ones.
pub(super) fn needed(q: f64, inflation: f64) -> u64 {
    let percent = Percent::new(100.0 * q).ok();
    let least = percent.and_then(|percent| least_for_percentile(percent, Confidence::P95));
    least.map_or(u64::MAX, |least| (least as f64 * inflation).ceil() as u64)
}
