//! Axes that plotters draws by: linear, by ratio, and one that spreads a distribution's tail.

use std::ops::Range;

use plotters::coord::ranged1d::{
    KeyPointHint, KeyPointWeight, NoDefaultFormatting, Ranged, ValueFormatter,
};

use super::ticks;

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AxisScale {
    /// Equal differences take equal room.
    Linear,
    /// Equal ratios take equal room; for values above zero.
    Log,
    /// Each nine takes equal room; for shares from 0 to below 1.
    Tail,
}

impl AxisScale {
    /// The one that suits positive values: linear from zero, unless they span so much that the small ones would be one dot.
    pub(super) fn suited(values: &[f64]) -> Self {
        let positive = values.iter().copied().filter(|v| *v > 0.0);
        let (low, high) =
            positive.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        if high > 15.0 * low { Self::Log } else { Self::Linear }
    }

    fn along(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log => value.ln(),
            Self::Tail => -(1.0 - value).log10(),
        }
    }
}

/// An axis with its marks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    spread: AxisScale,
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// The axis that suits `values`, for about `steps` steps: from zero where it is linear.
    pub(super) fn suited(values: &[f64], steps: usize) -> Self {
        Self::of(AxisScale::suited(values), values, steps)
    }

    /// An axis that holds the positive ones of `values`, and zero where it is linear. What has no span is widened, so that every
    /// value has a place.
    pub(super) fn of(spread: AxisScale, values: &[f64], steps: usize) -> Self {
        let known = || values.iter().copied().filter(|v| v.is_finite() && *v > 0.0);
        let high = known().fold(0.0, f64::max);
        let (low, high) = match spread {
            _ if high <= 0.0 => (0.0, 1.0),
            AxisScale::Log => (known().fold(f64::INFINITY, f64::min), high),
            AxisScale::Linear | AxisScale::Tail => (0.0, high),
        };
        let spread = if low > 0.0 { spread } else { AxisScale::Linear };
        let (low, high) = match spread {
            AxisScale::Log if high <= low => ticks::rounded(spread, (low / 2.0, high * 2.0), steps),
            _ => ticks::rounded(spread, (low, high), steps),
        };
        let ticks = ticks::ticks(spread, (low, high), steps);
        let ticks = ticks.into_iter().map(|value| (value, ticks::label(value))).collect();
        Self { spread, low, high, ticks }
    }

    /// The axis for values that may all be nearly one, as lengths of prompts are: then it holds them with a tenth of room around.
    pub(super) fn around(values: &[f64], steps: usize) -> Self {
        let positive = || values.iter().copied().filter(|v| v.is_finite() && *v > 0.0);
        let (low, high) =
            (positive().fold(f64::INFINITY, f64::min), positive().fold(0.0, f64::max));
        if high <= 0.0 || high > 2.0 * low {
            return Self::suited(values, steps);
        }
        Self::linear(ticks::rounded(AxisScale::Linear, (0.9 * low, 1.1 * high), steps), steps)
    }

    /// Sizes in bytes, by ratio, from a power of two to another: `32 KiB`.
    pub(super) fn sizes(values: &[f64], steps: usize) -> Self {
        let known = || values.iter().copied().filter(|v| v.is_finite() && *v >= 1.0);
        let least = known().fold(f64::INFINITY, f64::min).min(known().fold(1.0, f64::max));
        let from = least.log2().floor() as i32;
        let to = (known().fold(2.0, f64::max).log2().ceil() as i32).max(from + 1);
        let every = ((to - from) as usize).div_ceil(steps.max(1)).max(1);
        let ticks = (from..=to).step_by(every).map(|power| 2_f64.powi(power));
        let ticks = ticks.map(|bytes| (bytes, ticks::size(bytes))).collect();
        Self { spread: AxisScale::Log, low: 2_f64.powi(from), high: 2_f64.powi(to), ticks }
    }

    /// Whole numbers from zero, with half of one to spare.
    pub(super) fn counts(values: &[f64], steps: usize) -> Self {
        let known = values.iter().copied().filter(|v| v.is_finite());
        let mut axis = Self::linear((0.0, known.fold(1.0, f64::max) + 0.5), steps);
        axis.ticks.retain(|(value, _)| value.fract() == 0.0);
        axis
    }

    fn linear((low, high): (f64, f64), steps: usize) -> Self {
        let ticks = ticks::ticks(AxisScale::Linear, (low, high), steps);
        let ticks = ticks.into_iter().map(|value| (value, ticks::label(value))).collect();
        Self { spread: AxisScale::Linear, low, high, ticks }
    }

    /// Time from zero to just `end`: a timeline fills its panel.
    pub(super) fn seconds(end: f64, steps: usize) -> Self {
        let end = if end.is_finite() && end > 0.0 { end } else { 1.0 };
        Self::linear((0.0, end), steps)
    }

    /// Shares of a distribution up to `most`, below 1: 50 %, 90 %, 99 %, each nine as far from the next.
    pub(super) fn shares(most: f64) -> Self {
        let high = if most.is_finite() { most.clamp(0.99, 0.99999) } else { 0.99 };
        let marks = [(0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %")];
        let marks = marks.into_iter().chain([(0.9999, "99.99 %")]).filter(|mark| mark.0 <= high);
        let ticks = marks.map(|(share, label)| (share, label.to_owned())).collect();
        Self { spread: AxisScale::Tail, low: 0.0, high, ticks }
    }

    /// Where it begins, above zero where it is not linear, and where it ends.
    pub(super) const fn ends(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// The marks: values and what to write there.
    pub(super) fn ticks(&self) -> &[(f64, String)] {
        &self.ticks
    }

    /// Keeps the labels that have `gap` between them on an axis of `length`, all of one unit, by their widths; the marks stay.
    pub(super) fn thinned(mut self, length: f64, gap: f64, width: impl Fn(&str) -> f64) -> Self {
        let mut free_from = f64::NEG_INFINITY;
        let places: Vec<f64> = self.ticks.iter().map(|tick| self.part(tick.0) * length).collect();
        for ((_, label), at) in self.ticks.iter_mut().zip(places) {
            let half = width(label) / 2.0;
            if at - half < free_from {
                label.clear();
            } else {
                free_from = at + half + gap;
            }
        }
        self
    }

    /// How far along a value lies, 0 to 1; one beyond the axis lies on its end.
    pub(super) fn part(&self, value: f64) -> f64 {
        let [low, high, at] = [self.low, self.high, value].map(|v| self.spread.along(v));
        let part = (at - low) / (high - low);
        // A value that is not a number has no place; the low end is as good as any and keeps the drawing well-formed.
        if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        from + (self.part(*value) * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight() {
            KeyPointWeight::Bold => self.ticks.iter().map(|tick| tick.0).collect(),
            KeyPointWeight::Any => Vec::new(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let of = self.ticks.iter().find(|(at, _)| at == value);
        of.map(|(_, label)| label.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, AxisScale};

    #[test]
    fn ends_and_middle_are_where_they_should_be() {
        let linear = Axis::of(AxisScale::Linear, &[3.0, 10.0], 5);
        assert_eq!([0.0, 5.0, 10.0].map(|v| linear.part(v)), [0.0, 0.5, 1.0]);
        let log = Axis::of(AxisScale::Log, &[1.0, 100.0], 5);
        assert_eq!([1.0, 10.0, 100.0].map(|v| log.part(v)), [0.0, 0.5, 1.0]);
        let tail = Axis::shares(0.9999);
        let parts = [0.0, 0.9, 0.99, 0.9999].map(|v| (tail.part(v) * 1e6).round() / 1e6);
        assert_eq!(parts, [0.0, 0.25, 0.5, 1.0]);
    }

    #[test]
    fn nothing_leaves_the_axis() {
        for values in [&[][..], &[0.0], &[5.0], &[1.0, 2.0], &[1e-12, 1e300], &[f64::NAN, 3.0]] {
            let own = [Axis::suited(values, 8), Axis::of(AxisScale::Log, values, 8)];
            let other = [Axis::around(values, 8), Axis::shares(0.5), Axis::seconds(0.0, 5)];
            for axis in own.into_iter().chain(other) {
                for value in [f64::NAN, f64::INFINITY, -1.0, 0.0, 0.5, 1.0, 1e300] {
                    assert!((0.0..=1.0).contains(&axis.part(value)), "{axis:?} {value}");
                }
            }
        }
    }

    #[test]
    fn sizes_are_powers_of_two_and_counts_are_whole() {
        let sizes = Axis::sizes(&[3000.0, 2e6], 5);
        assert_eq!(sizes.ends(), [2048.0, 2_097_152.0]);
        let labels: Vec<&str> = sizes.ticks().iter().map(|tick| tick.1.as_str()).collect();
        assert_eq!(labels, ["2 KiB", "8 KiB", "32 KiB", "128 KiB", "512 KiB", "2 MiB"]);
        let counts = Axis::counts(&[1.0, 2.0], 8);
        let labels: Vec<&str> = counts.ticks().iter().map(|tick| tick.1.as_str()).collect();
        assert_eq!((counts.ends(), labels.as_slice()), ([0.0, 2.5], ["0", "1", "2"].as_slice()));
        for values in [&[][..], &[f64::NAN], &[0.0], &[7.0]] {
            for axis in [Axis::sizes(values, 5), Axis::counts(values, 5)] {
                assert!(axis.part(1.0).is_finite() && axis.ends()[0] < axis.ends()[1], "{axis:?}");
            }
        }
    }

    #[test]
    fn lengths_that_are_nearly_one_lie_in_the_middle() {
        let one = Axis::around(&[1000.0, 1000.0], 8);
        assert_eq!((one.ends(), one.part(1000.0)), ([900.0, 1100.0], 0.5));
        let two = Axis::around(&[1000.0, 1040.0], 8);
        assert!(two.part(1000.0) > 0.2 && two.part(1040.0) < 0.8, "{two:?}");
        assert_eq!(Axis::around(&[100.0, 1000.0], 8).ends(), [0.0, 1000.0]);
    }

    #[test]
    fn a_wide_span_is_spread_by_ratio() {
        assert_eq!(AxisScale::suited(&[1.0, 14.0]), AxisScale::Linear);
        assert_eq!(AxisScale::suited(&[1.0, 16.0]), AxisScale::Log);
        assert_eq!(AxisScale::suited(&[]), AxisScale::Linear);
    }

    #[test]
    fn labels_that_would_touch_are_left_out() {
        let axis = Axis::of(AxisScale::Log, &[1.0, 1000.0], 12)
            .thinned(90.0, 2.0, |label| label.len() as f64 * 10.0);
        let labels: Vec<&str> = axis.ticks().iter().map(|tick| tick.1.as_str()).collect();
        assert_eq!(labels, ["1", "", "5", "", "20", "", "", "200", "", ""]);
    }
}
