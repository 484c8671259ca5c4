//! `docs/metrics.md` says what the code does: its names, its keys and its edge cases.

mod edges;
mod page;

use std::collections::BTreeSet;

use fizeau_core::{Channel, FailureClass, RequestPurpose, Tape, Tokens, Usage};
use fizeau_metrics::{GoodputGoals, LevelSummary};
use serde_json::Value;

use crate::tapes::{failed, ms, tape};
use page::{PAGE, all_code, code, rows, table};

/// A level of which hardly a figure is absent: a load of two models with a probe beside it, fresh connections, the
/// kernel's stamps, caches, failures.
fn rich_level() -> Value {
    let mut tapes: Vec<Tape> = (0..2_000).map(|k| rich_tape(k * 7)).collect();
    tapes[1].model = Some("lora".into());
    tapes.push(Tape { part: RequestPurpose::Probe, ..rich_tape(3) });
    tapes.push(failed(rich_tape(5), FailureClass::Status));
    let goals = "ttft:500 tpot:50 e2el:2000".parse::<GoodputGoals>().unwrap_or_default();
    serde_json::to_value(LevelSummary::of(&tapes, &goals)).unwrap_or_default()
}

fn rich_tape(sent: u64) -> Tape {
    let mut tape = tape(sent, &[(sent + 20, 1), (sent + 25, 2), (sent + 31, 1)]);
    let at = ms(sent);
    tape.marks.connect =
        Some(fizeau_core::ConnectMarks { start: at, dns: Some(at), tcp: at, tls: Some(at) });
    tape.stamps = fizeau_core::StampSource::Kernel;
    tape.round_trip = Some(fizeau_core::Nanos::from_micros(210));
    tape.requested.input_tokens = Some(Tokens::new(9));
    tape.requested.output_tokens = Tokens::new(4);
    tape.usage = Some(Usage {
        prompt_tokens: Some(Tokens::new(10)),
        completion_tokens: Some(Tokens::new(4)),
        cached_tokens: Some(Tokens::new(2)),
        reasoning_tokens: Some(Tokens::new(1)),
    });
    tape.arrivals[0].channel = Channel::Reasoning;
    for event in &mut tape.arrivals {
        (event.bytes, event.chars) = (4, 4);
    }
    tape
}

/// Names of objects whose own keys are data: classes of failures, buckets.
const DATA: [&str; 2] = ["by_class", "histogram"];

fn keys(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(entries) => {
            for (key, value) in entries {
                into.insert(key.clone());
                if !DATA.contains(&key.as_str()) {
                    keys(value, into);
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, into)),
        _ => {}
    }
}

#[test]
fn every_key_of_a_level_is_on_the_page() {
    let mut found = BTreeSet::new();
    keys(&rich_level(), &mut found);
    assert!(found.contains("p999") && found.contains("good_share"), "{found:?}");
    let page = all_code();
    // Reasons and intervals are explained once for all.
    let explained = |key: &&String| key.ends_with("_reason") || key.ends_with("_ci");
    let missing: Vec<_> =
        found.iter().filter(|key| !explained(key) && !page.contains(key.as_str())).collect();
    assert!(missing.is_empty(), "docs/metrics.md does not define {missing:?}");
}

#[test]
fn every_latency_has_a_row_of_its_own_or_shares_one() {
    let level = rich_level();
    let metrics = level["metrics"].as_object().unwrap();
    let defined: BTreeSet<&str> = table(&["name", "key", "definition", "absent when"])
        .iter()
        .flat_map(|row| code(row[1]))
        .collect();
    for key in metrics.keys() {
        assert!(
            defined.contains(key.as_str()),
            "{key} has no row among the figures of one request"
        );
    }
    for key in defined {
        assert!(metrics.contains_key(key), "{key} is in the table and in no summary");
    }
}

#[test]
fn no_row_of_a_table_is_longer_or_shorter_than_its_head() {
    let mut width = None;
    for line in PAGE.lines() {
        let bars = line.split(" | ").count();
        width = if line.starts_with('|') {
            let is_rule = line.starts_with("|---");
            let bars = if is_rule { line.matches("---").count() } else { bars };
            assert_eq!(width.unwrap_or(bars), bars, "{line}");
            Some(bars)
        } else {
            None
        };
    }
    assert!(rows().count() > 50);
}
