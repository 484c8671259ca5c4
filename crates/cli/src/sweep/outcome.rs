//! A sweep, carried out: level by level measured, judged and kept.

use fizeau::harness::{Cancel, LevelAsk, Measure, RunFolder};
use fizeau::metrics::Verdict;
use fizeau::report::{Decision, LevelReport, Profile, SweepReport};

use super::DEFAULT_SLO;
use super::campaign::{Campaign, load_point};
use super::series::Series;
use crate::client::Client;
use crate::exit::{Exit, Fail};

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
        cancel: &Cancel,
    ) -> Result<Outcome, Fail> {
        let mut campaign = Campaign::new(with, self, client, folder);
        let mut reports: Vec<LevelReport> = Vec::new();
        for &load in &self.spec.levels {
            let ask = LevelAsk { load, visit: 0, size: self.spec.size };
            let Some(report) = campaign.level(ask).await? else { break };
            reports.push(report);
        }
        let curve = campaign.curve(&reports);
        drop(campaign);
        let unmeasured = self.spec.levels.iter().skip(reports.len());
        let unmeasured = unmeasured.map(|&load| load_point(load).into()).collect();
        let report = SweepReport::new(self.setup.clone(), reports, Some(self.slo.clone()))
            .with_profile(self.args.verdict.choosing.over(Profile::GENERAL))
            .with_unmeasured(unmeasured)
            .with_curve(curve);
        if let Some(folder) = folder {
            folder.write_json("sweep.json", &report).map_err(Fail::broken)?;
            folder.write_text("report.html", &report.page()).map_err(Fail::broken)?;
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
        self.args.verdict.slo != DEFAULT_SLO && !report.decisions().iter().any(Decision::is_met)
    }
}
