//! How much runs of one server differ among themselves.

use std::str::FromStr;

use super::{LevelFigure, ShareError};
use crate::Statistic;

/// How much runs of one and the same server differ among themselves, beyond what their requests show: a standard deviation as
/// a share of the figure.
///
/// Two runs cannot show it; repeats can. A comparison of one run each is widened by it.
///
/// ```
/// use fizeau_metrics::{LevelFigure, RunToRun};
/// let known: RunToRun = "2%".parse()?;
/// assert_eq!(known.of(LevelFigure::OUTPUT_TPS), 0.02);
/// assert!(RunToRun::ASSUMED.of(LevelFigure::P99_TTFT) > RunToRun::ASSUMED.of(LevelFigure::P50_TTFT));
/// # Ok::<(), fizeau_metrics::ShareError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunToRun {
    middle: f64,
    tail: f64,
}

impl RunToRun {
    /// None: what is the same whenever it is run again, as a simulation in virtual time is.
    pub const NONE: Self = Self { middle: 0.0, tail: 0.0 };
    /// What is assumed of a machine that does little else: 3 % of rates, means and medians, 10 % of percentiles from p90 on. It is a
    /// choice; `cargo xtask bench false-alarms` measures it for a server. Runs whose quarters differ by more are taken to differ by
    /// as much ([`ComparisonTable::of_requests`](super::ComparisonTable::of_requests)).
    pub const ASSUMED: Self = Self { middle: 0.03, tail: 0.1 };

    /// The share of a figure.
    #[must_use]
    pub const fn of(self, figure: LevelFigure) -> f64 {
        match figure.statistic {
            Statistic::Mean | Statistic::P50 | Statistic::Value => self.middle,
            Statistic::P90 | Statistic::P95 | Statistic::P99 | Statistic::P999 | Statistic::Max => {
                self.tail
            }
        }
    }

    /// Whether nobody stated it, so that runs may show that it is more.
    pub(super) fn is_assumed(self) -> bool {
        self == Self::ASSUMED
    }

    /// What two runs of such figures differ by: a standard deviation, in the figure's unit.
    pub(super) fn between(self, figure: LevelFigure, baseline: f64, candidate: f64) -> f64 {
        self.of(figure) * baseline.hypot(candidate)
    }
}

impl FromStr for RunToRun {
    type Err = ShareError;

    /// `2%`, for every figure; `0` for none.
    fn from_str(text: &str) -> Result<Self, ShareError> {
        let share = super::shares::percent(text);
        let share = share.ok_or_else(|| ShareError::RunToRun(text.to_owned()))?;
        Ok(Self { middle: share, tail: share })
    }
}
