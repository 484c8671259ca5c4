//! The outcome of a sweep.

use std::path::Path;

use fizeau::harness::Cancel;
use fizeau::metrics::Verdict;
use fizeau::record::{OperatingDecision, RunFolder, SustainedRun, SweepReport};
use fizeau::report::{Shown, Terminal};

use crate::args::{GoalArgs, TrustArgs};
use crate::commands::report::write_page;
use crate::exit::{Exit, Fail};
use crate::terminal::say::say;
use crate::terminal::screen::Screen;

/// The outcome of a sweep, and how the command ends.
pub(crate) struct Outcome {
    pub(crate) report: SweepReport,
    pub(crate) exit: Exit,
}

impl Outcome {
    /// Of what was measured, whose page is written.
    pub(crate) fn of(
        report: SweepReport,
        folder: Option<&RunFolder>,
        goals: &GoalArgs,
        cancel: &Cancel,
    ) -> Result<Self, Fail> {
        folder.map_or(Ok(()), |folder| write_page(folder, &report))?;
        let is_met = report.decisions().iter().any(OperatingDecision::is_met);
        let holds = report.sustained().is_none_or(SustainedRun::holds);
        // A goal that somebody asked for, at its loose end too: the default one is a suggestion.
        let missed = goals.is_given() && !(is_met && holds);
        let is_invalid = report.verdict() == Verdict::Invalid;
        let exit = Exit::of(cancel, is_invalid || missed || !report.is_precise());
        Ok(Self { report, exit })
    }
}

/// Prints the report, as wide as the terminal is, and where its page is.
pub(crate) fn show(
    report: &SweepReport,
    page: Option<&Path>,
    trust: &TrustArgs,
) -> Result<(), Fail> {
    let page = page.map(|page| page.display().to_string());
    let Screen { width, style, charset } = Screen::of_stdout();
    let (verbosity, checklist) = (trust.output.verbosity(), trust.rows());
    let terminal =
        Terminal { width, style, charset, verbosity, checklist, report: page.as_deref() };
    say(Shown(report).terminal(&terminal).trim_end())
}
