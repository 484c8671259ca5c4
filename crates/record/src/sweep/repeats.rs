//! A load that was measured more than once.

use fizeau_core::{LevelLoad, Millis, document};
use fizeau_metrics::{Comparison, Confidence, Distribution, Slo, mean_of_runs};
use serde::{Deserialize, Serialize};

use super::{SustainedRun, SweepReport};
use crate::goal::{keeps, middle};
use crate::{LevelReport, RunSetup, SummaryDocument};

/// The runs of one load, at different times and with prompts of their own each.
///
/// The figures of a load are the means over its runs, with Student's interval across them: the requests of one run cannot show
/// that the server was not the same an hour later. A mean of percentiles is no percentile, so of those there is the median
/// over the runs, of an even number the worse of the two in the middle, with the least and the greatest; goals are judged by
/// these. One run stands for the load on the frontier and in the table of levels,
/// with figures that all come from the same requests: that with the median of requests per second.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadRepeats {
    runs: Vec<LevelReport>,
}

/// A figure over several runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "OverRuns"))]
pub struct MeanOverRuns {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95 % interval.
    pub half_width: f64,
}

/// A percentile over several runs: the median, of an even number the greater of the two in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RangeOverRuns"))]
#[non_exhaustive]
pub struct RangeOverRuns {
    /// The median, which one of the runs had.
    pub median: f64,
    /// The least of any run.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
}

impl LoadRepeats {
    /// The `runs` of one load, in the order in which they were made; none of fewer than two.
    #[must_use]
    pub fn of(runs: Vec<LevelReport>) -> Option<Self> {
        (runs.len() >= 2).then_some(Self { runs })
    }

    /// The runs, in the order in which they were made.
    #[must_use]
    pub fn runs(&self) -> &[LevelReport] {
        &self.runs
    }

    /// The run that stands for the load: of those that may be compared, that with the median of requests per second (of an
    /// even number the lower of the two in the middle); the first where none may be compared.
    #[must_use]
    pub fn standing_for_all(&self) -> Option<&LevelReport> {
        let mut runs: Vec<&LevelReport> = self.compared().collect();
        runs.sort_by(|a, b| requests(a).total_cmp(&requests(b)));
        let middle = runs.len().saturating_sub(1) / 2;
        runs.get(middle).copied().or_else(|| self.runs.first())
    }

    /// The load.
    #[must_use]
    pub fn load(&self) -> Option<LevelLoad> {
        self.runs.first().map(|run| run.load)
    }

    /// The runs that may be compared with others.
    pub fn compared(&self) -> impl Iterator<Item = &LevelReport> {
        self.runs.iter().filter(|run| run.left_out().is_none())
    }

    /// How many of them keep these goals, ranges at their loose ends; none where that is not known of all.
    #[must_use]
    pub fn keeping(&self, slo: &Slo) -> Option<usize> {
        let kept = self.compared().map(|run| keeps(slo, &run.summary));
        Some(kept.collect::<Option<Vec<bool>>>()?.into_iter().filter(|kept| *kept).count())
    }

    /// The mean of a figure that is no percentile.
    #[must_use]
    pub fn mean(&self, figure: impl Fn(&LevelReport) -> Option<f64>) -> Option<MeanOverRuns> {
        let values: Vec<f64> = self.compared().map(figure).collect::<Option<_>>()?;
        let found = mean_of_runs(&values, Confidence::P95)?;
        Some(MeanOverRuns { mean: found.value(), half_width: found.high() - found.value() })
    }

    /// The median and the range of a percentile of latencies, as goals have it.
    #[must_use]
    pub fn range(&self, figure: impl Fn(&LevelReport) -> Option<f64>) -> Option<RangeOverRuns> {
        let values: Vec<f64> = self.compared().map(figure).collect::<Option<_>>()?;
        let found = middle(values, Comparison::Less)?;
        Some(RangeOverRuns { median: found.value(), least: found.low(), greatest: found.high() })
    }
}

/// Completed requests per second.
pub(crate) fn requests(level: &LevelReport) -> f64 {
    level.summary.throughput.requests_per_s.get()
}

/// Generated tokens per second.
pub(crate) fn tokens(level: &LevelReport) -> f64 {
    level.summary.throughput.output_tokens_per_s.get()
}

pub(crate) fn mean_of(sample: &Distribution) -> Option<f64> {
    sample.mean.map(Millis::get)
}

pub(crate) fn p99_of(sample: &Distribution) -> Option<f64> {
    sample.p99.value().map(Millis::get)
}

document! {
    /// A load that was measured more than once, as `sweep.json` has it.
    pub(super) struct RepeatsDocument as "Repeats",
    fn of(report: &SweepReport, repeats: &LoadRepeats, own: LevelLoad) {} {
        load: LevelLoad = own,
        /// The index of the level that stands for all of its runs.
        level: Option<usize> = report.levels().iter().position(|level| level.load == own),
        /// How many runs the figures are over: those that may be compared.
        runs_compared: usize = repeats.compared().count(),
        requests_per_s: Option<MeanOverRuns> = repeats.mean(|run| Some(requests(run))),
        output_tokens_per_s: Option<MeanOverRuns> = repeats.mean(|run| Some(tokens(run))),
        mean_ttft_ms: Option<MeanOverRuns> = repeats.mean(|run| mean_of(&run.summary.metrics.ttft)),
        mean_tpot_ms: Option<MeanOverRuns> = repeats.mean(|run| mean_of(&run.summary.metrics.tpot)),
        mean_e2el_ms: Option<MeanOverRuns> = repeats.mean(|run| mean_of(&run.summary.metrics.e2el)),
        p99_ttft_ms: Option<RangeOverRuns> = repeats.range(|run| p99_of(&run.summary.metrics.ttft)),
        p99_e2el_ms: Option<RangeOverRuns> = repeats.range(|run| p99_of(&run.summary.metrics.e2el)),
        runs: Vec<RepeatedRun> = repeats.runs().iter().map(RepeatedRun::from).collect(),
    }
}

document! {
    /// One of the runs, whole.
    struct RepeatedRun, from |report: &LevelReport| {} {
        folder: Option<String> = report.folder.clone(),
        #[serde(flatten)]
        level: SummaryDocument = report.into(),
    }
}

impl RepeatsDocument {
    pub(super) fn all(report: &SweepReport) -> Vec<Self> {
        let one = |repeats: &LoadRepeats| Some(Self::of(report, repeats, repeats.load()?));
        report.repeats().iter().filter_map(one).collect()
    }
}

impl SweepReport {
    /// The result of `runs`, given in the order in which their loads are to be shown. Successive runs of one load are
    /// [repeats](LoadRepeats) of it, and one of them is the level.
    #[must_use]
    pub fn of_runs(setup: RunSetup, runs: Vec<LevelReport>, slo: Option<Slo>) -> Self {
        let mut loads: Vec<LoadRepeats> = Vec::new();
        for run in runs {
            match loads.last_mut() {
                Some(last) if last.load() == Some(run.load) => last.runs.push(run),
                _ => loads.push(LoadRepeats { runs: vec![run] }),
            }
        }
        let levels = loads.iter().filter_map(|load| load.standing_for_all().cloned()).collect();
        let repeats = loads.into_iter().filter(|load| load.runs.len() > 1).collect();
        Self::new(setup, levels, slo).with_repeats(repeats)
    }

    /// The same, with the loads that were measured more than once. Its levels are those that
    /// [stand for all runs](LoadRepeats::standing_for_all).
    #[must_use]
    pub(crate) fn with_repeats(self, repeats: Vec<LoadRepeats>) -> Self {
        let profile = self.profile;
        Self { repeats, ..self }.with_profile(profile)
    }

    /// The loads that were measured more than once.
    #[must_use]
    pub fn repeats(&self) -> &[LoadRepeats] {
        &self.repeats
    }

    /// Every run that was measured, once, load by load; and last the one at the operating point.
    pub fn measured_runs(&self) -> impl Iterator<Item = &LevelReport> {
        let of_loads = self.levels.iter().flat_map(|level| {
            let repeats = self.repeats.iter().find(|all| all.load() == Some(level.load));
            repeats.map_or_else(|| std::slice::from_ref(level), LoadRepeats::runs)
        });
        // Of a search it stands among the levels.
        let apart = |run: &&LevelReport| self.answer != Some(run.load);
        of_loads.chain(self.sustained().map(SustainedRun::run).filter(apart))
    }
}
