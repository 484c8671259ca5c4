//! How many digits of a number people are shown: the same in every place.

use crate::Seconds;

/// One value by itself, with about three significant digits. A value that is not a number is shown as `-`.
#[must_use]
pub fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:.0$}", decimals(value)) } else { "-".to_owned() }
}

/// A duration by itself: in milliseconds, and from ten seconds on in seconds.
///
/// ```
/// use fizeau_core::{Seconds, number::duration};
/// assert_eq!(duration(Seconds::new(0.0312)), "31.2 ms");
/// assert_eq!(duration(Seconds::new(342.1187)), "342 s");
/// ```
#[must_use]
pub fn duration(time: Seconds) -> String {
    match is_long(time) {
        true => format!("{} s", number(time.get())),
        false => format!("{} ms", number(time.to_millis().get())),
    }
}

/// Whether people read it in seconds rather than in milliseconds: from ten seconds on.
#[must_use]
pub fn is_long(time: Seconds) -> bool {
    time.get().abs() >= 10.0
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
