//! What levels of a run are held against.

use fizeau::experiment::ClientLimits;
use fizeau::harness::RunFolder;

use crate::client::Client;
use crate::exit::Fail;
use crate::speed::Physics;

/// Why there is no speed of light where nobody gave a model and a device.
pub(crate) const NO_PHYSICS: &str =
    "no model and device were given: --model-config FILE --hardware NAME";

/// What the verdict needs to know of the client.
pub(crate) fn limits(client: &Client) -> ClientLimits {
    let (headroom, ceiling) = (client.headroom, client.ceiling);
    ClientLimits { thresholds: client.thresholds, headroom, ceiling }
}

/// What the speed of light of a run was computed from, as files of its folder.
/// The second has the name that it has beside a config, so that it is found there.
pub(crate) const PHYSICS: [&str; 4] =
    ["model-config.json", "hf_quant_config.json", "device.toml", "calibration.json"];

/// Keeps the model's config with the run, and what else was read from files, so that its speed of light can be computed
/// again.
pub(crate) fn write_config(folder: &RunFolder, physics: Option<&Physics>) -> Result<(), Fail> {
    let Some(physics) = physics else { return Ok(()) };
    for (name, text) in PHYSICS.into_iter().zip(physics.files()) {
        if let Some(text) = text {
            folder.write_text(name, text).map_err(Fail::broken)?;
        }
    }
    Ok(())
}
