//! The two sides of a comparison, checked once.

use thiserror::Error;

use crate::sort::sort_numbers;

/// The greatest magnitude that is taken: squares of such values, and sums of those, stay finite.
const GREATEST: f64 = 1e100;

/// One side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ComparisonSide {
    /// What is compared against.
    Baseline,
    /// What is judged.
    Candidate,
}

fizeau_core::words! {
    ComparisonSide, shown {
        Baseline = "baseline", Candidate = "candidate",
    }
}

/// Why values cannot be paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PairedValuesError {
    /// Some values have no partner.
    #[error("values must be paired: the baseline has {baseline}, the candidate {candidate}")]
    LengthsDiffer {
        /// How many values the baseline has.
        baseline: usize,
        /// How many the candidate has.
        candidate: usize,
    },
    /// One pair has no spread.
    #[error("{0} pairs are too few; a test needs at least 2")]
    TooFew(usize),
    /// NaN, infinite or beyond all measure.
    #[error("value {index} (from 0) of the {side} is not a number from -1e100 to 1e100")]
    NotANumber {
        /// Whose value it is.
        side: ComparisonSide,
        /// Which, from 0.
        index: usize,
    },
}

/// Why two samples cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UnpairedValuesError {
    /// One value has no spread.
    #[error("the {side} has {n} values; a test needs at least 2")]
    TooFew {
        /// Who has too few.
        side: ComparisonSide,
        /// How many there are.
        n: usize,
    },
    /// NaN, infinite or beyond all measure.
    #[error("value {index} (from 0) of the {side} is not a number from -1e100 to 1e100")]
    NotANumber {
        /// Whose value it is.
        side: ComparisonSide,
        /// Which, from 0.
        index: usize,
    },
}

/// Two measurements of which each value has a partner: the rounds of an A/B run, one figure a round and side.
///
/// What is tested is the differences, candidate less baseline, in the unit of the values.
///
/// ```
/// use fizeau_metrics::{SignificanceLevel, ComparisonAnswer, BetterDirection, PairedValues};
/// let ttft_before = [50.1, 49.8, 50.6, 50.3, 49.9, 50.4];
/// let ttft_after = [48.0, 47.9, 48.8, 48.1, 47.7, 48.5];
/// let pairs = PairedValues::new(&ttft_before, &ttft_after)?;
/// let test = pairs.t_test()?;
/// let shift = pairs.mean_shift(SignificanceLevel::FIVE_PERCENT)?;
/// assert!((shift.value() + 2.016_666_666_666_666).abs() < 1e-9);
/// let answer = ComparisonAnswer::of(test.p, shift.value(), BetterDirection::LowerIsBetter, SignificanceLevel::FIVE_PERCENT);
/// assert_eq!(answer, ComparisonAnswer::Better);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PairedValues {
    differences: Vec<f64>,
}

impl PairedValues {
    /// The first value of one side with the first of the other, and so on.
    ///
    /// # Errors
    /// If the sides differ in length, have fewer than two values, or one is not a number.
    pub fn new(baseline: &[f64], candidate: &[f64]) -> Result<Self, PairedValuesError> {
        if baseline.len() != candidate.len() {
            let (baseline, candidate) = (baseline.len(), candidate.len());
            return Err(PairedValuesError::LengthsDiffer { baseline, candidate });
        }
        if baseline.len() < 2 {
            return Err(PairedValuesError::TooFew(baseline.len()));
        }
        for (side, values) in
            [(ComparisonSide::Baseline, baseline), (ComparisonSide::Candidate, candidate)]
        {
            if let Some(index) = not_a_number(values) {
                return Err(PairedValuesError::NotANumber { side, index });
            }
        }
        let differences = candidate.iter().zip(baseline).map(|(b, a)| b - a).collect();
        Ok(Self { differences })
    }

    /// Candidate less baseline, pair by pair, in the order given.
    #[must_use]
    pub fn differences(&self) -> &[f64] {
        &self.differences
    }
}

/// Two measurements whose values have no partners: the requests of two runs.
///
/// The tests assume that the values of a side are independent; those of successive requests often are not.
///
/// ```
/// use fizeau_metrics::{SignificanceLevel, UnpairedValues};
/// let sides = UnpairedValues::new(&[51.0, 49.0, 50.5, 52.0, 48.7], &[55.1, 54.2, 56.3, 53.9])?;
/// assert!((sides.mann_whitney().p.get() - 2.0 / 126.0).abs() < 1e-12);
/// let delta = sides.cliffs_delta(SignificanceLevel::FIVE_PERCENT);
/// assert!(delta.interval().is_some_and(|interval| interval.low > 0.0));
/// # Ok::<(), fizeau_metrics::UnpairedValuesError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct UnpairedValues {
    /// Ascending.
    pub(super) baseline: Vec<f64>,
    /// Ascending.
    pub(super) candidate: Vec<f64>,
}

impl UnpairedValues {
    /// The values in any order, for it means nothing here.
    ///
    /// # Errors
    /// If a side has fewer than two values, or one is not a number.
    pub fn new(baseline: &[f64], candidate: &[f64]) -> Result<Self, UnpairedValuesError> {
        for (side, values) in
            [(ComparisonSide::Baseline, baseline), (ComparisonSide::Candidate, candidate)]
        {
            if values.len() < 2 {
                return Err(UnpairedValuesError::TooFew { side, n: values.len() });
            }
            if let Some(index) = not_a_number(values) {
                return Err(UnpairedValuesError::NotANumber { side, index });
            }
        }
        Ok(Self { baseline: sorted(baseline), candidate: sorted(candidate) })
    }

    /// How many comparisons of one value with one of the other side there are.
    pub(super) fn comparisons(&self) -> u64 {
        self.baseline.len() as u64 * self.candidate.len() as u64
    }
}

/// A copy in ascending order.
pub(super) fn sorted(values: &[f64]) -> Vec<f64> {
    // Adding zero makes a negative zero positive: the two are equal, and must rank alike.
    let mut sorted: Vec<f64> = values.iter().map(|value| value + 0.0).collect();
    sort_numbers(&mut sorted);
    sorted
}

/// Where the first value stands that cannot be taken.
fn not_a_number(values: &[f64]) -> Option<usize> {
    values.iter().position(|value| !(-GREATEST..=GREATEST).contains(value))
}
