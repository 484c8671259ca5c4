//! Wilcoxon's signed-rank test.

use thiserror::Error;

use super::null::Counts;
use super::ranks::Ranks;
use super::student::normal_above;
use super::{PValue, PairedValues};

/// The most pairs without ties and zeros for which the exact law is used.
const EXACT_UPTO: usize = 50;
/// The most pairs with ties or zeros for which it is.
const EXACT_TIED_UPTO: usize = 13;

/// Which law a p-value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NullLaw {
    /// All cases counted.
    Exact,
    /// The normal approximation, with the variance corrected for ties.
    Normal,
}

/// What a rank test found; two-sided.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RankTest {
    /// Of Wilcoxon's test, the sum of the ranks of the pairs in which the candidate is greater; of Mann and
    /// Whitney's, the number of comparisons that the candidate wins, a tie counting half.
    pub statistic: f64,
    /// How likely a statistic as far from its middle is where the sides do not differ.
    pub p: PValue,
    /// Which law `p` comes from.
    pub law: NullLaw,
}

/// No pair differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("all pairs are equal; a signed-rank test needs at least one difference")]
pub struct NoDifferenceError;

impl PairedValues {
    /// Wilcoxon's signed-rank test: SciPy's `wilcoxon(candidate - baseline)`. Pairs that do not differ are left
    /// out before ranking, Wilcoxon's own way.
    ///
    /// Exact up to 50 pairs without ties and zeros, and up to 13 with them, by counting all assignments of
    /// signs. Beyond, the normal approximation with the variance corrected for ties, without a correction for
    /// continuity, as SciPy does by default. The statistic is the sum of the positive ranks, where SciPy
    /// gives the lesser of both sums.
    ///
    /// # Errors
    /// If no pair differs.
    pub fn wilcoxon(&self) -> Result<RankTest, NoDifferenceError> {
        let signed = SignedRanks::of(self.differences());
        if signed.doubled.is_empty() {
            return Err(NoDifferenceError);
        }
        let exact_upto = if signed.tied || signed.zeros > 0 { EXACT_TIED_UPTO } else { EXACT_UPTO };
        let counts = (self.differences().len() <= exact_upto)
            .then(|| Counts::of_signs(&signed.doubled))
            .flatten();
        let (p, law) = match counts {
            Some(counts) => {
                let tail = counts.at_most(signed.positive).min(counts.at_least(signed.positive));
                (2.0 * tail, NullLaw::Exact)
            }
            None => (2.0 * normal_above(signed.z().abs()), NullLaw::Normal),
        };
        Ok(RankTest { statistic: signed.positive as f64 / 2.0, p: PValue::clipped(p), law })
    }
}

/// The ranks of the sizes of the differences, all doubled so that those of ties are whole.
struct SignedRanks {
    /// Those of the pairs that differ.
    doubled: Vec<u64>,
    /// The sum of those in which the candidate is greater.
    positive: u64,
    zeros: usize,
    tied: bool,
    /// Of the sum of positive ranks, undoubled, zeros left out.
    variance: f64,
}

impl SignedRanks {
    fn of(differences: &[f64]) -> Self {
        let ranked: Vec<f64> = differences.iter().copied().filter(|&d| d != 0.0).collect();
        let sizes: Vec<f64> = ranked.iter().map(|d| d.abs()).collect();
        let ranks = Ranks::of(&sizes);
        let above = ranked.iter().zip(&ranks.doubled).filter(|&(&d, _)| d > 0.0);
        Self {
            positive: above.map(|(_, rank)| rank).sum(),
            zeros: differences.len() - ranked.len(),
            tied: !ranks.ties.is_empty(),
            variance: variance(&ranks),
            doubled: ranks.doubled,
        }
    }

    /// How many deviations the positive ranks are from half of all ranks that have a sign.
    fn z(&self) -> f64 {
        let all: u64 = self.doubled.iter().sum();
        (self.positive as f64 / 2.0 - all as f64 / 4.0) / self.variance.sqrt()
    }
}

/// n (n + 1) (2n + 1) / 24, less (t^3 - t) / 48 for each tie.
fn variance(ranks: &Ranks) -> f64 {
    let n = ranks.doubled.len() as f64;
    (n * (n + 1.0) * (2.0 * n + 1.0) - ranks.tie_term() / 2.0) / 24.0
}
