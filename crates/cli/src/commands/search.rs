//! `fizeau search`: the highest rate or concurrency within goals.

use std::ops::ControlFlow;

use fizeau::core::{LoadKind, Nanos};
use fizeau::experiment::{
    LoadSearchSpec, SearchOutcome, SearchSettings, SweepProtocol, SweepSettings,
};
use fizeau::harness::Cancel;
use fizeau::metrics::Slo;
use fizeau::record::RunFolder;
use fizeau::report::Shown;

use crate::args::{LevelsArgs, SearchArgs, SearchFlags, TrustArgs};
use crate::commands::report::{PAGE, say_page, write_page};
use crate::commands::shared::{checklist, shards};
use crate::commands::sweep;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;

pub(crate) fn run(args: &SearchArgs) -> Result<Exit, Fail> {
    let SearchArgs { over, search, measure } = args;
    let slo = measure.verdict.goals.of_search()?;
    let series = LevelsArgs::default();
    let series = measure.series(&series);
    let levels = series.settings(SweepProtocol::default())?;
    let mut settings = settings(*over, search, slo, levels)?;
    settings.search.budget = measure.budget;
    let meeting = sweep::meeting(measure, "search", None)?;
    match sweep::measure(measure, settings, "search", &meeting)? {
        ControlFlow::Continue((outcome, folder, gone)) => {
            let shown = show(&outcome, Some(&folder), &meeting.cancel, &measure.trust);
            shards::without(gone, shown)
        }
        ControlFlow::Break(part) => Ok(part),
    }
}

/// The search that the flags ask for, of such `levels`.
pub(crate) fn settings(
    over: LoadKind,
    flags: &SearchFlags,
    slo: Slo,
    levels: SweepSettings,
) -> Result<SearchSettings, Fail> {
    let (from, to) = (flags.from, flags.to);
    if let Some((from, to)) = from.zip(to).filter(|(from, to)| from > to) {
        bail!("--from {from} --to {to}: the lower load comes first");
    }
    let mut spec = LoadSearchSpec::new(over, slo);
    (spec.from, spec.to, spec.most_levels) = (from, to, flags.max_levels);
    (spec.tolerance, spec.confidence) = (flags.tolerance, flags.confidence);
    let mut settings = SearchSettings::new(spec);
    settings.levels = levels;
    settings.confirm = Some(Nanos::from_secs_f64(flags.confirm).named("--confirm")?);
    Ok(settings)
}

/// Writes what the folder of a search has for people.
pub(crate) fn keep(folder: &RunFolder, outcome: &SearchOutcome) -> Result<(), Fail> {
    folder.write_text("search.txt", &Shown(&outcome.report).text()).map_err(Fail::broken)?;
    write_page(folder, &outcome.sweep)
}

/// Keeps what was found in its folder, and prints it, the checklist and where the rest of it is; how the command ends.
pub(crate) fn show(
    outcome: &SearchOutcome,
    folder: Option<&RunFolder>,
    cancel: &Cancel,
    trust: &TrustArgs,
) -> Result<Exit, Fail> {
    let report = &outcome.report;
    folder.map_or(Ok(()), |folder| keep(folder, outcome))?;
    let exit = Exit::of(cancel, !report.passes());
    say(Shown(report).text().trim_end())?;
    checklist::show(&report.checklist, trust)?;
    let page = folder.map(|folder| folder.path().join(PAGE));
    say_page(page.as_deref())?;
    Ok(checklist::enforce(&report.checklist, trust, exit))
}
