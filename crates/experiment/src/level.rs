//! One level by itself: measured, judged and kept.

mod probe;
mod settings;

use std::num::NonZeroU32;

use fizeau_core::Nanos;
use fizeau_harness::{LevelRun, Load, Measure, PlannedLevel, Probe};
use fizeau_metrics::Precision;
use fizeau_record::{Checklist, LevelPlan, LevelReport, LoadPoint, RunFolder, Setup, SweepReport};
use fizeau_workload::Plan;

pub use probe::ProbeSpec;
pub use settings::LevelSettings;
pub(crate) use settings::{load_point, warmups_of};

use crate::answering::PromptReader;
use crate::client::Client;
use crate::evaluate::{EvaluationContext, LevelTallies, TallyObserver, keep_level, released};
use crate::event::{AfterLevel, Event, LevelStarted, Telling, Watcher};
use crate::input::{ExperimentError, InputError};
use crate::workload::{ContextLimit, PreparedWorkload};
use fizeau_record::SpeedOfLightReference;

/// One level, decided. Nothing has been sent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PreparedLevel {
    /// What was asked for.
    pub settings: LevelSettings,
    /// What is run, and on what.
    pub setup: Setup,
    /// What it asks.
    pub work: PreparedWorkload,
    /// The stream of probes beside it.
    pub probe: Option<Plan>,
    /// How hard to press.
    pub load: Load,
    /// How hard it presses, as reports have it.
    pub load_point: LoadPoint,
    /// What the speed of light is computed from, or why there is none.
    pub light: Result<SpeedOfLightReference, String>,
    /// Who reads the prompts.
    pub reader: PromptReader,
    /// What is known of the client; by default nothing.
    pub client: Client,
    /// The most tokens that the model takes, where that is known before the server is asked.
    pub limit: Option<ContextLimit>,
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

impl PreparedLevel {
    /// Refuses requests and probes that are longer than `limit`.
    ///
    /// # Errors
    /// The first of them.
    pub fn check(&self, limit: &ContextLimit) -> Result<(), InputError> {
        self.work.check(limit)?;
        self.probe.as_ref().map_or(Ok(()), |probe| probe::check(probe, limit))
    }

    /// How many requests are sent first that do not count.
    #[must_use]
    pub fn warmups(&self) -> u64 {
        warmups_of(self.work.requests(), self.settings.warmups)
    }

    /// What is measured.
    #[must_use]
    pub fn level(&self) -> PlannedLevel<'_> {
        let settings = &self.settings;
        PlannedLevel {
            shard: settings.shard,
            warmup: self.warmups(),
            goals: &settings.goals,
            until: settings.until.as_ref(),
            window: settings.window,
            text: settings.text,
            probe: self.probe.as_ref().map(|plan| Probe { plan }),
            ..PlannedLevel::new(self.work.plan(), self.load)
        }
    }

    /// What it is to be, for the record.
    #[must_use]
    pub fn level_plan(&self) -> LevelPlan {
        LevelPlan {
            load: None,
            visit: None,
            role: None,
            arrivals: None,
            requests: self.work.requests().get(),
            warmup_requests: Some(self.warmups()),
            max_in_flight: self.load.max_in_flight.map(NonZeroU32::get),
            release_for_ms: None,
            seed: None,
            window: Some(self.settings.window.into()),
            until: self.settings.until.as_ref().map(Precision::to_string),
        }
    }

    /// What of the workload is not as one might think, each in one line.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.work.repeated().into_iter().chain(self.work.notes()).collect()
    }

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
        // Sessions are shared out, and some have more turns than others.
        let share = self.work.requests().get().div_ceil(self.settings.shard.count().get());
        watcher.event(Event::LevelStarted(LevelStarted {
            after: AfterLevel::Takes(Nanos::ZERO),
            ..LevelStarted::new("bench".to_owned(), share)
        }));
        let mut sink = folder.map(RunFolder::tapes).transpose().map_err(ExperimentError::broken)?;
        let mut tallies = LevelTallies::new(self.light.as_ref().ok());
        if folder.is_some() {
            tallies = tallies.with_histograms();
        }
        let mut observer = (TallyObserver(&mut tallies), Telling(&mut *watcher));
        let run = with.measure(self.level(), &mut sink, &mut observer).await;
        let run = run.map_err(ExperimentError::broken)?;
        Ok(MeasuredLevel { run, tallies })
    }

    /// Runs the level, judges it, and keeps what its folder holds.
    ///
    /// # Errors
    /// As [`measure`](Self::measure).
    pub async fn run(
        &self,
        with: impl Measure,
        folder: Option<&RunFolder>,
        watcher: &mut impl Watcher,
    ) -> Result<LevelReport, ExperimentError> {
        let measured = self.measure(with, folder, watcher).await?;
        let mut report = self.report(&measured);
        let kept = folder.map(|folder| keep_level(folder, &report, &measured.tallies));
        kept.transpose().map_err(ExperimentError::broken)?;
        watcher.event(Event::LevelEnded(Box::new(report.clone())));
        report.detail = watcher.detail(&report).map(Box::new);
        Ok(report)
    }

    /// What was measured, as a sweep of a single level has it, whose `report` is this: for its page.
    #[must_use]
    pub fn as_sweep(&self, measured: &MeasuredLevel, report: LevelReport) -> SweepReport {
        let light = self.light.as_ref().ok();
        let levels = vec![LevelReport { checklist: None, ..report }];
        let curve = light.and_then(|light| {
            let mut all = light.lengths();
            measured.tallies.add_lengths_to(Some(&mut all));
            light.curve(&all, &levels)
        });
        let price = self.settings.price.clone();
        let price = price.or_else(|| light.and_then(SpeedOfLightReference::published_price));
        SweepReport::new(self.setup.clone(), levels, None).with_curve(curve).with_price(price)
    }

    /// What is to be said of it.
    #[must_use]
    pub fn report(&self, measured: &MeasuredLevel) -> LevelReport {
        let repeated = self.work.repeated();
        let context = EvaluationContext {
            light: self.light.as_ref().map_err(String::as_str),
            client: &self.client,
            asked: self.work.asked_of(self.settings.shard.count(), released(&measured.run)),
            repeated: repeated.as_deref(),
        };
        let mut report = context.report(&measured.run, &measured.tallies, self.load_point);
        report.checklist = Some(Checklist::of(&self.setup, std::slice::from_ref(&report)));
        report
    }
}
