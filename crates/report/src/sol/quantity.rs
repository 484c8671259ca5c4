//! Quantities as a person reads them.

use fizeau_core::Seconds;
use fizeau_core::number::is_long;
use fizeau_record::text::{column_decimals, number};

/// Bytes, decimal: `131 kB`, `16.1 GB`.
pub(super) fn bytes(bytes: f64) -> String {
    scaled(bytes, "B", &["", "k", "M", "G", "T"])
}

/// A count of parameters: `596 M`, `8.03 B`.
pub(super) fn count(count: u64) -> String {
    let text = scaled(count as f64, "", &["", "k", "M", "B", "T"]);
    text.trim_end().to_owned()
}

/// A rate: `3.35 TB/s`, `989 TFLOP/s`.
pub(super) fn per_second(rate: f64, unit: &str) -> String {
    scaled(rate, unit, &["", "k", "M", "G", "T", "P"])
}

/// A value with the prefix that leaves one to four digits before the point.
fn scaled(value: f64, unit: &str, prefixes: &[&str]) -> String {
    let mut value = value;
    let mut prefixes = prefixes.iter().peekable();
    let mut prefix = prefixes.next().copied().unwrap_or_default();
    while value.abs() >= 999.5 && prefixes.peek().is_some() {
        value /= 1e3;
        prefix = prefixes.next().copied().unwrap_or_default();
    }
    let is_whole = prefix.is_empty() && value.fract() == 0.0;
    let digits = if is_whole { format!("{value:.0}") } else { number(value) };
    format!("{digits} {prefix}{unit}")
}

/// A row of a table: its name and its values, all with as many decimals as the least of them needs, and no decimals where
/// all are whole. A row in milliseconds with a value that is read in seconds is in seconds.
pub(super) fn row<T>(name: &str, values: impl Iterator<Item = T> + Clone) -> Vec<String>
where
    Option<f64>: From<T>,
{
    let values = values.map(|value| Option::from(value).filter(|value: &f64| value.is_finite()));
    let is_long = |ms: f64| is_long(Seconds::new(ms / 1e3));
    let seconds = name.strip_suffix(", ms").filter(|_| values.clone().flatten().any(is_long));
    let (name, scale) = match seconds {
        Some(name) => (format!("{name}, s"), 1e-3),
        None => (name.to_owned(), 1.0),
    };
    let values = values.map(|value| value.map(|value| value * scale));
    let finite = values.clone().flatten();
    let is_counted = finite.clone().all(|value| value.fract() == 0.0);
    let decimals = if is_counted { 0 } else { column_decimals(finite) };
    let cell = |value| match value {
        None => "none".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(value) => format!("{value:.decimals$}"),
    };
    std::iter::once(name).chain(values.map(cell)).collect()
}

#[cfg(test)]
mod tests {
    use super::{bytes, count, per_second, row};

    #[test]
    fn a_prefix_leaves_three_digits() {
        assert_eq!(
            [131_072.0, 999.0, 16.06e9, 141e9].map(bytes),
            ["131 kB", "999 B", "16.1 GB", "141 GB"]
        );
        assert_eq!([596_049_920, 8_030_261_248].map(count), ["596 M", "8.03 B"]);
        assert_eq!(per_second(9.89e14, "FLOP/s"), "989 TFLOP/s");
        assert_eq!(per_second(999.7e12, "FLOP/s"), "1.00 PFLOP/s");
    }

    #[test]
    fn values_of_a_row_have_the_same_decimals() {
        let row = row("a", [Some(7.2), Some(110.0), None].into_iter());
        assert_eq!(row, ["a", "7.20", "110.00", "none"]);
        assert_eq!(super::row("a", [7.0, 110.0].into_iter()), ["a", "7", "110"]);
    }

    #[test]
    fn a_row_of_long_times_is_in_seconds() {
        let row = |values: [f64; 2]| row("TTFT, ms", values.into_iter());
        assert_eq!(row([980.0, 342_118.7]), ["TTFT, s", "0.98", "342.12"]);
        assert_eq!(row([980.5, 9_999.0]), ["TTFT, ms", "980", "9999"]);
        assert_eq!(super::row("tokens", [20_000.0].into_iter()), ["tokens", "20000"]);
    }
}
