//! `fizeau diagnose`: why a run is slower than its speed of light.

use std::path::{Path, PathBuf};

use fizeau::record::{
    Diagnosed, DiagnosisDocument, InvalidLevels, ProbedSilicon, SpeedOfLightReference,
};
use fizeau::report::Shown;
use fizeau::roofline::{Device, System};

use crate::args::DiagnoseArgs;
use crate::commands::report;
use crate::commands::shared::folder::write;
use crate::commands::shared::speed;
use crate::exit::{Exit, Fail};
use crate::terminal::say::say;

pub(crate) fn run(args: &DiagnoseArgs) -> Result<Exit, Fail> {
    let read = report::read(&args.run, &[], &args.speed_of_light)?;
    let Some(reference) = &read.reference else {
        bail!(
            "{}: the run does not say which model ran on which device; name them with --model-config and --hardware",
            args.run.display()
        );
    };
    let measured = ProbedSilicon::of_measured(reference.reference().system);
    let (system, own) = match &measured {
        Some((printed, own)) => (printed, Some(own)),
        None => (reference.reference().system, None),
    };
    let probed = args.probe.as_deref().map(|path| silicon(path, system)).transpose()?;
    let probed = probed.as_ref().or(own);
    let invalid = if args.force { InvalidLevels::Included } else { InvalidLevels::LeftOut };
    let diagnosed = Diagnosed::new(&read.levels, system).with_probe(probed);
    let diagnosed = diagnosed.with_invalid(invalid);
    let document = diagnosed.diagnose(reference.model_name());
    if let Some(path) = &args.html {
        write("--html", path, &Shown(&document).page())?;
    }
    if let Some(path) = &args.svg {
        let svg = Shown(&document).svg();
        let svg = svg.ok_or_else(|| usage!("--svg: no level has anything to explain"))?;
        write("--svg", path, &svg)?;
    }
    if args.json {
        say(document.to_json().map_err(Fail::broken)?.trim_end())?;
    } else {
        say(Shown(&document).text(args.output.verbosity()).trim_end())?;
        if probed.is_none() && !document.is_impossible() {
            say(what_to_probe(args, reference, &document).trim_end())?;
        }
    }
    Ok(Exit::missed(document.is_impossible()))
}

/// What the probe in a folder, or the device in a file, makes of the run's devices.
fn silicon(path: &Path, system: &System) -> Result<ProbedSilicon, Fail> {
    let file = if path.is_dir() { path.join("device.toml") } else { path.to_owned() };
    refuse_if!(
        !file.is_file(),
        "--probe {}: there is no device.toml in it; `fizeau probe memory compute --out DIR` writes one",
        path.display()
    );
    let device = speed::find_device(&file.display().to_string(), "--probe")?.device;
    let probed = ProbedSilicon::of(system, &device).map_err(|other| {
        usage!(
            "--probe {}: {other}; name a probe of that device (`fizeau probe --device gpu --hardware {} --out DIR`)",
            path.display(),
            other.name
        )
    })?;
    if let Some(assumption) = probed.assumption() {
        let named = "--hardware of `fizeau probe` names it";
        tell!("note: --probe {}: {assumption} ({named})", path.display());
    }
    Ok(probed)
}

/// Which rows of a probe would say more, as commands.
fn what_to_probe(
    args: &DiagnoseArgs,
    reference: &SpeedOfLightReference,
    document: &DiagnosisDocument,
) -> String {
    let deployment = reference.deployment();
    let model = args.speed_of_light.model_config.clone();
    // Its config as the run keeps it, or the name of one that is built in.
    let model = model.unwrap_or_else(|| match reference.config() {
        Some(_) => args.run.join("model-config.json"),
        None => PathBuf::from(reference.model_name()),
    });
    let most = document.fullest().map_or(1.0, |level| level.decoding).round();
    let spread = speed::flags(deployment);
    let together = if deployment.devices() > 1 { " collective" } else { "" };
    let device = reference.reference().system.device();
    let is_known_gpu = Device::named(&device.name).is_ok()
        && device.vendor.as_deref().is_some_and(|vendor| vendor.eq_ignore_ascii_case("nvidia"));
    let which = match is_known_gpu {
        true => format!(" --device gpu --hardware {}", device.name),
        false => String::new(),
    };
    format!(
        "\nTo separate what this device itself adds, run these on the engine's machine:\n  \
         fizeau probe memory compute gemm attention{together}{which} \\\n    \
         --model-config {} \\\n    \
         --concurrency {most}{spread} --out probed\n  \
         fizeau diagnose {} --probe probed",
        model.display(),
        args.run.display(),
    )
}
