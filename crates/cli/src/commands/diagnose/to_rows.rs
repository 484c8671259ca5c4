//! Which rows of a probe would say more of a run, and the commands that measure them.

use std::path::PathBuf;

#[cfg(feature = "probe")]
use fizeau::probe::rows_by_component;
use fizeau::record::text::wrap_hanging;
use fizeau::record::{DiagnosisDocument, ProbeWay, SpeedOfLightReference};
use fizeau::roofline::{Device, UniformLoad};

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
    let load = level.uniform_load();
    let device = reference.reference().system.device();
    let head = "\nTo separate what this device itself adds, measure these on the engine's machine:";
    let mut lines = vec![head.to_owned()];
    lines.extend(rows(reference, &load).iter().map(|row| wrap_hanging(row, LINE, "    ")));
    let (how, command) = match ProbeWay::of(device) {
        ProbeWay::Import => ("with other tools, and read what they print:", command(device)),
        _ => ("with", of_model(args, reference, &load)),
    };
    lines.push(format!("{how}\n  {command} --out probed"));
    lines.push(format!("  fizeau diagnose {} --probe probed", args.run.display()));
    lines.join("\n")
}

/// What measures that device, but for where its results go.
pub(super) fn command(device: &Device) -> String {
    match ProbeWay::of(device) {
        ProbeWay::Gpu => format!("fizeau probe --device gpu --hardware {}", device.name),
        ProbeWay::Import => format!("fizeau probe --import FILE... --hardware {}", device.name),
        _ => "fizeau probe --device cpu".to_owned(),
    }
}

/// What measures the operators of the run's model at `load`.
fn of_model(args: &DiagnoseArgs, reference: &SpeedOfLightReference, load: &UniformLoad) -> String {
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
    let which = match ProbeWay::of(device) {
        ProbeWay::Gpu => format!(" --device gpu --hardware {}", device.name),
        _ => String::new(),
    };
    format!(
        "fizeau probe memory compute gemm attention{together}{which} \\\n    \
         --model-config {} \\\n    \
         --isl {} --osl {} --concurrency {}{spread}",
        model.display(),
        load.input_tokens.get(),
        load.output_tokens.get(),
        load.concurrency,
    )
}

/// The rows by component, each component in a line: `  gemm: qkv 64 x 6144 x 4096; ...`.
#[cfg(feature = "probe")]
fn rows(reference: &SpeedOfLightReference, load: &UniformLoad) -> Vec<String> {
    let found = rows_by_component(reference.reference().system, load).into_iter();
    found.map(|(component, names)| format!("  {component}: {}", names.join("; "))).collect()
}

/// Without probes operators have no names.
#[cfg(not(feature = "probe"))]
fn rows(_: &SpeedOfLightReference, _: &UniformLoad) -> Vec<String> {
    vec!["  memory; compute; gemm; attention; collective".to_owned()]
}
