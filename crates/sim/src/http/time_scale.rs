//! How fast the engine's time runs.

use fizeau_core::Stamp;

use crate::pass::EnginePass;
use crate::serve::{Emission, JobTiming};

/// Of each nanosecond 2^-40: the share that a scale is kept in, so that mapping an instant takes whole numbers.
const FINE: u32 = 40;
const ONE: u64 = 1 << FINE;
const LEAST: f64 = 0.001;
const MOST: f64 = 1e6;

/// How many times faster than life a server's engine runs: at 10, a token that is due after a second leaves after a tenth of
/// one. From 0.001 to 1,000,000; by default 1.
///
/// Instants are mapped one by one and never added up, so that the two times do not drift apart however long a server runs.
///
/// ```
/// use fizeau_sim::http::TimeScale;
/// assert_eq!(TimeScale::new(10.0)?.get(), 10.0);
/// assert!(TimeScale::new(0.0).is_err());
/// # Ok::<(), fizeau_sim::http::TimeScaleError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeScale {
    /// In 2^-40.
    fine: u64,
}

/// A scale that no server runs at.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "the time scale is {0}: it says how many times faster than real time the engine runs, and must be from 0.001 to 1000000"
)]
pub struct TimeScaleError(f64);

impl Default for TimeScale {
    fn default() -> Self {
        Self { fine: ONE }
    }
}

impl TimeScale {
    /// Time that runs `times` times faster than life.
    ///
    /// # Errors
    /// If `times` is not from 0.001 to 1,000,000.
    pub fn new(times: f64) -> Result<Self, TimeScaleError> {
        if (LEAST..=MOST).contains(&times) {
            Ok(Self { fine: (times * ONE as f64).round() as u64 })
        } else {
            Err(TimeScaleError(times))
        }
    }

    /// The factor, to a billionth.
    #[must_use]
    pub fn get(self) -> f64 {
        self.fine as f64 / ONE as f64
    }

    /// What the engine's clock shows at `wall`.
    pub(super) fn to_engine(self, wall: Stamp) -> Stamp {
        if self.fine == ONE {
            return wall;
        }
        stamp((u128::from(wall.as_nanos()) * u128::from(self.fine)) >> FINE)
    }

    /// The first instant at which the engine's clock shows `engine` or more.
    pub(super) fn to_wall(self, engine: Stamp) -> Stamp {
        if self.fine == ONE {
            return engine;
        }
        stamp((u128::from(engine.as_nanos()) << FINE).div_ceil(self.fine.into()))
    }

    /// A pass with its times on the server's clock.
    pub(super) fn pass(self, pass: EnginePass) -> EnginePass {
        let end = self.to_wall(pass.end);
        let length = end.saturating_since(self.to_wall(pass.end - pass.length));
        EnginePass { end, length, ..pass }
    }

    /// An emission with all its instants on the server's clock.
    pub(super) fn emission(self, emission: Emission) -> Emission {
        if self.fine == ONE {
            return emission;
        }
        let JobTiming { submitted, admitted, first_token, .. } = emission.timing;
        let timing = JobTiming {
            submitted: self.to_wall(submitted),
            admitted: self.to_wall(admitted),
            first_token: self.to_wall(first_token),
            ..emission.timing
        };
        Emission { at: self.to_wall(emission.at), timing, ..emission }
    }
}

/// Instants beyond what a stamp can say, five hundred years on, are the last.
fn stamp(nanos: u128) -> Stamp {
    Stamp::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Up to a hundred years of the engine's time at any scale.
        #[test]
        fn an_instant_is_due_when_the_engine_gets_there(times in 0.001..1e6, at in 0u64..3_200_000_000_000_000_000) {
            let (scale, at) = (TimeScale::new(times).unwrap(), Stamp::from_nanos(at));
            let due = scale.to_wall(at);
            prop_assume!(due.as_nanos() > 0 && due.as_nanos() < u64::MAX);
            prop_assert!(scale.to_engine(due) >= at, "it is not early");
            let before = Stamp::from_nanos(due.as_nanos() - 1);
            prop_assert!(scale.to_engine(before) < at, "nor late by a nanosecond");
        }

        #[test]
        fn later_stays_later(times in 0.001..1e6, at in prop::array::uniform2(0u64..1 << 62)) {
            let scale = TimeScale::new(times).unwrap();
            let [earlier, later] = [at[0].min(at[1]), at[0].max(at[1])].map(Stamp::from_nanos);
            prop_assert!(scale.to_engine(earlier) <= scale.to_engine(later));
            prop_assert!(scale.to_wall(earlier) <= scale.to_wall(later));
        }

        /// A month is mapped as the first second is: to the billionth that the factor is kept to.
        #[test]
        fn the_two_times_do_not_drift(times in 0.001..1e3, seconds in 1u64..3_000_000) {
            let scale = TimeScale::new(times).unwrap();
            let wall = Stamp::from_nanos(seconds * 1_000_000_000);
            let ratio = scale.to_engine(wall).as_nanos() as f64 / wall.as_nanos() as f64;
            prop_assert!((ratio / times - 1.0).abs() < 2e-9, "{ratio} for {times}");
        }
    }

    #[test]
    fn life_itself_is_exact() {
        let at = Stamp::from_nanos(u64::MAX);
        let scale = TimeScale::default();
        assert_eq!((scale.to_engine(at), scale.to_wall(at)), (at, at));
        assert_eq!(TimeScale::new(1.0), Ok(scale));
        let ten = TimeScale::new(10.0).unwrap();
        assert_eq!(ten.to_wall(Stamp::from_nanos(1_000)), Stamp::from_nanos(100));
    }
}
