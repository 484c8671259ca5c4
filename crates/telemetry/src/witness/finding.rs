//! Findings: what is worth a sentence.

use std::fmt;

use fizeau_core::{Millis, Nanos};
use serde::{Deserialize, Serialize};

use super::gap::{ClientLatency, ClientWindow, are_of_as_many};
use super::pages::PageTrouble;
use crate::device::{DeviceWindow, device_count, whole_devices};
use crate::server::{ReportedCounter, ReportedHistogram, ServerWindow};
use crate::steps::why_unbounded;
use crate::vocabulary::Exporter;
use crate::window::GaugeOver;

/// Which tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TokenKind {
    /// Of prompts.
    Prompt,
    /// Of replies.
    Generated,
}

/// What is worth a sentence about what a server and its devices said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum TelemetryFinding {
    /// Client and server counted the same tokens.
    TokensEqual {
        /// Which.
        tokens: TokenKind,
        /// How many.
        count: u64,
    },
    /// They did not.
    TokensDiffer {
        /// Which.
        tokens: TokenKind,
        /// How many the client counted.
        client: u64,
        /// How many the server counted, in the least.
        server_low: u64,
        /// How many the server counted, at the most.
        server_high: u64,
        /// Requests that the client gave up or saw fail: the server's tokens of those may not have reached it.
        failed_requests: u64,
    },
    /// A counter began anew: something was restarted.
    Restarted {
        /// How often.
        times: u32,
    },
    /// Pages did not come while the window lasted.
    PagesMissing {
        /// How many.
        missing: u32,
        /// How many did.
        #[serde(alias = "came")]
        answered: u32,
        /// Why the last of them did not; absent in files of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// No page came between the warm-up and the first request, so that nothing that is counted is told of the level.
    NoPageBefore {
        /// Whose.
        address: String,
    },
    /// Pages of one source are not as they should be.
    Pages {
        /// Whose.
        address: String,
        /// What is wrong with them.
        what: PageTrouble,
    },
    /// A metric that was asked for by its name is on no page.
    NoSuchMetric {
        /// Its name.
        metric: String,
    },
    /// Records of forward passes came, and the bound of none is known.
    StepsUnbounded {
        /// How many.
        steps: u64,
        /// Of so many pipeline stages.
        stages: u32,
    },
    /// A gauge says the same for many pages: its exporter looks more seldom than it is asked.
    StaleGauge {
        /// Its metric.
        metric: String,
        /// On how many pages it was seen.
        pages: u32,
        /// How often it changed.
        changes: u32,
        /// The mean time between two changes, where there are two.
        #[serde(rename = "resolution_ms", default, skip_serializing_if = "Option::is_none")]
        resolution: Option<Millis>,
    },
    /// A device's counter of energy was read too seldom to know what it took.
    EnergyUnknown {
        /// Its metric.
        metric: String,
        /// On how many pages it was seen.
        pages: u32,
        /// How often it changed.
        changes: u32,
    },
    /// Servers that take a part of the load have no page of metrics, so that the figures of the others are not those of all.
    ServersUnread {
        /// Their addresses.
        addresses: Vec<String>,
    },
    /// The engines whose pages are read generated but a part of what the front end before them counted, so that its figures are used.
    EnginesMissing {
        /// The generated tokens that those engines counted, at the most.
        engines: u64,
        /// Those that the front end counted, in the least.
        front_end: u64,
    },
    /// Devices that are read did nothing while the server worked, and are left out.
    IdleDevices {
        /// How many.
        idle: u64,
        /// How many others are read.
        busy: u64,
    },
    /// The energy per token is of tokens that the client estimated in part.
    TokensEstimated {
        /// How many it estimated.
        estimated: u64,
        /// How many there are in all.
        all: u64,
    },
    /// Several GPUs of this machine are read, and nobody said which of them serve.
    DevicesUnnamed {
        /// How many.
        found: u64,
    },
    /// The server says that more requests ran, on the average, than the client ever had in flight.
    MoreRunning {
        /// The metric that says so.
        metric: String,
        /// Its mean.
        running: f64,
        /// The most that the client had.
        client: u64,
    },
    /// A gauge says what cannot be: no share is above 1, and nothing that is counted is below 0.
    ImpossibleGauge {
        /// Its metric.
        metric: String,
        /// What it said.
        value: f64,
    },
    /// Requests were put off and computed again.
    Preempted {
        /// How many times.
        times: u64,
        /// The most of the KV cache that was in use, 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kv_peak: Option<f64>,
    },
    /// The pages tell of other devices than those that serve, so that energy is not that of the server.
    OtherDevices {
        /// How many the pages tell of.
        #[serde(alias = "told")]
        reported: u64,
        /// How many serve.
        serving: u64,
    },
    /// The server has a latency of other requests than the client, so that there is no gap between the two.
    RequestsDiffer {
        /// Which: `TTFT`, `TPOT`, `E2EL`.
        latency: String,
        /// Of how many requests the client has it.
        client: u64,
        /// Of how many the server.
        server: u64,
    },
    /// Power or heat lowered a device's clocks.
    Throttled {
        /// Which device: its number or name, and of what host where an exporter says that.
        device: String,
        /// For what share of the window, 0 to 1, in the least; absent where only that it happened is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        share: Option<f64>,
    },
}

impl TelemetryFinding {
    /// Whether it is bad news.
    #[must_use]
    pub const fn is_objection(&self) -> bool {
        !matches!(
            self,
            Self::TokensEqual { .. } | Self::IdleDevices { .. } | Self::TokensEstimated { .. }
        )
    }
}

fizeau_core::words! {
    TokenKind, shown {
        Prompt = "prompt tokens", Generated = "generated tokens",
    }
}

impl fmt::Display for TelemetryFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TokensEqual { tokens, count } => {
                write!(f, "client and server counted the same {count} {tokens}")
            }
            Self::TokensDiffer { tokens, client, server_low, server_high, failed_requests } => {
                let server = Span(*server_low, *server_high);
                write!(f, "the client counted {client} {tokens}, the server {server}")?;
                match failed_requests {
                    0 => f.write_str("; another client, or one of the two counts wrongly"),
                    1 => f.write_str("; the tokens of 1 request that failed or was cancelled may be the difference"),
                    many => write!(
                        f,
                        "; the tokens of {many} requests that failed or were cancelled may be the difference"
                    ),
                }
            }
            Self::Restarted { times: 1 } => f.write_str(
                "a counter was reset: the server was restarted, and its last counts before that are lost",
            ),
            Self::Restarted { times } => write!(
                f,
                "counters were reset {times} times: the server was restarted, and its last counts before that are lost"
            ),
            Self::PagesMissing { missing, answered, why } => {
                write!(
                    f,
                    "{missing} of {} pages of metrics did not come, so gauges have no values for \
                    that time",
                    missing.saturating_add(*answered)
                )?;
                why.as_ref().map_or(Ok(()), |why| write!(f, ": {why}"))
            }
            Self::NoPageBefore { address } => write!(
                f,
                "{address}: no metrics page came between the warm-up and the first request; its counters are left out for this level"
            ),
            Self::Pages { address, what } => write!(f, "{address}: {what}"),
            Self::StepsUnbounded { steps, stages } => {
                let why = why_unbounded(*stages);
                write!(f, "{steps} forward-pass records are not compared with a bound: {why}")
            }
            Self::NoSuchMetric { metric } => {
                write!(f, "no page has the metric {metric}, which was asked for by its name")
            }
            Self::StaleGauge { metric, pages, changes, resolution } => {
                write!(f, "{metric} changed {changes} times on {pages} pages")?;
                match resolution {
                    Some(each) => write!(f, ", every {} ms: its exporter reads it no more often", each.get().round()),
                    None => f.write_str(": its exporter reads it less often than once a level"),
                }
            }
            Self::EnergyUnknown { metric, pages, changes } => write!(
                f,
                "{metric} changed {changes} times on {pages} pages: too seldom to know the energy of the level"
            ),
            Self::ServersUnread { addresses } => write!(
                f,
                "no metrics come from {}, which takes a part of the load: the server's figures are left out, since those of the others would pass for all",
                addresses.join(", ")
            ),
            Self::EnginesMissing { engines, front_end } => write!(
                f,
                "the engines whose metrics are read generated {engines} of the {front_end} tokens of the front end: others serve too, and the front end's own figures are used"
            ),
            Self::IdleDevices { idle, busy } => write!(
                f,
                "{idle} of {} devices did nothing during the level and are left out",
                idle + busy
            ),
            Self::TokensEstimated { estimated, all } => write!(
                f,
                "{estimated} of {all} output tokens are the client's own estimate, and with them the energy per token"
            ),
            Self::DevicesUnnamed { found } => write!(
                f,
                "{found} GPUs of this machine are read, and which of them serve is not known: name those that serve to know the energy per token"
            ),
            Self::MoreRunning { metric, running, client } => write!(
                f,
                "{metric} says that {running:.1} requests ran on the average, and the client had at most {client} in flight: another client, or series that count a request more than once"
            ),
            Self::ImpossibleGauge { metric, value } => {
                match value.abs() < 1e6 {
                    true => write!(f, "{metric} says {value:.2}")?,
                    false => write!(f, "{metric} says {value:.3e}")?,
                }
                write!(f, ", which cannot be: what it tells is not to be believed, nor what follows from it")
            }
            Self::Preempted { times, kv_peak } => {
                write!(f, "requests were preempted {times} times")?;
                kv_peak.map_or(Ok(()), |peak| write!(f, ", with the KV cache {:.0} % full", peak * 100.0))
            }
            Self::OtherDevices { reported, serving } => write!(
                f,
                "the metrics pages report {reported} devices, but {serving} serve: name those that serve to know the energy per token"
            ),
            Self::RequestsDiffer { latency, client, server } => write!(
                f,
                "the client has {latency} of {client} requests, the server of {server}: their gap is not known"
            ),
            Self::Throttled { device, share } => {
                write!(f, "power or heat lowered the clocks of device {device}")?;
                share.map_or(Ok(()), |share| write!(f, " for {:.0} % of the time", share * 100.0))
            }
        }
    }
}

/// From one count to another, which may be the same.
struct Span(u64, u64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(low, high) = self;
        if low == high { write!(f, "{low}") } else { write!(f, "between {low} and {high}") }
    }
}

/// What is worth saying of a window in which the pages were asked for every `interval`. The window is one that both sides have:
/// the client's figures are of all that it sent in it.
#[must_use]
pub fn findings(
    client: &ClientWindow,
    server: &ServerWindow,
    devices: &[DeviceWindow],
    interval: Nanos,
) -> Vec<TelemetryFinding> {
    let mut found = Vec::new();
    let told = |tokens, counted: Option<fizeau_core::Tokens>, told: Option<&ReportedCounter>| {
        Some(of_tokens(tokens, counted?.get(), told?, client.failed))
    };
    // Of llama.cpp's prompts the cached part is counted by itself, or by no counter at all.
    let is_whole =
        server.exporter != Some(Exporter::LlamaCpp) || server.prompt_tokens_cached.is_some();
    let prompts = server.prompt_tokens.as_ref().filter(|_| is_whole);
    found.extend(told(TokenKind::Prompt, client.prompt_tokens, prompts));
    found.extend(generated_tokens(client, server));
    found.extend(more_running(client, server));
    if server.resets() > 0 {
        found.push(TelemetryFinding::Restarted { times: server.resets() });
    }
    if server.missing_pages > 0 {
        let (missing, answered) = (server.missing_pages, server.pages);
        let why = server.missing_why.clone();
        found.push(TelemetryFinding::PagesMissing { missing, answered, why });
    }
    found.extend(impossible_gauges(server));
    let times = server.preemptions.as_ref().map_or(0.0, |told| told.figure.delta.round());
    if times >= 1.0 {
        let kv_peak = server.kv_use.as_ref().and_then(|told| told.figure.peak);
        found.push(TelemetryFinding::Preempted { times: times as u64, kv_peak });
    }
    found.extend(throttled(devices));
    for device in devices {
        let power = device.power.as_ref().map(|told| (&told.metric, told.figure));
        let stale = power.and_then(|(metric, figure)| stale(metric, figure, interval));
        // Of several devices that one exporter tells of it is the same.
        found.extend(stale.filter(|stale| !found.contains(stale)));
    }
    found
}

impl TelemetryFinding {
    /// The latencies of which client and server have other requests than each other, where both have any.
    pub fn other_requests<'a>(
        client: &'a ClientWindow,
        server: &'a ServerWindow,
    ) -> impl Iterator<Item = Self> + 'a {
        let all: [(&str, ClientLatency, Option<&ReportedHistogram>); 3] = [
            ("TTFT", client.ttft, server.ttft.as_ref()),
            ("TPOT", client.tpot, server.tpot.as_ref()),
            ("E2EL", client.e2el, server.e2el.as_ref()),
        ];
        all.into_iter().filter_map(|(latency, client, told)| {
            let told = told.filter(|told| !are_of_as_many(client, told))?;
            let (client, server) = (client.requests(), told.figure.count.delta.round() as u64);
            let latency = latency.to_owned();
            (client > 0 && server > 0).then_some(Self::RequestsDiffer { latency, client, server })
        })
    }

    /// That pages tell of other devices than the `serving` ones; none where they tell of as many, or of none at all.
    #[must_use]
    pub fn other_devices(devices: &[DeviceWindow], serving: u64) -> Option<Self> {
        let told = device_count(devices) as u64;
        (told > 0 && told != serving).then_some(Self::OtherDevices { reported: told, serving })
    }
}

/// By how much the mean of a gauge may be beyond what there was: its pages are looked at now and then.
const GAUGE_ERROR: f64 = 0.1;

/// The most that any queue has.
const MOST_REQUESTS: f64 = 1e9;

fn impossible_gauges(server: &ServerWindow) -> impl Iterator<Item = TelemetryFinding> + '_ {
    let counts = [&server.running, &server.waiting].map(|told| (told, MOST_REQUESTS));
    // A share may be rounded.
    let all = counts.into_iter().chain([(&server.kv_use, 1.001)]);
    all.filter_map(|(told, most)| {
        let told = told.as_ref()?;
        let seen = [Some(told.figure.mean), told.figure.min, told.figure.peak];
        let value = seen.into_iter().flatten().find(|value| !(0.0..=most).contains(value))?;
        Some(TelemetryFinding::ImpossibleGauge { metric: told.metric.clone(), value })
    })
}

fn more_running(client: &ClientWindow, server: &ServerWindow) -> Option<TelemetryFinding> {
    let (running, client) = (server.running.as_ref()?, client.most_in_flight?);
    let mean = running.figure.mean;
    (mean > client as f64 * (1.0 + GAUGE_ERROR)).then(|| TelemetryFinding::MoreRunning {
        metric: running.metric.clone(),
        running: mean,
        client,
    })
}

fn of_tokens(
    tokens: TokenKind,
    client: u64,
    told: &ReportedCounter,
    failed: u64,
) -> TelemetryFinding {
    // Counters of a page are floating, and whole.
    let [low, high] =
        [told.figure.low, told.figure.high].map(|count| count.round().max(0.0) as u64);
    if low <= client && client <= high {
        return TelemetryFinding::TokensEqual { tokens, count: client };
    }
    TelemetryFinding::TokensDiffer {
        tokens,
        client,
        server_low: low,
        server_high: high,
        failed_requests: failed,
    }
}

/// Generated tokens of both sides; none where the client estimates some of its own, and the difference may be in those.
fn generated_tokens(client: &ClientWindow, server: &ServerWindow) -> Option<TelemetryFinding> {
    let (told, estimated) = (client.output_tokens?.get(), client.estimated_tokens.get());
    // A server that says so of no reply leaves nothing to hold its counter against.
    let counter = server.generation_tokens.as_ref().filter(|_| told > 0 || estimated == 0)?;
    let found = of_tokens(TokenKind::Generated, told + estimated, counter, client.failed);
    let is_sure = estimated == 0
        || match &found {
            TelemetryFinding::TokensDiffer { server_low, server_high, .. } => {
                *server_high < told || client.failed > 0 && *server_low > told + estimated
            }
            _ => false,
        };
    is_sure.then_some(found)
}

/// Each device whose clocks were lowered, once, though it be divided or on two pages.
fn throttled(devices: &[DeviceWindow]) -> impl Iterator<Item = TelemetryFinding> {
    let told = |of: Vec<&DeviceWindow>| {
        let grew = of.iter().flat_map(|one| [&one.power_throttled, &one.thermal_throttled]);
        // Reasons are sampled, and counters miss nothing.
        let grew = grew.flatten().any(|told| told.figure.delta > 0.0);
        let shares = of.iter().filter_map(|one| one.throttled_share());
        let share = shares.reduce(f64::max).filter(|share| *share > 0.01);
        let named = of.first().map(|one| one.device.to_string()).unwrap_or_default();
        (grew || share.is_some()).then_some(TelemetryFinding::Throttled { device: named, share })
    };
    whole_devices(devices).into_values().filter_map(told)
}

/// A gauge of something that never stands still, such as power, which yet does for three pages on the average.
fn stale(metric: &str, gauge: GaugeOver, interval: Nanos) -> Option<TelemetryFinding> {
    let slow = gauge.resolution.is_some_and(|each| each.get() > 3.0 * interval.as_millis_f64());
    let is_stale = gauge.pages >= 6 && (gauge.changes < 2 || slow);
    is_stale.then(|| TelemetryFinding::StaleGauge {
        metric: metric.to_owned(),
        pages: gauge.pages,
        changes: gauge.changes,
        resolution: gauge.resolution,
    })
}
