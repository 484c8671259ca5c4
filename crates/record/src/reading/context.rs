//! What is known of a stored level beside its tapes: what was asked, and what the client saw of itself.

use fizeau_core::{LevelLoad, LoadKind, WarmUp};
use fizeau_metrics::{ClientWatch, Precision, Thresholds, Verdict, VerdictConcern, VerdictReason};

use super::LevelAhead;
use crate::{
    ImportedLevel, LevelStatus, LevelTelemetry, NoReference, RequestedLoad, RunDocument, RunSetup,
    ShardsReport, StoredError, StoredLevel, StoredRun, SummaryDocument, TruncatedTail, shard_alone,
};

/// How runs begin to say that nobody gave a model and a device: ours, and those of earlier programs, which went on with flags.
const NOT_GIVEN: [&str; 2] = [NoReference::NotGiven.as_str(), "give the model and the device: "];

/// What is known of a level beside its tapes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoredLevelContext {
    /// What was run, and on what; in an A/B run the turns of B have an endpoint of their own.
    pub setup: RunSetup,
    /// Its load, as it was measured or else asked for.
    pub load: LevelLoad,
    /// What was asked for of the load.
    pub requested: RequestedLoad,
    /// The cap on requests in flight; none if it had none.
    pub cap: Option<u32>,
    pub(super) thresholds: Thresholds,
    pub(super) watch: ClientWatch,
    pub(super) held_back: u64,
    pub(super) abandoned: u64,
    pub(super) unsent: u64,
    /// What was sent before it; absent where the run does not say.
    pub(super) warm_up: Option<WarmUp>,
    /// How far it came.
    pub status: LevelStatus,
    /// Notes of the verdict, some of which only the run itself could know.
    pub(super) notes: Vec<String>,
    /// Why there was no speed of light.
    pub(super) no_bound: Option<String>,
    /// How well figures were to be known; none if the plan alone ended it.
    pub(super) until: Option<UntilAsked>,
    /// That another tool measured, whose client left no proof of itself; that it is the part of one shard; or that a merge did not keep
    /// what it found.
    pub(super) unproven: Vec<VerdictReason>,
    /// The clients that measured it together.
    pub(super) shards: Option<ShardsReport>,
    /// What its servers, their devices and the client's host said meanwhile.
    pub(super) telemetry: Option<Box<LevelTelemetry>>,
}

/// How well figures were to be known.
#[derive(Debug, Clone)]
pub(super) struct UntilAsked {
    pub(super) requested: Precision,
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
        let summary = level.summary()?;
        let summary = summary.as_ref();
        let told = Told::of(document, level, summary)?;
        let requested = told.requested(document, &ahead);
        let was_reached = summary.and_then(|of| of.until.as_ref()).is_some_and(|of| of.reached);
        let until = until(document, &ahead, summary).map(|text| text.parse()).transpose();
        let until = until.map_err(|error| run.wrong("until", error))?;
        let requests = summary.map(|summary| &summary.summary.requests);
        let telemetry = summary.and_then(|summary| summary.telemetry.as_ref());
        let lines = telemetry.map_or(Ok(Vec::new()), |_| level.telemetry())?;
        let passes = telemetry.map_or(Ok(Vec::new()), |_| level.forward_passes())?;
        let cut = telemetry.map_or_else(Vec::new, |said| said.cut(lines.len(), passes.len()));
        Ok(Self {
            setup: match level.name().starts_with("b-") {
                true => document.of_side_b().setup,
                false => document.setup.clone(),
            },
            load: told.load(&requested, &ahead),
            requested,
            cap: ahead.cap.map(|cap| match summary.map(|summary| summary.load) {
                Some(LevelLoad::Concurrency(slots)) => slots.get(),
                _ => cap,
            }),
            thresholds: run.thresholds()?,
            watch: watch(document, summary),
            held_back: told.held_back(),
            abandoned: requests.map_or(0, |requests| requests.abandoned),
            unsent: requests.map_or(0, |requests| requests.unsent),
            warm_up: summary.and_then(|summary| summary.warm_up),
            status: told.status(),
            notes: told.notes().into_iter().chain(cut).chain(run.goals()?.set_aside).collect(),
            // Older runs have other words for it, and whoever reads them has his own.
            no_bound: summary.and_then(|summary| {
                let own = summary.speed_of_light_reason.clone();
                own.filter(|reason| !NOT_GIVEN.iter().any(|words| reason.starts_with(words)))
            }),
            until: until.map(|requested| UntilAsked { requested, was_reached }),
            unproven: unproven(document)
                .into_iter()
                .chain(document.part().and_then(shard_alone))
                .chain(unkept_doubts(document, summary))
                .collect(),
            shards: summary.and_then(|summary| summary.shards.as_deref().cloned()),
            telemetry: telemetry
                .map(|said| LevelTelemetry::clone(said).with_lines(&lines).with_passes(passes))
                .map(Box::new),
        })
    }

    /// Says that the file of its tapes was cut: a level of which some is missing is not finished, whatever its summary says.
    pub(super) fn note_cut(&mut self, cut: &TruncatedTail) {
        let cut = format!("tapes.jsonl is {cut}");
        self.status = LevelStatus::Partial {
            reason: match &self.status {
                LevelStatus::Finished => cut,
                LevelStatus::Partial { reason } => format!("{reason}; {cut}"),
            },
        };
    }
}

/// Who tells of a level beside its tapes.
enum Told<'a> {
    /// Its summary.
    Summary(&'a SummaryDocument),
    /// The file of another tool.
    Imported(Box<ImportedLevel>),
    /// Nobody, since it did not end: what is known was asked for.
    Nobody,
}

impl<'a> Told<'a> {
    fn of(
        run: &RunDocument,
        level: &StoredLevel,
        summary: Option<&'a SummaryDocument>,
    ) -> Result<Self, StoredError> {
        let imported = match (summary, run.imported_tool()) {
            (Some(summary), _) => return Ok(Self::Summary(summary)),
            (None, Some(_)) => ImportedLevel::read(level.path())?,
            (None, None) => None,
        };
        Ok(imported.map_or(Self::Nobody, |imported| Self::Imported(Box::new(imported))))
    }

    fn requested(&self, run: &RunDocument, ahead: &LevelAhead) -> RequestedLoad {
        match self {
            Self::Summary(summary) => summary.requested,
            Self::Imported(imported) => imported.requested_load(),
            Self::Nobody => asked_of_level(run, ahead),
        }
    }

    fn load(&self, requested: &RequestedLoad, ahead: &LevelAhead) -> LevelLoad {
        match self {
            Self::Summary(summary) => summary.load,
            Self::Imported(imported) => imported.level_load(),
            Self::Nobody => load(requested, ahead),
        }
    }

    fn held_back(&self) -> u64 {
        match self {
            Self::Summary(summary) => summary.summary.requests.held_back,
            Self::Imported(imported) => imported.counts.held_back.unwrap_or_default(),
            Self::Nobody => 0,
        }
    }

    fn status(&self) -> LevelStatus {
        match self {
            Self::Summary(summary) => summary.status(),
            Self::Imported(_) => LevelStatus::Finished,
            Self::Nobody => LevelStatus::Partial {
                reason: "there is no summary.json, since the level did not end".to_owned(),
            },
        }
    }

    fn notes(&self) -> Vec<String> {
        match self {
            Self::Summary(summary) => summary.validity.notes.clone(),
            Self::Imported(imported) => imported.notes(),
            Self::Nobody => Vec::new(),
        }
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

fn unproven(run: &RunDocument) -> Option<VerdictReason> {
    let tool = run.imported_tool()?;
    let text = format!(
        "{tool} measured this run, and it does not say how late or how busy its client was"
    );
    Some(VerdictReason::new(Verdict::Suspect, VerdictConcern::Client, text))
}

/// What a merge found that did not keep it beside its shards: as its verdict has it, or else that nobody can tell.
pub(crate) fn unkept_doubts(
    run: &RunDocument,
    summary: Option<&SummaryDocument>,
) -> Vec<VerdictReason> {
    let shards = summary.and_then(|summary| summary.shards.as_deref());
    if run.merged.is_empty() || shards.is_some_and(|shards| shards.doubts.is_some()) {
        return Vec::new();
    }
    let reasons = summary.iter().flat_map(|summary| &summary.validity.reasons);
    let found: Vec<VerdictReason> =
        reasons.filter(|reason| reason.about == VerdictConcern::Shards).cloned().collect();
    if !found.is_empty() {
        return found;
    }
    let text = "whether the merged shards were one load cannot be judged, since their merge did not \
                keep what it found; merge the folders of the shards again";
    vec![VerdictReason::new(Verdict::Suspect, VerdictConcern::Shards, text.to_owned())]
}

/// What the run asked for; of a level that is an open loop by itself, its own arrivals.
fn asked_of_level(run: &RunDocument, ahead: &LevelAhead) -> RequestedLoad {
    let requested = run.setup.workload.requested;
    let own = run.levels.get(ahead.index).and_then(|level| level.arrivals);
    RequestedLoad { arrivals: own.or(requested.arrivals), ..requested }
}

/// As it was asked for.
fn load(requested: &RequestedLoad, ahead: &LevelAhead) -> LevelLoad {
    let requests = || u32::try_from(ahead.requests).unwrap_or(u32::MAX);
    match requested.arrivals.and_then(|arrivals| arrivals.rate) {
        Some(rate) => LevelLoad::Rate(rate),
        None => LoadKind::Concurrency.at(ahead.cap.unwrap_or_else(requests).into()),
    }
}

/// What the summary says was to be known, else the plan.
fn until(
    run: &RunDocument,
    ahead: &LevelAhead,
    summary: Option<&SummaryDocument>,
) -> Option<String> {
    let goals = summary.and_then(|summary| summary.until.as_ref()).map_or(&[][..], |of| &of.goals);
    let goals: Vec<&str> = goals.iter().map(|goal| goal.goal.as_str()).collect();
    match goals.is_empty() {
        false => Some(goals.join(", ")),
        true => run.levels.get(ahead.index)?.until.clone(),
    }
}

/// What the client's machine saw; where no summary says, as many threads as the run was to have.
fn watch(run: &RunDocument, summary: Option<&SummaryDocument>) -> ClientWatch {
    let planned = || u32::try_from(run.client.as_ref()?.threads).ok();
    match summary.and_then(|summary| summary.client.proof()) {
        Some(proof) => proof.watch,
        None => ClientWatch { threads: planned().unwrap_or(1), ..ClientWatch::default() },
    }
}
