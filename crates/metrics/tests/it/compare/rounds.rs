//! Rounds against rounds.

use fizeau_metrics::{
    ComparisonAnswer, ComparisonSettings, ComparisonTable, ComparisonTest, FigureChoice,
    LevelFigure, PairedValues, RandomBits, ResampleSeed, RoundFigures, RoundsError, SmallestChange,
    UntestedReason,
};
use proptest::prelude::*;

use crate::cases;

const SHOWN: [LevelFigure; 3] =
    [LevelFigure::P50_TTFT, LevelFigure::P99_TPOT, LevelFigure::OUTPUT_TPS];

fn settings() -> ComparisonSettings {
    ComparisonSettings { figures: FigureChoice::only(SHOWN), ..ComparisonSettings::default() }
}

fn rounds(values: &[[f64; 3]], scale: f64) -> Vec<RoundFigures> {
    let round = |values: &[f64; 3]| SHOWN.into_iter().zip(values.map(|v| v * scale)).collect();
    values.iter().map(round).collect()
}

fn mirrored(answer: Option<ComparisonAnswer>) -> Option<ComparisonAnswer> {
    answer.map(|answer| match answer {
        ComparisonAnswer::Better => ComparisonAnswer::Worse,
        ComparisonAnswer::Worse => ComparisonAnswer::Better,
        ComparisonAnswer::NoDetectableDifference => ComparisonAnswer::NoDetectableDifference,
    })
}

type Rounds = Vec<([f64; 3], [f64; 3])>;

fn some_rounds() -> impl Strategy<Value = Rounds> {
    let three = || prop::array::uniform3(10.0..12.0_f64);
    (0.0..1.0_f64).prop_flat_map(move |shift| {
        let pair = (three(), three()).prop_map(move |(a, b)| (a, b.map(|v| v + shift * 3.0)));
        prop::collection::vec(pair, 5..12)
    })
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn swapping_sides_mirrors_the_answers(both in some_rounds()) {
        let (a, b): (Vec<_>, Vec<_>) = both.into_iter().unzip();
        let (a, b) = (rounds(&a, 1.0), rounds(&b, 1.0));
        let forth = ComparisonTable::of_rounds(&a, &b, &settings()).unwrap();
        let back = ComparisonTable::of_rounds(&b, &a, &settings()).unwrap();
        for (one, other) in forth.rows.iter().zip(&back.rows) {
            prop_assert_eq!(one.answer(), mirrored(other.answer()));
            let (one, other) = (one.tested.as_ref().unwrap(), other.tested.as_ref().unwrap());
            prop_assert!((one.difference.value() + other.difference.value()).abs() < 1e-9);
            prop_assert!((one.p().unwrap().get() - other.p().unwrap().get()).abs() < 1e-9);
        }
    }

    #[test]
    fn other_units_change_neither_p_nor_answer(both in some_rounds()) {
        let (a, b): (Vec<_>, Vec<_>) = both.into_iter().unzip();
        let of = |scale| {
            ComparisonTable::of_rounds(&rounds(&a, scale), &rounds(&b, scale), &settings()).unwrap()
        };
        for (one, other) in of(1.0).rows.iter().zip(&of(1e3).rows) {
            prop_assert_eq!(one.answer(), other.answer());
            let (one, other) = (one.tested.as_ref().unwrap(), other.tested.as_ref().unwrap());
            prop_assert!((one.p().unwrap().get() - other.p().unwrap().get()).abs() < 1e-9);
            let shares = (one.relative.unwrap(), other.relative.unwrap());
            prop_assert!((shares.0.value() - shares.1.value()).abs() < 1e-9);
        }
    }
}

/// Five rounds: the paired t-test decides, since Wilcoxon's test cannot have a p below 1/16.
#[test]
fn the_t_test_decides_and_holm_corrects() {
    let a = [
        [50.1, 20.0, 99.0],
        [49.8, 20.4, 101.0],
        [50.6, 19.7, 100.0],
        [50.3, 20.1, 98.0],
        [49.9, 20.2, 102.0],
    ];
    let b = [
        [48.0, 20.1, 97.5],
        [47.9, 20.3, 99.0],
        [48.8, 19.9, 98.5],
        [48.1, 20.0, 96.0],
        [47.7, 20.3, 100.5],
    ];
    let table =
        ComparisonTable::of_rounds(&rounds(&a, 1.0), &rounds(&b, 1.0), &settings()).unwrap();
    let answers: Vec<_> = table.rows.iter().map(|row| row.answer().unwrap()).collect();
    assert_eq!(
        answers,
        [
            ComparisonAnswer::Better,
            ComparisonAnswer::NoDetectableDifference,
            ComparisonAnswer::Worse
        ]
    );

    let ttft = table.rows[0].tested.as_ref().unwrap();
    let column = |rounds: &[[f64; 3]]| rounds.iter().map(|r| r[0]).collect::<Vec<_>>();
    let pairs = PairedValues::new(&column(&a), &column(&b)).unwrap();
    let raw = pairs.t_test().unwrap().p.get();
    assert_eq!(ttft.tests[0].test, ComparisonTest::PairedT);
    assert_eq!(ttft.tests[1].p.get(), 1.0 / 16.0);
    // The least of three p-values.
    assert_eq!(ttft.decision.unwrap().adjusted.get(), raw * 3.0);
    assert!(ttft.relative_detectable.unwrap() > 0.0 && ttft.effect.unwrap().effect.value() < 0.0);
}

#[test]
fn differences_without_spread_are_told_by_their_signs() {
    let a = [[50.0, 20.0, 100.0]; 8];
    let b = [[51.0, 20.0, 100.0]; 8];
    let table =
        ComparisonTable::of_rounds(&rounds(&a, 1.0), &rounds(&b, 1.0), &settings()).unwrap();
    let answers: Vec<_> = table.rows.iter().map(|row| row.answer().unwrap()).collect();
    let none = ComparisonAnswer::NoDetectableDifference;
    assert_eq!(answers, [ComparisonAnswer::Worse, none, none]);
    let ttft = table.rows[0].tested.as_ref().unwrap();
    assert_eq!((ttft.tests[0].test, ttft.detectable), (ComparisonTest::Wilcoxon, None));
}

#[test]
fn what_cannot_be_paired_is_refused_or_left_out() {
    let all = rounds(&[[50.0, 20.0, 100.0]; 5], 1.0);
    let refused = |a: &[_], b: &[_]| ComparisonTable::of_rounds(a, b, &settings()).unwrap_err();
    assert_eq!(refused(&all[..4], &all[..4]), RoundsError::TooFew(4));
    assert_eq!(refused(&all, &all[..4]), RoundsError::CountsDiffer { baseline: 5, candidate: 4 });

    let mut holed = all.clone();
    holed[2] = [(LevelFigure::P50_TTFT, 50.0)].into_iter().collect();
    let table = ComparisonTable::of_rounds(&all, &holed, &settings()).unwrap();
    let tested: Vec<_> = table.rows.iter().map(|row| row.tested.clone().map(|t| t.n)).collect();
    let too_few = Err(UntestedReason::TooFew { what: "rounds", needs: 5, has: 4 });
    assert_eq!(tested, [Ok(5), too_few, too_few]);
    assert_eq!(table.family_size(), 1);
}

/// Rounds of one and the same engine: shocks that both sides share, and noise of their own.
#[test]
fn equal_sides_are_told_apart_no_more_often_than_alpha() {
    let mut bits = RandomBits::new(ResampleSeed(11));
    // A sum of four: near enough to normal.
    let mut noise = || (0..4).map(|_| bits.next_u64() as f64 / u64::MAX as f64 - 0.5).sum::<f64>();
    let repeats = 500;
    let mut alarms = 0;
    for _ in 0..repeats {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for round in 0..6 {
            let shock = 50.0 + noise() * 3.0 + f64::from(round);
            a.push([0; 3].map(|_: i32| shock + noise()));
            b.push([0; 3].map(|_: i32| shock + noise()));
        }
        let table =
            ComparisonTable::of_rounds(&rounds(&a, 1.0), &rounds(&b, 1.0), &settings()).unwrap();
        let differs = |row: &fizeau_metrics::ComparedFigure| {
            row.answer() != Some(ComparisonAnswer::NoDetectableDifference)
        };
        alarms += u32::from(table.rows.iter().any(differs));
    }
    // 25 expected at most; the 99 % point of as many draws is 37.
    assert!((7..=37).contains(&alarms), "{alarms}");
}

/// However sure one is of it, a difference of no account is not called better or worse, and that is said.
#[test]
fn a_difference_of_a_two_thousandth_is_none_unless_it_is_to_be_one() {
    let a: Vec<[f64; 3]> = (0..8).map(|k| [50.0 + f64::from(k), 20.0, 100.0]).collect();
    let less = |k: usize, v: [f64; 3]| v.map(|v| v * (0.9995 + 1e-6 * k as f64));
    let b: Vec<[f64; 3]> = a.iter().enumerate().map(|(k, v)| less(k, *v)).collect();
    let of = |smallest: &str| {
        let settings = ComparisonSettings { smallest: smallest.parse().unwrap(), ..settings() };
        let table =
            ComparisonTable::of_rounds(&rounds(&a, 1.0), &rounds(&b, 1.0), &settings).unwrap();
        let decision = table.rows[0].tested.as_ref().unwrap().decision.unwrap();
        (decision.answer, decision.is_too_small, table.answered(ComparisonAnswer::Worse).count())
    };
    assert_eq!(of("0.1%"), (ComparisonAnswer::NoDetectableDifference, true, 0));
    assert_eq!(of("0.001"), of("0.1%"));
    assert_eq!(of("0"), (ComparisonAnswer::Better, false, 1)); // the third is a rate
    for wrong in ["1", "3", "-1%", "100%", "x%", ""] {
        assert!(wrong.parse::<SmallestChange>().is_err(), "{wrong}");
    }
}

/// p of about 0.02: worse in one table, but not among twenty of them that are decided together.
#[test]
fn over_many_tables_it_takes_more_to_be_worse() {
    let settings = ComparisonSettings {
        figures: FigureChoice::only([LevelFigure::P50_TTFT]),
        ..ComparisonSettings::default()
    };
    let figures = |values: [f64; 6]| values.map(|v| RoundFigures::from_iter([(SHOWN[0], v)]));
    let of = |b| {
        let a = figures([50.0, 51.0, 52.0, 51.0, 50.0, 52.0]);
        ComparisonTable::of_rounds(&a, &figures(b), &settings).unwrap()
    };
    let worse = of([51.0, 53.0, 52.5, 53.0, 50.0, 54.5]);
    let p = worse.rows[0].tested.as_ref().unwrap().p().unwrap().get();
    assert!((0.01..0.05).contains(&p), "{p}");
    let same = of([50.1, 50.9, 52.1, 50.9, 50.1, 51.9]);
    assert_eq!((worse.answered(ComparisonAnswer::Worse).count(), worse.corrected_over), (1, 1));
    let detectable = |table: &ComparisonTable| table.rows[0].tested.clone().unwrap().detectable;
    let mut all = vec![same; 19];
    all.push(worse.clone());
    ComparisonTable::decide_together(&mut all);
    let last = &all[19];
    assert_eq!((last.answered(ComparisonAnswer::Worse).count(), last.corrected_over), (0, 20));
    assert!(detectable(last) > detectable(&worse));
}
