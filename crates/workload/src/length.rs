//! How many tokens a request takes or gives.

use std::ops::RangeInclusive;

use fizeau_core::Tokens;
use serde::{Deserialize, Serialize};

use crate::draws::Draws;
use crate::parts::{LengthPair, LengthSource};
use crate::spec::SpecError;

/// How long requests are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lengths {
    /// Prompt and output each by a law of their own.
    Independent {
        /// How many tokens each prompt has, a shared prefix not counted.
        input: Length,
        /// The most tokens that each request may generate.
        output: Length,
    },
    /// Prompt and output together, each pair with its weight: short questions may have long answers.
    Pairs(Vec<WeightedPair>),
}

/// A pair of lengths, and how often it comes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WeightedPair {
    /// Tokens of the prompt.
    pub input: Tokens,
    /// Tokens of the output.
    pub output: Tokens,
    /// Its weight among all pairs; above 0.
    pub weight: f64,
}

/// A length in tokens, the same for all requests or drawn for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// Always this many.
    Fixed(Tokens),
    /// Uniform on the whole numbers from `floor(nominal (1 - ratio))` to `ceil(nominal (1 + ratio))`, both ends
    /// included and never under 1: what vLLM's `--random-range-ratio` means.
    Uniform {
        /// The middle of the range.
        nominal: Tokens,
        /// How far the range reaches to either side, as a share of `nominal`; from 0 up to, not including, 1.
        ratio: f64,
    },
    /// Uniform on the whole numbers from `max(1, floor(most ratio))` to `most`, both ends included: what SGLang's
    /// `--random-range-ratio` means, whose 1 is a fixed length and whose 0 the widest range.
    UniformUpTo {
        /// The longest.
        most: Tokens,
        /// Where the range begins, as a share of `most`; from 0 to 1.
        ratio: f64,
    },
    /// Normal, rounded and clipped.
    Normal {
        /// The mean before clipping.
        mean: Tokens,
        /// The standard deviation before clipping, in tokens.
        deviation: f64,
        /// What is shorter has this length.
        least: Tokens,
        /// What is longer has this length.
        most: Tokens,
    },
    /// Log-normal, rounded and clipped: many short ones, a few very long.
    LogNormal {
        /// Half of all lengths are below it.
        median: Tokens,
        /// The standard deviation of the logarithm.
        sigma: f64,
        /// What is shorter has this length.
        least: Tokens,
        /// What is longer has this length.
        most: Tokens,
    },
    /// As a histogram has it: a bin by its weight, then uniform within the bin.
    Histogram(Vec<Bin>),
}

/// A bin of a histogram of lengths.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// The shortest length in it.
    pub from: Tokens,
    /// The longest length in it.
    pub to: Tokens,
    /// Its weight among all bins, such as a count; at least 0.
    pub weight: f64,
}

impl Lengths {
    /// Always `input` and `output` tokens.
    #[must_use]
    pub const fn fixed(input: u64, output: u64) -> Self {
        Self::Independent {
            input: Length::Fixed(Tokens::new(input)),
            output: Length::Fixed(Tokens::new(output)),
        }
    }

    /// The longest prompt and the longest output that can be drawn.
    #[must_use]
    pub fn longest(&self) -> LengthPair {
        match self {
            Self::Independent { input, output } => {
                LengthPair { input: *input.bounds().end(), output: *output.bounds().end() }
            }
            Self::Pairs(pairs) => {
                let longest = |of: fn(&WeightedPair) -> Tokens| pairs.iter().map(of).max();
                LengthPair {
                    input: longest(|pair| pair.input).unwrap_or_default(),
                    output: longest(|pair| pair.output).unwrap_or_default(),
                }
            }
        }
    }

    /// Says what is wrong with these lengths.
    pub(crate) fn check(&self) -> Result<(), SpecError> {
        match self {
            Self::Independent { input, output } => {
                input.check("input")?;
                output.check("output")
            }
            Self::Pairs(_) => Err(SpecError::Unfinished("pairs")),
        }
    }
}

impl LengthSource for Lengths {
    fn lengths(&self, input: &mut Draws, output: &mut Draws) -> LengthPair {
        match self {
            Self::Independent { input: inputs, output: outputs } => {
                LengthPair { input: inputs.draw(input), output: outputs.draw(output) }
            }
            Self::Pairs(_) => LengthPair { input: Tokens::ZERO, output: Tokens::ZERO },
        }
    }
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
    pub fn bounds(&self) -> RangeInclusive<Tokens> {
        match self {
            Self::Fixed(length) => *length..=*length,
            Self::Uniform { nominal, ratio } => {
                let nominal = nominal.get() as f64;
                let low = (nominal * (1.0 - ratio)).floor().max(1.0);
                let high = (nominal * (1.0 + ratio)).ceil().max(low);
                Tokens::new(low as u64)..=Tokens::new(high as u64)
            }
            _ => Tokens::ZERO..=Tokens::ZERO,
        }
    }

    /// Draws one length. A fixed length takes nothing from `draws`.
    pub(crate) fn draw(&self, draws: &mut Draws) -> Tokens {
        match self {
            Self::Fixed(length) => *length,
            _ => {
                let (low, high) = self.bounds().into_inner();
                let span = high.get().saturating_sub(low.get()).saturating_add(1);
                low + Tokens::new(draws.below(span))
            }
        }
    }

    /// Says what is wrong with this length; `which` names it in the message.
    fn check(&self, which: &'static str) -> Result<(), SpecError> {
        let nominal = match self {
            Self::Fixed(length) => *length,
            &Self::Uniform { nominal, ratio } => {
                if !(0.0..1.0).contains(&ratio) {
                    return Err(SpecError::Ratio { which, ratio });
                }
                nominal
            }
            _ => return Err(SpecError::Unfinished(which)),
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
