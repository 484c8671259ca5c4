//! Which rows of a probe would say more of a run, and the commands that measure them.

use std::path::PathBuf;

#[cfg(feature = "probe")]
use fizeau::probe::{Component, ModelRows};
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
    let rows = rows(reference, &load);
    let row = |text: &String| wrap_hanging(&format!("  {text}"), LINE, "    ");
    let mut lines = vec![head.to_owned()];
    lines.extend(rows.measured.iter().map(row));
    let (how, command) = match ProbeWay::of(device) {
        ProbeWay::Import => ("with other tools, and read what they print:", command(device)),
        _ => ("with", of_model(args, reference, &load, rows.attention)),
    };
    lines.push(format!("{how}\n  {command} --out probed"));
    lines.push(format!("  fizeau diagnose {} --probe probed", args.run.display()));
    let import = format!(
        "That command has no kernel for these on a GPU. `fizeau probe --import FILE... --hardware {}` reads what other tools print of \
         them:",
        device.name
    );
    let nowhere = "For these on a GPU there is no kernel here, and no tool whose output is read:";
    for (head, names) in [(&*import, &rows.imported), (nowhere, &rows.unmeasured)] {
        if !names.is_empty() {
            lines.push(wrap_hanging(head, LINE, "  "));
            lines.extend(names.iter().map(row));
        }
    }
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

/// What measures the operators of the run's model at `load`; `attention` is that component, where it can.
fn of_model(
    args: &DiagnoseArgs,
    reference: &SpeedOfLightReference,
    load: &UniformLoad,
    attention: &str,
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
    let which = match ProbeWay::of(device) {
        ProbeWay::Gpu => format!(" --device gpu --hardware {}", device.name),
        _ => String::new(),
    };
    format!(
        "fizeau probe memory compute gemm{attention}{together}{which} \\\n    \
         --model-config {} \\\n    \
         --isl {} --osl {} --concurrency {}{spread}",
        model.display(),
        load.input_tokens.get(),
        load.output_tokens.get(),
        load.concurrency,
    )
}

/// What is to be measured.
struct Rows {
    /// By component: `gemm: qkv 64 x 6144 x 4096; ...`.
    measured: Vec<String>,
    /// What other tools print of it, each with their names.
    imported: Vec<String>,
    /// What is measured nowhere.
    unmeasured: Vec<String>,
    /// The component of attention as the command names it; empty where none of its rows is measured by it.
    attention: &'static str,
}

#[cfg(feature = "probe")]
fn rows(reference: &SpeedOfLightReference, load: &UniformLoad) -> Rows {
    let system = reference.reference().system;
    let rows = match ProbeWay::of(system.device()) {
        ProbeWay::Gpu => ModelRows::on_gpu(system, load),
        _ => ModelRows::on_processor(system, load),
    };
    let attention = if rows.measures(Component::Attention) { " attention" } else { "" };
    let line = |(of, names): &(Component, Vec<String>)| format!("{of}: {}", names.join("; "));
    let measured = rows.measured.iter().map(line).collect();
    Rows { measured, imported: rows.imported, unmeasured: rows.unmeasured, attention }
}

/// Without probes operators have no names.
#[cfg(not(feature = "probe"))]
fn rows(_: &SpeedOfLightReference, _: &UniformLoad) -> Rows {
    let measured = vec!["memory; compute; gemm; attention; collective".to_owned()];
    Rows { measured, imported: Vec::new(), unmeasured: Vec::new(), attention: " attention" }
}
