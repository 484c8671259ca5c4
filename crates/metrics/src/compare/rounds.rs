//! A comparison of rounds: a figure a round and side.

use fizeau_core::Estimate;

use super::fisher::CountOf;
use super::standard_error::StandardError;
use super::t::Moments;
use super::{
    ComparedFigure, ComparisonBasis, ComparisonSettings, ComparisonSide, ComparisonTable,
    ComparisonTest, EffectKind, EffectSize, LevelFigure, NamedTest, PValue, PairedValues,
    PairedValuesError, TestFindings, UntestedReason,
};
use crate::{LevelSummary, Quantile};

/// The figures of one side in one round, or of one run of several: those of a level, or pairs that are collected.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RoundFigures {
    known: Vec<(LevelFigure, f64)>,
    /// Percentiles of too few requests: how many they need, and how many there are.
    withheld: Vec<(LevelFigure, u64, u64)>,
    /// How many requests failed, and of how many; unknown of pairs that were collected.
    failures: Option<CountOf>,
    /// How many requests were good, and of how many; unknown without goals.
    good: Option<CountOf>,
}

impl RoundFigures {
    /// All figures that `level` has.
    #[must_use]
    pub fn of(level: &LevelSummary) -> Self {
        let measured =
            |figure: LevelFigure| Some((figure, figure.metric.measured(figure.statistic, level)?));
        let withheld = |figure: LevelFigure| {
            let distribution = figure.metric.distribution(level)?;
            match distribution.quantile(figure.statistic)? {
                Quantile::Withheld { needs } => Some((figure, needs, distribution.n)),
                Quantile::Absent | Quantile::Known { .. } => None,
            }
        };
        let requests = &level.requests;
        Self {
            known: LevelFigure::all().filter_map(measured).collect(),
            withheld: LevelFigure::all().filter_map(withheld).collect(),
            failures: Some(CountOf { count: requests.failures(), of: requests.answerable() }),
            good: level
                .goodput
                .as_ref()
                .map(|all| CountOf { count: all.good, of: all.sent + all.unsent }),
        }
    }

    /// Whether requests failed, so that the latencies are those of the others alone: a comparison then [asks of
    /// failures](super::FigureChoice::with_failures) too.
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.get(LevelFigure::FAILED_SHARE).is_some_and(|share| share > 0.0)
    }

    /// Of a `figure` that is a share of requests: how many of all `runs` it counts, and of how many; none where that is not known of
    /// each.
    pub(super) fn counts_of(runs: &[Self], figure: LevelFigure) -> Option<CountOf> {
        let counted = |run: &Self| match figure {
            LevelFigure::FAILED_SHARE => run.failures,
            LevelFigure::GOOD_SHARE => run.good,
            _ => None,
        };
        runs.iter().try_fold(CountOf { count: 0, of: 0 }, |sum, run| {
            let CountOf { count, of } = counted(run)?;
            Some(CountOf { count: sum.count + count, of: sum.of + of })
        })
    }

    /// One of them, in its unit; absent if the round has none.
    pub(crate) fn get(&self, figure: LevelFigure) -> Option<f64> {
        self.known.iter().find(|(known, _)| *known == figure).map(|(_, value)| *value)
    }

    /// Of a percentile of too few requests: how many it needs, and how many there are.
    fn withheld(&self, figure: LevelFigure) -> Option<(u64, u64)> {
        let found = self.withheld.iter().find(|(withheld, _, _)| *withheld == figure);
        found.map(|(_, needs, has)| (*needs, *has))
    }
}

impl FromIterator<(LevelFigure, f64)> for RoundFigures {
    fn from_iter<I: IntoIterator<Item = (LevelFigure, f64)>>(figures: I) -> Self {
        Self {
            known: figures.into_iter().collect(),
            withheld: Vec::new(),
            failures: None,
            good: None,
        }
    }
}

/// Why rounds cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RoundsError {
    /// A side has more rounds than the other.
    #[error("rounds must be paired: the baseline has {baseline}, the candidate {candidate}")]
    CountsDiffer {
        /// How many the baseline has.
        baseline: usize,
        /// How many the candidate has.
        candidate: usize,
    },
    /// Too few to say anything.
    #[error("{0} rounds are too few; a comparison needs at least 5")]
    TooFew(usize),
}

impl ComparisonTable {
    /// The least number of rounds.
    pub const LEAST_ROUNDS: usize = 5;

    /// Rounds against rounds: the first of the baseline with the first of the candidate, and so on.
    ///
    /// The paired t-test decides, and Wilcoxon's test stands beside it. With five rounds the least p that Wilcoxon's test can
    /// have is 1/16, with eight 1/128: it could find no difference in the first, and under Holm's correction over five figures
    /// none below the second. The t-test has no such floor; what it takes for granted, that the differences are roughly
    /// normal, figures of whole rounds come close to, and where a round is far off it rather misses a difference than finds one
    /// that is none. Where all differences are alike, so that it has nothing to stand on, Wilcoxon's test decides.
    ///
    /// A round that lacks a figure on either side is left out for that figure.
    ///
    /// ```
    /// use fizeau_metrics::{ComparisonAnswer, ComparisonSettings, ComparisonTable, LevelFigure, RoundFigures};
    /// let rounds = |ttft: [f64; 6]| ttft.map(|ms| RoundFigures::from_iter([(LevelFigure::P50_TTFT, ms)]));
    /// let before = rounds([50.1, 49.8, 50.6, 50.3, 49.9, 50.4]);
    /// let after = rounds([48.0, 47.9, 48.8, 48.1, 47.7, 48.5]);
    /// let table = ComparisonTable::of_rounds(&before, &after, &ComparisonSettings::default())?;
    /// let better: Vec<LevelFigure> = table.answered(ComparisonAnswer::Better).collect();
    /// assert_eq!(better, [LevelFigure::P50_TTFT]);
    /// # Ok::<(), fizeau_metrics::RoundsError>(())
    /// ```
    ///
    /// # Errors
    /// If the sides differ in the number of rounds, or there are fewer than [`ComparisonTable::LEAST_ROUNDS`].
    pub fn of_rounds(
        baseline: &[RoundFigures],
        candidate: &[RoundFigures],
        settings: &ComparisonSettings,
    ) -> Result<Self, RoundsError> {
        if baseline.len() != candidate.len() {
            let (baseline, candidate) = (baseline.len(), candidate.len());
            return Err(RoundsError::CountsDiffer { baseline, candidate });
        }
        if baseline.len() < Self::LEAST_ROUNDS {
            return Err(RoundsError::TooFew(baseline.len()));
        }
        let row = |(figure, is_decided): (LevelFigure, bool)| {
            BothRounds::of(figure, baseline, candidate).row(is_decided, settings)
        };
        let rows = settings.figures.all().map(row).collect();
        Ok(Self::with_decisions(ComparisonBasis::Rounds(baseline.len() as u64), settings, rows))
    }
}

/// Why a figure cannot be tested that no round of a side has; none where both have it. `what` is what a percentile takes.
pub(super) fn untested_reason(
    figure: LevelFigure,
    baseline: &[RoundFigures],
    candidate: &[RoundFigures],
    what: &'static str,
) -> Option<UntestedReason> {
    let sides = [(ComparisonSide::Baseline, baseline), (ComparisonSide::Candidate, candidate)];
    let (side, rounds) = sides
        .into_iter()
        .find(|(_, rounds)| rounds.iter().all(|round| round.get(figure).is_none()))?;
    let withheld = rounds.iter().filter_map(|round| round.withheld(figure));
    // The round that came nearest.
    let nearest = withheld.max_by_key(|(_, has)| *has);
    Some(nearest.map_or(UntestedReason::Absent(side), |(needs, has)| UntestedReason::TooFew {
        what,
        needs,
        has,
    }))
}

/// A figure of the rounds in which both sides have it.
struct BothRounds {
    figure: LevelFigure,
    baseline: Option<f64>,
    candidate: Option<f64>,
    pairs: Result<PairedValues, UntestedReason>,
}

impl BothRounds {
    fn of(figure: LevelFigure, baseline: &[RoundFigures], candidate: &[RoundFigures]) -> Self {
        let rounds = baseline.iter().zip(candidate);
        let both = rounds.filter_map(|(a, b)| a.get(figure).zip(b.get(figure)));
        let (a, b): (Vec<f64>, Vec<f64>) = both.unzip();
        let reason = untested_reason(figure, baseline, candidate, "requests a round");
        let pairs = if let Some(why) = reason {
            Err(why)
        } else if a.len() < ComparisonTable::LEAST_ROUNDS {
            let (needs, has) = (ComparisonTable::LEAST_ROUNDS as u64, a.len() as u64);
            Err(UntestedReason::TooFew { what: "rounds", needs, has })
        } else {
            PairedValues::new(&a, &b).map_err(|error| match error {
                PairedValuesError::LengthsDiffer { .. }
                | PairedValuesError::TooFew(_)
                | PairedValuesError::NotANumber { .. } => UntestedReason::NotANumber,
            })
        };
        Self { figure, baseline: mean(&a), candidate: mean(&b), pairs }
    }

    fn row(self, is_decided: bool, settings: &ComparisonSettings) -> ComparedFigure {
        let scale = self.baseline.unwrap_or(0.0);
        ComparedFigure {
            figure: self.figure,
            stands_for: None,
            is_decided,
            baseline: self.baseline,
            candidate: self.candidate,
            tested: self.pairs.map(|pairs| tested(&pairs, scale, settings)),
        }
    }
}

pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// How far differences may lie apart by rounding alone, as a share of the figures.
pub(super) const ROUNDING: f64 = 1e-12;

fn tested(pairs: &PairedValues, baseline: f64, settings: &ComparisonSettings) -> TestFindings {
    let wilcoxon = pairs.wilcoxon().ok().map(|test| test.p);
    let wilcoxon = wilcoxon.map(|p| NamedTest { test: ComparisonTest::Wilcoxon, p });
    let n = pairs.differences().len() as u64;
    let spread = differences_deviation(pairs.differences());
    let moving = (spread > ROUNDING * baseline.abs()).then(|| pairs.t_test().ok()).flatten();
    let Some(t_test) = moving else {
        // No difference at all is told from none by no test.
        let same = NamedTest { test: ComparisonTest::Wilcoxon, p: PValue::clipped(1.0) };
        let estimate = mean(pairs.differences()).unwrap_or(0.0);
        let difference = Estimate::widened(estimate, None);
        return TestFindings::new(n, baseline, difference, None, vec![wilcoxon.unwrap_or(same)]);
    };
    let Moments { n: rounds, mean, variance } = Moments::of(pairs.differences());
    let standard = StandardError { error: (variance / rounds).sqrt(), df: rounds - 1.0 };
    let difference = standard.around(mean, settings.alpha);
    let t_test = NamedTest { test: ComparisonTest::PairedT, p: t_test.p };
    let tests = std::iter::once(t_test).chain(wilcoxon).collect();
    let effect = pairs.cohens_d(settings.alpha).ok();
    TestFindings {
        effect: effect.map(|effect| EffectSize { kind: EffectKind::CohensD, effect }),
        ..TestFindings::new(n, baseline, difference, Some(standard), tests)
    }
}

/// From the least to the greatest.
fn differences_deviation(differences: &[f64]) -> f64 {
    let least = differences.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = differences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    greatest - least
}
