//! Conversations, goals and counts of AIPerf's files.

use fizeau_core::{SessionId, Tokens, Usage};
use fizeau_interop::{ExportLevel, ForeignFile, ForeignFormats};
use fizeau_metrics::GoodputGoals;
use fizeau_record::ImportedLevel;
use serde_json::{Value, json};

use super::fixture;
use super::round_trip::{export, imported, level, tapes};

const SUMMARY: &str = "aiperf/profile_export_aiperf.json";
const RECORDS: &str = "aiperf/profile_export.jsonl";

fn lines(text: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The fixture's level with other `slos`, and with each line changed.
fn changed(slos: Value, change: impl Fn(usize, &mut Value)) -> ImportedLevel {
    let mut summary: Value = serde_json::from_slice(&fixture(SUMMARY)).unwrap();
    summary["input_config"]["slos"] = slos;
    let mut records = lines(&fixture(RECORDS));
    records.iter_mut().enumerate().for_each(|(index, line)| change(index, line));
    let records: Vec<String> = records.iter().map(Value::to_string).collect();
    let (summary, records) = (summary.to_string(), records.join("\n"));
    let files = [(SUMMARY, summary.as_bytes()), (RECORDS, records.as_bytes())];
    let files = files.map(|(name, bytes)| ForeignFile::new(name, bytes));
    ForeignFormats::import(files.into(), None).unwrap().remove(0)
}

#[test]
fn sessions_turns_and_counts_of_the_server_go_out_and_come_in() {
    let (mut tapes, goals) = (tapes(&vec![(20_000, vec![5_000; 4]); 6]), GoodputGoals::default());
    for (index, tape) in tapes.iter_mut().enumerate() {
        (tape.session, tape.turn) = (SessionId(index as u64 / 3), index as u32 % 3);
        tape.usage = Some(Usage {
            completion_tokens: Some(Tokens::new(5)),
            cached_tokens: Some(Tokens::new(16)),
            reasoning_tokens: Some(Tokens::new(2)),
            ..Usage::default()
        });
    }
    let files = export("aiperf", &[level("", &tapes, &goals)]);
    let written = files.iter().find(|file| file.name.ends_with(".jsonl")).unwrap();
    let written = lines(&written.bytes);
    let of = |line: &Value, name: &str| line["metadata"][name].clone();
    let turns: Vec<(Value, Value)> =
        written.iter().map(|line| (of(line, "session_num"), of(line, "turn_index"))).collect();
    let wanted = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)];
    assert_eq!(turns, wanted.map(|(session, turn)| (session.into(), turn.into())));
    for name in ["conversation_id", "x_correlation_id"] {
        assert_eq!(of(&written[0], name), of(&written[2], name));
        assert_ne!(of(&written[0], name), of(&written[3], name));
    }
    let back = imported(&files).remove(0);
    assert!(back.has_sessions);
    for (one, again) in tapes.iter().zip(&back.tapes) {
        assert_eq!((one.session, one.turn, one.usage), (again.session, again.turn, again.usage));
    }
    assert!(!back.unseen().hides("session", &back.tapes[0]));
    assert!(!back.unseen().hides("turn", &back.tapes[0]));
}

#[test]
fn requests_without_a_session_stand_alone() {
    let level = changed(Value::Null, |_, line| {
        line["metadata"].as_object_mut().unwrap().remove("session_num");
    });
    assert!(!level.has_sessions && level.unseen().hides("turn", &level.tapes[0]));
    assert!(level.tapes.iter().all(|tape| tape.session.0 == tape.request.0 && tape.turn == 0));
}

#[test]
fn the_requests_of_a_warm_up_are_counted() {
    let why = |level: &ImportedLevel| {
        level.not_known.iter().find(|fact| fact.what == "warm-up").unwrap().why.clone()
    };
    assert_eq!(why(&changed(Value::Null, |_, _| ())), "1 requests of a warm-up are left out");
    let none =
        changed(Value::Null, |_, line| line["metadata"]["benchmark_phase"] = "profiling".into());
    assert_eq!(why(&none), "no request of a warm-up is in the file");
}

#[test]
fn goals_that_a_request_can_have_are_taken_and_written() {
    let of = |slos: Value| changed(slos, |_, _| ()).about.goodput;
    let known = json!({"time_to_first_token": 55, "inter_token_latency": 15.5});
    assert_eq!(of(known).unwrap().parse(), "tpot:15.5 ttft:55".parse::<GoodputGoals>());
    let token = json!({"time_to_first_output_token": 55});
    assert_eq!(of(token).as_deref(), Some("first_visible:55"));
    for none in [
        Value::Null,
        json!({}),
        json!({"prefill_throughput_per_user": 3}),
        json!({"request_latency": "x"}),
    ] {
        assert_eq!(of(none.clone()), None, "{none}");
    }
    let tapes = tapes(&[(20_000, vec![5_000; 4])]);
    for goals in ["tpot:50 ttft:500", "e2el:2000"] {
        let goals: GoodputGoals = goals.parse().unwrap();
        let one = ExportLevel { goals: &goals, ..level("", &tapes, &goals) };
        let back = imported(&export("aiperf", &[one])).remove(0);
        assert_eq!(back.about.goodput.map(|text| text.parse()), Some(Ok(goals)));
    }
    // It can be asked for no alternative.
    let goals: GoodputGoals = "ttft:500 or e2el:2000".parse().unwrap();
    let back = imported(&export("aiperf", &[level("", &tapes, &goals)])).remove(0);
    assert_eq!(back.about.goodput, None);
}
