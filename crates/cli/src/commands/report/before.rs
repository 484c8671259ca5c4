//! What is known of a stored level beside its tapes: what was asked, and what the client saw of itself.

use fizeau::core::PerSec;
use fizeau::metrics::{
    Ceiling, ClientWatch, Concern, Headroom, OnTimeLimit, Precision, Reason, Room, Thresholds,
    Verdict,
};
use fizeau::record::{
    Asked, Cut, DocumentFields, LevelStatus, LoadPoint, RunDocument, StoredLevel, StoredRun, WarmUp,
};

use super::setup;
use crate::commands::shared::planned::Planned;
use crate::exit::{Fail, Named};

/// What is known of a level beside its tapes.
pub(super) struct Before {
    pub(super) load: LoadPoint,
    pub(super) asked: Asked,
    /// The cap on requests in flight.
    pub(super) cap: Option<u32>,
    pub(super) thresholds: Thresholds,
    pub(super) watch: ClientWatch,
    pub(super) held_back: u64,
    pub(super) abandoned: u64,
    /// What was sent before it; absent where the run does not say.
    pub(super) warm_up: Option<WarmUp>,
    pub(super) status: LevelStatus,
    /// Notes of the verdict, some of which only the run itself could know.
    pub(super) notes: Vec<String>,
    /// Why there was no speed of light.
    pub(super) no_bound: Option<String>,
    /// How well figures were to be known; none if the plan alone ended it.
    pub(super) until: Option<Until>,
    /// That another tool measured, whose client left no proof of itself.
    pub(super) unproven: Option<Reason>,
}

/// How well figures were to be known.
pub(super) struct Until {
    pub(super) asked: Precision,
    /// Whether they were, when the run looked.
    pub(super) was_reached: bool,
}

impl Before {
    pub(super) fn read(run: &StoredRun, level: &StoredLevel) -> Result<Self, Fail> {
        let (document, planned) = (run.document(), Planned::of(run.document(), level));
        let stored = level.summary().map_err(Fail::usage)?;
        let is_there = stored.is_some();
        let summary = stored.unwrap_or_default();
        let asked = match is_there {
            true => setup::asked(&summary),
            false => asked_of_level(document, &planned),
        };
        let thresholds = document.client.as_ref().map(|client| client.thresholds.join(","));
        let count = |path: &str| summary.whole(path).unwrap_or(0);
        Ok(Self {
            load: load(&summary, &asked, &planned),
            asked,
            cap: planned.cap.map(|cap| summary_cap(&summary).unwrap_or(cap)),
            thresholds: thresholds
                .unwrap_or_default()
                .parse()
                .named("run.json: client.thresholds")?,
            watch: ClientWatch { threads: threads(&summary, document), ..watch(&summary) },
            held_back: count("requests.held_back"),
            abandoned: count("requests.abandoned"),
            warm_up: warm_up(&summary),
            status: status(&summary),
            notes: summary.texts("validity.notes"),
            no_bound: summary.text("speed_of_light_reason"),
            until: until(document, &planned, &summary)?,
            unproven: unproven(document),
        })
    }

    /// Says that the file of its tapes was cut: a level of which some is missing is not finished, whatever its summary says.
    pub(super) fn note_cut(&mut self, cut: Cut) {
        let Cut { whole, rest_bytes } = cut;
        let cut = format!(
            "tapes.jsonl is cut in mid-line: {whole} whole tapes are used, {rest_bytes} bytes are left over"
        );
        self.status = LevelStatus::Partial {
            reason: match &self.status {
                LevelStatus::Finished => cut,
                LevelStatus::Partial { reason } => format!("{reason}; {cut}"),
            },
        };
    }
}

fn unproven(run: &RunDocument) -> Option<Reason> {
    let tool = run.imported_tool()?;
    Some(Reason {
        verdict: Verdict::Suspect,
        about: Concern::Client,
        text: format!("{tool} measured: how late its client sent and how busy it was is not known"),
    })
}

/// What the run asked for; of a level that is an open loop by itself, its own arrivals.
fn asked_of_level(run: &RunDocument, planned: &Planned) -> Asked {
    let asked = run.setup.workload.asked;
    let own = run.levels.get(planned.index).and_then(|level| level.arrivals);
    Asked { arrivals: own.or(asked.arrivals), ..asked }
}

fn summary_cap(summary: &DocumentFields) -> Option<u32> {
    summary.whole("load.concurrency").and_then(|slots| u32::try_from(slots).ok())
}

/// As the summary has it, else as it was asked for.
fn load(summary: &DocumentFields, asked: &Asked, planned: &Planned) -> LoadPoint {
    if let Some(slots) = summary_cap(summary) {
        return LoadPoint::Concurrency(slots);
    }
    let rate = summary.number("load.requests_per_s").map(PerSec::new);
    let requests = || u32::try_from(planned.requests).unwrap_or(u32::MAX);
    match rate.or_else(|| asked.arrivals?.rate) {
        Some(rate) => LoadPoint::Rate(rate),
        None => LoadPoint::Concurrency(planned.cap.unwrap_or_else(requests)),
    }
}

fn warm_up(summary: &DocumentFields) -> Option<WarmUp> {
    let count = |name: &str| summary.whole(&format!("warm_up.{name}"));
    Some(WarmUp { sent: count("sent")?, failed: count("failed")? })
}

fn status(summary: &DocumentFields) -> LevelStatus {
    let partial = |reason: &str| LevelStatus::Partial { reason: reason.to_owned() };
    match summary.text("status").as_deref() {
        Some("finished") => LevelStatus::Finished,
        Some(_) => {
            let reason = summary.text("status_reason");
            partial(reason.as_deref().unwrap_or("it is not said why"))
        }
        None => partial("no summary.json: it did not end"),
    }
}

/// What the summary says was to be known, else the plan.
fn until(
    run: &RunDocument,
    planned: &Planned,
    summary: &DocumentFields,
) -> Result<Option<Until>, Fail> {
    let goals: Vec<String> =
        (0..).map_while(|n| summary.text(&format!("until.goals[{n}].goal"))).collect();
    let asked = match goals.is_empty() {
        false => Some(goals.join(", ")),
        true => run.levels.get(planned.index).and_then(|level| level.until.clone()),
    };
    let Some(asked) = asked else { return Ok(None) };
    let was_reached = summary.get("until.reached") == Some("true");
    Ok(Some(Until { asked: asked.parse().named("until")?, was_reached }))
}

/// Where there is no summary, as many as the run was to have.
fn threads(summary: &DocumentFields, run: &RunDocument) -> u32 {
    let seen = summary.whole("client.threads").and_then(|n| u32::try_from(n).ok());
    let planned = || u32::try_from(run.client.as_ref()?.threads).ok();
    seen.or_else(planned).unwrap_or(1)
}

fn watch(summary: &DocumentFields) -> ClientWatch {
    let whole = |path: &str| summary.whole(&format!("client.{path}"));
    let number = |path: &str| summary.number(&format!("client.{path}"));
    let room = |path: &str| {
        Some(Room {
            needed: whole(&format!("headroom.{path}.needed"))?,
            limit: whole(&format!("headroom.{path}.limit"))?,
        })
    };
    let headroom = Headroom { file_descriptors: room("file_descriptors"), ports: room("ports") };
    let rate = |path: &str| number(path).map(PerSec::new);
    let on_time = || {
        let tokens_per_s = rate("ceiling.on_time.tokens_per_s")?;
        Some(OnTimeLimit { streams: whole("ceiling.on_time.streams")?, tokens_per_s })
    };
    let ceiling = || {
        let tokens_per_s = rate("ceiling.tokens_per_s")?;
        let on_time = on_time();
        Some(Ceiling { streams: whole("ceiling.streams")?, tokens_per_s, on_time })
    };
    ClientWatch {
        cpu_share: number("cpu_share"),
        run_delay_share: number("run_delay_share"),
        headroom: (headroom != Headroom::default()).then_some(headroom),
        ceiling: ceiling(),
        ..ClientWatch::default()
    }
}
