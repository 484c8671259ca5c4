//! A comparison of repeats: a figure a run, without partners.

use fizeau_core::Estimate;

use super::fisher::fisher_exact;
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
    /// side where the other has several, as a new version has against the history of the old. Where no run differs from those of its
    /// side, as simulated runs of one seed do not, any difference in times and rates is one; of a share of requests whose counts are not
    /// known p is that of a permutation: of 3 runs and 1 at least 1/4.
    ///
    /// Of the shares of failed and of good requests Fisher's test of all requests of both sides stands beside, and the greater p decides: a
    /// difference is more than runs differ among themselves, and more than so many requests fail, or are good, by chance. Where the runs do not
    /// differ it decides alone, as of one run each.
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
        None => Ok(tested(figure, [&a, &b], by_counts(figure, baseline, candidate), settings)),
    };
    let (baseline, candidate) = (mean(&a), mean(&b));
    ComparedFigure { figure, stands_for: None, is_decided, baseline, candidate, tested }
}

/// What the requests of all runs of both sides say of a share of them, where their counts are known.
fn by_counts(
    figure: LevelFigure,
    baseline: &[RoundFigures],
    candidate: &[RoundFigures],
) -> Option<NamedTest> {
    let counts = |runs: &[RoundFigures]| RoundFigures::counts_of(runs, figure);
    let p = fisher_exact(counts(baseline)?, counts(candidate)?)?;
    Some(NamedTest { test: ComparisonTest::FisherExact, p })
}

fn tested(
    figure: LevelFigure,
    [a, b]: [&[f64]; 2],
    counts: Option<NamedTest>,
    settings: &ComparisonSettings,
) -> TestFindings {
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
    let t = |standard: StandardError| NamedTest {
        test: ComparisonTest::TwoSampleT,
        p: standard.p(estimate),
    };
    let mut tests: Vec<NamedTest> = moving.map(t).into_iter().chain(counts).collect();
    if tests.is_empty() {
        tests.push(match figure {
            LevelFigure::GOOD_SHARE | LevelFigure::FAILED_SHARE => {
                by_splits(estimate, a.len(), b.len())
            }
            _ => as_they_are(estimate),
        });
    }
    // Runs may be alike by chance, and requests may fail together: it takes both to tell the sides apart.
    tests.sort_by(|one, other| other.p.get().total_cmp(&one.p.get()));
    let difference = match moving {
        Some(standard) => standard.around(estimate, settings.alpha),
        None => Estimate::widened(estimate, None),
    };
    let n = a.len().min(b.len()) as u64;
    TestFindings::new(n, of_a.mean, difference, moving, tests)
}

/// Times and rates of several runs that are alike to the last digit are of one simulation: any difference is one.
fn as_they_are(estimate: f64) -> NamedTest {
    let p = PValue::clipped(if estimate == 0.0 { 1.0 } else { 0.0 });
    NamedTest { test: ComparisonTest::TwoSampleT, p }
}

/// Where the share of no run differs from those of its side, as of 100 %: how many of all ways to deal as many runs to both sides set
/// them this far apart, which is this one, and of equally many also its reverse.
fn by_splits(estimate: f64, n: usize, m: usize) -> NamedTest {
    let ways: f64 = (1..=n.min(m)).map(|k| (n.max(m) + k) as f64 / k as f64).product();
    let as_far = if n == m { 2.0 } else { 1.0 };
    let p = PValue::clipped(if estimate == 0.0 { 1.0 } else { as_far / ways });
    NamedTest { test: ComparisonTest::Permutation, p }
}
