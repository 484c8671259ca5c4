//! Pages of several servers, asked for again and again.

use std::time::Duration;

use fizeau_core::{Clock, Millis, Nanos, Stamp};
use fizeau_roofline::{DeploymentError, HourlyRate, System};

use super::{FleetFinding, FleetReport, ReplicaReport};
use crate::assessment::{AssessmentError, ServingAssessment};
#[cfg(feature = "forward-pass")]
use crate::forward_pass::ForwardPassSubscriber;
use crate::samples::Fetch;
use crate::scraper::{ScrapeReport, ScrapeSettings, Scraper, ScraperError};
use crate::server::ServerWindow;
use crate::source::Source;
use crate::window::Window;

/// What a fleet is, and how it is looked at.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FleetSettings {
    /// The model's name, for the document.
    pub model: String,
    /// The model on the devices behind each page.
    pub system: System,
    /// What a device costs.
    pub price: Option<HourlyRate>,
    /// From one page to the next.
    pub interval: Nanos,
    /// How far back figures go.
    pub window: Nanos,
}

impl FleetSettings {
    /// A page a second, figures of the last thirty, without a price.
    #[must_use]
    pub fn new(model: impl Into<String>, system: System) -> Self {
        let (interval, window) = (Nanos::from_secs(1), Nanos::from_secs(30));
        Self { model: model.into(), system, price: None, interval, window }
    }
}

/// A fleet that is watched: the pages of its replicas, each asked for by a thread of its own. No load comes from it but that of the
/// pages.
#[derive(Debug)]
pub struct FleetWatch {
    settings: FleetSettings,
    replicas: Vec<(String, Scraper)>,
    #[cfg(feature = "forward-pass")]
    steps: Option<ForwardPassSubscriber>,
}

impl FleetWatch {
    /// Nobody yet.
    #[must_use]
    pub const fn new(settings: FleetSettings) -> Self {
        Self {
            settings,
            replicas: Vec::new(),
            #[cfg(feature = "forward-pass")]
            steps: None,
        }
    }

    /// Begins to ask `source` for its pages, by the name `address`. All clocks of one watch are alike.
    ///
    /// # Errors
    /// If the system has no thread to give.
    pub fn add<S, C>(&mut self, address: &str, source: S, clock: C) -> Result<(), ScraperError>
    where
        S: Source + Send + 'static,
        C: Clock + Send + 'static,
    {
        let FleetSettings { interval, window, .. } = self.settings;
        let keep = Some(window + interval * 3);
        let settings = ScrapeSettings { interval, keep, ..ScrapeSettings::default() };
        self.replicas.push((address.to_owned(), Scraper::start(source, clock, settings)?));
        Ok(())
    }

    /// Holds the steps of one engine against their bounds, too.
    #[cfg(feature = "forward-pass")]
    #[must_use]
    pub fn with_steps(self, steps: ForwardPassSubscriber) -> Self {
        Self { steps: Some(steps), ..self }
    }

    /// Asks each for a page now, and waits for at most `patience` for each of them.
    pub fn ask_now(&self, patience: Duration) {
        for (_, scraper) in &self.replicas {
            scraper.scrape_now(patience);
        }
    }

    /// What the fleet does, as of `now`. The window ends with the last page that all tell, and is as long as they reach back.
    #[must_use]
    pub fn report(&self, now: Stamp) -> FleetReport {
        let mut findings = Vec::new();
        let window = self.window(now, &mut findings);
        let hold = self.settings.interval * 2;
        let mut servers = Vec::new();
        let mut replicas = Vec::new();
        for (address, scraper) in &self.replicas {
            let said = window.filter(|_| scraper.look(|of| self.is_live(of, now))).map(|window| {
                let server = scraper.look(|of| ServerWindow::of(&of.history, window, hold));
                let found = self.assess(&server, window, &self.settings.system);
                (server, found)
            });
            let mut replica =
                ReplicaReport { address: address.clone(), exporter: None, assessment: None };
            if let Some((server, found)) = said {
                replica.exporter = server.exporter;
                match found {
                    Ok(assessment) => {
                        about(address, &server, &assessment, &mut findings);
                        replica.assessment = Some(assessment);
                        servers.push(server);
                    }
                    Err(error) => findings.push(FleetFinding::Untold {
                        address: address.clone(),
                        why: error.to_string(),
                    }),
                }
            }
            replicas.push(replica);
        }
        let fleet = window.and_then(|window| self.together(&servers, window));
        if let Some(fleet) =
            fleet.as_ref().filter(|fleet| servers.len() > 1 && fleet.is_impossible())
        {
            findings.push(above(None, fleet));
        }
        let length = window.map_or(Nanos::ZERO, |window| window.length());
        #[cfg(feature = "forward-pass")]
        let steps = self.look_at_steps(now, &mut findings);
        let FleetSettings { model, system, price, .. } = &self.settings;
        FleetReport {
            schema: FleetReport::SCHEMA.to_owned(),
            model: model.clone(),
            hardware: system.device().name.clone(),
            deployment: system.deployment().to_string(),
            window: length.to_millis(),
            usd_per_device_hour: price.as_ref().map(|price| price.low.get()),
            fleet,
            replicas,
            #[cfg(feature = "forward-pass")]
            steps,
            findings,
        }
    }

    /// The stretch that all live replicas tell of; what is said of those that are not goes to `findings`.
    fn window(&self, now: Stamp, findings: &mut Vec<FleetFinding>) -> Option<Window> {
        let mut stretch: Option<(Stamp, Stamp)> = None;
        for (address, scraper) in &self.replicas {
            scraper.look(|report| {
                if !self.is_live(report, now) {
                    findings.push(silent(address, report, now));
                    return;
                }
                let mut fetches = report.history.fetches();
                if let Some((first, last)) = fetches.next().zip(fetches.last()) {
                    let (from, to) = stretch.unwrap_or((first.answered, last.asked));
                    stretch = Some((from.max(first.answered), to.min(last.asked)));
                }
                let missing = report.history.failures();
                if let Some(last) = missing.last() {
                    let count = u32::try_from(missing.len()).unwrap_or(u32::MAX);
                    findings.push(FleetFinding::Gap {
                        address: address.clone(),
                        missing: count,
                        why: last.why.to_string(),
                    });
                }
                let pages = report.history.cut_short();
                if pages > 0 {
                    findings.push(FleetFinding::CutShort { address: address.clone(), pages });
                }
            });
        }
        let (from, to) = stretch?;
        let from = from.max(to - self.settings.window);
        (from < to).then(|| Window::within(from, to))
    }

    /// Whether there are two pages, of which the last is of late.
    fn is_live(&self, report: &ScrapeReport, now: Stamp) -> bool {
        let patience = report.cost.interval.get().max(self.settings.interval.as_millis_f64()) * 3.0;
        let age = |last: Fetch| now.saturating_since(last.answered).as_millis_f64();
        let fetches = report.history.fetches();
        fetches.len() >= 2 && fetches.last().is_some_and(|last| age(last) <= patience)
    }

    fn assess(
        &self,
        server: &ServerWindow,
        window: Window,
        system: &System,
    ) -> Result<ServingAssessment, AssessmentError> {
        ServingAssessment::of(server, window.length(), system, self.settings.price.as_ref())
    }

    /// All of `servers` as one, on the devices of all.
    fn together(&self, servers: &[ServerWindow], window: Window) -> Option<ServingAssessment> {
        let count = u32::try_from(servers.len()).ok().filter(|count| *count > 0)?;
        let system = several(&self.settings.system, count).ok()?;
        self.assess(&ServerWindow::together(servers), window, &system).ok()
    }

    #[cfg(feature = "forward-pass")]
    fn look_at_steps(
        &self,
        now: Stamp,
        findings: &mut Vec<FleetFinding>,
    ) -> Option<super::StepsAssessment> {
        let subscriber = self.steps.as_ref()?;
        if let Some(why) = subscriber.ended() {
            findings.push(FleetFinding::StepsMissing { why });
        }
        let from = now - self.settings.window;
        let system = &self.settings.system;
        let found = subscriber.look(|passes| super::StepsAssessment::of(passes, from, system));
        if let Some(lost) = found.as_ref().map(|steps| steps.lost).filter(|lost| *lost > 0) {
            let why = format!("{lost} were lost, by their sequence, since the watch began");
            findings.push(FleetFinding::StepsMissing { why });
        }
        found
    }
}

/// `count` times as many replicas of `system`.
fn several(system: &System, count: u32) -> Result<System, DeploymentError> {
    let deployment = *system.deployment();
    let replicas = deployment.replicas().saturating_mul(count);
    let (model, device) = (system.model().clone(), system.device().clone());
    let all = System::new(model, device, deployment.with_replicas(replicas)?)?;
    Ok(all.with_serving(*system.serving()).with_routing(system.routing()))
}

/// What is worth a sentence about a replica that tells.
fn about(
    address: &str,
    server: &ServerWindow,
    assessment: &ServingAssessment,
    findings: &mut Vec<FleetFinding>,
) {
    let owned = || address.to_owned();
    if assessment.is_impossible() {
        findings.push(above(Some(owned()), assessment));
    }
    if assessment.share.is_some() && assessment.context.is_none() {
        findings.push(FleetFinding::NoContext { address: owned() });
    }
    if server.resets() > 0 {
        findings.push(FleetFinding::Restarted { address: owned(), times: server.resets() });
    }
}

fn above(address: Option<String>, assessment: &ServingAssessment) -> FleetFinding {
    let decode = assessment.decode.as_ref().map_or(0.0, |decode| decode.share);
    FleetFinding::AboveBound { address, share: assessment.share.unwrap_or(0.0).max(decode) }
}

fn silent(address: &str, report: &ScrapeReport, now: Stamp) -> FleetFinding {
    let fetches = report.history.fetches();
    let pages = fetches.len();
    let last = fetches.last().map(|last| last.answered);
    let why = match (report.history.failures().last(), pages) {
        (Some(failure), _) => failure.why.to_string(),
        (None, 0) => "it was not answered yet".to_owned(),
        (None, 1) => "two pages make a rate, and one has come".to_owned(),
        (None, _) => "the next one is waited for".to_owned(),
    };
    let since = last.map(|last| Millis::new(now.saturating_since(last).as_millis_f64()));
    FleetFinding::Silent { address: address.to_owned(), since, why }
}
