//! What can be wrong with a law of lengths.

use fizeau_core::Tokens;

use super::Length;

/// What is wrong with a law of lengths; the message goes on from "the input length".
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
    #[error("begins at {0} of the longest: that must be from 0 to 1")]
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
