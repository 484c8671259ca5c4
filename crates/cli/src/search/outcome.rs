//! A search, carried out: level by level measured, judged and kept.

use std::path::Path;

use fizeau::harness::{Cancel, LoadSearch, Measure, Over, Purpose, RunFolder, SearchStep, Trial};
use fizeau::metrics::Verdict;
use fizeau::report::{
    LevelReport, LightCurve, SearchAsked, SearchPurpose, SearchReport, SearchedLevel, SearchedLoad,
    SweepReport,
};

use super::Wanted;
use crate::client::Client;
use crate::exit::{Exit, Fail};
use crate::say::say;
use crate::sweep::{Campaign, Resumed, Series};

/// What came of a search.
pub(crate) struct Outcome {
    pub(crate) report: SearchReport,
    /// Its levels side by side.
    pub(crate) sweep: SweepReport,
    pub(crate) exit: Exit,
}

impl Wanted {
    /// Runs the levels; each is on disk before the next begins.
    pub(crate) async fn measure<M: Measure>(
        self,
        series: &Series<'_>,
        with: M,
        (client, folder): (&Client, Option<&RunFolder>),
        cancel: &Cancel,
    ) -> Result<Outcome, Fail> {
        let mut search = self.search;
        let mut campaign = Campaign::new(with, series, client, folder, Resumed::nothing());
        let mut levels: Vec<LevelReport> = Vec::new();
        while let SearchStep::Measure(ask) | SearchStep::Confirm(ask) = search.next() {
            let Some(level) = campaign.level(ask).await? else { break };
            if cancel.is_cancelled() {
                // What it has is on disk; of a part nothing is concluded.
                break;
            }
            search.observe(&level.summary);
            levels.push(level);
        }
        let curve = campaign.curve(&levels);
        drop(campaign);
        let sweep = sweep(series, &levels, curve);
        let report = report(series, &search, levels);
        if let Some(folder) = folder {
            write(folder, &report, &sweep).map_err(Fail::broken)?;
        }
        let exit = exit(&report, cancel);
        Ok(Outcome { report, sweep, exit })
    }
}

/// The levels side by side, rising, as a sweep has them.
fn sweep(series: &Series<'_>, levels: &[LevelReport], curve: Option<LightCurve>) -> SweepReport {
    let mut rising = levels.to_vec();
    rising.sort_by(|a, b| a.load.value().total_cmp(&b.load.value()));
    SweepReport::new(series.setup.clone(), rising, Some(series.slo.clone())).with_curve(curve)
}

fn report(series: &Series<'_>, search: &LoadSearch, levels: Vec<LevelReport>) -> SearchReport {
    let spec = search.spec();
    let levels = levels.into_iter().zip(search.trials());
    SearchReport {
        setup: series.setup.clone(),
        slo: spec.slo.clone(),
        asked: SearchAsked {
            load: match spec.over {
                Over::Rate => SearchedLoad::Rate,
                Over::Concurrency => SearchedLoad::Concurrency,
            },
            most_levels: spec.most_levels,
            tolerance: spec.tolerance,
            confidence: spec.confidence,
        },
        found: search.found(),
        first_broken: search.first_broken(),
        levels: levels.map(|(level, trial)| searched(level, trial)).collect(),
    }
}

fn searched(level: LevelReport, trial: &Trial) -> SearchedLevel {
    let purpose = match trial.purpose {
        Purpose::Start => SearchPurpose::Start,
        Purpose::Evaluation => SearchPurpose::Evaluation,
        Purpose::Confirmation => SearchPurpose::Confirmation,
    };
    SearchedLevel { purpose, standing: trial.standing, level }
}

fn write(
    folder: &RunFolder,
    report: &SearchReport,
    sweep: &SweepReport,
) -> Result<(), fizeau::harness::FolderError> {
    folder.write_json("search.json", report)?;
    folder.write_json("sweep.json", sweep)?;
    folder.write_text("report.html", &sweep.page()).map(drop)
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

/// Prints the report, and where the rest of it is.
pub(crate) fn show(report: &SearchReport, out: Option<&Path>) -> Result<(), Fail> {
    say(report.text().trim_end())?;
    match out {
        Some(out) => say(format!("report: {}", out.join("report.html").display())),
        None => Ok(()),
    }
}
