//! Fisher's exact test of two counts.

use statrs::distribution::{Discrete, Hypergeometric};

use super::PValue;

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CountOf {
    pub(super) count: u64,
    pub(super) of: u64,
}

/// Of more events than this the normal distribution knows as much, and sooner.
const MOST_EVENTS: u64 = 2_000;

/// Probabilities that differ by less than this share are equal.
const SAME: f64 = 1e-7;

/// How likely it is that as many events fall on both sides as unevenly as they did, or more so, where each falls on any trial alike: the
/// sum over all splits that are no likelier than this one. None of so many events that others know it as well.
pub(super) fn fisher_exact(a: CountOf, b: CountOf) -> Option<PValue> {
    let events = a.count + b.count;
    if events > MOST_EVENTS {
        return None;
    }
    let splits = Hypergeometric::new(a.of + b.of, events, a.of).ok()?;
    let seen = splits.pmf(a.count) * (1.0 + SAME);
    let least = events.saturating_sub(b.of);
    let all = (least..=events.min(a.of)).map(|count| splits.pmf(count));
    Some(PValue::clipped(all.filter(|p| *p <= seen).sum()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden: a tea tasting of 3 and 1 of 4 each (R. A. Fisher, The Design of Experiments, 1935): 34 of 70 are as uneven. Of 0 and 9 of 60,
    /// 2 C(60, 9) / C(120, 9).
    #[test]
    fn tables_have_their_probability() {
        let p = |a: (u64, u64), b: (u64, u64)| {
            let [a, b] = [a, b].map(|(count, of)| CountOf { count, of });
            fisher_exact(a, b).map(PValue::get)
        };
        let near = |found: Option<f64>, wanted: f64| (found.unwrap() - wanted).abs() < 1e-9;
        assert!(near(p((3, 4), (1, 4)), 34.0 / 70.0));
        let nine: f64 = (0..9).map(|k| (60.0 - f64::from(k)) / (120.0 - f64::from(k))).product();
        assert!(near(p((0, 60), (9, 60)), 2.0 * nine) && 2.0 * nine < 0.003);
        assert!(near(p((0, 60), (0, 60)), 1.0) && near(p((7, 90), (7, 90)), 1.0));
        assert_eq!(p((1_500, 2_000), (1_500, 2_000)), None);
    }
}
