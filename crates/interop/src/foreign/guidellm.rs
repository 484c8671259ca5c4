//! GuideLLM: `benchmarks.json`, one document with a benchmark a load.
//!
//! Keys are those of GuideLLM 0.8.1 (`guidellm/benchmark/schemas`, `guidellm/schemas/base`); earlier versions have `args` where
//! this one has `config`, and 0.2 and 0.3 (`guidellm/benchmark/benchmark.py`) have the totals beside the metrics, the model in `worker`,
//! and each request in one level.

mod metrics;
mod requests;
mod write;

use fizeau_core::Tape;
use serde::Deserialize;
use serde_json::Value;

use super::figures::iso_of_unix;
use super::read::{GREATEST_COUNT, Lenient, Record};
use super::vllm::{kept, source};
use super::{
    ExportArrivals, ExportLevel, ExportedFile, FigureSheet, ForeignError, ForeignFile,
    ForeignFormat, ImportedAbout, ImportedCounts, ImportedLevel, ImportedLoad, ImportedSource,
    UnknownFact,
};
use requests::{Request, Requests};

/// The form of GuideLLM's files.
pub(super) struct GuideLlm;

const TOOL: &str = "GuideLLM";

impl ForeignFormat for GuideLlm {
    fn key(&self) -> &'static str {
        "guidellm"
    }

    fn about(&self) -> &'static str {
        "GuideLLM: benchmarks.json"
    }

    fn recognises(&self, file: &ForeignFile<'_>) -> bool {
        let benchmarks = file.first().and_then(|first| first.get("benchmarks"));
        let first = benchmarks.and_then(Value::as_array).and_then(|all| all.first());
        first.is_some_and(|first| {
            first.get("scheduler_metrics").is_some() || first.get("metrics").is_some()
        })
    }

    fn import(&self, files: &[ForeignFile<'_>]) -> Result<Vec<ImportedLevel>, ForeignError> {
        let mut levels = Vec::new();
        for file in files {
            for report in Record::all(file, TOOL)? {
                let whole: Report = report.read()?;
                for benchmark in report.each("benchmarks", "benchmark")? {
                    levels.push(import(&whole, &benchmark, file)?);
                }
            }
        }
        Ok(levels)
    }

    fn export(&self, levels: &[ExportLevel<'_>]) -> Result<Vec<ExportedFile>, ForeignError> {
        let text = write::document(levels, self.key())?;
        Ok(vec![ExportedFile { name: "benchmarks.json".to_owned(), bytes: text.into_bytes() }])
    }

    fn in_place_of(&self, level: &ExportLevel<'_>) -> Option<&'static str> {
        match level.arrivals {
            ExportArrivals::Gamma { burstiness: f64::INFINITY, .. } => None,
            _ => level.arrivals.peculiar().map(|_| "its file says poisson, at the mean rate"),
        }
    }
}

/// What all benchmarks of a document have in common.
#[derive(Debug, Deserialize)]
struct Report {
    metadata: Lenient<Metadata>,
    config: Lenient<Config>,
    args: Lenient<Config>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    guidellm_version: Lenient<String>,
}

/// What was asked, of a benchmark or of all.
#[derive(Debug, Deserialize)]
struct Config {
    strategy: Lenient<Strategy>,
    backend: Lenient<Backend>,
    model: Lenient<String>,
    data: Lenient<Named>,
    spec: Lenient<Spec>,
}

#[derive(Debug, Deserialize)]
struct Spec {
    backend: Lenient<Backend>,
    data: Lenient<Vec<Data>>,
}

/// A backend, or its name alone.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Backend {
    Name(String),
    Known {
        model: Lenient<String>,
        request_format: Lenient<String>,
        kind: Lenient<String>,
        type_: Lenient<String>,
    },
}

#[derive(Debug, Deserialize)]
struct Data {
    source: Lenient<String>,
    kind: Lenient<String>,
}

/// A name, or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Named {
    One(String),
    Several(Vec<String>),
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Strategy {
    type_: Lenient<String>,
    streams: Lenient<u64>,
    max_concurrency: Lenient<u64>,
    rate: Lenient<f64>,
}

#[derive(Debug, Deserialize)]
struct Benchmark {
    metrics: Metrics,
    /// Where version 0.3 and those before it have them.
    request_totals: Option<Totals>,
    #[serde(default)]
    worker: Lenient<Worker>,
    config: Lenient<Config>,
    args: Lenient<Config>,
    scheduler: Lenient<Scheduler>,
    requests: Option<Groups>,
    duration: Option<f64>,
    start_time: Option<f64>,
}

/// What sent the requests, up to version 0.3.
#[derive(Debug, Deserialize)]
struct Worker {
    backend_model: Lenient<String>,
    backend_type: Lenient<String>,
}

#[derive(Debug, Deserialize)]
struct Scheduler {
    strategy: Lenient<Strategy>,
}

#[derive(Debug, Deserialize)]
struct Groups {
    successful: Option<Vec<Request>>,
    errored: Option<Vec<Request>>,
}

#[derive(Debug, Deserialize)]
struct Metrics {
    request_totals: Option<Totals>,
    prompt_token_count: Option<Grouped>,
    output_token_count: Option<Grouped>,
    requests_per_second: Option<Grouped>,
    output_tokens_per_second: Option<Grouped>,
    tokens_per_second: Option<Grouped>,
    time_to_first_token_ms: Option<Grouped>,
    request_latency: Option<Grouped>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Totals {
    successful: u64,
    errored: Option<u64>,
    incomplete: Option<u64>,
}

/// A figure of the requests that succeeded; those of others are not looked at.
#[derive(Debug, Deserialize)]
struct Grouped {
    successful: Option<Summary>,
}

#[derive(Debug, Deserialize)]
struct Summary {
    mean: Option<f64>,
    median: Option<f64>,
    max: Option<f64>,
    total_sum: Option<f64>,
    percentiles: Option<Percentiles>,
}

#[derive(Debug, Deserialize)]
struct Percentiles {
    p90: Option<f64>,
    p99: Option<f64>,
}

fn import(
    report: &Report,
    record: &Record<'_>,
    file: &ForeignFile<'_>,
) -> Result<ImportedLevel, ForeignError> {
    let mut benchmark: Benchmark = record.read()?;
    let totals = benchmark.metrics.request_totals.or(benchmark.request_totals);
    let totals = totals.ok_or_else(|| record.missing("metrics.request_totals"))?;
    let completed = totals.successful;
    let all = benchmark.requests.take().map(|groups| Requests::of(groups, record)).transpose()?;
    // A sample of the requests, or none of them, is no record of the run.
    let whole = all.filter(|all| all.are_whole(&totals));
    let strategy = benchmark.strategy();
    let whole = if strategy.is_timed() { whole } else { whole.map(Requests::unplanned) };
    let mut sheet = FigureSheet::new(completed);
    rates(&benchmark.metrics, &mut sheet);
    let tapes: Vec<Tape> = match &whole {
        Some(requests) => {
            requests.figures(&mut sheet);
            let metrics = &benchmark.metrics;
            let mean = |of: &Option<Grouped>| successful(of.as_ref(), |of| of.mean);
            sheet.stated_mean("ttft", mean(&metrics.time_to_first_token_ms));
            sheet.stated_mean("e2el", mean(&metrics.request_latency).map(|s| s * 1e3));
            requests.tapes(record)?
        }
        None => {
            latencies(&benchmark.metrics, &mut sheet);
            Vec::new()
        }
    };
    if let Some(called_off) = totals.incomplete.filter(|count| *count > 0) {
        sheet.caveat(format!(
            "{called_off} requests were still in flight at the end and are in no figure"
        ));
    }
    let metadata = report.metadata.0.as_ref();
    let version = metadata.and_then(|own| own.guidellm_version.0.clone());
    let source = ImportedSource { version, ..source(file, "guidellm", TOOL) };
    // The single requests became tapes or are a sample.
    let record = kept(record, |key| key != "requests");
    let level = ImportedLevel {
        load: strategy.load(),
        about: about(report, &benchmark),
        counts: ImportedCounts {
            completed,
            failed: Some(totals.errored.unwrap_or_default()),
            input_tokens: tokens(benchmark.metrics.prompt_token_count.as_ref()),
            output_tokens: tokens(benchmark.metrics.output_token_count.as_ref()),
            duration_s: benchmark.duration,
            held_back: None,
        },
        not_known: not_known(whole.is_some()),
        epoch_unix_ns: whole.as_ref().and_then(Requests::epoch_unix_ns),
        tapes,
        ..ImportedLevel::of(source, record)
    };
    Ok(sheet.finish(level))
}

/// A figure of the requests that succeeded.
fn successful<T>(of: Option<&Grouped>, take: impl Fn(&Summary) -> Option<T>) -> Option<T> {
    take(of?.successful.as_ref()?)
}

fn tokens(of: Option<&Grouped>) -> Option<u64> {
    let total = successful(of, |of| of.total_sum);
    total.filter(|total| *total <= GREATEST_COUNT).map(|total| total.round() as u64)
}

fn rates(metrics: &Metrics, sheet: &mut FigureSheet) {
    let mean = |of: &Option<Grouped>| successful(of.as_ref(), |of| of.mean);
    sheet.put("requests_per_s", mean(&metrics.requests_per_second));
    sheet.put("output_tps", mean(&metrics.output_tokens_per_second));
    sheet.put("total_tps", mean(&metrics.tokens_per_second));
    sheet.caveat("rates are means over the window between GuideLLM's warm-up and its cool-down");
}

/// Of a file without its requests.
fn latencies(metrics: &Metrics, sheet: &mut FigureSheet) {
    let latencies =
        [("ttft", &metrics.time_to_first_token_ms, 1.0), ("e2el", &metrics.request_latency, 1e3)];
    for (metric, of, scale) in latencies {
        let Some(of) = of.as_ref().and_then(|of| of.successful.as_ref()) else { continue };
        for (statistic, value) in [("mean", of.mean), ("p50", of.median), ("max", of.max)] {
            sheet.latency(metric, statistic, value.map(|value| value * scale));
        }
        if let Some(of) = &of.percentiles {
            sheet.latency(metric, "p90", of.p90.map(|value| value * scale));
            sheet.latency(metric, "p99", of.p99.map(|value| value * scale));
        }
    }
    sheet.caveat("a percentile is the value of one request, without interpolation");
    sheet.caveat("a request without a first token has a TTFT of 0 in the file's statistics");
    sheet.caveat("E2EL runs to the end of the stream, so it is at least ours");
    sheet.not_known(
        "tpot",
        "GuideLLM weighs inter_token_latency_ms by tokens, ours counts each request once; its time_per_output_token_ms has the time to the first token in it",
    );
    sheet.not_known("itl", "GuideLLM spreads tokens evenly between the first and the last");
}

impl Benchmark {
    fn config(&self) -> Option<&Config> {
        self.config.0.as_ref().or(self.args.0.as_ref())
    }

    fn strategy(&self) -> Strategy {
        let own = self.config().and_then(|config| config.strategy.0.as_ref());
        let before = || self.scheduler.0.as_ref()?.strategy.0.as_ref();
        own.or_else(before).cloned().unwrap_or_default()
    }
}

impl Strategy {
    /// Whether each request has an instant at which it is due.
    fn is_timed(&self) -> bool {
        matches!(self.type_.0.as_deref(), Some("constant" | "poisson" | "replay"))
    }

    fn load(&self) -> ImportedLoad {
        let kind = self.type_.0.as_deref();
        let cap = match kind {
            Some("synchronous") => Some(1),
            Some("concurrent") => self.streams.0,
            _ => self.max_concurrency.0,
        };
        let rate = self.rate.0.filter(|_| matches!(kind, Some("constant" | "poisson")));
        let burstiness = match kind {
            Some("constant") => Some(f64::INFINITY),
            Some("poisson") => Some(1.0),
            _ => None,
        };
        let told = ImportedLoad::from_rate_and_cap(rate, cap).with_burstiness(burstiness);
        // As much as it can, all at once.
        ImportedLoad { is_unknown: told.is_unknown && kind != Some("throughput"), ..told }
    }
}

fn about(report: &Report, benchmark: &Benchmark) -> ImportedAbout {
    let whole = report.config.0.as_ref().or(report.args.0.as_ref());
    let all = || [benchmark.config(), whole].into_iter().flatten();
    let said = |of: fn(&Config) -> Option<&String>| {
        all().find_map(|config| of(config).filter(|text| !text.is_empty())).cloned()
    };
    let worker = benchmark.worker.0.as_ref();
    // An epoch that nobody knew is no date.
    let start = benchmark.start_time.filter(|at| (1e9..4e9).contains(at));
    ImportedAbout {
        model: said(Config::model).or_else(|| worker?.backend_model.0.clone()),
        backend: said(Config::backend).or_else(|| worker?.backend_type.0.clone()),
        dataset: said(Config::data),
        date: start.and_then(|at| iso_of_unix(at as u64)),
        ..ImportedAbout::default()
    }
}

impl Backend {
    const fn model(&self) -> Option<&String> {
        match self {
            Self::Known { model, .. } => model.0.as_ref(),
            Self::Name(_) => None,
        }
    }
}

impl Config {
    fn model(&self) -> Option<&String> {
        let own = self.backend.0.as_ref().and_then(Backend::model);
        let spec = || self.spec.0.as_ref()?.backend.0.as_ref()?.model();
        own.or_else(spec).or(self.model.0.as_ref())
    }

    fn backend(&self) -> Option<&String> {
        match self.backend.0.as_ref()? {
            Backend::Known { request_format, kind, type_, .. } => {
                [request_format, kind, type_].into_iter().find_map(|text| text.0.as_ref())
            }
            Backend::Name(name) => Some(name),
        }
    }

    fn data(&self) -> Option<&String> {
        let spec = self.spec.0.as_ref().and_then(|spec| spec.data.0.as_ref()?.first());
        let spec = spec.and_then(|data| data.source.0.as_ref().or(data.kind.0.as_ref()));
        spec.or_else(|| match self.data.0.as_ref()? {
            Named::One(name) => Some(name),
            Named::Several(names) => names.first(),
        })
    }
}

fn not_known(has_tapes: bool) -> Vec<UnknownFact> {
    let mut all = match has_tapes {
        true => vec![
            UnknownFact::new(
                "when each token came",
                "the file has the first and the last of a reply, and how many chunks; tapes have them evenly between, so that gaps \
                 and stalls of this run are made up",
            ),
            UnknownFact::new("the requested length of each reply", "not in the file"),
        ],
        false => vec![UnknownFact::new(
            "tapes",
            "the file lacks some requests (sample_size): figures cannot be computed again and \
             have no intervals",
        )],
    };
    all.push(UnknownFact::new("the client's accuracy", "the file does not say how busy it was"));
    all
}
