//! A search, carried out: level by level measured, judged and kept.

use std::path::Path;

use fizeau::experiment::{Judgement, LoadSearch, Over, Purpose, SearchStep, Trial};
use fizeau::harness::{Cancel, Measure};
use fizeau::metrics::Verdict;
use fizeau::record::RunFolder;
use fizeau::report::{
    Checklist, LevelReport, LightCurve, SearchAsked, SearchJudgement, SearchPurpose, SearchReport,
    SearchedLevel, SearchedLoad, Shown, SweepReport,
};

use super::Wanted;
use crate::args::TrustArgs;
use crate::checklist;
use crate::client::Client;
use crate::exit::{Exit, Fail};
use crate::progress::After;
use crate::report::{PAGE, write_page};
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
        let nothing = Resumed::nothing();
        let mut campaign = Campaign::new("search", with, series, client, folder, nothing);
        let mut levels: Vec<LevelReport> = Vec::new();
        loop {
            let level = match search.next() {
                SearchStep::Measure(ask) => {
                    let most = usize::try_from(search.spec().most_levels).unwrap_or(usize::MAX);
                    campaign.shows(most, ask.size.time, After::Unknown);
                    campaign.level(ask).await?
                }
                // A long level is no point of the curve: it shows whether the answer can be kept up.
                SearchStep::Confirm(ask) => campaign.sustained(ask).await?,
                SearchStep::Done => break,
            };
            let Some(level) = level else { break };
            if cancel.is_cancelled() {
                // What it has is on disk; of a part nothing is concluded.
                break;
            }
            search.observe(&level.summary);
            levels.push(level);
        }
        let curve = campaign.curve(&levels);
        drop(campaign);
        let sweep = sweep(series, &search, &levels, curve);
        let report = report(series, &search, levels, sweep.checklist());
        if let Some(folder) = folder {
            write(folder, &report, &sweep).map_err(Fail::broken)?;
            write_page(folder, &sweep)?;
        }
        let exit = exit(&report, cancel);
        Ok(Outcome { report, sweep, exit })
    }
}

/// The levels side by side, rising, as a sweep has them.
fn sweep(
    series: &Series<'_>,
    search: &LoadSearch,
    levels: &[LevelReport],
    curve: Option<LightCurve>,
) -> SweepReport {
    let mut all: Vec<(&Trial, &LevelReport)> = search.trials().iter().zip(levels).collect();
    all.sort_by(|(one, _), (other, _)| one.ask.load.rising(&other.ask.load));
    let is_long = |trial: &Trial| trial.purpose == Purpose::Confirmation;
    let of_curve = all.iter().filter(|(trial, _)| !is_long(trial));
    let of_curve = of_curve.map(|(_, level)| (*level).clone()).collect();
    // Long levels step down: the lowest is the last.
    let last = all.iter().find(|(trial, _)| is_long(trial)).map(|(_, level)| (*level).clone());
    let report = SweepReport::new(series.setup.clone(), of_curve, Some(series.slo.clone()));
    report.with_curve(curve).with_sustained(last).with_price(series.price())
}

fn report(
    series: &Series<'_>,
    search: &LoadSearch,
    levels: Vec<LevelReport>,
    checklist: Checklist,
) -> SearchReport {
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
            from: spec.from,
            to: spec.to,
        },
        found: search.found(),
        first_broken: search.first_broken(),
        levels: levels.map(|(level, trial)| searched(level, trial)).collect(),
        checklist,
    }
}

fn searched(level: LevelReport, trial: &Trial) -> SearchedLevel {
    let purpose = match trial.purpose {
        Purpose::Start => SearchPurpose::Start,
        Purpose::Evaluation => SearchPurpose::Evaluation,
        Purpose::Confirmation => SearchPurpose::Confirmation,
    };
    let judgement = match trial.judgement {
        Judgement::Held => SearchJudgement::Held,
        Judgement::Missed => SearchJudgement::Missed,
        Judgement::Failing => SearchJudgement::Failing,
        Judgement::Saturated => SearchJudgement::Saturated,
    };
    SearchedLevel { purpose, standing: trial.standing, judgement, level }
}

fn write(
    folder: &RunFolder,
    report: &SearchReport,
    sweep: &SweepReport,
) -> Result<(), fizeau::record::FolderError> {
    folder.write_json("search.json", report)?;
    folder.write_text("search.txt", &Shown(report).text())?;
    folder.write_json("sweep.json", sweep).map(drop)
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
