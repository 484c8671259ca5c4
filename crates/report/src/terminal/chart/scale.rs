//! Axes of a text chart: where a value lies between the ends, and the round values that are named.

use crate::round::round_above;
use fizeau_record::text::supported;

/// An axis from its first mark to its last.
#[derive(Debug)]
pub(super) struct Ticks {
    values: Vec<f64>,
    labels: Vec<String>,
    is_log: bool,
}

/// From zero to the first round value at or above `most`.
pub(super) fn linear(most: f64) -> Ticks {
    let step = round_above(most / 4.0);
    let count = (most / step - 1e-9).ceil().max(1.0) as u32;
    let values: Vec<f64> = (0..=count).map(|k| step * f64::from(k)).collect();
    let labels = values.iter().map(|value| label(*value, step)).collect();
    Ticks { values, labels, is_log: false }
}

/// From the last 1, 2 or 5 times a power of ten at or below `least` to the first at or above `most`, both above zero. At least
/// two marks.
pub(super) fn logarithmic(least: f64, most: f64) -> Ticks {
    let mut decade = 10_f64.powf(least.log10().floor());
    let mut values: Vec<f64> = Vec::new();
    'all: loop {
        for factor in [1.0, 2.0, 5.0] {
            let value = factor * decade;
            // The greatest at or below the least value is the first.
            if value <= least * (1.0 + 1e-9) {
                values.clear();
            }
            values.push(value);
            if value >= most * (1.0 - 1e-9) && values.len() > 1 {
                break 'all;
            }
        }
        decade *= 10.0;
    }
    let labels = values.iter().map(|value| trimmed(&supported(*value, None))).collect();
    Ticks { values, labels, is_log: true }
}

impl Ticks {
    /// Where `value` lies: 0 at the first mark, 1 at the last.
    pub(super) fn share(&self, value: f64) -> f64 {
        let of = |value: f64| if self.is_log { value.ln() } else { value };
        let (Some(first), Some(last)) = (self.values.first(), self.values.last()) else {
            return 0.0;
        };
        ((of(value) - of(*first)) / (of(*last) - of(*first))).clamp(0.0, 1.0)
    }

    /// Each mark's place and name.
    pub(super) fn marks(&self) -> Vec<(f64, &str)> {
        let places = self.values.iter().map(|value| self.share(*value));
        places.zip(self.labels.iter().map(String::as_str)).collect()
    }
}

/// With as many decimals as the step between marks needs.
fn label(value: f64, step: f64) -> String {
    let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.decimals$}")
}

/// Without zeros behind the point.
fn trimmed(label: &str) -> String {
    let is_whole = !label.contains('.');
    let short = label.trim_end_matches('0').trim_end_matches('.');
    if is_whole { label.to_owned() } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{linear, logarithmic};

    #[test]
    fn marks_are_round_and_enclose_what_is_drawn() {
        let names = |ticks: &super::Ticks| -> Vec<String> {
            ticks.marks().iter().map(|(_, label)| (*label).to_owned()).collect()
        };
        assert_eq!(names(&logarithmic(216.0, 1191.0)), ["200", "500", "1000", "2000"]);
        assert_eq!(names(&logarithmic(0.2, 0.2)), ["0.2", "0.5"]);
        assert_eq!(names(&linear(85.2)), ["0", "50", "100"]);
        assert_eq!(names(&linear(0.08)), ["0.00", "0.02", "0.04", "0.06", "0.08"]);
    }

    proptest! {
        #![proptest_config(crate::testing::cases())]
        #[test]
        fn an_axis_is_short_rises_and_holds_all(
            least in 1e-4_f64..1e6,
            factor in 1.0_f64..1e4,
            inside in 0.0_f64..1.0,
        ) {
            let most = least * factor;
            for ticks in [logarithmic(least, most), linear(most)] {
                let marks = ticks.marks();
                prop_assert!((2..20).contains(&marks.len()), "{:?}", marks);
                prop_assert!(marks.windows(2).all(|two| two[0].0 < two[1].0), "{:?}", marks);
                let value = least + inside * (most - least);
                let share = ticks.share(value);
                prop_assert!((0.0..=1.0).contains(&share));
                prop_assert!(ticks.share(least) <= share && share <= ticks.share(most));
            }
        }
    }
}
