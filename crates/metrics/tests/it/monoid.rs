//! Shards of a level, put together in any way: the tallies are a commutative monoid, and merged histograms say what they say.

use fizeau_core::{FailureClass, Nanos, Tape};
use fizeau_metrics::{
    ClientWatch, Distribution, GoodputGoals, LatencyHistogram, LevelHistograms, LevelSummary,
    LevelTally,
};
use proptest::prelude::*;

use crate::cases;
use crate::tapes::{any_tape, failed};

fn goals() -> GoodputGoals {
    "ttft:20 tpot:9 e2el:300".parse().unwrap_or_default()
}

/// Tapes of which one in four failed.
fn shard() -> impl Strategy<Value = Vec<Tape>> {
    let tape = (any_tape(), 0..4).prop_map(|(tape, kind)| match kind {
        0 => failed(tape, FailureClass::Truncated),
        _ => tape,
    });
    prop::collection::vec(tape, 0..12)
}

fn tally(tapes: &[Tape]) -> LevelTally {
    let mut tally = LevelTally::new(&goals());
    tapes.iter().for_each(|tape| tally.add(tape));
    tally
}

fn merged(one: &LevelTally, other: &LevelTally) -> LevelTally {
    let mut merged = one.clone();
    merged.merge(other.clone());
    merged
}

/// All that a tally shows.
fn shown(tally: &LevelTally) -> (LevelSummary, String) {
    let proof = tally.proof(ClientWatch::default());
    (tally.summary(), format!("{:?} {proof:?}", tally.requests()))
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn tallies_merge_as_a_commutative_monoid([a, b, c] in [shard(), shard(), shard()]) {
        prop_assert!(!goals().is_empty());
        let all: Vec<Tape> = [&a[..], &b, &c].concat();
        let (a, b, c) = (tally(&a), tally(&b), tally(&c));
        let nothing = tally(&[]);
        prop_assert_eq!(shown(&merged(&a, &nothing)), shown(&a));
        prop_assert_eq!(shown(&merged(&nothing, &a)), shown(&a));
        prop_assert_eq!(shown(&merged(&a, &b)), shown(&merged(&b, &a)));
        let left = merged(&merged(&a, &b), &c);
        prop_assert_eq!(shown(&left), shown(&merged(&a, &merged(&b, &c))));
        prop_assert_eq!(shown(&left), shown(&tally(&all)));
    }

    #[test]
    fn merged_histograms_agree_with_merged_tallies_within_three_digits([a, b] in [shard(), shard()]) {
        let histograms = |tapes: &[Tape]| {
            let mut histograms = LevelHistograms::default();
            tapes.iter().for_each(|tape| histograms.add(tape));
            let LevelHistograms { ttft, itl, e2el } = histograms;
            [ttft, itl, e2el]
        };
        let summary = merged(&tally(&a), &tally(&b)).summary();
        let exact = [&summary.metrics.ttft, &summary.metrics.itl, &summary.metrics.e2el];
        for ((mut both, theirs), exact) in histograms(&a).into_iter().zip(histograms(&b)).zip(exact) {
            both.merge(&theirs);
            prop_assert_eq!(both.count(), exact.n);
            agree(&both, exact)?;
        }
    }
}

/// The median and the tail of `exact` interpolate between two ranks, of which a histogram has the one or the other: it must lie
/// between their values, to three digits.
fn agree(histogram: &LatencyHistogram, exact: &Distribution) -> Result<(), TestCaseError> {
    let (Some(p50), Some(min), Some(max)) = (exact.p50.value(), exact.min, exact.max) else {
        return Ok(());
    };
    let at = |percent: f64| histogram.percentile(percent).map_or(f64::NAN, Nanos::as_millis_f64);
    // Half a nanosecond: a shared gap is rounded to whole ones.
    let close = |ours: f64, exact: f64| (ours - exact).abs() <= exact * 1e-3 + 0.6e-6;
    prop_assert!(close(at(100.0), max.get()), "{} {max:?}", at(100.0));
    prop_assert!(close(at(0.0), min.get()), "{} {min:?}", at(0.0));
    let step = 100.0 / exact.n as f64;
    let (below, above) = (at((50.0 - step).max(0.0)), at((50.0 + step).min(100.0)));
    let (least, most) = (below * 0.999 - 0.6e-6, above * 1.001 + 0.6e-6);
    prop_assert!((least..=most).contains(&p50.get()), "{p50:?} is not in {least}..{most}");
    Ok(())
}
