//! The curves of what the hardware could do, and how much of them a picture shows: they go on to loads that nobody measured, and
//! may not press what was measured into a corner.

use super::sheet::{Dash, Place};
use crate::{ChartCurve, ChartRun};

/// The curves that are drawn, and how.
pub(super) fn curves(run: &ChartRun) -> impl Iterator<Item = (&ChartCurve, Dash)> {
    let of = run.light.iter().flat_map(|light| {
        [
            (&light.bound, Dash::None),
            (&light.expected, Dash::Long),
            (&light.calibrated, Dash::Short),
        ]
    });
    of.filter(|(curve, _)| curve.len() > 1)
}

/// How far a picture follows the curves on one axis.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reach {
    /// To so many times the greatest value that was measured, or where they begin if that is farther.
    Times(f64),
    /// To their end.
    All,
}

impl Reach {
    /// The greatest value that is followed, where `measured` is the greatest measured one and each curve begins at one of `starts`.
    pub(super) fn end(self, measured: f64, starts: impl Iterator<Item = f64>) -> f64 {
        match self {
            Self::Times(times) => times * starts.fold(measured, f64::max),
            Self::All => f64::INFINITY,
        }
    }
}

/// The line through `places` as far as both of its coordinates are at most those of `ends`, with gaps for what is beyond.
pub(super) fn within(places: &[Place], ends: Place) -> Vec<Option<Place>> {
    let mut out: Vec<Option<Place>> = Vec::new();
    for pair in places.windows(2) {
        let [from, to] = pair else { continue };
        let along = |part: f64| (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
        let (first, last) = shared(inside(from.0, to.0, ends.0), inside(from.1, to.1, ends.1));
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

/// Which part of the way `from` one value `to` another is at most `end`.
fn inside(from: f64, to: f64, end: f64) -> (f64, f64) {
    let crossing = || (end - from) / (to - from);
    match (from <= end, to <= end) {
        (true, true) => (0.0, 1.0),
        (true, false) => (0.0, crossing()),
        (false, true) => (crossing(), 1.0),
        (false, false) => (0.0, 0.0),
    }
}

fn shared(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0.max(b.0), a.1.min(b.1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed};

    use super::{Reach, within};

    #[test]
    fn a_line_ends_where_the_axes_do() {
        let places = [(1.0, 10.0), (2.0, 10.0), (4.0, 30.0), (6.0, 10.0)];
        let found = within(&places, (5.0, 20.0));
        let before = [None, Some((1.0, 10.0)), Some((2.0, 10.0)), Some((3.0, 20.0))];
        assert_eq!(found[..4], before);
        // It comes back at (5, 20), where the other axis ends.
        assert_eq!(found.len(), 4, "{found:?}");
        assert_eq!(within(&places, (6.0, 30.0)).len(), 5);
    }

    #[test]
    fn curves_are_followed_a_little_beyond_what_was_measured() {
        assert_eq!(Reach::Times(3.0).end(2.0, [0.5].into_iter()), 6.0);
        // Where nothing comes near them, they are there still.
        assert_eq!(Reach::Times(3.0).end(0.01, [0.5, 4.0].into_iter()), 12.0);
        assert_eq!(Reach::All.end(2.0, std::iter::empty()), f64::INFINITY);
    }

    proptest! {
        #![proptest_config(Config {
            rng_seed: RngSeed::Fixed(1849),
            failure_persistence: None,
            ..Config::default()
        })]
        #[test]
        fn nothing_is_beyond_and_nothing_inside_is_lost(
            places in prop::collection::vec((0.0..10.0_f64, 0.0..10.0_f64), 2..20),
            ends in (0.0..10.0_f64, 0.0..10.0_f64),
        ) {
            let found = within(&places, ends);
            for place in found.iter().flatten() {
                prop_assert!(place.0 <= ends.0 + 1e-9 && place.1 <= ends.1 + 1e-9, "{place:?}");
            }
            for place in places.iter().filter(|place| place.0 < ends.0 && place.1 < ends.1) {
                prop_assert!(found.contains(&Some(*place)), "{place:?}");
            }
        }
    }
}
