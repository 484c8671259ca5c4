//! inference-perf's files of tapes.

use crate::Peer;
use fizeau_core::{Nanos, Outcome, Stamp, Tape, Tokens};
use serde_json::{Map, Value, json};

use crate::foreign::statistics::nested;
use crate::foreign::{ExportLevel, ForeignError, lists};
use crate::peers::run as by_vllm;
use crate::vllm::object::Object;

/// The document of a stage: as it came, or by inference-perf's definitions from the tapes.
pub(super) fn document(
    level: &ExportLevel<'_>,
    format: &'static str,
) -> Result<Object, ForeignError> {
    if let Some(own) = level.own_record(format) {
        return Ok(Object::kept(&own.record));
    }
    let tapes = lists::by_request(level.with_tapes(format)?);
    let report = Peer::InferencePerf.figures(tapes.iter().copied(), &level.peer_settings());
    let mut object = Object::default();
    object.set("load_summary", load(level, &tapes));
    object.set("successes", nested(&report, "successes"));
    object.set("failures", nested(&report, "failures"));
    Ok(object)
}

/// Its reader charts a stage over the rate at which requests left, and takes no stage without one.
fn load(level: &ExportLevel<'_>, tapes: &[&Tape]) -> Map<String, Value> {
    let sent = || tapes.iter().map(|tape| by_vllm::sent(tape));
    let took = sent().max().zip(sent().min()).map(|(last, first)| last.saturating_since(first));
    let took = took.map_or(0.0, Nanos::as_secs_f64);
    let rate = if took > 0.0 { tapes.len() as f64 / took } else { 0.0 };
    let mut load = Map::new();
    let mut put = |key: &str, value: Value| load.insert(key.to_owned(), value);
    put("count", json!(tapes.len()));
    put("send_duration", json!(took));
    put("achieved_rate", json!(rate));
    match (level.arrivals.rate(), level.run.max_concurrency) {
        (Some(rate), _) => {
            put("requested_rate", json!(rate.get()));
        }
        // As there, where a closed loop is to send all of them within a second.
        (None, Some(cap)) => {
            put("requested_rate", json!(tapes.len()));
            put("concurrency", json!(cap));
        }
        _ => {}
    }
    load
}

/// The list of requests, stage after stage; the instants count from the epoch of the tapes, as there from the client's own
/// clock.
pub(super) fn requests(levels: &[ExportLevel<'_>]) -> String {
    let of = |level: &ExportLevel<'_>| -> Vec<Value> {
        let tapes = lists::by_request(level.tapes);
        tapes.into_iter().map(|tape| request(tape, &level.run.model_id)).collect()
    };
    Value::from_iter(levels.iter().flat_map(of)).to_string()
}

fn request(tape: &Tape, model: &str) -> Value {
    let at = |stamp: Stamp| stamp.saturating_since(Stamp::EPOCH).as_secs_f64();
    let sent = by_vllm::sent(tape);
    let end = tape.marks.end.or_else(|| tape.last_output()).unwrap_or(sent);
    let each = tape.arrivals.iter();
    // An event may claim any number of tokens, and there is an instant for each.
    let times: Vec<f64> = each
        .flat_map(|event| std::iter::repeat_n(at(event.at), event.tokens.min(4_096) as usize))
        .collect();
    let error = match &tape.outcome {
        Outcome::Complete(_) => None,
        Outcome::Failed(failure) => {
            Some(json!({"error_type": failure.class.as_str(), "error_msg": failure.detail}))
        }
    };
    let input = tape.input_tokens().map_or(0, Tokens::get);
    json!({
        "start_time": at(sent),
        "end_time": at(end),
        "request": json!({"model": model}).to_string(),
        "response": tape.text.clone().unwrap_or_default(),
        "info": {
            "request_metrics": {"text": {"input_tokens": input}},
            "response_metrics": {
                "output_tokens": by_vllm::reported_or_counted(tape), "output_token_times": times,
            },
            "input_tokens": input,
        },
        "error": error,
    })
}
