//! What servers, their devices and the client's host said of a level, beside what the client measured.
//!
//! The figures are those of `fizeau-telemetry` as they are: they are plain documents there already, and that crate without its features
//! reads no clock and opens no socket.

use fizeau_core::{Joules, Millis, Nanos, Stamp, Tokens};
use fizeau_telemetry::{
    ClientWindow, DeviceWindow, Exporter, History, HistoryLine, HostWindow, ScrapeCost,
    ScrapeReport, ServerGaps, ServerTimeline, ServerWindow, TelemetryFinding, Window, findings,
    joules_per_token, total_energy,
};
use serde::{Deserialize, Serialize};

use crate::text::percent;

/// What was said of a level by others than the client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LevelTelemetry {
    /// When the first request of the level was sent, on the run's clock.
    #[serde(rename = "from_ns")]
    pub from: Stamp,
    /// When the last one ended.
    #[serde(rename = "to_ns")]
    pub to: Stamp,
    /// Over the whole level, all servers together; absent where none said anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerWindow>,
    /// Over its steady part; absent where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<ServerWindow>,
    /// What the client saw and the server did not, over the whole level.
    pub gaps: ServerGaps,
    /// Each device, over the whole level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceWindow>,
    /// What all devices took, by their counters; absent where one does not count.
    #[serde(rename = "energy_j", default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Joules>,
    /// The same for each generated token that the client counted.
    #[serde(rename = "joules_per_token", default, skip_serializing_if = "Option::is_none")]
    pub joules_per_token: Option<Joules>,
    /// The client's own host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostWindow>,
    /// What is worth a sentence.
    pub findings: Vec<TelemetryFinding>,
    /// Where it comes from, and what it cost.
    pub sources: Vec<TelemetrySource>,
    /// How many lines `telemetry.jsonl` has of it; absent where they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
    /// Each source over the level's time; of a run that is read again, from `telemetry.jsonl`.
    #[serde(skip)]
    pub timeline: Vec<ServerTimeline>,
}

/// A page that was read again and again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TelemetrySource {
    /// Its address, without user, password and query.
    pub address: String,
    /// Whose page it is; absent where none came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exporter: Option<Exporter>,
    /// What reading it cost.
    pub cost: ScrapeCost,
    /// The mean time of a fetch; absent where there was none.
    #[serde(rename = "mean_fetch_ms", default, skip_serializing_if = "Option::is_none")]
    pub mean_fetch: Option<Millis>,
    /// Why the first page that did not come did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// What was read of one page while a level lasted.
#[derive(Debug, Clone)]
pub struct ScrapedPages {
    /// Its address, without user, password and query.
    pub address: String,
    /// All of it, and what it cost.
    pub report: ScrapeReport,
}

/// Of what it is to be said.
#[derive(Debug, Clone, Copy)]
pub struct TelemetryWindows {
    /// The whole level.
    pub level: Window,
    /// Its steady part.
    pub steady: Option<Window>,
    /// When its warm-up was over: what the server counts from then on is of the level alone.
    pub warmed_up: Stamp,
    /// From one page to the next, as was asked for.
    pub interval: Nanos,
}

impl LevelTelemetry {
    /// What `pages` say of a level, beside what the `client` counted over it.
    #[must_use]
    pub fn of(pages: &[ScrapedPages], windows: TelemetryWindows, client: &ClientWindow) -> Self {
        let TelemetryWindows { level, steady, warmed_up, interval } = windows;
        let slowest = pages.iter().map(|page| page.report.cost.interval.get()).fold(0.0, f64::max);
        // A value may stand for the time of a page that did not come.
        let hold = interval.max(Nanos::from_secs_f64(slowest / 1e3).unwrap_or_default()) * 2;
        let is_exact = has_page_between(pages, warmed_up, level.from);
        let server = server_over(pages, level, hold);
        let server = server.map(|server| if is_exact { server } else { server.gauges_only() });
        let devices: Vec<DeviceWindow> = pages
            .iter()
            .flat_map(|page| DeviceWindow::all(&page.report.history, level, hold))
            .collect();
        let said = server.clone().unwrap_or_default();
        let energy = total_energy(&devices);
        let tokens = client.output_tokens.unwrap_or(Tokens::ZERO);
        let mut found = findings(client, &said, &devices, interval);
        found.extend((!is_exact && server.is_some()).then_some(TelemetryFinding::NoPageBefore));
        Self {
            from: level.from,
            to: level.to,
            steady: steady.and_then(|steady| server_over(pages, steady, hold)),
            gaps: ServerGaps::of(client, &said),
            findings: found,
            server,
            energy,
            joules_per_token: energy.and_then(|energy| joules_per_token(energy, tokens)),
            devices,
            host: None,
            sources: pages.iter().map(TelemetrySource::of).collect(),
            lines: Some(pages.iter().map(ScrapedPages::line_count).sum()),
            timeline: pages
                .iter()
                .map(|page| ServerTimeline::of(&page.report.history, level))
                .collect(),
        }
    }

    /// The same, and what the client's host did meanwhile.
    #[must_use]
    pub fn with_host(self, host: HostWindow) -> Self {
        Self { host: Some(host).filter(|host| *host != HostWindow::default()), ..self }
    }

    /// The same, with the timelines that `lines` have.
    pub(crate) fn with_lines(self, lines: &[HistoryLine]) -> Self {
        let window = Window::alone(self.from, self.to);
        let of = |source: u32| {
            let own = lines.iter().filter(|line| line.source == source).cloned();
            ServerTimeline::of(&History::of_lines(own), window)
        };
        Self { timeline: (0..).zip(&self.sources).map(|(source, _)| of(source)).collect(), ..self }
    }

    /// That fewer or more than its lines were `read`; none where they are all there, or nobody counted them.
    pub(crate) fn cut(&self, read: usize) -> Option<String> {
        let counted = self.lines.filter(|counted| *counted != read as u64)?;
        Some(format!(
            "telemetry.jsonl is cut or edited: {read} whole lines are used, and there were {counted}"
        ))
    }

    /// The timelines of those whose requests are counted: of engines, and of a front end where no engine behind it tells.
    pub fn engine_timelines(&self) -> impl Iterator<Item = &ServerTimeline> {
        let exporters: Vec<_> = self.sources.iter().map(|source| source.exporter).collect();
        let is_counted = counted(&exporters);
        self.timeline.iter().zip(is_counted).filter_map(|(one, is)| is.then_some(one))
    }

    /// What the verdict notes: findings that are bad news, and pages that never came.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let bad = self.findings.iter().filter(|finding| finding.is_objection());
        let gone = self.sources.iter().filter(|source| source.cost.pages == 0);
        let gone =
            gone.filter_map(|source| Some(format!("no metrics: {}", source.failure.as_ref()?)));
        bad.map(ToString::to_string).chain(gone).collect()
    }

    /// The share of prompt tokens that the prefix cache had, by the server's own counters.
    #[must_use]
    pub fn prefix_hit_share(&self) -> Option<f64> {
        self.server.as_ref()?.prefix_hit_share()
    }

    /// What of it keeps more load from giving more, in words: requests preempted, a full cache, clocks lowered; none where there is
    /// nothing of that kind.
    #[must_use]
    pub fn limit(&self) -> Option<String> {
        let told = |finding: &&TelemetryFinding| {
            use TelemetryFinding::{Preempted, Throttled};
            matches!(finding, Preempted { .. } | Throttled { .. })
        };
        let mut words: Vec<String> =
            self.findings.iter().filter(told).map(ToString::to_string).collect();
        let peak = self.server.as_ref().and_then(|server| server.kv_use.as_ref()?.figure.peak);
        let is_preempted =
            self.findings.iter().any(|one| matches!(one, TelemetryFinding::Preempted { .. }));
        if let Some(peak) = peak.filter(|peak| *peak >= FULL && !is_preempted) {
            words.push(format!("the KV cache was {} full", percent(peak)));
        }
        (!words.is_empty()).then(|| words.join("; "))
    }
}

/// A cache with less room than that takes hardly another request.
const FULL: f64 = 0.97;

impl TelemetrySource {
    fn of(ScrapedPages { address, report }: &ScrapedPages) -> Self {
        let ScrapeReport { history, cost } = report;
        Self {
            address: address.clone(),
            exporter: Exporter::of_history(history),
            cost: *cost,
            mean_fetch: cost.mean_fetch(),
            failure: history.failures().first().map(|failure| failure.why.to_string()),
        }
    }
}

impl ScrapedPages {
    fn line_count(&self) -> u64 {
        let history = &self.report.history;
        (history.fetches().len() + history.failures().len()) as u64
    }

    /// The lines that keep all of `pages`, source by source.
    pub fn lines(pages: &[Self]) -> impl Iterator<Item = HistoryLine> {
        (0..).zip(pages).flat_map(|(source, page)| page.report.history.lines(source))
    }
}

/// All engines among `pages` as one; none where there is none.
fn server_over(pages: &[ScrapedPages], window: Window, hold: Nanos) -> Option<ServerWindow> {
    let each = pages.iter().map(|page| ServerWindow::of(&page.report.history, window, hold));
    let each: Vec<ServerWindow> = each.collect();
    let exporters: Vec<_> = each.iter().map(|server| server.exporter).collect();
    let of_engines = each.into_iter().zip(counted(&exporters));
    let engines: Vec<_> = of_engines.filter_map(|(one, is)| is.then_some(one)).collect();
    (!engines.is_empty()).then(|| ServerWindow::together(&engines))
}

/// Of each page whether its requests are counted. Those of a front end are the engines' behind it, and would be counted twice.
fn counted(exporters: &[Option<Exporter>]) -> Vec<bool> {
    let is_engine =
        |one: &Option<Exporter>| one.is_some_and(|one| one.is_engine() && !one.is_front_end());
    let has_engine = exporters.iter().any(is_engine);
    let is_front_end = |one: &Option<Exporter>| one.is_some_and(Exporter::is_front_end);
    exporters.iter().map(|one| is_engine(one) || (is_front_end(one) && !has_engine)).collect()
}

/// Whether each server's page came between two moments.
fn has_page_between(pages: &[ScrapedPages], from: Stamp, to: Stamp) -> bool {
    let serves = |page: &&ScrapedPages| {
        Exporter::of_history(&page.report.history).is_some_and(Exporter::is_engine)
    };
    pages.iter().filter(serves).all(|page| {
        let mut fetches = page.report.history.fetches();
        fetches.any(|fetch| fetch.asked >= from && fetch.answered <= to)
    })
}
