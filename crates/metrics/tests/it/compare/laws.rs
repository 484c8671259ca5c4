//! What holds for all values.

use fizeau_metrics::{
    BetterDirection, ComparisonAnswer, PValue, PairedValues, SignificanceLevel, TestPower,
    UnpairedValues, holm,
};
use proptest::prelude::*;

use crate::cases;

/// Few distinct values, so that ties and zeros come often, or values that never tie.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![(0u8..6).prop_map(f64::from), 0.0..6.0]
}

fn two_of(most: usize) -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    (prop::collection::vec(value(), 2..most), prop::collection::vec(value(), 2..most))
}

fn paired(most: usize) -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    prop::collection::vec((value(), value()), 2..most).prop_map(|pairs| pairs.into_iter().unzip())
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs())
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn swapped_pairs_have_the_same_p_and_the_opposite_shift((a, b) in paired(70)) {
        let (there, back) = (PairedValues::new(&a, &b).unwrap(), PairedValues::new(&b, &a).unwrap());
        if let (Ok(there), Ok(back)) = (there.t_test(), back.t_test()) {
            prop_assert!((0.0..=1.0).contains(&there.p.get()));
            prop_assert!(close(there.p.get(), back.p.get()) && close(there.t, -back.t));
        }
        let (there, back) = (there.wilcoxon(), back.wilcoxon());
        prop_assert_eq!(there.is_ok(), back.is_ok());
        if let (Ok(there), Ok(back)) = (there, back) {
            prop_assert!((0.0..=1.0).contains(&there.p.get()));
            prop_assert!(close(there.p.get(), back.p.get()));
        }
    }

    #[test]
    fn swapped_sides_have_the_same_p_and_the_opposite_effect((a, b) in two_of(25)) {
        let (there, back) = (UnpairedValues::new(&a, &b).unwrap(), UnpairedValues::new(&b, &a).unwrap());
        let (ranks, back_ranks) = (there.mann_whitney(), back.mann_whitney());
        prop_assert!((0.0..=1.0).contains(&ranks.p.get()));
        prop_assert_eq!(ranks.p, back_ranks.p);
        let all = (a.len() * b.len()) as f64;
        prop_assert_eq!(ranks.statistic + back_ranks.statistic, all);
        let delta = there.cliffs_delta(SignificanceLevel::FIVE_PERCENT);
        prop_assert!(close(delta.value(), 2.0 * ranks.statistic / all - 1.0));
        let inside = delta.interval().unwrap();
        prop_assert!(-1.0 <= inside.low && inside.low <= delta.value() + 1e-12);
        prop_assert!(delta.value() <= inside.high + 1e-12 && inside.high <= 1.0);
        let opposite = back.cliffs_delta(SignificanceLevel::FIVE_PERCENT).interval().unwrap();
        prop_assert!(close(inside.low, -opposite.high) && close(inside.high, -opposite.low));
    }

    /// Ranks know only what is greater: any growing function of the values leaves them as they are.
    #[test]
    fn rank_tests_do_not_see_the_scale((a, b) in two_of(25)) {
        let bent = |values: &[f64]| -> Vec<f64> { values.iter().map(|x| (x / 3.0).exp()).collect() };
        let (plain, bent) = (UnpairedValues::new(&a, &b).unwrap(), UnpairedValues::new(&bent(&a), &bent(&b)).unwrap());
        prop_assert_eq!(plain.mann_whitney(), bent.mann_whitney());
        let alpha = SignificanceLevel::FIVE_PERCENT;
        prop_assert_eq!(plain.cliffs_delta(alpha), bent.cliffs_delta(alpha));
    }

    /// Of differences it is their sizes that are ranked: any odd growing function leaves the test as it is.
    #[test]
    fn signed_ranks_do_not_see_the_scale((differences, _) in paired(70), flips in any::<u64>()) {
        let signed = differences.iter().enumerate();
        let signed: Vec<f64> =
            signed.map(|(i, d)| if flips >> (i % 64) & 1 == 1 { -d } else { *d }).collect();
        let cubes: Vec<f64> = signed.iter().map(|d| d * d * d).collect();
        let zero = vec![0.0; signed.len()];
        let (plain, bent) = (PairedValues::new(&zero, &signed).unwrap(), PairedValues::new(&zero, &cubes).unwrap());
        prop_assert_eq!(plain.wilcoxon(), bent.wilcoxon());
    }

    #[test]
    fn holm_never_lessens_a_p_and_keeps_their_order(raw in prop::collection::vec(0.0..=1.0f64, 0..12)) {
        let raw: Vec<PValue> = raw.into_iter().map(|p| PValue::new(p).unwrap()).collect();
        let corrected = holm(&raw);
        prop_assert_eq!(corrected.len(), raw.len());
        for (i, (p, q)) in raw.iter().zip(&corrected).enumerate() {
            prop_assert!(p <= q, "never less");
            let bonferroni = (p.get() * raw.len() as f64).min(1.0);
            prop_assert!(q.get() <= bonferroni, "{q:?} of {p:?}");
            for (other, corrected_other) in raw.iter().zip(&corrected).skip(i + 1) {
                prop_assert!(p > other || q <= corrected_other);
                prop_assert!(p < other || q >= corrected_other);
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(20))]

    /// A t-test is the t-interval read the other way; d has the sign of t; what is detectable grows with the
    /// spread.
    #[test]
    fn standardized_effects_agree_with_the_t_test((a, b) in paired(12)) {
        let pairs = PairedValues::new(&a, &b).unwrap();
        let alpha = SignificanceLevel::FIVE_PERCENT;
        let Ok(test) = pairs.t_test() else { return Ok(()) };
        let interval = pairs.mean_shift(alpha).unwrap().interval().unwrap();
        prop_assume!((test.p.get() - 0.05).abs() > 1e-9);
        let rejected = test.p.get() < 0.05;
        prop_assert_eq!(interval.low > 0.0 || interval.high < 0.0, rejected);
        let d = pairs.cohens_d(alpha).unwrap();
        if let Some(of_d) = d.interval() {
            prop_assert!(of_d.low <= d.value() && d.value() <= of_d.high);
            prop_assert_eq!(of_d.low > 0.0 || of_d.high < 0.0, rejected);
        }
        let doubled = |values: &[f64]| -> Vec<f64> { values.iter().map(|x| 2.0 * x).collect() };
        let wider = PairedValues::new(&doubled(&a), &doubled(&b)).unwrap();
        let least = |pairs: &PairedValues| pairs.detectable(alpha, TestPower::EIGHTY_PERCENT).unwrap();
        prop_assert!(least(&pairs) > 0.0 && close(2.0 * least(&pairs), least(&wider)));
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014), for tests alone.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Roughly normal with a heavier right side, as latencies are.
    fn latency(&mut self) -> f64 {
        let uniform = |draws: &mut Self| (draws.next() >> 11) as f64 / (1u64 << 53) as f64;
        let sum: f64 = (0..6).map(|_| uniform(self)).sum();
        (sum / 2.0).exp()
    }

    fn latencies(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.latency()).collect()
    }
}

/// Equal sides 2,000 times over: each test calls a difference in at most 5 % of them, give or take three
/// standard errors of 2,000 draws, and by far not never.
#[test]
fn equal_sides_raise_no_more_alarms_than_alpha() {
    const REPEATS: u32 = 2_000;
    let mut draws = Draws(1849);
    let mut alarms = [0u32; 4];
    let names = ["paired t", "Wilcoxon", "Mann-Whitney", "Holm over three metrics"];
    for _ in 0..REPEATS {
        let (a, b) = (draws.latencies(10), draws.latencies(10));
        let (pairs, sides) =
            (PairedValues::new(&a, &b).unwrap(), UnpairedValues::new(&a, &b).unwrap());
        let t = pairs.t_test().unwrap().p;
        let ps = [t, pairs.wilcoxon().unwrap().p, sides.mann_whitney().p];
        let mut metrics = vec![t];
        for _ in 0..2 {
            let (a, b) = (draws.latencies(10), draws.latencies(10));
            metrics.push(PairedValues::new(&a, &b).unwrap().t_test().unwrap().p);
        }
        let alarm = |p: PValue| {
            let answer = ComparisonAnswer::of(
                p,
                1.0,
                BetterDirection::LowerIsBetter,
                SignificanceLevel::FIVE_PERCENT,
            );
            u32::from(answer != ComparisonAnswer::NoDetectableDifference)
        };
        for (count, p) in alarms.iter_mut().zip(ps) {
            *count += alarm(p);
        }
        alarms[3] += holm(&metrics).into_iter().map(alarm).max().unwrap();
    }
    let most = 0.05 + 3.0 * (0.05f64 * 0.95 / f64::from(REPEATS)).sqrt();
    for (name, count) in names.into_iter().zip(alarms) {
        let rate = f64::from(count) / f64::from(REPEATS);
        assert!((0.02..=most).contains(&rate), "{name}: {rate}");
    }
}

/// What is called detectable with a power of 80 % is found in 80 % of 1,000 rounds.
#[test]
fn a_detectable_difference_is_detected_as_often_as_was_promised() {
    let mut draws = Draws(7);
    let normal = |draws: &mut Draws| -> f64 {
        (0..12).map(|_| (draws.next() >> 11) as f64 / (1u64 << 53) as f64).sum::<f64>() - 6.0
    };
    // Differences with a standard deviation of exactly 1 give the effect in units of it.
    let unit = PairedValues::new(&[0.0; 5], &[1.0, -1.0, 1.0, -1.0, 0.0]).unwrap();
    let least =
        unit.detectable(SignificanceLevel::FIVE_PERCENT, TestPower::EIGHTY_PERCENT).unwrap();
    let mut found = 0;
    for _ in 0..1_000 {
        let candidate: Vec<f64> = (0..5).map(|_| least + normal(&mut draws)).collect();
        let test = PairedValues::new(&[0.0; 5], &candidate).unwrap().t_test().unwrap();
        found += u32::from(test.p.get() <= 0.05);
    }
    assert!((760..=840).contains(&found), "{found}");
}

#[test]
fn a_hundred_thousand_values_a_side_are_no_burden() {
    let mut draws = Draws(11);
    let (a, b) = (draws.latencies(100_000), draws.latencies(100_000));
    let moved: Vec<f64> = b.iter().map(|value| value + 0.5).collect();
    let sides = UnpairedValues::new(&a, &moved).unwrap();
    assert!(sides.mann_whitney().p.get() < 1e-9);
    let delta = sides.cliffs_delta(SignificanceLevel::FIVE_PERCENT);
    assert!(delta.interval().is_some_and(|interval| interval.low > 0.0));
}

#[test]
fn sides_that_do_not_overlap_have_opposite_effects() {
    let (low, high) = ([1.0, 2.0, 3.0, 4.0], [11.0, 12.0, 13.0]);
    let of = |a: &[f64], b: &[f64]| {
        let delta =
            UnpairedValues::new(a, b).unwrap().cliffs_delta(SignificanceLevel::FIVE_PERCENT);
        (delta.value(), delta.interval().unwrap())
    };
    let ((up, above), (down, below)) = (of(&low, &high), of(&high, &low));
    assert_eq!((up, down), (1.0, -1.0));
    assert_eq!((below.low, below.high), (-1.0, -above.low));
    assert!(above.high == 1.0 && above.low < 1.0 && above.low > -1.0, "{above:?}");
}
