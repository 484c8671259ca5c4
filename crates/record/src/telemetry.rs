//! What servers, their devices and the client's host said of a level, beside what the client measured.
//!
//! The figures are those of `fizeau-telemetry` as they are: they are plain documents there already, and that crate without its features
//! reads no clock and opens no socket.

mod devices;
mod passes;
mod servers;

use std::collections::BTreeMap;

use fizeau_core::{Joules, Millis, Nanos, PerJoule, Stamp, Tokens, document};
use fizeau_telemetry::{
    ClientWindow, DeviceWindow, Exporter, ForwardPassLine, History, HistoryLine, HostWindow,
    JudgedStep, NamedFigure, Pace, PageTrouble, ScrapeCost, ScrapeReport, ServerGaps,
    ServerTimeline, ServerWindow, SpeedWitnesses, StepsAssessment, TelemetryFinding, TimelinePoint,
    Window, findings, joules_per_token, power_timelines, tokens_per_joule,
};

use crate::text::percent;
use devices::{LevelDevices, serving_of};
use servers::{ReadServers, timelines};

pub use devices::ServingDevices;
pub use passes::PassSource;

document! {
    /// What was said of a level by others than the client.
    #[non_exhaustive]
    pub struct LevelTelemetry {
        /// When the first request of the level was sent, on the run's clock.
        pub from as "from_ns": Stamp,
        /// When the last one ended.
        pub to as "to_ns": Stamp,
        /// Over the whole level, all servers together; absent where none said anything.
        pub server?: ServerWindow,
        /// Over its steady part; absent where it has none.
        pub steady?: ServerWindow,
        /// What the client saw and the server did not, over the whole level.
        pub gaps: ServerGaps,
        /// Each device, over the whole level; those that did nothing in it are left out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub devices: Vec<DeviceWindow>,
        /// What all devices took, by their counters; absent where one does not count.
        pub energy as "energy_j"?: Joules,
        /// The same for each generated token that the client counted.
        pub joules_per_token as "joules_per_token"?: Joules,
        /// How many of these tokens a joule gave.
        pub tokens_per_joule?: PerJoule,
        /// The client's own host.
        pub host?: HostWindow,
        /// The hosts of servers, by the address of the page that tells of each.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub server_hosts: BTreeMap<String, HostWindow>,
        /// Metrics that were asked for by name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub other_metrics: BTreeMap<String, NamedFigure>,
        /// What is worth a sentence.
        pub findings: Vec<TelemetryFinding>,
        /// The steps of its engines, each held against its own bound; absent where nobody told them, or the bound of one is not known.
        pub steps?: StepsAssessment,
        /// Who tells a share of the speed of light, and where they differ; absent where only the client does, or there is no bound.
        pub witnesses?: SpeedWitnesses,
        /// Streams of forward-pass records.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub pass_sources: Vec<PassSource>,
        /// Where it comes from, and what it cost.
        pub sources: Vec<TelemetrySource>,
        /// How many lines `telemetry.jsonl` has of it; absent where they were not counted.
        pub lines?: u64,
        /// Each source over the level's time; of a run that is read again, from `telemetry.jsonl`.
        #[serde(skip)]
        pub timeline: Vec<ServerTimeline>,
        /// The power of each device over the level's time, in watts, likewise.
        #[serde(skip)]
        pub power_timelines: Vec<Vec<TimelinePoint>>,
        /// The records of its steps; of a run that is read again, from `forward-pass.jsonl`.
        #[serde(skip)]
        pub passes: Vec<ForwardPassLine>,
        /// Its steps beside their bounds, for pictures: of many some, evenly.
        #[serde(skip)]
        pub judged: Vec<JudgedStep>,
    }
}

document! {
    /// A page that was read again and again.
    #[non_exhaustive]
    pub struct TelemetrySource {
        /// Its address, without user, password and query.
        pub address: String,
        /// Whose page it is; absent where none came.
        pub exporter?: Exporter,
        /// What reading it cost.
        pub cost: ScrapeCost,
        /// The mean time of a fetch; absent where there was none.
        pub mean_fetch as "mean_fetch_ms"?: Millis,
        /// Why the first page that did not come did not.
        pub failure?: String,
    }
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
pub struct TelemetryWindows<'a> {
    /// The whole level.
    pub level: Window,
    /// Its steady part.
    pub steady: Option<Window>,
    /// From one page to the next, as was asked for.
    pub interval: Nanos,
    /// Which of the devices that pages tell of serve.
    pub devices: ServingDevices,
    /// Servers that take a part of the load and have no page, by their addresses: figures of the others are not those of all.
    pub unread: &'a [String],
}

impl LevelTelemetry {
    /// What `pages` say of a level, beside what the `client` counted over it.
    #[must_use]
    pub fn of(
        pages: &[ScrapedPages],
        windows: TelemetryWindows<'_>,
        client: &ClientWindow,
    ) -> Self {
        let TelemetryWindows { level, steady, interval, devices: serving, unread } = windows;
        let hold = hold(pages, interval);
        let servers = ReadServers::among(pages, level, hold, unread);
        let LevelDevices { devices, energy, findings: of_devices } =
            LevelDevices::of(pages, level, hold, serving);
        let said = servers.said.clone().unwrap_or_default();
        let nearest = servers.nearest_to_client(level, hold);
        let beside = servers.comparable(client);
        let mut findings = findings(&beside, &said, serving_of(&devices, &of_devices), interval);
        findings.extend(servers.finding.clone());
        findings.extend(pages.iter().filter_map(|page| page.begun_before(level.from)));
        findings.extend(pages.iter().flat_map(|page| page.troubles(level)));
        findings.extend(TelemetryFinding::other_requests(client, &nearest));
        findings.extend(of_devices);
        let server = servers.of_all();
        let (tokens, estimated) = output_tokens(client, server);
        findings.extend(estimated.filter(|_| energy.is_some()));
        Self {
            from: level.from,
            to: level.to,
            steady: server.and(steady).and_then(|steady| servers.over(steady, hold)),
            gaps: ServerGaps::of(client, &nearest),
            findings,
            other_metrics: BTreeMap::new(),
            server: server.cloned(),
            energy,
            joules_per_token: energy.and_then(|energy| joules_per_token(energy, tokens)),
            tokens_per_joule: energy.and_then(|energy| tokens_per_joule(energy, tokens)),
            devices,
            host: None,
            server_hosts: pages.iter().filter_map(|page| page.host(level)).collect(),
            sources: pages.iter().map(TelemetrySource::of).collect(),
            lines: (!pages.is_empty()).then(|| pages.iter().map(ScrapedPages::line_count).sum()),
            timeline: timelines(pages.iter().map(|page| &page.report.history), level),
            power_timelines: power_timelines(pages.iter().map(|page| &page.report.history), level),
            steps: None,
            witnesses: None,
            pass_sources: Vec::new(),
            passes: Vec::new(),
            judged: Vec::new(),
        }
    }

    /// The same, and what the client's host did meanwhile.
    #[must_use]
    pub fn with_host(self, host: HostWindow) -> Self {
        Self { host: Some(host).filter(|host| *host != HostWindow::default()), ..self }
    }

    /// The same, with what `pages`, asked for every `interval`, say of metrics of these `names`.
    #[must_use]
    pub fn with_requested_metrics(
        mut self,
        pages: &[ScrapedPages],
        names: &[String],
        interval: Nanos,
    ) -> Self {
        let (window, hold) = (Window::alone(self.from, self.to), hold(pages, interval));
        for name in names {
            let histories = || pages.iter().map(|page| &page.report.history);
            match NamedFigure::over(histories(), name, window, hold) {
                Some(figure) => drop(self.other_metrics.insert(name.clone(), figure)),
                None => {
                    self.findings.push(TelemetryFinding::NoSuchMetric { metric: name.clone() });
                }
            }
        }
        // What nobody else knows is known where it was asked for.
        let is_known = |address: &str| {
            let page = pages.iter().find(|page| page.address == address);
            let has = |name: &String| {
                let history = page.map(|page| &page.report.history);
                NamedFigure::over(history, name, window, hold).is_some()
            };
            names.iter().any(has)
        };
        self.findings.retain(|finding| match finding {
            TelemetryFinding::Pages { address, what: PageTrouble::Unknown } => !is_known(address),
            _ => true,
        });
        self
    }

    /// The same, with the timelines that `lines` have.
    pub(crate) fn with_lines(self, lines: &[HistoryLine]) -> Self {
        let window = Window::alone(self.from, self.to);
        let of = |source: u32| {
            let own = lines.iter().filter(|line| line.source == source).cloned();
            History::of_lines(own)
        };
        let histories: Vec<History> =
            (0..).zip(&self.sources).map(|(source, _)| of(source)).collect();
        Self {
            timeline: timelines(histories.iter(), window),
            power_timelines: power_timelines(&histories, window),
            ..self
        }
    }

    /// That fewer or more than its lines and its `passes` were `read`; none where they are all there, or nobody counted them.
    pub(crate) fn cut(&self, read: usize, passes: usize) -> Vec<String> {
        let counted: u64 = self.pass_sources.iter().map(|source| source.passes).sum();
        let told = |name: &str, read: usize, counted: Option<u64>| {
            let counted = counted.filter(|counted| *counted != read as u64)?;
            Some(format!(
                "{name} was cut or edited: it has {read} of {counted} lines, and those are used"
            ))
        };
        let pages = told("telemetry.jsonl", read, self.lines);
        pages.into_iter().chain(told("forward-pass.jsonl", passes, Some(counted))).collect()
    }

    /// What the verdict notes: findings that are bad news, and pages that never came.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let bad = self.findings.iter().filter(|finding| finding.is_objection());
        let gone = self.sources.iter().filter(|source| source.cost.pages == 0);
        let gone =
            gone.filter_map(|source| Some(format!("no metrics: {}", source.failure.as_ref()?)));
        let differ = self.witnesses.iter().flat_map(|told| &told.disagreements);
        let waiting = self.steps.iter().filter_map(|steps| steps.host_bound.as_ref());
        let streams = self.pass_sources.iter().filter_map(PassSource::note);
        let bad = bad.map(ToString::to_string).chain(gone);
        let differ = differ.map(ToString::to_string).chain(waiting.map(ToString::to_string));
        bad.chain(differ).chain(streams).collect()
    }

    /// The devices that serve; none where pages tell of others than those.
    #[must_use]
    pub fn serving_devices(&self) -> &[DeviceWindow] {
        serving_of(&self.devices, &self.findings)
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

/// How long a value stands on either side of its page: it may stand for the time of a page that did not come.
fn hold(pages: &[ScrapedPages], interval: Nanos) -> Nanos {
    let fetches = pages.iter().flat_map(|page| page.report.history.fetches());
    let mut pace = Pace::every(interval);
    pace.took(fetches.map(|fetch| fetch.length()).max().unwrap_or_default());
    pace.interval() * 2
}

/// The output tokens of all requests: those that the client's requests were told, and where some were not what the server counted; else
/// with the client's estimate of them, which is then told.
fn output_tokens(
    client: &ClientWindow,
    server: Option<&ServerWindow>,
) -> (Tokens, Option<TelemetryFinding>) {
    let (told, estimated) = (client.output_tokens.unwrap_or(Tokens::ZERO), client.estimated_tokens);
    let counted = server.and_then(|server| server.generation_tokens.as_ref());
    match counted {
        _ if estimated == Tokens::ZERO => (told, None),
        Some(counted) => (Tokens::new(counted.figure.delta.round().max(0.0) as u64), None),
        None => {
            let (all, estimated) = (told + estimated, estimated.get());
            (all, Some(TelemetryFinding::TokensEstimated { estimated, all: all.get() }))
        }
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

    /// What is wrong where none of its pages had come when the first request was sent, at `first_send`.
    fn begun_before(&self, first_send: Stamp) -> Option<TelemetryFinding> {
        let first = self.report.history.fetches().next()?;
        (first.answered > first_send)
            .then(|| TelemetryFinding::NoPageBefore { address: self.address.clone() })
    }

    /// What it says of a server's host, by its address.
    fn host(&self, level: Window) -> Option<(String, HostWindow)> {
        Some((self.address.clone(), HostWindow::of(&self.report.history, level)?))
    }

    /// What is wrong with its pages.
    fn troubles(&self, level: Window) -> impl Iterator<Item = TelemetryFinding> {
        let all = PageTrouble::of(&self.report.history, level);
        all.into_iter().map(|what| TelemetryFinding::Pages { address: self.address.clone(), what })
    }

    /// The lines that keep all of `pages`, source by source.
    pub fn lines(pages: &[Self]) -> impl Iterator<Item = HistoryLine> {
        (0..).zip(pages).flat_map(|(source, page)| page.report.history.lines(source))
    }
}

#[cfg(test)]
mod tests;
