//! A comparison of rounds: a figure a round and side.

use fizeau_core::Estimate;

use super::table::{share_of, strictest};
use super::{
    Alpha, Basis, ComparedFigure, ComparisonSettings, ComparisonTable, ComparisonTest, EffectKind,
    EffectSize, Figure, NamedTest, PValue, Pairs, PairsError, Power, Side, Tested, Untested,
};
use crate::{LevelSummary, Quantile};

/// The figures of one side in one round: those of a level, or pairs that are collected.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RoundFigures {
    known: Vec<(Figure, f64)>,
    /// Percentiles of too few requests: how many they need, and how many there are.
    withheld: Vec<(Figure, u64, u64)>,
}

impl RoundFigures {
    /// All figures that `level` has.
    #[must_use]
    pub fn of(level: &LevelSummary) -> Self {
        let measured =
            |figure: Figure| Some((figure, figure.metric.measured(figure.statistic, level)?));
        let withheld = |figure: Figure| {
            let distribution = figure.metric.distribution(level)?;
            match distribution.quantile(figure.statistic)? {
                Quantile::Withheld { needs } => Some((figure, needs, distribution.n)),
                Quantile::Absent | Quantile::Known { .. } => None,
            }
        };
        Self {
            known: Figure::all().filter_map(measured).collect(),
            withheld: Figure::all().filter_map(withheld).collect(),
        }
    }

    /// One of them, in its unit; absent if the round has none.
    pub(crate) fn get(&self, figure: Figure) -> Option<f64> {
        self.known.iter().find(|(known, _)| *known == figure).map(|(_, value)| *value)
    }

    /// Of a percentile of too few requests: how many it needs, and how many there are.
    fn withheld(&self, figure: Figure) -> Option<(u64, u64)> {
        let found = self.withheld.iter().find(|(withheld, _, _)| *withheld == figure);
        found.map(|(_, needs, has)| (*needs, *has))
    }
}

impl FromIterator<(Figure, f64)> for RoundFigures {
    fn from_iter<I: IntoIterator<Item = (Figure, f64)>>(figures: I) -> Self {
        Self { known: figures.into_iter().collect(), withheld: Vec::new() }
    }
}

/// Why rounds cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RoundsError {
    /// A side has more rounds than the other.
    #[error(
        "the baseline has {baseline} rounds and the candidate {candidate}: each needs its partner"
    )]
    CountsDiffer {
        /// How many the baseline has.
        baseline: usize,
        /// How many the candidate has.
        candidate: usize,
    },
    /// Too few to say anything.
    #[error("rounds: {0}; at least 5 are needed")]
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
    /// use fizeau_metrics::{Answer, ComparisonSettings, ComparisonTable, Figure, RoundFigures};
    /// let rounds = |ttft: [f64; 6]| ttft.map(|ms| RoundFigures::from_iter([(Figure::P50_TTFT, ms)]));
    /// let before = rounds([50.1, 49.8, 50.6, 50.3, 49.9, 50.4]);
    /// let after = rounds([48.0, 47.9, 48.8, 48.1, 47.7, 48.5]);
    /// let table = ComparisonTable::of_rounds(&before, &after, &ComparisonSettings::default())?;
    /// let better: Vec<Figure> = table.answered(Answer::Better).collect();
    /// assert_eq!(better, [Figure::P50_TTFT]);
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
        let both = |&figure: &Figure| Both::of(figure, baseline, candidate);
        let decided: Vec<Both> = settings.figures.decided.iter().map(both).collect();
        let family = decided.iter().filter(|both| both.pairs.is_ok()).count();
        let within = strictest(settings.alpha, family);
        let row =
            |both: Both, is_decided: bool, within: Alpha| both.row(is_decided, settings, within);
        let mut rows: Vec<ComparedFigure> =
            decided.into_iter().map(|both| row(both, true, within)).collect();
        let beside = settings.figures.beside.iter().map(both);
        rows.extend(beside.map(|both| row(both, false, settings.alpha)));
        Ok(Self::decided(Basis::Rounds(baseline.len() as u64), settings, rows))
    }
}

/// A figure of the rounds in which both sides have it.
struct Both {
    figure: Figure,
    baseline: Option<f64>,
    candidate: Option<f64>,
    pairs: Result<Pairs, Untested>,
}

impl Both {
    fn of(figure: Figure, baseline: &[RoundFigures], candidate: &[RoundFigures]) -> Self {
        let rounds = baseline.iter().zip(candidate);
        let both = rounds.filter_map(|(a, b)| a.get(figure).zip(b.get(figure)));
        let (a, b): (Vec<f64>, Vec<f64>) = both.unzip();
        let has_any = |rounds: &[RoundFigures]| rounds.iter().any(|r| r.get(figure).is_some());
        let absent = |side: Side, rounds: &[RoundFigures]| {
            let withheld = rounds.iter().filter_map(|round| round.withheld(figure));
            // The round that came nearest.
            withheld.max_by_key(|(_, has)| *has).map_or(Untested::Absent(side), |(needs, has)| {
                Untested::TooFew { what: "requests a round", needs, has }
            })
        };
        let pairs = if !has_any(baseline) {
            Err(absent(Side::Baseline, baseline))
        } else if !has_any(candidate) {
            Err(absent(Side::Candidate, candidate))
        } else if a.len() < ComparisonTable::LEAST_ROUNDS {
            let (needs, has) = (ComparisonTable::LEAST_ROUNDS as u64, a.len() as u64);
            Err(Untested::TooFew { what: "rounds", needs, has })
        } else {
            Pairs::new(&a, &b).map_err(|error| match error {
                PairsError::LengthsDiffer { .. }
                | PairsError::TooFew(_)
                | PairsError::NotANumber { .. } => Untested::NotANumber,
            })
        };
        Self { figure, baseline: mean(&a), candidate: mean(&b), pairs }
    }

    /// `within` is the level that a detectable effect must pass.
    fn row(self, is_decided: bool, settings: &ComparisonSettings, within: Alpha) -> ComparedFigure {
        let scale = self.baseline.unwrap_or(0.0);
        let test = |pairs: Pairs| tested(&pairs, scale, settings, within);
        ComparedFigure {
            figure: self.figure,
            is_decided,
            baseline: self.baseline,
            candidate: self.candidate,
            tested: self.pairs.map(test),
        }
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// How far differences may lie apart by rounding alone, as a share of the figures.
const ROUNDING: f64 = 1e-12;

fn tested(pairs: &Pairs, baseline: f64, settings: &ComparisonSettings, within: Alpha) -> Tested {
    let wilcoxon = pairs.wilcoxon().ok().map(|test| test.p);
    let wilcoxon = wilcoxon.map(|p| NamedTest { test: ComparisonTest::Wilcoxon, p });
    let n = pairs.differences().len() as u64;
    let spread = spread(pairs.differences());
    let moving = (spread > ROUNDING * baseline.abs()).then(|| pairs.t_test().ok()).flatten();
    let Some(t_test) = moving else {
        // No difference at all is told from none by no test.
        let same = NamedTest { test: ComparisonTest::Wilcoxon, p: PValue::clipped(1.0) };
        let estimate = mean(pairs.differences()).unwrap_or(0.0);
        let difference = Estimate::widened(estimate, None);
        return Tested {
            n,
            difference,
            relative: share_of(difference, baseline),
            tests: vec![wilcoxon.unwrap_or(same)],
            effect: None,
            detectable: None,
            relative_detectable: None,
            decision: None,
        };
    };
    let none = Estimate::widened(0.0, None);
    let difference = pairs.mean_shift(settings.alpha).unwrap_or(none);
    let detectable = detectable(pairs, within, settings.power);
    let t_test = NamedTest { test: ComparisonTest::PairedT, p: t_test.p };
    let effect = pairs.cohens_d(settings.alpha).ok();
    Tested {
        n,
        difference,
        relative: share_of(difference, baseline),
        tests: std::iter::once(t_test).chain(wilcoxon).collect(),
        effect: effect.map(|effect| EffectSize { kind: EffectKind::CohensD, effect }),
        detectable,
        relative_detectable: detectable
            .map(|least| least / baseline.abs())
            .filter(|x| x.is_finite()),
        decision: None,
    }
}

fn detectable(pairs: &Pairs, within: Alpha, power: Power) -> Option<f64> {
    pairs.detectable(within, power).ok()
}

/// From the least to the greatest.
fn spread(differences: &[f64]) -> f64 {
    let least = differences.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = differences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    greatest - least
}
