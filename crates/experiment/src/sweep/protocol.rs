//! How a sweep goes on from level to level.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::Nanos;

use super::{LevelSize, SHORTEST_BUDGET, StopRule};
use crate::input::{InputError, InputField};

/// How a sweep goes on from level to level.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SweepProtocol {
    /// When to raise the load no further; none for never.
    pub stop: Option<StopRule>,
    /// How many times each load is measured.
    pub repeats: NonZeroU32,
    /// How many further levels there may be where they tell most; none for as many as the budget allows, if there is one.
    pub refine: Option<u32>,
    /// How long the run at the operating point takes that shows whether it can be kept up; none for what the budget allows, if
    /// there is one, else for no such run.
    pub sustain: Option<Nanos>,
    /// The time for all of it, of the wall's clock; none for as long as it takes.
    pub budget: Option<Nanos>,
}

impl Default for SweepProtocol {
    /// Each load once, until more load brings nothing, and nothing besides.
    fn default() -> Self {
        let (stop, repeats) = (Some(StopRule::default()), NonZeroU32::MIN);
        Self { stop, repeats, refine: None, sustain: None, budget: None }
    }
}

impl SweepProtocol {
    /// Refuses what cannot be carried out.
    ///
    /// # Errors
    /// If the sustained run takes no time or leaves none for a level, or all of it takes less than one level needs.
    pub fn check(&self) -> Result<(), InputError> {
        if self.sustain == Some(Nanos::ZERO) {
            return Err(InputError::new(InputField::Sustain, "give more than 0 seconds"));
        }
        if self.budget.is_some_and(|budget| budget < SHORTEST_BUDGET) {
            return Err(InputError::new(
                InputField::Budget,
                "one level takes longer; give 2s or more",
            ));
        }
        if let (Some(sustain), Some(budget)) = (self.sustain, self.budget)
            && sustain + SHORTEST_BUDGET > budget
        {
            let (most, budget) = (budget.saturating_sub(SHORTEST_BUDGET), budget.as_secs_f64());
            let most = most.as_secs_f64();
            let why = format!(
                "leaves no time for a level; give at most {most} s of a budget of {budget} s"
            );
            let given = format!("{} s", sustain.as_secs_f64());
            return Err(InputError::new(InputField::Sustain, why).given(given));
        }
        Ok(())
    }
}

/// How long a level lasts by default: shorter ones do not show whether they are steady.
pub const LEVEL_TIME: Nanos = Nanos::from_secs(60);

/// The same, where it may go on until a figure is known: half as wide an interval takes four times as long.
pub const LEVEL_TIME_UNTIL_KNOWN: Nanos = Nanos::from_secs(180);

/// A level of at most so many `requests` that releases nothing after `time`, with so many `warmups` first.
///
/// # Errors
/// If it has no request or takes no time.
pub fn level_size(
    requests: Option<u64>,
    time: Option<Nanos>,
    warmups: Option<u64>,
) -> Result<LevelSize, InputError> {
    let nothing = "0 requests measure nothing; the least is 1";
    let some = |n| NonZeroU64::new(n).ok_or_else(|| InputError::new(InputField::Requests, nothing));
    let size = LevelSize { requests: requests.map(some).transpose()?, time, warmup: warmups };
    size.check().map(|()| size)
}
