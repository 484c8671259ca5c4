//! Measured levels from several sources, and why some of them are left out.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fizeau_roofline::CalibrationSample;

use super::SampleError;

/// Measured levels from tables, runs and records of forward passes, to be fitted together, and those that are left out.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct FitLevels {
    /// What is to be fitted.
    pub samples: Vec<CalibrationSample>,
    /// What is left out: the source that has it, and why.
    pub left_out: Vec<(String, SampleError)>,
}

impl FitLevels {
    /// Takes the levels of the source of that name.
    pub fn add(
        &mut self,
        source: &str,
        levels: impl IntoIterator<Item = Result<CalibrationSample, SampleError>>,
    ) {
        for level in levels {
            match level {
                Ok(sample) => self.samples.push(sample),
                Err(error) => self.left_out.push((source.to_owned(), error)),
            }
        }
    }

    /// How many are left out for which reasons, the most frequent first, such as `5 of 70 levels are left out: 3 invalid, 2 against their
    /// series`; none where all are fitted.
    ///
    /// ```
    /// use fizeau_experiment::{FitLevels, SampleError};
    ///
    /// let mut levels = FitLevels::default();
    /// assert_eq!(levels.count(), None);
    /// let wrong = |why: &str| Err(SampleError::Level(why.to_owned()));
    /// levels.add("measured.csv", [wrong("line 2: no TPOT"), wrong("line 7: no TPOT")]);
    /// assert_eq!(levels.count().as_deref(), Some("2 of 2 levels are left out: 2 not usable"));
    /// ```
    #[must_use]
    pub fn count(&self) -> Option<String> {
        let mut reasons = BTreeMap::<String, usize>::new();
        for (_, error) in &self.left_out {
            *reasons.entry(error.reason()).or_default() += 1;
        }
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, count)| Reverse(*count));
        let reasons: Vec<_> =
            reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        let (out, all) = (self.left_out.len(), self.left_out.len() + self.samples.len());
        let is_one = if out == 1 { "is" } else { "are" };
        (out > 0)
            .then(|| format!("{out} of {all} levels {is_one} left out: {}", reasons.join(", ")))
    }
}
