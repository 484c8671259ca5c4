//! A rate that goes up and down as a sine does.

use std::f64::consts::{PI, TAU};

/// The rate mean (1 + swing sin(2 pi t / period)), and the instant found last, from which the next is not far.
#[derive(Debug)]
pub(super) struct Wave {
    /// Requests in a period.
    whole: f64,
    swing: f64,
    period: f64,
    last: Found,
}

/// A solution, in periods.
#[derive(Debug, Clone, Copy)]
struct Found {
    /// The area, in that of a whole period.
    area: f64,
    at: f64,
    /// The rate there, as a share of the mean.
    rate: f64,
}

impl Wave {
    pub(super) const fn new(mean: f64, swing: f64, period: f64) -> Self {
        let last = Found { area: 0.0, at: 0.0, rate: 1.0 };
        Self { whole: mean * period, swing, period, last }
    }

    pub(super) fn reaches(&mut self, area: f64) -> f64 {
        let area = area / self.whole;
        let complete = area.floor();
        let guess = self.last.at + (area - self.last.area) / self.last.rate;
        let (share, rate) = self.share(area - complete, guess - complete);
        self.last = Found { area, at: complete + share, rate };
        self.last.at * self.period
    }

    /// The share of a period, from 0 to 1, after which the share `part` of its requests has come: the x of
    ///
    /// x + swing (1 - cos(2 pi x)) / (2 pi) = part,
    ///
    /// and the rate close to it. This is Kepler's equation; the left side never falls. By Newton's steps, or halving where
    /// one would leave the bracket: at the bottom of a full swing, where the rate is 0, the steps alone would go astray.
    fn share(&self, part: f64, guess: f64) -> (f64, f64) {
        // Closer than this no instant of a period is told from its neighbours.
        const CLOSE: f64 = 1e-16;
        let mut low = (part - self.swing / PI).max(0.0);
        let mut high = part;
        let mut x = if (low..=high).contains(&guess) { guess } else { high };
        let mut rate = 1.0;
        // Halving alone is done in 53 steps. From a near guess one of Newton's is enough, else they are about five.
        for _ in 0..100 {
            let (sin, cos) = libm::sincos(TAU * x);
            rate = 1.0 + self.swing * sin;
            let over = x + self.swing * (1.0 - cos) / TAU - part;
            if over > 0.0 {
                high = x;
            } else {
                low = x;
            }
            let step = -over / rate;
            if !(low..=high).contains(&(x + step)) {
                x = low + 0.5 * (high - low);
                continue;
            }
            x += step;
            // What a step leaves is at most its square times half the curvature, 2 pi, over the slope, the rate.
            if step.abs() <= CLOSE || PI * step * step <= CLOSE * rate {
                break;
            }
        }
        (x, rate)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_area_at_the_share_is_the_part(
            part in 0.0..1.0, swing in 0.0..=1.0, guess in -1.0..2.0,
        ) {
            let (x, _) = Wave::new(1.0, swing, 1.0).share(part, guess);
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
        assert!((wave.share(bottom, bottom).0 - 0.75).abs() < 1e-5);
        assert_eq!(wave.share(0.0, 0.5).0, 0.0);
    }
}
