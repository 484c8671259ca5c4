//! A comparison as a table: a row for each figure that was looked at.

use fizeau_core::{Estimate, Interval};

use super::standard_error::StandardError;
use super::{
    ComparisonAnswer, FigureChoice, LevelFigure, PValue, RunToRun, SignificanceLevel,
    SmallestChange, TestPower, holm,
};
use crate::ResampleSeed;

/// How a comparison is made.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonSettings {
    /// What is looked at.
    pub figures: FigureChoice,
    /// How often any of the figures that are decided may differ by chance alone. Intervals are at 1 - alpha, each for itself.
    pub alpha: SignificanceLevel,
    /// How often a minimum detectable effect must be found.
    pub power: TestPower,
    /// What a difference must be at least to be called better or worse.
    pub smallest: SmallestChange,
    /// How much runs of one server differ among themselves: it widens comparisons of one run each. Rounds and repeats show it.
    pub run_to_run: RunToRun,
    /// How often requests are drawn again; rounds are not.
    pub resamples: u32,
    /// What the drawing starts from.
    pub seed: ResampleSeed,
}

impl Default for ComparisonSettings {
    /// The usual figures, 0.05, a power of 80 %, differences of 0.1 % at least, [`RunToRun::ASSUMED`], 2,000 resamples.
    fn default() -> Self {
        Self {
            figures: FigureChoice::usual(),
            alpha: SignificanceLevel::FIVE_PERCENT,
            power: TestPower::EIGHTY_PERCENT,
            smallest: SmallestChange::THOUSANDTH,
            run_to_run: RunToRun::ASSUMED,
            resamples: 2_000,
            seed: ResampleSeed(1),
        }
    }
}

/// A candidate against a baseline, figure by figure. Differences are candidate less baseline.
///
/// [`ComparisonTable::of_rounds`] makes it from the rounds of an A/B run, [`ComparisonTable::of_runs`] from repeats of both sides,
/// [`ComparisonTable::of_requests`] from the requests of two runs, [`ComparisonTable::of_intervals`] from figures whose requests are
/// not available.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ComparisonTable {
    /// What was compared with what.
    pub basis: ComparisonBasis,
    /// How often any of the figures that are decided may differ by chance alone.
    pub alpha: SignificanceLevel,
    /// How often a minimum detectable effect would be found.
    pub power: TestPower,
    /// What a difference must be at least to be called better or worse.
    pub smallest: SmallestChange,
    /// Over how many figures Holm's correction goes: those of this table that are decided and could be tested, and those of tables
    /// that were [decided together](ComparisonTable::decide_together) with it. The share of failed requests is not among them: whether
    /// more requests fail is a question of its own.
    pub corrected_over: usize,
    /// The figures that are decided, then those beside them.
    pub rows: Vec<ComparedFigure>,
}

/// What was compared with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonBasis {
    /// Rounds, each with its partner.
    Rounds(u64),
    /// Runs of each side, without partners.
    Runs {
        /// How many the baseline has.
        baseline: u64,
        /// How many the candidate has.
        candidate: u64,
    },
    /// Requests, each with the one of the same number on the other side.
    PairedRequests(u64),
    /// Requests that have no partners.
    Requests {
        /// How many the baseline has.
        baseline: u64,
        /// How many the candidate has.
        candidate: u64,
    },
    /// The 95 % intervals of figures, without the requests that they are of.
    Intervals,
}

/// One figure of both sides.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ComparedFigure {
    /// Which.
    pub figure: LevelFigure,
    /// The figure that was wanted, and takes more requests than there are; absent where it is this one.
    pub stands_for: Option<LevelFigure>,
    /// Whether an answer was to be had of it ([`FigureChoice::decided`]).
    pub is_decided: bool,
    /// The baseline's, in the figure's unit: of rounds the mean of their figures; absent if it has none.
    pub baseline: Option<f64>,
    /// The candidate's.
    pub candidate: Option<f64>,
    /// What the tests found, or why there are none.
    pub tested: Result<TestFindings, UntestedReason>,
}

/// What the tests found of a figure.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TestFindings {
    /// How many pairs were compared; without partners, how many values of the side that has fewer.
    pub n: u64,
    /// The difference in the figure's unit, with its interval, which ends where nothing of the figure would be left.
    pub difference: Estimate<f64>,
    /// The difference as a share of the baseline's figure, whose own uncertainty is not in the interval; absent where that
    /// figure is zero.
    pub relative: Option<Estimate<f64>>,
    /// The tests, the one that decides first.
    pub tests: Vec<NamedTest>,
    /// The size of the effect, without a unit; absent where there is no spread, and for rates of requests.
    pub effect: Option<EffectSize>,
    /// By how much runs were taken to differ among themselves, as a share of the figure: the interval and the tests have it in
    /// them. Zero where rounds or repeats showed it.
    pub run_to_run: f64,
    /// How far the difference may be off; absent where nothing varies.
    pub(super) standard_error: Option<StandardError>,
    /// The least difference that would have been found, in the figure's unit, with Holm's strictest level; absent where
    /// there is no spread.
    pub detectable: Option<f64>,
    /// The same as a share of the baseline's figure.
    pub relative_detectable: Option<f64>,
    /// The decision; absent for figures that are only shown.
    pub decision: Option<FigureDecision>,
}

/// A test and its p-value, not corrected.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct NamedTest {
    /// Which.
    pub test: ComparisonTest,
    /// Its p-value, two-sided.
    pub p: PValue,
}

/// A test of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ComparisonTest {
    /// [`PairedValues::t_test`](super::PairedValues::t_test).
    PairedT,
    /// Student's test of two samples with one variance.
    TwoSampleT,
    /// How many of all ways to deal the runs to both sides set them as far apart.
    Permutation,
    /// [`PairedValues::wilcoxon`](super::PairedValues::wilcoxon).
    Wilcoxon,
    /// The difference over its standard error from a bootstrap in blocks, against Student's t.
    BlockBootstrap,
    /// Fisher's exact test of two counts; of the requests of two runs both made smaller for the autocorrelation of what is counted.
    FisherExact,
    /// [`UnpairedValues::mann_whitney`](super::UnpairedValues::mann_whitney), its deviation made smaller for the autocorrelation of ranks.
    MannWhitney,
    /// The logarithm of the medians' ratio over how much the logarithms of the quarters' medians differ, against Student's t.
    Quarters,
    /// The difference against the normal distribution, by the 95 % intervals of both figures.
    Intervals,
}

fizeau_core::words! {
    /// As it is shown: `paired t`, `block bootstrap`.
    pub ComparisonTest::as_str {
        PairedT = "paired t", TwoSampleT = "two-sample t", Permutation = "permutation", Wilcoxon = "Wilcoxon", BlockBootstrap = "block bootstrap",
        FisherExact = "Fisher's exact", MannWhitney = "Mann-Whitney", Quarters = "quarters", Intervals = "normal, by intervals",
    }
}

/// The size of an effect, without a unit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct EffectSize {
    /// Which.
    pub kind: EffectKind,
    /// How great; positive where the candidate's values are greater.
    pub effect: Estimate<f64>,
}

/// A way to say how great an effect is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EffectKind {
    /// [`PairedValues::cohens_d`](super::PairedValues::cohens_d), of rounds.
    CohensD,
    /// [`UnpairedValues::cliffs_delta`](super::UnpairedValues::cliffs_delta) of the requests' latencies.
    CliffsDelta,
}

fizeau_core::words! {
    /// As it is shown: `Cohen's d`, `Cliff's delta`.
    pub EffectKind::as_str {
        CohensD = "Cohen's d", CliffsDelta = "Cliff's delta",
    }
}

/// The decision on a figure, among all that are judged.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FigureDecision {
    /// The p-value of the test that decides, by Holm's correction.
    pub adjusted: PValue,
    /// Over how many figures that correction goes, this one among them.
    pub corrected_over: usize,
    /// The answer.
    pub answer: ComparisonAnswer,
    /// Whether there is a difference by the test, but one smaller than [`ComparisonSettings::smallest`], so that it has no
    /// answer.
    pub is_too_small: bool,
}

/// Why a figure was not tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UntestedReason {
    /// A side has no such figure.
    #[error("the {0} does not have this figure")]
    Absent(super::ComparisonSide),
    /// A side's figure has no interval.
    #[error("the {0}'s figure has no interval")]
    NoInterval(super::ComparisonSide),
    /// Both sides have some, but no request has it on both.
    #[error("no pair of requests has this figure on both sides")]
    NoPairs,
    /// Too few values.
    #[error("needs {needs} {what}, has {has}")]
    TooFew {
        /// Of what: `rounds`, `requests`, `requests a round`.
        what: &'static str,
        /// How many it would take.
        needs: u64,
        /// How many there are.
        has: u64,
    },
    /// A figure that is pooled over tokens or is an extreme: it has no test from single requests.
    #[error(
        "a test of this figure needs more than the requests of two runs; compare repeats, or the rounds of an A/B run"
    )]
    NeedsRounds,
    /// Values beyond all measure.
    #[error("a value is too large to compute with")]
    NotANumber,
}

/// Figures that Holm's correction goes over together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    /// All but the share of failed requests.
    Figures,
    /// The share of failed requests, of each level and run.
    Failures,
}

impl Family {
    fn of(figure: LevelFigure) -> Self {
        if figure == LevelFigure::FAILED_SHARE { Self::Failures } else { Self::Figures }
    }
}

impl ComparisonTable {
    /// From rows without decisions: corrects the p-values of those that are decided, and answers.
    pub(super) fn with_decisions(
        basis: ComparisonBasis,
        settings: &ComparisonSettings,
        rows: Vec<ComparedFigure>,
    ) -> Self {
        let ComparisonSettings { alpha, power, smallest, .. } = *settings;
        let mut table = Self { basis, alpha, power, smallest, corrected_over: 0, rows };
        Self::decide_together([&mut table]);
        table
    }

    /// Decides anew, with Holm's correction over the figures of all `tables`: then the chance of calling a server better or worse
    /// than itself in any of them is at most alpha, however many levels and runs were compared. Whether more requests fail is asked
    /// beside it, at alpha too and corrected over the levels and runs alone: else a server that began to fail would have to fail the
    /// more often, the more latencies are looked at.
    pub fn decide_together<'a>(tables: impl IntoIterator<Item = &'a mut Self>) {
        let mut tables: Vec<&mut Self> = tables.into_iter().collect();
        for family in [Family::Figures, Family::Failures] {
            let raw = tables.iter().flat_map(|table| table.of(family).filter_map(TestFindings::p));
            let raw: Vec<PValue> = raw.collect();
            let mut corrected = holm(&raw).into_iter();
            for table in &mut tables {
                table.decide(family, raw.len(), &mut corrected);
            }
        }
    }

    /// Answers the figures of a family of `size` by their `corrected` p-values, which are taken in the order of rows.
    fn decide(
        &mut self,
        family: Family,
        size: usize,
        corrected: &mut impl Iterator<Item = PValue>,
    ) {
        let Self { alpha, power, smallest, .. } = *self;
        if family == Family::Figures {
            self.corrected_over = size;
        }
        for row in self.rows.iter_mut().filter(|row| Family::of(row.figure) == family) {
            let Ok(tested) = &mut row.tested else { continue };
            let within = if row.is_decided { strictest(alpha, size) } else { alpha };
            tested.detect(row.baseline, within, power);
            if row.is_decided
                && tested.p().is_some()
                && let Some(adjusted) = corrected.next()
            {
                let answer = ComparisonAnswer::of(
                    adjusted,
                    tested.difference.value(),
                    row.figure.direction(),
                    alpha,
                );
                let is_too_small = answer != ComparisonAnswer::NoDetectableDifference
                    && tested.relative.is_some_and(|change| change.value().abs() < smallest.get());
                let answer =
                    if is_too_small { ComparisonAnswer::NoDetectableDifference } else { answer };
                tested.decision =
                    Some(FigureDecision { adjusted, corrected_over: size, answer, is_too_small });
            }
        }
    }

    /// How many figures of this table are decided and could be tested, the share of failed requests among them.
    #[must_use]
    pub fn family_size(&self) -> usize {
        self.of(Family::Figures).count() + self.of(Family::Failures).count()
    }

    /// Whether the share of failed requests is decided and could be tested.
    #[must_use]
    pub fn asks_of_failures(&self) -> bool {
        self.of(Family::Failures).next().is_some()
    }

    /// The decided figures with this answer, in the order of rows.
    pub fn answered(&self, answer: ComparisonAnswer) -> impl Iterator<Item = LevelFigure> {
        let has = move |row: &&ComparedFigure| row.answer() == Some(answer);
        self.rows.iter().filter(has).map(|row| row.figure)
    }

    /// The decided and tested figures of a family.
    fn of(&self, family: Family) -> impl Iterator<Item = &TestFindings> {
        let decided = self.rows.iter().filter(|row| row.is_decided);
        let of_family = decided.filter(move |row| Family::of(row.figure) == family);
        of_family.filter_map(|row| row.tested.as_ref().ok())
    }
}

impl ComparedFigure {
    /// The answer; absent for a figure beside, and for one that could not be tested.
    #[must_use]
    pub fn answer(&self) -> Option<ComparisonAnswer> {
        Some(self.tested.as_ref().ok()?.decision?.answer)
    }
}

impl TestFindings {
    /// The p-value of the test that decides, not corrected.
    #[must_use]
    pub fn p(&self) -> Option<PValue> {
        self.tests.first().map(|test| test.p)
    }

    /// Of `n` values a side, with the tests of it, the one that decides first. An interval that reaches further down than to
    /// nothing ends there: no figure is less than zero.
    pub(super) fn new(
        n: u64,
        baseline: f64,
        difference: Estimate<f64>,
        standard_error: Option<StandardError>,
        tests: Vec<NamedTest>,
    ) -> Self {
        let interval = difference.interval();
        let interval = interval.map(|of| Interval { low: of.low.max(-baseline.abs()), ..of });
        let difference = Estimate::widened(difference.value(), interval);
        Self {
            n,
            difference,
            relative: share_of(difference, baseline),
            tests,
            effect: None,
            run_to_run: 0.0,
            standard_error,
            detectable: None,
            relative_detectable: None,
            decision: None,
        }
    }

    /// Sets the least difference that would have been found at a level of `within`.
    fn detect(&mut self, baseline: Option<f64>, within: SignificanceLevel, power: TestPower) {
        self.detectable = self.standard_error.map(|error| error.detectable(within, power));
        let share = self.detectable.zip(baseline).map(|(least, baseline)| least / baseline.abs());
        self.relative_detectable = share.filter(|share| share.is_finite());
    }
}

/// The level of the strictest step of Holm's correction over so many figures.
fn strictest(alpha: SignificanceLevel, family: usize) -> SignificanceLevel {
    SignificanceLevel::new(alpha.get() / family.max(1) as f64).unwrap_or(alpha)
}

/// An effect as a share of the size of the baseline's figure.
fn share_of(effect: Estimate<f64>, baseline: f64) -> Option<Estimate<f64>> {
    let size = baseline.abs();
    Some(effect.map(|end| end / size)).filter(|share| share.value().is_finite())
}
