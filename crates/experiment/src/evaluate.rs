//! From a measured level to its report and its files.

use fizeau_core::{LevelLoad, Tape};
use fizeau_harness::{DriveEnding, DriveNotice, LevelRun, Observer};
use fizeau_metrics::{ClientWatch, LevelHistograms};
use fizeau_record::{
    FolderError, LengthTally, LevelContext, LevelOutcome, LevelReport, LevelStatus, NoReference,
    RequestedLoad, RunFolder, SpeedOfLightReference, UntilPrecise,
};

use crate::client::MeasuringClient;
use crate::shards::{OfferedLoadShare, ShardGroup};
use crate::telemetry::ScrapedLevel;

/// What a level is compared with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EvaluationContext<'a> {
    /// What the speed of light is computed from, or why there is none.
    pub(crate) light: Result<&'a SpeedOfLightReference, NoReference>,
    /// What is known of the client.
    pub(crate) client: &'a MeasuringClient,
    /// What was asked for of the load.
    pub(crate) requested: RequestedLoad,
    /// How many requests all shards together may have in flight.
    pub(crate) cap: Option<u32>,
    /// That data were sent more than once, in plain words.
    pub(crate) repeated: Option<&'a str>,
}

impl EvaluationContext<'_> {
    /// The report of a level at `load`: judged, and beside its bound where there is one. Of shards that did not come the load and what was
    /// requested are left out.
    #[must_use]
    pub(crate) fn report(
        &self,
        run: &LevelRun,
        tallies: &LevelTallies,
        load: LevelLoad,
    ) -> LevelReport {
        let shards_report = self.client.shards.as_ref().and_then(ShardGroup::report);
        let share = shards_report.as_ref().and_then(|of| OfferedLoadShare::of(of, self.cap));
        let (planned, requested) = (load, self.requested);
        let (load, requested) = match &share {
            None => (planned, requested),
            Some(share) => (share.load(planned), share.requested(requested)),
        };
        let MeasuringClient { thresholds, headroom, ceiling, shards, .. } = self.client;
        let thresholds = *thresholds;
        let mut client = run.client;
        // What several clients sent is held against what all of them can do, and the scarcest of their systems.
        let (headroom, ceiling) = match shards {
            Some(_) => (client.watch.headroom, client.watch.ceiling),
            None => (*headroom, *ceiling),
        };
        client.watch = ClientWatch { headroom, ceiling, ..client.watch };
        let mut outcome = LevelOutcome::new(run.summary.clone(), client);
        outcome.lengths = tallies.lengths.as_ref();
        if run.is_partial() {
            let why = self.client.shards.as_ref().and_then(ShardGroup::error);
            let reason = why.map_or_else(|| "interrupted".to_owned(), |why| why.to_string());
            outcome.status = LevelStatus::Partial { reason };
        }
        outcome.warm_up = Some(run.warmup);
        outcome.until = (!run.precision.is_empty()).then(|| UntilPrecise {
            is_reached: run.is_precise(),
            outcomes: run.precision.clone(),
        });
        outcome.shards = shards_report;
        outcome.telemetry = tallies.telemetry.as_ref().map(|scraped| scraped.telemetry.clone());
        let mut context = LevelContext::new(requested);
        context.light = self.light.map(SpeedOfLightReference::reference);
        context.thresholds = thresholds;
        context.repeated = self.repeated.map(str::to_owned);
        let mut report = LevelReport::from_run(load, outcome, &context);
        let note = || format!("the shards that took part offered {load} of {planned}");
        report.validity.notes.extend(share.map(|_| note()));
        report
    }
}

/// What a level's report and files need of its tapes beyond the summary, added up as they come.
#[derive(Debug, Clone, Default)]
pub(crate) struct LevelTallies {
    histograms: Option<LevelHistograms>,
    lengths: Option<LengthTally>,
    /// What servers said meanwhile.
    pub(crate) telemetry: Option<ScrapedLevel>,
}

impl LevelTallies {
    /// Creates an empty one for the speed of light alone, where there is a model.
    #[must_use]
    pub(crate) fn new(light: Option<&SpeedOfLightReference>) -> Self {
        Self { lengths: light.map(SpeedOfLightReference::lengths), ..Self::default() }
    }

    /// Of the lengths alone, as they were kept.
    pub(crate) const fn of_lengths(lengths: Option<LengthTally>) -> Self {
        Self { histograms: None, lengths, telemetry: None }
    }

    /// The same, with the histograms that a level's folder has.
    #[must_use]
    pub(crate) fn with_histograms(self) -> Self {
        Self { histograms: Some(LevelHistograms::default()), ..self }
    }

    /// Adds a tape.
    pub(crate) fn add(&mut self, tape: &Tape) {
        self.histograms.iter_mut().for_each(|histograms| histograms.add(tape));
        self.lengths.iter_mut().for_each(|lengths| lengths.add(tape));
    }

    /// Adds the lengths of the level's replies to those of all levels.
    pub(crate) fn add_lengths_to(&self, all: Option<&mut LengthTally>) {
        if let (Some(all), Some(own)) = (all, &self.lengths) {
            all.merge(own);
        }
    }
}

/// Takes in what a report needs of the tapes of a level.
pub(crate) struct TallyObserver<'a>(pub(crate) &'a mut LevelTallies);

impl Observer for TallyObserver<'_> {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        if let DriveNotice::RequestEnded(tape) = notice {
            self.0.add(tape);
        }
    }
}

/// Writes what a level's folder holds besides its tapes.
///
/// # Errors
/// If the system refuses.
pub(crate) fn keep_level(
    folder: &RunFolder,
    report: &LevelReport,
    tallies: &LevelTallies,
) -> Result<(), FolderError> {
    if let Some(scraped) = tallies.telemetry.as_ref().filter(|of| !of.pages.is_empty()) {
        folder.write_telemetry(&scraped.pages)?;
        if !scraped.telemetry.pass_sources.is_empty() {
            folder.write_forward_passes(&scraped.telemetry.passes)?;
        }
    }
    let duration = report.summary.throughput.duration.to_nanos().unwrap_or_default();
    if let Some(histograms) = &tallies.histograms {
        folder.write_histograms(histograms, duration)?;
    }
    // Last: it says that the level ended, after which nothing more of it is written.
    folder.write_summary(report).map(drop)
}

/// How many requests of its plan a run came to, where it ended before the plan did.
#[must_use]
pub(crate) fn released(run: &LevelRun) -> Option<u64> {
    let ended_early = run.driven.ended != DriveEnding::Exhausted;
    ended_early.then_some(run.summary.requests.sent)
}
