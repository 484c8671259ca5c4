//! Goals for a single request.

use fizeau_core::{FailureClass, Millis};
use fizeau_metrics::{GoodputError, GoodputGoals, LevelSummary, RequestMetrics};

use crate::tapes::{failed, tape};

fn goals(text: &str) -> GoodputGoals {
    text.parse().unwrap_or_default()
}

#[test]
fn the_spelling_is_that_of_vllm() {
    let parsed: GoodputGoals = "ttft:500 tpot:50.5 e2el:2000".parse().unwrap();
    let (ttft, tpot, e2el) = (500.0, 50.5, 2000.0);
    assert_eq!(parsed.ttft, Some(Millis::new(ttft)));
    assert_eq!(parsed.tpot, Some(Millis::new(tpot)));
    assert_eq!(parsed.e2el, Some(Millis::new(e2el)));
    assert!(goals("").is_empty());
}

#[test]
fn errors_name_the_piece_and_the_remedy() {
    let error = |text: &str| text.parse::<GoodputGoals>().unwrap_err();
    let unknown = error("ttft:5 itl:5 foo:1");
    assert_eq!(
        unknown.to_string(),
        "unknown goodput goal `itl`, `foo`: the names are ttft, tpot and e2el"
    );
    assert_eq!(error("ttft=5"), GoodputError::NoColon("ttft=5".to_owned()));
    for bad in ["ttft:5ms", "ttft:-5", "ttft:0", "ttft:nan", "ttft:inf", "ttft:"] {
        assert_eq!(error(bad), GoodputError::Limit(bad.to_owned()));
    }
    assert_eq!(error("ttft:5 ttft:6"), GoodputError::Twice("ttft".to_owned()));
}

#[test]
fn a_goal_is_met_at_its_limit_and_missed_beyond() {
    let metrics = RequestMetrics::of(&tape(0, &[(20, 1), (30, 1)]));
    assert!(goals("ttft:20 tpot:10 e2el:30").are_met_by(&metrics));
    assert!(!goals("ttft:19.9").are_met_by(&metrics));
    assert!(!goals("ttft:20 e2el:29").are_met_by(&metrics));
}

#[test]
fn a_figure_that_is_absent_meets_no_goal() {
    let single = RequestMetrics::of(&tape(0, &[(20, 1)]));
    assert!(!goals("tpot:50").are_met_by(&single));
    assert!(goals("ttft:50").are_met_by(&single));
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
    assert_eq!(without.throughput.goodput, None);
}
