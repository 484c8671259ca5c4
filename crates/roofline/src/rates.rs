//! At which rate a device multiplies what is stored in a format.

use fizeau_core::FlopsPerSec;

use crate::{Device, Format, MathType, Model};

/// The rate at which `device` multiplies operands of `math`, or of 16 bits where that is faster: operands can always be
/// widened as they are read.
fn rate(device: &Device, math: MathType) -> FlopsPerSec {
    let (native, wide) = (device.rate_for(math), device.rate_for(MathType::Bf16));
    if native.get() >= wide.get() { native } else { wide }
}

/// Seconds a FLOP on `format` with the arithmetic that engines use for it.
pub(crate) fn usual(device: &Device, format: Format) -> f64 {
    1.0 / rate(device, format.math()).get()
}

/// Seconds a FLOP on `format` with the fastest arithmetic that could ever be used for it.
pub(crate) fn fastest(device: &Device, format: Format) -> f64 {
    let rate = rate(device, format.fastest_math()).get();
    1.0 / rate.max(self::rate(device, format.math()).get())
}

/// Arithmetic that `model` is stored for and `device` lacks, a sentence each.
pub(crate) fn notes(model: &Model, device: &Device) -> Vec<String> {
    let mut formats: Vec<Format> = model.tensors().iter().map(|tensors| tensors.format).collect();
    formats.push(model.kv_cache());
    let mut notes = Vec::new();
    for math in MathType::ALL {
        let stored = formats.iter().find(|format| format.math() == math);
        if let (Some(format), None) = (stored, device.dense_rate(math)) {
            let used = match device.dense_rate(MathType::Fp8) {
                Some(_) if math == MathType::Fp4 => MathType::Fp8,
                _ => MathType::Bf16,
            };
            let (device, math, used) = (device.name(), math.name(), used.name());
            notes.push(format!(
                "{device} has no {math} arithmetic: {format} computes at its {used} rate"
            ));
        }
    }
    notes
}
