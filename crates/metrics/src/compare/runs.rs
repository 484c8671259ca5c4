//! A comparison of repeats: a figure a run, without partners.

use fizeau_core::Estimate;

use super::rounds::{ROUNDING, mean, untested_reason};
use super::standard_error::StandardError;
use super::t::Moments;
use super::{
    ComparedFigure, ComparisonBasis, ComparisonSettings, ComparisonTable, ComparisonTest,
    LevelFigure, NamedTest, PValue, RoundFigures, TestFindings, UntestedReason,
};

/// Why runs cannot be compared by how much they differ among themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{baseline} and {candidate} runs are too few to show how much runs differ; give at least {} \
     in all, and one of each side",
    ComparisonTable::LEAST_RUNS
)]
pub struct TooFewRuns {
    /// How many the baseline has.
    pub baseline: usize,
    /// How many the candidate has.
    pub candidate: usize,
}

impl ComparisonTable {
    /// The least number of runs, of both sides together.
    pub const LEAST_RUNS: usize = 4;

    /// Repeats of the baseline against repeats of the candidate, in no order. How much the runs of a side differ among themselves is
    /// how uncertain the difference is, whatever the reason: Student's test of two samples with one variance, which takes one run on a
    /// side where the other has several, as a new version has against the history of the old.
    ///
    /// A run that lacks a figure is left out for it.
    ///
    /// ```
    /// use fizeau_metrics::{ComparisonAnswer, ComparisonSettings, ComparisonTable, LevelFigure, RoundFigures};
    /// let runs = |tps: &[f64]| -> Vec<RoundFigures> {
    ///     tps.iter().map(|&tps| RoundFigures::from_iter([(LevelFigure::OUTPUT_TPS, tps)])).collect()
    /// };
    /// let main = runs(&[1002.0, 990.0, 1010.0, 995.0, 1003.0]);
    /// let worse = |tps: f64| -> Result<usize, Box<dyn std::error::Error>> {
    ///     let table = ComparisonTable::of_runs(&main, &runs(&[tps]), &ComparisonSettings::default())?;
    ///     Ok(table.answered(ComparisonAnswer::Worse).count())
    /// };
    /// assert_eq!((worse(940.0)?, worse(985.0)?), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a side has none, or both together have fewer than [`ComparisonTable::LEAST_RUNS`].
    pub fn of_runs(
        baseline: &[RoundFigures],
        candidate: &[RoundFigures],
        settings: &ComparisonSettings,
    ) -> Result<Self, TooFewRuns> {
        let (n, m) = (baseline.len(), candidate.len());
        if n.min(m) == 0 || n + m < Self::LEAST_RUNS {
            return Err(TooFewRuns { baseline: n, candidate: m });
        }
        let row = |(figure, is_decided)| row(figure, is_decided, baseline, candidate, settings);
        let basis = ComparisonBasis::Runs { baseline: n as u64, candidate: m as u64 };
        Ok(Self::with_decisions(basis, settings, settings.figures.all().map(row).collect()))
    }
}

fn row(
    figure: LevelFigure,
    is_decided: bool,
    baseline: &[RoundFigures],
    candidate: &[RoundFigures],
    settings: &ComparisonSettings,
) -> ComparedFigure {
    let values = |runs: &[RoundFigures]| -> Vec<f64> {
        runs.iter().filter_map(|run| run.get(figure)).collect()
    };
    let (a, b) = (values(baseline), values(candidate));
    let (needs, has) = (ComparisonTable::LEAST_RUNS as u64, (a.len() + b.len()) as u64);
    let tested = match untested_reason(figure, baseline, candidate, "requests a run") {
        Some(why) => Err(why),
        None if has < needs => Err(UntestedReason::TooFew { what: "runs", needs, has }),
        None if a.iter().chain(&b).any(|value| !value.is_finite()) => {
            Err(UntestedReason::NotANumber)
        }
        None => Ok(tested(&a, &b, settings)),
    };
    let (baseline, candidate) = (mean(&a), mean(&b));
    ComparedFigure { figure, stands_for: None, is_decided, baseline, candidate, tested }
}

fn tested(a: &[f64], b: &[f64], settings: &ComparisonSettings) -> TestFindings {
    let squares = |values: &[f64], of: Moments| match values {
        [_] => 0.0,
        _ => of.variance * (of.n - 1.0),
    };
    let (of_a, of_b) = (Moments::of(a), Moments::of(b));
    let df = of_a.n + of_b.n - 2.0;
    let variance = (squares(a, of_a) + squares(b, of_b)) / df;
    let error = (variance * (1.0 / of_a.n + 1.0 / of_b.n)).sqrt();
    let estimate = of_b.mean - of_a.mean;
    let standard = StandardError { error, df };
    let moving = Some(standard).filter(|_| error > ROUNDING * of_a.mean.abs());
    // Where no run differs from its like, any difference between the sides is one.
    let same = PValue::clipped(if estimate == 0.0 { 1.0 } else { 0.0 });
    let p = moving.map_or(same, |standard| standard.p(estimate));
    let difference = match moving {
        Some(standard) => standard.around(estimate, settings.alpha),
        None => Estimate::widened(estimate, None),
    };
    let n = a.len().min(b.len()) as u64;
    let tests = vec![NamedTest { test: ComparisonTest::TwoSampleT, p }];
    TestFindings::new(n, of_a.mean, difference, moving, tests)
}
