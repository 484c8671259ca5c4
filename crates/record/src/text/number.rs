//! Numbers for people: as many digits as mean something, the same in every place.

use fizeau_core::number::{decimals, number};

/// One value with five digits, so that figures that are close to each other can be told apart.
pub fn five_digits(value: f64) -> String {
    let before_the_point = if value == 0.0 { 1.0 } else { value.abs().log10().floor() + 1.0 };
    let decimals = (5.0 - before_the_point).clamp(0.0, 6.0) as usize;
    format!("{value:.decimals$}")
}

/// One value with the digits that its 95 % interval supports: down to the first figure of the interval's half width, two
/// digits at least and four at most; three where there is no interval. `1234.6` with 1195 to 1275 is `1230`. A value that
/// is not a number is shown as `-`.
pub fn supported(value: f64, interval: Option<(f64, f64)>) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let own = magnitude(value);
    let last = match interval.map(|(low, high)| (high - low).abs() / 2.0) {
        Some(half) if half.is_finite() => magnitude(half).clamp(own - 3, own - 1),
        Some(_) => own - 1,
        None => own - 2,
    };
    to_place(value, last)
}

/// Half the width of a value's 95 % interval, rounded to the digit that [`supported`] rounds the value to, or to its own first
/// one where that is smaller, down to the sixth digit of the value. What is less than that is what sums leave: `0`.
pub fn half_width(value: f64, (low, high): (f64, f64)) -> String {
    let half = (high - low).abs() / 2.0;
    if !half.is_finite() || !value.is_finite() {
        return "-".to_owned();
    }
    let (own, of_value) = (magnitude(half), magnitude(value));
    match value {
        0.0 => to_place(half, own),
        _ if half < 0.5 * 10_f64.powi(of_value - 5) => "0".to_owned(),
        _ => to_place(half, own.clamp(of_value - 5, of_value - 1)),
    }
}

/// The power of ten of a value's first digit: 2 of 345, -2 of 0.012. Nothing is of the smallest power there is.
fn magnitude(value: f64) -> i32 {
    match value.abs() {
        // Shown as `0`, with nothing behind the point.
        0.0 => i32::from(i16::MIN),
        // The exponent as it is written, for which rounding of a logarithm cannot be wrong.
        v => format!("{v:e}").split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0),
    }
}

/// A value rounded to a power of ten.
fn to_place(value: f64, place: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if place <= 0 {
        // More than this is a figure of no use, and would be a line of zeros.
        let decimals = usize::try_from(-place).unwrap_or(0).min(12);
        return format!("{value:.decimals$}");
    }
    let unit = 10_f64.powi(place);
    format!("{:.0}", (value / unit).round() * unit)
}

/// How many decimals suit a column: enough for its smallest value other than zero, less where the greatest is
/// so long that the digits would crowd.
pub fn column_decimals(values: impl IntoIterator<Item = f64>) -> usize {
    let (mut least, mut greatest) = (f64::INFINITY, 0.0_f64);
    for value in values.into_iter().map(f64::abs).filter(|v| *v > 0.0) {
        least = least.min(value);
        greatest = greatest.max(value);
    }
    let crowded = [1e3, 1e5].iter().filter(|&&limit| greatest >= limit).count();
    decimals(least).saturating_sub(crowded)
}

/// Milliseconds in the unit that a person would choose: `0.85 ms`, `12.5 ms`, `1148 ms`, `12.0 s`.
pub fn duration_ms(ms: f64) -> String {
    if ms.abs() < 1e4 { format!("{} ms", number(ms)) } else { format!("{} s", number(ms / 1e3)) }
}

/// A share as a percentage: `58 %`, `0.31 %`. Only all of it is `100 %`.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        p if !p.is_finite() => "-".to_owned(),
        p if (p - 100.0).abs() < 0.5 + ROUNDING => near_all(p),
        p if p == 0.0 || p.abs() >= 9.95 => format!("{p:.0} %"),
        p if p.abs() >= 0.995 => format!("{p:.1} %"),
        p if p > 0.0 && p < 0.005 => "under 0.01 %".to_owned(),
        p => format!("{p:.2} %"),
    }
}

/// Less than this is left by sums of shares.
const ROUNDING: f64 = 1e-9;

/// With as many decimals, up to two, as tell it from all.
fn near_all(percent: f64) -> String {
    let mut shown = (0..=2).map(|decimals| format!("{percent:.decimals$}"));
    let apart = shown.find(|shown| shown.trim_end_matches(['0', '.']) != "1");
    match apart {
        _ if (percent - 100.0).abs() < ROUNDING => "100 %".to_owned(),
        Some(apart) => format!("{apart} %"),
        None if percent < 100.0 => "over 99.99 %".to_owned(),
        None => "over 100 %".to_owned(),
    }
}

/// A value to four digits, without zeros at its end.
#[must_use]
pub fn four_digits(value: f64) -> String {
    let decimals = (3.0 - value.abs().log10().floor()).clamp(0.0, 12.0);
    let text = format!("{value:.0$}", if decimals.is_finite() { decimals as usize } else { 0 });
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{column_decimals, duration_ms, half_width, number, percent, supported};
    use proptest::prelude::*;

    #[test]
    fn three_digits_and_no_more() {
        let shown: Vec<String> = [0.0, 0.123, 9.99, 9.999, 12.34, 99.97, 1148.2].map(number).into();
        assert_eq!(shown, ["0.00", "0.12", "9.99", "10.0", "12.3", "100", "1148"]);
        assert_eq!(number(f64::NAN), "-");
        // A slow server is not one that stands still.
        assert_eq!([0.05, 0.004, 0.0004].map(number), ["0.050", "0.0040", "0.0004"]);
    }

    #[test]
    fn a_column_has_the_decimals_of_its_smallest_value_until_it_is_crowded() {
        assert_eq!(column_decimals([5.0, 20.0]), 2);
        assert_eq!(column_decimals([5.0, 2000.0]), 1);
        assert_eq!(column_decimals([5.0, 200_000.0]), 0);
        assert_eq!(column_decimals([0.0, 120.0]), 0);
        assert_eq!(column_decimals([0.004, 0.5]), 4);
    }

    #[test]
    fn units_follow_the_size() {
        assert_eq!(duration_ms(1148.2), "1148 ms");
        assert_eq!(duration_ms(12_000.0), "12.0 s");
        assert_eq!(percent(0.581), "58 %");
        assert_eq!(percent(0.0031), "0.31 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.000_04), "under 0.01 %");
    }

    /// Of 1000 requests 4 that missed a goal are not none.
    #[test]
    fn only_all_of_it_is_a_hundred_percent() {
        let shown = [0.994, 0.995, 0.996, 0.999_6, 0.999_96, 1.0, 0.3 + 0.6 + 0.1, 1.004, 1.000_4];
        let expected = [
            "99 %",
            "99.5 %",
            "99.6 %",
            "99.96 %",
            "over 99.99 %",
            "100 %",
            "100 %",
            "100.4 %",
            "100.04 %",
        ];
        assert_eq!(shown.map(percent), expected);
        assert_eq!([1.000_004, 1.006].map(percent), ["over 100 %", "101 %"]);
    }

    #[test]
    fn digits_are_those_that_the_interval_supports() {
        let around = |value: f64, half: f64| supported(value, Some((value - half, value + half)));
        assert_eq!(around(1234.567, 40.0), "1230");
        assert_eq!(around(1234.567, 0.01), "1235", "four digits at most");
        assert_eq!(around(1234.567, 4000.0), "1200", "two at least");
        assert_eq!(around(18.94, 0.04), "18.94");
        assert_eq!(around(18.94, 0.4), "18.9");
        assert_eq!(around(0.018_94, 0.002), "0.019");
        assert_eq!(around(-345.6, 3.0), "-346");
        assert_eq!(around(0.0, 3.0), "0");
        // One that is exact has what four digits show.
        assert_eq!(around(85.2, 0.0), "85.20");
        assert_eq!(supported(1148.2, None), "1150");
        assert_eq!(supported(0.012_345, None), "0.0123");
        assert_eq!(supported(f64::NAN, None), "-");
        assert_eq!(supported(12.3, Some((f64::NAN, 13.0))), "12");
        let half = |value: f64, half: f64| half_width(value, (value - half, value + half));
        assert_eq!([half(1234.6, 43.0), half(18.94, 0.044)], ["40", "0.04"]);
        assert_eq!([half(85.2, 0.0), half(0.0, 3.0)], ["0", "3"]);
        // What is left of a sum of equal values is no width.
        assert_eq!([half(85.2, 1e-14), half(85.2, 0.000_4)], ["0", "0.0004"]);
        assert_eq!(
            [half(85.2, 0.000_06), half(1.2e6, 0.7), half(1.2e6, 7.0)],
            ["0.0001", "0", "10"]
        );
        assert_eq!(half(0.012, 1e-9), "0");
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            rng_seed: proptest::test_runner::RngSeed::Fixed(1849),
            ..ProptestConfig::default()
        })]
        #[test]
        fn what_is_shown_lies_within_half_of_the_last_digit_that_is_supported(
            value in 1e-6_f64..1e9,
            share in 1e-3_f64..0.3,
        ) {
            let half = value * share;
            let shown: f64 = supported(value, Some((value - half, value + half))).parse().unwrap();
            // The first figure of the half width is at most the half width itself.
            prop_assert!((shown - value).abs() <= half.max(value * 0.05) * 0.500_001, "{} {}", value, shown);
        }
    }
}
