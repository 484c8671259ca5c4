//! A level, computed again.

use fizeau::core::{Stamp, WarmUp};
use fizeau::experiment::{Client, EvaluationContext, LevelTallies, SpeedOfLightReference};
use fizeau::harness::{Driven, Ended, LevelRun};
use fizeau::interop::{
    Detail, DetailTally, PeerSettings, RequestRate, Selection, VllmResult, VllmRun, VllmTally,
};
use fizeau::metrics::{LevelTally, PrecisionOutcome};
use fizeau::record::{Checklist, LevelReport, LevelStatus, Setup, SpeedOfLight, Unseen, Until};
use fizeau::record::{StoredLevel, StoredRun};
use fizeau::report::Shown;

use super::before::Before;
use super::{Asked, Depth, each_tape, physics, setup};
use crate::commands::shared::imported;
use crate::commands::shared::record::NO_PHYSICS;
use crate::exit::Fail;
use crate::terminal::say::printable;

/// A level, computed again.
pub(super) struct Level {
    /// The name of its folder within a sweep; empty for the only level of a run.
    pub(super) name: String,
    pub(super) setup: Setup,
    vllm: VllmResult,
    pub(super) report: LevelReport,
    /// What of its tapes the speed of light is for.
    pub(super) kept: LevelTallies,
}

impl Level {
    /// All of a run.
    pub(super) fn all(run: &StoredRun, asked: &Asked) -> Result<Vec<Self>, Fail> {
        run.levels().iter().map(|stored| Self::of(run, stored, asked)).collect()
    }

    pub(super) fn of(run: &StoredRun, stored: &StoredLevel, asked: &Asked) -> Result<Self, Fail> {
        let (mut setup, mut before) =
            (setup::of_level(run.document(), stored), Before::read(run, stored)?);
        let physics = physics::of(run, stored, &setup, &asked.physics)?;
        physics::describe(physics.as_ref(), &asked.physics, &mut setup);
        let mut tally = LevelTally::new(&asked.goals).with_window(asked.window);
        if before.asked.arrivals.is_none() {
            tally = tally.of_closed_loop();
        }
        let mut kept = LevelTallies::new(physics.as_ref());
        let unseen = imported::unseen(run, stored)?;
        let shown = of_vllm(unseen.as_ref())?;
        let mut vllm = VllmTally::new(&shown, &asked.goals, Detail::Brief);
        let mut details = (asked.depth == Depth::Page).then(DetailTally::default);
        let cut = each_tape(stored, |tape| {
            tally.add(&tape);
            vllm.add(&tape);
            kept.add(&tape);
            if let Some(details) = &mut details {
                details.add(tape);
            }
        })?;
        cut.into_iter().for_each(|cut| before.note_cut(cut));
        tally.settle();
        let mut report = report(&tally, &kept, &before, physics.as_ref(), stored.name());
        let goals = asked.goals.clone();
        let settings = PeerSettings { goals, max_concurrency: before.cap };
        report.detail = details.map(|details| Box::new(details.finish(&settings)));
        if let Some(unseen) = unseen {
            report = report.with_unseen(unseen);
        }
        let vllm = vllm.finish(vllm_run(&setup, &before));
        Ok(Self { name: stored.name().to_owned(), setup, vllm, report, kept })
    }

    /// What the level by itself is held against before it is believed.
    pub(super) fn checklist(&self) -> Checklist {
        Checklist::of(&self.setup, std::slice::from_ref(&self.report))
    }

    /// What `fizeau bench` prints.
    pub(super) fn text(&self) -> String {
        let Setup { endpoint, started, .. } = &self.setup;
        let name = if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) };
        let head = [
            format!("{name}{} at {}{}", endpoint.model, endpoint.base_url, endpoint.path),
            format!("  {}, begun {started}", endpoint.backend),
        ];
        // What a file says may hold what a terminal would obey.
        let head = head.map(|line| printable(&line)).join("\n");
        format!("{head}\n{}\n{}", self.vllm.block(), Shown(&self.report).block())
    }
}

/// The latencies in vLLM's block: its ITL only where gaps were seen.
fn of_vllm(unseen: Option<&Unseen>) -> Result<Selection, Fail> {
    match unseen {
        Some(unseen) if unseen.has_no_gaps() => {
            Selection::parse("ttft,tpot", "99").map_err(Fail::broken)
        }
        _ => Ok(Selection::default()),
    }
}

fn report(
    tally: &LevelTally,
    kept: &LevelTallies,
    before: &Before,
    physics: Option<&SpeedOfLightReference>,
    name: &str,
) -> LevelReport {
    let (mut summary, client) = (tally.summary(), tally.proof(before.watch));
    summary.requests.held_back = before.held_back;
    summary.requests.abandoned = before.abandoned;
    let is_partial = matches!(before.status, LevelStatus::Partial { .. });
    let driven = Driven {
        start: Stamp::EPOCH,
        ended: if is_partial { Ended::Cancelled } else { Ended::Exhausted },
        held_back: before.held_back,
        abandoned: before.abandoned,
    };
    let warmup = WarmUp::default();
    let run = LevelRun { summary, client, driven, warmup, precision: Vec::new() };
    let client = Client::of_record(before.thresholds, before.watch.headroom, before.watch.ceiling);
    let context = EvaluationContext {
        light: physics.ok_or(NO_PHYSICS),
        client: &client,
        asked: before.asked,
        repeated: None,
    };
    let mut report = context.report(&run, kept, before.load);
    report.folder = Some(name.to_owned()).filter(|name| !name.is_empty());
    report.status = before.status.clone();
    if let Some(reason) = &before.unproven {
        report.validity.verdict = report.validity.verdict.max(reason.verdict);
        report.validity.reasons.push(reason.clone());
    }
    report.warm_up = before.warm_up;
    report.until = before.until.as_ref().map(|until| {
        let outcomes = tally.precision(&until.asked);
        // A run ends at the first look that finds enough, whatever came of the requests that were in flight then.
        let is_reached = until.was_reached || outcomes.iter().all(PrecisionOutcome::is_reached);
        Until { is_reached, outcomes }
    });
    // Some notes are not of the tapes: that a data set was used more than once.
    for note in &before.notes {
        if !report.validity.notes.contains(note) {
            report.validity.notes.push(note.clone());
        }
    }
    if let (SpeedOfLight::Absent { reason }, None, Some(known)) =
        (&mut report.speed_of_light, physics, &before.no_bound)
    {
        reason.clone_from(known);
    }
    report
}

/// vLLM's own block of what `tally` saw.
pub(super) fn vllm_block(
    run: &StoredRun,
    stored: &StoredLevel,
    tally: VllmTally,
) -> Result<String, Fail> {
    Ok(tally.finish(vllm_run_of(run, stored)?).block())
}

/// What was asked of a stored level, as vLLM's client would have been asked.
pub(crate) fn vllm_run_of(run: &StoredRun, stored: &StoredLevel) -> Result<VllmRun, Fail> {
    Ok(vllm_run(&setup::of_level(run.document(), stored), &Before::read(run, stored)?))
}

fn vllm_run(setup: &Setup, before: &Before) -> VllmRun {
    let arrivals = before.asked.arrivals;
    let rate = arrivals.and_then(|law| law.rate);
    VllmRun {
        date: setup.started.clone(),
        backend: setup.endpoint.backend.clone(),
        label: None,
        model_id: setup.endpoint.model.clone(),
        tokenizer_id: None,
        metadata: Vec::new(),
        request_rate: rate.map_or(RequestRate::Unlimited, RequestRate::Limited),
        burstiness: arrivals.and_then(|law| law.cv_squared).map_or(1.0, |cv| 1.0 / cv),
        max_concurrency: before.cap,
    }
}
