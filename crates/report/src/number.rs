//! Numbers for people: as many digits as mean something, the same in every place.

/// How many decimals suit a positive value: about three significant digits and no more than two decimals, but enough
/// that a small value is not shown as zero.
pub(crate) fn decimals(value: f64) -> usize {
    match value.abs() {
        v if v > 0.0 && v < 0.009_95 => 4,
        v if v > 0.0 && v < 0.099_5 => 3,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    }
}

/// One value by itself, with about three significant digits. A value that is not a number is shown as `-`.
pub(crate) fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:.0$}", decimals(value)) } else { "-".to_owned() }
}

/// How many decimals suit a column: enough for its smallest value other than zero, less where the greatest is
/// so long that the digits would crowd.
pub(crate) fn column_decimals(values: impl IntoIterator<Item = f64>) -> usize {
    let (mut least, mut greatest) = (f64::INFINITY, 0.0_f64);
    for value in values.into_iter().map(f64::abs).filter(|v| *v > 0.0) {
        least = least.min(value);
        greatest = greatest.max(value);
    }
    let crowded = [1e3, 1e5].iter().filter(|&&limit| greatest >= limit).count();
    decimals(least).saturating_sub(crowded)
}

/// Milliseconds in the unit that a person would choose: `0.85 ms`, `12.5 ms`, `1148 ms`, `12.0 s`.
pub(crate) fn duration_ms(ms: f64) -> String {
    if ms.abs() < 1e4 { format!("{} ms", number(ms)) } else { format!("{} s", number(ms / 1e3)) }
}

/// A share as a percentage: `58 %`, `0.31 %`.
pub(crate) fn percent(share: f64) -> String {
    match share * 100.0 {
        p if !p.is_finite() => "-".to_owned(),
        p if p == 0.0 || p.abs() >= 9.95 => format!("{p:.0} %"),
        p if p.abs() >= 0.995 => format!("{p:.1} %"),
        p if p > 0.0 && p < 0.005 => "under 0.01 %".to_owned(),
        p => format!("{p:.2} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::{column_decimals, duration_ms, number, percent};

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
}
