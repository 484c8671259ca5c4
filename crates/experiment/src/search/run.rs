//! A search, carried out: level by level measured, judged and kept.

use fizeau_harness::Measure;
use fizeau_record::{
    LevelReport, LightCurve, RunFolder, SearchAsked, SearchPurpose, SearchReport, SearchedLevel,
    SweepDocument, SweepReport,
};

use super::{LoadSearch, SearchStep, Trial};
use crate::event::{AfterLevel, Watcher};
use crate::input::ExperimentError;
use crate::runner::{LevelRunner, NextLevel};
use crate::sweep::PreparedSweep;

/// What came of a search.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SearchOutcome {
    /// The load that was found, and how.
    pub report: SearchReport,
    /// Its levels side by side, as a sweep has them.
    pub sweep: SweepReport,
}

impl LoadSearch {
    /// Carries the search out with a crew or a rig, in either clock, at the workload of `prepared`. With a `folder`, each level gets
    /// one of its own inside it before the next begins, and `search.json` and `sweep.json` come at the end.
    ///
    /// # Errors
    /// As [`LevelRunner::level`].
    pub async fn measure(
        self,
        prepared: &PreparedSweep,
        with: impl Measure,
        folder: Option<&RunFolder>,
        watcher: &mut impl Watcher,
    ) -> Result<SearchOutcome, ExperimentError> {
        let outcome = self.run(LevelRunner::new(prepared, with, folder, watcher)).await?;
        if let Some(folder) = folder {
            let written = folder.write_json("search.json", &outcome.report);
            written.map_err(ExperimentError::broken)?;
            let written = folder.write_json("sweep.json", &SweepDocument::from(&outcome.sweep));
            written.map_err(ExperimentError::broken)?;
        }
        Ok(outcome)
    }

    /// Measures all levels of the search with `runner`. A run that is called off gives what it has; of a part of a level nothing is
    /// concluded.
    ///
    /// # Errors
    /// As [`LevelRunner::level`].
    pub async fn run<M: Measure, W: Watcher>(
        mut self,
        mut runner: LevelRunner<'_, M, W>,
    ) -> Result<SearchOutcome, ExperimentError> {
        let mut levels: Vec<LevelReport> = Vec::new();
        loop {
            let level = match self.next() {
                SearchStep::Measure(ask) => {
                    let most = usize::try_from(self.spec().most_levels).unwrap_or(usize::MAX);
                    let next = NextLevel { of: Some(most), after: AfterLevel::Unknown };
                    runner.level(ask, next).await?
                }
                // A long level is no point of the curve: it shows whether the answer can be kept up.
                SearchStep::Confirm(ask) => runner.sustained(ask).await?,
                SearchStep::Done => break,
            };
            let Some(level) = level else { break };
            if runner.is_cancelled() {
                // What it has is on disk.
                break;
            }
            self.observe(&level.summary);
            levels.push(level);
        }
        let (curve, prepared) = (runner.curve(&levels), runner.prepared());
        let sweep = self.sweep(prepared, &levels, curve);
        let report = self.report(prepared, levels, &sweep);
        Ok(SearchOutcome { report, sweep })
    }

    /// The levels side by side, rising, as a sweep has them.
    fn sweep(
        &self,
        prepared: &PreparedSweep,
        levels: &[LevelReport],
        curve: Option<LightCurve>,
    ) -> SweepReport {
        let mut all: Vec<(&Trial, &LevelReport)> = self.trials().iter().zip(levels).collect();
        all.sort_by(|(one, _), (other, _)| one.ask.load.rising(&other.ask.load));
        let is_long = |trial: &Trial| trial.purpose == SearchPurpose::Confirmation;
        let of_curve = all.iter().filter(|(trial, _)| !is_long(trial));
        let of_curve = of_curve.map(|(_, level)| (*level).clone()).collect();
        // Long levels step down: the lowest is the last.
        let last = all.iter().find(|(trial, _)| is_long(trial)).map(|(_, level)| (*level).clone());
        let slo = prepared.settings.slo.clone();
        let report = SweepReport::new(prepared.setup.clone(), of_curve, slo);
        report.with_curve(curve).with_sustained(last).with_price(prepared.price.clone())
    }

    fn report(
        &self,
        prepared: &PreparedSweep,
        levels: Vec<LevelReport>,
        sweep: &SweepReport,
    ) -> SearchReport {
        let spec = self.spec();
        let levels = levels.into_iter().zip(self.trials());
        SearchReport {
            setup: prepared.setup.clone(),
            slo: spec.slo.clone(),
            asked: SearchAsked {
                load: spec.over,
                most_levels: spec.most_levels,
                tolerance: spec.tolerance,
                confidence: spec.confidence,
                from: spec.from,
                to: spec.to,
            },
            found: self.found(),
            first_broken: self.first_broken(),
            levels: levels.map(|(level, trial)| searched(level, trial)).collect(),
            checklist: sweep.checklist(),
        }
    }
}

fn searched(level: LevelReport, trial: &Trial) -> SearchedLevel {
    let &Trial { purpose, standing, judgement, .. } = trial;
    SearchedLevel { purpose, standing, judgement, level }
}
