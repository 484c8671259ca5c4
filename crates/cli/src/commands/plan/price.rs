//! What an hour of a device costs, and how it is shared between prompts and outputs.

use std::path::Path;

use fizeau::core::UsdPerHour;
use fizeau::roofline::{Device, HourlyRate, Ownership};

use super::Found;
use super::from::FromArg;
use crate::args::PlanArgs;
use crate::commands::shared::hardware;
use crate::exit::{Fail, Named};

/// By the source's own words, then by the flags, then the lowest that was published of the device.
pub(super) fn of(from: &FromArg, args: &PlanArgs, found: &Found) -> Result<HourlyRate, Fail> {
    let name = &from.name;
    match (from.gpu_hour, &from.tco) {
        (Some(price), _) => return given(price, &format!("--from {name}: gpu-hour")),
        (None, Some(path)) => {
            return owned(path, &format!("--from {name}: tco {}", path.display()));
        }
        (None, None) => {}
    }
    match (args.gpu_hour, &args.tco) {
        (Some(price), _) => return given(price, "--gpu-hour"),
        (None, Some(path)) => return owned(path, &format!("--tco {}", path.display())),
        (None, None) => {}
    }
    let device = device(from, args, found)?.ok_or_else(|| {
        Fail::usage(format!(
            "--gpu-hour: say what an hour of a device of {name} costs, in US dollars"
        ))
    })?;
    HourlyRate::lowest_published(&device).named("--gpu-hour")
}

fn given(price: f64, whose: &str) -> Result<HourlyRate, Fail> {
    HourlyRate::given(UsdPerHour::new(price)).named(whose)
}

fn owned(path: &Path, whose: &str) -> Result<HourlyRate, Fail> {
    let text = std::fs::read_to_string(path).named(whose)?;
    Ok(HourlyRate::owned(&Ownership::from_toml(&text).named(whose)?))
}

/// The device that the flags name, or that of the run.
fn device(from: &FromArg, args: &PlanArgs, found: &Found) -> Result<Option<Device>, Fail> {
    if let Some(name) = from.hardware.as_ref().or(args.physics.hardware.as_ref()) {
        return Ok(Some(hardware::find(name, "--hardware")?.device));
    }
    if let Some(physics) = &found.physics {
        return Ok(Some(physics.reference().system.device().clone()));
    }
    // A run may name a device in words that no table has.
    let named = found.hardware.as_deref().and_then(|name| Device::named(name).ok());
    Ok(named.cloned())
}
