//! Distributions in JSON: one flat object each.

use super::{Distribution, EarlyStopping, RateDistribution, SentPercentiles, TokenDistribution};
use crate::SampleSupport;
use crate::json::scan;

json_object!(
    Distribution,
    "A sample in milliseconds. A figure that the sample does not support is null, with the reason beside it.",
    |sample or empty| {
        "n": is(n),
        "mean": or(mean, empty),
        "mean": ci(mean_interval),
        "effective_n": maybe(effective_n),
        "std": or(std, empty),
        "min": or(min, empty),
        "p50": p(p50),
        "p90": p(p90),
        "p95": p(p95),
        "p99": p(p99),
        "p999": p(p999),
        "max": or(max, empty),
        "resolution": is(resolution),
        "early_stopping": maybe(early_stopping),
        "over_sent": maybe(over_sent),
    } => Ok(Distribution {
        n, mean, mean_interval, effective_n, std, min, p50, p90, p95, p99, p999, max, resolution, early_stopping, over_sent,
    })
);

const FEW_COMPLETED: &str = "too few requests completed for this percentile";

json_object!(SentPercentiles, "Percentiles over all requests that were sent, a failed one beyond every latency.", |sent| {
    "p50": or(p50, FEW_COMPLETED),
    "p90": or(p90, FEW_COMPLETED),
    "p95": or(p95, FEW_COMPLETED),
    "p99": or(p99, FEW_COMPLETED),
    "p999": or(p999, FEW_COMPLETED),
} => Ok(SentPercentiles { p50, p90, p95, p99, p999 }));

json_object!(EarlyStopping, "MLPerf's bounds of percentiles, in milliseconds.", |bounds| {
    "p90": via_or(p90: fizeau_core::Millis = bounds.p90.known(), &too_few(&bounds.p90)),
    "p99": via_or(p99: fizeau_core::Millis = bounds.p99.known(), &too_few(&bounds.p99)),
} => match (bound(p90), bound(p99)) {
    (Some(p90), Some(p99)) => Ok(EarlyStopping { p90, p99 }),
    _ => Err("a bound of early stopping is null and does not say how many requests it takes".to_owned()),
});

fn too_few<T>(bound: &SampleSupport<T>) -> String {
    match bound {
        SampleSupport::NotSupported { needs, has } => format!("needs {needs} requests, has {has}"),
        bound => bound.reason().unwrap_or_default(),
    }
}

fn bound<T>((known, reason): (Option<T>, String)) -> Option<SampleSupport<T>> {
    if let Some(known) = known {
        return Some(SampleSupport::Known(known));
    }
    let [needs, has] = scan(&reason, "needs {} requests, has {}")?;
    Some(SampleSupport::NotSupported { needs: needs.parse().ok()?, has: has.parse().ok()? })
}

/// Why a percentile that takes `needs` of `n` values is not there.
fn withheld(per_mille: u64, n: u64, empty: &str) -> String {
    match n {
        0 => empty.to_owned(),
        n => format!("needs {} values, has {n}", super::describe::values_needed(per_mille)),
    }
}

json_object!(TokenDistribution, "Lengths in tokens, one a request.", |lengths or empty| {
    "n": is(n),
    "mean": or(mean, empty),
    "min": or(min, empty),
    "p10": or(p10, &withheld(900, lengths.n, empty)),
    "p50": or(p50, &withheld(500, lengths.n, empty)),
    "p90": or(p90, &withheld(900, lengths.n, empty)),
    "p99": or(p99, &withheld(990, lengths.n, empty)),
    "max": or(max, empty),
} => Ok(TokenDistribution { n, mean, min, p10, p50, p90, p99, max }));

json_object!(RateDistribution, "Rates of single requests, per second.", |rates or empty| {
    "n": is(n),
    "mean": or(mean, empty),
    "std": or(std, empty),
    "min": or(min, empty),
    "p1": or(p1, &withheld(990, rates.n, empty)),
    "p5": or(p5, &withheld(950, rates.n, empty)),
    "p10": or(p10, &withheld(900, rates.n, empty)),
    "p50": or(p50, &withheld(500, rates.n, empty)),
    "p90": or(p90, &withheld(900, rates.n, empty)),
    "max": or(max, empty),
} => Ok(RateDistribution { n, mean, std, min, p1, p5, p10, p50, p90, max }));
