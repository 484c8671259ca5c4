//! `fizeau diagnose`: why a run is slower than its speed of light.

mod to_rows;

use std::path::Path;

use fizeau::record::{Diagnosed, InvalidLevels, ProbedSilicon};
use fizeau::report::Shown;
use fizeau::roofline::{Device, System};

use crate::args::DiagnoseArgs;
use crate::commands::report;
use crate::commands::shared::folder::write;
use crate::commands::shared::speed;
use crate::exit::{Exit, Fail};
use crate::terminal::say::{say, say_either};

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
    let text = || Shown(&document).text(args.output.verbosity());
    say_either(args.json, || document.to_json(), text)?;
    // What the bound is made of was measured already.
    let is_measured = probed.is_some_and(ProbedSilicon::is_measured) || system.device().is_probed();
    if !args.json && !is_measured && !document.is_impossible() {
        say(to_rows::told(args, reference, &document).trim_end())?;
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
    refuse_results(&file, system.device())?;
    let device = speed::find_device(&file.display().to_string(), "--probe")?.device;
    let probed = ProbedSilicon::of(system, &device).map_err(|other| {
        let how = match Device::named(&other.name) {
            Ok(device) => to_rows::command(device),
            Err(_) => "fizeau probe".to_owned(),
        };
        usage!(
            "--probe {}: {other}; name a probe of that device (`{how} --out DIR`)",
            path.display()
        )
    })?;
    if let Some(assumption) = probed.assumption() {
        let named = "--hardware of `fizeau probe` names it";
        tell!("note: --probe {}: {assumption} ({named})", path.display());
    }
    Ok(probed)
}

/// Refuses a file that has the results of a probe and not the device that follows from them.
fn refuse_results(file: &Path, of_run: &Device) -> Result<(), Fail> {
    #[cfg(feature = "probe")]
    if file.extension().is_none_or(|ending| ending != "toml")
        && let Ok(results) = fizeau::probe::ProbeFolder::read(file)
    {
        let (file, rows) = (file.display(), results.rows.len());
        bail!(
            "--probe {file}: these are {rows} rows that were measured and no device; `fizeau probe --import {file} --hardware {} \
             --out DIR` makes one of what other tools printed, and of a probe of its own name the folder",
            of_run.name
        );
    }
    Ok(())
}
