//! How large a level is.

use std::num::NonZeroU64;

use fizeau_core::{LevelLoad, Nanos};

use crate::input::{InputError, InputField};

/// One level to be measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelSpec {
    /// Its load.
    pub load: LevelLoad,
    /// How many times this load was measured before. Each visit has prompts and instants of its own.
    pub visit: u32,
    /// How large it is.
    pub size: LevelSize,
}

/// How large a level is at most. It ends when its requests are done, or its time is up and those in flight have finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LevelSize {
    /// How many requests. By default, of a closed loop ten for each slot, of an open one as many as come in the level's time
    /// (or in a minute, where it has none); and at least 100, which a p99 needs.
    pub requests: Option<NonZeroU64>,
    /// Release nothing more after this time.
    pub time: Option<Nanos>,
    /// How many requests to send first that do not count. By default, of a closed loop one for each slot, of an open one a
    /// tenth of the level; at most 50.
    pub warmup: Option<u64>,
}

impl LevelSize {
    /// At most so many requests and so much time, after so many that do not count; each none for the usual.
    #[must_use]
    pub const fn new(
        requests: Option<NonZeroU64>,
        time: Option<Nanos>,
        warmup: Option<u64>,
    ) -> Self {
        Self { requests, time, warmup }
    }

    /// Refuses a level that takes no time.
    pub(crate) fn check(&self) -> Result<(), InputError> {
        if self.time == Some(Nanos::ZERO) {
            let message = "a level takes some time; give more than 0";
            return Err(InputError::new(InputField::LevelSeconds, message));
        }
        Ok(())
    }

    /// The most requests that a level of `load` has.
    #[must_use]
    pub fn requests_at(&self, load: LevelLoad) -> NonZeroU64 {
        let by_default = || match load {
            LevelLoad::Concurrency(slots) => NonZeroU64::from(slots).saturating_mul(PER_SLOT),
            LevelLoad::Rate(rate) => {
                let seconds = self.time.map_or(60.0, Nanos::as_secs_f64);
                // A cast of a number above what the type holds gives the greatest there is.
                NonZeroU64::new((rate.get() * seconds).ceil() as u64).unwrap_or(FOR_A_P99)
            }
        };
        self.requests.unwrap_or_else(|| by_default().max(FOR_A_P99))
    }

    /// How many warm-up requests a level of `load` has.
    #[must_use]
    pub fn warmup_at(&self, load: LevelLoad) -> u64 {
        let by_default = match load {
            LevelLoad::Concurrency(slots) => slots.get().into(),
            LevelLoad::Rate(_) => self.requests_at(load).get().div_ceil(10),
        };
        self.warmup.unwrap_or_else(|| by_default.min(MOST_WARMUPS))
    }
}

/// Ten requests a slot: each slot's first and last are then a fifth of the whole.
const PER_SLOT: NonZeroU64 = NonZeroU64::new(10).unwrap();

const FOR_A_P99: NonZeroU64 = NonZeroU64::new(100).unwrap();

/// Of more warm-up requests a level gains nothing.
pub(crate) const MOST_WARMUPS: u64 = 50;
