//! What is known of a stored level beside its tapes: what was asked, and what the client saw of itself.

use fizeau_core::PerSec;
use fizeau_metrics::{
    CacheExpectation, Ceiling, ClientWatch, Concern, Headroom, OnTimeLimit, Precision, Reason,
    Room, Thresholds, Verdict,
};

use super::LevelAhead;
use crate::{
    Asked, AskedArrivals, Cut, DocumentFields, LevelStatus, LoadPoint, RunDocument, Setup,
    StoredError, StoredLevel, StoredRun,
};
use fizeau_core::WarmUp;

/// What is known of a level beside its tapes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoredLevelContext {
    /// What was run, and on what; in an A/B run the turns of B have an endpoint of their own.
    pub setup: Setup,
    /// Its load, as it was measured or else asked for.
    pub load: LoadPoint,
    /// What was asked for of the load.
    pub asked: Asked,
    /// The cap on requests in flight; none if it had none.
    pub cap: Option<u32>,
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
    pub(super) until: Option<UntilAsked>,
    /// That another tool measured, whose client left no proof of itself.
    pub(super) unproven: Option<Reason>,
}

/// How well figures were to be known.
#[derive(Debug, Clone)]
pub(super) struct UntilAsked {
    pub(super) asked: Precision,
    /// Whether they were, when the run looked.
    pub(super) was_reached: bool,
}

impl StoredLevelContext {
    /// Of a level of `run`.
    ///
    /// # Errors
    /// If its `summary.json` cannot be read, or a field of `run.json` is not understood.
    pub fn read(run: &StoredRun, level: &StoredLevel) -> Result<Self, StoredError> {
        let (document, ahead) = (run.document(), LevelAhead::of(run.document(), level));
        let stored = level.summary()?;
        let is_there = stored.is_some();
        let summary = stored.unwrap_or_default();
        let asked = match is_there {
            true => asked(&summary),
            false => asked_of_level(document, &ahead),
        };
        let count = |path: &str| summary.whole(path).unwrap_or(0);
        let was_reached = summary.get("until.reached") == Some("true");
        let until = until(document, &ahead, &summary).map(|text| text.parse()).transpose();
        let until = until.map_err(|error| run.wrong("until", error))?;
        Ok(Self {
            setup: match level.name().starts_with("b-") {
                true => document.of_side_b().setup,
                false => document.setup.clone(),
            },
            load: load(&summary, &asked, &ahead),
            asked,
            cap: ahead.cap.map(|cap| summary_cap(&summary).unwrap_or(cap)),
            thresholds: run.thresholds()?,
            watch: ClientWatch { threads: threads(&summary, document), ..watch(&summary) },
            held_back: count("requests.held_back"),
            abandoned: count("requests.abandoned"),
            warm_up: warm_up(&summary),
            status: status(&summary),
            notes: summary.texts("validity.notes"),
            no_bound: summary.text("speed_of_light_reason"),
            until: until.map(|asked| UntilAsked { asked, was_reached }),
            unproven: unproven(document),
        })
    }

    /// Says that the file of its tapes was cut: a level of which some is missing is not finished, whatever its summary says.
    pub(super) fn note_cut(&mut self, cut: &Cut) {
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

impl StoredRun {
    /// Where the verdict was to begin to doubt.
    pub(crate) fn thresholds(&self) -> Result<Thresholds, StoredError> {
        let given = self.document().client.as_ref().map(|client| client.thresholds.join(","));
        let thresholds = given.unwrap_or_default().parse();
        thresholds.map_err(|error| self.wrong("client.thresholds", error))
    }
}

/// The arrivals and cache hits that were asked for, as a summary has them.
fn asked(record: &DocumentFields) -> Asked {
    let name = |name: &str| format!("asked.{name}");
    let number = |field: &str| record.number(&name(field));
    // An object of unknown numbers is one all the same: the loop was open.
    let is_open = ["rate_per_s", "cv_squared"]
        .iter()
        .any(|field| record.get(&name(&format!("arrivals.{field}"))).is_some());
    Asked {
        arrivals: is_open.then(|| AskedArrivals {
            rate: number("arrivals.rate_per_s").map(PerSec::new),
            cv_squared: number("arrivals.cv_squared"),
        }),
        cache: match (record.text(&name("cache")).as_deref(), number("cached_share")) {
            (Some("share"), Some(share)) => CacheExpectation::Share(share),
            (Some("reuse"), _) => CacheExpectation::Reuse,
            _ => CacheExpectation::None,
        },
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
fn asked_of_level(run: &RunDocument, ahead: &LevelAhead) -> Asked {
    let asked = run.setup.workload.asked;
    let own = run.levels.get(ahead.index).and_then(|level| level.arrivals);
    Asked { arrivals: own.or(asked.arrivals), ..asked }
}

fn summary_cap(summary: &DocumentFields) -> Option<u32> {
    summary.whole("load.concurrency").and_then(|slots| u32::try_from(slots).ok())
}

/// As the summary has it, else as it was asked for.
fn load(summary: &DocumentFields, asked: &Asked, ahead: &LevelAhead) -> LoadPoint {
    if let Some(slots) = summary_cap(summary) {
        return LoadPoint::Concurrency(slots);
    }
    let rate = summary.number("load.requests_per_s").map(PerSec::new);
    let requests = || u32::try_from(ahead.requests).unwrap_or(u32::MAX);
    match rate.or_else(|| asked.arrivals?.rate) {
        Some(rate) => LoadPoint::Rate(rate),
        None => LoadPoint::Concurrency(ahead.cap.unwrap_or_else(requests)),
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
fn until(run: &RunDocument, ahead: &LevelAhead, summary: &DocumentFields) -> Option<String> {
    let goals: Vec<String> =
        (0..).map_while(|n| summary.text(&format!("until.goals[{n}].goal"))).collect();
    match goals.is_empty() {
        false => Some(goals.join(", ")),
        true => run.levels.get(ahead.index)?.until.clone(),
    }
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
