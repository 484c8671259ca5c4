//! `vllm-rs bench serve --save-result`, as the client written in Rust writes it: the Python client's keys, and its own.

use fizeau_metrics::{Peer, PeerReport};
use serde_json::{Value, json};

use super::lists;
use super::vllm::{self, import_files, is_vllm};
use super::{
    ExportLevel, ExportedFile, ForeignError, ForeignFile, ForeignFormat, ImportedLevel, Object,
};
use crate::RequestRate;

/// The form of the client written in Rust.
pub(super) struct VllmRust;

const TOOL: &str = "vllm-rs bench serve";

impl ForeignFormat for VllmRust {
    fn key(&self) -> &'static str {
        "vllm-rs"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["vllm-rust"]
    }

    fn about(&self) -> &'static str {
        "vllm-rs bench serve --save-result [--save-detailed] (Rust client)"
    }

    fn recognises(&self, file: &ForeignFile<'_>) -> bool {
        is_vllm(file) && (file.has(&["steady_state"]) || file.has(&["max_model_len"]))
    }

    fn import(&self, files: &[ForeignFile<'_>]) -> Result<Vec<ImportedLevel>, ForeignError> {
        import_files(files, self.key(), TOOL)
    }

    fn export(&self, levels: &[ExportLevel<'_>]) -> Result<Vec<ExportedFile>, ForeignError> {
        let file = |level: &ExportLevel<'_>| {
            Ok(ExportedFile {
                name: vllm::named(level, &level.run.file_name()),
                bytes: record(level, self.key())?.to_line().into_bytes(),
            })
        };
        levels.iter().map(file).collect()
    }
}

fn record(level: &ExportLevel<'_>, format: &'static str) -> Result<Object, ForeignError> {
    let mut object = Object::default();
    if let Some(own) = level.own_record(format) {
        object = Object::of(vllm::map_of(&own.record));
        if !level.tapes.is_empty() {
            let tapes = lists::by_request(level.tapes);
            lists::write(&mut object, &tapes);
            lists::write_times(&mut object, &tapes);
        }
        return Ok(object);
    }
    let tapes = lists::by_request(level.with_tapes(format)?);
    let report = Peer::VllmRust.figures(tapes.iter().copied(), &level.peer_settings());
    asked(&mut object, level, tapes.len());
    for key in [
        "duration",
        "completed",
        "failed",
        "total_input_tokens",
        "total_output_tokens",
        "request_throughput",
        "request_goodput",
        "input_throughput",
        "output_throughput",
        "total_token_throughput",
    ] {
        object.set(key, figure(&report, key));
    }
    lists::write(&mut object, &tapes);
    lists::write_times(&mut object, &tapes);
    for key in ["max_output_tokens_per_s", "max_concurrent_requests"] {
        object.set(key, figure(&report, key));
    }
    object.set("rtfx", 0.0);
    object.set("steady_state", steady_state(&report, level.run.max_concurrency, tapes.len()));
    for metric in ["ttft", "tpot", "itl", "e2el"] {
        for word in ["mean", "median", "std", "p90", "p99"] {
            let key = format!("{word}_{metric}_ms");
            object.set(&*key, figure(&report, &key));
        }
    }
    Ok(object)
}

fn asked(object: &mut Object, level: &ExportLevel<'_>, requests: usize) {
    let run = &level.run;
    object.set("date", date(level));
    object.set("endpoint_type", run.backend.as_str());
    object.set("backend", run.backend.as_str());
    object.set("label", run.label.clone());
    object.set("model_id", run.model_id.as_str());
    object.set("tokenizer_id", run.tokenizer_id.clone());
    object.set("num_prompts", requests);
    object.set("max_model_len", Value::Null);
    for (key, value) in &run.metadata {
        object.set(key.as_str(), value.as_str());
    }
    let rate = match run.request_rate {
        RequestRate::Limited(rate) => json!(rate.get()),
        RequestRate::Unlimited | RequestRate::Ramp { .. } => json!("inf"),
    };
    object.set("request_rate", rate);
    let burstiness = run.burstiness;
    let even = burstiness.is_infinite();
    object.set("burstiness", if even { json!("inf") } else { json!(burstiness) });
    object.set("max_concurrency", run.max_concurrency);
}

/// As the Rust client writes it: ISO 8601 in UTC. Another tool's may be of any zone.
fn date(level: &ExportLevel<'_>) -> String {
    let date = vllm::iso(&level.run.date);
    match date.contains('T') && level.imported.is_none() {
        true => format!("{}Z", date.trim_end_matches('Z')),
        false => date,
    }
}

/// A figure by the tool's own rule; a count is written as one.
pub(super) fn figure(report: &PeerReport, name: &str) -> Value {
    let Some(figure) = report.get(name) else { return Value::Null };
    match (figure.value.get(), figure.unit) {
        (None, _) => Value::Null,
        (Some(value), fizeau_metrics::PeerUnit::Count) if value.fract() == 0.0 => {
            json!(value as u64)
        }
        (Some(value), _) => json!(value),
    }
}

/// Null where 0.95 of the cap was never in flight. Which requests the tool takes in at the edges of its window is not known,
/// so what hangs on that is null.
fn steady_state(report: &PeerReport, cap: Option<u32>, requests: usize) -> Value {
    let own = |name: &str| figure(report, &format!("steady_state.{name}"));
    let (Some(cap), Value::Number(duration)) = (cap, own("window.duration_s")) else {
        return Value::Null;
    };
    let mut window = Object::default();
    window.set("start_s", own("window.start_s"));
    window.set("end_s", own("window.end_s"));
    window.set("duration_s", duration);
    window.set("target_concurrency", cap);
    window.set("threshold", 0.95);
    window.set("threshold_abs", 0.95 * f64::from(cap));
    window.set("observed_peak", own("window.observed_peak"));
    for unknown in ["requests_started_in_window", "requests_completed_in_window"] {
        window.set(unknown, Value::Null);
    }
    window.set("requests_total", requests);
    window.set("warning", Value::Null);
    let mut block = Object::default();
    block.set("window", json!(window));
    for key in [
        "request_throughput",
        "input_throughput",
        "output_throughput",
        "total_token_throughput",
        "mean_ttft_ms",
        "median_ttft_ms",
        "percentiles_ttft_ms",
        "mean_tpot_ms",
        "median_tpot_ms",
        "p90_tpot_ms",
        "p99_tpot_ms",
    ] {
        block.set(key, own(key));
    }
    json!(block)
}
