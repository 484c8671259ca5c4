//! Whether more load still pays.

use crate::sweep::LoadSaturation;

/// Why the load was raised no further, in words.
pub(super) fn why(found: &LoadSaturation) -> String {
    let LoadSaturation { best, beyond } = found;
    if beyond.latency.is_none() {
        return format!(
            "no request completed at {}, and the next load did not pay either",
            beyond.load
        );
    }
    let (false, Some(best)) = (beyond.is_saturated, best) else {
        return format!("saturated from {} on, where the queue grew", beyond.load);
    };
    let gain = 100.0 * (beyond.requests.get() / best.requests.get() - 1.0);
    format!(
        "saturated from {}: {} gave {gain:+.1} % requests/s for a higher latency",
        best.load, beyond.load
    )
}
