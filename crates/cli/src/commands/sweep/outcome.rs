//! A sweep, carried out: level by level measured, judged and kept.

use fizeau::experiment::ResumedLevels;
use fizeau::harness::{Cancel, Measure};
use fizeau::metrics::Verdict;
use fizeau::record::RunFolder;
use fizeau::record::{Decision, Sustained, SweepReport};

use super::series::Series;
use crate::commands::report::{write_page, write_read_page};
use crate::commands::shared::details::Details;
use crate::exit::{Exit, Fail};
use crate::terminal::progress::{Progress, Title};

/// What came of a sweep.
pub(crate) struct Outcome {
    pub(crate) report: SweepReport,
    pub(crate) exit: Exit,
}

impl Series<'_> {
    /// Runs the levels; each is on disk before the next begins.
    pub(crate) async fn measure<M: Measure>(
        &self,
        with: M,
        folder: Option<&RunFolder>,
        (cancel, resumed): (&Cancel, ResumedLevels),
    ) -> Result<Outcome, Fail> {
        let progress = Progress::new(self.view, Title::of("sweep", &self.sweep.setup), cancel);
        let details = folder.map(|_| Details::new(&self.sweep.settings.goals));
        let (is_resumed, mut watcher) = (!resumed.is_empty(), (progress, details));
        let report = self.sweep.run(with, folder, resumed, &mut watcher).await?;
        drop(watcher);
        match folder {
            None => {}
            Some(folder) if is_resumed || cancel.is_cancelled() => {
                write_read_page(folder, &report)?;
            }
            Some(folder) => write_page(folder, &report)?,
        }
        let exit = self.exit(&report, cancel);
        Ok(Outcome { report, exit })
    }

    fn exit(&self, report: &SweepReport, cancel: &Cancel) -> Exit {
        let is_invalid = report.verdict() == Verdict::Invalid;
        match cancel.is_cancelled() {
            true => Exit::Interrupted,
            false if is_invalid || self.missed(report) || !report.is_precise() => Exit::Missed,
            false => Exit::Good,
        }
    }

    /// Whether a goal was missed that somebody asked for, at its loose end too: the default one is a suggestion.
    fn missed(&self, report: &SweepReport) -> bool {
        let is_met = report.decisions().iter().any(Decision::is_met);
        let holds = report.sustained().is_none_or(Sustained::holds);
        self.args.verdict.goals.is_given() && !(is_met && holds)
    }
}
