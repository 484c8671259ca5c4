//! SGLang's `bench_serving`: JSON Lines, a line a run.
//!
//! The keys are those of SGLang 0.5.23 (`sglang/benchmark/serving.py`).

use crate::{Peer, PeerReport};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::name::plain_file_name;
use super::read::{Lenient, Record};
use super::serving::{Serving, latencies, stated_means};
use super::statistics::{self, figure};
use super::vllm::{self, blank, levels_of};
use super::{
    ExportLevel, ExportedFile, FigureSheet, ForeignError, ForeignFile, ForeignFormat,
    ImportedAbout, ImportedCounts, ImportedLevel, UnknownFact, lists,
};
use crate::vllm::lists::Lists;
use crate::vllm::object::Object;

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
        levels_of(files, TOOL, |record, file| import(record, file, self.key()))
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

/// What the server said of itself.
#[derive(Debug, Default, Deserialize)]
struct ServerInfo {
    served_model_name: Lenient<String>,
    model_path: Lenient<String>,
    tp_size: Option<u64>,
    pp_size: Option<u64>,
    dp_size: Option<u64>,
    enable_dp_attention: Lenient<bool>,
}

fn import(
    record: &Record<'_>,
    file: &ForeignFile<'_>,
    format: &str,
) -> Result<ImportedLevel, ForeignError> {
    let lists = lists::read(record)?;
    let serving: Serving = record.read()?;
    let sheet = figures(record, &serving, lists.as_ref())?;
    let level = ImportedLevel {
        load: serving.load(record)?,
        counts: ImportedCounts { failed: None, ..serving.counts() },
        about: about(record, serving)?,
        not_known: not_known(record),
        ..blank(record, file, format)
    };
    Ok(sheet.finish(level))
}

fn about(record: &Record<'_>, serving: Serving) -> Result<ImportedAbout, ForeignError> {
    let server: ServerInfo = record.field("server_info")?.unwrap_or_default();
    // Attention in parallel over data lies within the tensor-parallel ranks.
    let is_within = server.enable_dp_attention.0 == Some(true);
    let ranks = [server.tp_size, server.pp_size, server.dp_size.filter(|_| !is_within)];
    let ranks = ranks.into_iter().flatten().filter(|rank| *rank > 0);
    let is_random = serving.dataset_name.0.as_ref().is_some_and(|name| name.starts_with("random"));
    let settings = ["random_input_len", "random_output_len", "random_range_ratio"];
    let settings = settings.into_iter().filter(|_| is_random);
    Ok(ImportedAbout {
        model: server.served_model_name.0.or(server.model_path.0),
        backend: serving.backend.0,
        dataset: serving.dataset_name.0,
        label: serving.tag.0,
        devices: server.tp_size.map(|_| ranks.fold(1_u64, u64::saturating_mul)),
        settings: settings
            .filter_map(|name| Some((name.to_owned(), record.words(name)?)))
            .collect(),
        ..ImportedAbout::default()
    })
}

fn figures(
    record: &Record<'_>,
    serving: &Serving,
    lists: Option<&Lists>,
) -> Result<FigureSheet, ForeignError> {
    let mut sheet = serving.rates();
    let names = [("ttft", "ttft"), ("tpot", "tpot"), ("e2el", "e2e_latency")];
    match lists {
        Some(lists) => {
            lists::figures(lists, &mut sheet);
            stated_means(record, &mut sheet, names)?;
        }
        None => {
            latencies(record, &mut sheet, names)?;
            sheet.caveat(
                "E2EL and TPOT run to the last line of the stream, with usage and end marker, so \
                 they are at least ours",
            );
        }
    }
    sheet.caveat(
        "where the server reports no usage, the requested length counts as the received \
        one",
    );
    sheet.not_known(
        "itl",
        "SGLang's is the gap between chunks over OpenAI routes; ours is between tokens",
    );
    Ok(sheet)
}

fn not_known(record: &Record<'_>) -> Vec<UnknownFact> {
    let tapes = match record.has("ttfts") {
        true => "the file does not say when each request was sent",
        false => "the file has no first token and gaps of each request (--output-details)",
    };
    let why = format!("{tapes}: figures cannot be computed again and have no intervals");
    let mut all = vec![
        UnknownFact::new("tapes", why),
        UnknownFact::new("failed requests", "the file counts those that succeeded"),
        UnknownFact::new("the date", "not in the file"),
        UnknownFact::new(
            "the client's accuracy",
            "the file does not say how late it sent or how busy it was",
        ),
        UnknownFact::new("warm-up", "not in the file"),
        UnknownFact::new(
            "peaks of requests in flight and of tokens per second",
            "SGLang counts by whole seconds, so its peaks can exceed the cap or be below the mean",
        ),
    ];
    if record.has("request_goodput") {
        let why = "its share is taken over all requests sent, and the file does not count those that failed";
        all.push(UnknownFact::new("goodput", why));
    }
    if record.text("request_rate") == Some("trace") {
        all.push(UnknownFact::new("the load", "times came from a trace, which is not in the file"));
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
        return Ok(Object::kept(&own.record));
    }
    let tapes = lists::by_request(level.with_tapes(format)?);
    let report = Peer::Sglang.figures(tapes.iter().copied(), &level.peer_settings());
    let mut object = requested(level);
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
    let (metrics, words) =
        (["e2e_latency", "ttft", "tpot", "itl"], ["mean", "median", "std", "p90", "p95", "p99"]);
    statistics::put_each(&mut object, &report, &metrics, &words);
    object.set("max_itl_ms", figure(&report, "max_itl_ms"));
    object.set("concurrency", figure(&report, "concurrency"));
    object.set("accept_length", Value::Null);
    for key in ["max_output_tokens_per_s", "max_concurrent_requests"] {
        object.set(key, figure(&report, key));
    }
    goodput(&mut object, level, &report);
    Lists::of(&tapes).put(&mut object, &vllm::EACH);
    Ok(object)
}

fn requested(level: &ExportLevel<'_>) -> Object {
    let run = &level.run;
    let mut object = Object::default();
    object.set("tag", run.label.as_ref().unwrap_or(&run.model_id).as_str());
    object.set("backend", run.backend.as_str());
    object.set("dataset_name", level.dataset);
    object.set("request_rate", run.request_rate.field());
    object.set("max_concurrency", run.max_concurrency);
    for key in [
        "sharegpt_output_len",
        "random_input_len",
        "random_output_len",
        "random_range_ratio",
        "server_info",
    ] {
        object.set(key, Value::Null);
    }
    object
}

/// Only where there were goals, as there.
fn goodput(object: &mut Object, level: &ExportLevel<'_>, report: &PeerReport) {
    let Some(goals) = level.goals.simple().filter(|_| !level.goals.is_empty()) else { return };
    let limits = [("ttft", goals.ttft), ("tpot", goals.tpot), ("e2el", goals.e2el)];
    let limits = || limits.into_iter().filter_map(|(name, limit)| Some((name, limit?.get())));
    let share = |name: &str| figure(report, &format!("slo_attainment_by_metric.{name}"));
    object.set("goodput_slos_ms", limits().collect::<Value>());
    object.set("request_goodput", figure(report, "request_goodput"));
    object.set("slo_attainment", figure(report, "slo_attainment"));
    let by_metric = limits().map(|(name, _)| (name.to_owned(), share(name)));
    object.set("slo_attainment_by_metric", by_metric.collect::<Map<_, _>>());
}
