//! One level by itself: measured, judged and kept.

use std::num::NonZeroU64;

use fizeau_core::Nanos;
use fizeau_harness::{LevelRun, Measure, PlannedLevel};
use fizeau_record::{Checklist, LevelReport, LoadPoint, RunFolder, Setup};

use crate::client::Client;
use crate::evaluate::{EvaluationContext, LevelTallies, TallyObserver, released};
use crate::event::{AfterLevel, Event, LevelStarted, Telling, Watcher};
use crate::input::ExperimentError;
use crate::reference::SpeedOfLightReference;
use crate::workload::PreparedWorkload;

/// One level, decided. Nothing has been sent.
#[derive(Debug, Clone, Copy)]
pub struct PreparedLevel<'a> {
    /// What is measured.
    pub level: PlannedLevel<'a>,
    /// How hard it presses, as reports have it.
    pub load: LoadPoint,
    /// How many requests are about ours: sessions are shared out, and some have more turns than others.
    pub share: u64,
    /// What is run, and on what.
    pub setup: &'a Setup,
    /// What the speed of light is computed from, or why there is none.
    pub light: Result<&'a SpeedOfLightReference, &'a str>,
    /// What is known of the client.
    pub client: &'a Client,
    /// What it asks.
    pub work: &'a PreparedWorkload,
    /// Every how many-th session is ours.
    pub one_in: NonZeroU64,
}

/// A level, measured.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MeasuredLevel {
    /// What came of it.
    pub run: LevelRun,
    /// What its report and files need of its tapes besides.
    pub tallies: LevelTallies,
}

impl PreparedLevel<'_> {
    /// Runs the level; each tape is in `folder` as its request ends.
    ///
    /// # Errors
    /// If a file cannot be written, or a request cannot be expressed for the endpoint.
    pub async fn measure(
        &self,
        mut with: impl Measure,
        folder: Option<&RunFolder>,
        watcher: &mut impl Watcher,
    ) -> Result<MeasuredLevel, ExperimentError> {
        watcher.event(Event::LevelStarted(LevelStarted {
            after: AfterLevel::Takes(Nanos::ZERO),
            ..LevelStarted::new("bench".to_owned(), self.share)
        }));
        let mut sink = folder.map(RunFolder::tapes).transpose().map_err(ExperimentError::broken)?;
        let mut tallies = LevelTallies::new(self.light.ok());
        if folder.is_some() {
            tallies = tallies.with_histograms();
        }
        let mut observer = (TallyObserver(&mut tallies), Telling(&mut *watcher));
        let run = with.measure(self.level, &mut sink, &mut observer).await;
        let run = run.map_err(ExperimentError::broken)?;
        Ok(MeasuredLevel { run, tallies })
    }

    /// What is to be said of it.
    #[must_use]
    pub fn report(&self, measured: &MeasuredLevel) -> LevelReport {
        let repeated = self.work.repeated();
        let context = EvaluationContext {
            light: self.light,
            client: self.client,
            asked: self.work.asked_of(self.one_in, released(&measured.run)),
            repeated: repeated.as_deref(),
        };
        let mut report = context.report(&measured.run, &measured.tallies, self.load);
        report.checklist = Some(Checklist::of(self.setup, std::slice::from_ref(&report)));
        report
    }
}
