//! Several runs on one page, the first of which the others are compared with.

use std::path::PathBuf;

use fizeau::interop::ExtraTallies;
use fizeau::metrics::Verdict;
use fizeau::record::text::{plain, wrap};
use fizeau::record::{
    Checklist, CompareOptions, ComparisonReport, ImportedRun, NamedRun, OpenedRun, SweepReport,
};
use fizeau::report::{ChartRun, ChecklistRows, ComparisonPage, Shown};

use super::{PageLocation, ReportRequest, WIDTH, figures, level, open, say_page};
use crate::args::ReportArgs;
use crate::commands::compare;
use crate::commands::shared::checklist;
use crate::exit::{Exit, Fail};
use crate::terminal::say::say;
use crate::terminal::screen::Screen;

/// Its name, in the folder in which the program runs: it is of no run more than of another.
const PAGE: &str = "comparison.html";

/// Why runs of which no two have tapes are not tested against each other.
const UNTESTED: &str = "a run that was imported without tapes has no requests and no intervals, and a test needs one of \
                        them";

pub(super) fn run(args: &ReportArgs, paths: &[PathBuf]) -> Result<Exit, Fail> {
    if let Some(flag) = args.view.flag() {
        bail!("{flag} takes one run: use `fizeau report RUN {flag} ...` for each");
    }
    refuse_if!(
        args.json || args.markdown || args.export.is_wanted(),
        "--json, --markdown and the exports (--csv, --requests-csv, --parquet, --prometheus, --push) take one run, and a \
         file's name behind `=`, as in --csv=out.csv: use `fizeau report RUN` for each, or `fizeau compare --json A B` for the comparison"
    );
    let SeveralRuns { runs, own } = read(args, paths)?;
    let (mut all, mut imported) = (Vec::new(), Vec::new());
    for (name, run) in runs {
        match run {
            OneRun::Own(report) => all.push((name, *report)),
            OneRun::Imported(run) => imported.push((name, run)),
        }
    }
    let comparison = match own.as_slice() {
        [_, _, ..] => ComparisonReport::of_runs(&own, &CompareOptions::default())
            .map_err(|error| compare::refused(error).message),
        _ => Err(UNTESTED.to_owned()),
    };
    let tests = comparison.as_ref().map_err(String::as_str);
    let page = ComparisonPage { runs: &all, imported: &imported, comparison: tests }.page();
    let page = PageLocation::of(args.html.as_deref(), PAGE.into()).write(&page)?;
    // What a file says may hold what a terminal would obey.
    all.iter().try_for_each(|(name, report)| say(plain(&Shown(report).line(name))))?;
    imported.iter().try_for_each(|(name, run)| say(plain(&Shown(run).line(name))))?;
    let charts: Vec<ChartRun> = all
        .iter()
        .map(|(name, report)| ChartRun::of(report, name))
        .chain(imported.iter().map(|(name, run)| Shown(run).charts(name)))
        .collect();
    say(format!("\n{}\n", Shown(&charts).side_by_side(Screen::of_stdout().width)))?;
    if let Err(reason) = comparison {
        let why = format!("These runs were not tested against each other: {reason}");
        why.lines().try_for_each(|line| say(wrap(line, WIDTH)))?;
    }
    let own = all.iter().map(|(name, report)| (name, report.checklist()));
    let lists: Vec<(&String, Checklist)> =
        own.chain(imported.iter().map(|(name, run)| (name, run.checklist()))).collect();
    if !matches!(args.trust.rows(), ChecklistRows::Headline(_)) {
        for (name, list) in &lists {
            say(plain(name))?;
            checklist::show(list, &args.trust)?;
        }
    }
    say_page(page.as_deref())?;
    let is_invalid = all.iter().any(|(_, report)| report.verdict() == Verdict::Invalid);
    let lists = lists.iter().map(|(name, list)| (format!("{name}: "), list));
    Ok(checklist::enforce_all(lists, &args.trust, Exit::missed(is_invalid)))
}

/// What was read of several runs.
pub(super) struct SeveralRuns {
    /// Each side of each, and what it is called.
    pub(super) runs: Vec<(String, OneRun)>,
    /// The folders of those that have tapes.
    own: Vec<PathBuf>,
}

pub(super) enum OneRun {
    /// With all that its tapes show.
    Own(Box<SweepReport>),
    Imported(ImportedRun),
}

pub(super) fn read(args: &ReportArgs, paths: &[PathBuf]) -> Result<SeveralRuns, Fail> {
    let (mut runs, mut own) = (Vec::new(), Vec::new());
    let named = NamedRun::distinct(paths.iter().map(|path| NamedRun::at(path)).collect());
    for NamedRun { name, path } in named {
        let run = match open(&path)? {
            OpenedRun::Tapes(run) => run,
            OpenedRun::Figures(run) => {
                runs.push((name, OneRun::Imported(run)));
                continue;
            }
        };
        own.push(path);
        let asked = ReportRequest::new(args, &run)?;
        let sides = asked
            .reader
            .sides(level::read(level::all(&asked, ExtraTallies::DETAIL)?))
            .map_err(Fail::usage)?;
        runs.extend(sides.into_iter().map(|(side, report)| match &*side {
            "" => (name.clone(), OneRun::Own(Box::new(report))),
            side => (format!("{name} {side}"), OneRun::Own(Box::new(report))),
        }));
    }
    if own.is_empty() {
        paths.iter().try_for_each(|path| figures::takes_no_tapes(path, args))?;
    }
    Ok(SeveralRuns { runs, own })
}
