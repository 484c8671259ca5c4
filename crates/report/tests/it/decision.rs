//! The load to run at: edge, rule, profiles, ranges, kinds of load.

use fizeau_core::{Arrival, Channel, Millis, Nanos, PerSec, Seconds, Stamp, Tape};
use fizeau_core::{LevelLoad, LoadKind};
use fizeau_metrics::{Distribution, Goodput, Interval, Quantile, SampleSupport, Timeline, Verdict};
use fizeau_pareto::LoadEdge;
use fizeau_record::{
    ArrivalMoments, LevelReport, LevelStatus, OperatingChoiceReason, OperatingDecision,
    OperatingPoint, Profile, SweepReport,
};
use fizeau_report::{Shown, Verbosity};
use serde_json::{Value, json};

use crate::sample;

/// A p99 in ms with an interval of `half` to both sides.
fn p99(ms: f64, half: f64) -> Distribution {
    let ends = Interval::p95(Millis::new(ms - half), Millis::new(ms + half));
    let interval = (half > 0.0).then_some(SampleSupport::Known(ends));
    let mut figures = Distribution::default();
    figures.n = 1_000;
    (figures.mean, figures.max) = (Some(Millis::new(ms)), Some(Millis::new(ms)));
    figures.p99 = Quantile::Known { value: Millis::new(ms), interval };
    figures
}

/// A level of which the rate and the p99 of TTFT and E2EL matter.
fn level(load: LevelLoad, requests_per_s: f64, ttft: Distribution, e2el: f64) -> LevelReport {
    let mut level = sample::level(1);
    level.load = load;
    level.summary.throughput.requests_per_s = PerSec::new(requests_per_s);
    level.summary.throughput.intervals = fizeau_metrics::RateIntervals::default();
    level.summary.throughput.duration = Seconds::new(60.0);
    level.summary.metrics.ttft = ttft;
    level.summary.metrics.e2el = p99(e2el, 0.0);
    level
}

pub(crate) fn slots(n: u32, requests_per_s: f64, ttft: f64, e2el: f64) -> LevelReport {
    let mut level = level(LoadKind::Concurrency.at(n.into()), requests_per_s, p99(ttft, 0.0), e2el);
    (level.summary.requests.sent, level.summary.requests.completed) = (1_000, 1_000);
    level
}

pub(crate) fn rate(rate: f64, ttft: f64, half: f64) -> LevelReport {
    level(LevelLoad::Rate(PerSec::new(rate)), rate, p99(ttft, half), 10.0 * ttft)
}

pub(crate) fn sweep(levels: Vec<LevelReport>, slo: &str) -> SweepReport {
    SweepReport::new(sample::setup(), levels, Some(slo.parse().unwrap()))
}

/// A load at which some requests fail keeps no goal on a latency, however fast the others are: not as a candidate, and not for
/// the highest load.
#[test]
fn a_load_that_fails_requests_is_too_much() {
    let mut failing = rate(40.0, 220.0, 0.0);
    let requests = &mut failing.summary.requests;
    (requests.sent, requests.completed, requests.failed) = (1_000, 540, 460);
    let report = sweep(vec![rate(20.0, 200.0, 0.0), failing.clone()], "p99 ttft<1s");
    let json = parsed(&report);
    assert_eq!(json["operating_point"]["load"]["requests_per_s"], 20.0);
    let highest = &json["decisions"][0]["tight"]["highest_load"];
    let load = highest["load"].as_f64().unwrap();
    assert!((20.0..21.0).contains(&load), "{highest}");
    assert_eq!(highest["breaks_first"]["goal"], "few failed requests");
    assert!(said(&report).contains("46 % of the requests failed, at 40"), "{}", said(&report));
    let alone = sweep(vec![failing], "p99 ttft<1s");
    let json = parsed(&alone);
    assert!(json["operating_point"].is_null());
    assert_eq!(json["operating_point_nearest"]["goals"][0]["failed_share"], 0.46);
    let text = said(&alone);
    assert!(text.contains("at the nearest, 40 requests/s, 46 % of the requests failed"), "{text}");
    assert!(text.contains("missed: 46 % of the requests failed; "), "{text}");
}

pub(crate) fn parsed(report: &SweepReport) -> Value {
    serde_json::from_str(&report.to_json().unwrap()).unwrap()
}

/// The sentences about the operating point, each on one line.
pub(crate) fn said(report: &SweepReport) -> String {
    let text = shown(report, Verbosity::Full);
    let from = text.find("Operating point").unwrap();
    let to = text[from..].find("\nClient:").unwrap();
    text[from..from + to].split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shown(report: &SweepReport, verbosity: Verbosity) -> String {
    Shown(report).terminal(&crate::terminal::plain(120, verbosity))
}

#[test]
fn the_highest_rate_lies_between_the_tested_ones() {
    let levels = vec![rate(2.0, 200.0, 20.0), rate(4.0, 300.0, 20.0), rate(8.0, 700.0, 20.0)];
    let report = sweep(levels, "p99 ttft<=500ms");
    let [OperatingDecision { kind: LoadKind::Rate, tight, loose: None }] = report.decisions()
    else {
        panic!("{:?}", report.decisions());
    };
    let Ok(LoadEdge::Between(edge)) = tight.maximum.edge else { panic!("{tight:?}") };
    assert_eq!((edge.load.value(), edge.below, edge.breaks.level), (6.0, 1, 2));
    assert!((edge.load.low() - 5.8).abs() < 1e-9 && (edge.load.high() - 6.2).abs() < 1e-9);
    let text = said(&report);
    for part in [
        "Operating point: 4 requests/s offered, 4.00 completed: the most requests/s within the goals; the tightest goal is p99 TTFT, 40 % below its limit",
        "p99 TTFT <= 500 ms: met, measured 300 ms, margin 40 %",
        "Highest rate within the goals: about 6.0 requests/s (5.8 to 6.2), interpolated between the tested 4 and 8; 6.0 (5.8 to 6.2) requests/s completed",
        "Beyond it p99 TTFT <= 500 ms breaks first, by 40 %: 700 ms at 8",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let json = parsed(&report);
    let highest = &json["decisions"][0]["tight"]["highest_load"];
    assert_eq!((&highest["load"], &highest["nearest_level"]), (&6.0.into(), &1.into()));
    assert_eq!(highest["breaks_first"]["goal"], "p99 ttft<=500ms");
    assert_eq!(json["decisions"][0]["kind"], "rate");
    assert_eq!(json["operating_point"]["chosen_by"], "goals");
    assert_eq!(json["operating_point"]["goals"][0]["measured_ci"][0], 280.0);
    assert!((highest["load_ci"][1].as_f64().unwrap() - 6.2).abs() < 1e-9);
    assert_eq!(json["operating_point"]["goals"][0]["margin"], 0.4);
}

#[test]
fn without_intervals_that_of_the_edge_is_not_known() {
    let levels = vec![slots(8, 10.0, 200.0, 900.0), slots(16, 19.0, 800.0, 1_500.0)];
    let report = sweep(levels, "p99 ttft<=500ms");
    let text = said(&report);
    let part = "Highest concurrency within the goals: about 12, interpolated between the tested 8 and 16; \
     14.5 requests/s completed; no interval, since there are too few independent values near the \
     limit";
    assert!(text.contains(part), "{text}");
    let highest = &parsed(&report)["decisions"][0]["tight"]["highest_load"];
    assert!(highest["load_ci"].is_null() && highest["requests_per_s_ci"].is_null());
    assert_eq!(highest["load_ci_reason"], "no interval is known of p99 ttft<=500ms");
}

/// The worse end of no level's interval keeps the goal: then nothing says that even the lowest load does.
#[test]
fn a_load_that_may_break_the_goals_even_at_the_lowest_level_is_not_sure() {
    let levels = vec![rate(1.0, 400.0, 150.0), rate(2.0, 450.0, 150.0)];
    let report = sweep(levels, "p99 ttft<=500ms");
    let text = said(&report);
    assert!(text.contains("above the highest tested, 2") && !text.contains("surely"), "{text}");
    let highest = &parsed(&report)["decisions"][0]["tight"]["highest_load"];
    assert_eq!(highest["load_ci"], json!([null, null]), "{highest}");
}

#[test]
fn where_every_level_keeps_the_goals_the_edge_is_above() {
    let report = sweep(vec![rate(2.0, 200.0, 5.0), rate(4.0, 300.0, 5.0)], "p99 ttft<400ms");
    let text = said(&report);
    let part = "Highest rate within the goals: above the highest tested, 4; nearest to its limit is p99 TTFT < 400 ms, margin 25 %";
    assert!(text.contains(part), "{text}");
    let highest = &parsed(&report)["decisions"][0]["tight"]["highest_load"];
    assert_eq!((&highest["reached"], &highest["load"]), (&false.into(), &4.0.into()));
}

/// 16 keep the goal too, for twice the latency and 5 % more.
fn not_worth_it() -> Vec<LevelReport> {
    vec![
        slots(4, 10.0, 100.0, 800.0),
        slots(8, 20.0, 150.0, 850.0),
        slots(16, 21.0, 400.0, 1_700.0),
        slots(32, 21.0, 900.0, 3_400.0),
    ]
}

#[test]
fn a_level_that_is_not_worth_its_latency_is_left_though_it_keeps_the_goals() {
    let report = sweep(not_worth_it(), "p99 ttft<500ms");
    let OperatingPoint::Met {
        level, why: OperatingChoiceReason::Rule { beyond, gain, cost }, ..
    } = *report.operating_point()
    else {
        panic!("{:?}", report.operating_point());
    };
    assert_eq!((level, beyond, cost), (1, 2, 2.0));
    assert!((gain - 0.05).abs() < 1e-9);
    let part = "Operating point: concurrency 8, 20.0 requests/s completed; the tightest goal is p99 TTFT, 70 % below its limit; 16 meets the goals too, but gives only +5.0 % requests/s for 2.00 times the tail E2EL";
    assert!(said(&report).contains(part), "{}", said(&report));
    let json = parsed(&report);
    assert_eq!(json["operating_point"]["chosen_by"], "rule");
    assert_eq!(json["profile"]["step_rule"], "2x:10%");
    let stricter = Profile::GENERAL.with_rule("2x:5%".parse().ok());
    assert_eq!(report.with_profile(stricter).operating_point().level(), Some(2));
}

#[test]
fn profiles_put_different_things_first() {
    let chosen = |profile: Profile, levels: Vec<LevelReport>| {
        sweep(levels, "p99 ttft<500ms").with_profile(profile).operating_point().level()
    };
    let all = |levels: fn() -> Vec<LevelReport>| {
        Profile::ALL.map(|profile| (profile.name, chosen(profile, levels())))
    };
    let expected =
        [("general", Some(1)), ("chat", Some(1)), ("batch", Some(2)), ("agent", Some(1))];
    assert_eq!(all(not_worth_it), expected);
    // Here each level is worth it: only chat stays below, since that costs it less than a fifth.
    let worth = || {
        let mut levels = not_worth_it();
        levels[2].summary.throughput.requests_per_s = PerSec::new(24.0);
        levels
    };
    let expected =
        [("general", Some(2)), ("chat", Some(1)), ("batch", Some(2)), ("agent", Some(2))];
    assert_eq!(all(worth), expected);
    let chat = sweep(worth(), "p99 ttft<500ms").with_profile(Profile::CHAT);
    let part = "higher levels meet the goals too, but chat puts the least p99 TTFT first, at no less than 80 % of the most requests/s";
    assert!(said(&chat).contains(part), "{}", said(&chat));
    let json = parsed(&chat);
    assert_eq!(json["operating_point"]["chosen_by"], "profile");
    let profile = &json["profile"];
    assert_eq!((&profile["name"], &profile["factor"]), (&"chat".into(), &1.25.into()));
}

/// Of three that are worth it, the second has the most good requests.
#[test]
fn agents_put_goodput_first() {
    let good = |level: LevelReport, good: f64| {
        let goodput = Some(Goodput::new(PerSec::new(good), 0.9));
        let mut level = level;
        level.summary.throughput.goodput = goodput;
        level
    };
    let levels = vec![
        good(slots(4, 10.0, 100.0, 800.0), 10.0),
        good(slots(8, 20.0, 150.0, 850.0), 19.0),
        good(slots(16, 30.0, 400.0, 1_000.0), 12.0),
    ];
    let report = sweep(levels, "p99 ttft<500ms").with_profile(Profile::AGENT);
    assert_eq!(report.operating_point().level(), Some(1));
    let part = "higher levels meet the goals too, but agent puts the most good requests/s first";
    assert!(said(&report).contains(part), "{}", said(&report));
}

#[test]
fn a_range_is_answered_at_both_ends() {
    let levels = || vec![rate(2.0, 200.0, 0.0), rate(4.0, 600.0, 0.0), rate(8.0, 1_000.0, 0.0)];
    let report = sweep(levels(), "p99 ttft<=400ms..700ms");
    assert_eq!(report.operating_point().level(), Some(0));
    let text = said(&report);
    for part in [
        "Operating point: 2 requests/s offered, 2.00 completed: the most requests/s within the goals; the tightest goal is p99 TTFT, 50 % below its limit",
        "Highest rate within the goals: about 3.00 requests/s",
        "At the loose end (p99 ttft<=700ms): 4 requests/s offered, 4.00 completed: the most requests/s within the goals; the tightest goal is p99 TTFT, 14 % below its limit",
        "Highest rate within the goals: about 5.00 requests/s",
        "The range buys +66.7 % requests/s at the highest load: 5.00 against 3.00",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(parsed(&report)["decisions"][0]["met"], "tight");
    let beyond = said(&sweep(levels(), "p99 ttft<=400ms..2s"));
    assert!(beyond.contains("The range buys at least +166.7 % requests/s"), "{beyond}");
    let both = said(&sweep(levels(), "p99 ttft<=2s..3s"));
    assert!(!both.contains("The range buys"), "{both}");
    let report = sweep(levels(), "p99 ttft<=100ms..700ms");
    assert!(report.decisions()[0].is_met() && report.decisions()[0].is_loose_only());
    assert_eq!(report.operating_point().level(), Some(1));
    let text = said(&report);
    assert!(
        text.contains("the tightest goal is p99 TTFT, 14 % below its limit; met at the loose end of the goals only"),
        "{text}"
    );
    let part = "At the tight end (p99 ttft<=100ms): none, since no level meets every goal; the nearest is 2 requests/s, where p99 TTFT <= 200 ms can be met";
    assert!(text.contains(part), "{text}");
    let report = sweep(levels(), "p99 ttft<=100ms..150ms");
    assert!(!report.decisions()[0].is_met());
    assert_eq!(report.operating_point().level(), None);
}

#[test]
fn each_kind_of_load_has_its_own_answer_rates_first() {
    let levels = vec![
        slots(4, 3.0, 100.0, 800.0),
        slots(8, 5.0, 900.0, 950.0),
        rate(2.0, 200.0, 0.0),
        rate(4.0, 600.0, 0.0),
    ];
    let report = sweep(levels, "p99 ttft<500ms");
    let kinds: Vec<LoadKind> = report.decisions().iter().map(|decision| decision.kind).collect();
    assert_eq!(kinds, [LoadKind::Rate, LoadKind::Concurrency]);
    let levels: Vec<_> = report.decisions().iter().map(|one| one.tight.point.level()).collect();
    assert_eq!(levels, [Some(2), Some(0)]);
    assert_eq!(report.operating_point().level(), Some(2));
    let part = "By concurrency: concurrency 4, 3.00 requests/s completed: the most requests/s of the tested concurrencies within the goals; the tightest goal is p99 TTFT, 80 % below its limit";
    assert!(said(&report).contains(part), "{}", said(&report));
}

#[test]
fn a_goal_that_the_run_has_no_figure_for_says_what_there_is() {
    let report = sweep(vec![slots(4, 3.0, 100.0, 800.0)], "p99 ttft<500ms, goodput>0.99");
    let text = said(&report);
    let part = "Operating point: none, since good share > 0.99 cannot be judged: goodput needs goals for single requests; the run has TTFT,";
    assert!(text.contains(part), "{text}");
    assert!(text.contains("RPS, output TPS and failed share"), "{text}");
    let json = parsed(&report);
    assert!(json["operating_point"].is_null());
    assert!(json["operating_point_reason"].as_str().unwrap().starts_with("good share > 0.99"));
    let reason = json["decisions"][0]["tight"]["highest_load_reason"].as_str().unwrap();
    assert!(reason.contains("no tested level has the figure"), "{reason}");
}

#[test]
fn an_empty_frontier_says_why() {
    let mut partial = slots(4, 3.0, 100.0, 800.0);
    partial.status = LevelStatus::Partial { reason: "interrupted".to_owned() };
    let reason = |levels: Vec<LevelReport>| {
        let json = parsed(&sweep(levels, "p99 ttft<500ms"));
        json["operating_point_reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason(vec![partial]), "no level can be compared: every level was left out");
    assert_eq!(reason(Vec::new()), "no level can be compared: none was measured");
}

#[test]
fn a_goal_that_nothing_meets_names_what_could_be_met() {
    let levels = vec![slots(1, 1.0, 611.3, 800.0), slots(8, 5.0, 900.0, 950.0)];
    let report = sweep(levels, "p99 ttft<500ms, p99 e2el<1s");
    let part = "the nearest is concurrency 1, where p99 TTFT <= 612 ms can be met";
    assert!(said(&report).contains(part), "{}", said(&report));
    let json = parsed(&report);
    assert_eq!(json["operating_point_nearest"]["could_be_met"][0], "p99 TTFT <= 612 ms");
    let highest = &json["decisions"][0]["tight"];
    assert_eq!(highest["highest_load_reason"], "no tested level keeps all goals");
}

#[test]
fn figures_that_do_not_go_one_way_are_told_from_chance() {
    let levels = |half| {
        vec![
            rate(1.0, 200.0, half),
            rate(2.0, 450.0, half),
            rate(3.0, 300.0, half),
            rate(4.0, 900.0, half),
        ]
    };
    let report = sweep(levels(20.0), "p99 ttft<500ms");
    let part = "p99 TTFT does not change in one direction with the load: from 2 to 3 it goes 150 ms the wrong way, 10.4 standard errors";
    assert!(said(&report).contains(part), "{}", said(&report));
    let found = &parsed(&report)["decisions"][0]["tight"]["not_monotone"][0];
    assert_eq!((&found["earlier_level"], &found["later_level"]), (&1.into(), &2.into()));
    for half in [0.0, 150.0] {
        let report = sweep(levels(half), "p99 ttft<500ms");
        assert!(!said(&report).contains("one way"), "{}", said(&report));
    }
}

/// An open-loop level whose queue grew to the end.
fn saturated(mut level: LevelReport) -> LevelReport {
    level.requested.arrivals = Some(ArrivalMoments { rate: None, cv_squared: Some(1.0) });
    // One is due every 10 ms, and one is served every 12 ms.
    let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
    let tapes = (0..200).map(|n| {
        let mut tape = Tape::sent_at(ms(10 * n));
        tape.arrivals.push(Arrival::tokens(ms(12 * n + 12), 1, Channel::Visible));
        tape
    });
    level.summary.saturation = Some(Timeline::of(&tapes.collect::<Vec<_>>()).saturation());
    level
}

#[test]
fn a_level_whose_queue_grew_keeps_no_goal_for_long() {
    let levels =
        vec![rate(2.0, 200.0, 5.0), rate(4.0, 220.0, 5.0), saturated(rate(8.0, 300.0, 5.0))];
    let report = sweep(levels.clone(), "p99 ttft<400ms");
    assert_eq!(report.operating_point().level(), Some(1));
    let text = said(&report);
    for part in [
        "Highest rate within the goals: 4 requests/s, as tested; 8 is too much",
        "Beyond it the queue grew to the end, at 8",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let highest = &parsed(&report)["decisions"][0]["tight"]["highest_load"];
    assert_eq!((&highest["reached"], &highest["load"]), (&true.into(), &4.0.into()));
    assert_eq!(highest["breaks_first"]["goal"], "no growing queue");
    assert_eq!(highest["load_between_tested"][1], 8.0);
    let all = levels.into_iter().map(saturated).collect();
    let text = said(&sweep(all, "p99 ttft<400ms"));
    assert!(
        text.contains("none, since the queue grew to the end at every level that meets every goal"),
        "{text}"
    );
}

/// Of slots there are whole ones, and what is said to be served is what they serve.
#[test]
fn slots_are_whole_and_so_is_what_they_serve() {
    let levels = vec![slots(8, 10.0, 200.0, 900.0), slots(16, 18.0, 700.0, 1_500.0)];
    let report = sweep(levels, "p99 ttft<=480ms");
    let Ok(LoadEdge::Between(edge)) = report.decisions()[0].tight.maximum.edge else { panic!() };
    // 480 ms are crossed at 12.48 slots.
    assert_eq!((edge.load.value(), edge.throughput.value()), (12.0, 14.0));
    // Without an interval the tested loads bound it.
    assert_eq!((edge.load.low(), edge.load.high()), (8.0, 16.0));
}

/// What broke is what was measured there, not what a regression made of it.
#[test]
fn what_breaks_is_what_was_measured() {
    let levels = vec![rate(2.0, 200.0, 20.0), rate(4.0, 700.0, 20.0), rate(8.0, 600.0, 20.0)];
    let text = said(&sweep(levels, "p99 ttft<=500ms"));
    assert!(text.contains("breaks first, by 40 %: 700 ms at 4"), "{text}");
}

/// Of what keeps the goals the most is taken, be there a level that misses them and beats it in throughput and tail latency.
#[test]
fn a_level_that_keeps_the_goals_is_found_behind_one_that_misses_them() {
    let levels = vec![
        slots(8, 10.0, 100.0, 800.0),
        slots(10, 12.0, 150.0, 900.0),
        slots(11, 14.0, 600.0, 850.0),
        slots(12, 16.0, 700.0, 950.0),
    ];
    let report = sweep(levels, "p99 ttft<500ms");
    assert_eq!(report.frontier(), [0, 2, 3]);
    assert_eq!(report.operating_point().level(), Some(1));
    // The table of the page says so of its row, as it does not say that another beats it.
    #[cfg(feature = "html")]
    {
        let page = Shown(&report).page();
        assert_eq!(page.matches(">operating point<").count(), 1, "{page}");
        assert!(!page.contains(">dominated by"), "{page}");
    }
}

/// Smoothed over its neighbours no level keeps the goal, and one does as it was measured.
#[test]
fn what_smoothing_alone_misses_is_said_so() {
    let levels = vec![slots(8, 10.0, 600.0, 800.0), slots(10, 12.0, 450.0, 900.0)];
    let report = sweep(levels, "p99 ttft<500ms");
    assert_eq!(report.operating_point().level(), Some(1));
    let json = parsed(&report);
    let reason = "no tested level keeps all goals once figures are smoothed over neighbouring \
                  loads; the best as measured is concurrency 10";
    assert_eq!(json["decisions"][0]["tight"]["highest_load_reason"], reason);
    let text = said(&report);
    assert!(text.contains("Highest concurrency within the goals: none once figures"), "{text}");
}

/// Whether a load can be kept up is judged by the end of the goals that it was chosen for, by the queue, and by the run's verdict.
#[test]
fn a_sustained_run_is_judged_as_its_point_was_chosen() {
    let levels = || vec![rate(2.0, 200.0, 0.0), rate(4.0, 600.0, 0.0)];
    let kept = |slo: &str, run: LevelReport| {
        let report = sweep(levels(), slo).with_sustained(Some(run));
        (report.sustained().unwrap().holds(), report)
    };
    assert!(kept("p99 ttft<=300ms", rate(2.0, 250.0, 0.0)).0);
    let (holds, report) = kept("p99 ttft<=100ms..300ms", rate(2.0, 250.0, 0.0));
    assert!(holds, "the loose end is what the level was chosen for");
    assert_eq!(parsed(&report)["sustained"]["goals"][0]["goal"], "p99 ttft<=300ms");
    let (holds, report) = kept("p99 ttft<=300ms", saturated(rate(2.0, 250.0, 0.0)));
    assert!(!holds);
    let text = said(&report);
    assert!(text.contains("the queue grew to the end, so that this load cannot be"), "{text}");
    let mut suspect = rate(2.0, 250.0, 0.0);
    suspect.validity.verdict = Verdict::Suspect;
    assert_eq!(kept("p99 ttft<=300ms", suspect).1.verdict(), Verdict::Suspect);
}

/// Slots that had no request are no load: neither one to run at nor one that bounds the goals.
#[test]
fn a_concurrency_of_more_slots_than_requests_is_no_load_to_run_at() {
    let mut levels = vec![
        slots(16, 10.0, 100.0, 800.0),
        slots(512, 30.0, 150.0, 900.0),
        slots(2_048, 31.0, 160.0, 900.0),
    ];
    for level in &mut levels {
        (level.summary.requests.sent, level.summary.requests.completed) = (300, 300);
    }
    let report = sweep(levels.clone(), "p99 ttft<500ms");
    assert_eq!(report.operating_point().level(), Some(0));
    let brief = shown(&report, Verbosity::Brief);
    let brief: Vec<&str> = brief.split_whitespace().collect();
    let empty =
        "Concurrency 512 and 2048 were never reached, since 300 requests were sent there at most";
    assert!(brief.join(" ").contains(empty), "{brief:?}");
    let text = said(&report);
    assert!(text.contains("above the highest tested, 16"), "{text}");
    let alone = sweep(levels.split_off(2), "p99 ttft<500ms");
    assert_eq!(alone.operating_point().level(), Some(0), "it is as it was asked for");
    assert_eq!(alone.never_full_words(), None);
}
