//! Kneedle, for a curve that falls and is known as points.

use super::NoKnee;
use super::outline::FrontierOutline;

/// Below this a distance is rounding.
const STRAIGHT: f64 = 1e-12;

/// The place on the outline of the clearest knee, and its distance from the line between both ends.
pub(super) fn find(outline: &FrontierOutline, sensitivity: f64) -> Result<(usize, f64), NoKnee> {
    if !(sensitivity.is_finite() && sensitivity >= 0.0) {
        return Err(NoKnee::BadSensitivity { sensitivity });
    }
    // The paper's difference curve: turned to rise, the curve is at 1 - y, and the line at x.
    let distances: Vec<f64> = outline.points().map(|[x, y]| 1.0 - y - x).collect();
    let step = 1.0 / (distances.len() - 1) as f64;
    let bends = || peaks(&distances).filter(|&at| distances[at] > STRAIGHT);
    let confirmed = bends().filter(|&at| {
        let threshold = distances[at] - sensitivity * step;
        falls_below(&distances[at + 1..], distances[at], threshold)
    });
    let deepest = confirmed.reduce(|a, b| if distances[b] > distances[a] { b } else { a });
    match deepest {
        Some(at) => Ok((at, distances[at])),
        None if bends().next().is_none() => Err(NoKnee::NoBend),
        None => Err(NoKnee::TooGentle { sensitivity }),
    }
}

/// Where a distance is greater than the one before and no less than the one after.
fn peaks(distances: &[f64]) -> impl Iterator<Item = usize> {
    let triples = distances.windows(3).enumerate();
    triples.filter(|(_, d)| d[0] < d[1] && d[1] >= d[2]).map(|(before, _)| before + 1)
}

/// Whether `after` falls below `threshold` before it rises again.
fn falls_below(after: &[f64], from: f64, threshold: f64) -> bool {
    let mut last = from;
    for &distance in after {
        if distance < threshold {
            return true;
        }
        if distance > last {
            return false;
        }
        last = distance;
    }
    false
}
