//! `fizeau compare`: stored runs, each compared with the first.

use std::path::{Path, PathBuf};

use fizeau::metrics::ComparisonSettings;
use fizeau::record::{
    CompareError, CompareOptions, ComparisonReport, MissingLevels, RunComparison, UnlikeRuns,
};
use fizeau::report::Shown;

use crate::args::CompareArgs;
use crate::commands::shared::folder;
use crate::commands::shared::folder::write;
use crate::exit::{Exit, Fail, Named, parsed};
use crate::terminal::say::say;

pub(crate) fn run(args: &CompareArgs) -> Result<Exit, Fail> {
    let sides: Vec<Vec<PathBuf>> = args.runs.iter().map(|paths| repeats(paths)).collect();
    let report = ComparisonReport::of_sides(&sides, &options(args)?).map_err(refused)?;
    show(args, &report)?;
    if let Some(path) = &args.out {
        write("--out", path, &report.to_json().map_err(Fail::broken)?)?;
    }
    if let Some(path) = &args.junit {
        write("--junit", path, &Shown(&report).junit())?;
    }
    if !args.decision.fails_on_regression() {
        return Ok(Exit::Good);
    }
    for RunComparison { candidate, missing_levels, .. } in &report.comparisons {
        if !missing_levels.is_empty() {
            let lack = if candidate.name.contains(", ") { "lack" } else { "lacks" };
            tell!(
                "error: {} {lack} levels of the baseline: {}; measure them too, or let it pass without them by --allow-missing-levels",
                candidate.name,
                missing_levels.join(", ")
            );
        }
    }
    Ok(Exit::missed(!report.passes()))
}

/// The runs of one side, which have commas between them; a name may contain a comma itself.
fn repeats(paths: &Path) -> Vec<PathBuf> {
    match paths.to_str() {
        Some(text) if !paths.exists() => text.split(',').map(PathBuf::from).collect(),
        _ => vec![paths.to_owned()],
    }
}

fn show(args: &CompareArgs, report: &ComparisonReport) -> Result<(), Fail> {
    if args.json {
        say(report.to_json().map_err(Fail::broken)?.trim_end())
    } else if args.markdown {
        say(Shown(report).markdown().trim_end())
    } else {
        say(Shown(report).text(args.output.verbosity()))
    }
}

/// What is decided over, and how.
fn options(args: &CompareArgs) -> Result<CompareOptions, Fail> {
    let mut options = CompareOptions::default();
    options.figures = args.decision.figures()?;
    let ComparisonSettings { alpha, smallest, .. } = args.decision.comparison()?;
    (options.alpha, options.smallest) = (alpha, smallest);
    options.run_to_run = parsed(&args.run_to_run).named("--run-to-run")?;
    if args.allow_missing_levels {
        options.missing = MissingLevels::Allow;
    }
    if args.force {
        options.unlike = UnlikeRuns::Compare;
    }
    Ok(options)
}

/// Why runs cannot be compared, and by which flag they can.
pub(crate) fn refused(error: CompareError) -> Fail {
    let text = error.to_string();
    match error {
        CompareError::FiguresAlone(path) => folder::no_requests(&path),
        CompareError::Unlike { .. } | CompareError::UnlikeRepeats { .. } => {
            Fail::usage(text.replacen(
                "these differ:",
                "these differ (`fizeau compare A B --force` compares them anyway):",
                1,
            ))
        }
        CompareError::Invalid { .. } | CompareError::SameRun(_) => {
            usage!("{text}; `fizeau compare A B --force` compares it anyway")
        }
        _ => Fail::usage(text),
    }
}
