//! A search, carried out: level by level measured, judged and kept.

use std::path::Path;

use fizeau::experiment::{LoadSearch, SearchOutcome};
use fizeau::harness::{Cancel, Measure};
use fizeau::metrics::Verdict;
use fizeau::record::RunFolder;
use fizeau::record::{SearchReport, SweepReport};
use fizeau::report::Shown;

use crate::args::TrustArgs;
use crate::commands::report::{PAGE, write_read_page};
use crate::commands::shared::checklist;
use crate::commands::sweep::Series;
use crate::exit::{Exit, Fail};
use crate::terminal::progress::{Progress, Title};
use crate::terminal::say::say;

/// What came of a search.
pub(crate) struct Outcome {
    pub(crate) report: SearchReport,
    /// Its levels side by side.
    pub(crate) sweep: SweepReport,
    pub(crate) exit: Exit,
}

/// Runs the levels; each is on disk before the next begins.
pub(crate) async fn measure<M: Measure>(
    search: LoadSearch,
    series: &Series<'_>,
    with: M,
    folder: Option<&RunFolder>,
    cancel: &Cancel,
) -> Result<Outcome, Fail> {
    let mut progress = Progress::new(series.view, Title::of("search", &series.sweep.setup), cancel);
    let searched = search.measure(&series.sweep, with, folder, &mut progress).await?;
    drop(progress);
    let SearchOutcome { report, sweep, .. } = searched;
    if let Some(folder) = folder {
        folder.write_text("search.txt", &Shown(&report).text()).map_err(Fail::broken)?;
        // What its levels show side by side is more on disk than the search concludes from.
        write_read_page(folder, &sweep)?;
    }
    let exit = exit(&report, cancel);
    Ok(Outcome { report, sweep, exit })
}

fn exit(report: &SearchReport, cancel: &Cancel) -> Exit {
    if cancel.is_cancelled() {
        Exit::Interrupted
    } else if !report.is_met() || report.verdict() == Verdict::Invalid {
        Exit::Missed
    } else {
        Exit::Good
    }
}

/// Prints the report and the checklist, and where the rest of it is; how the command ends.
pub(crate) fn end(outcome: &Outcome, out: Option<&Path>, trust: &TrustArgs) -> Result<Exit, Fail> {
    let report = &outcome.report;
    say(Shown(report).text().trim_end())?;
    checklist::show(&report.checklist, trust)?;
    out.map_or(Ok(()), |out| say(format!("report: {}", out.join(PAGE).display())))?;
    Ok(checklist::enforce(&report.checklist, trust, outcome.exit))
}
