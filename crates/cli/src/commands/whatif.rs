//! What-if: `fizeau simulate` with several values for a flag.

use fizeau::experiment::WallTime;
use fizeau::harness::Cancel;
use fizeau::metrics::{Slo, Verdict};
use fizeau::record::{ClaimedFolder, GoalSource, RunFolder};
use fizeau::record::{NotRunReason, RunSetup, SweepReport, WhatIf, WhatIfVariant};
use fizeau::report::Shown;

use crate::args::SimulateArgs;
use crate::commands::bench;
use crate::commands::shared::folder;
use crate::commands::shared::{checklist, record, workload};
use crate::commands::simulate::{Report, Simulated, simulate};
use crate::exit::{Exit, Fail};
use crate::terminal::interrupt;
use crate::terminal::say::say;

/// The concurrencies of a what-if that names neither levels nor a load.
const LEVELS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// One configuration, read.
#[derive(Debug)]
pub(crate) struct Configuration {
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) args: SimulateArgs,
}

/// Runs each configuration, one after the other, and puts them side by side.
pub(crate) fn run(asked: Vec<Configuration>) -> Result<Exit, Fail> {
    let asked: Vec<Configuration> = asked.into_iter().map(Configuration::with_load).collect();
    let Some(first) = asked.first().map(|asked| &asked.args) else { return Ok(Exit::Good) };
    check(first)?;
    let goals = first.level.goals.clone();
    let slo = goals.slo()?;
    let by_default = || folder::by_default(WallTime::now(), "what-if");
    let out = folder::claim(&first.level.result.out.clone().unwrap_or_else(by_default))?;
    let cancel = Cancel::new();
    interrupt::listen(cancel.clone())?;
    let report = measured(&asked, (&slo, goals.source()), &out, &cancel)?;
    let folder = out.folder();
    let document = report.to_json().map_err(Fail::broken)?;
    folder.write_text("whatif.json", &document).map_err(Fail::broken)?;
    #[cfg(feature = "pictures")]
    if let Some(chart) = Shown(&report).chart() {
        folder.write_text("chart.svg", &chart).map_err(Fail::broken)?;
    }
    let page = folder.write_text("report.html", &Shown(&report).page()).map_err(Fail::broken)?;
    say(Shown(&report).text().trim_end())?;
    say(format!("Report: {}", page.display()))?;
    let exit = exit(&report, goals.is_given(), &cancel);
    let mut is_missed = false;
    for variant in report.variants() {
        if let Some(sweep) = variant.sweep() {
            let of = format!("{}: ", variant.name());
            is_missed |= checklist::say_missed(&sweep.checklist(), &first.trust, &of);
        }
    }
    Ok(if is_missed && exit == Exit::Good { Exit::Missed } else { exit })
}

/// Refuses what is for one configuration only.
fn check(args: &SimulateArgs) -> Result<(), Fail> {
    let of = &args.level.result;
    let flags = [
        (of.append_result, "--append-result"),
        (of.save_result, "--save-result"),
        (of.save_detailed, "--save-detailed"),
        (of.result_dir.is_some(), "--result-dir"),
        (of.result_filename.is_some(), "--result-filename"),
        (!of.metadata.is_empty(), "--metadata"),
        (of.label.is_some(), "--label"),
    ];
    let Some((_, flag)) = flags.into_iter().find(|(is_given, _)| *is_given) else { return Ok(()) };
    Err(Fail::usage(format!(
        "{flag}: vLLM's JSON is of one configuration, and here are several; leave it out, or run each by itself"
    )))
}

fn exit(report: &WhatIf, is_asked: bool, cancel: &Cancel) -> Exit {
    let met = |variant: &WhatIfVariant| variant.sweep()?.operating_point().level();
    let is_met = report.variants().iter().any(|variant| met(variant).is_some());
    Exit::of(cancel, report.verdict() == Verdict::Invalid || (is_asked && !is_met))
}

fn measured(
    asked: &[Configuration],
    goals: (&Slo, GoalSource),
    out: &ClaimedFolder,
    cancel: &Cancel,
) -> Result<WhatIf, Fail> {
    let mut common: Option<RunSetup> = None;
    let mut variants = Vec::new();
    for (index, Configuration { settings, args }) in asked.iter().enumerate() {
        if cancel.is_cancelled() {
            let outcome = Err(NotRunReason::Interrupted);
            variants.push(WhatIfVariant { settings: settings.clone(), devices: None, outcome });
            continue;
        }
        // As of one configuration: the tapes of a search are kept where that was asked for.
        let is_kept = args.search.is_none() || args.level.result.out.is_some();
        let folder = is_kept.then(|| folder(out, index)).transpose()?;
        let (devices, outcome) = match simulate(args, folder.as_ref(), cancel) {
            Ok(simulated) => {
                simulated.notes.iter().for_each(|note| tell!("note: {note}"));
                let setup = common.get_or_insert_with(|| simulated.setup.clone());
                setup.command_line = record::origin().command_line;
                (Some(simulated.devices), Ok(sweep(simulated, goals)))
            }
            // One that cannot run says something; the others say it too.
            Err(Fail { exit: Exit::Usage, message }) => {
                // What holds something stays.
                let _ = folder.map(|folder| std::fs::remove_dir(folder.path()));
                (None, Err(NotRunReason::Impossible(message)))
            }
            Err(fail) => return Err(fail),
        };
        variants.push(WhatIfVariant { settings: settings.clone(), devices, outcome });
    }
    let Some(common) = common else {
        if cancel.is_cancelled() {
            let message = "interrupted before any configuration ran".to_owned();
            return Err(Fail { exit: Exit::Interrupted, message });
        }
        let reasons = variants.iter().filter_map(WhatIfVariant::impossible);
        return Err(Fail::usage(reasons.collect::<Vec<_>>().join("\n       ")));
    };
    Ok(WhatIf::new(common, variants, Some(goals.0.clone())))
}

/// Where the files of a configuration go: `configuration-01`.
fn folder(out: &ClaimedFolder, index: usize) -> Result<RunFolder, Fail> {
    out.folder().level(&format!("configuration-{:02}", index + 1)).map_err(Fail::broken)
}

/// What came of a configuration, as a sweep: of one level, where it was one.
fn sweep(simulated: Simulated, (slo, source): (&Slo, GoalSource)) -> SweepReport {
    let Simulated { setup, report, .. } = simulated;
    match report {
        Report::Sweep(outcome) => outcome.report,
        Report::Search(outcome) => outcome.sweep,
        Report::Level(outcome) => {
            let sweep = SweepReport::new(setup, vec![outcome.report], Some(slo.clone()));
            sweep.with_goal_source(source)
        }
    }
}

impl Configuration {
    /// With levels, where nothing says what the load is.
    fn with_load(mut self) -> Self {
        let level = &self.args.level;
        let arrivals = &level.arrivals;
        let is_loaded = level.load.in_flight.max_concurrency.is_some()
            || bench::has_arrivals(arrivals)
            || level.replay.trace_speedup.is_some()
            || level.replay.ignore_trace_times
            || level.probe.probe_request_rate.is_some()
            || workload::is_trace(&level.workload);
        let is_loaded = is_loaded || self.args.search.is_some();
        if !self.args.is_sweep() && !is_loaded {
            self.args.sweep.levels = LEVELS.to_vec();
        }
        self
    }
}
