//! One level by itself: measured, judged and kept.

mod probe;
mod settings;

use std::num::NonZeroU32;

use fizeau_core::{LevelLoad, Nanos};
use fizeau_harness::{DriveLimits, LevelRun, Measure, PlannedLevel, Probe, StartGate};
use fizeau_metrics::Precision;
use fizeau_record::{
    Checklist, LevelPlan, LevelReport, RunFolder, SpeedOfLightReference, SweepReport, shard_alone,
};
use fizeau_workload::{Pacing, Plan, Shard};

pub use probe::ProbeSpec;
pub use settings::LevelSettings;
pub(crate) use settings::{check_load, level_load, warmups_of};

use crate::basis::RunBasis;
use crate::evaluate::{EvaluationContext, LevelTallies, TallyObserver, keep_level, released};
use crate::event::{AfterLevel, LevelStarted, RunEvent, Telling, Watcher};
use crate::input::{ExperimentError, InputError};
use crate::measured_level::MeasuredLevel;
use crate::shards::{FirstRelease, ShardGroup, WallGate, of_part};
use crate::telemetry::LevelScrapers;
use crate::workload::ContextLimit;

/// One level, decided. Nothing has been sent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PreparedLevel {
    /// What every kind of run has.
    pub basis: RunBasis,
    /// What was asked for.
    pub settings: LevelSettings,
    /// The stream of probes beside it.
    pub probe: Option<Plan>,
    /// The load.
    pub load: DriveLimits,
    /// Its load, as reports have it.
    pub level_load: LevelLoad,
}

/// What the level of a run of one level is called: its files are the run's own.
pub(crate) const OF_RUN: &str = ".";

/// How many of all requests in flight fall to `shard`; none where there are fewer than shards.
pub(crate) fn cap_of(shard: Shard, cap: NonZeroU32) -> u32 {
    u32::try_from(shard.share_of(cap.get().into())).unwrap_or(u32::MAX)
}

/// By how many slots of all shards together the sessions of a level of this `pacing` are dealt; none where they are dealt to shards one by
/// one, or `shard` is all there is.
pub(crate) fn slots_of_all(shard: Shard, cap: Option<NonZeroU32>, pacing: Pacing) -> Option<u32> {
    cap.map(NonZeroU32::get).filter(|_| shard != Shard::WHOLE && pacing.waits_for_slots())
}

impl PreparedLevel {
    /// Refuses requests and probes that are longer than `limit`.
    ///
    /// # Errors
    /// The first of them.
    pub fn check(&self, limit: &ContextLimit) -> Result<(), InputError> {
        self.basis.work.check(limit)?;
        self.probe.as_ref().map_or(Ok(()), |probe| probe::check(probe, limit))
    }

    /// How many requests are sent first that do not count.
    #[must_use]
    pub fn warmups(&self) -> u64 {
        warmups_of(self.basis.work.requests(), self.settings.warmups)
    }

    /// How many requests those of `shards` send that are there, or this client alone; of conversations, where some shard is missing, about.
    #[must_use]
    pub fn sent_by(&self, shards: Option<&ShardGroup>) -> u64 {
        let requests = self.basis.work.requests().get();
        let Some(here) = shards.map(ShardGroup::here) else { return requests };
        let share = |shard: Shard| self.level().share(shard).shard.share_of(requests);
        here.into_iter().map(share).sum()
    }

    /// How many of `sent` requests are expected to leave before the time after which none follows; none where there is no such time, or
    /// no rate tells.
    #[must_use]
    pub fn expected_in_time(&self, sent: u64) -> Option<u64> {
        let (time, work) = (self.settings.time?, &self.basis.work);
        let share = sent as f64 / work.requests().get() as f64;
        let rate = work.mean_rate()?.get() * work.requests_per_arrival() * share;
        Some((rate * time.as_secs_f64()).round() as u64)
    }

    /// What is measured.
    #[must_use]
    pub fn level(&self) -> PlannedLevel<'_> {
        let settings = &self.settings;
        let load = DriveLimits { max_in_flight: settings.max_in_flight, ..self.load };
        let level = PlannedLevel {
            name: OF_RUN,
            warmup: self.warmups(),
            goals: &settings.goals,
            until: settings.until.as_ref(),
            window: settings.window,
            text: settings.text,
            probe: self.probe.as_ref().map(|plan| Probe { plan }),
            ..PlannedLevel::new(self.basis.work.plan(), load)
        };
        level.share(settings.shard)
    }

    /// What it is to be, for the record.
    #[must_use]
    pub fn level_plan(&self) -> LevelPlan {
        LevelPlan {
            load: None,
            visit: None,
            role: None,
            arrivals: None,
            requests: self.basis.work.requests().get(),
            warmup_requests: Some(self.warmups()),
            max_in_flight: self.settings.max_in_flight.map(|cap| cap_of(self.settings.shard, cap)),
            slots_of_all: slots_of_all(
                self.settings.shard,
                self.settings.max_in_flight,
                self.basis.work.plan().pacing(),
            ),
            release_for_ms: self.settings.time.map(Nanos::to_millis),
            seed: None,
            window: Some(self.settings.window.into()),
            until: self.settings.until.as_ref().map(Precision::to_string),
        }
    }

    /// Runs the level, judges it, and keeps what its folder holds; each tape is there as its request ends.
    ///
    /// # Errors
    /// If a file cannot be written (the last of them: with what was measured), or a request cannot be expressed for the endpoint.
    pub async fn run(
        &self,
        mut with: impl Measure,
        folder: Option<&RunFolder>,
        watcher: &mut impl Watcher,
    ) -> Result<MeasuredLevel, ExperimentError> {
        // Sessions are shared out, and some have more turns than others.
        let share = self.basis.work.requests().get().div_ceil(self.settings.shard.count().get());
        watcher.event(RunEvent::LevelStarted(LevelStarted {
            time: self.settings.time,
            after: AfterLevel::Takes(Nanos::ZERO),
            clients: self.basis.client.count(),
            ..LevelStarted::new("bench".to_owned(), share)
        }));
        let mut sink = folder.map(RunFolder::tapes).transpose().map_err(ExperimentError::broken)?;
        let mut tallies = LevelTallies::new(self.basis.light.as_ref().ok());
        if folder.is_some() {
            tallies = tallies.with_histograms();
        }
        self.basis.caches.empty(0).await?;
        self.basis.profiled.start(1, watcher).await?;
        // Of one of several shards that nobody leads: the server counts the requests of all.
        let is_part = self.settings.shard.count().get() > 1 && self.basis.client.shards.is_none();
        let mut scrapers = match is_part {
            true => LevelScrapers::default(),
            false => self.basis.scrapers()?,
        };
        let mut first = FirstRelease::default();
        let tally = ((TallyObserver(&mut tallies), &mut scrapers), &mut first);
        let mut observer = (tally, Telling(&mut *watcher));
        let gate = self.settings.start_at.map(WallGate::new);
        let start = gate.as_ref().map(|gate| gate as &dyn StartGate);
        let level = PlannedLevel { start, ..self.level() };
        let run = with.measure(level, &mut sink, &mut observer).await;
        self.basis.profiled.stop(1, watcher).await;
        if let Some(error) = gate.as_ref().and_then(WallGate::error) {
            return Err(error.into());
        }
        let run = run.map_err(ExperimentError::told)?;
        tallies.telemetry = scrapers.finish(&run);
        let mut report = self.report(&run, &tallies);
        let record = gate
            .as_ref()
            .filter(|_| is_part)
            .and_then(|gate| gate.record(first.0, of_part(self.settings.shard, &run, &report)));
        let kept = folder.map_or(Ok(()), |folder| {
            keep_level(folder, &report, &tallies)?;
            record.map_or(Ok(()), |record| folder.write_shard(&record).map(drop))
        });
        watcher.event(RunEvent::LevelEnded(Box::new(report.clone())));
        report.detail = watcher.detail(&report, self.load.max_in_flight).map(Box::new);
        let measured = MeasuredLevel { sweep: self.as_sweep(&tallies, report.clone()), report };
        match kept {
            Ok(()) => Ok(measured),
            Err(error) => {
                let (measured, why) = (Box::new(measured), error.into());
                Err(ExperimentError::NotKept { measured, why })
            }
        }
    }

    /// What was measured, as a sweep of a single level has it, whose `report` is this.
    fn as_sweep(&self, tallies: &LevelTallies, mut report: LevelReport) -> SweepReport {
        let light = self.basis.light.as_ref().ok();
        report.checklist = None;
        let levels = vec![report];
        let curve = light.and_then(|light| {
            let mut all = light.lengths();
            tallies.add_lengths_to(Some(&mut all));
            light.curve(&all, &levels)
        });
        let price = self.settings.price.clone();
        let price = price.or_else(|| light.and_then(SpeedOfLightReference::published_price));
        let slo = self.settings.slo.clone();
        SweepReport::new(self.basis.setup.clone(), levels, slo).with_curve(curve).with_price(price)
    }

    /// Notes on it.
    fn report(&self, run: &LevelRun, tallies: &LevelTallies) -> LevelReport {
        let repeated = self.basis.work.repeated();
        let asked = self.basis.work.requested_share(self.settings.shard.count(), released(run));
        let context = EvaluationContext {
            light: self.basis.speed_of_light(),
            client: &self.basis.client,
            requested: asked,
            cap: self.settings.max_in_flight.map(NonZeroU32::get),
            repeated: repeated.as_deref(),
        };
        let mut report = context.report(run, tallies, self.level_load);
        shard_alone(self.settings.shard).into_iter().for_each(|reason| report.validity.add(reason));
        report.checklist = Some(Checklist::of(&self.basis.setup, std::slice::from_ref(&report)));
        report
    }
}
