//! What-if: `fizeau simulate` with several values for a flag.

use std::path::PathBuf;

use fizeau::experiment::{
    CaseOutcome, CaseSettings, CaseSpec, ImpossibleCase, RanCase, WallTime, WhatIfCase,
    WhatIfError, WhatIfRunner,
};
use fizeau::harness::Cancel;
use fizeau::record::RunFolder;
use fizeau::report::Shown;

use crate::args::{SimulateArgs, SimulatedCase};
use crate::commands::report::write_page;
use crate::commands::shared::{checklist, folder, workload};
use crate::commands::simulate::{Simulation, asked};
use crate::commands::{bench, search};
use crate::exit::{Exit, Fail, refuse_given};
use crate::terminal::interrupt;
use crate::terminal::say::say;

/// The concurrencies of a what-if that names neither levels nor a load.
const LEVELS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// Runs each configuration, one after the other, and puts them side by side.
pub(crate) fn run(mut cases: Vec<SimulatedCase>) -> Result<Exit, Fail> {
    cases.iter_mut().for_each(|case| load(&mut case.args));
    let Some(first) = cases.first().map(|case| &case.args) else { return Ok(Exit::Good) };
    check(first)?;
    // A load that cannot be read is a slip of whoever typed it, and not a configuration that cannot run.
    let loads = cases.iter().map(|case| asked(&case.args)).collect::<Result<Vec<_>, _>>()?;
    let goals = &first.level.goals;
    let out = first.level.result.out.as_ref();
    let folder = folder::claim(&folder::given_or_usual(out, WallTime::now(), "what-if"))?;
    let cancel = Cancel::new();
    interrupt::listen(cancel.clone())?;
    let case = |(index, (case, load))| {
        what_if_case(
            case,
            load,
            folder.path().join(format!("configuration-{:02}", index + 1)),
            &cancel,
        )
    };
    let cases = cases.iter().zip(loads).enumerate().map(case).collect::<Result<_, _>>()?;
    let running = WhatIfRunner::new(cases, goals.slo()?, cancel.clone());
    let mut running = running.with_goal_source(goals.source());
    while let Some(ran) = next_case(&mut running, &folder)? {
        match (&ran.folder, &ran.outcome) {
            (None, _) => {}
            (Some(folder), CaseOutcome::Search(outcome)) => search::keep(folder, outcome)?,
            (Some(folder), outcome) => write_page(folder, outcome.page())?,
        }
    }
    let report = running.finish().map_err(|error| match error {
        WhatIfError::Interrupted => Fail { exit: Exit::Interrupted, message: error.to_string() },
        error => Fail::usage(error),
    })?;
    let document = report.to_json().map_err(Fail::broken)?;
    folder.write_text("whatif.json", &document).map_err(Fail::broken)?;
    if let Some(chart) = Shown(&report).chart() {
        folder.write_text("chart.svg", &chart).map_err(Fail::broken)?;
    }
    let page = folder.write_text("report.html", &Shown(&report).page()).map_err(Fail::broken)?;
    say(Shown(&report).text().trim_end())?;
    say(format!("Report: {}", page.display()))?;
    let lists = report.variants().iter().filter_map(|variant| {
        Some((format!("{}: ", variant.name()), variant.sweep()?.checklist()))
    });
    Ok(checklist::enforce_all(lists, &first.trust, Exit::of(&cancel, !report.passes())))
}

/// Runs the next configuration. A `folder` of all that was removed meanwhile is not made again without what it held.
fn next_case(
    running: &mut WhatIfRunner<Simulation<'_>>,
    folder: &RunFolder,
) -> Result<Option<RanCase>, Fail> {
    folder.check().map_err(Fail::broken)?;
    Ok(running.next_case(&mut ())?)
}

/// A configuration; one whose engine cannot be says why, and the others go on.
fn what_if_case<'a>(
    SimulatedCase { settings: names, args }: &'a SimulatedCase,
    settings: CaseSettings,
    folder: PathBuf,
    cancel: &'a Cancel,
) -> Result<WhatIfCase<Simulation<'a>>, Fail> {
    // As of one configuration: the tapes of a search are kept where that was asked for.
    let is_kept = args.search.is_none() || args.level.result.out.is_some();
    let spec = match Simulation::new(args, is_kept.then_some(folder), cancel) {
        Err(Fail { exit: Exit::Usage, message }) => Err(ImpossibleCase::new(message)),
        engine => Ok(CaseSpec { settings, engine: engine? }),
    };
    Ok(WhatIfCase { settings: names.clone(), spec })
}

/// Refuses what is for one configuration only, and what vLLM's block of one would refuse.
fn check(args: &SimulateArgs) -> Result<(), Fail> {
    let of = &args.level.result;
    bench::selection(&args.level)?;
    let flags = [
        (of.append_result, "--append-result"),
        (of.save_result, "--save-result"),
        (of.save_detailed, "--save-detailed"),
        (of.result_dir.is_some(), "--result-dir"),
        (of.result_filename.is_some(), "--result-filename"),
        (!of.metadata.is_empty(), "--metadata"),
        (of.label.is_some(), "--label"),
    ];
    let why = "vLLM's JSON is of one configuration, and here are several; leave it out, or run each by itself";
    refuse_given(&flags, |flag| format!("{flag}: {why}"))
}

/// Gives `args` levels, where nothing says what the load is.
fn load(args: &mut SimulateArgs) {
    let level = &args.level;
    let is_loaded = level.load.in_flight.max_concurrency.is_some()
        || bench::has_arrivals(&level.arrivals)
        || level.replay.trace_speedup.is_some()
        || level.replay.ignore_trace_times
        || level.probe.probe_request_rate.is_some()
        || workload::is_trace(&level.workload);
    if args.is_level() && !is_loaded {
        args.sweep.levels = LEVELS.to_vec();
    }
}
