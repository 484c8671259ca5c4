//! SGLang's `bench_serving`: JSON Lines, a line a run.
//!
//! The keys are those of SGLang 0.5.23 (`sglang/benchmark/serving.py`).

use std::collections::BTreeMap;

use fizeau_core::PerSec;
use fizeau_metrics::{Peer, PeerReport};
use serde_json::{Value, json};

use super::fields::levels_of;
use super::lists::{self, Lists};
use super::name::plain_file_name;
use super::vllm::{self, kept, source};
use super::vllm_rust::figure;
use super::{
    ExportLevel, ExportedFile, Fields, FigureSheet, ForeignError, ForeignFile, ForeignFormat,
    ImportedAbout, ImportedCounts, ImportedLevel, ImportedLoad, NotKnown, Object,
};
use crate::RequestRate;

/// The form of SGLang's client.
pub(super) struct Sglang;

const TOOL: &str = "SGLang bench_serving";

impl ForeignFormat for Sglang {
    fn key(&self) -> &'static str {
        "sglang"
    }

    fn about(&self) -> &'static str {
        "SGLang bench_serving --output-file [--output-details] (JSON Lines)"
    }

    fn recognises(&self, file: &ForeignFile<'_>) -> bool {
        file.has(&["random_range_ratio", "sharegpt_output_len"])
            || file.has(&["total_output_tokens_retokenized"])
    }

    fn import(&self, files: &[ForeignFile<'_>]) -> Result<Vec<ImportedLevel>, ForeignError> {
        levels_of(files, TOOL, |fields, file| import(fields, file, self.key()))
    }

    fn export(&self, levels: &[ExportLevel<'_>]) -> Result<Vec<ExportedFile>, ForeignError> {
        let mut text = String::new();
        for level in levels {
            let line = record(level, self.key())?.to_line();
            // As Python's json writes what is not limited, and reads it.
            text.push_str(&line.replacen(
                "\"request_rate\":\"inf\"",
                "\"request_rate\":Infinity",
                1,
            ));
            text.push('\n');
        }
        let backend = levels.first().map_or("sglang", |level| level.run.backend.as_str());
        let name = plain_file_name(&format!("{backend}.jsonl"));
        Ok(vec![ExportedFile { name, bytes: text.into_bytes() }])
    }
}

fn import(
    fields: &Fields<'_>,
    file: &ForeignFile<'_>,
    format: &str,
) -> Result<ImportedLevel, ForeignError> {
    let lists = Lists::read(fields)?;
    let counts = ImportedCounts {
        completed: fields.whole("completed")?,
        failed: None,
        input_tokens: Some(fields.whole("total_input_tokens")?),
        output_tokens: Some(fields.whole("total_output_tokens")?),
        duration_s: Some(fields.number("duration")?),
    };
    let sheet = figures(fields, lists.as_ref(), counts.completed)?;
    let mut level = ImportedLevel {
        source: source(file, format, TOOL),
        load: load(fields)?,
        about: about(fields)?,
        counts,
        figures: BTreeMap::new(),
        greatest_for_p99: Vec::new(),
        caveats: Vec::new(),
        not_known: not_known(fields),
        record: kept(fields.map(), false),
        tapes: Vec::new(),
    };
    sheet.finish(&mut level);
    Ok(level)
}

/// `request_rate` is Python's `Infinity` where it was not limited, and `trace` where times came from a trace.
fn load(fields: &Fields<'_>) -> Result<ImportedLoad, ForeignError> {
    let rate = match fields.text("request_rate").as_deref() {
        Some("inf" | "trace") => None,
        _ => fields.maybe_number("request_rate")?,
    };
    let cap = fields.maybe_whole("max_concurrency")?;
    let cap = cap.and_then(|cap| u32::try_from(cap).ok()).filter(|cap| *cap > 0);
    let told = ImportedLoad::told(rate.map(PerSec::new), cap);
    let is_unknown = match fields.text("request_rate").as_deref() {
        Some("inf") => false,
        Some("trace") => true,
        _ => told.is_unknown,
    };
    Ok(ImportedLoad { is_unknown, ..told })
}

fn about(fields: &Fields<'_>) -> Result<ImportedAbout, ForeignError> {
    let server = fields.object("server_info")?;
    let of = |name: &str| server.as_ref().and_then(|server| server.text(name));
    let rank = |name: &str| {
        let own = server.as_ref().map(|server| server.maybe_whole(name));
        own.transpose().map(Option::flatten)
    };
    let (tp, pp) = (rank("tp_size")?, rank("pp_size")?);
    // Attention in parallel over data lies within the tensor-parallel ranks.
    let is_within = server.as_ref().and_then(|server| server.get("enable_dp_attention"));
    let dp = match is_within == Some(&Value::Bool(true)) {
        true => None,
        false => rank("dp_size")?,
    };
    let ranks = [tp, pp, dp].into_iter().flatten().filter(|rank| *rank > 0);
    let settings = ["random_input_len", "random_output_len", "random_range_ratio"];
    let settings = settings
        .into_iter()
        .filter(|_| fields.text("dataset_name").is_some_and(|name| name.starts_with("random")));
    Ok(ImportedAbout {
        model: of("served_model_name").or_else(|| of("model_path")),
        backend: fields.text("backend"),
        dataset: fields.text("dataset_name"),
        date: None,
        label: fields.text("tag"),
        devices: tp.map(|_| ranks.fold(1_u64, u64::saturating_mul)),
        settings: settings
            .filter_map(|name| Some((name.to_owned(), fields.words(name)?)))
            .collect(),
    })
}

fn figures(
    fields: &Fields<'_>,
    lists: Option<&Lists>,
    completed: u64,
) -> Result<FigureSheet, ForeignError> {
    let mut sheet = FigureSheet::new(completed);
    sheet.rates(fields, "total_throughput")?;
    match lists {
        Some(lists) => lists.figures(&mut sheet),
        None => {
            let statistics = [("mean", "mean"), ("p50", "median"), ("p90", "p90"), ("p99", "p99")];
            for (metric, key) in [("ttft", "ttft"), ("tpot", "tpot"), ("e2el", "e2e_latency")] {
                for (statistic, word) in statistics {
                    let value = fields.maybe_number(&format!("{word}_{key}_ms"))?;
                    sheet.latency(metric, statistic, value);
                }
            }
            sheet.caveat(
                "E2EL and TPOT run to the last line of the stream, usage and end marker included: at least what ours are",
            );
        }
    }
    sheet.caveat("where the server reports no usage, the length that was asked for counts as the one that came");
    sheet.not_known(
        "itl",
        "SGLang's is the gap between chunks over OpenAI routes; ours is between tokens",
    );
    Ok(sheet)
}

fn not_known(fields: &Fields<'_>) -> Vec<NotKnown> {
    let tapes = match fields.has("ttfts") {
        true => "the file does not say when each request was sent",
        false => "the file has no first token and gaps of each request (--output-details)",
    };
    let why = format!("{tapes}: no figure can be computed again, none has an interval");
    let mut all = vec![
        NotKnown::new("tapes", why),
        NotKnown::new("failed requests", "the file counts those that succeeded"),
        NotKnown::new("the date", "not in the file"),
        NotKnown::new(
            "the client's own proof",
            "how late it sent and how busy it was is not in the file",
        ),
        NotKnown::new("warm-up", "not in the file"),
        NotKnown::new(
            "peaks of requests in flight and of tokens per second",
            "SGLang counts whatever touches a whole second, which can exceed the cap or be below the mean",
        ),
    ];
    if fields.has("request_goodput") {
        let why =
            "its share is of all requests sent, and the file does not count those that failed";
        all.push(NotKnown::new("goodput", why));
    }
    if fields.text("request_rate").as_deref() == Some("trace") {
        all.push(NotKnown::new("the load", "times came from a trace, which is not in the file"));
    }
    all
}

/// The keys that come from the tapes, in the tool's order, up to the latencies.
const TOTALS: [&str; 11] = [
    "duration",
    "completed",
    "total_input_tokens",
    "total_input_text_tokens",
    "total_input_vision_tokens",
    "total_output_tokens",
    "total_output_tokens_retokenized",
    "request_throughput",
    "input_throughput",
    "output_throughput",
    "total_throughput",
];

fn record(level: &ExportLevel<'_>, format: &'static str) -> Result<Object, ForeignError> {
    if let Some(own) = level.own_record(format) {
        return Ok(Object::of(vllm::map_of(&own.record)));
    }
    let tapes = lists::by_request(level.with_tapes(format)?);
    let report = Peer::Sglang.figures(tapes.iter().copied(), &level.peer_settings());
    let mut object = asked(level);
    for key in TOTALS {
        let value = match key {
            // All prompts are text here.
            "total_input_text_tokens" => figure(&report, "total_input_tokens"),
            "total_input_vision_tokens" => json!(0),
            // It encodes the text again; the count of the server is what there is.
            "total_output_tokens_retokenized" => figure(&report, "total_output_tokens"),
            key => figure(&report, key),
        };
        object.set(key, value);
    }
    for metric in ["e2e_latency", "ttft", "tpot", "itl"] {
        for word in ["mean", "median", "std", "p90", "p95", "p99"] {
            let key = format!("{word}_{metric}_ms");
            object.set(&*key, figure(&report, &key));
        }
    }
    object.set("max_itl_ms", figure(&report, "max_itl_ms"));
    object.set("concurrency", figure(&report, "concurrency"));
    object.set("accept_length", Value::Null);
    for key in ["max_output_tokens_per_s", "max_concurrent_requests"] {
        object.set(key, figure(&report, key));
    }
    goodput(&mut object, level, &report);
    lists::write(&mut object, &tapes);
    Ok(object)
}

fn asked(level: &ExportLevel<'_>) -> Object {
    let run = &level.run;
    let mut object = Object::default();
    object.set("tag", run.label.as_ref().unwrap_or(&run.model_id).as_str());
    object.set("backend", run.backend.as_str());
    object.set("dataset_name", level.dataset);
    let rate = match run.request_rate {
        RequestRate::Limited(rate) => json!(rate.get()),
        RequestRate::Unlimited | RequestRate::Ramp { .. } => json!("inf"),
    };
    object.set("request_rate", rate);
    object.set("max_concurrency", run.max_concurrency);
    for key in
        ["sharegpt_output_len", "random_input_len", "random_output_len", "random_range_ratio"]
    {
        object.set(key, Value::Null);
    }
    object.set("server_info", Value::Null);
    object
}

/// Only where there were goals, as there.
fn goodput(object: &mut Object, level: &ExportLevel<'_>, report: &PeerReport) {
    let Some(goals) = level.goals.simple().filter(|_| !level.goals.is_empty()) else { return };
    let limits = [("ttft", goals.ttft), ("tpot", goals.tpot), ("e2el", goals.e2el)];
    let limits = limits.into_iter().filter_map(|(name, limit)| Some((name, limit?.get())));
    let (mut slos, mut by_metric) = (Object::default(), Object::default());
    for (name, limit) in limits {
        slos.set(name, limit);
        by_metric.set(name, figure(report, &format!("slo_attainment_by_metric.{name}")));
    }
    object.set("goodput_slos_ms", json!(slos));
    object.set("request_goodput", figure(report, "request_goodput"));
    object.set("slo_attainment", figure(report, "slo_attainment"));
    object.set("slo_attainment_by_metric", json!(by_metric));
}
