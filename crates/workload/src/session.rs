//! Sessions: conversations of requests in order, with time to think in between.

use std::num::NonZeroU32;

use fizeau_core::{Nanos, Seconds};
use serde::{Deserialize, Serialize};

use crate::seed::{Purpose, Seed};

/// What sessions are like, where the content does not say.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sessions {
    /// How many turns each has.
    pub turns: Turns,
    /// How long the user thinks between the end of a reply and the next turn.
    pub think: ThinkTime,
}

/// How many turns a session has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turns {
    /// Always this many.
    Fixed(NonZeroU32),
    /// Uniform from `least` to `most`, both included.
    Uniform {
        /// The fewest.
        least: NonZeroU32,
        /// The most.
        most: NonZeroU32,
    },
}

/// How long a user thinks between two turns.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkTime {
    /// Not at all: the next turn leaves as the reply ends.
    #[default]
    None,
    /// Always this long.
    Fixed {
        /// How long.
        seconds: Seconds,
    },
    /// Exponential.
    Exponential {
        /// Its mean.
        mean: Seconds,
    },
    /// Log-normal: most people are quick, a few are slow.
    LogNormal {
        /// Half of all think shorter than this.
        median: Seconds,
        /// The standard deviation of the logarithm.
        sigma: f64,
    },
}

impl Turns {
    /// The most turns that a session can have.
    #[must_use]
    pub const fn most(self) -> NonZeroU32 {
        match self {
            Self::Fixed(turns) | Self::Uniform { most: turns, .. } => turns,
        }
    }
}

impl Sessions {
    /// How many turns `session` has, drawn from `seed`.
    pub(crate) fn turns_of(&self, seed: Seed, session: u64) -> u32 {
        match self.turns {
            Turns::Fixed(turns) => turns.get(),
            Turns::Uniform { least, most } => {
                let span = u64::from(most.get().saturating_sub(least.get())) + 1;
                let more = seed.stream(Purpose::Turns, session).below(span);
                least.get().saturating_add(u32::try_from(more).unwrap_or(u32::MAX))
            }
        }
    }
}

impl ThinkTime {
    /// The thinking before the request of `key`.
    pub(crate) fn draw(self, seed: Seed, key: u64) -> Nanos {
        let mut draws = seed.stream(Purpose::ThinkTime, key);
        let seconds = match self {
            Self::None => 0.0,
            Self::Fixed { seconds } => seconds.get(),
            Self::Exponential { mean } => mean.get() * draws.exponential(),
            Self::LogNormal { median, sigma } => median.get() * libm::exp(sigma * draws.normal()),
        };
        Nanos::from_secs_f64(seconds).unwrap_or(Nanos::MAX)
    }
}
