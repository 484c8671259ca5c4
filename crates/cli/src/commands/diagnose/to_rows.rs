//! Which rows of a probe would say more of a run, and the commands that measure them.

#[cfg(feature = "probe")]
use std::num::NonZeroU64;
use std::path::PathBuf;

#[cfg(feature = "probe")]
use fizeau::probe::rows_by_component;
use fizeau::record::text::wrap_hanging;
use fizeau::record::{DiagnosisDocument, LevelDiagnosis, SpeedOfLightReference};
use fizeau::roofline::Device;
#[cfg(feature = "probe")]
use fizeau::roofline::UniformLoad;

use crate::args::DiagnoseArgs;
use crate::commands::shared::speed;

/// Columns of a line.
const LINE: usize = 80;

/// The rows and the commands.
pub(super) fn told(
    args: &DiagnoseArgs,
    reference: &SpeedOfLightReference,
    document: &DiagnosisDocument,
) -> String {
    let Some(level) = document.fullest() else { return String::new() };
    let device = reference.reference().system.device();
    let head = "\nTo separate what this device itself adds, measure these on the engine's machine:";
    let mut lines = vec![head.to_owned()];
    lines.extend(rows(reference, level).iter().map(|row| wrap_hanging(row, LINE, "    ")));
    let (how, command) = match Means::of(device) {
        Means::Import => ("with other tools, and read what they print:", command(device)),
        Means::Gpu | Means::Here => ("with", of_model(args, reference, level)),
    };
    lines.push(format!("{how}\n  {command} --out probed"));
    lines.push(format!("  fizeau diagnose {} --probe probed", args.run.display()));
    lines.join("\n")
}

/// How a device can be measured.
enum Means {
    /// By this program, through its driver.
    Gpu,
    /// By this program, as the machine's own processor; or nobody knows what it is.
    Here,
    /// By other tools, whose output this program reads.
    Import,
}

impl Means {
    fn of(device: &Device) -> Self {
        let vendor = device.vendor.as_deref().unwrap_or_default();
        match Device::named(&device.name) {
            Err(_) => Self::Here,
            Ok(_) if vendor.eq_ignore_ascii_case("nvidia") => Self::Gpu,
            Ok(_) => Self::Import,
        }
    }
}

/// What measures that device, but for where its results go.
pub(super) fn command(device: &Device) -> String {
    match Means::of(device) {
        Means::Gpu => format!("fizeau probe --device gpu --hardware {}", device.name),
        Means::Here => "fizeau probe --device cpu".to_owned(),
        Means::Import => format!("fizeau probe --import FILE... --hardware {}", device.name),
    }
}

/// What measures the operators of the run's model at the load of that level.
fn of_model(
    args: &DiagnoseArgs,
    reference: &SpeedOfLightReference,
    level: &LevelDiagnosis,
) -> String {
    let deployment = reference.deployment();
    let model = args.speed_of_light.model_config.clone();
    // Its config as the run keeps it, or the name of one that is built in.
    let model = model.unwrap_or_else(|| match reference.config() {
        Some(_) => args.run.join("model-config.json"),
        None => PathBuf::from(reference.model_name()),
    });
    let spread = speed::flags(deployment);
    let together = if deployment.devices() > 1 { " collective" } else { "" };
    let device = reference.reference().system.device();
    let which = match Means::of(device) {
        Means::Gpu => format!(" --device gpu --hardware {}", device.name),
        Means::Here | Means::Import => String::new(),
    };
    format!(
        "fizeau probe memory compute gemm attention{together}{which} \\\n    \
         --model-config {} \\\n    \
         --isl {} --osl {} --concurrency {}{spread}",
        model.display(),
        level.input_tokens.get(),
        level.output_tokens.get(),
        level.decoding.round(),
    )
}

/// The rows by component, each component in a line: `  gemm: qkv 64 x 6144 x 4096; ...`.
#[cfg(feature = "probe")]
fn rows(reference: &SpeedOfLightReference, level: &LevelDiagnosis) -> Vec<String> {
    let running = NonZeroU64::new(level.decoding.round() as u64).unwrap_or(NonZeroU64::MIN);
    let load = UniformLoad::new(level.input_tokens, level.output_tokens, running);
    let found = rows_by_component(reference.reference().system, &load).into_iter();
    found.map(|(component, names)| format!("  {component}: {}", names.join("; "))).collect()
}

/// Without probes operators have no names.
#[cfg(not(feature = "probe"))]
fn rows(_: &SpeedOfLightReference, _: &LevelDiagnosis) -> Vec<String> {
    vec!["  memory; compute; gemm; attention; collective".to_owned()]
}
