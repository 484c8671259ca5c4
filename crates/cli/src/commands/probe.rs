//! `fizeau probe`: what this machine really does, part by part.

use std::path::{Path, PathBuf};

use fizeau::core::Nanos;
use fizeau::experiment::WallTime;
use fizeau::harness::Cancel;
use fizeau::probe::{
    Component, CpuBackend, FleetTable, KeepGoing, KeptMeasurements, MeasuredDevice,
    MeasurementImportError, ProbeBackend, ProbeComparison, ProbeDocument, ProbeEvent, ProbeFolder,
    ProbeFolderError, ProbeTrial, SeveralDevices, UnavailableReasons, model_trials, run_trials,
    usual_trials,
};
use fizeau::record::DeploymentRecord;
use fizeau::report::{Shown, Verbosity};
use fizeau::roofline::Device;
use fizeau::transport::MonotonicClock;

use crate::args::{
    ComparedArgs, DeviceArg, FleetArgs, MachineProbeArgs, ProbeCommand, SpreadArgs,
    UniformLoadArgs, VerbosityArgs,
};
use crate::commands::shared::{folder, speed};
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::{pretty, say, say_either};
use crate::terminal::{interrupt, screen};

/// How much longer a thorough probe takes.
const THOROUGH: u64 = 5;

pub(crate) fn run(args: &MachineProbeArgs) -> Result<Exit, Fail> {
    match &args.command {
        None if args.import.is_empty() => measure(args),
        None => import(args),
        Some(ProbeCommand::Show(args)) => {
            let read = ProbeFolder::read(&args.results);
            let document = read.map_err(|error| refused(&error, args.output.verbosity()))?;
            if let Some(path) = &args.html {
                folder::write("--html", path, &Shown(&document).page())?;
                tell_written(path);
            }
            if let Some(folder) = &args.svg {
                charts(&document, folder)?;
            }
            show(&document, args.json, args.output)?;
            Ok(Exit::Good)
        }
        Some(ProbeCommand::Compare(args)) => compare(args),
        Some(ProbeCommand::Fleet(args)) => fleet(args),
    }
}

fn measure(args: &MachineProbeArgs) -> Result<Exit, Fail> {
    let sheet = sheet(args)?;
    let mut backend = opened(args)?;
    let trials = trials(args, &backend)?;
    if trials.is_empty() {
        return Err(Fail::endpoint(nothing_to_measure(args)));
    }
    let (host, devices) = (backend.host(), backend.devices());
    let begun = WallTime::now().rfc3339();
    let folder =
        args.out.as_ref().map(|out| ProbeFolder::create(out, &host, &devices, Some(&begun)));
    let mut kept = KeptMeasurements::new(folder.transpose().named("--out")?);
    let (clock, cancel) = (MonotonicClock::new(), Cancel::new());
    interrupt::listen(cancel.clone())?;
    let seconds = args.seconds.saturating_mul(if args.thorough { THOROUGH } else { 1 });
    let mut reasons = UnavailableReasons::default();
    let watch = |event: ProbeEvent<'_>| {
        tell_progress(&event, &mut reasons, args.output.verbosity());
        if cancel.is_cancelled() { KeepGoing::No } else { KeepGoing::Yes }
    };
    let budget = (&clock, Nanos::from_secs(seconds));
    let outcome =
        run_trials(&mut backend, &trials, budget, &mut kept, watch).map_err(Fail::broken)?;
    clear_progress();
    if reasons.repeated() > 0 && args.output.verbosity() == Verbosity::Brief {
        let more = reasons.repeated();
        tell!("note: {more} more measurements were not made for the same reasons; -v names them");
    }
    let mut document = ProbeDocument::new(host, backend.devices(), kept.rows);
    document.begun = Some(begun);
    let document = sheet.iter().fold(document, ProbeDocument::specified_by);
    show(&document, args.json, args.output)?;
    if outcome.left_out > 0 {
        let why = match outcome.cancelled {
            true => "it was interrupted",
            false => "the time was up; give more with --seconds",
        };
        let (left, all) = (outcome.left_out, trials.len());
        tell!("note: {left} of {all} measurements were not made, since {why}");
    }
    kept.folder.map_or(Ok(()), |folder| finish(folder, &document))?;
    Ok(if outcome.cancelled { Exit::Interrupted } else { Exit::Good })
}

/// What other tools measured, shown and kept as what this one measures.
fn import(args: &MachineProbeArgs) -> Result<Exit, Fail> {
    let sheet = sheet(args)?;
    let imported = ProbeFolder::import(&args.import);
    let document = imported.map_err(|error| refused(&error, args.output.verbosity()))?;
    let document = sheet.iter().fold(document, ProbeDocument::specified_by);
    let folder = args.out.as_ref().map(|out| ProbeFolder::of_document(out, &document));
    let folder = folder.transpose().named("--out")?;
    show(&document, args.json, args.output)?;
    folder.map_or(Ok(()), |folder| finish(folder, &document))?;
    Ok(Exit::Good)
}

/// Why results cannot be read; in full with each form that they do not have.
fn refused(error: &ProbeFolderError, verbosity: Verbosity) -> Fail {
    let ProbeFolderError::Import(MeasurementImportError::NoKnownTool { tried, .. }) = error else {
        return Fail::usage(error);
    };
    match verbosity {
        Verbosity::Brief => usage!("{error}; -v names them"),
        Verbosity::Full => {
            let tried = tried.iter().map(|tried| format!("\n  {}: {}", tried.format, tried.why));
            usage!("{error}. All that were tried:{}", tried.collect::<String>())
        }
    }
}

/// The device whose data sheet figures are to be held against.
fn sheet(args: &MachineProbeArgs) -> Result<Option<Device>, Fail> {
    let Some(name) = &args.hardware else { return Ok(None) };
    Ok(Some(speed::find_device(name, "--hardware")?.device))
}

fn show(document: &ProbeDocument, json: bool, output: VerbosityArgs) -> Result<(), Fail> {
    let text = || Shown(document).text(output.verbosity());
    say_either(json, || Ok::<_, Fail>(document.to_json()), text)
}

fn finish(folder: ProbeFolder, document: &ProbeDocument) -> Result<(), Fail> {
    let page = folder.path().join("probe.html");
    for file in folder.finish(document).map_err(Fail::broken)? {
        tell!("written: {}", file.display());
    }
    if let Some(why) = MeasuredDevice::lacking(document) {
        match MeasuredDevice::of_sheet(document) {
            None => tell!("note: no device file is written: {why}"),
            Some(of) => tell!(
                "note: all of device.toml but its collectives is the data sheet of {}: {why}",
                of.device.name
            ),
        }
    }
    let written = std::fs::write(&page, Shown(document).page());
    written.map_err(|error| broken!("{}: {error}", page.display()))?;
    tell_written(&page);
    Ok(())
}

fn tell_written(path: &Path) {
    tell!("written: {}", path.display());
}

fn charts(document: &ProbeDocument, folder: &Path) -> Result<(), Fail> {
    std::fs::create_dir_all(folder).named(&format!("--svg {}", folder.display()))?;
    let charts = Shown(document).charts();
    if charts.is_empty() {
        tell!("note: no row is of a curve that a chart shows");
    }
    charts.iter().try_for_each(|(name, svg)| {
        let path = folder.join(format!("{name}.svg"));
        folder::write("--svg", &path, svg)?;
        tell_written(&path);
        Ok(())
    })
}

/// What is asked for: what is usual of the components, or what a model runs.
fn trials(args: &MachineProbeArgs, backend: &SeveralDevices) -> Result<Vec<ProbeTrial>, Fail> {
    let wanted = Component::chosen(&args.components.concat());
    let Some(name) = &args.model_config else {
        refuse_if!(
            args.spread != SpreadArgs::default() || args.load != UniformLoadArgs::default(),
            "--model-config: name the model that the flags of its deployment and its load are for"
        );
        return Ok(usual_trials(backend, wanted));
    };
    let model = speed::model_of(name, &format!("--model-config {name}"))?.model;
    let deployment = speed::spread(&args.spread, DeploymentRecord::default());
    let (model, deployment) = deployment.deployed(model).map_err(Fail::usage)?;
    let load = args.load.query().load().map_err(Fail::usage)?;
    model_trials(backend, &wanted, (&model, &deployment), &load).map_err(Fail::usage)
}

/// That no device has what is asked for.
fn nothing_to_measure(args: &MachineProbeArgs) -> String {
    let asked = args.components.concat();
    let asked: Vec<&str> = asked.iter().map(|component| component.as_str()).collect();
    let needs = match asked.as_slice() {
        ["collective"] => "; it takes two GPUs, or --import of what another tool measured",
        _ => "",
    };
    format!("{}: no device that is measured here has it{needs}", asked.join(", "))
}

/// What is under way, on a terminal alone.
fn tell_progress(event: &ProbeEvent<'_>, reasons: &mut UnavailableReasons, verbosity: Verbosity) {
    match event {
        ProbeEvent::Began { .. } if screen::of_stderr().is_some() => {
            let line: String = event.to_string().chars().take(78).collect();
            eprint!("\r\u{1b}[K{line}");
        }
        ProbeEvent::NotAvailable { trial, reason }
            if reasons.is_new(reason) || verbosity == Verbosity::Full =>
        {
            clear_progress();
            tell!("note: {}: {reason}", trial.operation);
        }
        _ => {}
    }
}

fn clear_progress() {
    if screen::of_stderr().is_some() {
        eprint!("\r\u{1b}[K");
    }
}

fn read(path: &Path) -> Result<ProbeDocument, Fail> {
    ProbeFolder::read(path).map_err(Fail::usage)
}

fn compare(args: &ComparedArgs) -> Result<Exit, Fail> {
    let compared = ProbeComparison::of(&read(&args.a)?, &read(&args.b)?);
    say_either(args.json, || pretty(&compared), || Shown(&compared).text())?;
    Ok(Exit::Good)
}

fn fleet(args: &FleetArgs) -> Result<Exit, Fail> {
    let (mut files, mut unread) = (Vec::new(), Vec::new());
    for path in &args.results {
        match ProbeFolder::read(path) {
            Ok(document) => files.push((path.clone(), document)),
            Err(error) => unread.push((path.clone(), error)),
        }
    }
    let table = FleetTable::of_files(&files).with_unread(&unread);
    if table.has_nothing_in_common() {
        return Err(no_fleet(unread, files.len(), &Shown(&files).operations()));
    }
    if let Some(path) = &args.html {
        folder::write("--html", path, &Shown(&table).page())?;
        tell_written(path);
    }
    say_either(args.json, || pretty(&table), || Shown(&table).text())?;
    let Some(share) = args.fail_below else { return Ok(Exit::Good) };
    let below: Vec<&str> = table.below(share).map(|member| &*member.name).collect();
    if !below.is_empty() {
        say(format!("Below {:.0} % of the fleet's median: {}", 100.0 * share, below.join(", ")))?;
    }
    if !table.faults.is_empty() {
        let faulty: Vec<&str> = table.faults.iter().map(|fault| &*fault.member).collect();
        say(format!("Not passed: {}", faulty.join(", ")))?;
    }
    let is_passed = below.is_empty() && table.faults.is_empty();
    Ok(if is_passed { Exit::Good } else { Exit::Missed })
}

/// Why nothing is compared: what cannot be read where that is so, else what was measured of each.
fn no_fleet(unread: Vec<(PathBuf, ProbeFolderError)>, read: usize, measured: &str) -> Fail {
    if let Some((_, error)) = unread.into_iter().next() {
        return Fail::usage(error);
    }
    match read {
        1 => usage!(
            "probe fleet: no operation was measured of two devices of this machine: {measured}; name two or more machines, such as \
             `fizeau probe fleet machine-1 machine-2`"
        ),
        _ => usage!(
            "probe fleet: no operation was measured of two of these machines: {measured}; fleets are compared operation by operation, \
             so measure the same of each"
        ),
    }
}

// Which devices of this machine `fizeau probe` measures.

/// What is asked for, opened. GPUs that nobody asked for by name are left out with a note where they cannot be opened.
fn opened(args: &MachineProbeArgs) -> Result<SeveralDevices, Fail> {
    let cpu = match args.threads {
        Some(threads) => CpuBackend::on_threads(threads).named("--threads")?,
        None => CpuBackend::new(),
    };
    let cpu = if args.thorough { cpu.with_all_curves() } else { cpu };
    let mut devices = SeveralDevices::of(cpu.host());
    if args.device != DeviceArg::Gpu {
        devices = devices.with(cpu);
    }
    if args.device == DeviceArg::Cpu {
        return Ok(devices);
    }
    match devices.add_gpus() {
        Ok(left_out) => left_out.iter().for_each(|absent| tell!("note: {absent}")),
        Err(absent) if args.device == DeviceArg::Gpu => return Err(Fail::endpoint(absent)),
        Err(absent) => tell!("note: no GPU is measured: {absent}"),
    }
    Ok(devices)
}
