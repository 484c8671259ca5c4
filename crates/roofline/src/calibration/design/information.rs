//! How well constants are known, once some loads are measured.

use super::candidates::Candidate;
use crate::calibration::constants::Constant;

/// How many constants there are.
pub(super) const CONSTANTS: usize = Constant::STEP.len() + Constant::FIRST_TOKEN.len();

/// By how many of its own errors a time changes when each constant changes by as much as it may differ from what is usual.
pub(super) type ConstantSlopes = [f64; CONSTANTS];

/// What a measured time tells of the constants.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observation(pub(super) ConstantSlopes);

impl Observation {
    pub(super) fn is_finite(&self) -> bool {
        self.0.iter().all(|slope| slope.is_finite())
    }
}

/// The covariance of all constants, each in units of how much it may differ from what is usual: the identity before anything is
/// measured, and smaller with every time that is.
#[derive(Debug, Clone)]
pub(super) struct Information {
    covariance: [ConstantSlopes; CONSTANTS],
    log_determinant: f64,
}

impl Information {
    pub(super) const NOTHING: Self = {
        let mut covariance = [[0.0; CONSTANTS]; CONSTANTS];
        let mut at = 0;
        while at < CONSTANTS {
            covariance[at][at] = 1.0;
            at += 1;
        }
        Self { covariance, log_determinant: 0.0 }
    };

    /// The logarithm of the determinant of the information: what D-optimal designs make as large as can be.
    pub(super) const fn log_determinant(&self) -> f64 {
        self.log_determinant
    }

    /// How well each constant is known: the deviations, in the same units.
    #[cfg(test)]
    pub(super) fn deviations(&self) -> ConstantSlopes {
        std::array::from_fn(|at| self.covariance[at][at].sqrt())
    }

    /// How much it grows with what `candidate` tells.
    pub(super) fn gain(&self, candidate: &Candidate) -> f64 {
        let mut after = self.clone();
        after.learn(candidate);
        after.log_determinant - self.log_determinant
    }

    /// Takes in what `candidate` tells.
    pub(super) fn learn(&mut self, candidate: &Candidate) {
        candidate.told.iter().for_each(|told| self.hear(told));
    }

    /// The formula of Sherman and Morrison for the inverse, and the lemma of the determinant.
    fn hear(&mut self, Observation(slopes): &Observation) {
        let dot = |a: &ConstantSlopes, b: &ConstantSlopes| {
            a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>()
        };
        let along: ConstantSlopes = std::array::from_fn(|at| dot(&self.covariance[at], slopes));
        let grown = 1.0 + dot(&along, slopes);
        for (row, own) in self.covariance.iter_mut().zip(along) {
            for (cell, other) in row.iter_mut().zip(along) {
                *cell -= own * other / grown;
            }
        }
        self.log_determinant += grown.ln();
    }
}
