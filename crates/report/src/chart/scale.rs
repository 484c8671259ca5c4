//! From a quantity to a place on the drawing.

/// How values are spread over an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spread {
    /// Equal differences take equal room.
    Linear,
    /// Equal ratios take equal room; for positive values.
    Log,
}

/// An axis: which values, on which stretch of the drawing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    spread: Spread,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Values from `low` to `high` on the stretch `from` to `to`. A stretch of values that is empty, or not
    /// positive on a logarithmic axis, is widened so that every value has a place.
    pub(crate) fn new(spread: Spread, (low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let (low, high) = match spread {
            Spread::Log if low > 0.0 && high > low => (low, high),
            Spread::Log if low > 0.0 => (low / 2.0, low * 2.0),
            Spread::Log => (1.0, 10.0),
            Spread::Linear if high > low => (low, high),
            Spread::Linear => (low, low + 1.0),
        };
        Self { spread, low, high, from, to }
    }

    /// Where `value` lies; values beyond the axis lie on its end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let part = match self.spread {
            Spread::Linear => (value - self.low) / (self.high - self.low),
            Spread::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        // A value that is not a number has no place; the low end is as good as any and keeps the drawing
        // well-formed.
        let part = if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) };
        self.from + part * (self.to - self.from)
    }

    /// The values at the two ends.
    pub(crate) const fn domain(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The stretch of the drawing.
    pub(crate) const fn range(&self) -> (f64, f64) {
        (self.from, self.to)
    }

    /// How values are spread.
    pub(crate) const fn spread(&self) -> Spread {
        self.spread
    }
}

/// The spread that suits positive values: linear from zero, unless they span so much that the small ones would
/// be one dot.
pub(crate) fn suited(values: &[f64]) -> Spread {
    let positive = values.iter().copied().filter(|v| *v > 0.0);
    let (low, high) =
        positive.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
    if high > 40.0 * low { Spread::Log } else { Spread::Linear }
}

#[cfg(test)]
mod tests {
    use super::{Scale, Spread, suited};

    #[test]
    fn ends_and_middle_are_where_they_should_be() {
        let linear = Scale::new(Spread::Linear, (0.0, 10.0), (100.0, 0.0));
        assert_eq!([0.0, 5.0, 10.0].map(|v| linear.place(v)), [100.0, 50.0, 0.0]);
        let log = Scale::new(Spread::Log, (1.0, 100.0), (0.0, 10.0));
        assert_eq!([1.0, 10.0, 100.0].map(|v| log.place(v)), [0.0, 5.0, 10.0]);
    }

    #[test]
    fn nothing_leaves_the_axis() {
        for spread in [Spread::Linear, Spread::Log] {
            for domain in [(0.0, 0.0), (5.0, 5.0), (1.0, 2.0)] {
                let scale = Scale::new(spread, domain, (0.0, 10.0));
                for value in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1.5, 1e300] {
                    assert!((0.0..=10.0).contains(&scale.place(value)), "{scale:?} {value}");
                }
            }
        }
    }

    #[test]
    fn a_wide_span_is_spread_by_ratio() {
        assert_eq!(suited(&[1.0, 39.0]), Spread::Linear);
        assert_eq!(suited(&[1.0, 41.0]), Spread::Log);
        assert_eq!(suited(&[]), Spread::Linear);
    }
}
