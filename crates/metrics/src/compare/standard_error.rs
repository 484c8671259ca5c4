//! How far a difference may be off, and what follows from that.

use fizeau_core::Estimate;

use super::detectable::least_noncentrality;
use super::student::{normal_above, normal_quantile, student_quantile, student_two_sided};
use super::{PValue, SignificanceLevel, TestPower};

/// How far the difference of two figures may be off by chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StandardError {
    /// In the figure's unit.
    pub(super) error: f64,
    /// Degrees of freedom of Student's t; infinite where the normal distribution holds.
    pub(super) df: f64,
}

/// From so many degrees of freedom on, Student's t is the normal distribution to all digits that are shown.
const NORMAL_FROM: f64 = 1e6;

impl StandardError {
    /// The same where runs differ among themselves by `spread` too, which is known; the degrees of freedom are Welch's and
    /// Satterthwaite's.
    pub(super) fn with(self, spread: f64) -> Self {
        let (within, between) = (self.error.powi(2), spread.powi(2));
        if between == 0.0 {
            return self;
        }
        let share = within / (within + between);
        Self { error: (within + between).sqrt(), df: self.df / (share * share) }
    }

    /// The same where runs differ among themselves by `spread` too, as far as `df` degrees of freedom know.
    pub(super) fn with_estimated(self, spread: f64, df: f64) -> Self {
        let (within, between) = (self.error.powi(2), spread.powi(2));
        let sum = within + between;
        let (share_within, share_between) = (within / sum, between / sum);
        let freedom =
            1.0 / (share_within * share_within / self.df + share_between * share_between / df);
        Self { error: sum.sqrt(), df: if freedom.is_finite() { freedom } else { self.df } }
    }

    /// How likely `estimate` is where there is no difference.
    pub(super) fn p(self, estimate: f64) -> PValue {
        let t = estimate / self.error;
        PValue::clipped(match self.is_normal() {
            true => 2.0 * normal_above(t.abs()),
            false => student_two_sided(t, self.df),
        })
    }

    /// `estimate` with its interval.
    pub(super) fn around(self, estimate: f64, alpha: SignificanceLevel) -> Estimate<f64> {
        let reach = self.error
            * match self.is_normal() {
                true => normal_quantile(alpha.tail()),
                false => student_quantile(alpha.tail(), self.df),
            };
        Estimate::widened(estimate, Some(alpha.interval(estimate - reach, estimate + reach)))
    }

    /// The least difference that would be found with this power.
    pub(super) fn detectable(self, within: SignificanceLevel, power: TestPower) -> f64 {
        self.error * least_noncentrality(within, self.df.min(NORMAL_FROM), power)
    }

    fn is_normal(self) -> bool {
        self.df >= NORMAL_FROM
    }
}
