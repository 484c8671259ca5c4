//! A sweep, carried out and kept.

use fizeau_harness::Measure;
use fizeau_record::{
    ChangedField, EngineRecord, RunDocument, RunFolder, StoredRun, SweepDocument, SweepReport,
};

use super::{SweepScheduler, most_refined};
use crate::event::{RunEvent, RunNote, Watcher};
use crate::hint::InputHint;
use crate::input::{ExperimentError, InputError, InputField};
use crate::runner::ResumedLevels;
use crate::sweep::{LEVEL_TIME, PreparedSweep};

impl PreparedSweep {
    /// How many levels there are at the most, with the one at the operating point.
    pub(crate) fn most_levels(&self) -> u32 {
        let protocol = &self.settings.protocol;
        let known = u32::try_from(self.spec.levels.len()).unwrap_or(u32::MAX);
        let loads = known.saturating_add(self.settings.loads.to_place());
        let loads = loads.saturating_add(most_refined(protocol));
        let is_sustained = protocol.sustain.is_some() || protocol.budget.is_some();
        loads.saturating_mul(protocol.repeats.get()).saturating_add(is_sustained.into())
    }

    /// Measures all of it with a worker pool or a rig, in either clock, going on with what was measured before. With a `folder`, each level
    /// gets one of its own inside it before the next begins, and `sweep.json` comes at the end. A run that is interrupted gives what it
    /// has.
    ///
    /// # Errors
    /// If the workload is impossible, a file cannot be written, or a request cannot be expressed for the endpoint.
    pub async fn run(
        &self,
        with: impl Measure,
        folder: Option<&RunFolder>,
        watcher: &mut impl Watcher,
    ) -> Result<SweepReport, ExperimentError> {
        let resumed = self.resumed.as_ref().map(|run| ResumedLevels::read(run, watcher));
        let resumed = resumed.transpose()?;
        if let Some(levels) = &resumed {
            // What it says of the sweep holds no longer, and would be believed if this run were killed.
            for name in ["sweep.json", "report.html"] {
                let aside = folder.map(|folder| folder.set_aside(name));
                aside.transpose().map_err(ExperimentError::broken)?;
            }
            for level in levels.cut().iter().cloned() {
                watcher.event(RunEvent::Note(RunNote::CutTapes { level }));
            }
            watcher.event(RunEvent::Resumed { finished: levels.len() });
        }
        self.note_short(watcher);
        let scheduler = SweepScheduler::new(self, with, folder, watcher);
        let report = scheduler.resuming(resumed.unwrap_or_default()).run().await?;
        let kept =
            folder.map(|folder| folder.write_json("sweep.json", &SweepDocument::from(&report)));
        kept.transpose().map_err(ExperimentError::broken)?;
        Ok(report)
    }

    /// Says so where levels are shorter than what shows whether they are steady.
    pub(crate) fn note_short(&self, watcher: &mut impl Watcher) {
        let time = self.spec.size.time.filter(|time| self.is_by_time && *time < LEVEL_TIME);
        if let Some(time) = time {
            watcher.event(RunEvent::Note(RunNote::ShortLevels { time, needs: LEVEL_TIME }));
        }
    }

    /// The same, going on with `run`: it is the sweep that was begun then.
    pub(crate) fn resuming(mut self, run: StoredRun) -> Self {
        let (begun, setup) = (&run.written().setup, &mut self.basis.setup);
        setup.started.clone_from(&begun.started);
        setup.command_line.clone_from(&begun.command_line);
        Self { resumed: Some(run), ..self }
    }

    /// Refuses to resume `run` as another sweep than it was, and names the first field that differs.
    pub(crate) fn check_resumed(run: &StoredRun, now: &RunDocument) -> Result<(), InputError> {
        // The embedded engine listens elsewhere each time.
        let is_embedded = matches!(now.setup.engine, EngineRecord::Simulated { .. });
        let is_elsewhere = |field: &str| is_embedded && field == "setup.endpoint.base_url";
        let mut differing = run.written().differing_when_resumed(now);
        differing.retain(|found| !is_elsewhere(&found.field));
        let Some(first) = first_named(&differing, now.levels.len()) else { return Ok(()) };
        let [begun, asked] = first.values();
        let what = first.label();
        let message = format!(
            "all levels of a sweep must be measured alike: the {what} was {begun} when `{}` began \
             this sweep, and is {asked} now",
            run.written().setup.command_line_words()
        );
        Err(InputError::new(InputField::Resume, message).hint(InputHint::AsBegun))
    }
}

/// The first of the fields that differ, as one of each level where it differs at all `levels` alike.
fn first_named(differing: &[ChangedField], levels: usize) -> Option<ChangedField> {
    let first = differing.first()?.clone();
    let of_level = |field: &str| Some(field.strip_prefix("levels[")?.split_once(']')?.1.to_owned());
    let Some(rest) = of_level(&first.field) else { return Some(first) };
    let alike = differing.iter().filter(|other| {
        of_level(&other.field).as_ref() == Some(&rest) && other.values() == first.values()
    });
    match alike.count() == levels {
        true => Some(ChangedField { field: format!("levels[]{rest}"), ..first }),
        false => Some(first),
    }
}
