//! A rate that goes up and down as a sine does.

use std::f64::consts::{PI, TAU};

/// The rate mean (1 + swing sin(2 pi t / period)).
#[derive(Debug)]
pub(super) struct Wave {
    /// Requests in a period.
    whole: f64,
    swing: f64,
    period: f64,
}

impl Wave {
    pub(super) fn new(mean: f64, swing: f64, period: f64) -> Self {
        Self { whole: mean * period, swing, period }
    }

    pub(super) fn reaches(&self, area: f64) -> f64 {
        let periods = area / self.whole;
        let complete = periods.floor();
        (complete + self.share(periods - complete)) * self.period
    }

    /// The share of a period, from 0 to 1, after which the share `part` of its requests has come: the x of
    ///
    /// x + swing (1 - cos(2 pi x)) / (2 pi) = part.
    ///
    /// This is Kepler's equation; the left side never falls. By Newton's steps, or halving where one would leave the bracket:
    /// at the bottom of a full swing, where the rate is 0, the steps alone would go astray.
    fn share(&self, part: f64) -> f64 {
        // Closer than this no instant of a period is told from its neighbours.
        const CLOSE: f64 = 1e-16;
        let mut low = (part - self.swing / PI).max(0.0);
        let mut high = part;
        let mut x = high;
        // Halving alone is done in 53 steps; Newton's take about five.
        for _ in 0..100 {
            let (sin, cos) = libm::sincos(TAU * x);
            let over = x + self.swing * (1.0 - cos) / TAU - part;
            if over > 0.0 {
                high = x;
            } else {
                low = x;
            }
            let newton = x - over / (1.0 + self.swing * sin);
            let inside = (low..=high).contains(&newton);
            let next = if inside { newton } else { low + 0.5 * (high - low) };
            if (next - x).abs() <= CLOSE {
                return next;
            }
            x = next;
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_area_at_the_share_is_the_part(part in 0.0..1.0, swing in 0.0..=1.0) {
            let x = Wave::new(1.0, swing, 1.0).share(part);
            prop_assert!((0.0..=1.0).contains(&x));
            let area = x + swing * (1.0 - (TAU * x).cos()) / TAU;
            prop_assert!((area - part).abs() < 1e-15, "{area} for {part}");
        }
    }

    #[test]
    fn a_full_swing_stands_still_at_three_quarters() {
        let wave = Wave::new(1.0, 1.0, 1.0);
        let bottom = 0.75 + 1.0 / TAU;
        // A cubic: what the area has of error comes out as its cube root.
        assert!((wave.share(bottom) - 0.75).abs() < 1e-5);
        assert_eq!(wave.share(0.0), 0.0);
    }
}
