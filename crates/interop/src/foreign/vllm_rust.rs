//! `vllm-rs bench serve --save-result`, as the client written in Rust writes it: the Python client's keys, and its own.

use crate::{Peer, PeerReport};
use serde::Serialize;
use serde_json::{Value, json};

use super::statistics::{self, figure};
use super::vllm::{self, import_files, is_vllm};
use super::{
    ExportLevel, ExportedFile, ForeignError, ForeignFile, ForeignFormat, ImportedLevel, lists,
};
use crate::VllmRun;
use crate::vllm::lists::Lists;
use crate::vllm::object::Object;

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

    fn in_place_of(&self, level: &ExportLevel<'_>) -> Option<&'static str> {
        vllm::in_place_of(level)
    }
}

fn record(level: &ExportLevel<'_>, format: &'static str) -> Result<Object, ForeignError> {
    if let Some(own) = level.own_record(format) {
        return Ok(vllm::again(own, level.tapes, vllm::ENDS));
    }
    let tapes = lists::by_request(level.with_tapes(format)?);
    let report = Peer::VllmRust.figures(tapes.iter().copied(), &level.peer_settings());
    let run = VllmRun { date: date(level), ..level.run.clone() };
    let mut object = run.requested(tapes.len() as u64, &["max_model_len"]);
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
    let lists = Lists::of(&tapes);
    lists.put(&mut object, &vllm::EACH);
    lists.put(&mut object, vllm::ENDS);
    for key in ["max_output_tokens_per_s", "max_concurrent_requests"] {
        object.set(key, figure(&report, key));
    }
    object.set("rtfx", 0.0);
    object.set("steady_state", steady_state(&report, run.max_concurrency, tapes.len()));
    statistics::put_each(
        &mut object,
        &report,
        &["ttft", "tpot", "itl", "e2el"],
        &["mean", "median", "std", "p90", "p99"],
    );
    Ok(object)
}

/// As the Rust client writes it: ISO 8601 in UTC. Another tool's may be of any zone.
fn date(level: &ExportLevel<'_>) -> String {
    let date = vllm::iso(&level.run.date);
    match date.contains('T') && level.imported.is_none() {
        true => format!("{}Z", date.trim_end_matches('Z')),
        false => date,
    }
}

/// The window in which almost all of the cap was in flight.
#[derive(Debug, Serialize)]
struct Window {
    duration_s: Value,
    end_s: Value,
    observed_peak: Value,
    /// Which requests the tool takes in at the edges of its window is not known.
    requests_completed_in_window: (),
    requests_started_in_window: (),
    requests_total: usize,
    start_s: Value,
    target_concurrency: u32,
    threshold: f64,
    threshold_abs: f64,
    warning: (),
}

/// Null where 0.95 of the cap was never in flight, and where it hangs on the edges of the window.
fn steady_state(report: &PeerReport, cap: Option<u32>, requests: usize) -> Value {
    let own = |name: &str| figure(report, &format!("steady_state.{name}"));
    let (Some(cap), duration @ Value::Number(_)) = (cap, own("window.duration_s")) else {
        return Value::Null;
    };
    let window = Window {
        duration_s: duration,
        end_s: own("window.end_s"),
        observed_peak: own("window.observed_peak"),
        requests_completed_in_window: (),
        requests_started_in_window: (),
        requests_total: requests,
        start_s: own("window.start_s"),
        target_concurrency: cap,
        threshold: 0.95,
        threshold_abs: 0.95 * f64::from(cap),
        warning: (),
    };
    let figures = [
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
    ];
    let figures = figures.map(|name| (name.to_owned(), own(name)));
    figures.into_iter().chain([("window".to_owned(), json!(window))]).collect()
}
