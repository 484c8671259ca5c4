//! What a sweep makes of its levels: the knee, the costs, the runs behind a load, and the run at its operating point.

use fizeau_core::{LoadKind, Millis, PerSec, Seconds, UsdPerHour};
use fizeau_metrics::{Distribution, Quantile, Slo, Verdict, VerdictConcern, VerdictReason};
use fizeau_record::{
    ArrivalMoments, FrontierPosition, LevelReport, LevelStatus, LoadRepeats, NoTokenCost,
    PlanLevel, Profile, ProfileAim, ReplicaCapacity, RunSetup, SpeedOfLightCurve, SweepReport,
};
use fizeau_roofline::{HourlyRate, PriceOrigin};
use serde_json::Value;

use crate::judged::{growing_queue, known, levels, read};

mod failures;

fn slo(text: &str) -> Option<Slo> {
    Some(text.parse().unwrap())
}

fn json(sweep: &SweepReport) -> Value {
    serde_json::from_str(&sweep.to_json().unwrap()).unwrap()
}

/// Puts the tail of a sample there: its p99, or its greatest where a p99 would take more values.
fn put_tail(sample: &mut Distribution, ms: f64, has_p99: bool) {
    (sample.n, sample.max) = (if has_p99 { 500 } else { 50 }, Some(Millis::new(ms)));
    sample.over_sent = None;
    sample.p99 = match has_p99 {
        true => Quantile::Known { value: Millis::new(ms), interval: None },
        false => Quantile::Withheld { needs: 100 },
    };
}

/// Levels of so many slots, requests per second and milliseconds of E2EL at the tail, which is a p99 or the greatest.
fn with_tails(all: &[(f64, f64, f64, bool)]) -> Vec<LevelReport> {
    let rates: Vec<(f64, f64)> = all.iter().map(|level| (level.0, level.1)).collect();
    let mut made = levels(&rates);
    for (level, (_, _, tail, has_p99)) in made.iter_mut().zip(all) {
        put_tail(&mut level.summary.metrics.e2el, *tail, *has_p99);
    }
    made
}

fn sweep(levels: Vec<LevelReport>, goals: Option<Slo>) -> SweepReport {
    SweepReport::new(RunSetup::default(), levels, goals)
}

/// A run of two slots at the operating point of loads of one, two and four.
fn sustained(goals: &str, change: impl FnOnce(&mut LevelReport)) -> SweepReport {
    let all = [(1.0, 10.0, 10.0, true), (2.0, 20.0, 20.0, true), (4.0, 22.0, 90.0, true)];
    let mut run = with_tails(&[(2.0, 15.0, 30.0, true)]).swap_remove(0);
    change(&mut run);
    sweep(with_tails(&all), slo(goals)).with_sustained(Some(run))
}

#[test]
fn a_run_at_the_operating_point_holds_where_it_ended_kept_up_and_met_its_goals() {
    let holds = |goals: &str, change: &dyn Fn(&mut LevelReport)| {
        let report = sustained(goals, |run| change(run));
        let sustained = report.sustained().unwrap();
        assert_eq!(json(&report)["sustained"]["holds"], sustained.holds());
        assert_eq!(sustained.goals().len(), 1);
        sustained.holds()
    };
    assert!(holds("p99 e2el<40ms", &|_| {}));
    assert!(
        !holds("p99 e2el<25ms", &|_| {}),
        "the level of two slots keeps it, and the run does not"
    );
    assert!(!holds("p99 e2el<40ms", &|run| {
        run.status = LevelStatus::Partial { reason: "interrupted".to_owned() };
    }));
    assert!(!holds("p99 e2el<40ms", &|run| {
        run.requested.arrivals = Some(ArrivalMoments::default());
        run.summary.saturation = Some(growing_queue());
    }));
    assert!(
        holds("p99 e2el<40ms", &|run| run.summary.saturation = Some(growing_queue())),
        "a closed loop has no queue"
    );
}

/// What the run had over what the level of its load had.
#[test]
fn a_run_at_the_operating_point_is_compared_with_the_level_of_its_load() {
    let report = sustained("p99 e2el<40ms", |run| {
        run.summary.throughput.output_tokens_per_s = PerSec::new(50.0);
        run.summary.metrics.e2el.mean = Some(Millis::new(8.0));
    });
    let mut levels = report.levels().to_vec();
    levels[1].summary.throughput.output_tokens_per_s = PerSec::new(200.0);
    levels[1].summary.metrics.e2el.mean = Some(Millis::new(4.0));
    let run = report.sustained().unwrap().run().clone();
    let shares = |levels: &[LevelReport], run: &LevelReport| {
        let report = sweep(levels.to_vec(), slo("p99 e2el<40ms")).with_sustained(Some(run.clone()));
        assert_eq!(
            report.level_of_sustained().map(|(at, _)| at as u64),
            json(&report)["sustained"]["level"].as_u64()
        );
        json(&report)["sustained"]["of_level"].clone()
    };
    let of_level = shares(&levels, &run);
    let share = |name: &str| of_level[name].as_f64();
    assert_eq!((share("requests_per_s"), share("output_tokens_per_s")), (Some(0.75), Some(0.25)));
    assert_eq!((share("mean_e2el"), share("p99_e2el")), (Some(2.0), Some(1.5)));
    levels[1].summary.throughput.output_tokens_per_s = PerSec::new(0.0);
    assert_eq!(shares(&levels, &run)["output_tokens_per_s"], Value::Null, "nothing has no share");
    levels.remove(1);
    assert_eq!(shares(&levels, &run), Value::Null, "its load was not measured besides");
}

/// A load that was measured several times has the median of their tails, without an interval.
#[test]
fn the_tail_at_a_load_is_that_of_all_its_runs() {
    let all = [(2.0, 9.0, 10.0, true), (2.0, 10.0, 30.0, true), (2.0, 11.0, 20.0, true)];
    let runs = with_tails(&all);
    let repeated = SweepReport::of_runs(RunSetup::default(), runs.clone(), None);
    let tail = repeated.tail_at(&repeated.levels()[0]).unwrap();
    assert_eq!([tail.value(), tail.low(), tail.high()].map(Millis::get), [20.0; 3]);
    let alone = sweep(vec![runs[1].clone()], None);
    assert_eq!(alone.tail_at(&alone.levels()[0]), runs[1].p99_e2el());
    assert!(runs[1].p99_e2el().is_some());
    let rates: Vec<f64> =
        repeated.measured_runs().map(|run| run.summary.throughput.requests_per_s.get()).collect();
    assert_eq!(rates, [9.0, 10.0, 11.0]);
    assert_eq!(alone.measured_runs().count(), 1);
    let ended = alone.with_sustained(Some(runs[0].clone()));
    assert_eq!(ended.measured_runs().count(), 2);
}

#[test]
fn two_runs_of_a_load_or_more_are_repeats_and_as_many_keep_goals_as_keep_them_alone() {
    let runs =
        with_tails(&[(2.0, 9.0, 10.0, true), (2.0, 11.0, 30.0, true), (2.0, 10.0, 20.0, true)]);
    assert_eq!(LoadRepeats::of(runs[..1].to_vec()), None);
    assert_eq!(LoadRepeats::of(runs[..2].to_vec()).unwrap().runs().len(), 2);
    let all = LoadRepeats::of(runs.clone()).unwrap();
    let keeping = |all: &LoadRepeats, goals: &str| all.keeping(&goals.parse().unwrap());
    assert_eq!(keeping(&all, "p99 e2el<15ms"), Some(1));
    assert_eq!(keeping(&all, "p99 e2el<15ms..25ms"), Some(2), "a range is kept at its loose end");
    let mut unjudged = runs.clone();
    unjudged[1].summary.goodput = None;
    unjudged[1].summary.throughput.goodput = None;
    let unjudged = LoadRepeats::of(unjudged).unwrap();
    assert_eq!(keeping(&all, "good_share>=0"), Some(3));
    assert_eq!(keeping(&unjudged, "good_share>=0"), None, "one had no goals for single requests");
    let rate = |level: Option<&LevelReport>| level.unwrap().summary.throughput.requests_per_s.get();
    assert_eq!(rate(all.standing_for_all()), 10.0);
    assert_eq!(rate(LoadRepeats::of(runs[..2].to_vec()).unwrap().standing_for_all()), 9.0);
    let mut grown = runs.clone();
    grown[0].summary.saturation = Some(growing_queue());
    assert_eq!(keeping(&LoadRepeats::of(grown).unwrap(), "p99 e2el<15ms"), Some(0));
    // A run that may not be compared stands for nothing.
    let mut one = runs;
    one[2].validity.verdict = Verdict::Invalid;
    let one = LoadRepeats::of(one).unwrap();
    assert_eq!((rate(one.standing_for_all()), one.compared().count()), (9.0, 2));
    let mean = one.mean(|run| Some(run.summary.throughput.requests_per_s.get())).unwrap();
    assert!((mean.mean - 10.0).abs() < 1e-12 && mean.half_width > 1.0, "{mean:?}");
    let range = one.range(|run| run.p99_e2el().map(|tail| tail.value().get())).unwrap();
    assert_eq!([range.median, range.least, range.greatest], [30.0, 10.0, 30.0]);
}

/// Twice the latency for hardly more requests; the words say what the latencies are.
#[test]
fn a_knee_says_in_which_latencies_it_was_seen() {
    let knee = |at: bool, beyond: bool| {
        let all = [(1.0, 10.0, 10.0, true), (2.0, 20.0, 12.0, at), (4.0, 20.2, 36.0, beyond)];
        let report = sweep(with_tails(&all), None);
        let document = &json(&report)["knee"];
        assert_eq!((document["level"].as_u64(), document["beyond"].as_u64()), (Some(1), Some(2)));
        assert!((document["requests_gain"].as_f64().unwrap() - 0.01).abs() < 1e-9);
        assert_eq!(document["e2el_factor"].as_f64(), Some(3.0));
        report.knee().unwrap()
    };
    let says = "concurrency 2: 4 gives +1.0 % requests/s for 3.0 times the";
    assert_eq!(knee(true, true), format!("{says} p99 E2EL"));
    assert_eq!(knee(false, false), format!("{says} greatest E2EL"));
    assert_eq!(knee(true, false), format!("{says} tail E2EL (a p99 against the greatest)"));
    assert_eq!(knee(false, true), format!("{says} tail E2EL (the greatest against a p99)"));
    let none = sweep(with_tails(&[(1.0, 10.0, 10.0, true), (2.0, 20.0, 12.0, true)]), None);
    assert_eq!((none.knee(), &json(&none)["knee"]), (None, &Value::Null));
    assert_eq!(
        json(&none)["knee_reason"],
        "at no level does more load cost latency without giving throughput"
    );
    let one = sweep(with_tails(&[(1.0, 10.0, 10.0, true)]), None);
    assert_eq!(json(&one)["knee_reason"], "fewer than two levels can be compared");
    assert_eq!(one.explained_knee(), None);
}

#[test]
fn a_level_is_beaten_by_one_that_is_no_worse_in_both_figures_and_better_in_one() {
    let all = [
        (1.0, 10.0, 10.0, true),
        (2.0, 10.0, 12.0, true),
        (4.0, 20.0, 30.0, true),
        (8.0, 20.0, 30.0, true),
    ];
    let mut made = with_tails(&all);
    made.push(made[0].clone());
    made[4].status = LevelStatus::Partial { reason: "cut".to_owned() };
    made.push(made[0].clone());
    made[5].summary.throughput.duration = Seconds::new(0.0);
    let report = sweep(made, None);
    let left_out = |reason: &str| FrontierPosition::LeftOut { reason: reason.to_owned() };
    let expected = [
        FrontierPosition::Frontier,
        FrontierPosition::Dominated { by: 0 },
        FrontierPosition::Frontier,
        FrontierPosition::Frontier,
        left_out("partial: cut"),
        left_out("no time passed, so it has no rates"),
    ];
    assert_eq!(report.positions(), expected);
    assert_eq!(report.frontier(), [0, 2, 3]);
    assert_eq!(report.compared().count(), 4);
}

#[test]
fn a_load_that_had_fewer_requests_than_slots_is_named() {
    let words = |sent: [u64; 2]| {
        let mut made = levels(&[(4.0, 10.0), (8.0, 20.0)]);
        for (level, sent) in made.iter_mut().zip(sent) {
            level.summary.requests.sent = sent;
        }
        sweep(made, None).never_full_words()
    };
    assert_eq!(words([4, 8]), None);
    assert!(
        words([4, 7]).unwrap().starts_with(
            "Concurrency 8 was never reached, since 7 requests were sent there at most"
        )
    );
    assert!(
        words([3, 7])
            .unwrap()
            .starts_with("Concurrency 4 and 8 were never reached, since 7 requests")
    );
    let mut one = levels(&[(4.0, 10.0)]);
    one[0].summary.requests.sent = 1;
    assert_eq!(sweep(one, None).never_full_words(), None);
}

/// `N / (3600 TPS) 10^6` device-hours, and so many times the price of one; the ends are those of the rate.
#[test]
fn a_million_tokens_take_the_time_of_all_devices() {
    let simulated = read("simulated");
    let curve: Option<SpeedOfLightCurve> = simulated.curve().cloned();
    assert_eq!(simulated.devices(), Some(1));
    let cost = |rate: f64, ends: Option<(f64, f64)>, usd: Option<f64>| {
        let mut made = levels(&[(1.0, 10.0)]);
        made[0].summary.throughput.output_tokens_per_s = PerSec::new(rate);
        made[0].summary.throughput.intervals.output_tokens_per_s =
            ends.map(|(low, high)| known(low, high));
        let price = usd.map(|usd| HourlyRate::given(UsdPerHour::new(usd)).unwrap());
        sweep(made, slo("mean e2el<3600s")).with_curve(curve.clone()).with_price(price)
    };
    let of = |sweep: &SweepReport| sweep.cost_at(0).unwrap();
    let plain = of(&cost(1000.0, Some((800.0, 1250.0)), Some(3.6)));
    let hours = 1e6 / 3600.0 / 1000.0;
    assert!((plain.device_hours.value / hours - 1.0).abs() < 1e-12);
    let ends = plain.device_hours.interval.unwrap();
    assert!((ends.low / (hours / 1.25) - 1.0).abs() < 1e-12, "{ends:?}");
    assert!((ends.high / (hours / 0.8) - 1.0).abs() < 1e-12, "{ends:?}");
    let usd = plain.usd.unwrap();
    assert!((usd.value - 1.0).abs() < 1e-12, "{usd:?}");
    let ends = usd.interval.unwrap();
    assert!((ends.low - 0.8).abs() < 1e-12 && (ends.high - 1.25).abs() < 1e-12, "{ends:?}");
    assert_eq!(usd.usd(), "1.0", "the digits that the interval supports");
    let cents = of(&cost(1000.0, None, Some(3.6))).usd.unwrap();
    assert_eq!((cents.usd().as_str(), cents.interval), ("1.00", None));
    assert_eq!(of(&cost(1000.0, None, None)).usd, None);
    assert_eq!(
        of(&cost(1000.0, Some((0.0, 1250.0)), None)).device_hours.interval,
        None,
        "an end is open"
    );
    assert_eq!(
        of(&cost(1000.0, Some((1100.0, 1250.0)), None)).device_hours.interval,
        None,
        "it leaves the rate out"
    );
    assert_eq!(cost(0.0, None, None).cost_at(0), Err(NoTokenCost::NoTokens));
    assert_eq!(cost(1.0, None, None).cost_at(1), Err(NoTokenCost::NoLevel));
    assert_eq!(cost(1.0, None, None).with_curve(None).cost_at(0), Err(NoTokenCost::NoDevices));
    let document = json(&cost(1000.0, None, Some(3.6)));
    assert_eq!(document["operating_cost"]["price_from"], "given");
    assert_eq!(
        document["operating_cost"]["ci_reason"],
        "the rate of output tokens has no interval"
    );
    let mut owned = HourlyRate::given(UsdPerHour::new(3.6)).unwrap();
    owned.origin = PriceOrigin::Owned;
    let owned = json(&cost(1000.0, None, None).with_price(Some(owned)));
    assert_eq!(owned["operating_cost"]["price_from"], "the costs of owning one");
    let no_price = json(&cost(1000.0, None, None));
    let reason = &no_price["operating_cost"]["usd_per_million_output_reason"];
    assert_eq!(*reason, "no price of the device is known");
}

#[test]
fn a_profile_says_what_it_puts_first_and_what_may_be_given_up_for_it() {
    assert_eq!(Profile::GENERAL.words(), "the most requests/s first");
    assert_eq!(Profile::AGENT.words(), "the most good requests/s first");
    let chat = "the least p99 TTFT first, at no less than 80 % of the most requests/s";
    assert_eq!(Profile::CHAT.words(), chat);
    let mut own = Profile::CHAT;
    (own.keep, own.factor) = (ProfileAim::TailE2el, 1.5);
    assert_eq!(
        own.words(),
        "the least p99 TTFT first, at no more than 1.5 times the least p99 E2EL"
    );
    assert_eq!(Profile::named("chat"), Some(Profile::CHAT));
    assert_eq!(Profile::named("nobody"), None);
}

/// Of three levels within the goals: the most requests, or the least wait among those that give up no more than a fifth.
#[test]
fn a_profile_chooses_among_the_levels_within_the_goals() {
    let chosen = |profile: Profile, rates: [f64; 3]| {
        let all =
            [(1.0, rates[0], 10.0, true), (2.0, rates[1], 11.0, true), (4.0, rates[2], 12.0, true)];
        let mut made = with_tails(&all);
        for (level, ttft) in made.iter_mut().zip([1.0, 2.0, 3.0]) {
            put_tail(&mut level.summary.metrics.ttft, ttft, true);
        }
        let report = sweep(made, slo("p99 e2el<50ms")).with_profile(profile);
        report.operating_point().level()
    };
    assert_eq!(chosen(Profile::GENERAL, [79.0, 90.0, 100.0]), Some(2));
    assert_eq!(
        chosen(Profile::CHAT, [79.0, 90.0, 100.0]),
        Some(1),
        "79 of 100 is more than a fifth less"
    );
    assert_eq!(chosen(Profile::CHAT, [81.0, 90.0, 100.0]), Some(0));
}

/// Behind the goals stand two limits that nobody types: no growing queue, and few failures.
#[test]
fn what_ends_the_loads_within_the_goals_is_named_where_it_is_no_goal() {
    let tight = |kind: LoadKind, change: &dyn Fn(&mut LevelReport)| {
        let all = [(1.0, 10.0, 10.0, true), (2.0, 20.0, 11.0, true), (4.0, 40.0, 12.0, true)];
        let mut made = with_tails(&all);
        for level in &mut made {
            level.load = kind.at(level.load.value());
            level.summary.requests.sent = 100;
            (level.summary.requests.completed, level.summary.requests.failed) = (100, 0);
        }
        change(&mut made[2]);
        json(&sweep(made, slo("p99 e2el<50ms")))["decisions"][0]["tight"].clone()
    };
    let kept = tight(LoadKind::Concurrency, &|_| {});
    assert_eq!(kept["highest_load"]["reached"], false);
    assert_eq!(kept["highest_load"]["load"], 4.0);
    assert_eq!(kept["highest_load"]["closest_goal"], "p99 e2el<50ms");
    let failing = tight(LoadKind::Concurrency, &|level| {
        (level.summary.requests.completed, level.summary.requests.failed) = (50, 50);
    });
    let highest = &failing["highest_load"];
    assert_eq!(highest["breaks_first"]["goal"], "few failed requests");
    assert_eq!(highest["breaks_first"]["level"], 2);
    assert_eq!(highest["breaks_first"]["value"], 0.5);
    assert_eq!(
        (&highest["reached"], &highest["nearest_level"]),
        (&Value::from(true), &Value::from(1))
    );
    assert_eq!(highest["load_between_tested"], serde_json::json!([2.0, 4.0]));
    assert_eq!(failing["operating_point"]["level"], 1);
    let queue = tight(LoadKind::Rate, &|level| {
        level.requested.arrivals = Some(ArrivalMoments::default());
        level.summary.saturation = Some(growing_queue());
    });
    let highest = &queue["highest_load"];
    assert_eq!(highest["breaks_first"]["goal"], "no growing queue");
    assert_eq!(highest["breaks_first"]["value"], 1.0);
    assert_eq!(highest["load_between_tested"], serde_json::json!([2.0, 4.0]));
    let missed = tight(LoadKind::Concurrency, &|_| {});
    assert_eq!(missed["highest_load_reason"], Value::Null);
}

/// Where there is no interval of the goals' own figures next to the edge, the reason is that of what broke.
#[test]
fn why_a_highest_load_has_no_interval_is_said_of_what_broke() {
    let reason = |is_failing: bool| {
        let mut made = levels(&[(1.0, 10.0), (2.0, 20.0), (4.0, 40.0)]);
        for level in &mut made {
            level.load = LoadKind::Rate.at(level.load.value());
            level.summary.requests.sent = 100;
            (level.summary.requests.completed, level.summary.requests.failed) = (100, 0);
            let rate = level.summary.throughput.requests_per_s.get();
            level.summary.throughput.intervals.requests_per_s = Some(known(0.9 * rate, 1.1 * rate));
            let mean = level.summary.metrics.e2el.mean.unwrap();
            let ends = fizeau_metrics::Interval::p95(
                Millis::new(0.9 * mean.get()),
                Millis::new(1.1 * mean.get()),
            );
            level.summary.metrics.e2el.mean_interval =
                Some(fizeau_metrics::SampleSupport::Known(ends));
        }
        if is_failing {
            (made[2].summary.requests.completed, made[2].summary.requests.failed) = (50, 50);
        } else {
            made[2].requested.arrivals = Some(ArrivalMoments::default());
            made[2].summary.saturation = Some(growing_queue());
        }
        json(&sweep(made, slo("mean e2el<3600s")))["decisions"][0]["tight"]["highest_load"]["load_ci_reason"].clone()
    };
    assert_eq!(reason(true), "it is where requests began to fail, which has no interval");
    assert_eq!(reason(false), "it is where a queue began to grow, which has no interval");
}

/// Nobody counted good requests, or the level has no such latency: the goal is not missed, it cannot be judged.
#[test]
fn a_goal_that_no_level_can_be_judged_by_is_told_with_the_reason() {
    let words = |goals: &str, change: &dyn Fn(&mut LevelReport)| {
        let mut made = levels(&[(1.0, 10.0)]);
        change(&mut made[0]);
        sweep(made, slo(goals)).operating_words()
    };
    let no_goodput = |level: &mut LevelReport| {
        (level.summary.goodput, level.summary.throughput.goodput) = (None, None);
    };
    let said = words("good_share>0.5", &no_goodput);
    let why = "none, since good share > 0.5 cannot be judged: goodput needs goals for single requests; the run has ";
    assert!(said.starts_with(why), "{said}");
    assert!(
        words("goodput_per_s>1", &no_goodput).contains("goodput needs goals for single requests")
    );
    let no_tpot = |level: &mut LevelReport| level.summary.metrics.tpot = Distribution::default();
    let said = words("p99 tpot<1s", &no_tpot);
    assert!(said.contains("cannot be judged: no level has a TPOT; the run has TTFT"), "{said}");
}

#[test]
fn the_interval_of_a_goal_is_that_of_its_figure_at_the_level() {
    let mut made = levels(&[(1.0, 10.0)]);
    made[0].summary.throughput.intervals.requests_per_s = Some(known(9.0, 12.0));
    made[0].summary.throughput.intervals.output_tokens_per_s = None;
    let goals = slo("rps>3").unwrap();
    let report = sweep(made, Some(goals.clone()));
    let ends = report.goal_interval(&goals.goals[0], 0).unwrap();
    assert_eq!((ends.low, ends.high), (9.0, 12.0));
    assert_eq!(report.goal_interval(&goals.goals[0], 1), None);
}

/// The rule of the step leaves out the highest level, and a profile may go further down.
#[test]
fn why_a_level_was_chosen_is_the_rule_or_the_profile() {
    let chosen = |profile: Profile| {
        let all = [(1.0, 90.0, 10.0, true), (2.0, 100.0, 12.0, true), (4.0, 102.0, 40.0, true)];
        let mut made = with_tails(&all);
        for (level, ttft) in made.iter_mut().zip([1.0, 2.0, 3.0]) {
            put_tail(&mut level.summary.metrics.ttft, ttft, true);
        }
        let point = json(&sweep(made, slo("p99 e2el<50ms")).with_profile(profile));
        let point = &point["operating_point"];
        (point["level"].as_u64().unwrap(), point["chosen_by"].as_str().unwrap().to_owned())
    };
    assert_eq!(chosen(Profile::GENERAL), (1, "rule".to_owned()));
    assert_eq!(chosen(Profile::CHAT), (0, "profile".to_owned()));
    assert_eq!(chosen(Profile::BATCH), (2, "goals".to_owned()));
}

/// A load that was never in flight shows nothing of itself, and goals that nobody keeps have no highest load.
#[test]
fn the_highest_load_is_one_that_was_in_flight() {
    let highest = |goals: &str, sent: u64| {
        let mut made = with_tails(&[(4.0, 10.0, 10.0, true), (8.0, 20.0, 11.0, true)]);
        made[1].summary.requests.sent = sent;
        json(&sweep(made, slo(goals)))["decisions"][0]["tight"].clone()
    };
    assert_eq!(highest("p99 e2el<50ms", 8)["highest_load"]["load"], 8.0);
    assert_eq!(highest("p99 e2el<50ms", 7)["highest_load"]["load"], 4.0);
    let none = highest("p99 e2el<1us", 8);
    assert_eq!(none["highest_load"], Value::Null);
    assert_eq!(none["highest_load_reason"], "no tested level keeps all goals");
}
