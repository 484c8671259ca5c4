//! A search, carried out: level by level measured, judged and kept.

use fizeau_core::{LoadKind, Nanos};
use fizeau_harness::Measure;
use fizeau_record::{
    LevelReport, RunFolder, SearchReport, SearchTarget, SearchedLevel, SweepDocument, SweepReport,
};
use fizeau_transport::Target;

use super::{LoadSearch, LoadSearchSpec, SearchStep, SearchTrial};
use crate::event::{AfterLevel, Watcher};
use crate::input::{ExperimentError, InputError};
use crate::runner::{LevelRunner, NextLevel};
use crate::sweep::{PreparedSweep, SweepSettings};
use crate::system::{RunOrigin, SystemUnderTest};

/// What a search is to be.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SearchSettings {
    /// Which load, within which goals, and how exactly. How large levels are is said by the settings of levels.
    pub search: LoadSearchSpec,
    /// What is asked at each load, and how large a level is: without a time and a budget it lasts as long as one of a sweep. Its loads,
    /// goals and protocol are not looked at, but for the gaps of open loops.
    pub levels: SweepSettings,
    /// How long the level at the end takes that shows whether the load that was found can be kept up; none for no such level.
    pub confirm: Option<Nanos>,
}

impl SearchSettings {
    /// That search over the usual workload, with five minutes at the load that it finds.
    #[must_use]
    pub fn new(search: LoadSearchSpec) -> Self {
        let (levels, confirm) = (SweepSettings::default(), Some(Nanos::from_secs(300)));
        Self { search, levels, confirm }
    }

    /// The search at `target`, decided. Files are read; nothing is sent.
    ///
    /// # Errors
    /// If an input is wrong, a file cannot be read, a request is longer than the model is known to take, or nothing can be searched so.
    pub fn prepare(
        &self,
        target: &Target,
        system: SystemUnderTest,
        origin: &RunOrigin,
    ) -> Result<PreparedSearch, InputError> {
        let mut levels = self.levels.clone();
        // Of a budget all levels have their share.
        if self.search.budget.is_none() {
            levels.size.time = levels.level_time(system.reader);
        }
        let spec = self.search.clone().sized(&levels, system.reader, self.confirm);
        let search = LoadSearch::new(spec);
        let search = search.map_err(|error| InputError::new(error.field(), error))?;
        levels.slo = Some(self.search.slo.clone());
        // As much as a level may take: how much it does take follows from what is left.
        levels.size.time = levels.size.time.or(self.search.budget);
        let mut levels = levels.prepare(target, system, origin)?;
        // What is measured decides on the next.
        levels.spec.levels.clear();
        if self.search.over == LoadKind::Rate {
            let arrivals = &mut levels.basis.setup.workload.arrivals;
            *arrivals = levels.settings.loads.searched_words();
        }
        Ok(PreparedSearch { levels, search })
    }
}

/// A search, decided. Nothing has been sent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PreparedSearch {
    /// What its levels are, as a sweep has them.
    pub levels: PreparedSweep,
    /// What is searched.
    pub search: LoadSearch,
}

/// The outcome of a search.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SearchOutcome {
    /// The load that was found, and how.
    pub report: SearchReport,
    /// Its levels side by side, as a sweep has them ([`SweepReport::of_search`]): what its folder comes to when it is read again.
    pub sweep: SweepReport,
}

impl PreparedSearch {
    /// Carries the search out with a worker pool or a rig, in either clock. With a `folder`, each level gets one of its own inside it
    /// before the next begins, and `search.json` and `sweep.json` come at the end. A run that is interrupted gives what it has; of a part
    /// of a level nothing is concluded.
    ///
    /// # Errors
    /// As [`LevelRunner::level`].
    pub async fn run(
        &self,
        with: impl Measure,
        folder: Option<&RunFolder>,
        watcher: &mut impl Watcher,
    ) -> Result<SearchOutcome, ExperimentError> {
        // With a budget the time of a level is what all of them share, and the end says what more of it would bring.
        if self.search.spec.budget.is_none() {
            self.levels.note_short(watcher);
        }
        let (prepared, mut search) = (&self.levels, self.search.clone());
        let mut runner = LevelRunner::new(prepared, with, folder, watcher);
        let (mut levels, mut short, mut long) = (Vec::new(), Vec::new(), Vec::new());
        let begun = runner.now();
        loop {
            let step = search.next();
            let level = match step {
                SearchStep::Measure(ask) => {
                    let next = NextLevel { of: None, after: search.after(prepared) };
                    runner.level(ask, next).await?
                }
                // A long level is no point of the curve: it shows whether the answer can be kept up.
                SearchStep::Confirm(ask) => {
                    let next = NextLevel { of: None, after: AfterLevel::Takes(Nanos::ZERO) };
                    runner.sustained(ask, next).await?
                }
                SearchStep::Done => break,
            };
            let Some(level) = level else { break };
            match step {
                SearchStep::Confirm(_) => long.push(level.clone()),
                _ => short.push(level.clone()),
            }
            if runner.is_cancelled() {
                break;
            }
            match level.no_evidence() {
                None => search.observe(&level.summary),
                Some(_) => search.pass_over(),
            }
            search.note_elapsed(runner.now().saturating_since(begun));
            levels.push(level);
        }
        runner.note_end();
        let elapsed = runner.now().saturating_since(begun);
        let curve = runner.curve(&short);
        let (setup, slo) = (prepared.basis.setup.clone(), self.search.spec.slo.clone());
        let sweep = SweepReport::of_search(setup, short, long, slo).with_curve(curve);
        let sweep = sweep.with_price(prepared.price.clone()).with_ending(runner.ending());
        let report = search.report(prepared, levels, &sweep, elapsed);
        if let Some(folder) = folder {
            let written = folder.write_json("search.json", &report);
            written.map_err(ExperimentError::broken)?;
            folder
                .write_json("sweep.json", &SweepDocument::from(&sweep))
                .map_err(ExperimentError::broken)?;
        }
        Ok(SearchOutcome { report, sweep })
    }
}

impl LoadSearch {
    /// What comes after the next level: at the most all levels that are allowed, and one that confirms.
    fn after(&self, prepared: &PreparedSweep) -> AfterLevel {
        let (spec, done) = (self.spec(), u64::try_from(self.trials().len()).unwrap_or(u64::MAX));
        match (self.time_left(), spec.size.time.filter(|_| prepared.is_by_time)) {
            (Some(left), _) => AfterLevel::Budget(left),
            (None, Some(time)) => {
                let others = u64::from(spec.most_levels).saturating_sub(done + 1);
                let confirm = spec.confirm.and_then(|size| size.time).unwrap_or_default();
                AfterLevel::Takes(time * others + confirm)
            }
            (None, None) => AfterLevel::Unknown,
        }
    }

    fn report(
        &self,
        prepared: &PreparedSweep,
        levels: Vec<LevelReport>,
        sweep: &SweepReport,
        elapsed: Nanos,
    ) -> SearchReport {
        let spec = self.spec();
        let levels = levels.into_iter().zip(self.trials());
        let asked = SearchTarget {
            load: spec.over,
            most_levels: spec.most_levels,
            tolerance: spec.tolerance,
            confidence: spec.confidence,
            from: spec.from,
            to: spec.to,
            budget: spec.budget,
            confirm: spec.confirm.and_then(|size| size.time),
        };
        let levels = levels.map(|(level, trial)| searched(level, trial)).collect();
        let (setup, slo) = (prepared.basis.setup.clone(), spec.slo.clone());
        let found = self.result();
        let mut report = SearchReport::new(setup, slo, asked, found, levels, sweep.checklist());
        (report.first_broken, report.elapsed) = (self.first_broken(), Some(elapsed));
        report
    }
}

fn searched(level: LevelReport, trial: &SearchTrial) -> SearchedLevel {
    let &SearchTrial { purpose, side, judgement, .. } = trial;
    SearchedLevel { purpose, side, judgement, level }
}
