//! How many digits of a number people are shown: the same in every place.

/// One value by itself, with about three significant digits. A value that is not a number is shown as `-`.
#[must_use]
pub fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:.0$}", decimals(value)) } else { "-".to_owned() }
}

/// How many decimals suit a positive value: about three significant digits and no more than two decimals, but enough
/// that a small value is not shown as zero.
#[must_use]
pub fn decimals(value: f64) -> usize {
    match value.abs() {
        v if v > 0.0 && v < 0.009_95 => 4,
        v if v > 0.0 && v < 0.099_5 => 3,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    }
}
