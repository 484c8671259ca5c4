//! Round values along an axis: 1, 2 and 5 times a power of ten.

use super::axis::AxisScale;
use crate::round::round_above;

/// A domain that begins and ends on a round value and holds `low` to `high`, for about `steps` steps.
pub(super) fn rounded(spread: AxisScale, (low, high): (f64, f64), steps: usize) -> (f64, f64) {
    match spread {
        AxisScale::Linear => {
            let step = step(high - low, steps);
            ((low / step).floor() * step, (high / step).ceil() * step)
        }
        AxisScale::Log if low > 0.0 => (below(low), round_above(high)),
        AxisScale::Log | AxisScale::Tail => (low, high),
    }
}

/// The round values within a domain, about `steps` of them, ascending.
pub(super) fn ticks(spread: AxisScale, (low, high): (f64, f64), steps: usize) -> Vec<f64> {
    if spread != AxisScale::Log {
        let step = step(high - low, steps);
        let first = (low / step - 1e-9).ceil() as i64;
        let last = (high / step + 1e-9).floor() as i64;
        return (first..=last).map(|k| k as f64 * step).collect();
    }
    let decades = (high / low).log10();
    let factors: &[f64] =
        if decades * 3.0 <= steps as f64 + 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    // Where even the powers of ten are too many, every second or third of them.
    let every = (decades / (steps as f64 + 2.0)).ceil().max(1.0) as usize;
    let from = low.log10().floor() as i32;
    let to = high.log10().ceil() as i32;
    let value = |e: i32| factors.iter().map(move |f| f * 10_f64.powi(e));
    let within = |v: &f64| *v >= low * (1.0 - 1e-9) && *v <= high * (1.0 + 1e-9);
    (from..=to).step_by(every).flat_map(value).filter(within).collect()
}

/// A tick's label: no more digits than tell it from its neighbours, thousands as `k`, millions as `M`.
pub(super) fn label(value: f64) -> String {
    let trimmed = |v: f64| {
        let text = format!("{v:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    match value.abs() {
        0.0 => "0".to_owned(),
        size if !(1e-3..1e9).contains(&size) => format!("{value:.0e}"),
        size if size >= 1e6 => format!("{}M", trimmed(value / 1e6)),
        size if size >= 1e4 => format!("{}k", trimmed(value / 1e3)),
        _ => trimmed(value),
    }
}

/// `32 KiB`: a size that is a power of two.
pub(super) fn size(bytes: f64) -> String {
    let (mut value, mut unit) = (bytes, "B");
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, larger);
    }
    format!("{value} {unit}")
}

/// The round step that cuts `span` into about `steps` parts.
fn step(span: f64, steps: usize) -> f64 {
    let raw = span / steps.max(1) as f64;
    if !(raw.is_finite() && raw > 0.0) {
        return 1.0;
    }
    round_above(raw)
}

/// The greatest round value that is at most `value`.
fn below(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let fits = |f: &f64| f * power <= value * (1.0 + 1e-9);
    [5.0, 2.0, 1.0].into_iter().find(fits).unwrap_or(1.0) * power
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{AxisScale, label, rounded, ticks};

    #[test]
    fn the_steps_are_round() {
        let domain = rounded(AxisScale::Linear, (0.0, 38.2), 8);
        assert_eq!(domain, (0.0, 40.0));
        let found = ticks(AxisScale::Linear, domain, 8);
        assert_eq!(found, [0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0]);
        let found = ticks(AxisScale::Log, rounded(AxisScale::Log, (13.0, 900.0), 8), 8);
        assert_eq!(found, [10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]);
    }

    #[test]
    fn labels_are_short() {
        let shown = [0.0, 0.25, 5.0, 2500.0, 12_500.0, 3e6, 2e-7].map(label);
        assert_eq!(shown, ["0", "0.25", "5", "2500", "12.5k", "3M", "2e-7"]);
    }

    proptest! {
        #![proptest_config(crate::testing::cases())]
        #[test]
        fn few_ascending_and_inside(
            low in -9.0..9.0_f64,
            decades in 0.001..18.0_f64,
            steps in 3_usize..12,
        ) {
            let (low, times) = (10_f64.powf(low), 10_f64.powf(decades));
            for spread in [AxisScale::Linear, AxisScale::Log] {
                let (from, to) = rounded(spread, (low, low * times), steps);
                prop_assert!(from <= low * 1.001 && to >= low * times * 0.999);
                let found = ticks(spread, (from, to), steps);
                prop_assert!(found.len() <= steps + 4, "{found:?}");
                prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert!(found.iter().all(|v| *v >= from * 0.999 && *v <= to * 1.001));
            }
        }
    }
}
