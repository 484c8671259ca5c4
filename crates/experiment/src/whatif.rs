//! A what-if: several configurations of an engine, one after the other, side by side at the end.

mod grid;

use std::vec;

use fizeau_harness::Cancel;
use fizeau_metrics::Slo;
use fizeau_record::{
    GoalSource, NotRunReason, Profile, RunFolder, RunSetup, SweepReport, WhatIf, WhatIfVariant,
};
use thiserror::Error;

pub use grid::{
    GridCase, GridError, GridSetting, GridWay, ListedValuesError, RepeatedSetting, SettingGrid,
    listed_values,
};

use crate::event::Watcher;
use crate::experiment::{EndpointKind, Experiment, PreparedExperiment, PreparedRun};
use crate::input::{ExperimentError, InputError, InputField};
use crate::level::LevelSettings;
use crate::measured_level::MeasuredLevel;
use crate::search::{SearchOutcome, SearchSettings};
use crate::sweep::SweepSettings;

/// A configuration of a what-if.
#[derive(Debug, Clone)]
pub struct WhatIfCase<E> {
    /// What sets it apart from the others: settings and their values, in the order in which they were given.
    pub settings: Vec<(String, String)>,
    /// What is run, or why that cannot be.
    pub spec: Result<CaseSpec<E>, ImpossibleCase>,
}

/// Why a configuration cannot be run, in the words of whoever asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct ImpossibleCase {
    /// Why, in plain words.
    pub reason: String,
}

impl ImpossibleCase {
    /// For this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// What is run of a configuration, and on what.
#[derive(Debug, Clone)]
pub struct CaseSpec<E> {
    /// What is run.
    pub settings: CaseSettings,
    /// What answers.
    pub engine: E,
}

/// What a configuration is asked: whatever can be shown as a sweep.
#[derive(Debug, Clone)]
pub enum CaseSettings {
    /// One level.
    Level(Box<LevelSettings>),
    /// Several.
    Sweep(Box<SweepSettings>),
    /// Those of a search.
    Search(Box<SearchSettings>),
}

/// The engine of a configuration, as a rule a simulated one in a time of its own.
pub trait CaseEngine {
    /// An experiment with it, whose settings come from the [case](CaseSettings).
    fn experiment(&self) -> Experiment;

    /// How many devices it takes.
    fn devices(&self) -> u64;

    /// Runs what is prepared, on an engine that nothing was asked of before: [`PreparedExperiment::run_with`].
    ///
    /// # Errors
    /// If something breaks in the midst.
    fn run_prepared<K: EndpointKind>(
        &self,
        prepared: PreparedExperiment<K>,
        watcher: &mut impl Watcher,
    ) -> Result<<K::Prepared as PreparedRun>::Outcome, ExperimentError>;

    /// Why an input is refused, in the words of whoever asks.
    fn refusal(&self, error: InputError) -> String {
        error.to_string()
    }
}

/// A configuration that ran.
#[derive(Debug)]
#[non_exhaustive]
pub struct RanCase {
    /// What was run, and on what.
    pub setup: RunSetup,
    /// Where its files are; none where it keeps none.
    pub folder: Option<RunFolder>,
    /// What came of it.
    pub outcome: CaseOutcome,
}

/// What came of a configuration.
#[derive(Debug)]
pub enum CaseOutcome {
    /// Of one level.
    Level(Box<MeasuredLevel>),
    /// Of several.
    Sweep(Box<SweepReport>),
    /// Of a search.
    Search(Box<SearchOutcome>),
}

impl CaseOutcome {
    /// As its own page shows it.
    #[must_use]
    pub fn page(&self) -> &SweepReport {
        match self {
            Self::Level(level) => &level.sweep,
            Self::Sweep(sweep) => sweep,
            Self::Search(search) => &search.sweep,
        }
    }
}

impl RanCase {
    /// As it stands beside the others, which have the same goals: by the most within them, be it worth its latency or not, unless
    /// somebody asked for another choice.
    fn sweep(&self, slo: &Slo, source: GoalSource) -> SweepReport {
        let sweep = match &self.outcome {
            CaseOutcome::Level(level) => {
                let levels = vec![level.report.clone()];
                let sweep = SweepReport::new(self.setup.clone(), levels, Some(slo.clone()));
                sweep.with_goal_source(source)
            }
            CaseOutcome::Sweep(sweep) => (**sweep).clone(),
            CaseOutcome::Search(search) => search.sweep.clone(),
        };
        match *sweep.profile() == Profile::GENERAL {
            true => sweep.with_profile(Profile::GENERAL.with_rule(None)),
            false => sweep,
        }
    }
}

impl<E: CaseEngine> CaseSpec<E> {
    /// Runs it by itself.
    ///
    /// # Errors
    /// If an input is wrong, or something breaks in the midst.
    pub fn run(&self, watcher: &mut impl Watcher) -> Result<RanCase, ExperimentError> {
        match &self.settings {
            CaseSettings::Level(asked) => self.ran(&**asked, CaseOutcome::Level, watcher),
            CaseSettings::Sweep(asked) => self.ran(&**asked, CaseOutcome::Sweep, watcher),
            CaseSettings::Search(asked) => self.ran(&**asked, CaseOutcome::Search, watcher),
        }
    }

    fn ran<K: EndpointKind>(
        &self,
        settings: &K,
        outcome: fn(Box<<K::Prepared as PreparedRun>::Outcome>) -> CaseOutcome,
        watcher: &mut impl Watcher,
    ) -> Result<RanCase, ExperimentError> {
        let prepared = self.engine.experiment().settings(settings.clone()).prepare()?;
        let setup = prepared.prepared().basis().setup.clone();
        let folder = prepared.folder().cloned();
        let came = self.engine.run_prepared(prepared, watcher)?;
        Ok(RanCase { setup, folder, outcome: outcome(Box::new(came)) })
    }
}

/// Why a what-if has nothing to show.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WhatIfError {
    /// It was called off too early.
    #[error("interrupted before any configuration ran")]
    Interrupted,
    /// There was no configuration.
    #[error("there is no configuration to run")]
    Empty,
    /// No configuration can run.
    #[error("{}", .0.join("\n       "))]
    Impossible(Vec<String>),
}

/// The configurations of a what-if, under way: [`next_case`](Self::next_case) until there is none, and then [`finish`](Self::finish).
#[derive(Debug)]
pub struct WhatIfRunner<E> {
    cases: vec::IntoIter<WhatIfCase<E>>,
    slo: Slo,
    goal_source: GoalSource,
    cancel: Cancel,
    /// What all that ran have in common.
    setup: Option<RunSetup>,
    variants: Vec<WhatIfVariant>,
}

impl<E: CaseEngine> WhatIfRunner<E> {
    /// Without a configuration so far. All are held to the same goals; what is left when `cancel` is thrown is not run.
    #[must_use]
    pub fn new(cases: Vec<WhatIfCase<E>>, slo: Slo, cancel: Cancel) -> Self {
        let goal_source = GoalSource::Given;
        Self {
            cases: cases.into_iter(),
            slo,
            goal_source,
            cancel,
            setup: None,
            variants: Vec::new(),
        }
    }

    /// Says whose the goals are; those of [`new`](Self::new) were given.
    #[must_use]
    pub fn with_goal_source(mut self, source: GoalSource) -> Self {
        self.goal_source = source;
        self
    }

    /// Runs the next configuration that can run, and gives what came of it; none once all have had their turn.
    ///
    /// # Errors
    /// If something breaks in the midst. A wrong input, but for a folder that cannot be had, keeps only its own
    /// configuration from running.
    pub fn next_case(
        &mut self,
        watcher: &mut impl Watcher,
    ) -> Result<Option<RanCase>, ExperimentError> {
        for WhatIfCase { settings, spec } in self.cases.by_ref() {
            let reason = match spec {
                _ if self.cancel.is_cancelled() => NotRunReason::Interrupted,
                Err(why) => NotRunReason::Impossible(why.reason),
                Ok(spec) => match spec.run(watcher) {
                    Ok(ran) => {
                        let (devices, outcome) =
                            (Some(spec.engine.devices()), ran.sweep(&self.slo, self.goal_source));
                        self.setup.get_or_insert_with(|| ran.setup.clone());
                        self.variants.push(WhatIfVariant {
                            settings,
                            devices,
                            outcome: Ok(outcome),
                        });
                        return Ok(Some(ran));
                    }
                    // A folder that cannot be had is no property of a configuration, and no input of it.
                    Err(ExperimentError::Input(error)) if error.field == InputField::Out => {
                        return Err(ExperimentError::broken(error.message()));
                    }
                    Err(ExperimentError::Input(error)) => {
                        NotRunReason::Impossible(spec.engine.refusal(error))
                    }
                    Err(error) => return Err(error),
                },
            };
            self.variants.push(WhatIfVariant { settings, devices: None, outcome: Err(reason) });
        }
        Ok(None)
    }

    /// All of them side by side.
    ///
    /// # Errors
    /// If none ran.
    pub fn finish(self) -> Result<WhatIf, WhatIfError> {
        match self.setup {
            Some(setup) => Ok(WhatIf::new(setup, self.variants, Some(self.slo))),
            None if self.cancel.is_cancelled() => Err(WhatIfError::Interrupted),
            None if self.variants.is_empty() => Err(WhatIfError::Empty),
            None => {
                let reasons = self.variants.iter().filter_map(WhatIfVariant::impossible);
                Err(WhatIfError::Impossible(reasons.collect()))
            }
        }
    }
}
