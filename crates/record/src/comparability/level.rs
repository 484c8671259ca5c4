//! One level of a run that is compared.

use fizeau_core::LevelLoad;
use fizeau_metrics::{
    ComparedRequests, GoodputGoals, LoadPacing, ReplyOutput, RoundFigures, Slo, Verdict,
};

use crate::goal::keeps;
use crate::reading::{LevelAhead, unkept_doubts};
use crate::{
    DocumentFields, FrontierPoint, LevelStatus, RunDocument, StoredError, StoredLevel,
    SummaryDocument,
};

/// A level, and what its summary says of it.
#[derive(Debug, Clone)]
pub(super) struct Level {
    stored: StoredLevel,
    /// In words: `concurrency 8`, `10 requests/s`.
    pub(super) load: String,
    /// Its place among the levels of `run.json`.
    pub(super) index: usize,
    /// What set its pace: in a sweep each level has its own.
    pub(super) pace: LoadPacing,
    /// That it is a part of what was asked, or suspect.
    pub(super) notes: Vec<String>,
    /// Why it is not a measurement, if it is not.
    pub(super) invalid: Option<String>,
    /// How many were due and never sent, of which there is no tape.
    pub(super) unsent: u64,
    /// Its place in the frontier of its sweep, if it has one.
    pub(super) point: Option<FrontierPoint>,
    /// What a comparison of repeats takes; none of a level that did not come to its end.
    pub(super) repeat: Option<Repeat>,
}

/// One of several runs of a load.
#[derive(Debug, Clone)]
pub(super) struct Repeat {
    pub(super) figures: RoundFigures,
    pub(super) output: ReplyOutput,
    /// How many of its requests failed, without those that the client cancelled.
    pub(super) failed: u64,
    /// Whether it kept the goals of its run, at their loose ends; none where there are none, or one cannot be judged.
    pub(super) keeps_goals: Option<bool>,
    /// These goals, in words.
    pub(super) goals: Option<String>,
}

impl Repeat {
    /// By the goals of its run; none of a level that is a part of what was asked.
    pub(super) fn of(document: &SummaryDocument, slo: Option<&Slo>) -> Option<Self> {
        let SummaryDocument { summary, .. } = document;
        let output = match summary.tokens.output.get() {
            0 => ReplyOutput::None,
            _ => ReplyOutput::Tokens,
        };
        let is_whole = document.status() == LevelStatus::Finished;
        let keeps_goals = slo.and_then(|slo| keeps(slo, summary));
        let (figures, goals) = (RoundFigures::of(summary), slo.map(Slo::to_string));
        let failed = summary.requests.failures();
        is_whole.then_some(Self { figures, output, failed, keeps_goals, goals })
    }
}

impl Level {
    /// Of a level whose run was killed there is no summary: its load is then what was asked.
    pub(super) fn read(
        stored: &StoredLevel,
        run: &RunDocument,
        slo: Option<&Slo>,
    ) -> Result<Self, StoredError> {
        let summary = stored.summary()?;
        let index = index(stored, run);
        let pace = match LevelAhead::of(run, stored).load {
            Some(LevelLoad::Concurrency(_)) => LoadPacing::ClosedLoop,
            Some(LevelLoad::Rate(_)) => LoadPacing::OpenLoop,
            None => run.pace(),
        };
        let stored = stored.clone();
        let Some(summary) = summary else {
            let load = LevelAhead::of(run, &stored).load;
            let load = load
                .map_or_else(|| "the load of its schedule".to_owned(), |load| format!("{load:#}"));
            let notes = vec!["cut short: there is no summary.json".to_owned()];
            let (invalid, point, repeat) = (None, None, None);
            let unsent = 0;
            return Ok(Self { stored, load, index, pace, notes, invalid, unsent, point, repeat });
        };
        let (load, mut notes) = (load(&summary), notes(&summary));
        let unkept = unkept_doubts(run, Some(&summary)).into_iter();
        let unkept = unkept.filter(|why| !summary.validity.reasons.contains(why));
        notes.extend(unkept.map(|why| format!("{}: {}", why.verdict.as_str(), why.text)));
        let (invalid, point) = (invalid(&summary), FrontierPoint::of_summary(&summary));
        let repeat = Repeat::of(&summary, slo);
        let unsent = summary.summary.requests.unsent;
        Ok(Self { stored, load, index, pace, notes, invalid, unsent, point, repeat })
    }

    /// What was asked of it under `field`, in JSON.
    pub(super) fn requested<'a>(&self, record: &'a DocumentFields, field: &str) -> Option<&'a str> {
        record.get(&format!("levels[{}].{field}", self.index))
    }

    /// Its requests, from the tapes; `side` is for what is said of a file that was cut in mid-line.
    pub(super) fn requests(
        &self,
        goals: &GoodputGoals,
        side: &str,
        notes: &mut Vec<String>,
    ) -> Result<ComparedRequests, StoredError> {
        let mut requests = ComparedRequests::new(self.pace, goals);
        let mut tapes = self.stored.tapes()?;
        for tape in &mut tapes {
            requests.add(&tape?);
        }
        if let Some(cut) = tapes.cut() {
            notes.push(format!("{side}: tapes.jsonl is {cut}"));
        }
        Ok(requests)
    }
}

/// The place of a level in `run.json`, by the name of its folder: of a sweep `concurrency-0008`, of an A/B run `b-03`, whose
/// two turns a round were asked the same.
fn index(stored: &StoredLevel, run: &RunDocument) -> usize {
    let name = stored.name();
    let round = name.strip_prefix("a-").or_else(|| name.strip_prefix("b-"));
    match round.and_then(|round| round.parse::<usize>().ok()) {
        Some(round) => 2 * round.saturating_sub(1),
        None => LevelAhead::of(run, stored).index,
    }
}

/// The load of a summary, in words and in full: levels are matched by it.
pub(super) fn load(summary: &SummaryDocument) -> String {
    format!("{:#}", summary.load)
}

/// That a summary is of a part of what was asked, or not to be believed.
pub(super) fn notes(summary: &SummaryDocument) -> Vec<String> {
    let mut notes = Vec::new();
    if let LevelStatus::Partial { reason } = summary.status() {
        notes.push(format!("only a part of what was requested: {reason}"));
    }
    let reasons = summary.validity.reasons.iter();
    let reasons = reasons.filter(|reason| reason.verdict != Verdict::Valid);
    notes.extend(reasons.map(|reason| format!("{}: {}", reason.verdict.as_str(), reason.text)));
    notes
}

/// Why it is not a measurement, if it is not.
pub(super) fn invalid(summary: &SummaryDocument) -> Option<String> {
    let gone = summary.shards.as_ref().map(|shards| shards.gone_in_level.join(", "));
    if let Some(gone) = gone.filter(|gone| !gone.is_empty()) {
        return Some(format!(
            "shard {gone} was gone in the midst of the level, so that it is of no one load"
        ));
    }
    let validity = &summary.validity;
    let reasons = validity.reasons.iter().map(|reason| reason.text.as_str());
    let reasons =
        || format!("the verdict of the run is invalid: {}", reasons.collect::<Vec<_>>().join("; "));
    (validity.verdict == Verdict::Invalid).then(reasons)
}
