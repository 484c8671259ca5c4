//! Levels of a sweep, measured one by one at whatever load the caller decides, judged and kept.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use fizeau_core::Stamp;
use fizeau_harness::{Cancel, Measure};
use fizeau_record::{
    LengthTally, LevelReport, LevelRole, LevelStatus, ReadLevel, RunFolder, SpeedOfLightCurve,
    SpeedOfLightReference, StoredEnding, StoredError, StoredRun, SweepEnding, level_folder,
};

use crate::evaluate::{EvaluationContext, LevelTallies, TallyObserver, keep_level, released};
use crate::event::{AfterLevel, LevelPosition, LevelStarted, RunEvent, RunNote, Telling, Watcher};
use crate::input::ExperimentError;
use crate::sweep::{LevelSpec, PreparedSweep, SweepRunner, SweptLevel};

/// What of a sweep was measured before it was interrupted, by the names of the levels' folders.
#[derive(Debug, Default)]
pub struct ResumedLevels {
    levels: Option<BTreeMap<String, (LevelReport, LevelTallies)>>,
    cut: Vec<String>,
    /// All folders of levels that have not been come to again so far, finished or not.
    not_met: BTreeSet<String>,
}

impl ResumedLevels {
    /// Those of `run` that are finished and whole, computed again from their tapes, which `watcher` sees too.
    ///
    /// # Errors
    /// If a file of its folder cannot be read or is not understood.
    pub fn read(run: &StoredRun, watcher: &mut impl Watcher) -> Result<Self, StoredError> {
        let reader = run.reader()?;
        let (mut levels, mut all_cut) = (BTreeMap::new(), Vec::new());
        for stored in run.levels() {
            if stored.ending()? != StoredEnding::Finished {
                continue;
            }
            let read = reader.level(stored, |tape| watcher.tape(&tape))?;
            let ReadLevel { name, mut report, lengths, cut, cap, .. } = read;
            report.detail = watcher.detail(&report, cap.and_then(NonZeroU32::new)).map(Box::new);
            if cut.is_some() {
                all_cut.push(name);
            } else if report.status == LevelStatus::Finished {
                levels.insert(name, (report, LevelTallies::of_lengths(lengths)));
            }
        }
        let not_met = run.levels().iter().map(|level| level.name().to_owned()).collect();
        Ok(Self { levels: Some(levels), cut: all_cut, not_met })
    }

    /// The levels that came to their end and whose tapes are cut all the same: they are measured again.
    #[must_use]
    pub fn cut(&self) -> &[String] {
        &self.cut
    }

    /// How many levels are finished.
    #[must_use]
    pub fn len(&self) -> usize {
        self.levels.as_ref().map_or(0, BTreeMap::len)
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn has(&self, name: &str) -> bool {
        self.levels.as_ref().is_some_and(|levels| levels.contains_key(name))
    }

    fn take(&mut self, name: &str) -> Option<(LevelReport, LevelTallies)> {
        self.levels.as_mut()?.remove(name)
    }
}

/// What is known of the next level before it begins.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct NextLevel {
    /// How many levels there are in all; none where that is not known, as in a search.
    pub of: Option<usize>,
    /// What comes after it.
    pub after: AfterLevel,
}

/// Levels of a sweep under way, at whatever load the caller decides. Each is judged, and on disk where there is a folder, before
/// it is given back.
///
/// It is measured with a [`WorkerPool`](fizeau_harness::WorkerPool) in real time or a [`TaskDriver`](fizeau_harness::TaskDriver) in either.
#[derive(Debug)]
pub struct LevelRunner<'a, M, W> {
    sweep: SweepRunner<M>,
    prepared: &'a PreparedSweep,
    folder: Option<&'a RunFolder>,
    watcher: W,
    /// The lengths of all replies so far; none where there is no model.
    lengths: Option<LengthTally>,
    resumed: ResumedLevels,
    cancel: Cancel,
    /// How many levels there are so far, those that were measured before the sweep was resumed among them.
    done: usize,
}

impl<'a, M: Measure, W: Watcher> LevelRunner<'a, M, W> {
    /// Without a level so far; with a `folder`, each level gets one of its own inside it.
    pub fn new(
        prepared: &'a PreparedSweep,
        with: M,
        folder: Option<&'a RunFolder>,
        watcher: W,
    ) -> Self {
        Self {
            cancel: with.cancel().clone(),
            sweep: SweepRunner::new(with, &prepared.spec, folder.cloned()),
            lengths: prepared.basis.light.as_ref().ok().map(SpeedOfLightReference::lengths),
            prepared,
            folder,
            watcher,
            resumed: ResumedLevels::default(),
            done: 0,
        }
    }

    /// The same, going on with what was measured before.
    pub(crate) fn resuming(self, resumed: ResumedLevels) -> Self {
        Self { resumed, ..self }
    }

    /// Measures a level, of which `next` is known; none when the run has been interrupted.
    ///
    /// # Errors
    /// If the workload is impossible, a file cannot be written, or a request cannot be expressed for the endpoint.
    pub async fn level(
        &mut self,
        ask: LevelSpec,
        next: NextLevel,
    ) -> Result<Option<LevelReport>, ExperimentError> {
        self.run(ask, None, next).await
    }

    /// Measures whether the load of the operating point can be kept up, which is not a level of the curve; none when the run has been
    /// interrupted.
    ///
    /// # Errors
    /// As [`LevelRunner::level`].
    pub async fn sustained(
        &mut self,
        ask: LevelSpec,
        next: NextLevel,
    ) -> Result<Option<LevelReport>, ExperimentError> {
        self.run(ask, Some(LevelRole::Sustained), next).await
    }

    /// What is measured.
    #[must_use]
    pub const fn prepared(&self) -> &'a PreparedSweep {
        self.prepared
    }

    /// Whether the level was measured before the sweep was interrupted.
    #[must_use]
    pub fn has(&self, ask: LevelSpec) -> bool {
        self.resumed.has(&level_folder(ask.load, ask.visit, None))
    }

    /// Whether the run has been interrupted.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// How the run ends, if it ends now.
    pub(crate) fn ending(&self) -> SweepEnding {
        match self.is_cancelled() {
            true => SweepEnding::Interrupted,
            false => SweepEnding::Complete,
        }
    }

    /// The present instant, on the clock that stamps what is measured.
    pub(crate) fn now(&self) -> Stamp {
        self.sweep.now()
    }

    /// What the hardware could do with the requests of all levels so far, at the loads of `reports`; none where no model is known.
    #[must_use]
    pub fn curve(&self, reports: &[LevelReport]) -> Option<SpeedOfLightCurve> {
        self.prepared.basis.light.as_ref().ok()?.curve(self.lengths.as_ref()?, reports)
    }

    /// Says something to whoever watches.
    pub fn note(&mut self, note: RunNote) {
        self.watcher.event(RunEvent::Note(note));
    }

    /// Says what was to be done in a level that did not come, once there are no more.
    pub(crate) fn note_end(&mut self) {
        let note = self.prepared.basis.profiled.unreached(self.done);
        note.into_iter().for_each(|note| self.note(note));
    }

    /// Sets aside what was measured before the sweep was resumed and is no level of it now, such as rates that were placed by
    /// another closed loop: whoever reads the folder would count it. Of a run that is interrupted again it may yet become one.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn set_others_aside(&mut self) -> Result<(), ExperimentError> {
        let Some(folder) = self.folder.filter(|_| !self.is_cancelled()) else { return Ok(()) };
        for level in std::mem::take(&mut self.resumed.not_met) {
            folder.set_aside(&level).map_err(ExperimentError::broken)?;
            self.note(RunNote::LevelSetAside { level });
        }
        Ok(())
    }

    async fn run(
        &mut self,
        ask: LevelSpec,
        role: Option<LevelRole>,
        next: NextLevel,
    ) -> Result<Option<LevelReport>, ExperimentError> {
        let name = level_folder(ask.load, ask.visit, role);
        self.resumed.not_met.remove(&name);
        if let Some((report, tallies)) = self.resumed.take(&name) {
            self.keep_lengths(&tallies, role);
            self.done += 1;
            return Ok(Some(report));
        }
        if self.cancel.is_cancelled() {
            return Ok(None);
        }
        if let Some(folder) = self.folder.filter(|_| self.resumed.levels.is_some()) {
            folder.set_aside(&name).map_err(ExperimentError::broken)?;
        }
        self.begins(ask, next);
        self.prepared.basis.caches.empty(0).await?;
        let (profiled, number) = (&self.prepared.basis.profiled, self.done + 1);
        profiled.start(number, &mut self.watcher).await?;
        let mut tallies = self.tallies();
        let mut scrapers = self.prepared.basis.scrapers()?;
        let tally = (TallyObserver(&mut tallies), &mut scrapers);
        let mut observer = (tally, Telling(&mut self.watcher));
        // On the heap: a thread of somebody else's may have a small stack.
        let level = match role {
            None => Box::pin(self.sweep.level(ask, &mut observer)).await,
            Some(LevelRole::Sustained) => Box::pin(self.sweep.sustained(ask, &mut observer)).await,
        };
        profiled.stop(number, &mut self.watcher).await;
        let Some(level) = level.map_err(ExperimentError::told)? else { return Ok(None) };
        tallies.telemetry = scrapers.finish(&level.run);
        self.keep_lengths(&tallies, role);
        self.ended(&level, &tallies, name).map(Some)
    }

    /// Keeps a level that was measured, and tells of it.
    fn ended(
        &mut self,
        level: &SweptLevel,
        tallies: &LevelTallies,
        name: String,
    ) -> Result<LevelReport, ExperimentError> {
        self.done += 1;
        let mut report = self.report(level, tallies, name)?;
        self.watcher.event(RunEvent::LevelEnded(Box::new(report.clone())));
        report.detail = self.watcher.detail(&report, level.ask.load.concurrency()).map(Box::new);
        Ok(report)
    }

    fn begins(&mut self, LevelSpec { load, size, .. }: LevelSpec, next: NextLevel) {
        let number = self.done + 1;
        let of = next.of.map(|of| of.max(number));
        self.watcher.event(RunEvent::LevelStarted(LevelStarted {
            position: Some(LevelPosition { number, of }),
            time: size.time.filter(|_| self.prepared.is_by_time),
            after: next.after,
            clients: self.prepared.basis.client.count(),
            ..LevelStarted::new(load.to_string(), size.requests_at(load).get())
        }));
    }

    fn tallies(&self) -> LevelTallies {
        let tallies = LevelTallies::new(self.prepared.basis.light.as_ref().ok());
        if self.folder.is_some() { tallies.with_histograms() } else { tallies }
    }

    /// Takes the lengths of a level of the curve to those of all.
    fn keep_lengths(&mut self, tallies: &LevelTallies, role: Option<LevelRole>) {
        if role.is_none() {
            tallies.add_lengths_to(self.lengths.as_mut());
        }
    }

    /// The report of a level, once it is on disk.
    fn report(
        &self,
        level: &SweptLevel,
        tallies: &LevelTallies,
        name: String,
    ) -> Result<LevelReport, ExperimentError> {
        let prepared = self.prepared;
        let repeated = level.plan.repeats().map(|repeats| repeats.to_string());
        let context = EvaluationContext {
            light: prepared.basis.speed_of_light(),
            client: &prepared.basis.client,
            requested: prepared.requested_share(&level.plan, released(&level.run)),
            cap: level.ask.load.concurrency().map(NonZeroU32::get),
            repeated: repeated.as_deref(),
        };
        let mut report = context.report(&level.run, tallies, level.ask.load);
        report.folder = level.folder.is_some().then_some(name);
        if let Some(folder) = &level.folder {
            keep_level(folder, &report, tallies).map_err(ExperimentError::broken)?;
        }
        Ok(report)
    }
}
