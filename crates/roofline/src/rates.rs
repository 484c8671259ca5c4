//! At which rate a device multiplies what is stored in a format.

use fizeau_core::FlopsPerSec;
use fizeau_core::number::number;

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

/// Where the formats of `model` are not multiplied on `device` as they are stored, or the bound has to assume more than
/// engines do: a sentence each.
pub(crate) fn notes(model: &Model, device: &Device) -> Vec<String> {
    let mut kinds: Vec<(MultiplyKind, Vec<Format>)> = Vec::new();
    // What is multiplied, and what it is called.
    let weights = model.tensors().into_iter().map(|tensors| (tensors.format, tensors.format));
    let cache = (model.kv_cache().attended(), model.kv_cache());
    for (format, named) in weights.chain([cache]) {
        let Some(kind) = MultiplyKind::of(format, device) else {
            continue;
        };
        match kinds.iter_mut().find(|known| known.0 == kind) {
            Some((_, formats)) if formats.contains(&named) => {}
            Some((_, formats)) => formats.push(named),
            None => kinds.push((kind, vec![named])),
        }
    }
    kinds.iter().map(|(kind, formats)| kind.arithmetic_note(formats, device)).collect()
}

/// What there is to say of how a format is multiplied.
#[derive(PartialEq)]
struct MultiplyKind {
    /// The arithmetic that it is made for, where the device has none.
    lacks: Option<MathType>,
    used: MathType,
    /// What the bound assumes, where that is faster.
    faster: Option<MathType>,
}

impl MultiplyKind {
    fn of(format: Format, device: &Device) -> Option<Self> {
        let (used, fastest) = (format.math_on(device), format.fastest_math_on(device));
        let differs = rate(device, fastest).get() > rate(device, used).get();
        let lacks = Some(format.math()).filter(|math| device.dense_rate(*math).is_none());
        let faster = differs.then_some(fastest);
        (lacks.is_some() || differs).then_some(Self { lacks, used, faster })
    }

    fn arithmetic_note(&self, formats: &[Format], device: &Device) -> String {
        let names: Vec<String> = formats.iter().map(Format::to_string).collect();
        let (names, device, used) = (names.join(", "), &device.name, self.used.name());
        let bound = match self.faster {
            Some(faster) => format!("; the bound assumes its {} rate", faster.name()),
            None => String::new(),
        };
        match self.lacks {
            Some(math) => {
                let math = math.name();
                format!(
                    "{device} has no {math} arithmetic: {names} computes at its {used} rate{bound}"
                )
            }
            None => format!(
                "engines compute {names} at {device}'s {used} rate in the expectation{bound}"
            ),
        }
    }
}

/// Rates of `device` that sources disagree about, or that a probe saw vary, and `model` computes at; a sentence each.
pub(crate) fn disagreements(model: &Model, device: &Device) -> Vec<String> {
    let is_used = |math| model.tensors().iter().any(|of| of.format.math_on(device) == math);
    let arithmetic = |math: MathType| {
        let (most, least) = (device.dense_rate(math)?, device.usual_rate(math)?);
        (least < most && is_used(math)).then(|| {
            let ends = format!("{} TFLOP/s", ends(least.get() / 1e12, most.get() / 1e12));
            let also = if math == MathType::Bf16 { "" } else { " (or that of bf16)" };
            format!("{}: its {} rate is {ends}; {USED}{also}", device.name, math.name())
        })
    };
    let (least, most) = (device.usual_bandwidth(), device.memory_bandwidth());
    let memory = (least < most).then(|| {
        let ends = format!("{} GB/s", ends(least.get() / 1e9, most.get() / 1e9));
        format!("{}: its memory is read at {ends}; {USED}", device.name)
    });
    MathType::ALL.into_iter().filter_map(arithmetic).chain(memory).collect()
}

/// Which of two rates stands where.
const USED: &str = "the bound uses the highest, the expectation the lowest";

/// `33.6 to 40.2`; rates that people printed keep their digits.
fn ends(least: f64, most: f64) -> String {
    let shown = |rate: f64| {
        let (short, whole) = (number(rate), rate.to_string());
        if whole.len() <= short.len() + 2 { whole } else { short }
    };
    format!("{} to {}", shown(least), shown(most))
}
