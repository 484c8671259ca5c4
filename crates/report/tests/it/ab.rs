//! An A/B run as text and as JSON.

use fizeau_core::Millis;
use fizeau_metrics::{
    ComparisonSettings, ComparisonSide, ComparisonTable, FigureChoice, LevelFigure, RoundFigures,
    Validity, Verdict, VerdictConcern, VerdictReason,
};
use fizeau_record::{AbDocument, AbParty, AbReport, AbRound, LevelReport, LevelStatus};
use fizeau_report::{Shown, Verbosity};

use crate::sample::{level, setup};

fn round(number: u32, a: LevelReport, b: LevelReport) -> AbRound {
    let first = if number % 2 == 1 { ComparisonSide::Baseline } else { ComparisonSide::Candidate };
    AbRound { number, first, a: Some(a), b: Some(b) }
}

/// A level that says of itself what is wrong with it.
fn doubtful(verdict: Verdict, text: &str) -> LevelReport {
    let mut level = level(4);
    level.validity = Validity::of(vec![VerdictReason::new(verdict, VerdictConcern::Client, text)]);
    level
}

/// Seven rounds: four that are alike, a suspect one, an invalid one, and one that broke off.
pub(crate) fn report() -> AbReport {
    let mut rounds: Vec<AbRound> = (1..=4).map(|n| round(n, level(4), level(8))).collect();
    rounds.push(round(5, doubtful(Verdict::Suspect, "the client was busy"), level(8)));
    rounds.push(round(6, level(4), doubtful(Verdict::Invalid, "half of the requests failed")));
    let mut partial = level(4);
    partial.status = LevelStatus::Partial { reason: "interrupted".to_owned() };
    rounds.push(AbRound { b: None, ..round(7, partial, level(8)) });
    let ttft = |ms: [f64; 5]| ms.map(|ms| RoundFigures::from_iter([(LevelFigure::P50_TTFT, ms)]));
    let comparison = ComparisonTable::of_rounds(
        &ttft([20.0, 20.1, 19.9, 20.2, 20.0]),
        &ttft([22.0, 22.2, 21.9, 22.1, 22.1]),
        &ComparisonSettings::default(),
    );
    let party =
        |name: Option<&str>| AbParty { name: name.map(str::to_owned), endpoint: setup().endpoint };
    let sides = [party(Some("old\u{1b}[31m")), party(None)];
    let comparison = comparison.map_err(|error| error.to_string());
    let mut report = AbReport::new(setup(), sides, 8, rounds, comparison);
    report.settle = Millis::new(2_000.0);
    report
}

#[test]
fn rounds_count_unless_a_turn_is_invalid_or_broke_off() {
    let report = report();
    let reasons: Vec<Option<String>> =
        report.rounds.iter().map(|round| round.counted().err()).collect();
    assert!(reasons[..5].iter().all(Option::is_none), "a suspect one counts");
    assert_eq!(reasons[5].as_deref(), Some("B is invalid: half of the requests failed"));
    assert_eq!(reasons[6].as_deref(), Some("A was interrupted"));
    assert_eq!(report.counted().count(), 5);
    assert_eq!(report.verdict(), Verdict::Invalid);
    assert!(report.is_regression());
}

#[test]
fn the_text_fits_eighty_columns_and_says_what_was_left_out() {
    let text = Shown(&report()).text(Verbosity::Full);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for words in [
        "A suspect",
        "B invalid (left out)",
        "A partial (left out)",
        "suspect: the client was busy (A in round 5)",
        "Left out: round 6: B is invalid: half of the requests failed",
        "Left out: round 7: A was interrupted",
        "a pause of 2000 ms before each turn",
        "Answer: B is worse in p50 TTFT",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "a name that a terminal would obey");
}

/// Shares that differ do not read alike, and figures do not run into each other.
#[test]
fn answers_of_a_stored_run_can_be_told_apart() {
    let rounds = |failed: f64, good: f64, tps: f64| -> Vec<RoundFigures> {
        let round = |n: u32| {
            let wobble = f64::from(n) * 1e-6;
            RoundFigures::from_iter([
                (LevelFigure::FAILED_SHARE, failed * (1.0 + wobble)),
                (LevelFigure::GOOD_SHARE, good * (1.0 - wobble)),
                (LevelFigure::OUTPUT_TPS, tps * (1.0 + wobble)),
            ])
        };
        (0..5).map(round).collect()
    };
    let figures = [LevelFigure::FAILED_SHARE, LevelFigure::GOOD_SHARE, LevelFigure::OUTPUT_TPS];
    let settings = ComparisonSettings {
        figures: FigureChoice::only(figures),
        ..ComparisonSettings::default()
    };
    let (a, b) = (rounds(0.0, 0.997, 123_456.78), rounds(0.004, 0.993, 123_999.12));
    let mut report = report();
    report.comparison = Ok(ComparisonTable::of_rounds(&a, &b, &settings).unwrap());
    let text = Shown(&AbDocument::from(report)).answers();
    for row in [
        "failed_share      0.00 %  0.40 %       -  worse",
        "good_share        99.7 %  99.3 %  -0.4 %  worse",
        "output_tps tok/s  123457  123999  +0.4 %  better",
    ] {
        assert!(text.contains(row), "{row}: {text}");
    }
}

#[test]
fn without_an_answer_the_reason_stands_in_its_place() {
    let reason = "2 of 5 rounds count, and at least 5 are needed";
    let mut report = report();
    report.comparison = Err(reason.to_owned());
    assert!(
        Shown(&report).text(Verbosity::Full).contains(&format!("No answer: {reason}")),
        "{}",
        Shown(&report).text(Verbosity::Full)
    );
    assert!(report.is_regression(), "what was not tested has not passed");
    let ab: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    assert!(ab["comparison"].is_null() && ab["comparison_reason"] == reason);
}

#[test]
fn the_file_has_each_round_and_the_comparison() {
    let ab: serde_json::Value = serde_json::from_str(&report().to_json().unwrap()).unwrap();
    assert_eq!(ab["schema"], "fizeau.ab/2");
    assert_eq!((&ab["a"]["name"], &ab["b"]["name"]), (&"old\u{1b}[31m".into(), &().into()));
    let rounds = ab["rounds"].as_array().unwrap();
    assert_eq!(rounds.len(), 7);
    assert_eq!((&rounds[0]["first"], &rounds[1]["first"]), (&"a".into(), &"b".into()));
    assert_eq!(rounds[0]["a"]["completed"], 16);
    assert_eq!(rounds[5]["left_out_reason"], "B is invalid: half of the requests failed");
    assert_eq!(rounds[6]["a"]["status"], "partial");
    assert_eq!(ab["comparison"]["rounds"], 5);
}
