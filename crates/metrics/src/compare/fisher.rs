//! Fisher's exact test of two counts.

use statrs::distribution::{Discrete, Hypergeometric};

use super::PValue;

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CountOf {
    pub(super) count: u64,
    pub(super) of: u64,
}

/// Probabilities whose logarithms differ by less than this are equal.
const SAME: f64 = 1e-7;

/// How likely it is that as many events fall on both sides as unevenly as they did, or more so, where each falls on any trial alike: the
/// sum over all splits that are no likelier than this one. None where a side has more events than trials.
pub(super) fn fisher_exact(a: CountOf, b: CountOf) -> Option<PValue> {
    // Both sides of a coin fall as unevenly as each other, and of the rarer there are fewer splits.
    let events = a.count + b.count;
    let others = (a.of + b.of).checked_sub(events)?;
    if others < events {
        let other =
            |side: CountOf| Some(CountOf { count: side.of.checked_sub(side.count)?, ..side });
        return fisher_exact(other(a)?, other(b)?);
    }
    let splits = Hypergeometric::new(a.of + b.of, events, a.of).ok()?;
    // By logarithms: of a thousand requests there are more splits than a number can count.
    let seen = splits.ln_pmf(a.count) + SAME;
    let least = events.saturating_sub(b.of);
    let all = (least..=events.min(a.of)).map(|count| splits.ln_pmf(count));
    let p = all.filter(|ln| *ln <= seen).fold(0.0, |sum: f64, ln| sum + ln.exp());
    Some(PValue::clipped(p))
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
        // By fractions, of more splits than an f64 can count.
        assert!(near(p((5, 1_000), (15, 1_000)), 0.040_394_205_404_807_15));
        assert!(near(p((1, 2_000), (0, 2_000)), 1.0));
        // Of many, and of those that did not happen.
        assert!(p((1_500, 2_000), (1_500, 2_000)).unwrap() > 1.0 - 1e-6);
        assert!(near(p((60, 60), (51, 60)), 2.0 * nine));
        let (few, more) =
            (p((9_000, 100_000), (9_300, 100_000)), p((9_000, 100_000), (9_500, 100_000)));
        assert!((0.01..0.03).contains(&few.unwrap()) && more.unwrap() < 2e-4, "{few:?} {more:?}");
        assert_eq!(p((5, 4), (1, 4)), None);
    }
}
