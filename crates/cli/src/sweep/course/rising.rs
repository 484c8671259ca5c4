//! Whether more load still pays.

use fizeau::core::LevelLoad;
use fizeau::core::PerSec;
use fizeau::experiment::{LevelYield, Saturated};
use fizeau::report::LevelReport;

/// What a level says of saturation; nothing if it has no requests that completed, or broke off.
pub(super) fn yield_of(load: LevelLoad, run: &LevelReport) -> Option<LevelYield> {
    (run.summary.requests.completed > 0).then(|| LevelYield {
        load,
        sent: sent(load, run),
        requests: run.summary.throughput.requests_per_s,
        latency: run.summary.metrics.e2el.mean,
        is_saturated: run.is_saturated(),
    })
}

/// What was sent per second: as the arrivals came out by chance, or else as asked.
fn sent(load: LevelLoad, run: &LevelReport) -> Option<PerSec> {
    let LevelLoad::Rate(asked) = load else { return None };
    let came_out = run.summary.arrivals.and_then(|arrivals| arrivals.intended.rate);
    Some(came_out.unwrap_or(asked))
}

/// Why the load was raised no further, in words.
pub(super) fn why(found: &Saturated) -> String {
    let Saturated { best, beyond } = found;
    let (false, Some(best)) = (beyond.is_saturated, best) else {
        return format!("saturated from {} on, where the queue grew", beyond.load);
    };
    let gain = 100.0 * (beyond.requests.get() / best.requests.get() - 1.0);
    format!(
        "saturated from {}: {} gave {gain:+.1} % requests/s for a higher latency; --no-stop measures all",
        best.load, beyond.load
    )
}
