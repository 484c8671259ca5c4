//! What is said of levels side by side: in a sweep, in rounds of two servers, on several configurations.

use fizeau_core::{Arrival, Channel, LoadKind, Nanos, PerSec, Stamp, Tape, Tokens};
use fizeau_metrics::{
    ComparisonAnswer, ComparisonSide, Interval, LevelSummary, SampleSupport, Saturation, Slo,
    Timeline, Verdict,
};
use fizeau_record::{
    AbParty, AbReport, AbRound, ArrivalMoments, CompareOptions, ComparisonReport, EndpointRecord,
    LevelReport, LevelStatus, NotRunReason, RunSetup, StoredRun, SweepReport, WhatIf,
    WhatIfVariant, requests_interval,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::reading::{as_it_was, fixture};
use crate::search::LEVEL;
use crate::stored::cases;

pub(crate) fn read(name: &str) -> SweepReport {
    StoredRun::open(fixture(name)).unwrap().report().unwrap()
}

fn level(name: &str) -> LevelReport {
    let run = StoredRun::open(fixture(name)).unwrap();
    run.reader().unwrap().levels().unwrap().swap_remove(0).report
}

/// Levels of a closed loop of so many slots that completed so many requests a second.
pub(crate) fn levels(rates: &[(f64, f64)]) -> Vec<LevelReport> {
    let made = rates.iter().map(|(slots, rate)| {
        let mut level = LEVEL.clone();
        level.load = LoadKind::Concurrency.at(*slots);
        level.summary.throughput.requests_per_s = PerSec::new(*rate);
        level.summary.throughput.intervals.requests_per_s = None;
        level.validity.verdict = Verdict::Valid;
        level.validity.reasons.clear();
        level
    });
    made.collect()
}

fn said(name: &str, sweep: &SweepReport) -> Value {
    let interval = sweep.slo().and_then(|slo| sweep.goal_interval(slo.goals.first()?, 0));
    json!({
        "sweep": name,
        "goals": sweep.slo().map(Slo::to_string),
        "title": sweep.title(),
        "verdict": sweep.verdict().as_str(),
        "frontier": sweep.frontier(),
        "knee": [sweep.knee(), sweep.explained_knee()],
        "dips": sweep.dips(),
        "decisions": sweep.decisions().len(),
        "operating": sweep.operating_words(),
        "goals_there": sweep.goal_words(),
        "interval": interval.map(|ends| [ends.low, ends.high]),
        "assumed": sweep.assumed_goals(),
        "measured_by": sweep.measured_by(),
        "not_known": sweep.not_known().iter().map(|fact| &fact.what).collect::<Vec<_>>(),
        "stand_ins": [sweep.has_stand_in(), sweep.compares_stand_ins()],
        "is": [sweep.is_precise(), sweep.is_simulated(), sweep.misses_goals()],
        "compared": sweep.compared().count(),
    })
}

/// `FIZEAU_BLESS=1` writes it anew.
#[test]
fn what_is_said_of_sweeps_is_as_it_was() {
    let slos = [
        "p50 ttft<1us, p99 e2el<9s",
        "mean ttft<5ms, mean e2el<25ms, rps>1",
        "p50 tpot<900us..2ms",
        "p999 tpot<1ms",
        "good_share>0.5",
        "mean first_visible<1s",
    ];
    let mut all = Vec::new();
    for name in ["sweep", "resumed", "killed", "simulated", "search"] {
        let own = read(name);
        all.push(said(name, &own));
        for slo in slos.iter().filter(|_| ["sweep", "resumed", "simulated"].contains(&name)) {
            let slo = Some(slo.parse().unwrap());
            let sweep = SweepReport::new(own.setup().clone(), own.levels().to_vec(), slo);
            all.push(said(name, &sweep));
        }
    }
    let none = SweepReport::new(RunSetup::default(), Vec::new(), Some(slos[0].parse().unwrap()));
    all.push(said("nothing", &none));
    for name in ["imported", "interrupted", "faults"] {
        let levels = vec![level(name), level(name)];
        all.push(said(name, &SweepReport::new(RunSetup::default(), levels, None)));
    }
    let mixed = vec![level("imported"), level("faults")];
    all.push(said("mixed", &SweepReport::new(RunSetup::default(), mixed, None)));
    for rates in [
        [(4.0, 12.0), (1.0, 10.0), (2.0, 9.4), (8.0, 30.0)],
        [(1.0, 10.0), (2.0, 9.6), (4.0, 12.0), (8.0, 12.1)],
        [(1.0, 10.0), (2.0, 8.0), (2.0, 20.0), (4.0, 9.0)],
    ] {
        let mut levels = levels(&rates);
        // More load, and a longer tail.
        for level in &mut levels {
            let factor = level.load.value();
            let e2el = &mut level.summary.metrics.e2el;
            e2el.max = e2el.max.map(|max| fizeau_core::Millis::new(max.get() * factor));
        }
        let slo = Some(slos[1].parse().unwrap());
        all.push(said("made up", &SweepReport::new(RunSetup::default(), levels, slo)));
    }
    as_it_was("sweep-words", &(serde_json::to_string_pretty(&all).unwrap() + "\n"));
}

pub(crate) fn known(low: f64, high: f64) -> SampleSupport<Interval<PerSec>> {
    SampleSupport::Known(Interval::p95(PerSec::new(low), PerSec::new(high)))
}

#[test]
fn a_dip_is_below_both_neighbours_by_more_than_their_intervals() {
    let dips = |ends: [[f64; 2]; 3]| {
        let mut levels = levels(&[(1.0, 10.0), (2.0, 9.0), (4.0, 12.0)]);
        for (level, [low, high]) in levels.iter_mut().zip(ends) {
            level.summary.throughput.intervals.requests_per_s = Some(known(low, high));
        }
        SweepReport::new(RunSetup::default(), levels, None).dips().len()
    };
    assert_eq!(dips([[9.5, 10.5], [8.5, 9.4], [11.0, 13.0]]), 1);
    assert_eq!(dips([[9.5, 10.5], [8.5, 9.5], [11.0, 13.0]]), 0, "they touch");
    assert_eq!(dips([[9.5, 10.5], [8.5, 9.4], [9.4, 13.0]]), 0);
}

/// One run of two may saturate by chance: a load is too much where more than half of its runs were.
#[test]
fn a_load_is_too_much_where_more_than_half_of_its_runs_saturated() {
    let reached = |saturated: usize| {
        let mut runs = levels(&[(2.0, 10.0), (2.0, 10.1), (4.0, 20.0), (4.0, 20.1)]);
        for level in &mut runs {
            level.load = LoadKind::Rate.at(level.load.value());
            level.requested.arrivals = Some(ArrivalMoments::default());
        }
        for level in runs.iter_mut().skip(2).take(saturated) {
            level.summary.saturation = Some(growing_queue());
        }
        let slo = Some("mean e2el<3600s".parse().unwrap());
        let sweep = SweepReport::of_runs(RunSetup::default(), runs, slo);
        let json: Value = serde_json::from_str(&sweep.to_json().unwrap()).unwrap();
        (
            json["decisions"][0]["tight"]["highest_load"]["reached"].as_bool(),
            sweep.operating_point().level(),
        )
    };
    assert_eq!(
        [0, 1, 2].map(reached),
        [(Some(false), Some(1)), (Some(false), Some(1)), (Some(true), Some(0))]
    );
}

/// Of several runs the mean counts, with the interval that it has over them.
#[test]
fn a_dip_of_several_runs_is_one_by_their_means() {
    let dips = |lower: [f64; 3]| {
        let all = [(1.0, lower), (2.0, [9.0, 9.05, 8.95]), (4.0, [12.0, 12.05, 11.95])];
        let runs: Vec<(f64, f64)> =
            all.iter().flat_map(|(slots, rates)| rates.map(|rate| (*slots, rate))).collect();
        SweepReport::of_runs(RunSetup::default(), levels(&runs), None).dips().len()
    };
    assert_eq!(dips([10.0, 10.05, 9.95]), 1);
    assert_eq!(dips([10.0, 10.5, 9.5]), 0, "what the lower load does may be as little");
}

proptest! {
    #![proptest_config(cases(128))]

    /// The narrower of its own interval and that by the tokens, of which one end is as far off as both errors together.
    #[test]
    fn requests_are_as_well_known_as_their_tokens_or_themselves(
        own in prop::option::of(0.01..0.5_f64), below in 0.01..0.5_f64, above in 0.01..0.5_f64,
    ) {
        let mut summary = LEVEL.summary.clone();
        let seen = &mut summary.lengths.output.seen;
        (seen.min, seen.max) = (Some(Tokens::new(2)), Some(Tokens::new(9)));
        let (rate, tokens) = (summary.throughput.requests_per_s.get(), summary.throughput.output_tokens_per_s.get());
        let ends = |of: f64, below: f64, above: f64| {
            Some(known(of * (1.0 - below), of * (1.0 + above)))
        };
        summary.throughput.intervals.requests_per_s = own.and_then(|own| ends(rate, own, own));
        summary.throughput.intervals.output_tokens_per_s = ends(tokens, below, above);
        let lengths = &summary.lengths.output.seen;
        let range = (lengths.max.unwrap().get() - lengths.min.unwrap().get()) as f64;
        let of_length = 1.96 * range / 2.0 / lengths.mean.unwrap() / (lengths.n as f64).sqrt();
        let off = |tokens: f64| (tokens * tokens + of_length * of_length).sqrt();
        let by_tokens = [1.0 - off(below), 1.0 + off(above)];
        let expected = match own {
            Some(own) if 2.0 * own <= by_tokens[1] - by_tokens[0] => [1.0 - own, 1.0 + own],
            _ => by_tokens,
        };
        let (low, high) = requests_interval(&summary).unwrap();
        prop_assert!((low / rate - expected[0].max(0.0)).abs() < 1e-9, "{low} {rate} {expected:?}");
        prop_assert!((high / rate - expected[1]).abs() < 1e-9, "{high} {rate} {expected:?}");
    }
}

#[test]
fn tokens_of_other_requests_say_nothing() {
    let mut summary = LEVEL.summary.clone();
    summary.throughput.intervals.requests_per_s = None;
    summary.throughput.intervals.output_tokens_per_s = Some(known(1.0, 2.0));
    assert!(requests_interval(&summary).is_some());
    let none = |change: &dyn Fn(&mut LevelSummary)| {
        let mut summary = summary.clone();
        change(&mut summary);
        assert_eq!(requests_interval(&summary), None);
    };
    none(&|summary| summary.requests.completed += 1);
    none(&|summary| summary.throughput.output_tokens_per_s = PerSec::new(0.0));
    none(&|summary| summary.throughput.intervals.output_tokens_per_s = None);
    none(&|summary| summary.lengths.output.seen.mean = None);
}

/// One is due every 10 ms, and one is served every 12 ms.
pub(crate) fn growing_queue() -> Saturation {
    let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
    let tapes = (0..200).map(|n| {
        let mut tape = Tape::sent_at(ms(10 * n));
        tape.arrivals.push(Arrival::tokens(ms(12 * n + 12), 1, Channel::Visible));
        tape
    });
    Timeline::of(&tapes.collect::<Vec<_>>()).saturation()
}

/// Rounds count where both turns ended and neither is invalid; what they must keep is judged over those alone.
#[test]
fn rounds_that_count_are_whole_and_valid() {
    let turn = |name: &str| level(&format!("ab/{name}"));
    let party =
        |name: &str| AbParty { name: Some(name.to_owned()), endpoint: EndpointRecord::default() };
    let table = |b: [&str; 2]| {
        let sides = [["ab/a-01", "ab/a-02"], b].map(|side| side.map(fixture).to_vec());
        let report = ComparisonReport::of_sides(&sides, &CompareOptions::default()).unwrap();
        report.comparisons[0].levels[0].table.clone()
    };
    let (same, differing) = (table(["ab/a-03", "ab/a-04"]), table(["ab/b-01", "ab/b-02"]));
    let round = |number, a: Option<LevelReport>, b: Option<LevelReport>| AbRound {
        number,
        first: ComparisonSide::Baseline,
        a,
        b,
    };
    let mut partial = turn("b-01");
    partial.status = LevelStatus::Partial { reason: "interrupted".to_owned() };
    let mut invalid = turn("a-02");
    invalid.validity.verdict = Verdict::Invalid;
    invalid.validity.reasons.clear();
    let rounds = vec![
        round(1, Some(turn("a-01")), Some(turn("b-01"))),
        round(2, Some(turn("a-02")), Some(partial)),
        round(3, Some(invalid), Some(turn("b-02"))),
        round(4, Some(turn("a-03")), None),
        round(5, None, None),
    ];
    let why: Vec<String> =
        rounds.iter().map(|round| round.counted().err().unwrap_or_default()).collect();
    assert_eq!(
        why,
        [
            "",
            "B was interrupted",
            "A is invalid: no reason given",
            "B was not measured",
            "A was not measured"
        ]
    );
    let mut report =
        AbReport::new(RunSetup::default(), [party("a"), party("b")], 5, rounds, Ok(same));
    assert_eq!(report.counted().count(), 1);
    assert_eq!(report.verdict(), Verdict::Invalid);
    assert!(!report.is_regression(), "nothing was found to be worse");
    let is_worse = differing.answered(ComparisonAnswer::Worse).next().is_some();
    report.comparison = Ok(differing);
    assert!(is_worse && report.is_regression());
    let misses = |report: &AbReport| {
        [ComparisonSide::Baseline, ComparisonSide::Candidate].map(|side| report.misses_goals(side))
    };
    assert_eq!(misses(&report), [false; 2], "nobody asked");
    assert!(report.goals(ComparisonSide::Baseline).is_empty());
    let ttft = |side: usize| {
        let (a, b) = report.counted().next().unwrap();
        [a, b][side].summary.metrics.ttft.mean.unwrap().get()
    };
    let (a, b) = (ttft(0), ttft(1));
    let between = f64::midpoint(a, b);
    let fast = usize::from(b < a);
    report.slo = Some(format!("mean ttft<{between}ms").parse().unwrap());
    let missed = misses(&report);
    assert_eq!((missed[fast], missed[1 - fast]), (false, true), "{a} {b}");
    // What keeps the loose end alone is judged by that.
    report.slo = Some(format!("mean ttft<0.1ms..{between}ms").parse().unwrap());
    assert_eq!(misses(&report), missed);
    let side = [ComparisonSide::Baseline, ComparisonSide::Candidate][fast];
    assert_eq!(report.goals(side)[0].outcome.goal.limit, between);
    let other = [ComparisonSide::Candidate, ComparisonSide::Baseline][fast];
    assert_eq!(report.goals(other)[0].outcome.goal.limit, 0.1);
    for level in report.rounds.iter_mut().flat_map(|round| [&mut round.a, &mut round.b]).flatten() {
        level.requested.arrivals = Some(ArrivalMoments::default());
        level.summary.saturation = Some(growing_queue());
    }
    assert_eq!(misses(&report), [true; 2], "what a growing queue meets it does not keep");
    report.rounds.remove(0);
    assert_eq!(misses(&report), [true; 2], "no round counts");
    report.rounds.retain(|round| round.number != 3);
    assert_ne!(report.verdict(), Verdict::Invalid);
    report.comparison = Err("no round counts".to_owned());
    assert!(report.is_regression(), "nothing was shown not to be worse");
    let json: Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    assert_eq!(json["rounds"].as_array().unwrap().len(), 3);
}

/// Configurations beside one another, whole and not: `FIZEAU_BLESS=1` writes it anew.
#[test]
fn what_is_said_of_configurations_is_as_it_was() {
    let variant = |name: &str, devices, value: &str| WhatIfVariant {
        settings: vec![("tp".to_owned(), value.to_owned())],
        devices: Some(devices),
        outcome: Ok(read(name)),
    };
    let not_run = |why| WhatIfVariant { settings: Vec::new(), devices: None, outcome: Err(why) };
    let one = variant("what-if/configuration-01", 1, "1");
    let two = variant("what-if/configuration-02", 2, "2");
    let other = variant("sweep", 1, "other");
    let impossible = not_run(NotRunReason::Impossible("it needs more memory".to_owned()));
    let interrupted = not_run(NotRunReason::Interrupted);
    let slo: Slo = "mean e2el<1s".parse().unwrap();
    let strict: Slo = "mean ttft<1us".parse().unwrap();
    let mut all = Vec::new();
    for (variants, slo) in [
        (vec![one.clone(), two.clone()], Some(&slo)),
        (vec![two.clone(), one.clone(), impossible.clone()], Some(&slo)),
        (vec![one.clone(), other], Some(&slo)),
        (vec![two.clone(), one.clone()], Some(&strict)),
        (vec![one.clone(), two], None),
        (vec![one.clone(), interrupted.clone()], Some(&slo)),
        (vec![variant("killed", 1, "killed")], None),
        (vec![impossible, interrupted], None),
    ] {
        let judged = variants.into_iter().map(|variant| {
            let again = |sweep: SweepReport| {
                SweepReport::new(sweep.setup().clone(), sweep.levels().to_vec(), slo.cloned())
                    .with_unmeasured(sweep.unmeasured().to_vec())
            };
            WhatIfVariant { outcome: variant.outcome.map(again), ..variant }
        });
        let what_if =
            WhatIf::new(one.sweep().unwrap().setup().clone(), judged.collect(), slo.cloned());
        let reasons =
            what_if.variants().iter().map(|of| of.outcome.as_ref().err().map(ToString::to_string));
        let setup: Value = serde_json::from_str(&what_if.to_json().unwrap()).unwrap();
        all.push(json!({
            "names": what_if.variants().iter().map(WhatIfVariant::name).collect::<Vec<_>>(),
            "impossible": what_if.variants().iter().map(WhatIfVariant::impossible).collect::<Vec<_>>(),
            "reasons": reasons.collect::<Vec<_>>(),
            "title": what_if.title(),
            "answer": what_if.answer(),
            "frontier": what_if.frontier(),
            "chosen": what_if.chosen().iter().map(|chosen| (chosen.variant, chosen.per_device)).collect::<Vec<_>>(),
            "loads": what_if.loads(),
            "is_whole": what_if.is_whole(),
            "verdict": what_if.verdict().as_str(),
            "assumed": what_if.assumed_goals(),
            "setup": setup["setup"]["endpoint"],
        }));
    }
    as_it_was("what-if-words", &(serde_json::to_string_pretty(&all).unwrap() + "\n"));
}
