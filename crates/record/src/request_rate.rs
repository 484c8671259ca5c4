//! How far requests per second may be off.

use fizeau_core::PerSec;
use fizeau_metrics::{Interval, LevelSummary, SampleSupport};

/// The ends of the 95 % interval of the requests completed per second: their own, or those that the output tokens show, where
/// these are narrower.
///
/// Requests of a closed loop come to their ends in batches, so that a level of a few batches has a wide interval although
/// nothing about it varies. Their tokens come all the while. Requests per second are tokens per second over the mean length
/// of a reply, and both are of the same requests; so the tokens' interval, scaled, is one for the requests, once it is widened
/// by how far the mean length may be off. Of that only the range is known: a standard deviation is at most half of it
/// (T. Popoviciu, Mathematica 9, 1935).
pub fn requests_interval(summary: &LevelSummary) -> Option<(f64, f64)> {
    let throughput = &summary.throughput;
    let ends = |of: Option<SampleSupport<Interval<PerSec>>>| {
        of.and_then(SampleSupport::known).map(|ends| (ends.low.get(), ends.high.get()))
    };
    let own = ends(throughput.intervals.requests_per_s);
    let tokens = ends(throughput.intervals.output_tokens_per_s);
    let by_tokens = tokens.and_then(|tokens| by_tokens(summary, tokens));
    match (own, by_tokens) {
        (Some(own), Some(other)) if other.1 - other.0 < own.1 - own.0 => Some(other),
        (Some(own), _) => Some(own),
        (None, other) => other,
    }
}

fn by_tokens(summary: &LevelSummary, (low, high): (f64, f64)) -> Option<(f64, f64)> {
    /// The 97.5th percentile of the normal distribution.
    const Z: f64 = 1.96;
    let throughput = &summary.throughput;
    let (rate, tokens) = (throughput.requests_per_s.get(), throughput.output_tokens_per_s.get());
    let lengths = &summary.lengths.output.seen;
    // Both must be of the same requests.
    if tokens <= 0.0 || lengths.n != summary.requests.completed {
        return None;
    }
    let (mean, min, max) = (lengths.mean?, lengths.min?, lengths.max?);
    let deviation = max.get().saturating_sub(min.get()) as f64 / 2.0;
    let of_length = Z * deviation / (mean * (lengths.n as f64).sqrt());
    let end = |tokens_off: f64| rate * tokens_off.hypot(of_length);
    let (below, above) = (end((tokens - low) / tokens), end((high - tokens) / tokens));
    let ends = ((rate - below).max(0.0), rate + above);
    (ends.0.is_finite() && ends.1.is_finite()).then_some(ends)
}
