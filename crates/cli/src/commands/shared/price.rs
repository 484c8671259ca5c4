//! What an hour of a device costs, for what tokens cost.

use fizeau::experiment::SpeedOfLightReference;
use fizeau::record::RunDocument;
use fizeau::roofline::{Device, HourlyRate};

use crate::exit::{Fail, Named};

/// As it was given; else the lowest that was published of the device, by its name where no speed of light knows it. None where
/// the device is not known, or no price of it.
pub(crate) fn of(
    given: Option<&HourlyRate>,
    physics: Option<&SpeedOfLightReference>,
    hardware: Option<&str>,
) -> Option<HourlyRate> {
    let device = || match physics {
        Some(physics) => Some(physics.reference().system.device()),
        // A run may name a device in words that no table has.
        None => Device::named(hardware?).ok(),
    };
    given.cloned().or_else(|| HourlyRate::lowest_published(device()?).ok())
}

/// What the run was told that it costs; none where nobody said.
pub(crate) fn of_run(run: &RunDocument) -> Result<Option<HourlyRate>, Fail> {
    let Some(price) = run.gpu_hour_usd else { return Ok(None) };
    HourlyRate::given(price).named("run.json: gpu_hour_usd").map(Some)
}
