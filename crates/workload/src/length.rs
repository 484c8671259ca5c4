//! How many tokens a request takes or gives.

mod law;
mod range;
mod text;

use fizeau_core::Tokens;
use serde::{Deserialize, Serialize};

pub use range::{RangeRatios, RangeStyle};
pub use text::{LengthTextError, PresetLengths};

use crate::parts::{LengthPair, LengthSource};
use crate::seed::RandomStream;
use crate::weights::pick;

/// How long requests are.
///
/// On a command line, pairs are written as in `250/100=3,1000/20=1`, with weights; a [`PresetLengths`] by its name.
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
    /// Its weight among all pairs; a pair of 0 never comes.
    pub weight: f64,
}

/// A length in tokens, the same for all requests or drawn for each.
///
/// Each law has a text form, for command lines and tables; `Display` and `FromStr` undo each other.
///
/// | text | law |
/// |---|---|
/// | `250` | always 250 |
/// | `uniform:200-300` | from 200 to 300, both included |
/// | `vllm:nominal=250,ratio=0.2` | vLLM's reading of a range ratio |
/// | `sglang:most=250,ratio=0.2` | SGLang's reading of it |
/// | `normal:mean=500,sd=100,min=50,max=2000` | normal, clipped |
/// | `lognormal:median=500,sigma=0.8,min=50,max=4000` | log-normal, clipped |
/// | `histogram:1-100=5,101-1000=3` | a bin by its weight, then uniform within it |
///
/// ```
/// use fizeau_workload::Length;
/// let length: Length = "lognormal:median=500,sigma=0.8,min=50,max=4000".parse()?;
/// assert_eq!(length.quantile(0.5).get(), 500);
/// assert_eq!(length.to_string(), "lognormal:median=500,sigma=0.8,min=50,max=4000");
/// # Ok::<(), fizeau_workload::LengthTextError>(())
/// ```
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
    /// Uniform on the whole numbers from `least` to `most`, both ends included.
    Between {
        /// The shortest.
        least: Tokens,
        /// The longest.
        most: Tokens,
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
    Histogram(Vec<LengthBin>),
}

/// A bin of a histogram of lengths.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LengthBin {
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

    /// The longest prompt and the longest output that can be drawn, each for itself: of pairs they may be of two.
    #[must_use]
    pub fn longest(&self) -> LengthPair {
        match self {
            Self::Independent { input, output } => {
                LengthPair { input: *input.bounds().end(), output: *output.bounds().end() }
            }
            Self::Pairs(pairs) => {
                let longest =
                    |of: fn(&WeightedPair) -> Tokens| WeightedPair::drawn(pairs).map(of).max();
                LengthPair {
                    input: longest(|pair| pair.input).unwrap_or_default(),
                    output: longest(|pair| pair.output).unwrap_or_default(),
                }
            }
        }
    }

    /// The lengths of the longest request that can be drawn, prompt and output together.
    #[must_use]
    pub fn longest_request(&self) -> LengthPair {
        match self {
            Self::Independent { .. } => self.longest(),
            Self::Pairs(pairs) => WeightedPair::drawn(pairs)
                .max_by_key(|pair| pair.input + pair.output)
                .map_or_else(LengthPair::default, WeightedPair::lengths),
        }
    }

    /// The lengths that a share `q` of all prompts and of all outputs do not exceed, as the laws have them, each for
    /// itself; see [`Length::quantile`].
    #[must_use]
    pub fn quantile(&self, q: f64) -> LengthPair {
        match self {
            Self::Independent { input, output } => {
                LengthPair { input: input.quantile(q), output: output.quantile(q) }
            }
            Self::Pairs(pairs) => {
                let inputs = pairs.iter().map(|pair| (pair.input, pair.weight));
                let outputs = pairs.iter().map(|pair| (pair.output, pair.weight));
                LengthPair {
                    input: law::weighted_quantile(inputs, q),
                    output: law::weighted_quantile(outputs, q),
                }
            }
        }
    }
}

impl WeightedPair {
    /// Those that ever come.
    fn drawn(pairs: &[Self]) -> impl Iterator<Item = &Self> {
        pairs.iter().filter(|pair| pair.weight > 0.0)
    }

    const fn lengths(&self) -> LengthPair {
        LengthPair { input: self.input, output: self.output }
    }
}

impl LengthSource for Lengths {
    fn lengths(&self, input: &mut RandomStream, output: &mut RandomStream) -> LengthPair {
        match self {
            Self::Independent { input: inputs, output: outputs } => {
                LengthPair { input: inputs.draw(input), output: outputs.draw(output) }
            }
            Self::Pairs(pairs) => pick(pairs, |pair| pair.weight, input)
                .and_then(|place| pairs.get(place))
                .map_or_else(LengthPair::default, WeightedPair::lengths),
        }
    }
}

// What can be wrong with a law of lengths.

/// What is wrong with a law of lengths. The message continues the words "the input length".
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LengthMistake {
    /// There is nothing to choose from.
    #[error("has nothing to choose from: at least one choice must have a weight above 0")]
    NoChoice,
    /// The ends are the wrong way round, or the lower one is 0.
    #[error(
        "goes from {least} to {most} tokens: it must begin at 1 or above and not end below that"
    )]
    Ends {
        /// The lower end.
        least: Tokens,
        /// The upper end.
        most: Tokens,
    },
    /// The spread is no usable number.
    #[error("has a {name} of {value}: it must be a number from 0 to {}", Length::MAX)]
    Spread {
        /// How the law calls it.
        name: &'static str,
        /// The value given.
        value: f64,
    },
    /// The ratio is outside of its range.
    #[error("begins at {0} times the longest length: that factor must be from 0 to 1")]
    ShareOfMost(f64),
    /// A weight is no usable number.
    #[error("has a choice of weight {0}: weights must be finite numbers of 0 or above")]
    Weight(f64),
}

impl Length {
    /// What is wrong with this law, beside its longest and shortest.
    pub(crate) fn mistake(&self) -> Option<LengthMistake> {
        match *self {
            Self::Fixed(_) | Self::Uniform { .. } => None,
            Self::UniformUpTo { ratio, .. } => {
                (!(0.0..=1.0).contains(&ratio)).then_some(LengthMistake::ShareOfMost(ratio))
            }
            Self::Between { least, most } => ends(least, most),
            Self::Normal { deviation, least, most, .. } => {
                spread("standard deviation", deviation).or_else(|| ends(least, most))
            }
            Self::LogNormal { sigma, least, most, .. } => {
                spread("sigma", sigma).or_else(|| ends(least, most))
            }
            Self::Histogram(ref bins) => bins
                .iter()
                .find_map(|bin| ends(bin.from, bin.to))
                .or_else(|| weights(bins.iter().map(|bin| bin.weight)).err()),
        }
    }
}

fn ends(least: Tokens, most: Tokens) -> Option<LengthMistake> {
    let wrong = least == Tokens::ZERO || most < least;
    wrong.then_some(LengthMistake::Ends { least, most })
}

fn spread(name: &'static str, value: f64) -> Option<LengthMistake> {
    let most = Length::MAX.get() as f64;
    (!(0.0..=most).contains(&value)).then_some(LengthMistake::Spread { name, value })
}

/// Says what is wrong with weights of which one is to be drawn.
pub(crate) fn weights(weights: impl Iterator<Item = f64>) -> Result<(), LengthMistake> {
    let mut total = 0.0;
    for weight in weights {
        if !weight.is_finite() || weight < 0.0 {
            return Err(LengthMistake::Weight(weight));
        }
        total += weight;
    }
    if total > 0.0 && total.is_finite() { Ok(()) } else { Err(LengthMistake::NoChoice) }
}
