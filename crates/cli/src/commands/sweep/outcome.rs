//! The outcome of a sweep.

use std::path::Path;

use fizeau::harness::Cancel;
use fizeau::record::{RunFolder, SweepReport};
use fizeau::report::Shown;

use crate::args::TrustArgs;
use crate::commands::report::write_page;
use crate::commands::shared::{checklist, speed};
use crate::exit::{Exit, Fail};
use crate::terminal::say::say;

/// How the command ends that measured this sweep, whose page is written where it has a folder.
pub(crate) fn ended(
    report: &SweepReport,
    folder: Option<&RunFolder>,
    cancel: &Cancel,
) -> Result<Exit, Fail> {
    folder.map_or(Ok(()), |folder| write_page(folder, report))?;
    Ok(Exit::of(cancel, !report.passes()))
}

/// Prints the report, as wide as the terminal is, and where its page is.
pub(crate) fn show(
    report: &SweepReport,
    page: Option<&Path>,
    trust: &TrustArgs,
) -> Result<(), Fail> {
    let page = page.map(|page| page.display().to_string());
    say(Shown(report).terminal(&checklist::terminal(trust, page.as_deref())).trim_end())?;
    speed::say_flags(report.levels())
}
