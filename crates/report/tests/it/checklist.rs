//! The checklist: each row can pass, fail and be unknown, by its own evidence.

mod client;
mod load;
mod measured;

use fizeau_core::{LevelLoad, PerSec, Seconds, Tokens};
use fizeau_metrics::{CacheExpectation, LengthDifference, TokenDistribution};
use fizeau_record::{
    ArrivalMoments, CheckOutcome, Checklist, ChecklistItem, EngineRecord, LevelReport,
    RequestedLoad, RequiredChecks, RunSetup, SweepReport,
};
use fizeau_report::{ChecklistRows, Shown};
use proptest::prelude::*;
use serde_json::json;

use crate::{cases, sample};

/// A run and its levels.
type Run = (RunSetup, Vec<LevelReport>);

/// A row, what to do to a run that passes it, how it comes out then, and what its evidence says.
type Case = (ChecklistItem, fn(&mut Run), CheckOutcome, &'static str);

use CheckOutcome::{Fail, Pass, Simulated, Unknown};

/// Lengths from one to ten times `least`.
fn spread(least: u64) -> TokenDistribution {
    let (min, max) = (Some(Tokens::new(least)), Some(Tokens::new(10 * least)));
    TokenDistribution { n: 126, min, max, ..TokenDistribution::default() }
}

/// A difference that is none, of all requests.
fn equal(n: u64, mean: f64) -> LengthDifference {
    LengthDifference {
        n,
        requested_mean: mean,
        seen_mean: mean,
        absolute_mean: 0.0,
        min: 0,
        max: 0,
        past_one_percent: 0,
        histogram: [0; 11],
    }
}

/// A level at a rate against which nothing can be said.
fn good_level(rate: f64) -> LevelReport {
    let mut level = sample::level(32);
    let rate = PerSec::new(rate);
    level.load = LevelLoad::Rate(rate);
    let poisson = ArrivalMoments { rate: Some(rate), cv_squared: Some(1.0) };
    level.requested = RequestedLoad { arrivals: Some(poisson), cache: CacheExpectation::None };
    let completed = level.summary.requests.completed;
    let (lengths, tokens) = (&mut level.summary.lengths, &mut level.summary.tokens);
    (lengths.prompt.seen, lengths.output.seen) = (spread(100), spread(20));
    (lengths.prompt.seen.n, lengths.output.seen.n) = (completed, completed);
    lengths.prompt.difference = Some(equal(completed, 500.0));
    lengths.output.difference = Some(equal(completed, 100.0));
    tokens.cached_input = Some(Tokens::ZERO);
    tokens.cached_share = Some(0.0);
    level.summary.throughput.duration = Seconds::new(61.5);
    level
}

/// A run of which every row passes.
fn good() -> Run {
    let mut setup = sample::setup();
    setup.engine = EngineRecord::Remote { description: Some("vLLM on 8 x H100".to_owned()) };
    (setup, [10.0, 20.0, 30.0].map(good_level).into())
}

fn with(change: fn(&mut Run)) -> Checklist {
    let mut run = good();
    change(&mut run);
    Checklist::of(&run.0, &run.1)
}

fn found(list: &Checklist, check: ChecklistItem) -> (CheckOutcome, &str) {
    let row = list.rows().iter().find(|row| row.check == check).unwrap();
    (row.outcome, &row.evidence)
}

/// Holds every row by its own evidence against runs that were changed in one thing.
fn hold(cases: &[Case]) {
    for (check, change, outcome, words) in cases {
        let list = with(*change);
        let (came, evidence) = found(&list, *check);
        assert_eq!(came, *outcome, "{check}: {evidence}");
        assert!(evidence.contains(words), "{check}: {evidence}");
    }
}

#[test]
fn a_run_can_pass_every_row() {
    let list = with(|_| {});
    for row in list.rows() {
        assert_eq!(row.outcome, Pass, "{row}");
    }
    assert_eq!(list.rows().len(), 14);
    assert_eq!(
        Shown(&list).text(ChecklistRows::Missed, 80),
        "Are they enough to publish? Checklist: 14 of 14 pass"
    );
    let brief = Shown(&list).text(ChecklistRows::Headline(" (more: -v)"), 80);
    assert_eq!(brief, "Are they enough to publish? Checklist: 14 of 14 pass (more: -v)");
}

#[test]
fn a_row_that_is_unknown_is_as_good_as_failed_where_it_is_required_and_a_simulated_one_is_not() {
    let list = with(|run| {
        run.0.engine = sample::setup().engine;
        run.1[0].warm_up = None;
        run.1[0].summary.throughput.duration = Seconds::new(1.0);
    });
    let missed = |text: &str| {
        let required: RequiredChecks = text.parse().unwrap();
        list.missed(&required).map(|row| row.check).collect::<Vec<_>>()
    };
    assert_eq!(missed("all"), [ChecklistItem::WarmUp, ChecklistItem::Duration]);
    assert_eq!(missed("hardware, tail ,warm-up"), [ChecklistItem::WarmUp]);
    assert_eq!(missed("tail"), []);
    let row = list.rows().iter().find(|row| row.check == ChecklistItem::WarmUp).unwrap();
    assert_eq!(row.to_string(), "unknown warm_up: not recorded (at 10 requests/s)");
}

#[test]
fn a_name_that_is_no_rows_is_refused_with_the_list() {
    for wrong in ["", "client,,tail", "cleint"] {
        let error = wrong.parse::<RequiredChecks>().unwrap_err().to_string();
        assert!(
            error.contains("is no row") && error.contains("all, warm_up, open_loop"),
            "{error}"
        );
    }
}

#[test]
fn files_and_pages_have_every_row() {
    let report = sample::sweep();
    let list = report.checklist();
    let json: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    let rows = json["checklist"].as_array().unwrap();
    assert_eq!(rows.len(), 14);
    assert_eq!(
        rows[8],
        json!({"row": "batch", "outcome": "pass", "evidence": found(&list, ChecklistItem::Batch).1})
    );
    let mut level = sample::level(1);
    let own = |level: &LevelReport| -> serde_json::Value {
        serde_json::from_str(&level.to_json().unwrap()).unwrap()
    };
    assert!(own(&level).get("checklist").is_none(), "one list for all levels of a sweep");
    assert_eq!(own(&level)["warm_up"], json!({"sent": 1, "failed": 0}));
    level.checklist = Some(Checklist::of(&sample::setup(), std::slice::from_ref(&level)));
    assert_eq!(own(&level)["checklist"][4]["row"], "rates");
    #[cfg(feature = "html")]
    {
        let page = Shown(&report).page();
        for row in list.rows() {
            assert!(page.contains(&format!("<th scope=\"row\">{}</th>", row.check)), "{row}");
        }
    }
}

#[test]
fn all_rows_are_shown_where_they_are_asked_for() {
    let report = SweepReport::new(good().0, good().1, None);
    let text = Shown(&report.checklist()).text(ChecklistRows::All, 80) + "\n";
    crate::is_as_golden("checklist-80.txt", &text);
}

proptest! {
    #![proptest_config(cases(64))]
    /// What was lost of a run makes no row better, and any text fits the width.
    #[test]
    fn less_is_never_better(
        short in prop::collection::vec(0.0..200.0_f64, 1..6),
        cold in prop::collection::vec(any::<bool>(), 6),
        width in 40_usize..120,
    ) {
        let (setup, _) = good();
        let mut levels: Vec<LevelReport> = Vec::new();
        for (seconds, cold) in short.iter().zip(&cold) {
            let mut level = good_level(10.0 + levels.len() as f64);
            level.summary.throughput.duration = Seconds::new(*seconds);
            level.warm_up = if *cold { None } else { level.warm_up };
            levels.push(level);
        }
        let list = Checklist::of(&setup, &levels);
        prop_assert_eq!(found(&list, ChecklistItem::Duration).0 == Pass, short.iter().all(|s| *s >= 59.0));
        let any_cold = cold.iter().take(levels.len()).any(|cold| *cold);
        prop_assert_eq!(found(&list, ChecklistItem::WarmUp).0 == Unknown, any_cold);
        prop_assert_eq!(found(&list, ChecklistItem::Rates).0 == Pass, levels.len() >= 3);
        let text = Shown(&list).text(ChecklistRows::All, width);
        prop_assert!(text.lines().all(|line| line.chars().count() <= width), "{}", text);
        let all: usize = [Pass, Fail, Unknown, Simulated].map(|o| list.count(o)).iter().sum();
        prop_assert_eq!(all, 14);
    }
}
