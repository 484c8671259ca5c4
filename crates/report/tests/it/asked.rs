//! What was asked for beside what was sent.

use fizeau_core::{
    Failure, FailureClass, LevelLoad, Nanos, Outcome, PerSec, RequestPurpose, Stamp, Tape, Tokens,
    Usage,
};
use fizeau_metrics::{CacheExpectation, GoodputGoals, LevelSummary};
use fizeau_record::{ArrivalMoments, LevelReport, RequestedLoad, SweepReport};
use fizeau_report::Shown;
use serde_json::{Value, json};

use crate::sample;

fn parsed(level: &LevelReport) -> Value {
    serde_json::from_str(&level.to_json().unwrap()).unwrap()
}

/// Eight requests, 20 and 60 ms apart in turn, with prompts of 100 to 170 tokens and a template of 3; two names of models.
fn open_loop() -> LevelReport {
    let mut at = Stamp::EPOCH;
    let mut tapes = sample::tapes(2);
    tapes.truncate(8);
    for (k, tape) in tapes.iter_mut().enumerate() {
        let k = k as u64;
        tape.marks.intended = at;
        tape.marks.send_start = Some(at + Nanos::from_micros(100));
        at += Nanos::from_millis(if k.is_multiple_of(2) { 20 } else { 60 });
        let requested = 100 + 10 * k;
        tape.requested.input_tokens = Some(Tokens::new(requested));
        tape.usage = Some(Usage {
            prompt_tokens: Some(Tokens::new(requested + 3)),
            cached_tokens: Some(Tokens::new(50)),
            ..Usage::default()
        });
        tape.model = (k > 3).then(|| "lora-a".into());
    }
    let mut level = sample::level(1);
    level.summary = LevelSummary::of(&tapes, &GoodputGoals::default());
    level.load = LevelLoad::Rate(PerSec::new(25.0));
    let poisson = ArrivalMoments { rate: Some(PerSec::new(25.0)), cv_squared: Some(1.0) };
    level.requested =
        RequestedLoad { arrivals: Some(poisson), cache: CacheExpectation::Share(0.4) };
    level
}

#[test]
fn the_block_shows_asked_and_sent_side_by_side() {
    let mut level = open_loop();
    level.validity.notes = vec!["chat.json was repeated twice".to_owned()];
    let block = Shown(&level).block(fizeau_report::Verbosity::Full);
    // Seven gaps, four of 20 ms and three of 60 ms: 7 / 260 ms; variance over squared mean 0.284.
    for line in [
        "Arrivals/s requested/planned/sent:       25.00 / 26.92 / 26.92",
        "Gaps' CV squared requested/planned/sent: 1.000 / 0.284 / 0.284",
        "Prompt tokens requested p10/50/90, mean: - / 135 / - (135.0)",
        "Prompt tokens seen p10/50/90, mean:      - / 138 / - (138.0)",
        "Prompt tokens seen less requested:       +3 each",
        "Output tokens requested:                 40 each",
        "Cached prompt tokens requested/measured: 40 % / 36 %",
        "Models requested:                        2",
        "  note: chat.json was repeated twice",
    ] {
        assert!(block.lines().any(|found| found == line), "{line}\n{block}");
    }
    assert!(block.lines().all(|line| line.chars().count() <= 80), "{block}");
}

#[test]
fn a_sweep_says_each_note_once_and_a_terminal_obeys_none() {
    let noted = |concurrency| {
        let mut level = sample::level(concurrency);
        level.validity.notes = vec!["<b>\u{7}.json was repeated".to_owned()];
        level
    };
    assert!(
        Shown(&noted(1))
            .block(fizeau_report::Verbosity::Full)
            .contains("  note: <b>\u{fffd}.json was repeated")
    );
    let sweep = SweepReport::new(sample::setup(), vec![noted(1), noted(2)], None);
    let terminal =
        Shown(&sweep).terminal(&crate::terminal::plain(80, fizeau_report::Verbosity::Full));
    assert_eq!(terminal.matches("  note: <b>\u{fffd}.json was repeated").count(), 1, "{terminal}");
    #[cfg(feature = "html")]
    assert_eq!(Shown(&sweep).page().matches("Note: &lt;b&gt;").count(), 1);
}

#[test]
fn lengths_that_differ_from_request_to_request_are_counted() {
    let mut level = open_loop();
    let difference = level.summary.lengths.prompt.difference.as_mut().unwrap();
    (difference.min, difference.past_one_percent) = (-2, 5);
    let line = "Prompt tokens seen less requested:       -2 to +3 (5 of 8 by over 1 %)";
    assert!(
        Shown(&level).block(fizeau_report::Verbosity::Full).contains(line),
        "{}",
        Shown(&level).block(fizeau_report::Verbosity::Full)
    );
}

#[test]
fn a_closed_loop_shows_no_arrivals() {
    let mut level = open_loop();
    level.requested.arrivals = None;
    assert!(!Shown(&level).block(fizeau_report::Verbosity::Full).contains("Arrivals/s"));
    let json = parsed(&level);
    assert!(json["arrivals"].is_null() && json["requested"]["arrivals"].is_null(), "{json}");
    assert_eq!(json["arrivals_reason"], "a closed loop: the endpoint sets the pace");
    assert_eq!(json["requested"]["arrivals_reason"], json["arrivals_reason"]);
}

#[test]
fn the_file_has_what_was_asked_beside_what_was_sent() {
    let json = parsed(&open_loop());
    let requested = json!({
        "arrivals": {"rate_per_s": 25.0, "cv_squared": 1.0}, "cache": "share", "cached_share": 0.4
    });
    assert_eq!(json["requested"], requested);
    assert_eq!(json["arrivals"]["sent"]["n"], 7);
    assert_eq!(json["lengths"]["prompt"]["difference"]["histogram"]["+2..+4"], 8);
    assert_eq!(json["tokens"]["cached_share"], 400.0 / 1104.0);
    assert_eq!(json["models"][1]["model"], "lora-a");
    assert!(json["probe"].is_null());
    let once = ArrivalMoments::default();
    let all = RequestedLoad { arrivals: Some(once), cache: CacheExpectation::Reuse };
    let json = serde_json::to_value(all).unwrap();
    assert_eq!(
        json["arrivals"]["rate_per_s_reason"],
        "all requests leave at once, or the rate changes"
    );
    assert_eq!(
        json["cached_share_reason"],
        "prompts repeat earlier ones, or begin with them, on purpose"
    );
}

#[test]
fn what_a_cache_was_to_supply_is_shown_where_anything_is_known() {
    let shown = |cache, measured: Option<u64>| {
        let mut level = open_loop();
        level.requested.cache = cache;
        level.summary.tokens.cached_input = measured.map(Tokens::new);
        level.summary.tokens.cached_share = measured.map(|cached| cached as f64 / 1_104.0);
        let block = Shown(&level).block(fizeau_report::Verbosity::Full);
        let line = block.lines().find(|line| line.starts_with("Cached")).map(str::to_owned);
        line.map(|line| line.chars().skip(41).collect::<String>())
    };
    assert_eq!(shown(CacheExpectation::None, None), None);
    assert_eq!(shown(CacheExpectation::None, Some(0)).unwrap(), "none / 0 %");
    assert_eq!(shown(CacheExpectation::Reuse, Some(552)).unwrap(), "any / 50 %");
    assert_eq!(shown(CacheExpectation::Share(0.5), None).unwrap(), "50 % / not reported");
}

#[test]
fn a_probe_is_shown_and_is_no_part_of_other_results() {
    let tapes = sample::tapes(2);
    let mut probe = tapes[0].clone();
    probe.part = RequestPurpose::Probe;
    let mut lost = Tape {
        outcome: Outcome::Failed(Failure::new(FailureClass::Status, "made by hand")),
        ..probe.clone()
    };
    lost.arrivals.clear();
    let mut level = sample::level(1);
    let all = tapes.iter().chain([&probe, &lost]);
    level.summary = LevelSummary::of(all, &GoodputGoals::default());
    let block = Shown(&level).block(fizeau_report::Verbosity::Full);
    assert!(block.contains("Probe requests sent/failed:              2 / 1"), "{block}");
    assert!(block.contains("Probe TTFT p50/p99/max (ms):             18.6 / - / 18.6"), "{block}");
}
