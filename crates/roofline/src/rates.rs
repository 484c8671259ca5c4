//! At which rate a device multiplies what is stored in a format.

use fizeau_core::FlopsPerSec;

use crate::{Device, Format, MathType, Model};

/// The rate at which `device` multiplies operands of `math`, or of 16 bits where that is faster: operands can always be
/// widened as they are read.
fn rate(device: &Device, math: MathType) -> FlopsPerSec {
    let (native, wide) = (device.rate_for(math), device.rate_for(MathType::Bf16));
    if native.get() >= wide.get() { native } else { wide }
}

/// Seconds a FLOP on `format` with the arithmetic that engines use for it, at the least of the rates that sources give.
pub(crate) fn usual(device: &Device, format: Format) -> f64 {
    let rate = |math| device.usual_rate(math).map_or(0.0, FlopsPerSec::get);
    1.0 / rate(format.math_on(device)).max(rate(MathType::Bf16))
}

/// Seconds a FLOP on `format` with the fastest arithmetic that could ever be used for it.
pub(crate) fn fastest(device: &Device, format: Format) -> f64 {
    let rate = rate(device, format.fastest_math_on(device)).get();
    1.0 / rate.max(self::rate(device, format.math_on(device)).get())
}

/// Arithmetic that `model` is stored for and `device` lacks, a sentence each.
pub(crate) fn notes(model: &Model, device: &Device) -> Vec<String> {
    let mut formats: Vec<Format> = model.tensors().iter().map(|tensors| tensors.format).collect();
    formats.push(model.kv_cache());
    let mut notes = Vec::new();
    for math in MathType::ALL {
        let widened = |format: &&Format| format.math() == math && format.math_on(device) != math;
        if let Some(format) = formats.iter().find(widened) {
            let used = format.math_on(device).name();
            let lack = match device.dense_rate(math) {
                None => format!("has no {} arithmetic: {format} computes", math.name()),
                Some(_) => format!("cannot multiply {format} as it is stored: it computes"),
            };
            notes.push(format!("{} {lack} at its {used} rate", device.name()));
        }
    }
    notes
}

/// Rates of `device` that sources disagree about and `model` computes at, a sentence each.
pub(crate) fn disagreements(model: &Model, device: &Device) -> Vec<String> {
    let is_used = |math| model.tensors().iter().any(|of| of.format.math_on(device) == math);
    let note = |math: MathType| {
        let (most, least) = (device.dense_rate(math)?, device.usual_rate(math)?);
        let tera = |rate: FlopsPerSec| rate.get() / 1e12;
        (least < most && is_used(math)).then(|| {
            let (device, math) = (device.name(), math.name());
            let (least, most) = (tera(least), tera(most));
            format!(
                "{device}: its {math} rate is {least} to {most} TFLOP/s; the bound takes the most, the expectation the least{}",
                if math == "bf16" { "" } else { ", or bf16's" }
            )
        })
    };
    MathType::ALL.into_iter().filter_map(note).collect()
}
