//! What the speed of light of a stored run is computed from.

use fizeau::core::Tokens;
use fizeau::experiment::{ReferenceFiles, ReferenceSpec, SpeedOfLightReference};
use fizeau::record::{Setup, StoredLevel, StoredRun};
use fizeau::sim::Scenario;

use super::setup;
use crate::args::PhysicsArgs;
use crate::commands::shared::speed;
use crate::exit::Fail;

/// The config and the device that were kept with the run, or the embedded engine's own, but for what flags say otherwise; none
/// where neither says.
pub(super) fn of(
    run: &StoredRun,
    level: &StoredLevel,
    setup: &Setup,
    said: &PhysicsArgs,
) -> Result<Option<SpeedOfLightReference>, Fail> {
    let prompt = Tokens::new(setup::typical_prompt(run.document()));
    let folders = [Some(level.path()), level.path().parent(), Some(run.path())];
    let kept = |name: &str| {
        let mut paths = folders.into_iter().flatten().map(|folder| folder.join(name));
        paths.find(|path| path.is_file())
    };
    let [config, _, own, calibration] = ReferenceFiles::NAMES.map(kept);
    let calibration = said.calibration.clone().or(calibration);
    let config = said.model_config.clone().or(config);
    let own = own.map(|path| path.display().to_string());
    let hardware = said.hardware.clone().or(own).or_else(|| setup.hardware.clone());
    if let (Some(config), Some(hardware)) = (&config, &hardware) {
        let mut spec = ReferenceSpec::new(config.display().to_string(), hardware);
        let own = run.document().speed_of_light.clone().unwrap_or_default();
        spec.deployment = speed::deployment(said, own);
        let found = speed::doubted(hardware, spec.load_whatever_fits())?;
        return Ok(Some(found.calibrated(calibration.as_deref())?.for_prompts_of(prompt)));
    }
    if said.model_config.is_some() || said.hardware.is_some() {
        let missing = if config.is_none() { "--model-config" } else { "--hardware" };
        return Err(Fail::usage(format!("{missing}: name it too, the run has none")));
    }
    let scenario = Scenario::llama_3_1_8b_h100().map_err(Fail::broken)?;
    let is_embedded = setup.model_config.as_deref() == Some(scenario.model_name())
        && setup.hardware.as_deref() == Some(scenario.device().name());
    Ok(is_embedded.then(|| {
        let (name, system) = (scenario.model_name(), scenario.system());
        SpeedOfLightReference::new(name, system.clone()).for_prompts_of(prompt)
    }))
}

/// Says in `setup` what the speed of light is computed from. Formats that the run had are not those of another model.
pub(super) fn describe(
    physics: Option<&SpeedOfLightReference>,
    said: &PhysicsArgs,
    setup: &mut Setup,
) {
    let Some(physics) = physics else { return };
    if said.model_config.is_some() || said.weights.is_some() || said.kv.is_some() {
        setup.precision = None;
    }
    // The config that lies beside a run is the one of the model that the run names.
    let named = setup.model_config.take().filter(|_| said.model_config.is_none());
    physics.describe_in(setup);
    setup.model_config = named.or_else(|| setup.model_config.take());
}
