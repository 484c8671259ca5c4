//! Pages of metrics, read beside each level by threads of their own.

mod level;
mod local_gpus;
mod passes;
mod same_page;

use std::fmt;

use fizeau_core::Nanos;
#[cfg(feature = "nvml")]
use fizeau_telemetry::DeviceChoice;
use fizeau_telemetry::{
    Exporter, FetchErrorKind, PageSettings, PageSource, PageTrust, SharedSource, Source,
};
use fizeau_transport::MonotonicClock;

use crate::endpoint::{ExtraHeader, PreparedEndpoint, split_url};
use crate::event::{RunEvent, RunNote, Watcher};
use crate::input::InputError;

pub(crate) use level::{LevelScrapers, ScrapedLevel};
pub use local_gpus::LocalGpus;
use passes::PassStream;
use same_page::is_same_page;

/// Which pages of metrics are read beside the levels of a run. By default those that servers have beside their API, once a second.
#[derive(Clone)]
#[non_exhaustive]
pub struct TelemetrySpec {
    /// Whether servers are looked at for pages of their own.
    pub servers: ServerPages,
    /// More pages: those of other servers, of dcgm-exporter, of AMD's.
    pub pages: Vec<String>,
    /// Metrics that are kept whatever they mean, by their names on any page, with or without `_total`.
    pub metrics: Vec<String>,
    /// Headers that pages on the host of the server are asked with; those on other hosts only where they refuse to answer without. Their
    /// values never reach a file.
    pub headers: Vec<ExtraHeader>,
    /// Sources of a program's own, each by the name under which it stands among the pages: see [`TelemetrySpec::source`].
    pub sources: Vec<(String, SharedSource)>,
    /// Which GPUs of this machine are read.
    pub gpus: LocalGpus,
    /// Where engines publish records of their forward passes, as host and port: all of the run is subscribed to.
    pub forward_passes: Vec<String>,
    /// From one page to the next; longer by itself where a page takes more than a fifth of that.
    pub interval: Nanos,
}

/// Whether servers are looked at for pages of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServerPages {
    /// At `/prometheus/metrics`, else at `/metrics`, beside their API.
    #[default]
    Found,
    /// They are not.
    Unasked,
}

impl Default for TelemetrySpec {
    fn default() -> Self {
        Self {
            servers: ServerPages::Found,
            pages: Vec::new(),
            metrics: Vec::new(),
            headers: Vec::new(),
            sources: Vec::new(),
            gpus: LocalGpus::Found,
            forward_passes: Vec::new(),
            interval: Nanos::from_secs(1),
        }
    }
}

impl fmt::Debug for TelemetrySpec {
    /// Without addresses, which may hold a key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TelemetrySpec")
            .field("servers", &self.servers)
            .field("pages", &self.pages.len())
            .field("metrics", &self.metrics)
            .field("headers", &self.headers)
            .field("sources", &self.sources.len())
            .field("gpus", &self.gpus)
            .field("forward_passes", &self.forward_passes)
            .field("interval", &self.interval)
            .finish()
    }
}

/// How long a page may take before it counts as not there.
const PATIENCE: Nanos = Nanos::from_secs(3);

impl TelemetrySpec {
    /// The same, and `source` besides, called `name`: a program's own, that is asked as pages are, by a thread of its own. What it tells by
    /// names that engines and exporters of devices use comes into the figures of each level.
    ///
    /// ```
    /// use fizeau_experiment::{ServerPages, TelemetrySpec};
    /// use fizeau_telemetry::{Page, PageError, Source};
    ///
    /// /// A meter between the machine and its supply.
    /// struct Meter;
    ///
    /// impl Source for Meter {
    ///     type Error = PageError;
    ///
    ///     fn page(&mut self) -> Result<Page, PageError> {
    ///         let watts = 640; // Read off the meter.
    ///         Page::read(format!("DCGM_FI_DEV_POWER_USAGE{{gpu=\"0\"}} {watts}\n").as_bytes(), None)
    ///     }
    /// }
    ///
    /// // Beside the pages that the server has.
    /// let beside = TelemetrySpec::default().source("meter", Meter);
    /// // In their place.
    /// let mut alone = beside.clone();
    /// alone.servers = ServerPages::Unasked;
    /// ```
    #[must_use]
    pub fn source(mut self, name: impl Into<String>, source: impl Source + Send + 'static) -> Self {
        self.sources.push((name.into(), SharedSource::new(source)));
        self
    }

    fn settings(&self) -> PageSettings {
        let settings = PageSettings::default().patience(PATIENCE).known_only();
        let settings = settings.named(&self.metrics);
        let headers = self.headers.iter();
        headers.fold(settings, |settings, header| settings.header(&*header.name, &*header.value))
    }

    /// The pages that there are, by `clock`, of which there may be none. `watcher` hears of each that is not there, which is no error of a
    /// run.
    ///
    /// # Errors
    /// If a GPU was named that is not there, nobody publishes forward passes where it was said, or trusted certificates cannot be read.
    pub(crate) fn find(
        &self,
        endpoint: &PreparedEndpoint,
        clock: MonotonicClock,
        watcher: &mut impl Watcher,
    ) -> Result<Telemetry, InputError> {
        let given = self.pages.iter().map(|url| vec![Address::At(url.clone())]);
        let is_wanted = self.servers == ServerPages::Found;
        let beside = endpoint.target.urls().filter(|_| is_wanted).map(|url| {
            let base = split_url(&url).0.to_owned();
            // First where TensorRT-LLM's counters are: its JSON at /metrics answers too, with less, and each look takes from it.
            vec![Address::BesideTensorrtLlm(base.clone()), Address::Beside(base)]
        });
        let hosts: Vec<String> = endpoint.target.urls().map(|url| host(&url).to_owned()).collect();
        let gpus = self.gpus.choice(&hosts, |why| {
            watcher.event(RunEvent::Note(RunNote::Other(why)));
        })?;
        let mut telemetry = Telemetry {
            pages: Vec::new(),
            metrics: self.metrics.clone(),
            sources: self.sources.clone(),
            gpus,
            passes: PassStream::all(&self.forward_passes, clock)?,
            bare: Self { headers: Vec::new(), ..self.clone() }.settings(),
            settings: self.settings(),
            trusted: endpoint.reached.trust.of_pages()?,
            clock,
            interval: self.interval,
            are_gpus_named: matches!(self.gpus, LocalGpus::Named(_)),
            unread: Vec::new(),
        };
        let mut engines_given = 0;
        for places in beside.chain(given) {
            let read = telemetry.pages.len();
            let found = telemetry.add(&places, &hosts);
            let is_new = telemetry.pages.len() > read;
            let is_engine = matches!(&found, Ok(Some(exporter)) if exporter.is_engine());
            match &places[..] {
                [Address::At(_)] => engines_given += usize::from(is_engine && is_new),
                [.., beside] if !is_engine => {
                    let address = telemetry.bare_address(beside);
                    telemetry.unread.push(address);
                }
                _ => {}
            }
            let note = found.err().map(|missing| match missing {
                Missing::Refused(why) => RunNote::ServerMetricsNeedKey(why),
                Missing::NoAnswer(why) | Missing::Answered(why) => RunNote::NoServerMetrics(why),
            });
            // Nobody looked for a page that was given.
            let note = note.map(|note| match (&note, &places[..]) {
                (RunNote::NoServerMetrics(_), [Address::At(_)]) => RunNote::Other(note.to_string()),
                _ => note,
            });
            note.into_iter().for_each(|note| watcher.event(RunEvent::Note(note)));
        }
        // Pages of engines that were given are those of servers that have none beside their API.
        if engines_given >= telemetry.unread.len() {
            telemetry.unread.clear();
        }
        Ok(telemetry)
    }
}

/// Where a page is. It may hold a key.
#[derive(Clone)]
enum Address {
    At(String),
    Beside(String),
    BesideTensorrtLlm(String),
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Address(***)")
    }
}

/// Whether a page is asked with the headers that were given: whose page it is cannot be known before it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ApiKey {
    Attached,
    #[default]
    Withheld,
}

/// How a page is asked for.
#[derive(Debug, Clone, Default)]
struct PageAccess {
    key: ApiKey,
    trust: PageTrust,
    /// Whose page it is; none where it was not read yet.
    exporter: Option<Exporter>,
}

/// The host of `url`, without user and port.
fn host(url: &str) -> &str {
    let (origin, _) = split_url(url);
    let origin = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    let origin = origin.rsplit_once('@').map_or(origin, |(_, host)| host);
    let port = |port: &str| port.bytes().all(|digit| digit.is_ascii_digit());
    origin.rsplit_once(':').filter(|(_, end)| port(end)).map_or(origin, |(host, _)| host)
}

/// The pages that are read beside the levels of a run.
#[derive(Debug, Clone)]
pub(crate) struct Telemetry {
    pages: Vec<(Address, PageAccess)>,
    /// Metrics that are kept by their names.
    metrics: Vec<String>,
    /// Sources of a program's own, by name.
    sources: Vec<(String, SharedSource)>,
    /// The GPUs of this machine that are read too.
    #[cfg(feature = "nvml")]
    gpus: Option<DeviceChoice>,
    #[cfg(not(feature = "nvml"))]
    gpus: Option<()>,
    /// The streams of forward-pass records, subscribed to as long as the run lasts.
    passes: Vec<PassStream>,
    settings: PageSettings,
    /// The same without headers.
    bare: PageSettings,
    /// The certificates that are trusted, each tried where nobody answered by those before.
    trusted: Vec<PageTrust>,
    clock: MonotonicClock,
    interval: Nanos,
    /// Whether the GPUs of this machine that are read are those that serve.
    are_gpus_named: bool,
    /// Where pages of servers were looked for and are not, beside pages of other servers.
    unread: Vec<String>,
}

impl Telemetry {
    /// Whether there is nothing to read but this host.
    pub(crate) const fn is_empty(&self) -> bool {
        self.pages.is_empty() && self.sources.is_empty() && self.gpus.is_none()
    }

    fn source(&self, page: &Address, access: &PageAccess) -> PageSource {
        let settings = match access.key {
            ApiKey::Attached => self.settings.clone(),
            ApiKey::Withheld => self.bare.clone(),
        };
        let settings = settings.trust(access.trust.clone());
        match page {
            Address::At(url) => PageSource::new(url, settings),
            Address::Beside(base) => PageSource::beside(base, settings),
            Address::BesideTensorrtLlm(base) => PageSource::beside_tensorrt_llm(base, settings),
        }
    }

    /// The address of a page, without user, password and query.
    fn bare_address(&self, page: &Address) -> String {
        self.source(page, &PageAccess::default()).address().to_owned()
    }

    /// Whether this page is one of those that are read: as far as its address goes, without a query, by whatever name of its host.
    fn reads(&self, page: &Address) -> bool {
        let address = self.bare_address(page);
        self.pages.iter().any(|(read, _)| is_same_page(&self.bare_address(read), &address))
    }

    /// Reads the first of these places that has a page, and no page twice; whose page that is, and where none has one, why.
    fn add(&mut self, places: &[Address], hosts: &[String]) -> Result<Option<Exporter>, Missing> {
        let mut missing = Ok(None);
        for page in places {
            match self.tried(page, hosts) {
                Ok(access) => {
                    let exporter = access.exporter;
                    // What is read twice would be counted twice.
                    if !self.reads(page) {
                        self.pages.push((page.clone(), access));
                    }
                    return Ok(exporter);
                }
                // Who does not answer does not answer anywhere.
                Err(no_answer @ Missing::NoAnswer(_)) => return Err(no_answer),
                Err(answered) => missing = Err(answered),
            }
        }
        missing
    }

    /// How to ask for this page, if there is one with anything on it that is known, and if not why: on one of `hosts`, which are the
    /// server's, with the headers, elsewhere without them unless it wants them.
    fn tried(&self, page: &Address, hosts: &[String]) -> Result<PageAccess, Missing> {
        let is_elsewhere = match page {
            Address::At(url) => !hosts.iter().any(|own| own.eq_ignore_ascii_case(host(url))),
            Address::Beside(_) | Address::BesideTensorrtLlm(_) => false,
        };
        match is_elsewhere.then(|| self.requested(page, ApiKey::Withheld)) {
            None | Some(Err(Missing::Refused(_))) => self.requested(page, ApiKey::Attached),
            Some(requested) => requested,
        }
    }

    fn requested(&self, page: &Address, key: ApiKey) -> Result<PageAccess, Missing> {
        let mut trusted = self.trusted.iter().peekable();
        loop {
            let trust = trusted.next().cloned().unwrap_or_default();
            match self.requested_by(page, PageAccess { key, trust, exporter: None }) {
                Err(Missing::NoAnswer(_)) if trusted.peek().is_some() => {}
                told => return told,
            }
        }
    }

    fn requested_by(&self, page: &Address, access: PageAccess) -> Result<PageAccess, Missing> {
        let mut source = self.source(page, &access);
        let told = source.page().map_err(|error| match &error.kind {
            FetchErrorKind::TooSlow { .. } | FetchErrorKind::Connection(_) => {
                Missing::NoAnswer(error.to_string())
            }
            FetchErrorKind::Refused { .. } => Missing::Refused(error.to_string()),
            _ => Missing::Answered(error.to_string()),
        })?;
        let exporters =
            told.samples.iter().filter_map(|(name, _)| Exporter::of_metric(&name.metric));
        let exporter = exporters.min();
        match told.samples.is_empty() {
            false => Ok(PageAccess { exporter, ..access }),
            true => Err(Missing::Answered(format!(
                "{}: a metrics page without the series of any known program",
                source.address()
            ))),
        }
    }
}

/// Why there is no page.
enum Missing {
    /// Nobody answered.
    NoAnswer(String),
    /// Somebody did, who wants a key.
    Refused(String),
    /// Somebody did, with something else.
    Answered(String),
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn a_host_is_without_user_port_and_path() {
        for (url, own) in [
            ("http://a:8000/v1", "a"),
            ("https://me:pass@a.example/metrics?x=1", "a.example"),
            ("http://[::1]:9400/metrics", "[::1]"),
            ("http://[::1]", "[::1]"),
        ] {
            assert_eq!(host(url), own);
        }
    }
}
