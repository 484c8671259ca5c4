//! What a stored run tells of one replica, for a plan.

use std::num::NonZeroU64;
use std::path::PathBuf;

use fizeau_core::{Arrival, Channel, LevelLoad, Stamp, Tape, Tokens};
use fizeau_metrics::Slo;
use fizeau_roofline::Device;
use thiserror::Error;

use super::{MeanLengths, PlanLevel, TestedLoads};
use crate::{
    DocumentFields, GoalSource, LevelReport, ReadRun, SpeedOfLightCurve, SpeedOfLightReference,
    StoredError, StoredRun,
};

/// What a stored run, or a table of tested loads, tells of one replica.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TestedReplica {
    /// The levels that tell what it carries.
    pub levels: Vec<PlanLevel>,
    /// Those that may not be used, each with the reason.
    pub left_out: Vec<String>,
    /// How long requests were: the means over the completed ones of all levels.
    pub lengths: MeanLengths,
    /// How regular the arrivals were, where all open levels had them alike: 1 is Poisson, below 1 burstier.
    pub burstiness: Option<f64>,
    /// The goals of the run itself; none of a table.
    pub slo: Option<Slo>,
    /// Whose these goals are.
    pub goal_source: GoalSource,
    /// Model and devices, where they are known.
    pub reference: Option<SpeedOfLightReference>,
    /// The speed of light over the requests of all levels, where model and devices are known.
    pub light: Option<SpeedOfLightCurve>,
    /// The device's name, where the run says it.
    pub hardware: Option<String>,
    /// The share of its prompt tokens that a prefix cache supplied, from 0 to 1, where replies say it.
    pub cached_share: Option<f64>,
    /// What was asked of it, field by field; none of a table.
    pub workload: Option<DocumentFields>,
    /// How many devices it takes, where its deployment is known, or a table has a column for it.
    pub devices: Option<NonZeroU64>,
}

/// Why there are no goals that several runs have in common.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NoCommonGoals {
    /// No run has goals of its own.
    #[error("no run has goals of its own; name the goals that a replica keeps")]
    None,
    /// Two runs have different ones.
    #[error("{a} was run for \"{goals}\" and {b} for \"{others}\"; say which goals are to be kept")]
    Differ {
        /// What one is called.
        a: String,
        /// Its goals.
        goals: String,
        /// What the other is called.
        b: String,
        /// Its goals.
        others: String,
    },
}

impl TestedReplica {
    /// Of a table of tested loads, on the model and devices of `reference`. What is known of the requests' lengths outranks what the
    /// table says of them.
    #[must_use]
    pub fn of_loads(
        loads: &TestedLoads,
        lengths: MeanLengths,
        reference: Option<SpeedOfLightReference>,
    ) -> Self {
        let lengths = lengths.or(loads.lengths());
        let light = reference.as_ref().and_then(|of| lengths.speed_of_light_curve(of));
        Self {
            levels: loads.levels().to_vec(),
            left_out: loads.left_out().to_vec(),
            lengths,
            burstiness: None,
            slo: None,
            goal_source: GoalSource::Given,
            devices: loads.devices().or_else(|| devices_of(reference.as_ref())),
            reference,
            light,
            cached_share: None,
            workload: None,
            hardware: None,
        }
    }

    /// Of the run in this folder, read again.
    ///
    /// # Errors
    /// If a file of the folder cannot be read or is not understood, or it is the part of one shard of a run.
    pub fn read(folder: impl Into<PathBuf>) -> Result<Self, StoredError> {
        let run = StoredRun::open(folder)?.whole()?;
        let reader = run.reader()?;
        Ok(Self::of(&reader.together(reader.levels()?)?))
    }

    /// The device that it ran on, where it is known; a run may name one in words that no table has.
    #[must_use]
    pub fn device(&self) -> Option<Device> {
        match &self.reference {
            Some(reference) => Some(reference.reference().system.device().clone()),
            None => Device::named(self.hardware.as_deref()?).ok().cloned(),
        }
    }

    /// The goals of `runs`, each with what it is called, which are to be the same for all that stand side by side.
    ///
    /// # Errors
    /// If none has goals of its own, or two have different ones.
    pub fn common_goals<'a>(
        runs: impl IntoIterator<Item = (&'a str, &'a Self)>,
    ) -> Result<Slo, NoCommonGoals> {
        let own = |(name, run): (&'a str, &'a Self)| Some((name, run.slo.as_ref()?));
        let mut own = runs.into_iter().filter_map(own);
        let (a, goals) = own.next().ok_or(NoCommonGoals::None)?;
        match own.find(|(_, others)| *others != goals) {
            None => Ok(goals.clone()),
            Some((b, others)) => Err(NoCommonGoals::Differ {
                a: a.to_owned(),
                goals: goals.to_string(),
                b: b.to_owned(),
                others: others.to_string(),
            }),
        }
    }

    /// Of a run that was read again.
    #[must_use]
    pub fn of(run: &ReadRun) -> Self {
        let (mut levels, mut left_out) = (Vec::new(), Vec::new());
        let tested = tested(run);
        // Where every level failed or is left out, why it is says more.
        let has_figures = tested.iter().any(|level| level.left_out().is_none());
        let is_open = |level: &LevelReport| matches!(level.load, LevelLoad::Rate(_));
        let has_open = tested.iter().any(|level| is_open(level) && level.left_out().is_none());
        for level in tested {
            match (PlanLevel::measured(level), level.left_out()) {
                (_, Some(reason)) if !has_figures || is_open(level) && !has_open => {
                    left_out.push(format!("{}: {reason}", level.load));
                }
                (Ok(usable), _) => levels.push(usable),
                (Err(reason), _) => left_out.push(format!("{}: {reason}", level.load)),
            }
        }
        Self {
            levels,
            left_out,
            lengths: lengths(&run.levels),
            burstiness: burstiness(&run.levels),
            slo: run.slo.clone(),
            goal_source: run.goal_source,
            reference: run.reference.clone(),
            light: run.curve.clone(),
            cached_share: cached_share(&run.levels),
            workload: Some(run.requested.clone()),
            hardware: run.setup.hardware.clone(),
            devices: devices_of(run.reference.as_ref()),
        }
    }
}

/// How many devices the deployment of `reference` has.
fn devices_of(reference: Option<&SpeedOfLightReference>) -> Option<NonZeroU64> {
    NonZeroU64::new(reference?.reference().system.deployment().devices())
}

/// Of a search the long levels outrank the short ones that lie as high: near its capacity a queue looks shorter in a short level than
/// it gets.
fn tested(run: &ReadRun) -> Vec<&LevelReport> {
    if !run.is_search {
        return run.levels.iter().collect();
    }
    let is_outranked = |level: &LevelReport| {
        let same = |long: &&LevelReport| {
            long.load.kind() == level.load.kind() && long.no_evidence().is_none()
        };
        let load = level.load.value();
        let long = || run.sustained.iter().filter(same).map(|long| long.load.value());
        long().any(|low| low <= load) && long().any(|high| load <= high)
    };
    let short = run.levels.iter().filter(|level| !is_outranked(level));
    short.chain(&run.sustained).collect()
}

fn lengths(levels: &[LevelReport]) -> MeanLengths {
    let sum = |of: &dyn Fn(&LevelReport) -> Option<f64>| {
        levels.iter().map(of).try_fold(0.0, |sum, one| Some(sum + one?))
    };
    let done = sum(&|level| Some(level.summary.requests.completed as f64)).filter(|n| *n > 0.0);
    let mean = |tokens: Option<f64>| Some(tokens? / done?).filter(|mean| *mean > 0.0);
    MeanLengths {
        input: mean(sum(&|level| Some(level.summary.tokens.input?.get() as f64))),
        output: mean(sum(&|level| Some(level.summary.tokens.output.get() as f64))),
    }
}

/// Over the levels whose replies tell, each by its prompt tokens.
fn cached_share(levels: &[LevelReport]) -> Option<f64> {
    let told = levels.iter().filter_map(|level| {
        let tokens = &level.summary.tokens;
        let input = tokens.input?.get() as f64;
        Some([tokens.cached_share? * input, input])
    });
    let [cached, all] = told.reduce(|a, b| [a[0] + b[0], a[1] + b[1]])?;
    (all > 0.0).then(|| cached / all)
}

fn burstiness(levels: &[LevelReport]) -> Option<f64> {
    let open = levels.iter().filter_map(|level| level.requested.arrivals?.cv_squared);
    let all: Vec<f64> = open.map(|cv_squared| 1.0 / cv_squared).collect();
    let (first, others) = all.split_first()?;
    others.iter().all(|other| other == first).then_some(*first)
}

impl MeanLengths {
    /// These, and where one is not known that of `others`.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self { input: self.input.or(others.input), output: self.output.or(others.output) }
    }

    /// The speed of light of requests that are all alike and so long; none where a length is not known, or they do not fit.
    #[must_use]
    pub fn speed_of_light_curve(
        self,
        reference: &SpeedOfLightReference,
    ) -> Option<SpeedOfLightCurve> {
        let (input, output) = (self.input?.round() as u64, self.output?.round() as u32);
        let mut tape = Tape::sent_at(Stamp::EPOCH);
        tape.arrivals.push(Arrival::tokens(Stamp::EPOCH, output.max(1), Channel::Visible));
        let mut all = reference.clone().for_prompts_of(Tokens::new(input.max(1))).lengths();
        all.add(&tape);
        SpeedOfLightCurve::over(reference.reference(), &all, &[]).ok()
    }

    /// Both in whole tokens, at least one each; none where one is not known.
    #[must_use]
    pub fn whole(self) -> Option<[Tokens; 2]> {
        let whole = |mean: f64| Tokens::new((mean.round() as u64).max(1));
        Some([whole(self.input?), whole(self.output?)])
    }
}
