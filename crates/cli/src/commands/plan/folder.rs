//! A run's folder, for a plan.

use fizeau::record::{
    LevelReport, LoadPoint, MeanLengths, PlanLevel, ReadRun, ReferenceFiles, RunFolder,
};

use super::Found;
use super::from::FromArg;
use crate::args::{PhysicsArgs, PlanArgs};
use crate::commands::report::{self, SEARCH};
use crate::exit::{Fail, Named};

pub(super) fn read(from: &FromArg, args: &PlanArgs) -> Result<Found, Fail> {
    if RunFolder::holds_whatif(&from.path) {
        let path = from.path.display();
        return Err(Fail::usage(format!(
            "--from {path}: several configurations side by side; name one: {path}/configuration-01"
        )));
    }
    let stored = report::read(&from.path, &args.goodput, &physics(from, args))
        .named(&format!("--from {}", from.path.display()))?;
    let (mut levels, mut left_out) = (Vec::new(), Vec::new());
    for level in tested(&stored, from) {
        match PlanLevel::measured(level) {
            Ok(usable) => levels.push(usable),
            Err(reason) => left_out.push(format!("{}: {reason}", named(level))),
        }
    }
    Ok(Found {
        lengths: lengths(&stored.levels),
        burstiness: burstiness(&stored.levels),
        levels,
        left_out,
        slo: stored.slo,
        light: stored.curve,
        hardware: stored.setup.hardware,
        physics: stored.reference,
    })
}

/// The levels that tell what a replica carries. Of a search the long levels outrank the short ones that lie as high: near its
/// capacity a queue looks shorter in a short level than it gets.
fn tested<'a>(stored: &'a ReadRun, from: &FromArg) -> Vec<&'a LevelReport> {
    if !from.path.join(SEARCH).is_file() {
        return stored.levels.iter().collect();
    }
    let is_outranked = |level: &LevelReport| {
        let same = |long: &&LevelReport| {
            std::mem::discriminant(&long.load) == std::mem::discriminant(&level.load)
        };
        let load = level.load.value();
        let long = || stored.sustained.iter().filter(same).map(|long| long.load.value());
        long().any(|low| low <= load) && long().any(|high| load <= high)
    };
    let short = stored.levels.iter().filter(|level| !is_outranked(level));
    short.chain(&stored.sustained).collect()
}

/// The device of one source alone is its run's too, where the run has a model.
fn physics(from: &FromArg, args: &PlanArgs) -> PhysicsArgs {
    let [config, ..] = ReferenceFiles::NAMES;
    let has_model = args.physics.model_config.is_some() || from.path.join(config).is_file();
    let own = from.hardware.clone().or_else(|| args.physics.hardware.clone());
    PhysicsArgs { hardware: own.filter(|_| has_model), ..args.physics.clone() }
}

fn named(level: &LevelReport) -> String {
    match level.load {
        LoadPoint::Concurrency(slots) => format!("concurrency {slots}"),
        LoadPoint::Rate(rate) => format!("{} requests/s", rate.get()),
    }
}

/// Means over the completed requests of all levels.
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

/// That of the open levels, where it is one.
fn burstiness(levels: &[LevelReport]) -> Option<f64> {
    let open = levels.iter().filter_map(|level| level.asked.arrivals?.cv_squared);
    let all: Vec<f64> = open.map(|cv_squared| 1.0 / cv_squared).collect();
    let (first, others) = all.split_first()?;
    others.iter().all(|other| other == first).then_some(*first)
}
