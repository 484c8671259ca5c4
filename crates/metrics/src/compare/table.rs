//! A comparison as a table: a row for each figure that was looked at.

use fizeau_core::Estimate;

use super::{Alpha, Answer, Figure, FigureChoice, PValue, Power, Smallest, holm};
use crate::ResampleSeed;

/// How a comparison is made.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonSettings {
    /// What is looked at.
    pub figures: FigureChoice,
    /// How often any of the figures that are decided may differ by chance alone. Intervals are at 1 - alpha, each for itself.
    pub alpha: Alpha,
    /// How often a minimum detectable effect must be found.
    pub power: Power,
    /// What a difference must be at least to be called better or worse.
    pub smallest: Smallest,
    /// How often requests are drawn again; rounds are not.
    pub resamples: u32,
    /// What the drawing starts from.
    pub seed: ResampleSeed,
}

impl Default for ComparisonSettings {
    /// The usual figures, 0.05, a power of 80 %, differences of 0.1 % at least, 2,000 resamples.
    fn default() -> Self {
        Self {
            figures: FigureChoice::usual(),
            alpha: Alpha::FIVE_PERCENT,
            power: Power::EIGHTY_PERCENT,
            smallest: Smallest::THOUSANDTH,
            resamples: 2_000,
            seed: ResampleSeed(1),
        }
    }
}

/// A candidate against a baseline, figure by figure. Differences are candidate less baseline.
///
/// [`ComparisonTable::of_rounds`] makes it from the rounds of an A/B run, [`ComparisonTable::of_requests`] from the requests
/// of two runs, [`ComparisonTable::of_intervals`] from figures whose requests are not at hand.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ComparisonTable {
    /// What was compared with what.
    pub basis: Basis,
    /// How often any of the figures that are decided may differ by chance alone.
    pub alpha: Alpha,
    /// How often a minimum detectable effect would be found.
    pub power: Power,
    /// What a difference must be at least to be called better or worse.
    pub smallest: Smallest,
    /// The figures that are decided, then those beside them.
    pub rows: Vec<ComparedFigure>,
}

/// What was compared with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Rounds, each with its partner.
    Rounds(u64),
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
    pub figure: Figure,
    /// Whether an answer was to be had of it ([`FigureChoice::decided`]).
    pub is_decided: bool,
    /// The baseline's, in the figure's unit: of rounds the mean of their figures; absent if it has none.
    pub baseline: Option<f64>,
    /// The candidate's.
    pub candidate: Option<f64>,
    /// What the tests found, or why there are none.
    pub tested: Result<Tested, Untested>,
}

/// What the tests found of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Tested {
    /// How many pairs were compared; without partners, how many values of the side that has fewer.
    pub n: u64,
    /// The difference in the figure's unit, with its interval.
    pub difference: Estimate<f64>,
    /// The difference as a share of the baseline's figure, whose own uncertainty is not in the interval; absent where that
    /// figure is zero.
    pub relative: Option<Estimate<f64>>,
    /// The tests, the one that decides first.
    pub tests: Vec<NamedTest>,
    /// The size of the effect, without a unit; absent where there is no spread, and for rates of requests.
    pub effect: Option<EffectSize>,
    /// The least difference that would have been found, in the figure's unit, with Holm's strictest level; absent where
    /// there is no spread.
    pub detectable: Option<f64>,
    /// The same as a share of the baseline's figure.
    pub relative_detectable: Option<f64>,
    /// What it comes to; absent for figures beside.
    pub decision: Option<Decision>,
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
    /// [`Pairs::t_test`](super::Pairs::t_test).
    PairedT,
    /// [`Pairs::wilcoxon`](super::Pairs::wilcoxon).
    Wilcoxon,
    /// The difference over its standard error from a bootstrap in blocks, against Student's t.
    BlockBootstrap,
    /// [`Sides::mann_whitney`](super::Sides::mann_whitney), its deviation made smaller for the autocorrelation of ranks.
    MannWhitney,
    /// The difference against the normal distribution, by the 95 % intervals of both figures.
    Intervals,
}

fizeau_core::words! {
    /// As it is shown: `paired t`, `block bootstrap`.
    pub ComparisonTest::as_str {
        PairedT = "paired t", Wilcoxon = "Wilcoxon", BlockBootstrap = "block bootstrap",
        MannWhitney = "Mann-Whitney", Intervals = "normal, by intervals",
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
    /// [`Pairs::cohens_d`](super::Pairs::cohens_d), of rounds.
    CohensD,
    /// [`Sides::cliffs_delta`](super::Sides::cliffs_delta) of the requests' latencies.
    CliffsDelta,
}

fizeau_core::words! {
    /// As it is shown: `Cohen's d`, `Cliff's delta`.
    pub EffectKind::as_str {
        CohensD = "Cohen's d", CliffsDelta = "Cliff's delta",
    }
}

/// What a figure comes to, among all that are decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// The p-value of the test that decides, by Holm's correction.
    pub adjusted: PValue,
    /// The answer.
    pub answer: Answer,
    /// Whether there is a difference by the test, but one smaller than [`ComparisonSettings::smallest`], so that it has no
    /// answer.
    pub is_too_small: bool,
}

/// Why a figure was not tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Untested {
    /// A side has no such figure.
    #[error("the {0} has none")]
    Absent(super::Side),
    /// A side's figure has no interval.
    #[error("the {0}'s has no interval")]
    NoInterval(super::Side),
    /// Both sides have some, but no request has it on both.
    #[error("no pair of requests has it on both sides")]
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
    #[error("has no test from single requests: compare it over rounds (`fizeau ab`)")]
    NeedsRounds,
    /// Values beyond all measure.
    #[error("a value is beyond all measure")]
    NotANumber,
}

impl ComparisonTable {
    /// From rows without decisions: corrects the p-values of those that are decided, and answers.
    pub(super) fn decided(
        basis: Basis,
        settings: &ComparisonSettings,
        rows: Vec<ComparedFigure>,
    ) -> Self {
        let ComparisonSettings { alpha, power, smallest, .. } = *settings;
        let mut table = Self { basis, alpha, power, smallest, rows };
        let raw: Vec<PValue> = table.family().filter_map(Tested::p).collect();
        let mut corrected = holm(&raw).into_iter();
        for row in &mut table.rows {
            if let (true, Ok(tested)) = (row.is_decided, &mut row.tested)
                && tested.p().is_some()
                && let Some(adjusted) = corrected.next()
            {
                let direction = row.figure.direction();
                let found = Answer::of(adjusted, tested.difference.value(), direction, alpha);
                let is_small =
                    tested.relative.is_some_and(|change| change.value().abs() < smallest.get());
                let is_too_small = is_small && found != Answer::NoDetectableDifference;
                let answer = if is_too_small { Answer::NoDetectableDifference } else { found };
                tested.decision = Some(Decision { adjusted, answer, is_too_small });
            }
        }
        table
    }

    /// How many figures share in Holm's correction: those that are decided and could be tested.
    #[must_use]
    pub fn family_size(&self) -> usize {
        self.family().count()
    }

    /// The decided figures with this answer, in the order of rows.
    pub fn answered(&self, answer: Answer) -> impl Iterator<Item = Figure> {
        let has = move |row: &&ComparedFigure| row.answer() == Some(answer);
        self.rows.iter().filter(has).map(|row| row.figure)
    }

    /// Whether any figure is worse where all tables are taken as one: see [`ComparisonTable::worse_of_all`].
    pub fn is_any_worse<'a>(tables: impl IntoIterator<Item = &'a Self>) -> bool {
        !Self::worse_of_all(tables).is_empty()
    }

    /// The figures that are worse where all tables are taken as one, each with the place of its table, with Holm's correction
    /// over the figures of all: then the chance of saying so of a server that is not is at most alpha, however many levels and
    /// runs were compared.
    pub fn worse_of_all<'a>(tables: impl IntoIterator<Item = &'a Self>) -> Vec<(usize, Figure)> {
        let decided = tables.into_iter().enumerate().flat_map(|(place, table)| {
            let decided = table.rows.iter().filter(|row| row.is_decided);
            let tested = decided.filter_map(|row| Some((row, row.tested.as_ref().ok()?.p()?)));
            tested.map(move |(row, p)| (place, table.alpha, row, p))
        });
        let decided: Vec<(usize, Alpha, &ComparedFigure, PValue)> = decided.collect();
        let raw: Vec<PValue> = decided.iter().map(|(_, _, _, p)| *p).collect();
        let corrected = decided.iter().zip(holm(&raw));
        corrected
            .filter(|((_, alpha, _, _), p)| p.get() <= alpha.get())
            .filter(|((_, _, row, _), _)| row.answer() == Some(Answer::Worse))
            .map(|((place, _, row, _), _)| (*place, row.figure))
            .collect()
    }

    fn family(&self) -> impl Iterator<Item = &Tested> {
        let decided = self.rows.iter().filter(|row| row.is_decided);
        decided.filter_map(|row| row.tested.as_ref().ok())
    }
}

impl ComparedFigure {
    /// The answer; absent for a figure beside, and for one that could not be tested.
    #[must_use]
    pub fn answer(&self) -> Option<Answer> {
        Some(self.tested.as_ref().ok()?.decision?.answer)
    }
}

impl Tested {
    /// The p-value of the test that decides, not corrected.
    #[must_use]
    pub fn p(&self) -> Option<PValue> {
        self.tests.first().map(|test| test.p)
    }
}

/// The level of the strictest step of Holm's correction over so many figures.
pub(super) fn strictest(alpha: Alpha, family: usize) -> Alpha {
    Alpha::new(alpha.get() / family.max(1) as f64).unwrap_or(alpha)
}

/// An effect as a share of the size of the baseline's figure.
pub(super) fn share_of(effect: Estimate<f64>, baseline: f64) -> Option<Estimate<f64>> {
    let size = baseline.abs();
    Some(effect.map(|end| end / size)).filter(|share| share.value().is_finite())
}
