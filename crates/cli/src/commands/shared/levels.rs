//! What levels of a run are held against.

use fizeau::record::RunFolder;
use fizeau::record::SpeedOfLightReference;

use crate::exit::Fail;

/// Why there is no speed of light where nobody gave a model and a device.
pub(crate) const NO_PHYSICS: &str =
    "no model and device were given: --model-config FILE --hardware NAME";

/// Keeps the model's config with the run, and what else was read from files, so that its speed of light can be computed
/// again.
pub(crate) fn write_config(
    folder: &RunFolder,
    physics: Option<&SpeedOfLightReference>,
) -> Result<(), Fail> {
    let Some(physics) = physics else { return Ok(()) };
    for (name, text) in physics.files().named() {
        folder.write_text(name, text).map_err(Fail::broken)?;
    }
    Ok(())
}
