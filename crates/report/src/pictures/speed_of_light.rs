//! The curves of what the hardware could do, and how much of them a picture shows: they go on to loads that nobody measured, and
//! may not press what was measured into a corner.

use super::sheet::{AxisPoint, Dash};
use crate::{ChartCurve, ChartRun};

/// The curves that are drawn, and how.
pub(super) fn curves(run: &ChartRun) -> impl Iterator<Item = (&ChartCurve, Dash)> {
    let of = run.light.iter().flat_map(|light| {
        [
            (&light.bound, Dash::Solid),
            (&light.expected, Dash::Dashed),
            (&light.calibrated, Dash::Dotted),
        ]
    });
    of.filter(|(curve, _)| curve.len() > 1)
}

/// How far a picture follows the curves on one axis: in times of the least and of the greatest value that was measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct AxisReach {
    pub(super) down: f64,
    pub(super) up: f64,
}

impl AxisReach {
    /// The values that are followed, where each curve begins at one of `starts`: those are followed too, and as far beyond.
    pub(super) fn span(self, measured: &[f64], starts: impl Iterator<Item = f64>) -> [f64; 2] {
        let least = measured.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = measured.iter().copied().fold(0.0, f64::max);
        [self.down * least, self.up * starts.fold(greatest, f64::max)]
    }
}

/// The line through `places` as far as both of its coordinates lie within a range each, with gaps for what is beyond.
pub(super) fn within(places: &[AxisPoint], ranges: [[f64; 2]; 2]) -> Vec<Option<AxisPoint>> {
    let mut out: Vec<Option<AxisPoint>> = Vec::new();
    for pair in places.windows(2) {
        let [from, to] = pair else { continue };
        let along = |part: f64| (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
        let [across, up] = ranges;
        let (first, last) = shared(inside(from.0, to.0, across), inside(from.1, to.1, up));
        if first >= last {
            continue;
        }
        let start = if first > 0.0 { along(first) } else { *from };
        if out.last() != Some(&Some(start)) {
            out.extend([None, Some(start)]);
        }
        out.push(Some(if last < 1.0 { along(last) } else { *to }));
    }
    out
}

/// Whether both coordinates of a place lie within a range each.
pub(super) fn is_within(at: AxisPoint, [across, up]: [[f64; 2]; 2]) -> bool {
    (across[0]..=across[1]).contains(&at.0) && (up[0]..=up[1]).contains(&at.1)
}

/// Which part of the way `from` one value `to` another lies within a range.
fn inside(from: f64, to: f64, [low, high]: [f64; 2]) -> (f64, f64) {
    if from == to {
        return if (low..=high).contains(&from) { (0.0, 1.0) } else { (0.0, 0.0) };
    }
    let [a, b] = [low, high].map(|end| (end - from) / (to - from));
    (a.min(b).max(0.0), a.max(b).min(1.0))
}

fn shared(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0.max(b.0), a.1.min(b.1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{AxisReach, within};

    #[test]
    fn a_line_ends_where_the_axes_do() {
        let places = [(1.0, 10.0), (2.0, 10.0), (4.0, 30.0), (6.0, 10.0)];
        let found = within(&places, [[0.0, 5.0], [0.0, 20.0]]);
        let before = [None, Some((1.0, 10.0)), Some((2.0, 10.0)), Some((3.0, 20.0))];
        assert_eq!(found[..4], before);
        // It comes back at (5, 20), where the other axis ends.
        assert_eq!(found.len(), 4, "{found:?}");
        assert_eq!(within(&places, [[0.0, 6.0], [0.0, 30.0]]).len(), 5);
        let found = within(&places, [[1.5, 6.0], [0.0, 30.0]]);
        assert_eq!(found[..2], [None, Some((1.5, 10.0))]);
    }

    #[test]
    fn curves_are_followed_a_little_beyond_what_was_measured() {
        let reach = AxisReach { down: 0.5, up: 3.0 };
        assert_eq!(reach.span(&[1.0, 2.0], [0.5].into_iter()), [0.5, 6.0]);
        // Where nothing comes near them, they are there still.
        assert_eq!(reach.span(&[0.01], [0.5, 4.0].into_iter()), [0.005, 12.0]);
    }

    proptest! {
        #![proptest_config(crate::testing::cases())]
        #[test]
        fn nothing_is_beyond_and_nothing_inside_is_lost(
            places in prop::collection::vec((0.0..10.0_f64, 0.0..10.0_f64), 2..20),
            ends in [[0.0..10.0_f64, 0.0..10.0_f64], [0.0..10.0_f64, 0.0..10.0_f64]],
        ) {
            let ranges = ends.map(|[a, b]| [a.min(b), a.max(b)]);
            let beyond = |place: &(f64, f64), by: f64| {
                let [across, up] = ranges;
                let out = |value: f64, [low, high]: [f64; 2]| value < low - by || value > high + by;
                out(place.0, across) || out(place.1, up)
            };
            let found = within(&places, ranges);
            for place in found.iter().flatten() {
                prop_assert!(!beyond(place, 1e-9), "{place:?}");
            }
            for place in places.iter().filter(|place| !beyond(place, 0.0)) {
                prop_assert!(found.contains(&Some(*place)), "{place:?}");
            }
        }
    }
}
