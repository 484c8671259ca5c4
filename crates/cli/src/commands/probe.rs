//! `fizeau probe`: what this machine really does, part by part.

use std::path::Path;

use fizeau::core::Nanos;
use fizeau::experiment::LoadedModel;
use fizeau::harness::Cancel;
use fizeau::probe::{
    Component, Dtype, FleetTable, KeepGoing, Measurement, MeasurementSink, ModelPass, ProbeBackend,
    ProbeComparison, ProbeDocument, ProbeEvent, ProbeFolder, ProbeFolderError, SeveralDevices,
    Trial, model_operators, run_trials, usual_trials,
};
use fizeau::report::Shown;
use fizeau::roofline::Deployment;
use fizeau::transport::MonotonicClock;
use serde::Serialize;

use crate::args::{ComparedArgs, ComponentArg, FleetArgs, MachineProbeArgs, ProbeCommand};
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;
use crate::terminal::{interrupt, screen};

mod devices;

/// How much longer a thorough probe takes.
const THOROUGH: u64 = 5;

pub(crate) fn run(args: &MachineProbeArgs) -> Result<Exit, Fail> {
    match &args.command {
        None => measure(args),
        Some(ProbeCommand::Show(args)) => {
            let document = read(&args.results)?;
            match args.json {
                true => say(document.to_json().trim_end())?,
                false => say(Shown(&document).text(args.output.verbosity()).trim_end())?,
            }
            Ok(Exit::Good)
        }
        Some(ProbeCommand::Compare(args)) => compare(args),
        Some(ProbeCommand::Fleet(args)) => fleet(args),
    }
}

fn measure(args: &MachineProbeArgs) -> Result<Exit, Fail> {
    let mut backend = devices::opened(args.device)?;
    let trials = trials(args, &backend)?;
    let (host, devices) = (backend.host(), backend.devices());
    let folder = args.out.as_ref().map(|out| ProbeFolder::create(out, &host, &devices));
    let mut kept = Kept { folder: folder.transpose().map_err(Fail::usage)?, rows: Vec::new() };
    let (clock, cancel) = (MonotonicClock::new(), Cancel::new());
    interrupt::listen(cancel.clone())?;
    let seconds = args.seconds.saturating_mul(if args.thorough { THOROUGH } else { 1 });
    let watch = |event: ProbeEvent<'_>| {
        tell_progress(&event);
        if cancel.is_cancelled() { KeepGoing::No } else { KeepGoing::Yes }
    };
    let budget = (&clock, Nanos::from_secs(seconds));
    let outcome =
        run_trials(&mut backend, &trials, budget, &mut kept, watch).map_err(Fail::broken)?;
    clear_progress();
    let document = ProbeDocument::new(host, backend.devices(), kept.rows);
    match args.json {
        true => say(document.to_json().trim_end())?,
        false => say(Shown(&document).text(args.output.verbosity()).trim_end())?,
    }
    if outcome.left_out > 0 {
        tell!(
            "note: {} of {} measurements had no time left; --seconds gives more",
            outcome.left_out,
            trials.len()
        );
    }
    if let Some(folder) = kept.folder {
        for file in folder.finish(&document).map_err(Fail::broken)? {
            tell!("written: {}", file.display());
        }
    }
    Ok(if outcome.cancelled { Exit::Interrupted } else { Exit::Good })
}

/// What is asked for: what is usual of the components, or what a model runs.
fn trials(args: &MachineProbeArgs, backend: &SeveralDevices) -> Result<Vec<Trial>, Fail> {
    let is_wanted = |component: &Component| {
        let named =
            |of: &ComponentArg| *of == ComponentArg::All || component_of(*of) == Some(*component);
        args.components.is_empty() || args.components.iter().any(named)
    };
    let wanted = Component::ALL.into_iter().filter(is_wanted);
    let Some(name) = &args.model_config else { return Ok(usual_trials(backend, wanted)) };
    let model = LoadedModel::named(name).named("--model-config")?.model;
    let deployment = Deployment::SINGLE.with_tensor(args.tp).named("--tp")?;
    let dtype = devices::model_dtype(args.device);
    let threads = backend.host().processors.unwrap_or(1);
    let passes = [ModelPass::decode(args.concurrency, args.isl), ModelPass::prefill(args.isl)];
    let mut trials = usual_trials(
        backend,
        wanted
            .clone()
            .filter(|component| !matches!(component, Component::Gemm | Component::Attention)),
    );
    let wanted: Vec<Component> = wanted.collect();
    for pass in passes {
        let operators = model_operators(&model, &deployment, pass, (dtype, threads));
        let asked = operators.into_iter().map(|operator| operator.trial);
        trials.extend(asked.filter(|trial| wanted.contains(&trial.operation.component())));
    }
    Ok(trials)
}

const fn component_of(arg: ComponentArg) -> Option<Component> {
    match arg {
        ComponentArg::Memory => Some(Component::Memory),
        ComponentArg::Latency => Some(Component::Latency),
        ComponentArg::Compute => Some(Component::Compute),
        ComponentArg::Gemm => Some(Component::Gemm),
        ComponentArg::Attention => Some(Component::Attention),
        ComponentArg::Collective => Some(Component::Collective),
        ComponentArg::All => None,
    }
}

/// Measurements in memory, and in the folder where there is one.
struct Kept {
    folder: Option<ProbeFolder>,
    rows: Vec<Measurement>,
}

impl MeasurementSink for Kept {
    type Error = ProbeFolderError;

    fn keep(&mut self, measured: &Measurement) -> Result<(), ProbeFolderError> {
        if let Some(folder) = &mut self.folder {
            folder.keep(measured)?;
        }
        self.rows.push(measured.clone());
        Ok(())
    }
}

/// What is under way, on a terminal alone.
fn tell_progress(event: &ProbeEvent<'_>) {
    match event {
        ProbeEvent::Began { trial, done, of, left } if screen::of_stderr().is_some() => {
            let line = format!(
                "[{}/{of}] {}, {:.0} s left",
                done + 1,
                trial.operation,
                left.as_secs_f64()
            );
            eprint!("\r\u{1b}[K{}", line.chars().take(78).collect::<String>());
        }
        ProbeEvent::NotAvailable { trial, reason } => {
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
    match args.json {
        true => say(json(&compared)?)?,
        false => say(Shown(&compared).text().trim_end())?,
    }
    Ok(Exit::Good)
}

fn fleet(args: &FleetArgs) -> Result<Exit, Fail> {
    let machines = args.results.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let table = FleetTable::of(&machines);
    match args.json {
        true => say(json(&table)?)?,
        false => say(Shown(&table).text().trim_end())?,
    }
    let Some(share) = args.fail_below else { return Ok(Exit::Good) };
    let below: Vec<&str> = table.below(share).map(|member| &*member.name).collect();
    if below.is_empty() {
        return Ok(Exit::Good);
    }
    say(format!("Below {:.0} % of the fleet's median: {}", 100.0 * share, below.join(", ")))?;
    Ok(Exit::Missed)
}

fn json(of: &impl Serialize) -> Result<String, Fail> {
    serde_json::to_string_pretty(of).map_err(Fail::broken)
}
