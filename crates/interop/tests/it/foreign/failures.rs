//! What a file says of requests that failed, and of the time that all took.

use fizeau_core::{FailureClass, Outcome, Tape};
use fizeau_interop::{ExportLevel, Peer, PeerSettings};
use fizeau_metrics::{GoodputGoals, LevelTally};
use fizeau_record::ImportedLevel;
use serde_json::{Value, json};

use super::round_trip::{export, level};
use super::{close, fixture, import, record};

fn read(name: &str, file: &Value) -> ImportedLevel {
    import(name, file.to_string().as_bytes()).unwrap().remove(0)
}

fn contradictions(level: &ImportedLevel) -> Vec<&str> {
    let all = level.not_known.iter().filter(|fact| fact.is_contradiction());
    all.map(|fact| fact.why.as_str()).collect()
}

/// The settings and the tally of a level of which its file says how long it took.
fn settings(level: &ImportedLevel) -> PeerSettings {
    PeerSettings { lasted: level.unseen().lasted(), ..PeerSettings::default() }
}

/// vLLM's client leaves the latency of a request that failed at zero, also of one that ran into its time limit: the level is as long as
/// its file says nevertheless, and no rate is that of the successes alone.
#[test]
fn a_request_that_failed_without_a_latency_does_not_shorten_the_level() {
    let mut file = record("vllm-detailed.json");
    file["errors"][4] = "Traceback ...\nTimeoutError\n".into();
    file["duration"] = 60.0.into();
    for (rate, total) in
        [("request_throughput", "completed"), ("output_throughput", "total_output_tokens")]
    {
        file[rate] = (file[total].as_f64().unwrap() / 60.0).into();
    }
    let all = file["total_output_tokens"].as_f64().unwrap()
        + file["total_input_tokens"].as_f64().unwrap();
    file["total_token_throughput"] = (all / 60.0).into();
    let level = read("vllm-detailed.json", &file);
    assert_eq!(contradictions(&level), [""; 0]);
    let failed: Vec<&Tape> = level.tapes.iter().filter(|tape| !tape.is_success()).collect();
    assert_eq!(failed.iter().map(|tape| tape.marks.end).collect::<Vec<_>>(), [None]);
    let said = level.not_known.iter().find(|fact| fact.what == "when failed requests were over");
    assert!(said.unwrap().why.contains("no latency of 1 requests"), "{said:?}");
    // In our figures as in the tool's.
    let mut tally = LevelTally::new(&GoodputGoals::NONE).lasting_at_least(level.unseen().lasted());
    level.tapes.iter().for_each(|tape| tally.add(tape));
    let ours = tally.summary().throughput;
    assert!(
        close(ours.duration.get(), 60.0) && close(ours.requests_per_s.get(), 11.0 / 60.0),
        "{ours:?}"
    );
    let report = Peer::VllmPython.figures(&level.tapes, &settings(&level));
    for key in ["duration", "request_throughput", "output_throughput", "total_token_throughput"] {
        assert!(close(report.value(key).unwrap(), file[key].as_f64().unwrap()), "{key}");
    }
}

#[test]
fn a_duration_that_is_not_that_of_the_requests_is_named() {
    let with = |duration: f64, rate: Option<f64>| {
        let mut file = record("vllm-rs.json");
        let scale = file["duration"].as_f64().unwrap() / duration;
        file["duration"] = duration.into();
        for key in ["request_throughput", "output_throughput", "total_token_throughput"] {
            file[key] = (file[key].as_f64().unwrap() * scale).into();
        }
        file["request_rate"] = rate.map_or_else(|| "inf".into(), Value::from);
        read("vllm-rs.json", &file)
    };
    let own = record("vllm-rs.json")["duration"].as_f64().unwrap();
    assert_eq!(contradictions(&with(own, None)), [""; 0]);
    let long = with(60.0, None);
    assert_eq!(
        contradictions(&long),
        [
            "the file says that all took 60.0 s, which is 0.20 completed requests/s, and its requests were over within 0.28 s, which is 42.7"
        ]
    );
    let short = with(own / 2.0, None);
    assert!(contradictions(&short)[0].starts_with("the file says that all took 0.14"), "{short:?}");
    // At a rate the client waits before the first request too.
    assert_eq!(contradictions(&with(1.0, Some(4.0))), [""; 0]);
}

#[test]
fn totals_of_tokens_that_are_not_those_of_the_requests_are_named() {
    let mut file = record("vllm-detailed.json");
    file["total_output_tokens"] = (file["total_output_tokens"].as_u64().unwrap() * 2).into();
    file["output_throughput"] = (file["output_throughput"].as_f64().unwrap() * 2.0).into();
    let found = read("vllm-detailed.json", &file);
    assert_eq!(
        contradictions(&found),
        ["the file counts 178 output tokens, and its requests have 89"]
    );
}

/// AIPerf writes an error of what its own client cancelled, with a code that no server sent.
#[test]
fn what_aiperfs_client_cancelled_is_no_failure_of_the_server() {
    let name = "aiperf/profile_export.jsonl";
    let text = String::from_utf8(fixture(name)).unwrap();
    let of = |error: Value, was_cancelled: bool| {
        let mut lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let last = lines.last_mut().unwrap();
        last["metadata"]["was_cancelled"] = was_cancelled.into();
        last["error"] = error;
        last["metrics"] = json!({});
        let start = last["metadata"]["request_start_ns"].clone();
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        let level = import(name, lines.join("\n").as_bytes()).unwrap().remove(0);
        let epoch = level.epoch_unix_ns.unwrap();
        let sent = start.as_u64().unwrap() - epoch;
        let tape = level.tapes.iter().find(|tape| {
            tape.marks.send_start.is_some_and(|at| at.as_nanos().abs_diff(sent) < 1000)
        });
        match tape.unwrap().outcome.clone() {
            Outcome::Failed(failure) => failure,
            Outcome::Complete(_) => panic!("it failed"),
        }
    };
    let cancelled =
        json!({"code": 499, "type": "RequestCancellationError", "message": "after 2 s"});
    let failure = of(cancelled, true);
    assert_eq!((failure.class, failure.status), (FailureClass::Cancelled, None));
    assert_eq!(failure.detail, "after 2 s");
    let failure = of(Value::Null, true);
    assert_eq!((failure.class, &*failure.detail), (FailureClass::Cancelled, "by the client"));
    let busy = json!({"code": 503, "type": "Service Unavailable", "message": "busy"});
    let failure = of(busy, false);
    assert_eq!((failure.class, failure.status), (FailureClass::Status, Some(503)));
    // An event of a good reply: its code is the client's own.
    let event = json!({"code": 502, "type": "SSEResponseError", "message": "upstream timeout"});
    let failure = of(event, false);
    assert_eq!((failure.class, failure.status), (FailureClass::InStreamError, None));
}

/// The same text comes out that came in, and one of ours keeps the name of its class, without which nobody could tell it.
#[test]
fn errors_go_out_in_their_own_form_as_they_came_in() {
    let mut file = record("vllm-detailed.json");
    let goals = GoodputGoals::default();
    for error in ["Service Unavailable", "truncated: the reply broke off", "TimeoutError", "odd"] {
        file["errors"][4] = error.into();
        let own = read("vllm-detailed.json", &file);
        let level = ExportLevel { imported: Some(&own), ..level("", &own.tapes, &goals) };
        let written: Value = serde_json::from_slice(&export("vllm", &[level])[0].bytes).unwrap();
        assert_eq!(written["errors"], file["errors"]);
    }
}
