//! A level, computed again from its tapes.

use std::mem;

use fizeau_core::Tape;
use fizeau_metrics::{LevelTally, PrecisionOutcome};

use super::{RunReader, StoredLevelContext};
use crate::{
    Checklist, LengthTally, LevelContext, LevelOutcome, LevelReport, NoReference, RunSetup,
    SpeedOfLight, SpeedOfLightReference, StoredError, StoredLevel, TruncatedTail, UntilPrecise,
};

/// A level, computed again.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReadLevel {
    /// The name of its folder within a sweep; empty for the only level of a run.
    pub name: String,
    /// What was run, and on what.
    pub setup: RunSetup,
    /// The cap on its requests in flight; none if it had none.
    pub cap: Option<u32>,
    /// Notes on it.
    pub report: LevelReport,
    /// The lengths of its replies; none where there is no speed of light.
    pub lengths: Option<LengthTally>,
    /// What was left over of its tapes, where their file is cut.
    pub cut: Option<TruncatedTail>,
}

impl ReadLevel {
    /// The checklist of what the level by itself must show before it is believed.
    #[must_use]
    pub fn checklist(&self) -> Checklist {
        Checklist::of(&self.setup, std::slice::from_ref(&self.report))
    }
}

impl RunReader<'_> {
    /// A level, each of whose tapes goes to `each` too, once through. It has no [detail](LevelReport::detail).
    ///
    /// # Errors
    /// If a file of its folder cannot be read or is not understood.
    pub fn level(
        &self,
        stored: &StoredLevel,
        mut each: impl FnMut(Tape),
    ) -> Result<ReadLevel, StoredError> {
        let mut context = StoredLevelContext::read(self.run, stored)?;
        let mut tally = LevelTally::new(&self.goals).with_window(self.window);
        tally = tally.exact_up_to(self.kept);
        if context.requested.arrivals.is_none() {
            tally = tally.of_closed_loop();
        }
        // A failed request may have no end in the file of another tool.
        let unseen = stored.unseen(self.run.document())?;
        if let Some(unseen) = &unseen {
            tally = tally.lasting_at_least(unseen.lasted());
        }
        let mut lengths = self.reference.as_ref().map(SpeedOfLightReference::lengths);
        let mut tapes = stored.tapes()?;
        for tape in tapes.by_ref() {
            let tape = tape?;
            tally.add(&tape);
            lengths.iter_mut().for_each(|lengths| lengths.add(&tape));
            each(tape);
        }
        let cut = tapes.cut();
        cut.iter().for_each(|cut| context.note_cut(cut));
        tally.settle();
        let mut report = self.level_report(&tally, lengths.as_ref(), &context);
        report.folder = Some(stored.name().to_owned()).filter(|name| !name.is_empty());
        if let Some(unseen) = unseen {
            report = report.with_unseen(unseen);
        }
        let StoredLevelContext { mut setup, cap, .. } = context;
        self.describe(&mut setup);
        Ok(ReadLevel { name: stored.name().to_owned(), setup, cap, report, lengths, cut })
    }

    fn level_report(
        &self,
        tally: &LevelTally,
        lengths: Option<&LengthTally>,
        stored: &StoredLevelContext,
    ) -> LevelReport {
        let mut outcome = LevelOutcome::new(tally.summary(), tally.proof(stored.watch));
        outcome.summary.requests.held_back = stored.held_back;
        outcome.summary.requests.abandoned = stored.abandoned;
        outcome.summary.note_unsent(stored.unsent);
        outcome.lengths = lengths;
        outcome.status = stored.status.clone();
        outcome.warm_up = stored.warm_up;
        outcome.until = stored.until.as_ref().map(|until| {
            let outcomes = tally.precision(&until.requested);
            // A run ends at the first look that finds enough, whatever came of the requests that were in flight then.
            let is_reached = until.was_reached || outcomes.iter().all(PrecisionOutcome::is_reached);
            UntilPrecise { is_reached, outcomes }
        });
        outcome.shards.clone_from(&stored.shards);
        outcome.telemetry.clone_from(&stored.telemetry);
        let mut context = LevelContext::new(stored.requested);
        context.thresholds = stored.thresholds;
        context.light = match &self.reference {
            Some(reference) => Ok(reference.reference()),
            None => Err(NoReference::NotGiven),
        };
        let mut report = LevelReport::from_run(stored.load, outcome, &context);
        for reason in &stored.unproven {
            if !report.validity.reasons.contains(reason) {
                report.validity.add(reason.clone());
            }
        }
        // Some notes are not of the tapes: that a data set was used more than once. They stay where they stood among the others.
        let notes = mem::replace(&mut report.validity.notes, stored.notes.clone());
        let further = notes.into_iter().filter(|note| !stored.notes.contains(note));
        report.validity.notes.extend(further);
        if let (SpeedOfLight::NoReference(_), Some(reason)) =
            (&report.speed_of_light, &stored.no_bound)
        {
            report.speed_of_light = SpeedOfLight::Absent { reason: reason.clone() };
        }
        report
    }
}
