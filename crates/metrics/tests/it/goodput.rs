//! Goals for a single request.

use std::collections::BTreeMap;

use fizeau_core::{Channel, FailureClass, Millis, Tape};
use fizeau_metrics::{
    Goodput, GoodputAttainment, GoodputError, GoodputGoals, LevelSummary, LevelTally, LoadPacing,
    Metric, RequestGoal, SimpleGoals,
};
use proptest::prelude::*;
use serde_json::json;

use crate::tapes::{any_tape, failed, ms, tape};

fn goals(text: &str) -> GoodputGoals {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Of a closed loop, where all counts from the sending.
fn meets(tape: &Tape, text: &str) -> bool {
    goals(text).are_met_by(tape, LoadPacing::ClosedLoop)
}

fn goal(metric: Metric, limit: f64) -> RequestGoal {
    RequestGoal { metric, limit: Millis::new(limit) }
}

#[test]
fn the_spelling_is_that_of_vllm() {
    let parsed = goals("ttft:500 tpot:50.5 e2el:2000");
    let [ttft, tpot, e2el] = [500.0, 50.5, 2000.0].map(|limit| Some(Millis::new(limit)));
    assert_eq!(parsed.simple(), Some(SimpleGoals { ttft, tpot, e2el }));
    assert_eq!(parsed.groups().len(), 1);
    assert!(goals("").is_empty());
    assert_eq!(goals(" ").simple(), Some(SimpleGoals::default()));
}

#[test]
fn the_word_or_begins_another_group() {
    let parsed = goals("ttft:500 itl_p99:80 or e2el:2000 OR first_visible:9");
    let groups = [
        vec![goal(Metric::Ttft, 500.0), goal(Metric::Itl, 80.0)],
        vec![goal(Metric::E2el, 2000.0)],
        vec![goal(Metric::FirstVisible, 9.0)],
    ];
    assert_eq!(parsed.groups(), groups);
    assert_eq!(parsed, GoodputGoals::any_of(groups));
    assert_eq!(parsed.to_string(), "ttft:500 itl_p99:80 or e2el:2000 or first_visible:9");
    assert_eq!(GoodputGoals::any_of([Vec::new()]), GoodputGoals::NONE);
}

#[test]
fn only_what_vllm_can_be_asked_for_is_simple() {
    for beyond in ["ttft:1 or tpot:2", "ttft_scheduled:1", "ttft:1 itl_p99:2", "first_visible:3"] {
        assert_eq!(goals(beyond).simple(), None, "{beyond}");
    }
}

#[test]
fn errors_name_the_piece_and_the_remedy() {
    let error = |text: &str| text.parse::<GoodputGoals>().unwrap_err();
    assert_eq!(
        error("ttft:5 itl:5 or foo:1").to_string(),
        "unknown goodput goal `itl`, `foo`: the names are ttft, ttft_scheduled, first_visible, tpot, \
         itl_p99, e2el and e2el_scheduled; a reply has many gaps: `itl_p99` is the p99 of its own"
    );
    assert!(error("foo:1").to_string().ends_with("e2el and e2el_scheduled"));
    assert_eq!(error("ttft=5"), GoodputError::NoColon("ttft=5".to_owned()));
    for bad in ["ttft:5ms", "ttft:-5", "ttft:0", "ttft:nan", "ttft:inf", "ttft:"] {
        assert_eq!(error(bad), GoodputError::Limit(bad.to_owned()));
    }
    assert_eq!(error("ttft:5 ttft:6"), GoodputError::Twice("ttft".to_owned()));
    assert_eq!(goals("ttft:5 tpot:1 or ttft:6").groups().len(), 2);
    for bad in ["or", "ttft:5 or", "or ttft:5", "ttft:5 or or tpot:6"] {
        assert_eq!(error(bad), GoodputError::EmptyGroup);
    }
}

#[test]
fn the_names_of_aiperf_are_those_of_the_same_figures() {
    let theirs = goals("time_to_first_token:500 inter_token_latency:50 or request_latency:2000");
    assert_eq!(theirs, goals("ttft:500 tpot:50 or e2el:2000"));
    assert_eq!(goals("time_to_first_output_token:500"), goals("first_visible:500"));
    let rate = "output_token_throughput_per_user:50".parse::<GoodputGoals>().unwrap_err();
    assert!(rate.to_string().ends_with("50 are `tpot:20`"), "{rate}");
}

#[test]
fn a_goal_is_met_at_its_limit_and_missed_beyond() {
    let mut request = tape(10, &[(30, 1), (40, 1)]);
    request.marks.intended = ms(4);
    request.arrivals[0].channel = Channel::Reasoning;
    let limits = [
        ("ttft", 20.0),
        ("ttft_scheduled", 26.0),
        ("first_visible", 30.0),
        ("tpot", 10.0),
        ("itl_p99", 10.0),
        ("e2el", 30.0),
        ("e2el_scheduled", 36.0),
    ];
    let known = "ttft, ttft_scheduled, first_visible, tpot, itl_p99, e2el and e2el_scheduled";
    let message = "x:1".parse::<GoodputGoals>().unwrap_err().to_string();
    assert!(message.contains(known), "{message}");
    for (name, limit) in limits {
        assert!(meets(&request, &format!("{name}:{limit}")), "{name}");
        assert!(!meets(&request, &format!("{name}:{}", limit - 0.1)), "{name}");
    }
    assert!(!meets(&request, "ttft:20 e2el:29"));
    assert!(meets(&request, "ttft:1 or ttft:20 e2el:30"));
    assert!(!meets(&request, "ttft:1 e2el:30 or ttft:20 e2el:1"));
}

/// Gaps of 10 ms for one token and 90 ms for nine: ten tokens of 10 ms each, then one of 30 ms. Of eleven values the
/// p99 lies at rank 9.9, by linear interpolation at 10 + 0.9 x 20 = 28 ms.
#[test]
fn the_p99_of_a_replys_own_gaps_is_weighted_by_tokens() {
    let reply = tape(0, &[(5, 3), (15, 1), (105, 9), (135, 1)]);
    assert!(meets(&reply, "itl_p99:28.0001"));
    assert!(!meets(&reply, "itl_p99:27.9999"));
    let two = tape(0, &[(5, 1), (15, 1)]);
    assert!(meets(&two, "itl_p99:10"), "one gap is enough for the reply's own p99");
}

#[test]
fn a_figure_that_is_absent_meets_no_goal() {
    let single = tape(0, &[(20, 1)]);
    assert!(!meets(&single, "tpot:50"));
    assert!(!meets(&single, "itl_p99:50"));
    assert!(meets(&single, "ttft:50"));
    assert!(meets(&single, "tpot:50 or ttft:50"));
}

#[test]
fn goodput_and_the_good_share_have_intervals() {
    // A hundred milliseconds apart; every fifth is bad.
    let one = |n: u64| {
        let first = if n.is_multiple_of(5) { 60 } else { 20 };
        tape(n * 100, &[(n * 100 + first, 1), (n * 100 + 90, 1)])
    };
    let tapes: Vec<Tape> = (0..400).map(one).collect();
    let json = |goals: &str, count: usize| {
        let level = LevelSummary::of(&tapes[..count], &goals.parse().unwrap());
        serde_json::to_value(&level).unwrap()["throughput"].take()
    };
    let ends = |value: &serde_json::Value| [0, 1].map(|end| value[end].as_f64().unwrap());
    let four_fifths = json("ttft:30", 400);
    let [low, high] = ends(&four_fifths["good_share_ci"]);
    assert!(low > 0.7 && low < 0.8 && high > 0.8 && high < 0.9, "{four_fifths}");
    let [low, high] = ends(&four_fifths["goodput_per_s_ci"]);
    assert!(low > 6.0 && low <= 8.0 && (8.0..10.0).contains(&high), "{four_fifths}");
    // That all of them were good does not say that none can be bad.
    let [low, high] = ends(&json("ttft:100", 400)["good_share_ci"]);
    assert!(low < 0.995 && low > 0.98 && high == 1.0, "{low} {high}");
    let few = json("ttft:30", 20);
    assert_eq!(few["good_share_ci_reason"], "needs about 30 values, has 20");
    assert!(json("", 400).get("good_share_ci").is_none());
}

#[test]
fn a_failed_request_is_bad_and_in_the_denominator() {
    let good = tape(0, &[(20, 1), (1000, 1)]);
    let bad = failed(good.clone(), FailureClass::InStreamError);
    let level = LevelSummary::of([&good, &bad, &bad, &bad], &goals("ttft:500"));
    let goodput = level.throughput.goodput.unwrap();
    assert_eq!(goodput.share, 0.25);
    assert_eq!(goodput.rate.get(), 1.0);
    let without = LevelSummary::of([&good], &GoodputGoals::default());
    assert_eq!((without.throughput.goodput, without.goodput), (None, None));
    assert!(meets(&good, "") && !meets(&bad, ""));
}

#[test]
fn a_request_that_was_due_and_never_sent_is_bad_too() {
    let good: Vec<Tape> = (0..400).map(|n| tape(n * 100, &[(n * 100 + 20, 1)])).collect();
    let mut level = LevelSummary::of(&good, &goals("ttft:500"));
    let rate = level.throughput.goodput.unwrap().rate;
    level.note_unsent(400);
    assert_eq!(level.throughput.goodput.unwrap(), Goodput::new(rate, 0.5));
    let mut written = serde_json::to_value(&level).unwrap();
    assert_eq!(written["requests"]["unsent"], 400);
    let high = written["throughput"]["good_share_ci"][1].as_f64().unwrap();
    assert_eq!(high, 0.5);
    assert_eq!(written["goodput"]["unsent"], 400);
    assert_eq!(written["goodput"]["groups"][0]["by_goal"][0]["met_share"], 0.5);
    let again: GoodputAttainment = serde_json::from_value(written["goodput"].take()).unwrap();
    assert_eq!(Some(again), level.goodput);
}

#[test]
fn the_goals_are_kept_with_what_came_of_each() {
    let (quick, slow) = (tape(0, &[(20, 1), (30, 1)]), tape(0, &[(400, 1), (1000, 1)]));
    let lost = failed(slow.clone(), FailureClass::Truncated);
    let tapes = [&quick, &slow, &lost, &lost];
    let level = LevelSummary::of(tapes, &goals("ttft:500 tpot:50 or e2el:30"));
    let counted = |metric, limit_ms, met, met_share| json!({"metric": metric, "limit_ms": limit_ms, "met": met, "met_share": met_share});
    let groups = json!([
        {"goals": "ttft:500 tpot:50", "good": 1, "good_share": 0.25,
         "by_goal": [counted("ttft", 500.0, 2, 0.5), counted("tpot", 50.0, 1, 0.25)]},
        {"goals": "e2el:30", "good": 1, "good_share": 0.25, "by_goal": [counted("e2el", 30.0, 1, 0.25)]},
    ]);
    let goals = "ttft:500 tpot:50 or e2el:30";
    let whole = json!({"goals": goals, "sent": 4, "good": 1, "good_share": 0.25, "groups": groups});
    let written = serde_json::to_value(&level).unwrap();
    assert_eq!(written["goodput"], whole);
    assert_eq!(written["throughput"]["good_share"], 0.25);
    let bare = serde_json::to_value(LevelSummary::of([&quick], &GoodputGoals::NONE)).unwrap();
    assert!(bare["goodput"].is_null());
    assert_eq!(bare["goodput_reason"], "no goals were given, or nothing was sent");
}

/// A cap on requests in flight holds the second request back for 600 ms: sent then, it is as quick as the first. Whoever sent it waits
/// for 620 ms, and goals for a percentile of TTFT count that ([`Slo`](fizeau_metrics::Slo)).
#[test]
fn under_a_schedule_a_good_request_keeps_its_limits_from_the_schedule_too() {
    let quick = tape(0, &[(20, 1), (30, 1)]);
    let mut held = tape(600, &[(620, 1), (630, 1)]);
    held.marks.intended = ms(0);
    let level = |text: &str, closed: LoadPacing| {
        let mut tally = LevelTally::new(&goals(text));
        if closed == LoadPacing::ClosedLoop {
            tally = tally.of_closed_loop();
        }
        [&quick, &held].into_iter().for_each(|tape| tally.add(tape));
        serde_json::to_value(tally.summary()).unwrap()["goodput"].take()
    };
    for late in ["ttft:500", "e2el:500 tpot:50", "tpot:1 or ttft:500"] {
        assert!(!goals(late).are_met_by(&held, LoadPacing::OpenLoop), "{late}");
        assert!(!goals(late).are_met_by(&held, LoadPacing::AllAtOnce), "{late}");
        let open = level(late, LoadPacing::OpenLoop);
        assert_eq!((&open["good"], &open["good_from_sending"]), (&json!(1), &json!(2)), "{late}");
        let closed = level(late, LoadPacing::ClosedLoop);
        assert_eq!((&closed["good"], closed.get("good_from_sending")), (&json!(2), None));
    }
    let by_goal = &level("e2el:500 tpot:50", LoadPacing::OpenLoop)["groups"][0]["by_goal"];
    assert_eq!((&by_goal[0]["met"], &by_goal[1]["met"]), (&json!(1), &json!(2)));
    assert!(goals("ttft:620 tpot:50").are_met_by(&held, LoadPacing::OpenLoop));
}

fn any_goals() -> impl Strategy<Value = GoodputGoals> {
    let all: Vec<Metric> = Metric::series().chain([Metric::Itl]).collect();
    let metric = 0..all.len();
    let group = prop::collection::btree_map(metric, 1u16..400, 1..4);
    let goals = move |group: BTreeMap<usize, u16>| {
        group.into_iter().map(|(metric, limit)| goal(all[metric], limit.into())).collect()
    };
    prop::collection::vec(group.prop_map(goals), 1..4).prop_map(GoodputGoals::any_of)
}

fn some_tapes() -> impl Strategy<Value = Vec<Tape>> {
    let one = (any_tape(), any::<bool>());
    let fail = |(tape, fails): (Tape, bool)| {
        if fails { failed(tape, FailureClass::Truncated) } else { tape }
    };
    prop::collection::vec(one.prop_map(fail), 1..30)
}

proptest! {
    #![proptest_config(crate::cases(64))]

    #[test]
    fn goals_come_back_from_their_text(goals in any_goals()) {
        prop_assert_eq!(goals.to_string().parse(), Ok(goals));
    }

    /// A group is met by no more than each of its goals is; the whole by no fewer than each group, and no more than all.
    #[test]
    fn shares_are_ordered(tapes in some_tapes(), goals in any_goals()) {
        let level = LevelSummary::of(&tapes, &goals).goodput.unwrap();
        let one_by_one = tapes.iter().filter(|tape| goals.are_met_by(tape, LoadPacing::OpenLoop)).count() as u64;
        prop_assert_eq!((level.sent, level.good), (tapes.len() as u64, one_by_one));
        prop_assert_eq!(level.goals(), goals);
        for group in &level.groups {
            prop_assert!(group.goals.iter().all(|goal| group.good <= goal.met));
            prop_assert!(group.good <= level.good);
        }
        prop_assert!(level.good <= level.groups.iter().map(|group| group.good).sum());
    }

    #[test]
    fn another_group_never_lowers_the_share(
        tapes in some_tapes(),
        goals in any_goals(),
        more in any_goals(),
    ) {
        let all = goals.groups().iter().chain(more.groups()).cloned();
        let both = LevelSummary::of(&tapes, &GoodputGoals::any_of(all)).goodput.unwrap();
        let one = LevelSummary::of(&tapes, &goals).goodput.unwrap();
        prop_assert!(both.good >= one.good);
    }

    #[test]
    fn counts_of_parts_add_up(tapes in some_tapes(), goals in any_goals(), cut in 0..30_usize) {
        let (head, tail) = tapes.split_at(cut.min(tapes.len()));
        let tally = |tapes: &[Tape]| {
            let mut tally = LevelTally::new(&goals);
            tapes.iter().for_each(|tape| tally.add(tape));
            tally
        };
        let mut merged = tally(tail);
        merged.merge(tally(head));
        prop_assert_eq!(merged.summary().goodput, tally(&tapes).summary().goodput);
    }
}
