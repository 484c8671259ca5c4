//! The servers whose pages are read, as one.

use fizeau_core::Nanos;
use fizeau_telemetry::{
    ClientWindow, Exporter, History, ServerTimeline, ServerWindow, TelemetryFinding, Window,
};

use super::ScrapedPages;

/// Who speaks for the server.
pub(super) struct ReadServers<'a> {
    /// Those whose figures are added up.
    speaking: Vec<&'a ScrapedPages>,
    front_ends: Vec<&'a ScrapedPages>,
    /// What they say of the level; none where there is none.
    pub(super) said: Option<ServerWindow>,
    /// That others serve too, whose pages are not read.
    pub(super) finding: Option<TelemetryFinding>,
}

/// Fewer tokens than that share of the front end's are those of a part of its engines, and no difference in how both count.
const ALL: f64 = 0.95;

impl<'a> ReadServers<'a> {
    /// Among `pages`, beside servers that are `unread`. A front end is another view of the requests that its engines have, so it is added
    /// to none of them: it speaks where it alone does, or where its engines are not all there.
    pub(super) fn among(
        pages: &'a [ScrapedPages],
        level: Window,
        hold: Nanos,
        unread: &[String],
    ) -> Self {
        let (front_ends, engines): (Vec<&ScrapedPages>, Vec<_>) = pages
            .iter()
            .filter(|page| is_engine(&page.report.history))
            .partition(|page| Exporter::is_front_end(&page.report.history));
        let told = |pages: &[&ScrapedPages]| together(pages, level, hold);
        let missing = engines_missing(told(&engines), told(&front_ends));
        let speaks_front_end = engines.is_empty() || missing.is_some();
        let speaking = if speaks_front_end { front_ends.clone() } else { engines };
        let said = told(&speaking);
        let unread = (!unread.is_empty() && said.is_some())
            .then(|| TelemetryFinding::ServersUnread { addresses: unread.to_vec() });
        Self { said, finding: unread.or(missing), speaking, front_ends }
    }

    /// What all servers said; none where some are not read, since a part would pass for the whole.
    pub(super) fn of_all(&self) -> Option<&ServerWindow> {
        let is_part = matches!(self.finding, Some(TelemetryFinding::ServersUnread { .. }));
        self.said.as_ref().filter(|_| !is_part)
    }

    /// What those that speak say of `window`.
    pub(super) fn over(&self, window: Window, hold: Nanos) -> Option<ServerWindow> {
        together(&self.speaking, window, hold)
    }

    /// What of the `client` can be held against what they said: of a part of the servers no count of tokens.
    pub(super) fn comparable(&self, client: &ClientWindow) -> ClientWindow {
        match self.of_all() {
            Some(_) => *client,
            None => ClientWindow { prompt_tokens: None, output_tokens: None, ..*client },
        }
    }

    /// The latencies of the server that is next to the client: those of front ends where they tell them, else those of engines.
    pub(super) fn nearest_to_client(&self, window: Window, hold: Nanos) -> ServerWindow {
        let is_part = self.said.is_some() && self.of_all().is_none();
        if is_part {
            return ServerWindow::default();
        }
        let front_end = together(&self.front_ends, window, hold).unwrap_or_default();
        let mut nearest = self.said.clone().unwrap_or_default();
        nearest.ttft = front_end.ttft.or(nearest.ttft);
        nearest.e2el = front_end.e2el.or(nearest.e2el);
        nearest
    }
}

fn together(pages: &[&ScrapedPages], window: Window, hold: Nanos) -> Option<ServerWindow> {
    let each = pages.iter().map(|page| ServerWindow::of(&page.report.history, window, hold));
    let all: Vec<ServerWindow> = each.collect();
    (!all.is_empty()).then(|| ServerWindow::together(&all))
}

fn engines_missing(
    engines: Option<ServerWindow>,
    front_end: Option<ServerWindow>,
) -> Option<TelemetryFinding> {
    let counted = |server: Option<ServerWindow>| Some(server?.generation_tokens?.figure);
    let (engines, front_end) = (counted(engines)?.high, counted(front_end)?.low);
    (engines < front_end * ALL).then(|| TelemetryFinding::EnginesMissing {
        engines: engines.round() as u64,
        front_end: front_end.round() as u64,
    })
}

fn is_engine(history: &History) -> bool {
    Exporter::of_history(history).is_some_and(Exporter::is_engine)
}

/// Each of `histories` over `window`; of a front end nothing where engines speak, or its requests would be there twice.
pub(super) fn timelines<'a>(
    histories: impl Iterator<Item = &'a History> + Clone,
    window: Window,
) -> Vec<ServerTimeline> {
    let has_engine =
        histories.clone().any(|history| is_engine(history) && !Exporter::is_front_end(history));
    let of = |history| match has_engine && Exporter::is_front_end(history) {
        true => ServerTimeline::default(),
        false => ServerTimeline::of(history, window),
    };
    histories.map(of).collect()
}
