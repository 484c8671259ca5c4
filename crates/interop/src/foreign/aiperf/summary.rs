//! AIPerf's figures of a run.

use fizeau_core::Tape;
use fizeau_metrics::GoodputGoals;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::TOOL;
use super::records::Records;
use crate::foreign::read::{Lenient, Record, words};
use crate::foreign::statistics::{self, single};
use crate::foreign::vllm::{blank, source};
use crate::foreign::{
    FigureSheet, ForeignError, ForeignFile, ImportedAbout, ImportedCounts, ImportedLevel,
    ImportedLoad, ImportedSource, UnknownFact,
};

/// What a document says beside its figures.
#[derive(Debug, Deserialize)]
struct Document {
    aiperf_version: Lenient<String>,
    start_time: Lenient<String>,
    was_cancelled: Lenient<bool>,
    is_complete: Lenient<bool>,
    error_summary: Option<Vec<Value>>,
    input_config: Lenient<Config>,
    run_info: Lenient<RunInfo>,
}

/// What was asked: the schema of 2026 lists phases, files before it have one `loadgen`.
#[derive(Debug, Default, Deserialize)]
struct Config {
    phases: Lenient<Vec<Phase>>,
    loadgen: Lenient<LoadGen>,
    models: Lenient<Models>,
    endpoint: Lenient<Endpoint>,
    datasets: Lenient<Vec<Dataset>>,
    slos: Lenient<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
struct Phase {
    kind: Lenient<String>,
    name: Lenient<String>,
    #[serde(rename = "type")]
    law: Lenient<String>,
    rate: Lenient<f64>,
    smoothness: Lenient<f64>,
    concurrency: Lenient<u64>,
}

#[derive(Debug, Default, Deserialize)]
struct LoadGen {
    request_rate: Lenient<f64>,
    arrival_pattern: Lenient<String>,
    arrival_smoothness: Lenient<f64>,
    concurrency: Lenient<u64>,
}

#[derive(Debug, Deserialize)]
struct Models {
    items: Vec<Dataset>,
}

#[derive(Debug, Deserialize)]
struct Endpoint {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    model_names: Lenient<Vec<String>>,
}

#[derive(Debug, Deserialize)]
struct Dataset {
    name: Lenient<String>,
    #[serde(rename = "type")]
    kind: Lenient<String>,
}

#[derive(Debug, Default, Deserialize)]
struct RunInfo {
    run_label: Lenient<String>,
    variation_values: Lenient<Map<String, Value>>,
}

/// The level of a summary, with what its requests did where that is beside it.
pub(super) fn level(
    record: &Record<'_>,
    file: &ForeignFile<'_>,
    records: Option<&Records>,
) -> Result<ImportedLevel, ForeignError> {
    let document: Document = record.read()?;
    let counts = counts(record, &document)?;
    let mut sheet = figures(record, counts.completed)?;
    if document.was_cancelled.0 == Some(true) {
        sheet.caveat("the run was cancelled before its end");
    }
    if document.is_complete.0 == Some(false) {
        sheet.caveat("AIPerf marks the run as incomplete");
    }
    if file.content().starts_with(b"Metric,") {
        sheet.caveat("figures come from a table of two decimals");
    }
    let config = document.input_config.0.unwrap_or_default();
    let level = ImportedLevel {
        source: ImportedSource {
            version: document.aiperf_version.0,
            ..source(file, "aiperf", TOOL)
        },
        load: config.load(records.map(|records| records.tapes.as_slice()).unwrap_or_default()),
        counts,
        not_known: not_known(record, records, config.goals().is_some()),
        has_sessions: records.is_some_and(|records| records.has_sessions),
        epoch_unix_ns: records.and_then(|records| records.epoch_unix_ns),
        tapes: records.map(|records| records.tapes.clone()).unwrap_or_default(),
        about: ImportedAbout {
            date: document.start_time.0,
            ..config.about(document.run_info.0.unwrap_or_default())
        },
        ..blank(record, file, "aiperf")
    };
    Ok(sheet.finish(level))
}

fn counts(record: &Record<'_>, document: &Document) -> Result<ImportedCounts, ForeignError> {
    let completed = single(record, "request_count")?;
    // Nothing is written of what is zero, but the list of errors is there.
    let none = document.error_summary.as_ref().filter(|list| list.is_empty()).map(|_| 0);
    Ok(ImportedCounts {
        completed: completed.ok_or_else(|| record.missing("request_count.avg"))?,
        failed: single(record, "error_request_count")?.or(none),
        input_tokens: tokens(record, "total_isl", "input_sequence_length")?,
        output_tokens: tokens(record, "total_osl", "output_sequence_length")?,
        duration_s: single(record, "benchmark_duration")?,
        held_back: None,
    })
}

/// The sum of a sample.
#[derive(Debug, Deserialize)]
struct Sum {
    sum: Option<u64>,
}

/// The total where there is one, else the sum of the lengths.
fn tokens(record: &Record<'_>, total: &str, lengths: &str) -> Result<Option<u64>, ForeignError> {
    match single(record, total)? {
        None => Ok(record.field::<Sum>(lengths)?.and_then(|lengths| lengths.sum)),
        total => Ok(total),
    }
}

fn figures(record: &Record<'_>, completed: u64) -> Result<FigureSheet, ForeignError> {
    let mut sheet = FigureSheet::new(completed);
    for (name, tag) in [
        ("requests_per_s", "request_throughput"),
        ("output_tps", "output_token_throughput"),
        ("total_tps", "total_token_throughput"),
    ] {
        sheet.put(name, single(record, tag)?);
    }
    statistics::timed(&mut sheet, record, &super::LATENCIES)?;
    explain(&mut sheet);
    Ok(sheet)
}

/// In what the definitions differ.
pub(super) fn explain(sheet: &mut FigureSheet) {
    sheet.caveat(
        "tokens are those of AIPerf's tokenizer, unless it was told to use the server's count",
    );
    sheet.caveat(
        "TPOT divides by all tokens but one; ours leaves out every token of the first event",
    );
    sheet.not_known(
        "itl",
        "AIPerf's inter_chunk_latency is the gap between chunks, whatever they carry, and its inter_token_latency is TPOT",
    );
}

/// Settings of a sweep that give the load of a run, by the last part of their path.
const LOAD: [&str; 6] =
    ["concurrency", "rate", "request_rate", "requests", "request_count", "duration"];

impl Config {
    /// That of the phase that was measured; of a schedule of its own the rate at which its requests, which left these `tapes`, were due.
    fn load(&self, tapes: &[Tape]) -> ImportedLoad {
        let phases = self.phases.0.as_deref().unwrap_or_default();
        let is_measured = |phase: &&Phase| {
            [&phase.kind, &phase.name].iter().any(|own| own.0.as_deref() == Some("profiling"))
        };
        let measured = phases.iter().find(is_measured).or_else(|| phases.last());
        let before = self.loadgen.0.as_ref();
        let is_scheduled =
            measured.is_some_and(|phase| phase.law.0.as_deref() == Some("fixed_schedule"));
        let due = || due_rate(tapes).filter(|_| is_scheduled);
        let rate = measured.and_then(|phase| phase.rate.0).or_else(due);
        let cap = measured.and_then(|phase| phase.concurrency.0);
        let law = measured.and_then(|phase| phase.law.0.as_deref());
        let smoothness = measured.and_then(|phase| phase.smoothness.0);
        let law = law.or_else(|| before?.arrival_pattern.0.as_deref());
        let burstiness = match law {
            Some("constant") => Some(f64::INFINITY),
            Some("poisson") => Some(1.0),
            Some("gamma") => smoothness.or_else(|| before?.arrival_smoothness.0),
            _ => None,
        };
        ImportedLoad::from_rate_and_cap(
            rate.or_else(|| before?.request_rate.0),
            cap.or_else(|| before?.concurrency.0),
        )
        .with_burstiness(burstiness)
    }

    /// Its goals of single requests as ours; none where it has none, or one of a figure that cannot have one here.
    fn goals(&self) -> Option<String> {
        let goals = self.slos.0.as_ref()?.iter().map(|(name, limit)| format!("{name}:{limit}"));
        let goals: GoodputGoals = goals.collect::<Vec<_>>().join(" ").parse().ok()?;
        (!goals.is_empty()).then(|| goals.to_string())
    }

    fn about(self, info: RunInfo) -> ImportedAbout {
        let text = |text: Option<&String>| text.filter(|text| !text.is_empty()).cloned();
        let endpoint = self.endpoint.0.as_ref();
        let models = self.models.0.as_ref().map(|models| models.items.as_slice());
        let name = |all: Option<&[Dataset]>| text(all?.first()?.name.0.as_ref());
        let named = || text(endpoint?.model_names.0.as_ref()?.first());
        let datasets = self.datasets.0.as_deref();
        let varied = info.variation_values.0.unwrap_or_default();
        let setting = |(path, value): (String, Value)| {
            let name = path.rsplit('.').next().unwrap_or(&path);
            let is_setting = !LOAD.contains(&name) && !value.is_boolean();
            Some((name.to_owned(), words(&value).filter(|_| is_setting)?))
        };
        ImportedAbout {
            model: name(models).or_else(named),
            backend: endpoint.and_then(|endpoint| text(endpoint.kind.0.as_ref())),
            dataset: name(datasets).or_else(|| text(datasets?.first()?.kind.0.as_ref())),
            label: info.run_label.0,
            goodput: self.goals(),
            settings: varied.into_iter().filter_map(setting).collect(),
            ..ImportedAbout::default()
        }
    }
}

/// The mean rate at which requests were due.
fn due_rate(tapes: &[Tape]) -> Option<f64> {
    let due = || tapes.iter().map(|tape| tape.marks.intended);
    let span = due().max()?.saturating_since(due().min()?).as_secs_f64();
    (span > 0.0).then(|| (tapes.len() - 1) as f64 / span)
}

fn not_known(record: &Record<'_>, records: Option<&Records>, has_goals: bool) -> Vec<UnknownFact> {
    let mut all = match records {
        None => vec![UnknownFact::new(
            "tapes",
            "profile_export.jsonl is not there: figures cannot be computed again and have no \
             intervals",
        )],
        Some(records) => records.not_known.clone(),
    };
    all.push(UnknownFact::new(
        "the client's accuracy",
        "the file does not say how late it sent or how busy it was",
    ));
    all.push(UnknownFact::new(
        "peaks of requests in flight and of tokens per second",
        "AIPerf's effective_* weigh the edges of the run by a rule of their own",
    ));
    if record.has("goodput") {
        let why = match has_goals {
            true => "AIPerf takes it of other requests; it is computed from each request instead",
            false => "its goals are none that a request can have here: AIPerf accepts any metric",
        };
        all.push(UnknownFact::new("goodput", why));
    }
    all
}
