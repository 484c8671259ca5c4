//! A sweep, carried out: level by level measured, judged and kept.

use fizeau::harness::{Cancel, Measure};
use fizeau::metrics::Verdict;
use fizeau::record::RunFolder;
use fizeau::report::{Decision, Sustained, SweepReport};

use super::DEFAULT_SLO;
use super::course::Course;
use super::resume::Resumed;
use super::series::Series;
use crate::client::Client;
use crate::exit::{Exit, Fail};
use crate::report::write_page;

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
        client: &Client,
        folder: Option<&RunFolder>,
        (cancel, resumed): (&Cancel, Resumed),
    ) -> Result<Outcome, Fail> {
        let report = Course::new(with, self, client, folder, resumed).run().await?;
        if let Some(folder) = folder {
            folder.write_json("sweep.json", &report).map_err(Fail::broken)?;
            write_page(folder, &report)?;
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
        self.args.verdict.slo != DEFAULT_SLO && !(is_met && holds)
    }
}
