//! `vllm bench serve --save-result`, as the client written in Python writes it, and what the other vLLM forms share with it.
//!
//! The keys are those of vLLM 0.33 (`vllm/benchmarks/serve.py`); older versions have fewer.

use std::collections::BTreeMap;

use fizeau_core::Tape;
use jiff::civil::DateTime;
use serde_json::{Map, Value};

use super::lists;
use super::name::{plain_file_name, plain_name};
use super::read::Record;
use super::request::error_text;
use super::serving::{Serving, latencies, stated_means};
use super::{
    ExportArrivals, ExportLevel, ExportedFile, FigureSheet, ForeignError, ForeignFile,
    ForeignFormat, ImportedAbout, ImportedLevel, ImportedSource, UnknownFact,
};
use crate::vllm::lists::Lists;
use crate::vllm::object::Object;
use crate::{VllmDetail, VllmRequestRate, VllmResult, VllmSelection};

/// The form of the client written in Python.
pub(super) struct VllmPython;

impl ForeignFormat for VllmPython {
    fn key(&self) -> &'static str {
        "vllm"
    }

    fn about(&self) -> &'static str {
        "vllm bench serve --save-result [--save-detailed] (Python client)"
    }

    fn recognises(&self, file: &ForeignFile<'_>) -> bool {
        is_vllm(file)
    }

    fn import(&self, files: &[ForeignFile<'_>]) -> Result<Vec<ImportedLevel>, ForeignError> {
        import_files(files, self.key(), TOOL)
    }

    fn export(&self, levels: &[ExportLevel<'_>]) -> Result<Vec<ExportedFile>, ForeignError> {
        let file = |level: &ExportLevel<'_>| {
            Ok(ExportedFile {
                name: named(level, &level.run.file_name()),
                bytes: record(level, self.key(), VllmDetail::Full)?.to_line().into_bytes(),
            })
        };
        levels.iter().map(file).collect()
    }

    fn in_place_of(&self, level: &ExportLevel<'_>) -> Option<&'static str> {
        in_place_of(level)
    }
}

/// All of vLLM's clients have gamma gaps and ramps.
pub(super) fn in_place_of(level: &ExportLevel<'_>) -> Option<&'static str> {
    match (&level.arrivals, level.run.request_rate) {
        (
            ExportArrivals::Trace { .. } | ExportArrivals::Other { .. },
            VllmRequestRate::Limited(_),
        ) => Some("its file has the mean rate alone"),
        _ => None,
    }
}

/// Whether it is a result of any of vLLM's clients.
pub(super) fn is_vllm(file: &ForeignFile<'_>) -> bool {
    file.has(&["model_id", "tokenizer_id"]) || file.has(&["model_id", "num_prompts"])
}

/// The levels of files of a vLLM form, which `tool` wrote.
pub(super) fn import_files(
    files: &[ForeignFile<'_>],
    format: &'static str,
    tool: &'static str,
) -> Result<Vec<ImportedLevel>, ForeignError> {
    levels_of(files, tool, |record, file| import_record(record, file, format))
}

/// What `import` makes of each record of `files`.
pub(super) fn levels_of<'f, 'b: 'f>(
    files: impl IntoIterator<Item = &'f ForeignFile<'b>>,
    tool: &'static str,
    import: impl Fn(&Record<'_>, &ForeignFile<'_>) -> Result<ImportedLevel, ForeignError>,
) -> Result<Vec<ImportedLevel>, ForeignError> {
    let mut levels = Vec::new();
    for file in files {
        for record in Record::all(file, tool)? {
            levels.push(import(&record, file)?);
        }
    }
    Ok(levels)
}

pub(super) const TOOL: &str = "vllm bench serve";

/// What each of vLLM's results has, and early ones of SGLang's have not.
const THROUGHPUT: &str = "request_throughput";

/// The level of a record.
pub(super) fn import_record(
    record: &Record<'_>,
    file: &ForeignFile<'_>,
    format: &'static str,
) -> Result<ImportedLevel, ForeignError> {
    if record.has("input_sequence_throughput") {
        return Err(ForeignError::damaged(
            file.name(),
            "a result of embeddings, which are not read",
        ));
    }
    if !record.has(THROUGHPUT) {
        return Err(record.missing(THROUGHPUT));
    }
    let lists = lists::read(record)?;
    let serving: Serving = record.read()?;
    let mut sheet = figures(record, &serving, lists.as_ref())?;
    sheet.times_all_requests();
    let load = serving.load(record)?;
    let tapes = lists.map(|lists| lists::tapes(&lists, record, load));
    let tapes = tapes.transpose()?.unwrap_or_default();
    let level = ImportedLevel {
        load,
        counts: serving.counts(),
        about: about(record, serving),
        not_known: not_known(record, &tapes),
        tapes,
        ..blank(record, file, format)
    };
    // Tapes have the waits for the cap where a rate was due before.
    let is_tape = |key: &str| {
        Lists::KEYS.contains(&key) && (key != QUEUE_TIMES || load.requests_per_s.is_some())
    };
    let is_kept = |key: &str| level.tapes.is_empty() || !is_tape(key);
    Ok(sheet.finish(ImportedLevel { record: kept(record, is_kept), ..level }))
}

/// A level of `file` of which nothing but its record is known yet.
pub(super) fn blank(record: &Record<'_>, file: &ForeignFile<'_>, format: &str) -> ImportedLevel {
    ImportedLevel::of(source(file, format, record.tool()), kept(record, |_| true))
}

/// Where a level of `file` comes from.
pub(super) fn source(file: &ForeignFile<'_>, format: &str, tool: &str) -> ImportedSource {
    ImportedSource {
        format: format.to_owned(),
        tool: tool.to_owned(),
        version: None,
        file: file.name().to_owned(),
        checksum: file.checksum(),
    }
}

/// A record as it came, with the fields that are kept.
pub(super) fn kept(record: &Record<'_>, is_kept: impl Fn(&str) -> bool) -> String {
    let fields = record.map().iter().filter(|(key, _)| is_kept(key));
    let kept: Map<String, Value> =
        fields.map(|(key, value)| (key.clone(), value.clone())).collect();
    Value::Object(kept).to_string()
}

fn about(record: &Record<'_>, serving: Serving) -> ImportedAbout {
    let settings = settings(record);
    ImportedAbout {
        model: serving.model_id.0,
        backend: serving.backend.0.or(serving.endpoint_type.0),
        dataset: serving.dataset_name.0,
        date: serving.date.0.map(|date| iso(&date)),
        label: serving.label.0,
        devices: devices(&settings),
        settings,
        goodput: None,
    }
}

/// `20260801-120000` as `2026-08-01T12:00:00`, without a zone, since vLLM writes local time; anything else as it is.
pub(super) fn iso(date: &str) -> String {
    let stamp = DateTime::strptime("%Y%m%d-%H%M%S", date).ok().filter(|_| date.len() == 15);
    stamp.map_or_else(|| date.to_owned(), |stamp| stamp.to_string())
}

/// The keys that vLLM itself writes, but for figures. Any other is the user's metadata, or a setting of a sweep.
const OWN: &str = "
    date endpoint_type backend label model_id tokenizer_id num_prompts dataset_name request_rate
    burstiness max_concurrency duration completed failed total_input_tokens total_output_tokens
    request_throughput request_goodput request_goodput: output_throughput input_throughput total_token_throughput
    max_output_tokens_per_s max_concurrent_requests rtfx max_model_len steady_state failed_requests
    run_number mode num_conversations turns_per_conversation multi_turn_concurrency
    inter_turn_delay_ms conversations_completed conversations_failed avg_turns_completed
    avg_conversation_duration_ms per_turn_metrics rps_change_events goodput total_input_sequences
    request_id_prefix server_queue_times server_ttfts benchmark_start_time_unix
    benchmark_end_time_unix
";

const PREFIXES: [&str; 4] = ["ramp_up_", "probe_", "spec_decode_", "diffusion_"];

fn is_own(key: &str) -> bool {
    let is_percentile =
        key.strip_prefix('p').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_mean = ["mean_", "median_", "std_"].iter().any(|word| key.starts_with(word));
    let is_statistic = key.ends_with("_ms") && (is_percentile || is_mean);
    OWN.split_ascii_whitespace().any(|own| own == key)
        || Lists::KEYS.contains(&key)
        || is_statistic
        || PREFIXES.iter().any(|prefix| key.starts_with(prefix))
}

fn settings(record: &Record<'_>) -> BTreeMap<String, String> {
    // A sweep may spell a key of the result as the flag.
    let others = record.map().iter().filter(|(key, _)| !is_own(&key.replace('-', "_")));
    // Metadata are texts. A number with decimals is a setting of a sweep; elsewhere it is a figure of a version that is not known here,
    // which no two levels have alike.
    let is_sweep = record.has("run_number");
    let settings = others.filter(|(_, value)| is_sweep || !value.is_f64());
    settings.filter_map(|(key, _)| Some((key.clone(), record.words(key)?))).collect()
}

/// Tensor, pipeline and data parallel ranks, as vLLM's own `plot_pareto` counts devices; none where none of them is there.
fn devices(settings: &BTreeMap<String, String>) -> Option<u64> {
    const RANKS: [[&str; 2]; 3] = [
        ["tensor_parallel_size", "tp"],
        ["pipeline_parallel_size", "pp"],
        ["data_parallel_size", "dp"],
    ];
    let rank = |names: &[&str; 2]| {
        let mut own = settings.iter();
        let found = own.find(|(key, _)| names.contains(&key.replace('-', "_").as_str()));
        found.and_then(|(_, value)| value.parse::<u64>().ok()).filter(|rank| *rank > 0)
    };
    let ranks: Vec<u64> = RANKS.iter().filter_map(rank).collect();
    (!ranks.is_empty()).then(|| ranks.iter().fold(1_u64, |all, rank| all.saturating_mul(*rank)))
}

fn figures(
    record: &Record<'_>,
    serving: &Serving,
    lists: Option<&Lists>,
) -> Result<FigureSheet, ForeignError> {
    let mut sheet = serving.rates();
    let names = [("ttft", "ttft"), ("tpot", "tpot"), ("e2el", "e2el")];
    match lists {
        Some(lists) => {
            lists::figures(lists, &mut sheet);
            stated_means(record, &mut sheet, names)?;
        }
        None => {
            latencies(record, &mut sheet, names)?;
            // The Python client's file has the end-to-end latency of each request, whatever else it has. Those that failed have
            // zeros there.
            let all: Option<Vec<Option<f64>>> = record.field("latencies")?;
            let good = all.iter().flatten().flatten().filter(|seconds| **seconds > 0.0);
            let good: Vec<f64> = good.map(|seconds| seconds * 1e3).collect();
            if all.is_some() && good.len() as u64 == serving.counts().completed {
                sheet.sample("e2el", good);
            }
        }
    }
    sheet.caveat(
        "TPOT divides by all tokens but one; ours leaves out every token of the first event",
    );
    sheet.not_known(
        "itl",
        "vLLM's is the gap between chunks, whatever they carry; ours is between tokens",
    );
    Ok(sheet)
}

fn not_known(record: &Record<'_>, tapes: &[Tape]) -> Vec<UnknownFact> {
    let mut all = Vec::new();
    match !tapes.is_empty() {
        true => all.extend([
            UnknownFact::new(
                "tokens of each event",
                "the file has the sum of a reply; it is spread over its events",
            ),
            UnknownFact::new("the requested length of each reply", "not in the file"),
            UnknownFact::new("connections", "not in the file"),
        ]),
        false => all.push(UnknownFact::new(
            "tapes",
            "the file has no start, first token and gaps of each request (--save-detailed): \
             figures cannot be computed again and have no intervals",
        )),
    }
    let endless = tapes.iter().filter(|tape| tape.marks.end.is_none()).count();
    if endless > 0 {
        let why = format!(
            "the file has no latency of {endless} requests that failed; they count as in flight at the instant of their sending alone"
        );
        all.push(UnknownFact::new("when failed requests were over", why));
    }
    all.push(UnknownFact::new(
        "the client's accuracy",
        "the file does not say how late it sent or how busy it was",
    ));
    all.push(UnknownFact::new("warm-up", "not in the file"));
    all.push(UnknownFact::new(
        "peaks of requests in flight and of tokens per second",
        "vLLM counts by whole seconds, so its peaks can exceed the cap or be below the mean",
    ));
    if let Some(goodput) = record.words("request_goodput") {
        let why = format!("the file has {goodput} requests/s, but not the goals");
        all.push(UnknownFact::new("goodput", why));
    }
    if record.has("steady_state") {
        let why = "vllm-rs counts chunks for tokens there";
        all.push(UnknownFact::new("its steady state", why));
    }
    if record.has("ramp_up_strategy") {
        all.push(UnknownFact::new(
            "the load",
            "the rate was ramped, and the figures cover the whole ramp",
        ));
    }
    all
}

/// The record of a level: as it came where the same form is asked for, else by vLLM's definitions from the tapes.
pub(super) fn record(
    level: &ExportLevel<'_>,
    format: &'static str,
    detail: VllmDetail,
) -> Result<Object, ForeignError> {
    if let Some(own) = level.own_record(format) {
        let waits: &[_] = if own.load.requests_per_s.is_some() { &[QUEUE_TIMES] } else { &[] };
        return Ok(again(own, level.tapes, &[ENDS, waits].concat()));
    }
    let tapes = lists::by_request(level.with_tapes(format)?);
    let selection = VllmSelection::parse("ttft,tpot,itl,e2el", "50,90,95,99").unwrap_or_default();
    Ok(VllmResult::of(level.run.clone(), tapes, &selection, level.goals, detail).fields())
}

/// What each request did, in the order of SGLang's and of the Rust client's files.
pub(super) const EACH: [&str; 6] =
    ["input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors"];

/// How long each waited for the cap on requests in flight.
const QUEUE_TIMES: &str = "queue_times";

/// When each was sent, and how long it took.
pub(super) const ENDS: &[&str] = &["start_times", "latencies"];

/// A record as it came, with the lists that became tapes: those of `more` besides the usual ones.
pub(super) fn again(own: &ImportedLevel, tapes: &[Tape], more: &[&'static str]) -> Object {
    let mut object = Object::kept(&own.record);
    if !tapes.is_empty() {
        let tapes = lists::by_request(tapes);
        let errors = tapes.iter().map(|tape| error_text(&tape.outcome)).collect();
        let lists = Lists { errors, ..Lists::of(&tapes) };
        lists.put(&mut object, &EACH);
        lists.put(&mut object, more);
    }
    object
}

/// The name of a level's file; in a folder of its level's name, so that two do not meet. What of it comes from a file of
/// another tool leads nowhere else.
pub(super) fn named(level: &ExportLevel<'_>, file: &str) -> String {
    let file = plain_file_name(file);
    match level.name {
        "" => file,
        name => format!("{}/{file}", plain_name(name).unwrap_or_else(|| "level".to_owned())),
    }
}
