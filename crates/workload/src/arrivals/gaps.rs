//! Gaps one after another.

use super::Spacing;
use crate::draws::Draws;
use crate::sample::GammaShape;

/// Independent gaps of one law.
#[derive(Debug)]
pub(super) struct Gaps {
    draws: Draws,
    kind: Kind,
    scale: f64,
}

#[derive(Debug)]
enum Kind {
    Even,
    /// Gamma of shape 1, which takes one draw and no rejection.
    Exponential,
    Gamma(GammaShape),
}

impl Gaps {
    /// Gamma gaps of the mean 1 / `rate`.
    pub(super) fn random(rate: f64, burstiness: f64, draws: Draws) -> Self {
        let kind = match burstiness {
            1.0 => Kind::Exponential,
            shape => Kind::Gamma(GammaShape::new(shape)),
        };
        Self { draws, kind, scale: 1.0 / (rate * burstiness) }
    }

    /// Gaps of the mean 1.
    pub(super) fn of(spacing: Spacing, draws: Draws) -> Self {
        match spacing {
            Spacing::Even => Self { draws, kind: Kind::Even, scale: 1.0 },
            Spacing::Random { burstiness } => Self::random(1.0, burstiness, draws),
        }
    }

    pub(super) fn next_gap(&mut self) -> f64 {
        match &self.kind {
            Kind::Even => 1.0,
            Kind::Exponential => self.draws.exponential() * self.scale,
            Kind::Gamma(shape) => self.draws.gamma_of(shape) * self.scale,
        }
    }
}
