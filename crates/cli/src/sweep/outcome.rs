//! A sweep, carried out: level by level measured, judged and kept.

use std::num::NonZeroU64;

use fizeau::harness::{Cancel, Measure, RunFolder, Sweep, SweptLevel, level_name};
use fizeau::metrics::Verdict;
use fizeau::report::{LevelReport, LoadPoint, OperatingPoint, SweepReport};

use super::DEFAULT_SLO;
use super::series::Series;
use crate::client::Client;
use crate::exit::{Exit, Fail};
use crate::levels::{self, Kept, Yardstick, released};
use crate::progress::Progress;
use crate::speed::Physics;

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
        let physics = self.physics();
        let mut sweep = Sweep::new(with, &self.spec, folder);
        let mut progress = Progress::new();
        let mut reports: Vec<LevelReport> = Vec::new();
        let mut lengths = physics.map(Physics::lengths);
        loop {
            let mut kept = Kept::new(folder, physics);
            let next = sweep.next_level(&mut (&mut progress, &mut kept)).await;
            let Some(level) = next.map_err(Fail::broken)? else { break };
            reports.push(self.report(client, &level, &kept)?);
            kept.add_lengths_to(lengths.as_mut());
        }
        drop(progress);
        let unmeasured = self.spec.levels.iter().skip(reports.len());
        let unmeasured = unmeasured.map(|level| LoadPoint::Concurrency(level.get())).collect();
        let curve = physics.zip(lengths.as_ref());
        let curve = curve.and_then(|(physics, lengths)| physics.curve(lengths, &reports));
        let report = SweepReport::new(self.setup.clone(), reports, Some(self.slo.clone()))
            .with_unmeasured(unmeasured)
            .with_curve(curve);
        if let Some(folder) = folder {
            folder.write_json("sweep.json", &report).map_err(Fail::broken)?;
            folder.write_text("report.html", &report.page()).map_err(Fail::broken)?;
        }
        let exit = self.exit(&report, cancel);
        Ok(Outcome { report, exit })
    }

    /// The report of a level, once it is on disk.
    fn report(
        &self,
        client: &Client,
        level: &SweptLevel,
        kept: &Kept,
    ) -> Result<LevelReport, Fail> {
        let load = LoadPoint::Concurrency(level.concurrency.get());
        let name = level.folder.is_some().then(|| level_name(level.concurrency));
        let repeated = level.plan.repeats().map(|repeats| repeats.to_string());
        let sent = self.sample.of_level(level.plan.clone());
        let yardstick = Yardstick {
            physics: self.physics.as_ref().map_err(|reason| *reason),
            client,
            asked: sent.asked_of(NonZeroU64::MIN, released(&level.run)),
            abandoned: level.run.driven.abandoned,
            repeated: repeated.as_deref(),
        };
        let report = levels::report(&level.run, kept, load, yardstick, name);
        if let Some(folder) = &level.folder {
            levels::write(folder, &level.run, kept, &report)?;
        }
        Ok(report)
    }

    fn exit(&self, report: &SweepReport, cancel: &Cancel) -> Exit {
        let is_invalid = report.verdict() == Verdict::Invalid;
        match cancel.is_cancelled() {
            true => Exit::Interrupted,
            false if is_invalid || self.missed(report) || !report.is_precise() => Exit::Missed,
            false => Exit::Good,
        }
    }

    /// Whether a goal was missed that somebody asked for: the default one is a suggestion.
    fn missed(&self, report: &SweepReport) -> bool {
        self.args.verdict.slo != DEFAULT_SLO
            && !matches!(report.operating_point(), OperatingPoint::Met { .. })
    }
}
