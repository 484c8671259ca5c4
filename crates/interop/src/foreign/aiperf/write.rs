//! AIPerf's files of tapes.

use crate::Peer;
use fizeau_core::{Nanos, Outcome, Stamp, Tape, Tokens};
use serde_json::{Map, Value, json};

use crate::foreign::vllm::iso;
use crate::foreign::{ExportArrivals, ExportLevel, ForeignError, lists, statistics};
use crate::peers::aiperf::AiPerfRequest;
use crate::peers::run as by_vllm;
use crate::vllm::object::Object;

/// The document of a level: as it came where it came from AIPerf, else by AIPerf's definitions from the tapes.
pub(super) fn summary(
    level: &ExportLevel<'_>,
    format: &'static str,
) -> Result<Object, ForeignError> {
    let own = level.own_record(format).map(|own| Object::kept(&own.record));
    if let Some(own) = own.filter(|own| !own.is_empty()) {
        return Ok(own);
    }
    let tapes = lists::by_request(level.with_tapes(format)?);
    let report = Peer::AiPerf.figures(tapes.iter().copied(), &level.peer_settings());
    let mut object = Object::default();
    object.set("schema_version", "1.4");
    statistics::set(&mut object, &report, unit);
    let inputs = statistics::of_values("tokens", statistics::inputs(&tapes));
    let outputs = statistics::of_values("tokens", statistics::outputs(&tapes));
    for (tag, value) in [("input_sequence_length", inputs), ("output_sequence_length", outputs)] {
        if !value.is_null() {
            object.set(tag, value);
        }
    }
    object.set("input_config", config(level, tapes.len()));
    object.set("was_cancelled", level.is_partial());
    object.set("is_complete", !level.is_partial());
    object.set("error_summary", errors(&tapes));
    // Its reader takes nothing but a date for one.
    let date = iso(&level.run.date);
    if date.contains('T') {
        object.set("start_time", date);
    }
    Ok(object)
}

/// The unit that AIPerf writes of a tag.
fn unit(tag: &str) -> &'static str {
    match tag {
        "request_count" | "error_request_count" | "good_request_count" => "requests",
        "request_throughput" | "goodput" => "requests/sec",
        "output_token_throughput" | "total_token_throughput" => "tokens/sec",
        "total_isl" | "total_osl" => "tokens",
        "benchmark_duration" => "sec",
        "request_error_rate" => "%",
        "good_request_fraction" => "ratio",
        tag if tag.contains("throughput") => "tokens/sec/user",
        _ => "ms",
    }
}

fn config(level: &ExportLevel<'_>, requests: usize) -> Value {
    let run = &level.run;
    let mut phase = json!({"name": "profiling", "kind": "profiling", "requests": requests});
    let cap = run.max_concurrency;
    phase["concurrency"] = json!(cap);
    match level.arrivals {
        ExportArrivals::Gamma { rate, burstiness } => {
            phase["type"] = json!(match burstiness {
                f64::INFINITY => "constant",
                1.0 => "poisson",
                _ => "gamma",
            });
            phase["rate"] = json!(rate.get());
            if phase["type"] == "gamma" {
                phase["smoothness"] = json!(burstiness);
            }
        }
        // Its instants are those at which credit was issued.
        ExportArrivals::Trace { .. } | ExportArrivals::Other { .. } => {
            phase["type"] = json!("fixed_schedule")
        }
        ExportArrivals::Unpaced => {
            phase["type"] = json!("concurrency");
            phase["concurrency"] = json!(cap.map_or(requests as u64, u64::from));
        }
    }
    let kind = level.request_format();
    let mut config = json!({
        "models": {"items": [{"name": run.model_id}]},
        "endpoint": {"urls": ["http://localhost"], "type": kind, "streaming": true},
        "datasets": [{"name": level.dataset, "type": "synthetic"}],
        "phases": [phase],
    });
    // It has no word for other goals.
    if let Some(goals) = level.goals.simple().filter(|_| !level.goals.is_empty()) {
        let limits = [
            ("time_to_first_token", goals.ttft),
            ("inter_token_latency", goals.tpot),
            ("request_latency", goals.e2el),
        ];
        let limits = limits.into_iter().filter_map(|(name, limit)| Some((name, limit?.get())));
        config["slos"] = limits.collect();
    }
    config
}

fn failure(tape: &Tape) -> Option<Value> {
    match &tape.outcome {
        Outcome::Complete(_) => None,
        Outcome::Failed(failure) => {
            let mut error =
                json!({"type": failure.class.as_str(), "message": failure.detail.to_string()});
            if let Some(status) = failure.status {
                error["code"] = json!(status);
            }
            Some(error)
        }
    }
}

/// Each error once, with how often it was.
fn errors(tapes: &[&Tape]) -> Value {
    let mut all: Vec<(Value, u64)> = Vec::new();
    for error in tapes.iter().filter_map(|tape| failure(tape)) {
        match all.iter_mut().find(|(known, _)| *known == error) {
            Some((_, count)) => *count += 1,
            None => all.push((error, 1)),
        }
    }
    let each = all.into_iter();
    each.map(|(details, count)| json!({"error_details": details, "count": count})).collect()
}

/// A line a request.
pub(super) fn records(level: &ExportLevel<'_>) -> String {
    let tapes = lists::by_request(level.tapes);
    let epoch = level.epoch_unix.map_or(0, Nanos::as_nanos);
    let lines = tapes.iter().map(|tape| record(tape, epoch));
    lines.map(|line| format!("{line}\n")).collect()
}

fn record(tape: &Tape, epoch: u64) -> Value {
    let wall = |at: Stamp| epoch.saturating_add(at.saturating_since(Stamp::EPOCH).as_nanos());
    let sent = by_vllm::sent(tape);
    let mut record = json!({
        "metadata": {
            "session_num": tape.session.0,
            "conversation_id": format!("session_{:06}", tape.session.0),
            "x_correlation_id": format!("{}", tape.session.0),
            "x_request_id": format!("{}", tape.request.0),
            "turn_index": tape.turn,
            "credit_issued_ns": wall(tape.marks.intended),
            "request_start_ns": wall(sent),
            "request_end_ns": wall(tape.marks.end.or_else(|| tape.last_output()).unwrap_or(sent)),
            "worker_id": "worker_0",
            "record_processor_id": "record_processor_0",
            "benchmark_phase": "profiling",
            "was_cancelled": by_vllm::was_called_off(tape),
        },
        "metrics": {},
    });
    match failure(tape) {
        Some(error) => record["error"] = error,
        None => record["metrics"] = own_metrics(tape),
    }
    record
}

/// Of one request that succeeded; what it does not have is not there.
fn own_metrics(tape: &Tape) -> Value {
    let request = AiPerfRequest::of(tape);
    let mut all = Map::new();
    let mut put = |tag: &str, value: Value, unit: &str| {
        if !value.is_null() {
            all.insert(tag.to_owned(), json!({"value": value, "unit": unit}));
        }
    };
    put("time_to_first_token", json!(request.time_to_first_token), "ms");
    put("request_latency", json!(request.request_latency), "ms");
    put("inter_token_latency", json!(request.inter_token_latency), "ms");
    if !request.inter_chunk_latencies.is_empty() {
        put("inter_chunk_latency", json!(request.inter_chunk_latencies), "ms");
    }
    put("input_sequence_length", json!(tape.input_tokens().map(Tokens::get)), "tokens");
    put("output_sequence_length", json!(request.output_tokens), "tokens");
    let usage = tape.usage.unwrap_or_default();
    put("usage_prompt_cache_read_tokens", json!(usage.cached_tokens.map(Tokens::get)), "tokens");
    put("reasoning_token_count", json!(usage.reasoning_tokens.map(Tokens::get)), "tokens");
    Value::Object(all)
}
