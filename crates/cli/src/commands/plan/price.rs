//! What an hour of a device costs, and how it is shared between prompts and outputs.

use std::path::Path;

use fizeau::record::TestedReplica;
use fizeau::roofline::{Device, HourlyRate, Ownership};

use super::from::FromArg;
use crate::args::PlanArgs;
use crate::commands::shared::hardware;
use crate::exit::{Fail, Named};

/// By the source's own words, then by the flags, then the lowest that was published of the device; none where no price is given.
pub(super) fn of(
    from: &FromArg,
    args: &PlanArgs,
    found: &TestedReplica,
) -> Result<Option<HourlyRate>, Fail> {
    let whose = format!("--from {}: tco", from.name);
    let given = [(&from.gpu_hour, &from.tco, &*whose), (&args.gpu_hour, &args.tco, "--tco")];
    for (price, tco, whose) in given {
        match (price, tco) {
            (Some(price), _) => return Ok(Some(price.clone())),
            (None, Some(path)) => {
                return owned(path, &format!("{whose} {}", path.display())).map(Some);
            }
            (None, None) => {}
        }
    }
    // Of a device that is not in the table, or has no published price, nobody knows one: the plan is then without.
    let device = device(from, args, found)?;
    Ok(device.and_then(|device| HourlyRate::lowest_published(&device).ok()))
}

fn owned(path: &Path, whose: &str) -> Result<HourlyRate, Fail> {
    let text = std::fs::read_to_string(path).named(whose)?;
    Ok(HourlyRate::owned(&Ownership::from_toml(&text).named(whose)?))
}

/// The device that the flags name, or that of the run.
fn device(from: &FromArg, args: &PlanArgs, found: &TestedReplica) -> Result<Option<Device>, Fail> {
    if let Some(name) = from.hardware.as_ref().or(args.speed_of_light.hardware.as_ref()) {
        return Ok(Some(hardware::find(name, "--hardware")?.device));
    }
    Ok(found.device())
}
