//! Pages of several servers, asked for again and again.

use std::time::Duration;

use fizeau_core::{Clock, Nanos, Stamp, Tokens};
use fizeau_roofline::{DeploymentError, HourlyRate, PriceOrigin, System};

use super::about::{about, about_pages, above, silent};
#[cfg(feature = "forward-pass")]
use super::steps::WatchedSteps;
use super::{FleetDevices, FleetFinding, FleetReport, ReplicaReport};
use crate::assessment::{AssessmentError, ServingAssessment};
use crate::device::{
    DeviceWindow, device_count, joules_per_token, tokens_per_joule, total_energy, total_power,
};
#[cfg(feature = "forward-pass")]
use crate::forward_pass::ForwardPassSubscriber;
use crate::samples::Fetch;
use crate::scraper::{ScrapeReport, ScrapeSettings, Scraper, ScraperError};
use crate::server::ServerWindow;
use crate::source::Source;
use crate::vocabulary::Exporter;
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

    /// # Errors
    /// If its times are such that nothing can be seen in them.
    pub fn check(&self) -> Result<(), FleetSettingsError> {
        let Self { interval, window, .. } = *self;
        if interval < Nanos::from_millis(10) || interval > Nanos::from_secs(3_600) {
            return Err(FleetSettingsError::Interval(interval));
        }
        if window < interval * 2 || window > Nanos::from_secs(86_400) {
            return Err(FleetSettingsError::Window(window));
        }
        Ok(())
    }
}

/// Why nothing can be seen of a fleet in such times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FleetSettingsError {
    /// From one page to the next it is too short, or too long.
    #[error("{0}; it must be from 10 ms to an hour")]
    Interval(Nanos),
    /// Figures go back over less than three pages, or too far.
    #[error("{0}; it must be from twice the interval to a day")]
    Window(Nanos),
}

/// A fleet that is watched: the pages of its replicas and of their devices, each asked for by a thread of its own. No load comes from it
/// but that of the pages.
#[derive(Debug)]
pub struct FleetWatch {
    settings: FleetSettings,
    pages: Vec<WatchedPage>,
    #[cfg(feature = "forward-pass")]
    steps: Option<WatchedSteps>,
}

/// A page by its address.
type WatchedPage = (String, Scraper);

/// A page that is late by less is late because this machine is busy, not because there is a gap.
const HICCUP: Nanos = Nanos::from_secs(1);

/// How long the next page may take where one is due each `pace`.
fn patience(pace: Nanos) -> Nanos {
    (pace * 3).max(HICCUP)
}

/// From when on a page was made that had come by `end`: a window that began later would lie between two pages, where no gauge is known.
fn around_a_page(
    fetches: impl DoubleEndedIterator<Item = Fetch> + Clone,
    end: Stamp,
) -> Option<Stamp> {
    let made = fetches.clone().map(|fetch| fetch.middle()).rfind(|made| *made <= end)?;
    fetches.map(|fetch| fetch.answered).rfind(|answered| *answered <= made)
}

impl FleetWatch {
    /// Nobody yet.
    #[must_use]
    pub const fn new(settings: FleetSettings) -> Self {
        Self {
            settings,
            pages: Vec::new(),
            #[cfg(feature = "forward-pass")]
            steps: None,
        }
    }

    /// Begins to ask `source` for its pages, by the name `address`, with a number where another has the same. All clocks of one watch are alike.
    ///
    /// # Errors
    /// If the system has no thread to give.
    pub fn add<S, C>(&mut self, address: &str, source: S, clock: C) -> Result<(), ScraperError>
    where
        S: Source + Send + 'static,
        C: Clock + Send + 'static,
    {
        let FleetSettings { interval, window, .. } = self.settings;
        let keep = Some(window + patience(interval));
        let settings = ScrapeSettings { interval, keep, ..ScrapeSettings::default() };
        // Those that differ in what is not shown.
        let numbered = (2..).map(|number| format!("{address} ({number})"));
        let is_free = |name: &String| self.pages.iter().all(|(other, _)| other != name);
        let name = std::iter::once(address.to_owned()).chain(numbered).find(is_free);
        let name = name.unwrap_or_else(|| address.to_owned());
        self.pages.push((name, Scraper::start(source, clock, settings)?));
        Ok(())
    }

    /// Holds the steps of one engine against their bounds, too.
    #[cfg(feature = "forward-pass")]
    #[must_use]
    pub fn with_steps(self, steps: ForwardPassSubscriber) -> Self {
        Self { steps: Some(WatchedSteps::new(steps)), ..self }
    }

    /// Asks all for a page now, and waits for at most `patience` until all have come.
    pub fn ask_now(&self, patience: Duration) {
        Scraper::scrape_all(self.pages.iter().map(|(_, scraper)| scraper), patience);
    }

    /// What the fleet does, as of `now`. The window ends with the last page that all tell, and is as long as they reach back without a
    /// gap.
    #[must_use]
    pub fn report(&self, now: Stamp) -> FleetReport {
        let mut findings = Vec::new();
        let (replica_pages, device_pages) = self.parted();
        let window = self.window(&replica_pages, now, &mut findings);
        for (address, scraper) in &device_pages {
            scraper.look(|report| match self.stretch(report, now) {
                None => findings.push(silent(address, report, now)),
                Some(_) => about_pages(address, report, &mut findings),
            });
        }
        let mut servers = Vec::new();
        let mut replicas = Vec::new();
        for page in replica_pages {
            let (replica, server) = self.replica(page, window, now, &mut findings);
            servers.extend(server);
            replicas.push(replica);
        }
        let fleet = window.and_then(|window| self.together(&servers, window));
        if let Some(fleet) =
            fleet.as_ref().filter(|fleet| servers.len() > 1 && fleet.is_impossible())
        {
            findings.push(above(None, fleet));
        }
        let devices = window
            .and_then(|window| self.devices(&device_pages, window, fleet.as_ref(), &mut findings));
        let length = window.map_or(Nanos::ZERO, |window| window.length());
        #[cfg(feature = "forward-pass")]
        let steps = self.look_at_steps(now, &mut findings);
        #[cfg(not(feature = "forward-pass"))]
        let steps = None;
        let FleetSettings { model, system, price, .. } = &self.settings;
        FleetReport {
            schema: FleetReport::SCHEMA.to_owned(),
            model: model.clone(),
            hardware: system.device().name.clone(),
            deployment: system.deployment().to_string(),
            window: length.to_millis(),
            usd_per_device_hour: price.as_ref().map(|price| price.low),
            assumed_price: price.as_ref().and_then(published),
            fleet,
            replicas,
            devices,
            steps,
            findings,
        }
    }

    /// What one replica does, and what its server said where that could be judged.
    fn replica(
        &self,
        (address, scraper): &WatchedPage,
        window: Option<Window>,
        now: Stamp,
        findings: &mut Vec<FleetFinding>,
    ) -> (ReplicaReport, Option<ServerWindow>) {
        let mut replica =
            ReplicaReport { address: address.clone(), exporter: None, assessment: None };
        let said = window.and_then(|window| {
            let look = |of: &ScrapeReport| {
                let (first, _) = self.stretch(of, now)?;
                if first > window.from {
                    return None;
                }
                Some(ServerWindow::of(&of.history, window, self.hold(of)))
            };
            let server = scraper.look(look)?;
            let found = self.assess(&server, window, &self.settings.system);
            Some((server, found))
        });
        let Some((server, found)) = said else { return (replica, None) };
        replica.exporter = server.exporter;
        match found {
            Ok(assessment) => {
                about(address, &server, &assessment, findings);
                replica.assessment = Some(assessment);
                (replica, Some(server))
            }
            Err(error) => {
                let (address, why) = (address.clone(), error.to_string());
                findings.push(FleetFinding::NotReported { address, why });
                (replica, None)
            }
        }
    }

    /// The pages of servers, and those of devices and hosts, which are no replicas. A front end is none beside the engines that it sends
    /// its requests to. Where there is none of a server, all are asked to be one, and say why they are not.
    fn parted(&self) -> (Vec<&WatchedPage>, Vec<&WatchedPage>) {
        let is_beside = |(_, scraper): &&WatchedPage| {
            let exporter = scraper.look(|of| Exporter::of_history(&of.history));
            exporter.is_some_and(|exporter| !exporter.is_engine())
        };
        let (beside, servers): (Vec<_>, Vec<_>) = self.pages.iter().partition(is_beside);
        if servers.is_empty() {
            return (beside, servers);
        }
        let is_front_end =
            |(_, scraper): &&WatchedPage| scraper.look(|of| Exporter::is_front_end(&of.history));
        let (front_ends, engines): (Vec<_>, Vec<_>) = servers.into_iter().partition(is_front_end);
        match engines.is_empty() {
            true => (front_ends, beside),
            false => (engines, beside.into_iter().chain(front_ends).collect()),
        }
    }

    /// The stretch that all live replicas tell of; what is said of those that are not goes to `findings`.
    fn window(
        &self,
        replicas: &[&WatchedPage],
        now: Stamp,
        findings: &mut Vec<FleetFinding>,
    ) -> Option<Window> {
        let mut stretches = Vec::new();
        for (address, scraper) in replicas {
            scraper.look(|report| match self.stretch(report, now) {
                None => findings.push(silent(address, report, now)),
                Some(stretch) => {
                    stretches.push(((address, scraper), stretch));
                    about_pages(address, report, findings);
                }
            });
        }
        // Who has just come back would make the window of all others too short to tell anything.
        let back =
            |(first, last): (Stamp, Stamp)| last.saturating_since(first).min(self.settings.window);
        let longest = stretches.iter().map(|(_, stretch)| back(*stretch)).max()?;
        let (counted, young): (Vec<_>, Vec<_>) =
            stretches.into_iter().partition(|(_, stretch)| back(*stretch) * 3 >= longest);
        for ((address, _), stretch) in young {
            let why = format!(
                "its pages go back {}, and those of others {longest}: it counts once they go back as far",
                back(stretch)
            );
            findings.push(FleetFinding::NotReported { address: (*address).clone(), why });
        }
        let first = counted.iter().map(|(_, (first, _))| *first).max()?;
        let to = counted.iter().map(|(_, (_, last))| *last).min()?;
        let asked = first.max(to - self.settings.window);
        let back = |((_, scraper), _): &((_, &Scraper), _)| {
            scraper.look(|report| around_a_page(report.history.fetches(), to))
        };
        let from = counted.iter().filter_map(back).fold(asked, Stamp::min).max(first);
        (from < to).then(|| Window::within(from, to))
    }

    /// From the first to the last of the pages between which there is no gap, with one between them at least, of which the last is of late.
    /// Before a gap nobody knows when what was counted was counted.
    fn stretch(&self, report: &ScrapeReport, now: Stamp) -> Option<(Stamp, Stamp)> {
        let between_pages = patience(self.pace(report));
        let mut earlier = report.history.fetches().rev();
        let last = earlier.next()?;
        let failure = report.history.failures().last();
        // A server that is gone slows the pace, and is no less gone for that.
        let late = match failure.is_some_and(|failure| failure.fetch.answered > last.answered) {
            true => patience(self.settings.interval),
            false => between_pages,
        };
        if now.saturating_since(last.answered) > late {
            return None;
        }
        let mut first = last;
        for fetch in earlier {
            if first.requested.saturating_since(fetch.answered) > between_pages {
                break;
            }
            first = fetch;
        }
        let around = around_a_page(report.history.fetches(), last.requested)?;
        (first != last && first.answered <= around).then_some((first.answered, last.requested))
    }

    /// How long a value stands on either side of its page: twice from one page to the next.
    fn hold(&self, report: &ScrapeReport) -> Nanos {
        self.pace(report) * 2
    }

    /// From one page to the next, as it was asked for or as slowly as the page comes.
    fn pace(&self, report: &ScrapeReport) -> Nanos {
        let pace = Nanos::from_secs_f64(report.cost.interval.get() / 1e3).unwrap_or_default();
        self.settings.interval.max(pace)
    }

    /// What the exporters of devices tell; none where there is none.
    fn devices(
        &self,
        pages: &[&WatchedPage],
        window: Window,
        fleet: Option<&ServingAssessment>,
        findings: &mut Vec<FleetFinding>,
    ) -> Option<FleetDevices> {
        let told = |(_, scraper): &&WatchedPage| {
            scraper.look(|of| DeviceWindow::all(&of.history, window, self.hold(of)))
        };
        let devices: Vec<DeviceWindow> = pages.iter().flat_map(told).collect();
        let told = device_count(&devices) as u64;
        let serving = fleet.map(|fleet| fleet.devices).filter(|_| told > 0)?;
        if told != serving {
            findings.push(FleetFinding::OtherDevices { reported: told, serving });
        }
        let tokens = fleet.map(|fleet| {
            let seconds = window.length().as_secs_f64();
            Tokens::new((fleet.output_tokens_per_s.get() * seconds).round() as u64)
        });
        let spent = total_energy(&devices).filter(|_| told == serving).zip(tokens);
        Some(FleetDevices {
            devices: told,
            power: total_power(&devices),
            joules_per_token: spent.and_then(|(energy, tokens)| joules_per_token(energy, tokens)),
            tokens_per_joule: spent.and_then(|(energy, tokens)| tokens_per_joule(energy, tokens)),
        })
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
    ) -> Option<crate::steps::StepsAssessment> {
        let steps = self.steps.as_ref()?;
        if let Some(why) = steps.subscriber.ended() {
            findings.push(FleetFinding::StepsMissing { why });
        }
        let found = match self.settings.system.deployment().pipeline() {
            1 => steps.since(now - self.settings.window, &self.settings.system),
            stages => {
                let why =
                    format!("not compared with a bound: {}", crate::steps::why_unbounded(stages));
                findings.push(FleetFinding::StepsMissing { why });
                drop(steps.subscriber.take_passes());
                None
            }
        };
        let (lost, forgotten) = steps.subscriber.look(|passes| (passes.lost, passes.forgotten));
        for (count, how) in [(lost, "lost, by their sequence"), (forgotten, "too many to be kept")]
        {
            if count > 0 {
                let why = format!("{count} were {how}, since the watch began");
                findings.push(FleetFinding::StepsMissing { why });
            }
        }
        found
    }
}

/// Whose price that is, if nobody who asks gave it.
fn published(price: &HourlyRate) -> Option<String> {
    match &price.origin {
        PriceOrigin::Published { kind, source, date } => Some(format!("{kind}, {source}, {date}")),
        _ => None,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exposition::Page;
    use crate::samples::History;

    /// Pages that come 300 ms apart, where a window of 60 ms was asked for: between them the gauge is not known.
    #[test]
    fn a_window_has_a_page_in_it() {
        let at = |ms| Stamp::EPOCH + Nanos::from_millis(ms);
        let mut history = History::new();
        for asked in [0, 300, 600] {
            let page = Page::read(b"vllm:num_requests_running 16\n", None).unwrap();
            let fetch = Fetch { requested: at(asked), answered: at(asked + 2) };
            history.record(fetch, &page);
        }
        let running = |from| {
            let window = Window::within(from, at(600));
            ServerWindow::of(&history, window, Nanos::from_millis(40)).running
        };
        assert_eq!(running(at(540)), None);
        let from = around_a_page(history.fetches(), at(600)).unwrap();
        assert_eq!(from, at(2));
        assert_eq!(running(from).unwrap().figure.mean, 16.0);
        assert_eq!(around_a_page(history.fetches().take(2), at(300)), None);
    }
}
