//! How many tokens a request takes or gives.

use std::ops::RangeInclusive;

use fizeau_core::Tokens;
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::sample::below;
use crate::spec::SpecError;

/// A length in tokens, the same for all requests or drawn for each.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// Always this many.
    Fixed(Tokens),
    /// Uniform on the whole numbers from `floor(nominal (1 - ratio))` to `ceil(nominal (1 + ratio))`, both ends
    /// included and never under 1: what vLLM's `--random-range-ratio` means. (SGLang's flag of the same name means
    /// the opposite: its 1 is a fixed length.)
    Uniform {
        /// The middle of the range.
        nominal: Tokens,
        /// How far the range reaches to either side, as a share of `nominal`; from 0 up to, not including, 1.
        ratio: f64,
    },
}

impl Length {
    /// The longest length that a specification may ask for, 2^24 tokens: above every context window there is, and
    /// small enough that one prompt fits in memory.
    pub const MAX: Tokens = Tokens::new(1 << 24);

    /// The shortest and the longest length that can be drawn.
    ///
    /// The ends are computed in floating point exactly as vLLM does, rounding included: 100 with a ratio of 0.1
    /// reaches 111, because `100.0 * 1.1` is a little over 110.
    ///
    /// ```
    /// use fizeau_core::Tokens;
    /// use fizeau_workload::Length;
    /// let length = Length::Uniform { nominal: Tokens::new(250), ratio: 0.1 };
    /// assert_eq!(length.bounds(), Tokens::new(225)..=Tokens::new(275));
    /// ```
    #[must_use]
    pub fn bounds(self) -> RangeInclusive<Tokens> {
        match self {
            Self::Fixed(length) => length..=length,
            Self::Uniform { nominal, ratio } => {
                let nominal = nominal.get() as f64;
                let low = (nominal * (1.0 - ratio)).floor().max(1.0);
                let high = (nominal * (1.0 + ratio)).ceil().max(low);
                Tokens::new(low as u64)..=Tokens::new(high as u64)
            }
        }
    }

    /// Draws one length. A fixed length takes nothing from `rng`.
    pub(crate) fn draw(self, rng: &mut impl Rng) -> Tokens {
        match self {
            Self::Fixed(length) => length,
            Self::Uniform { .. } => {
                let (low, high) = self.bounds().into_inner();
                let span = high.get().saturating_sub(low.get()).saturating_add(1);
                low + Tokens::new(below(rng, span))
            }
        }
    }

    /// Says what is wrong with this length; `which` names it in the message.
    pub(crate) fn check(self, which: &'static str) -> Result<(), SpecError> {
        let nominal = match self {
            Self::Fixed(length) => length,
            Self::Uniform { nominal, ratio } => {
                if !(0.0..1.0).contains(&ratio) {
                    return Err(SpecError::Ratio { which, ratio });
                }
                nominal
            }
        };
        if nominal == Tokens::ZERO {
            return Err(SpecError::NoLength { which });
        }
        let longest = *self.bounds().end();
        if longest > Self::MAX {
            return Err(SpecError::TooLong { which, longest });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(nominal: u64, ratio: f64) -> (u64, u64) {
        let nominal = Tokens::new(nominal);
        let (low, high) = Length::Uniform { nominal, ratio }.bounds().into_inner();
        (low.get(), high.get())
    }

    #[test]
    fn bounds_are_those_of_vllm() {
        // Python 3: (math.floor(L * (1 - r)), math.ceil(L * (1 + r))), the lower one at least 1.
        assert_eq!(uniform(1024, 0.0), (1024, 1024));
        assert_eq!(uniform(100, 0.1), (90, 111));
        assert_eq!(uniform(1024, 0.3), (716, 1332));
        assert_eq!(uniform(7, 0.5), (3, 11));
        assert_eq!(uniform(1, 0.99), (1, 2));
    }
}
