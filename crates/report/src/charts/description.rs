//! What each chart shows, once: its title, its axes with their units, and its lines with their names.
//!
//! There are two renderers of it: the scripts of the page, which find it beside the runs, and the pictures.

use fizeau_metrics::Metric;
use serde::Serialize;

/// A chart, whatever draws it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ChartDescription {
    /// What a script and a page know it by.
    pub(crate) key: &'static str,
    /// What it is of, above a picture.
    pub(crate) title: &'static str,
    /// The question that it answers, above the chart of a page.
    pub(crate) question: &'static str,
    /// How to read it.
    pub(crate) caption: &'static str,
    /// What may lie across; the first unless a reader chooses.
    pub(crate) across: Vec<ChartAxis>,
    /// What may go up: a choice of the page, and the panels of a picture.
    pub(crate) up: Vec<ChartAxis>,
    /// Its lines and areas, in the order of their key.
    pub(crate) lines: Vec<ChartLine>,
}

/// An axis.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ChartAxis {
    /// The figure that lies along it; of a latency its name without the statistic.
    pub(crate) key: String,
    /// The name in full, as it begins a title: `Time to first token`.
    pub(crate) title: String,
    /// The name in short: `TTFT`.
    pub(crate) label: String,
    /// `ms` of a latency, which is shown in the unit that suits it; else empty.
    pub(crate) unit: &'static str,
}

/// A line, or an area.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct ChartLine {
    /// The statistic, or what it is of.
    pub(crate) key: &'static str,
    /// What a legend calls it.
    pub(crate) name: &'static str,
    pub(crate) dash: Dash,
}

/// How a line is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Dash {
    Solid,
    Dotted,
    Dashed,
}

const fn line(key: &'static str, name: &'static str, dash: Dash) -> ChartLine {
    ChartLine { key, name, dash }
}

/// Levels and, behind them, what could be.
const LEVELS: [ChartLine; 6] = [
    line("frontier", "frontier", Dash::Solid),
    line("dominated", "dominated", Dash::Solid),
    line("operating", "operating point", Dash::Solid),
    line("bound", "speed of light (bound)", Dash::Solid),
    line("expected", "expected (roofline model)", Dash::Dashed),
    line("calibrated", "calibrated", Dash::Dotted),
];

/// An axis of the catalogue's own: of a latency its name without the statistic, of a rate its column.
fn figure(metric: Metric) -> ChartAxis {
    let entry = metric.entry();
    let [name, unit] = entry.name;
    match metric.is_latency() {
        true => axis(entry.key, name, entry.label, entry.unit),
        false => {
            axis(entry.column.unwrap_or(entry.key), &title(name, unit), &[name, unit].concat(), "")
        }
    }
}

/// `requests` and `/s` as the beginning of a title: `Requests/s`.
fn title(name: &str, unit: &str) -> String {
    let mut title = [name, unit].concat();
    title.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
    title
}

fn axis(key: &str, title: &str, label: &str, unit: &'static str) -> ChartAxis {
    let (key, title, label) = (key.to_owned(), title.to_owned(), label.to_owned());
    ChartAxis { key, title, label, unit }
}

/// The latencies that a level is known by and each request has one of, the whole request's first.
fn of_requests() -> Vec<ChartAxis> {
    let latencies = Metric::headline().filter(|metric| metric.is_of_requests());
    let mut all: Vec<ChartAxis> = latencies.map(figure).collect();
    all.rotate_right(1);
    all
}

fn headline() -> Vec<ChartAxis> {
    Metric::headline().map(figure).collect()
}

fn device() -> ChartAxis {
    let name = "Output tokens/s of a device";
    axis("output_tps_per_device", name, "output tokens/s per device", "")
}

fn seconds() -> ChartAxis {
    axis("seconds", "Time since the first request, s", "seconds since the first request", "")
}

impl ChartDescription {
    /// Every chart, in the order of a page.
    pub(crate) fn all() -> [Self; 7] {
        let (requests, tokens) =
            (figure(Metric::RequestsPerSec), figure(Metric::OutputTokensPerSec));
        [
            Self {
                key: "frontier",
                title: "Latency against throughput",
                question: "How much throughput at which latency?",
                caption: "Down and to the right is better. The line joins the levels that no other beats. \
                 Boxes are 95 % intervals.",
                across: vec![requests.clone(), tokens.clone(), device()],
                up: of_requests(),
                lines: LEVELS.to_vec(),
            },
            Self {
                key: "interactivity",
                title: "Tokens per second: what a user sees against what a device gives",
                question: "How fast for one user, how much from a device?",
                caption: "Up and to the right is better: what a user sees against what a device gives. A \
                 user's speed is 1 / p50 TPOT.",
                across: vec![axis(
                    "user_tps",
                    "Tokens/s of a user (1 / p50 TPOT)",
                    "tokens/s per user",
                    "",
                )],
                up: vec![device(), tokens.clone()],
                lines: LEVELS.to_vec(),
            },
            Self {
                key: "load",
                title: "Latency against the rate served",
                question: "What does more load do?",
                caption: "Latency over the requests that were served per second: where the line turns up, requests wait. Where it turns back, \
                          more was sent than can be served.",
                across: vec![ChartAxis { title: "Requests/s completed".to_owned(), ..requests }],
                up: headline(),
                lines: vec![
                    line("p50", "median (p50)", Dash::Dashed),
                    line("p99", "p99, with its 95 % interval", Dash::Solid),
                ],
            },
            Self {
                key: "quantiles",
                title: "How latencies are distributed",
                question: "How bad is the tail?",
                caption: "The share of requests that were no slower. Each step to the right is ten times \
                 as rare.",
                across: vec![axis("share", "Share that is no greater", "share", "")],
                up: headline(),
                lines: Vec::new(),
            },
            Self {
                key: "itl",
                title: "Gaps between tokens over time",
                question: "Do prefills disturb decoding?",
                caption: "Gaps between tokens over time: median, 99th percentile and the longest. The \
                 area behind them shows requests that waited for their first token: where both \
                 rise together, prefills delay decoding.",
                across: vec![seconds()],
                up: vec![
                    axis("gap", "Gap between tokens", "gap", "ms"),
                    axis("prefilling", "requests in prefill", "requests", ""),
                ],
                lines: vec![
                    line("p50", "median gap (p50)", Dash::Solid),
                    line("p99", "p99 gap", Dash::Solid),
                    line("max", "longest gap", Dash::Dotted),
                    line("prefilling", "requests waiting for their first token", Dash::Solid),
                ],
            },
            Self {
                key: "timeline",
                title: "Load and throughput over time",
                question: "Was it steady while it was measured?",
                caption: "What users saw over time (time to first token, output tokens per second), the requests in flight, and what the server reported: its batch and its queue, its KV cache, the power of its devices. The shaded part is that of which the level has figures beside those of the whole.",
                across: vec![seconds()],
                up: vec![
                    tokens,
                    axis("in_flight", "Requests in flight", "in flight", ""),
                    figure(Metric::Ttft),
                ],
                lines: vec![
                    line("ttft", "median TTFT", Dash::Solid),
                    line("ttft_max", "longest TTFT", Dash::Dotted),
                    line("running", "running (by the server)", Dash::Dashed),
                    line("waiting", "waiting (by the server)", Dash::Dashed),
                    line("kv", "KV cache in use, %", Dash::Dashed),
                    line("power", "power of all devices, W", Dash::Solid),
                ],
            },
            Self {
                key: "lengths",
                title: "Time to first token against the prompt's length",
                question: "What does a longer prompt cost?",
                caption: "Each dot is a request: tokens of its prompt, and the time to its first token.",
                across: vec![axis("input", "Prompt, tokens", "prompt tokens", "")],
                up: vec![figure(Metric::Ttft)],
                lines: Vec::new(),
            },
        ]
    }

    /// The title of what lies across unless a reader chooses.
    #[cfg(feature = "pictures")]
    pub(crate) fn across(&self) -> String {
        self.across.first().map(|axis| axis.title.clone()).unwrap_or_default()
    }

    /// The title of what goes up and has that key.
    #[cfg(feature = "pictures")]
    pub(crate) fn up(&self, key: &str) -> String {
        let own = self.up.iter().find(|axis| axis.key == key);
        own.map(|axis| axis.title.clone()).unwrap_or_default()
    }

    /// The line of that key.
    #[cfg(feature = "pictures")]
    pub(crate) fn line(&self, key: &str) -> ChartLine {
        let own = self.lines.iter().find(|line| line.key == key).copied();
        own.unwrap_or(line("", "", Dash::Solid))
    }
}
