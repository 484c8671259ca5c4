//! The permutation test: whose value is whose, dealt anew.

use thiserror::Error;

use super::null::binomial;
use super::{PValue, Sides};

/// How much a statistic may differ by rounding and still count as equal, as a share of it.
const ROUNDING: f64 = 100.0 * f64::EPSILON;

/// Why a permutation test has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PermutationError {
    /// Nothing was to be dealt.
    #[error("no permutations were asked for: at least 1 is needed, 9999 are usual")]
    NoPermutations,
    /// The statistic has no value for some deal.
    #[error("the statistic is not a finite number for some division of the values")]
    NoStatistic,
}

/// How many divisions of the values were looked at, and how they were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Permutations {
    /// All of them: the p-value is exact.
    All(u64),
    /// As many drawn at random: the p-value has a standard error of about sqrt(p (1 - p) / drawn).
    Drawn(u64),
}

/// What a permutation test found; two-sided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PermutationTest {
    /// The statistic of the sides as they are, in its own unit.
    pub observed: f64,
    /// Twice the smaller of the shares of divisions with a statistic as small, or as great.
    pub p: PValue,
    /// What `p` rests on.
    pub permutations: Permutations,
}

impl Sides {
    /// The permutation test of any statistic of two samples: SciPy's `permutation_test((baseline, candidate),
    /// statistic, n_resamples=most)`.
    ///
    /// If there are at most `most` divisions of all values into sides of these sizes, all are looked at; else
    /// `most` are drawn with the random 64-bit numbers of `source`, and the division that was observed counts
    /// as one more, so that p is never zero (B. Phipson and G. K. Smyth 2010, "Permutation P-values should
    /// never be zero"). The statistic is given baseline and candidate, in no particular order within.
    ///
    /// ```
    /// use fizeau_metrics::{Permutations, Sides};
    /// let sides = Sides::new(&[1.0, 2.0, 3.0], &[7.0, 8.0, 9.0])?;
    /// let difference = |a: &[f64], b: &[f64]| b.iter().sum::<f64>() - a.iter().sum::<f64>();
    /// let test = sides.permutation_test(difference, 9_999, || 0)?;
    /// assert_eq!(test.permutations, Permutations::All(20));
    /// assert_eq!(test.p.get(), 0.1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `most` is zero, or the statistic is NaN or infinite for a division.
    pub fn permutation_test(
        &self,
        statistic: impl Fn(&[f64], &[f64]) -> f64,
        most: u64,
        source: impl FnMut() -> u64,
    ) -> Result<PermutationTest, PermutationError> {
        if most == 0 {
            return Err(PermutationError::NoPermutations);
        }
        let observed = statistic(&self.baseline, &self.candidate);
        if !observed.is_finite() {
            return Err(PermutationError::NoStatistic);
        }
        let mut values = self.baseline.clone();
        values.extend(&self.candidate);
        let first = self.baseline.len();
        let mut tally = Tally::of(observed);
        let ways = binomial(values.len() as u64, first as u64).filter(|&ways| ways <= most.into());
        let permutations = if let Some(ways) = ways {
            each_division(&values, first, |a, b| tally.take(statistic(a, b)))?;
            Permutations::All(ways as u64)
        } else {
            // The observed division.
            tally.take(observed)?;
            let mut source = source;
            for _ in 0..most {
                shuffle(&mut values, &mut source);
                let (a, b) = values.split_at(first);
                tally.take(statistic(a, b))?;
            }
            Permutations::Drawn(most)
        };
        Ok(PermutationTest { observed, p: tally.p(), permutations })
    }
}

/// How many statistics are as small, and as great, as the observed one.
struct Tally {
    observed: f64,
    slack: f64,
    as_small: u64,
    as_great: u64,
    all: u64,
}

impl Tally {
    fn of(observed: f64) -> Self {
        let slack = (observed * ROUNDING).abs();
        Self { observed, slack, as_small: 0, as_great: 0, all: 0 }
    }

    fn take(&mut self, statistic: f64) -> Result<(), PermutationError> {
        if !statistic.is_finite() {
            return Err(PermutationError::NoStatistic);
        }
        self.as_small += u64::from(statistic <= self.observed + self.slack);
        self.as_great += u64::from(statistic >= self.observed - self.slack);
        self.all += 1;
        Ok(())
    }

    fn p(&self) -> PValue {
        PValue::clipped(2.0 * self.as_small.min(self.as_great) as f64 / self.all as f64)
    }
}

/// Every choice of `first` of the values, and the rest, in lexicographic order.
fn each_division(
    values: &[f64],
    first: usize,
    mut see: impl FnMut(&[f64], &[f64]) -> Result<(), PermutationError>,
) -> Result<(), PermutationError> {
    // Of the marks of those chosen, the greatest arrangement comes first.
    let mut chosen: Vec<bool> = (0..values.len()).map(|index| index < first).collect();
    let (mut a, mut b) = (Vec::with_capacity(first), Vec::with_capacity(values.len() - first));
    loop {
        a.clear();
        b.clear();
        for (&value, &is_chosen) in values.iter().zip(&chosen) {
            if is_chosen { a.push(value) } else { b.push(value) }
        }
        see(&a, &b)?;
        // The last mark that can move right does, and those after it follow it closely.
        let Some(moves) = chosen.windows(2).rposition(|pair| pair == [true, false]) else {
            return Ok(());
        };
        chosen.swap(moves, moves + 1);
        if let Some(rest) = chosen.get_mut(moves + 2..) {
            rest.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
}

/// Fisher and Yates. A place is the upper half of a 128-bit product: off even by less than one part in 2^40
/// for any number of values that fits in memory.
fn shuffle(values: &mut [f64], source: &mut impl FnMut() -> u64) {
    for last in (1..values.len()).rev() {
        let place = (u128::from(source()) * (last as u128 + 1)) >> 64;
        values.swap(last, place as usize);
    }
}
