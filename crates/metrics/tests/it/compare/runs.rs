//! Runs of one server differ among themselves: by repeats that is seen, by one run each it has to be known.

use fizeau_core::FailureClass;
use fizeau_metrics::{
    ComparisonAnswer, ComparisonBasis, ComparisonSettings, ComparisonSide, ComparisonTable,
    ComparisonTest, FigureChoice, GoodputGoals, Interval, IntervalFigure, LevelFigure,
    LevelSummary, RandomBits, ResampleSeed, RoundFigures, RunToRun, TooFewRuns, UntestedReason,
};
use proptest::prelude::*;

use crate::cases;
use crate::tapes::{failed, tape};

const SHOWN: [LevelFigure; 3] =
    [LevelFigure::P50_TTFT, LevelFigure::P50_TPOT, LevelFigure::OUTPUT_TPS];

fn settings() -> ComparisonSettings {
    ComparisonSettings { figures: FigureChoice::only(SHOWN), ..Default::default() }
}

/// Nearly normal, with a mean of 0 and a standard deviation of 1.
fn normal(bits: &mut RandomBits) -> f64 {
    (0..12).map(|_| bits.next_u64() as f64 / u64::MAX as f64).sum::<f64>() - 6.0
}

/// A run of a server whose runs differ by `spread`: what is slow is so in all figures; each is known within 1 %.
fn run(bits: &mut RandomBits, spread: f64, slower: f64) -> [f64; 3] {
    let factor = (1.0 + spread * normal(bits)) * slower;
    [50.0 * factor, 10.0 * factor, 1000.0 / factor].map(|value| value * (1.0 + 0.01 * normal(bits)))
}

fn figures(runs: &[[f64; 3]]) -> Vec<RoundFigures> {
    runs.iter().map(|run| SHOWN.into_iter().zip(*run).collect()).collect()
}

fn by_repeats(a: &[[f64; 3]], b: &[[f64; 3]]) -> ComparisonTable {
    ComparisonTable::of_runs(&figures(a), &figures(b), &settings())
        .unwrap_or_else(|few| panic!("{few}"))
}

/// One run each, of which no more is known than their own intervals.
fn one_each(a: [f64; 3], b: [f64; 3], run_to_run: RunToRun) -> ComparisonTable {
    let side = |run: [f64; 3]| -> Vec<IntervalFigure> {
        let of = |(figure, value): (LevelFigure, f64)| {
            let reach = 0.0196 * value;
            let interval = Some(Interval::p95(value - reach, value + reach));
            IntervalFigure { figure, value, interval, n: 400 }
        };
        SHOWN.into_iter().zip(run).map(of).collect()
    };
    let settings = ComparisonSettings { run_to_run, ..settings() };
    ComparisonTable::of_intervals(&side(a), &side(b), &settings)
}

fn is_alarm(table: &ComparisonTable) -> bool {
    table.rows.iter().any(|row| row.answer() != Some(ComparisonAnswer::NoDetectableDifference))
}

/// Five runs in a hundred at the most, where runs differ by 3 % and their intervals know of 1 %: by repeats, however many on either
/// side, and by one run each where the spread is known. By the intervals alone it is more than a third.
#[test]
fn a_server_is_not_told_from_itself_though_its_runs_differ() {
    let mut bits = RandomBits::new(ResampleSeed(21));
    let known: RunToRun = "3%".parse().unwrap();
    let (pairs, mut alarms) = (200, [0_u32; 5]);
    for _ in 0..pairs {
        let mut runs =
            |n: usize| -> Vec<[f64; 3]> { (0..n).map(|_| run(&mut bits, 0.03, 1.0)).collect() };
        let (a, b) = (runs(5), runs(5));
        let found = [
            is_alarm(&by_repeats(&a, &b)),
            is_alarm(&by_repeats(&a[..2], &b[..2])),
            is_alarm(&by_repeats(&a, &b[..1])),
            is_alarm(&one_each(a[0], b[0], known)),
            is_alarm(&one_each(a[0], b[0], RunToRun::NONE)),
        ];
        for (count, found) in alarms.iter_mut().zip(found) {
            *count += u32::from(found);
        }
    }
    println!("{alarms:?} of {pairs}");
    // 10 expected at most; the 99 % point of as many draws is 18.
    assert!(alarms[..4].iter().all(|alarms| (1..=18).contains(alarms)), "{alarms:?}");
    assert!(alarms[4] > 66, "{alarms:?}");
}

/// What five repeats a side find of a server that is a tenth slower, one run each cannot.
#[test]
fn repeats_find_what_one_run_each_cannot() {
    let mut bits = RandomBits::new(ResampleSeed(22));
    let known: RunToRun = "3%".parse().unwrap();
    let (mut repeats, mut single) = (0, 0);
    for _ in 0..200 {
        let mut runs = |slower: f64| -> Vec<[f64; 3]> {
            (0..5).map(|_| run(&mut bits, 0.03, slower)).collect()
        };
        let (a, b) = (runs(1.0), runs(1.1));
        let worse =
            |table: &ComparisonTable| table.answered(ComparisonAnswer::Worse).next().is_some();
        repeats += u32::from(worse(&by_repeats(&a, &b)));
        single += u32::from(worse(&one_each(a[0], b[0], known)));
    }
    println!("{repeats} and {single} of 200");
    assert!(repeats > 180 && single < 120, "{repeats} and {single} of 200");
}

/// By hand: a pooled variance of 1.4 makes t 4.98, of which Student's distribution has 0.00418 outside.
#[test]
fn the_test_is_students_of_two_samples() {
    let of = |values: &[f64]| values.iter().map(|v| [*v, 10.0, 1000.0]).collect::<Vec<_>>();
    let table = by_repeats(&of(&[50.0, 51.0, 49.0, 52.0]), &of(&[55.0, 54.0, 56.0]));
    assert_eq!(table.basis, ComparisonBasis::Runs { baseline: 4, candidate: 3 });
    let tested = table.rows[0].tested.as_ref().unwrap();
    assert!((tested.difference.value() - 4.5).abs() < 1e-12);
    assert!((tested.p().unwrap().get() - 0.004_177).abs() < 1e-6, "{:?}", tested.p());
    assert_eq!(tested.run_to_run, 0.0);
    // What never varies does not differ.
    assert_eq!(table.rows[1].tested.as_ref().unwrap().p().unwrap().get(), 1.0);
}

/// Runs in which so many of 500 requests fail.
fn failing(runs: &[u64]) -> Vec<RoundFigures> {
    let run = |&failures: &u64| {
        let tapes: Vec<_> = (0..500)
            .map(|k| {
                let tape = tape(10 * k, &[(10 * k + 50, 1), (10 * k + 60, 1)]);
                if k < failures { failed(tape, FailureClass::Status) } else { tape }
            })
            .collect();
        RoundFigures::of(&LevelSummary::of(&tapes, &GoodputGoals::default()))
    };
    runs.iter().map(run).collect()
}

/// Repeats that are all alike know no spread: of shares of 100 % that says little, and one missed goal of 500 is no difference. By hand:
/// one of the 4 ways to choose a run of four is this one; of 2 and 2 runs, two of 6 are as far apart; of 5 and 5, two of 252.
#[test]
fn where_no_run_varies_a_difference_is_as_likely_as_the_way_the_runs_are_dealt() {
    let p = |a: &[f64], b: &[f64]| {
        let of = |shares: &[f64]| -> Vec<RoundFigures> {
            let run = |share: &f64| RoundFigures::from_iter([(LevelFigure::GOOD_SHARE, *share)]);
            shares.iter().map(run).collect()
        };
        let figures = FigureChoice::only([LevelFigure::GOOD_SHARE]);
        let settings = ComparisonSettings { figures, ..settings() };
        let table = ComparisonTable::of_runs(&of(a), &of(b), &settings).unwrap();
        let p = table.rows[0].tested.as_ref().unwrap().p().unwrap().get();
        (p, table.rows[0].answer().unwrap())
    };
    let none = ComparisonAnswer::NoDetectableDifference;
    let near = |(p, answer): (f64, _), wanted: f64| (p - wanted).abs() < 1e-12 && answer == none;
    assert!(near(p(&[1.0; 3], &[0.998]), 0.25));
    assert!(near(p(&[0.998], &[1.0; 3]), 0.25));
    assert!(near(p(&[1.0; 2], &[0.998; 2]), 2.0 / 6.0));
    let (p, answer) = p(&[1.0; 5], &[0.99; 5]);
    assert!((p - 2.0 / 252.0).abs() < 1e-12 && answer == ComparisonAnswer::Worse);
}

/// Runs in which so many of 500 requests come too late for the goal.
fn late(runs: &[u64], goals: &GoodputGoals) -> Vec<RoundFigures> {
    let run = |&late: &u64| {
        let tapes: Vec<_> = (0..500)
            .map(|k| {
                let first = 10 * k + if k < late { 500 } else { 50 };
                tape(10 * k, &[(first, 1), (first + 10, 1)])
            })
            .collect();
        RoundFigures::of(&LevelSummary::of(&tapes, goals))
    };
    runs.iter().map(run).collect()
}

/// Runs that are all alike know no spread, but how many requests each share is of.
#[test]
fn a_share_of_good_requests_that_collapses_is_worse_and_one_miss_is_not() {
    let goals: GoodputGoals = "ttft:100".parse().unwrap();
    let answer = |a: &[u64], b: &[u64]| {
        let figures = FigureChoice::only([LevelFigure::GOOD_SHARE]);
        let settings = ComparisonSettings { figures, ..settings() };
        let table =
            ComparisonTable::of_runs(&late(a, &goals), &late(b, &goals), &settings).unwrap();
        table.rows[0].answer().unwrap()
    };
    assert_eq!(answer(&[0, 0, 0], &[475]), ComparisonAnswer::Worse);
    assert_eq!(answer(&[0, 0, 0], &[500, 500, 500]), ComparisonAnswer::Worse);
    assert_eq!(answer(&[0, 0, 0], &[1]), ComparisonAnswer::NoDetectableDifference);
}

/// Whether more requests fail is asked of repeats as of single runs: by how much runs differ, and by how many of their requests fail.
#[test]
fn repeats_of_which_more_requests_fail_are_worse_and_one_failure_is_not() {
    let compared = |a: &[u64], b: &[u64]| {
        let (a, b) = (failing(a), failing(b));
        assert!(!a.iter().any(RoundFigures::has_failures) && b[0].has_failures());
        let figures = FigureChoice::only([LevelFigure::P50_TTFT]).with_failures();
        let settings = ComparisonSettings { figures, ..settings() };
        let table = ComparisonTable::of_runs(&a, &b, &settings).unwrap();
        assert!(table.asks_of_failures());
        let tested = table.rows[1].tested.as_ref().unwrap();
        let tests = tested.tests.iter().map(|test| test.test).collect::<Vec<_>>();
        (table.rows[1].answer().unwrap(), tested.p().unwrap().get(), tests)
    };
    let (worse, none) = (ComparisonAnswer::Worse, ComparisonAnswer::NoDetectableDifference);
    let [student, fisher] = [ComparisonTest::TwoSampleT, ComparisonTest::FisherExact];
    let (answer, p, tests) = compared(&[0, 0, 0], &[200]);
    assert!(answer == worse && p < 1e-9 && tests == [fisher], "{p} {tests:?}");
    // One request of 2,000 failed, in a run of four: by hand 500 of 2,000.
    let (answer, p, tests) = compared(&[0, 0, 0], &[1]);
    assert!(answer == none && (p - 0.25).abs() < 1e-9 && tests == [fisher], "{p} {tests:?}");
    // Student's test alone would tell 1 and 2 failures from none (p 0.008).
    let (answer, p, tests) = compared(&[0, 0, 0, 0], &[1, 2]);
    assert!(answer == worse && (0.03..0.04).contains(&p) && tests == [fisher, student], "{p}");
    // And what one of two runs did, runs differ by.
    let (answer, _, tests) = compared(&[0, 0, 0], &[200, 0]);
    assert!(answer == none && tests == [student, fisher], "{tests:?}");
    assert_eq!(compared(&[0, 0, 0], &[200, 190]).0, worse);
}

#[test]
fn too_few_runs_and_what_they_lack_are_said() {
    let of = |n: usize| figures(&vec![[50.0, 10.0, 1000.0]; n]);
    let why = |a: usize, b: usize| ComparisonTable::of_runs(&of(a), &of(b), &settings()).err();
    assert_eq!(why(2, 1), Some(TooFewRuns { baseline: 2, candidate: 1 }));
    assert_eq!(why(9, 0), Some(TooFewRuns { baseline: 9, candidate: 0 }));
    assert_eq!(why(3, 1), None);
    let figures = FigureChoice::only([LevelFigure::RPS, LevelFigure::P50_TTFT]);
    let settings = ComparisonSettings { figures, ..settings() };
    let mut a = of(2);
    a.push(RoundFigures::default());
    let table = ComparisonTable::of_runs(&a, &of(1), &settings).unwrap();
    let why = |k: usize| table.rows[k].tested.clone().err();
    assert_eq!(why(0), Some(UntestedReason::Absent(ComparisonSide::Baseline)));
    assert_eq!(why(1), Some(UntestedReason::TooFew { what: "runs", needs: 4, has: 3 }));
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn sides_change_places_and_units_change_nothing(
        a in prop::collection::vec(10.0_f64..100.0, 1..6),
        b in prop::collection::vec(10.0_f64..100.0, 3..6),
    ) {
        let of = |values: &[f64], by: f64| -> Vec<RoundFigures> {
            values.iter().map(|v| [(LevelFigure::OUTPUT_TPS, v * by)].into_iter().collect()).collect()
        };
        let settings = ComparisonSettings {
            figures: FigureChoice::only([LevelFigure::OUTPUT_TPS]),
            smallest: "0".parse().unwrap(),
            ..settings()
        };
        let compare = |a: &[f64], b: &[f64], by: f64| {
            let table = ComparisonTable::of_runs(&of(a, by), &of(b, by), &settings).unwrap();
            table.rows[0].tested.clone().unwrap()
        };
        let (there, back, scaled) =
            (compare(&a, &b, 1.0), compare(&b, &a, 1.0), compare(&a, &b, 3.0));
        let p = |tested: &fizeau_metrics::TestFindings| tested.p().unwrap().get();
        prop_assert!((p(&there) - p(&back)).abs() < 1e-9);
        prop_assert!((p(&there) - p(&scaled)).abs() < 1e-9);
        let interval = there.relative.unwrap().interval().unwrap();
        prop_assert!(interval.low >= -1.0);
        prop_assert_eq!(p(&there) <= 0.05, interval.low > 0.0 || interval.high < 0.0);
    }
}
