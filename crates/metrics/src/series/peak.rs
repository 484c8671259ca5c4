//! The highest rate over any short while.

use std::collections::VecDeque;

use fizeau_core::{Nanos, PerSec, Stamp, Tokens};

use super::TimeSpan;

/// The highest rate of `arrivals` (in order of time) over any window that ends at an arrival, within `span`.
///
/// The windows are as long as the greatest whole part of the span (a half, a third, ...) that is no longer than `longest`.
/// As many of them as make up the span hold all its tokens, and one has at least its share: the peak is never below the
/// span's mean. A fixed second would not have that property, and fixed seconds side by side split what came together.
/// None if the span or `longest` has no length. Memory: the arrivals of one window.
///
/// ```
/// use fizeau_core::{Nanos, Stamp, Tokens};
/// use fizeau_metrics::{TimeSpan, peak_rate};
///
/// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
/// let came = [(ms(900), Tokens::new(30)), (ms(1_100), Tokens::new(20)), (ms(4_000), Tokens::new(1))];
/// let span = TimeSpan::new(ms(0), ms(4_000));
/// assert_eq!(peak_rate(came, span, Nanos::from_secs(1)).unwrap().get(), 50.0);
/// ```
#[must_use]
pub fn peak_rate(
    arrivals: impl IntoIterator<Item = (Stamp, Tokens)>,
    span: TimeSpan,
    longest: Nanos,
) -> Option<PerSec> {
    let length = span.length().as_nanos();
    if length == 0 || longest == Nanos::ZERO {
        return None;
    }
    // The window is length / parts, which need not be whole: distances are compared times `parts`.
    let parts = u128::from(length.div_ceil(longest.as_nanos()));
    let mut window = VecDeque::new();
    let (mut sum, mut most) = (0_u64, 0_u64);
    for (at, tokens) in arrivals {
        if at <= span.from() || at > span.to() {
            continue;
        }
        window.push_back((at, tokens.get()));
        sum = sum.saturating_add(tokens.get());
        let left = |first: Stamp| {
            u128::from(at.saturating_since(first).as_nanos()) * parts >= u128::from(length)
        };
        while let Some((_, gone)) = window.pop_front_if(|(first, _)| left(*first)) {
            sum = sum.saturating_sub(gone);
        }
        most = most.max(sum);
    }
    Some(PerSec::new(most as f64 * parts as f64 / span.length().as_secs_f64()))
}
