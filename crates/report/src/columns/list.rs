//! Which columns there are.

use fizeau_metrics::{Distribution, MetricTable, Statistic};

use super::Row;
use super::figures::{self, Figure};

/// One figure of a level.
pub(super) struct Column {
    pub(super) name: &'static str,
    /// What it holds, in a few words.
    pub(super) about: &'static str,
    pub(super) content: Content,
}

/// Where a field comes from.
#[derive(Clone, Copy)]
pub(super) enum Content {
    Text(fn(&Row<'_>) -> Option<String>),
    /// Known exactly, or without an interval.
    Number(fn(&Row<'_>) -> Option<f64>),
    Figure(fn(&Row<'_>) -> Figure),
    Latency(fn(&MetricTable) -> &Distribution, Statistic),
    /// A percentile of values that hang together within a request: no interval of it can be told.
    Pooled(fn(&MetricTable) -> &Distribution, Statistic),
}

impl Content {
    /// Whether it may have an interval, and so has columns for its ends.
    pub(super) const fn has_ends(self) -> bool {
        match self {
            Self::Figure(_) => true,
            // There is none of a greatest value.
            Self::Latency(_, statistic) => !matches!(statistic, Max),
            Self::Text(_) | Self::Number(_) | Self::Pooled(..) => false,
        }
    }
}

use Content::{Figure as Ranged, Latency, Number, Pooled, Text};
use Statistic::{Max, Mean, P50, P90, P99};

const fn column(name: &'static str, about: &'static str, content: Content) -> Column {
    Column { name, about, content }
}

const fn ttft(name: &'static str, statistic: Statistic) -> Column {
    column(name, "time to first token", Latency(|all| &all.ttft, statistic))
}

const fn tpot(name: &'static str, statistic: Statistic) -> Column {
    column(name, "time per output token of a request", Latency(|all| &all.tpot, statistic))
}

const fn itl(name: &'static str, statistic: Statistic) -> Column {
    let content = match statistic {
        Mean => Latency(|all| &all.itl, statistic),
        _ => Pooled(|all| &all.itl, statistic),
    };
    column(name, "gap between tokens, of all requests", content)
}

const fn e2el(name: &'static str, statistic: Statistic) -> Column {
    column(name, "end-to-end latency", Latency(|all| &all.e2el, statistic))
}

/// The column that says why a level may be compared with nothing.
pub(super) const LEFT_OUT: &str = "left_out";

/// Every column, in order: what it is, how fast, how late, what it takes, whether to believe it.
pub(super) const COLUMNS: [Column; 53] = [
    column("run", "its name", Text(|row| Some(row.run.name.clone()))),
    column("level", "its folder in the run", Text(|row| row.level.folder.clone())),
    column("load", "concurrency or rate, in words", Text(|row| Some(row.level.load.words()))),
    column("load_kind", "concurrency, or requests_per_s", Text(figures::load_kind)),
    column("load_value", "as asked", Number(|row| Some(row.level.load.value()))),
    column("model", "as sent", Text(|row| Some(row.run.setup.endpoint.model.clone()))),
    column("hardware", "the device", Text(|row| row.run.setup.hardware.clone())),
    column(
        "deployment",
        "how the model lies on them",
        Text(|row| row.run.setup.deployment.clone()),
    ),
    column("devices", "how many", Number(|row| Some(row.run.devices? as f64))),
    column("precision", "in words, as the run has it", Text(|row| row.run.setup.precision.clone())),
    column("weights", "how most of them are stored", Text(figures::weights)),
    column("kv", "how the cache is stored", Text(figures::kv)),
    column("requests_per_s", "completed", Ranged(figures::requests)),
    column("output_tps", "output tokens per second", Ranged(figures::output)),
    column("total_tps", "prompt and output tokens per second", Ranged(figures::total)),
    column(
        "output_tps_per_device",
        "output tokens per second of a device",
        Ranged(figures::per_device),
    ),
    column("user_tps", "tokens per second of one user: 1 / p50 TPOT", Ranged(figures::user)),
    column("goodput", "good requests per second", Ranged(figures::goodput)),
    column("good_share", "good requests of all sent, 0 to 1", Ranged(figures::good_share)),
    ttft("mean_ttft_ms", Mean),
    ttft("p50_ttft_ms", P50),
    ttft("p90_ttft_ms", P90),
    ttft("p99_ttft_ms", P99),
    ttft("max_ttft_ms", Max),
    tpot("mean_tpot_ms", Mean),
    tpot("p50_tpot_ms", P50),
    tpot("p90_tpot_ms", P90),
    tpot("p99_tpot_ms", P99),
    tpot("max_tpot_ms", Max),
    itl("mean_itl_ms", Mean),
    itl("p50_itl_ms", P50),
    itl("p90_itl_ms", P90),
    itl("p99_itl_ms", P99),
    itl("max_itl_ms", Max),
    e2el("mean_e2el_ms", Mean),
    e2el("p50_e2el_ms", P50),
    e2el("p90_e2el_ms", P90),
    e2el("p99_e2el_ms", P99),
    e2el("max_e2el_ms", Max),
    column(
        "greatest_for_p99",
        "columns of p99 that hold the greatest of fewer than 100 values",
        Text(figures::stand_ins),
    ),
    column(
        "completed",
        "requests",
        Number(|row| Some(row.level.summary.requests.completed as f64)),
    ),
    column("failed", "requests", Number(|row| Some(row.level.summary.requests.failed as f64))),
    column("prompt_tokens", "mean of a request", Number(figures::prompt)),
    column("output_tokens", "mean of a request", Number(figures::reply)),
    column("context_tokens", "both together", Number(figures::context)),
    column("usd_per_device_hour", "the price", Number(|row| Some(row.run.price?.get()))),
    column(
        "cost_per_million_output",
        "US dollars, for all of the devices' time",
        Ranged(figures::cost),
    ),
    column("expected_energy_j_per_token", "of output; by the roofline", Number(figures::energy)),
    column("quality", "as given", Number(|row| row.run.quality)),
    column("speed_of_light_percent", "of the output token rate", Number(figures::light)),
    column("saturated", "yes where the queue of an open loop grew", Text(figures::saturated)),
    column("verdict", "valid, suspect or invalid", Text(figures::verdict)),
    column(
        LEFT_OUT,
        "why the level may be compared with nothing; empty where it may",
        Text(|row| row.level.left_out()),
    ),
];
