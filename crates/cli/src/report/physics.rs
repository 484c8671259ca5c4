//! What the speed of light of a stored run is computed from.

use fizeau::record::{StoredLevel, StoredRun};
use fizeau::report::Setup;
use fizeau::sim::Scenario;

use super::setup;
use crate::args::PhysicsArgs;
use crate::exit::Fail;
use crate::levels::PHYSICS;
use crate::speed::{Physics, Spread};

/// The config and the device that were kept with the run, or the embedded engine's own, but for what flags say otherwise; none
/// where neither says.
pub(super) fn of(
    run: &StoredRun,
    level: &StoredLevel,
    setup: &Setup,
    said: &PhysicsArgs,
) -> Result<Option<Physics>, Fail> {
    let lengths = (setup::typical_prompt(run.record()), 0);
    let folders = [Some(level.path()), level.path().parent(), Some(run.path())];
    let kept = |name: &str| {
        let mut paths = folders.into_iter().flatten().map(|folder| folder.join(name));
        paths.find(|path| path.is_file())
    };
    let [config, _, own, calibration] = PHYSICS.map(kept);
    let calibration = said.calibration.clone().or(calibration);
    let config = said.model_config.clone().or(config);
    let own = own.map(|path| path.display().to_string());
    let hardware = said.hardware.clone().or(own).or_else(|| setup.hardware.clone());
    if let (Some(config), Some(hardware)) = (&config, &hardware) {
        let spread = Spread::of_run(run.record()).with(said);
        let found = Physics::read(config, hardware, spread)?.calibrated(calibration.as_deref())?;
        return Ok(Some(found.for_prompts_of(lengths)));
    }
    if said.model_config.is_some() || said.hardware.is_some() {
        let missing = if config.is_none() { "--model-config" } else { "--hardware" };
        return Err(Fail::usage(format!("{missing}: name it too, the run has none")));
    }
    let scenario = Scenario::llama_3_1_8b_h100().map_err(Fail::broken)?;
    let is_embedded = setup.model_config.as_deref() == Some(scenario.model_name())
        && setup.hardware.as_deref() == Some(scenario.device().name());
    Ok(is_embedded.then(|| {
        let name = scenario.model_name().to_owned();
        Physics::new(name, scenario.system().clone(), lengths)
    }))
}

/// Says in `setup` what the speed of light is computed from. Formats that the run had are not those of another model.
pub(super) fn describe(physics: Option<&Physics>, said: &PhysicsArgs, setup: &mut Setup) {
    let Some(physics) = physics else { return };
    if said.model_config.is_some() || said.weights.is_some() || said.kv.is_some() {
        setup.precision = None;
    }
    physics.describe_in(setup);
}
