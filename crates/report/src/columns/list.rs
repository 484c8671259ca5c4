//! Which columns there are.

use std::borrow::Cow;
use std::sync::LazyLock;

use fizeau_metrics::{Metric, Statistic};

use super::Row;
use super::figures::{self, Figure};
use crate::telemetry::{TelemetryExport, exported};

/// One figure of a level.
#[derive(Clone)]
pub(super) struct Column {
    pub(super) name: Cow<'static, str>,
    /// What it holds, in a few words.
    pub(super) about: Cow<'static, str>,
    pub(super) content: FieldSource,
}

/// Where a field comes from.
#[derive(Clone, Copy)]
pub(super) enum FieldSource {
    Text(fn(&Row<'_>) -> Option<String>),
    /// Known exactly, or without an interval.
    Number(fn(&Row<'_>) -> Option<f64>),
    /// What servers and devices told.
    Reported(&'static TelemetryExport),
    Figure(fn(&Row<'_>) -> Figure),
    Metric(Metric, Statistic),
}

impl FieldSource {
    /// Whether its column holds words.
    pub(super) const fn is_text(self) -> bool {
        match self {
            Self::Text(_) => true,
            Self::Reported(of) => of.is_text(),
            Self::Number(_) | Self::Figure(_) | Self::Metric(..) => false,
        }
    }

    /// Whether it may have an interval, and so has columns for its ends.
    pub(super) const fn has_ends(self) -> bool {
        match self {
            Self::Figure(_) => true,
            Self::Metric(metric, statistic) => metric.has_interval(statistic),
            Self::Text(_) | Self::Number(_) | Self::Reported(_) => false,
        }
    }
}

use FieldSource::{Figure as Ranged, Number, Text};

const fn column(name: &'static str, about: &'static str, content: FieldSource) -> Column {
    Column { name: Cow::Borrowed(name), about: Cow::Borrowed(about), content }
}

/// The columns of a figure; none where tables leave it out.
fn of(metric: Metric) -> Vec<Column> {
    let column = |statistic: &Statistic| {
        let about = in_a_sentence(metric.entry().definition).into();
        let content = FieldSource::Metric(metric, *statistic);
        Some(Column { name: metric.column(*statistic)?.into(), about, content })
    };
    metric.tabulated().iter().filter_map(column).collect()
}

/// A definition without the capital and the full stop of a sentence that stands alone.
pub(crate) fn in_a_sentence(definition: &str) -> String {
    let mut letters = definition.trim_end_matches('.').chars();
    let Some(first) = letters.next() else { return String::new() };
    match letters.clone().next().is_some_and(char::is_uppercase) {
        // An abbreviation keeps its letters.
        true => definition.trim_end_matches('.').to_owned(),
        false => first.to_lowercase().chain(letters).collect(),
    }
}

/// The column that says why a level may be compared with nothing.
pub(super) const LEFT_OUT: &str = "left_out";

/// Every column, in order: what it is, how fast, how late, what it takes, whether to believe it.
pub(super) static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let (latencies, rates): (Vec<Metric>, Vec<Metric>) =
        Metric::ALL.iter().partition(|metric| metric.is_latency());
    let rates = rates.into_iter().flat_map(|metric| match metric {
        Metric::TotalTokensPerSec => [of(metric), PER_ONE.to_vec()].concat(),
        _ => of(metric),
    });
    let figures = rates.chain(latencies.into_iter().flat_map(of));
    let told = exported().map(|of| Column {
        name: of.column.into(),
        about: in_a_sentence(of.about).into(),
        content: FieldSource::Reported(of),
    });
    FIRST.iter().cloned().chain(figures).chain(told).chain(LAST.iter().cloned()).collect()
});

#[rustfmt::skip] // A column a line.
const FIRST: &[Column] = &[
    column("run", "its name", Text(|row| Some(row.run.name.clone()))),
    column("level", "its folder in the run", Text(|row| row.level.folder.clone())),
    column("load", "concurrency or rate, in words", Text(|row| Some(row.level.load.to_string()))),
    column("load_kind", "concurrency, or requests_per_s", Text(|row| Some(row.level.load.kind().key().to_owned()))),
    column("load_value", "as requested", Number(|row| Some(row.level.load.value()))),
    column("model", "as sent", Text(|row| Some(row.run.setup.endpoint.model.clone()))),
    column("hardware", "the device", Text(|row| row.run.setup.hardware.clone())),
    column("deployment", "how the model is placed on them", Text(|row| row.run.setup.deployment.clone())),
    column("devices", "how many", Number(|row| Some(row.run.devices? as f64))),
    column("precision", "in words, as the run has it", Text(|row| row.run.setup.precision.clone())),
    column("weights", "how most of them are stored", Text(figures::weights)),
    column("kv", "how the cache is stored", Text(figures::kv)),
];

/// What follows from the rates before it.
#[rustfmt::skip] // A column a line.
const PER_ONE: &[Column] = &[
    column("output_tps_per_device", "output tokens per second of a device", Ranged(figures::per_device)),
    column("user_tps", "tokens per second of one user: 1 / p50 TPOT", Ranged(figures::user)),
];

#[rustfmt::skip] // A column a line.
const LAST: &[Column] = &[
    column("greatest_for_p99", "columns of p99 that hold the greatest of fewer than 100 values", Text(figures::stand_ins)),
    column("completed", "requests", Number(|row| Some(row.level.summary.requests.completed as f64))),
    column("failed", "requests", Number(|row| Some(figures::failed(row.level) as f64))),
    column("cancelled", "requests that the client itself cancelled, as at an interrupt", Number(|row| Some(row.level.summary.requests.cancelled() as f64))),
    column("prompt_tokens", "mean of a request", Number(figures::prompt)),
    column("output_tokens", "mean of a request", Number(figures::reply)),
    column("context_tokens", "both together", Number(figures::context)),
    column("usd_per_device_hour", "the price", Number(|row| Some(row.run.price?.get()))),
    column("cost_per_million_output", "US dollars, for all of the devices' time", Ranged(figures::cost)),
    column("expected_energy_j_per_token", "of output; by the roofline", Number(figures::energy)),
    column("quality", "as given", Number(|row| row.run.quality)),
    column("speed_of_light_percent", "of the output token rate; of a mixture of experts at even routing", Number(figures::light)),
    column("saturated", "yes where the queue of an open loop grew", Text(figures::saturated)),
    column("verdict", "valid, suspect or invalid", Text(figures::verdict)),
    column(LEFT_OUT, "why the level may be compared with nothing; empty where it may", Text(|row| row.level.left_out())),
];
