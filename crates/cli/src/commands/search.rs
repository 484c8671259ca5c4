//! `fizeau search`: the highest rate or concurrency within goals.

use std::path::Path;

use fizeau::core::{LoadKind, Nanos};
use fizeau::experiment::{
    LoadSearchSpec, PromptReader, SearchOutcome, SearchSettings, SweepProtocol, SweepSettings,
};
use fizeau::harness::Cancel;
use fizeau::metrics::{Slo, Verdict};
use fizeau::record::{RunFolder, SearchReport, SweepReport};
use fizeau::report::Shown;

use crate::args::{LevelsArgs, SearchArgs, SearchFlags, TrustArgs};
use crate::commands::report::{PAGE, write_page};
use crate::commands::shared::checklist;
use crate::commands::sweep::{self, Levels, Measured, Meeting};
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;

/// The outcome of a search.
pub(crate) struct Outcome {
    pub(crate) report: SearchReport,
    /// Its levels side by side.
    pub(crate) sweep: SweepReport,
    exit: Exit,
}

pub(crate) fn run(args: &SearchArgs) -> Result<Exit, Fail> {
    let SearchArgs { over, search, measure } = args;
    let slo = measure.verdict.goals.of_search()?;
    let series = LevelsArgs::default();
    let series = measure.series(&series);
    let mut levels = series.settings(SweepProtocol::default(), PromptReader::Server)?;
    if measure.budget.is_some() && measure.size.level_seconds.is_none() {
        levels.size.time = None;
    }
    let mut settings = settings(*over, search, slo, levels)?;
    settings.search.budget = measure.budget;
    let meeting = Meeting::of(measure, "search")?;
    let Measured { outcome, folder, cancel } =
        match sweep::measure(measure, settings, "search", &meeting)? {
            Levels::Whole(measured) => measured,
            Levels::Part(exit) => return Ok(exit),
        };
    Outcome::of(outcome, Some(&folder), &cancel)?.show(Some(folder.path()), &measure.trust)
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
        return Err(Fail::usage(format!("--from {from} --to {to}: the lower load comes first")));
    }
    let mut settings = SearchSettings::new(LoadSearchSpec {
        from,
        to,
        most_levels: flags.max_runs,
        tolerance: flags.tolerance,
        confidence: flags.confidence,
        ..LoadSearchSpec::new(over, slo)
    });
    settings.levels = levels;
    settings.confirm = Some(Nanos::from_secs_f64(flags.confirm).named("--confirm")?);
    Ok(settings)
}

impl Outcome {
    /// Of what was measured, whose page is written.
    pub(crate) fn of(
        measured: SearchOutcome,
        folder: Option<&RunFolder>,
        cancel: &Cancel,
    ) -> Result<Self, Fail> {
        let SearchOutcome { report, sweep, page, .. } = measured;
        if let Some(folder) = folder {
            folder.write_text("search.txt", &Shown(&report).text()).map_err(Fail::broken)?;
            write_page(folder, &page)?;
        }
        let is_missed = !report.is_met() || report.verdict() == Verdict::Invalid;
        let exit = Exit::of(cancel, is_missed);
        Ok(Self { report, sweep, exit })
    }

    /// Prints the report and the checklist, and where the rest of it is; how the command ends.
    pub(crate) fn show(&self, out: Option<&Path>, trust: &TrustArgs) -> Result<Exit, Fail> {
        let report = &self.report;
        say(Shown(report).text().trim_end())?;
        checklist::show(&report.checklist, trust)?;
        out.map_or(Ok(()), |out| say(format!("Report: {}", out.join(PAGE).display())))?;
        Ok(checklist::enforce(&report.checklist, trust, self.exit))
    }
}
