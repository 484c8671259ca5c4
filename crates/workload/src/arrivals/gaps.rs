//! Gaps one after another.

use super::Spacing;
use crate::draws::Draws;
use crate::sample::GammaShape;

/// Independent gaps of one law.
#[derive(Debug)]
pub(super) struct Gaps {
    draws: Draws,
    law: Law,
    scale: f64,
}

#[derive(Debug)]
enum Law {
    Even,
    /// Gamma of shape 1, which takes one draw and no rejection.
    Exponential,
    Gamma(GammaShape),
}

impl Gaps {
    /// Gamma gaps of the mean 1 / `rate`.
    pub(super) fn random(rate: f64, burstiness: f64, draws: Draws) -> Self {
        let law = match burstiness {
            1.0 => Law::Exponential,
            shape => Law::Gamma(GammaShape::new(shape)),
        };
        Self { draws, law, scale: 1.0 / (rate * burstiness) }
    }

    /// Gaps of the mean 1.
    pub(super) fn of(spacing: Spacing, draws: Draws) -> Self {
        match spacing {
            Spacing::Even => Self { draws, law: Law::Even, scale: 1.0 },
            Spacing::Random { burstiness } => Self::random(1.0, burstiness, draws),
        }
    }

    pub(super) fn next_gap(&mut self) -> f64 {
        match &self.law {
            Law::Even => 1.0,
            Law::Exponential => self.draws.exponential() * self.scale,
            Law::Gamma(shape) => self.draws.gamma_of(shape) * self.scale,
        }
    }
}
