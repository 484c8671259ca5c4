//! Mann and Whitney's test (Wilcoxon's rank-sum test).

use super::null::Counts;
use super::ranks::Ranks;
use super::student::normal_above;
use super::{NullLaw, PValue, RankTest, UnpairedValues};

/// The most values of the smaller side for which the exact law is used.
const EXACT_UPTO: usize = 8;

impl UnpairedValues {
    /// Mann and Whitney's test: SciPy's `mannwhitneyu(candidate, baseline)`, where its `method` is `"auto"`.
    ///
    /// Exact where a side has at most 8 values (and the other not so many, 190,000 or so, that their cases do
    /// not fit into 128 bits) and there are no ties; else the normal approximation with the variance
    /// corrected for ties and half a comparison taken off for continuity. It asks whether one side's values
    /// tend to be greater. Sides that are all one tie have p = 1.
    #[must_use]
    pub fn mann_whitney(&self) -> RankTest {
        let all: Vec<f64> = self.candidate.iter().chain(&self.baseline).copied().collect();
        let ranks = Ranks::of(&all);
        let (n, comparisons) = (self.candidate.len() as u64, self.comparisons());
        // Doubled, as the ranks are: a tie counts half.
        let of_candidate: u64 = ranks.doubled.iter().take(self.candidate.len()).sum();
        let wins = of_candidate - n * (n + 1);
        let lesser = wins.min(2 * comparisons - wins);
        let statistic = wins as f64 / 2.0;
        let exact = if ranks.ties.is_empty() { self.exact_null(lesser / 2) } else { None };
        let (p, law) = match exact {
            Some(counts) => (2.0 * counts.at_most(lesser / 2), NullLaw::Exact),
            None => (2.0 * self.normal_tail(lesser, &ranks), NullLaw::Normal),
        };
        RankTest { statistic, p: PValue::clipped(p), law }
    }

    /// The law of the comparisons won, as far as `upto`, if the sides are small enough to count it.
    pub(super) fn exact_null(&self, upto: u64) -> Option<Counts> {
        let (m, n) = (self.baseline.len(), self.candidate.len());
        let small = m.min(n) <= EXACT_UPTO;
        small.then(|| Counts::of_mann_whitney(m as u64, n as u64, upto)).flatten()
    }

    /// How likely a side wins so few comparisons (doubled) or fewer, by the normal law.
    fn normal_tail(&self, lesser: u64, ranks: &Ranks) -> f64 {
        let comparisons = self.comparisons() as f64;
        let n = ranks.doubled.len() as f64;
        let variance = comparisons / 12.0 * (n + 1.0 - ranks.tie_term() / (n * (n - 1.0)));
        let off_middle = (comparisons - lesser as f64) / 2.0;
        // With nothing but ties the variance is zero, and so is what is off the middle.
        if variance > 0.0 { normal_above((off_middle - 0.5) / variance.sqrt()) } else { 0.5 }
    }
}
