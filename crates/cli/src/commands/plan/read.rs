//! What is read of one source: a table of tested loads, or a run's folder.

use fizeau::record::{MeanLengths, ReferenceFiles, RunFolder, TestedReplica};

use super::from::FromArg;
use crate::args::{PlanArgs, SpeedOfLightArgs};
use crate::commands::shared::speed;
use crate::commands::{pareto, report};
use crate::exit::{Fail, Named};

/// A table of tested loads.
pub(super) fn of_table(from: &FromArg, args: &PlanArgs) -> Result<TestedReplica, Fail> {
    let loads = pareto::read(&from.path.to_string_lossy())?.tested_loads()?;
    let mut asked = args.speed_of_light.clone();
    asked.hardware = from.hardware.clone().or(asked.hardware);
    // A device alone is for its price.
    let speed_of_light = match asked.model_config {
        Some(_) => speed::from_args(&asked, args.engine.as_deref())?,
        None => None,
    };
    let lengths = MeanLengths { input: args.input_len, output: args.output_len };
    Ok(TestedReplica::of_loads(&loads, lengths, speed_of_light))
}

/// A run's folder.
pub(super) fn of_run(from: &FromArg, args: &PlanArgs) -> Result<TestedReplica, Fail> {
    if RunFolder::holds_whatif(&from.path) {
        let path = from.path.display();
        bail!(
            "--from {path}: several configurations side by side; name one: {path}/configuration-01"
        );
    }
    let stored = report::read(&from.path, &args.goodput, &system_args(from, args))
        .named(&format!("--from {}", from.path.display()))?;
    let mut tested = TestedReplica::of(&stored);
    if let Some(engine) = &args.engine
        && args.speed_of_light.calibration.is_none()
    {
        tested.reference = tested.reference.map(|reference| reference.served_by(engine));
    }
    Ok(tested)
}

/// The device of one source alone is its run's too, where the run has a model.
fn system_args(from: &FromArg, args: &PlanArgs) -> SpeedOfLightArgs {
    let [config, ..] = ReferenceFiles::NAMES;
    let has_model = args.speed_of_light.model_config.is_some() || from.path.join(config).is_file();
    let own = from.hardware.clone().or_else(|| args.speed_of_light.hardware.clone());
    SpeedOfLightArgs { hardware: own.filter(|_| has_model), ..args.speed_of_light.clone() }
}
