//! `fizeau compare`: stored runs, each held against the first.

use std::path::Path;

use fizeau::metrics::Alpha;
use fizeau::record::{CompareError, CompareOptions, ComparisonReport, UnlikeRuns};
use fizeau::report::Shown;

use crate::args::{CompareArgs, FailOn};
use crate::commands::shared::imported;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;

pub(crate) fn run(args: &CompareArgs) -> Result<Exit, Fail> {
    let report = ComparisonReport::of_runs(&args.runs, &options(args)?).map_err(refused)?;
    show(args, &report)?;
    if let Some(path) = &args.out {
        write(path, &report.to_json().map_err(Fail::broken)?)?;
    }
    if let Some(path) = &args.junit {
        write(path, &Shown(&report).junit())?;
    }
    let fails = args.fail_on_worse || args.fail_on == FailOn::Regression;
    Ok(if fails && !report.passes() { Exit::Missed } else { Exit::Good })
}

fn write(path: &Path, text: &str) -> Result<(), Fail> {
    std::fs::write(path, text)
        .map_err(|error| Fail::broken(format!("cannot write {}: {error}", path.display())))
}

fn show(args: &CompareArgs, report: &ComparisonReport) -> Result<(), Fail> {
    if args.json {
        say(report.to_json().map_err(Fail::broken)?.trim_end())
    } else if args.markdown {
        say(Shown(report).markdown().trim_end())
    } else {
        say(Shown(report).text())
    }
}

/// What is decided over, and how.
fn options(args: &CompareArgs) -> Result<CompareOptions, Fail> {
    let figures = args.decision.metrics.iter().map(|text| text.parse().named("--metrics"));
    let mut options = CompareOptions::default();
    options.figures = figures.collect::<Result<_, Fail>>()?;
    options.alpha = Alpha::new(args.decision.alpha).named("--alpha")?;
    options.smallest = args.decision.smallest.parse().named("--smallest")?;
    if args.force {
        options.unlike = UnlikeRuns::Compare;
    }
    Ok(options)
}

/// Why runs cannot be compared, and by which flag they can.
pub(crate) fn refused(error: CompareError) -> Fail {
    let text = error.to_string();
    match error {
        CompareError::FiguresAlone(path) => imported::no_requests(&path),
        CompareError::Unlike { .. } => Fail::usage(text.replacen(
            "these differ:",
            "these differ (--force compares all the same):",
            1,
        )),
        CompareError::Invalid { .. } => {
            Fail::usage(format!("{text}; --force compares it all the same"))
        }
        _ => Fail::usage(text),
    }
}
