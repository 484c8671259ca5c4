//! Goals on a level.

use fizeau_core::{FailureClass, Nanos, Stamp};
use fizeau_metrics::{
    Comparison, Goal, GoalOutcome, GoodputGoals, LevelSummary, Metric, Slo, Statistic,
};
use proptest::prelude::*;

use crate::tapes::{failed, tape};

fn goal(statistic: Statistic, metric: Metric, comparison: Comparison, limit: f64) -> Goal {
    Goal { statistic, metric, comparison, limit, loosest: None }
}

#[test]
fn goals_are_read_as_written() {
    use Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
    let cases = [
        ("p99 ttft<500ms", goal(Statistic::P99, Metric::Ttft, Less, 500.0)),
        ("ttft<500", goal(Statistic::P99, Metric::Ttft, Less, 500.0)),
        ("  median   tpot <= 0.07 s ", goal(Statistic::P50, Metric::Tpot, LessOrEqual, 70.0)),
        ("p99.9 itl<800us", goal(Statistic::P999, Metric::Itl, Less, 0.8)),
        ("max icl<5ns", goal(Statistic::Max, Metric::Icl, Less, 5e-6)),
        ("mean e2el_scheduled<1s", goal(Statistic::Mean, Metric::E2elScheduled, Less, 1e3)),
        ("goodput>0.99", goal(Statistic::Value, Metric::GoodShare, Greater, 0.99)),
        ("goodput>=1", goal(Statistic::Value, Metric::GoodShare, GreaterOrEqual, 1.0)),
        ("goodput>12", goal(Statistic::Value, Metric::GoodputPerSec, Greater, 12.0)),
        ("rps>=3", goal(Statistic::Value, Metric::RequestsPerSec, GreaterOrEqual, 3.0)),
        ("output_tps>1000", goal(Statistic::Value, Metric::OutputTokensPerSec, Greater, 1e3)),
    ];
    for (text, expected) in cases {
        let slo: Slo = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(slo.goals, [expected], "{text}");
    }
}

#[test]
fn a_range_goes_from_the_limit_wanted_to_a_looser_one() {
    use Comparison::{Greater, Less, LessOrEqual};
    let range = |goal: Goal, loosest| Goal { loosest: Some(loosest), ..goal };
    let (ttft, share) = (Metric::Ttft, Metric::GoodShare);
    let cases = [
        ("p99 ttft<500ms..800ms", range(goal(Statistic::P99, ttft, Less, 500.0), 800.0)),
        ("ttft<500 .. 800", range(goal(Statistic::P99, ttft, Less, 500.0), 800.0)),
        ("ttft<=0.5..0.8s", range(goal(Statistic::P99, ttft, LessOrEqual, 500.0), 800.0)),
        ("ttft<900us..1.5s", range(goal(Statistic::P99, ttft, Less, 0.9), 1500.0)),
        ("goodput>0.99..0.95", range(goal(Statistic::Value, share, Greater, 0.99), 0.95)),
    ];
    for (text, expected) in cases {
        let slo: Slo = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(slo.goals, [expected], "{text}");
        assert!(slo.is_range() && !slo.tight().is_range() && !slo.loose().is_range());
        assert_eq!(slo.tight().goals[0].limit, expected.limit);
        assert_eq!(slo.loose().goals[0].limit, expected.loosest.unwrap());
    }
    let slo: Slo = "p99 ttft<500ms..800ms".parse().unwrap();
    assert_eq!(slo.to_string(), "p99 ttft<500ms..800ms");
    assert_eq!(slo.goals[0].describe(), "p99 TTFT < 500..800 ms");
}

#[test]
fn a_goal_knows_the_interval_of_its_figure() {
    let replies = (0..200u64).map(|i| (i * 50, i * 7919 % 13, i * 104_729 % 17));
    let tapes: Vec<_> = replies
        .map(|(sent, first, last)| tape(sent, &[(sent + 20 + first, 1), (sent + 900 + last, 1)]))
        .collect();
    let level = LevelSummary::of(&tapes, &"ttft:25".parse().unwrap());
    let outcomes = |text: &str| text.parse::<Slo>().unwrap().evaluate(&level);
    for outcome in
        outcomes("median ttft<1s, mean ttft<1s, mean itl<5s, rps>1, goodput_per_s>1, goodput>0.1")
    {
        let value = outcome.measured.unwrap();
        let ends = outcome.interval.unwrap_or_else(|| panic!("{outcome:?}"));
        assert!(ends.low <= value && value <= ends.high, "{outcome:?}");
    }
    for outcome in outcomes("max ttft<1s, p99 itl<5s") {
        assert!(outcome.measured.is_some() && outcome.interval.is_none(), "{outcome:?}");
    }
}

#[test]
fn errors_name_the_piece_and_the_remedy() {
    let cases = [
        ("", "a goal is missing: write goals separated by commas, for instance `p99 ttft<500ms`"),
        (
            "ttft<5,,",
            "a goal is missing: write goals separated by commas, for instance `p99 ttft<500ms`",
        ),
        (
            "ttft=5",
            "goal `ttft=5`: write `[statistic] metric<number[unit]`, for instance `p99 ttft<500ms`",
        ),
        (
            "a b ttft<5",
            "goal `a b ttft<5`: write `[statistic] metric<number[unit]`, for instance `p99 ttft<500ms`",
        ),
        (
            "p98 ttft<5",
            "goal `p98 ttft<5`: unknown statistic `p98`; the statistics are mean, p50, p90, p95, p99, p999, max",
        ),
        (
            "p99 ttft>500ms",
            "goal `p99 ttft>500ms`: a latency must stay below its limit; write `p99 ttft<500ms`",
        ),
        ("tpot>=20", "goal `tpot>=20`: a latency must stay below its limit; write `tpot<=20`"),
        ("rps<5", "goal `rps<5`: throughput must stay above its limit; write `rps>5`"),
        (
            "good_share<=0.9",
            "goal `good_share<=0.9`: the share of good requests must stay above its limit; write `good_share>=0.9`",
        ),
        ("failed<0%", "goal `failed<0%`: nothing is below 0; write `failed<=0%`"),
        ("ttft<0ms", "goal `ttft<0ms`: nothing is below 0; write `ttft<=0ms`"),
        (
            "ttft p99 < 500ms",
            "goal `ttft p99 < 500ms`: the statistic comes first; write `p99 ttft< 500ms`",
        ),
        ("p99 rps>5", "goal `p99 rps>5`: rps is one number a level; drop `p99`"),
        ("ttft<fast", "goal `ttft<fast`: `fast` is not a limit; write a positive decimal number"),
        (
            "ttft<1.2.3",
            "goal `ttft<1.2.3`: `1.2.3` is not a limit; write a positive decimal number",
        ),
        ("ttft<5m", "goal `ttft<5m`: unknown unit `m`; ttft takes ns, us, ms or s"),
        ("rps>5ms", "goal `rps>5ms`: unknown unit `ms`; rps takes a bare number"),
        (
            "ttft<800ms..500ms",
            "goal `ttft<800ms..500ms`: a range begins with the tight limit, and with `<` the loose one is higher; swap the two, or give one limit",
        ),
        (
            "goodput>=0.95..0.99",
            "goal `goodput>=0.95..0.99`: a range begins with the tight limit, and with `>=` the loose one is lower; swap the two, or give one limit",
        ),
        (
            "ttft<5..",
            "goal `ttft<5..`: it has no limit; write a positive decimal number, such as 500",
        ),
        ("ttft<1ms..2m", "goal `ttft<1ms..2m`: unknown unit `m`; ttft takes ns, us, ms or s"),
        (
            "goodput>1",
            "goal `goodput>1`: a share goes from 0 to 1 and cannot be above 1; for requests per second write `goodput_per_s`",
        ),
        (
            "failed<1",
            "goal `failed<1`: a share of 1 is all requests, so that it says nothing; write `failed<1%` for one in a hundred",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(text.parse::<Slo>().unwrap_err().to_string(), message);
    }
    let unknown = "latency<5".parse::<Slo>().unwrap_err().to_string();
    assert!(
        unknown.starts_with("goal `latency<5`: unknown metric `latency`; the metrics are ttft,")
    );
}

#[test]
fn a_level_is_held_against_each_goal() {
    let tapes: Vec<_> = (0..10u64).map(|i| tape(0, &[(20 + i, 1), (1000, 1)])).collect();
    let goodput: GoodputGoals = "ttft:24".parse().unwrap();
    let level = LevelSummary::of(&tapes, &goodput);
    let slo: Slo =
        "max ttft<=29ms, max ttft<29ms, p99 ttft<1s, rps>=10, goodput>=0.5, goodput_per_s>5"
            .parse()
            .unwrap();
    let outcomes = slo.evaluate(&level);
    let met: Vec<bool> = outcomes.iter().map(GoalOutcome::is_met).collect();
    assert_eq!(met, [true, false, false, true, true, false]);
    assert_eq!(outcomes[0].measured, Some(29.0));
    assert_eq!(
        outcomes[2].measured, None,
        "ten requests support no p99, so none is shown to be met"
    );
    assert_eq!(outcomes[5].measured, Some(5.0));
}

/// A failed request met nothing: of those that were sent as many may fail as lie beyond the percentile.
#[test]
fn failed_requests_count_against_goals_on_latencies() {
    let tapes: Vec<_> = (0..1_000u64).map(|_| tape(0, &[(20, 1), (1000, 1)])).collect();
    let mut level = LevelSummary::of(&tapes, &GoodputGoals::default());
    let is_met = |level: &LevelSummary, goal: &str| {
        goal.parse::<Slo>().unwrap().evaluate(level).iter().all(GoalOutcome::is_met)
    };
    for (statistic, most) in [
        ("p50", 500),
        ("p90", 100),
        ("p95", 50),
        ("p99", 10),
        ("p99.9", 1),
        ("max", 0),
        ("mean", 10),
    ] {
        for failed in [most, most + 1] {
            (level.requests.completed, level.requests.failed) = (1_000 - failed, failed);
            let goal = format!("{statistic} ttft<1s");
            assert_eq!(is_met(&level, &goal), failed == most, "{goal}: {failed} failed");
            level.requests.by_class = [(FailureClass::Cancelled, failed)].into();
            assert!(is_met(&level, &goal), "the client cancelled them");
            level.requests.by_class.clear();
        }
    }
    assert!(is_met(&level, "rps>1"), "what completes counts by itself");
}

/// Eight that failed and eight that were slow are 1.6 % of a thousand that did not keep the limit, though each alone is under 1 %.
#[test]
fn a_percentile_goal_counts_what_failed_and_what_was_slow_together() {
    let of = |slow: usize, failures: usize| {
        let mut tapes = vec![tape(0, &[(20, 1), (1000, 1)]); 1_000 - slow - failures];
        tapes.resize(1_000 - failures, tape(0, &[(400, 1), (1000, 1)]));
        tapes.resize(1_000, failed(tape(0, &[]), FailureClass::Status));
        LevelSummary::of(&tapes, &GoodputGoals::default())
    };
    let slo: Slo = "p99 ttft<100ms".parse().unwrap();
    for (slow, failures, expected) in
        [(8, 0, None), (8, 8, Some(400.0)), (0, 8, None), (1, 8, None), (5, 6, Some(400.0))]
    {
        let outcome = slo.evaluate(&of(slow, failures))[0];
        assert_eq!(outcome.measured, Some(20.0));
        assert_eq!(outcome.over_sent, expected, "{slow} slow, {failures} failed");
        assert_eq!(outcome.is_met(), expected.is_none());
        assert_eq!(outcome.deciding_figure(), expected.or(Some(20.0)));
    }
}

/// A cap on requests in flight holds them back: from the sending all is fast, and from the schedule it is not.
#[test]
fn under_an_open_loop_goals_count_from_the_schedule() {
    let held = |i: u64| {
        let mut tape = tape(1_000, &[(1_020, 1), (1_100, 1)]);
        tape.marks.intended = Stamp::EPOCH + Nanos::from_millis(i);
        tape
    };
    let tapes: Vec<_> = (0..200u64).map(held).collect();
    let mut level = LevelSummary::of(&tapes, &GoodputGoals::default());
    let slo: Slo = "max ttft<500ms, p50 e2el<500ms, max ttft<2s, max ttft<10ms".parse().unwrap();
    let waited = |level: &LevelSummary| -> Vec<Option<f64>> {
        slo.evaluate(level).iter().map(|outcome| outcome.from_schedule).collect()
    };
    assert_eq!(waited(&level), [Some(1_020.0), Some(1_000.5), None, None]);
    let met = |level: &LevelSummary| -> Vec<bool> {
        slo.evaluate(level).iter().map(GoalOutcome::is_met).collect()
    };
    assert_eq!(met(&level), [false, false, true, false]);
    level.arrivals = None;
    assert_eq!(met(&level), [true, true, true, false], "a closed loop has no schedule");
}

#[test]
fn a_level_of_nothing_meets_nothing() {
    let level = LevelSummary::of(&[], &GoodputGoals::default());
    let slo: Slo = "mean ttft<1s, rps>10, goodput>0.1, goodput>10".parse().unwrap();
    assert!(slo.evaluate(&level).iter().all(|outcome| !outcome.is_met()));
}

#[test]
fn goals_are_described_for_people() {
    let slo: Slo = "p99 ttft<0.5s, goodput>=0.99, rps>3".parse().unwrap();
    let described: Vec<String> = slo.goals.iter().map(Goal::describe).collect();
    assert_eq!(described, ["p99 TTFT < 500 ms", "good share >= 0.99", "RPS > 3 req/s"]);
}

fn any_goal() -> impl Strategy<Value = String> {
    let latency = (
        prop::sample::select(vec![
            "", "mean ", "median ", "p90 ", "p95 ", "p99 ", "p99.9 ", "max ",
        ]),
        prop::sample::select(vec![
            "ttft",
            "first_visible",
            "tpot",
            "itl",
            "icl",
            "e2el",
            "ttft_scheduled",
        ]),
        prop::sample::select(vec!["<", "<="]),
        1e-6..1e6f64,
        prop::sample::select(vec!["", "ns", "us", "ms", "s"]),
    );
    let latency = latency.prop_map(|(s, m, c, x, u)| format!("{s}{m}{c}{x}{u}"));
    let value = (prop::sample::select(vec!["rps", "output_tps", "goodput"]), 0.0..1e5f64);
    let range = (prop::sample::select(vec!["", "us", "ms", "s"]), 1.0..1e6f64, 1.1..10.0f64);
    prop_oneof![
        latency,
        value.prop_map(|(m, x)| format!("{m}>{x}")),
        range.clone().prop_map(|(u, x, by)| format!("p90 tpot<={x}{u}..{}{u}", x * by)),
        range.prop_map(|(_, x, by)| format!("rps>{x}..{}", x / by)),
    ]
}

proptest! {
    #![proptest_config(crate::cases(256))]

    #[test]
    fn what_is_displayed_parses_to_the_same(goals in prop::collection::vec(any_goal(), 1..5)) {
        let slo: Slo = goals.join(",").parse().unwrap();
        let again: Slo = slo.to_string().parse().unwrap();
        prop_assert_eq!(slo, again);
    }

    #[test]
    fn no_text_panics(text in "[a-z0-9<>=., %µ-]{0,40}") {
        let _ = text.parse::<Slo>();
    }
}
