//! GuideLLM's document of tapes.

use fizeau_core::{Nanos, Outcome, Stamp, Tape, Tokens};
use serde_json::{Map, Value, json};

use super::metrics::{SentTapes, metrics, tokens};
use crate::foreign::{ExportArrivals, ExportLevel, ForeignError, lists};
use crate::peers::run as by_vllm;

/// One benchmark a level.
pub(super) fn document(
    levels: &[ExportLevel<'_>],
    format: &'static str,
) -> Result<String, ForeignError> {
    let benchmark = |(index, level): (usize, &ExportLevel<'_>)| benchmark(level, format, index);
    let benchmarks: Vec<Value> =
        levels.iter().enumerate().map(benchmark).collect::<Result<_, _>>()?;
    let model = levels.first().map(|level| level.run.model_id.as_str()).unwrap_or_default();
    let version = levels.iter().find_map(|level| level.own_record(format)?.source.version.clone());
    // Its reader asks for one profile and one data set; each benchmark has its own strategy.
    let streams: Vec<u32> =
        levels.iter().map(|level| level.run.max_concurrency.unwrap_or(1)).collect();
    let first = levels.iter().flat_map(|level| level.tapes).find(|tape| tape.is_success());
    let input = first.and_then(Tape::input_tokens).map_or(1, |tokens| tokens.get().max(1));
    let output = first.map_or(1, |tape| tokens(tape).max(1));
    let report = json!({
        "metadata": {
            "version": 2, "guidellm_version": version.unwrap_or_else(|| "0.8.1".to_owned()),
            "python_version": "", "platform": "",
        },
        "config": {"spec": {
            "backend": {"kind": "openai_http", "target": "http://localhost", "model": model},
            "profile": {"kind": "concurrent", "streams": streams},
            "data": [{"kind": "synthetic_text", "prompt_tokens": input, "output_tokens": output}],
        }},
        "benchmarks": benchmarks,
    });
    Ok(report.to_string())
}

fn benchmark(
    level: &ExportLevel<'_>,
    format: &'static str,
    index: usize,
) -> Result<Value, ForeignError> {
    let own = level.own_record(format);
    let tapes = match own {
        Some(_) => lists::by_request(level.tapes),
        None => lists::by_request(level.with_tapes(format)?),
    };
    let epoch = level.epoch_unix.map_or(0.0, Nanos::as_secs_f64);
    let sent = SentTapes::of(&tapes);
    let each =
        |tapes: &[&Tape]| -> Value { tapes.iter().map(|tape| request(tape, epoch)).collect() };
    let requests = json!({
        "successful": each(&sent.good), "errored": each(&sent.bad),
        "incomplete": each(&sent.called_off), "total": null,
    });
    let mut benchmark = match own {
        Some(own) => serde_json::from_str(&own.record).unwrap_or_default(),
        None => computed(level, &sent, index),
    };
    benchmark.insert("requests".to_owned(), requests);
    Ok(Value::Object(benchmark))
}

fn computed(level: &ExportLevel<'_>, sent: &SentTapes<'_>, index: usize) -> Map<String, Value> {
    let epoch = level.epoch_unix.map_or(0.0, Nanos::as_secs_f64);
    let all = || sent.all.iter();
    let from = all().map(|tape| start(tape, epoch)).fold(f64::INFINITY, f64::min);
    let to = all().map(|tape| end(tape, epoch)).fold(from, f64::max);
    let run = &level.run;
    let even = matches!(level.arrivals, ExportArrivals::Gamma { burstiness: f64::INFINITY, .. });
    let strategy = match (level.arrivals.rate(), run.max_concurrency) {
        (Some(rate), cap) => {
            let kind = if even { "constant" } else { "poisson" };
            json!({"type_": kind, "rate": rate.get(), "max_concurrency": cap})
        }
        (_, Some(streams)) => json!({"type_": "concurrent", "streams": streams}),
        (_, None) => json!({"type_": "throughput", "max_concurrency": null}),
    };
    let totals = json!({
        "successful": sent.good.len(), "errored": sent.bad.len(),
        "incomplete": sent.called_off.len(), "total": sent.all.len(),
    });
    let document = json!({
        "type_": "generative_benchmark",
        "config": {
            "id_": format!("{}-{index}", level.name), "run_id": level.name, "run_index": index,
            "strategy": strategy, "constraints": {}, "profile": {}, "requests": {},
            "backend": {"kind": "openai_http", "model": run.model_id}, "environment": {},
        },
        "scheduler_state": {"node_id": 0, "num_processes": 1, "start_time": from},
        "scheduler_metrics": scheduler(&sent.all, &totals, from, to),
        "metrics": metrics(sent, &totals, to - from),
        "start_time": from, "end_time": to, "duration": to - from,
    });
    document.as_object().cloned().unwrap_or_default()
}

/// Delays within its own processes, which no tape has and its reader asks for.
const UNSEEN: [&str; 7] = [
    "queued_time_avg",
    "resolve_start_delay_avg",
    "resolve_targeted_start_delay_avg",
    "request_start_delay_avg",
    "resolve_end_delay_avg",
    "finalized_delay_avg",
    "processed_delay_avg",
];

fn scheduler(all: &[&Tape], totals: &Value, from: f64, to: f64) -> Value {
    let mean = |of: &dyn Fn(&Tape) -> f64| {
        let sum = 0.0 + all.iter().map(|tape| of(tape)).sum::<f64>();
        sum / all.len().max(1) as f64
    };
    let took = mean(&|tape| end(tape, 0.0) - start(tape, 0.0));
    let mut told = json!({
        "start_time": from, "request_start_time": from, "measure_start_time": from,
        "measure_end_time": to, "request_end_time": to, "end_time": to,
        "requests_made": totals,
        "request_targeted_start_delay_avg":
            mean(&|tape| start(tape, 0.0) - at(tape.marks.intended, 0.0)),
        "request_time_avg": took, "resolve_time_avg": took,
    });
    for name in UNSEEN {
        told[name] = json!(0.0);
    }
    told
}

fn at(stamp: Stamp, epoch: f64) -> f64 {
    epoch + stamp.saturating_since(Stamp::EPOCH).as_secs_f64()
}

fn start(tape: &Tape, epoch: f64) -> f64 {
    at(by_vllm::sent(tape), epoch)
}

fn end(tape: &Tape, epoch: f64) -> f64 {
    let end = tape.marks.end.or_else(|| tape.last_output());
    end.map_or_else(|| start(tape, epoch), |end| at(end, epoch))
}

fn request(tape: &Tape, epoch: f64) -> Value {
    let when = |stamp: Option<Stamp>| stamp.map(|stamp| at(stamp, epoch));
    let error = match &tape.outcome {
        Outcome::Complete(_) => None,
        Outcome::Failed(failure) => Some(failure.to_string()),
    };
    json!({
        "type_": "generative_request_stats",
        "request_id": tape.request.0.to_string(),
        "output": tape.text,
        "info": {
            "request_id": tape.request.0.to_string(),
            "turn_index": tape.turn,
            "error": error,
            "timings": {
                "targeted_start": when(Some(tape.marks.intended)),
                "request_start": start(tape, epoch),
                "first_token_iteration": when(tape.first_token()),
                "first_output_token_iteration": when(tape.first_visible()),
                "last_token_iteration": when(tape.last_token()),
                "token_iterations": tape.arrivals.len(),
                "request_end": end(tape, epoch),
                "resolve_end": end(tape, epoch),
            },
        },
        "input_metrics": {"text_tokens": tape.input_tokens().map(Tokens::get)},
        "output_metrics": {"text_tokens": tokens(tape)},
    })
}
