//! What can be wrong with a specification.

use std::num::NonZeroU64;

use fizeau_core::Tokens;

use super::{PlanSpec, SpecError};
use crate::cache::{Popularity, SharedPrefix};
use crate::content::{PrefixRepetition, PromptContent, PromptForm, VllmRandom};
use crate::length::{Length, Lengths, weights};
use crate::workload::{Sessions, ThinkTime, Turns};

impl PlanSpec {
    /// Says what is wrong with this specification, the first thing only.
    pub(crate) fn check(&self) -> Result<(), SpecError> {
        self.arrivals.check()?;
        self.lengths.check()?;
        self.prefix.check()?;
        self.sessions.iter().try_for_each(Sessions::check)?;
        self.check_models()?;
        self.check_content()?;
        let longest = self.prefix_tokens() + self.longest_own().input;
        if longest > Length::MAX {
            let which = "prefix plus input";
            return Err(SpecError::TooLong { which, longest });
        }
        Ok(())
    }

    fn check_models(&self) -> Result<(), SpecError> {
        let mut total = 0.0;
        for share in &self.models {
            total += share.weight;
            let is_named = !share.model.is_empty();
            if !(is_named && share.weight > 0.0 && f64::is_finite(total)) {
                let (model, weight) = (share.model.clone(), share.weight);
                return Err(SpecError::Model { model, weight });
            }
        }
        Ok(())
    }

    /// Says what is wrong with the content.
    fn check_content(&self) -> Result<(), SpecError> {
        match &self.content {
            PromptContent::TokenIds { range } if range.len() < 2 => {
                Err(SpecError::Vocabulary { start: range.start, end: range.end })
            }
            PromptContent::TokenIds { .. }
            | PromptContent::Chat(_)
            | PromptContent::Text(_)
            | PromptContent::Unread
            | PromptContent::Dataset { .. } => Ok(()),
            PromptContent::VllmRandom(random) => random.check(self.requests),
            PromptContent::PrefixRepetition(repetition) => repetition.check(self.requests),
        }
    }
}

impl Lengths {
    /// Says what is wrong with these lengths.
    fn check(&self) -> Result<(), SpecError> {
        let pairs = match self {
            Self::Independent { input, output } => {
                input.check("input")?;
                return output.check("output");
            }
            Self::Pairs(pairs) => pairs,
        };
        for pair in pairs {
            Length::Fixed(pair.input).check("input")?;
            Length::Fixed(pair.output).check("output")?;
        }
        weights(pairs.iter().map(|pair| pair.weight))
            .map_err(|mistake| SpecError::Length { which: "joint", mistake })
    }
}

impl Length {
    /// Says what is wrong with this length; `which` names it in the message.
    fn check(&self, which: &'static str) -> Result<(), SpecError> {
        match *self {
            Self::Uniform { ratio, .. } if !(0.0..1.0).contains(&ratio) => {
                return Err(SpecError::Ratio { which, ratio });
            }
            Self::Fixed(Tokens::ZERO)
            | Self::Uniform { nominal: Tokens::ZERO, .. }
            | Self::UniformUpTo { most: Tokens::ZERO, .. }
            | Self::LogNormal { median: Tokens::ZERO, .. } => {
                return Err(SpecError::NoLength { which });
            }
            _ => {}
        }
        self.mistake().map_or(Ok(()), |mistake| Err(SpecError::Length { which, mistake }))?;
        let longest = *self.bounds().end();
        if longest > Self::MAX {
            return Err(SpecError::TooLong { which, longest });
        }
        Ok(())
    }
}

impl SharedPrefix {
    /// Says what is wrong with this prefix.
    fn check(&self) -> Result<(), SpecError> {
        let &Self::Groups { groups, share, popularity, .. } = self else {
            return Ok(());
        };
        let exponent = match popularity {
            Popularity::Uniform => 0.0,
            Popularity::Zipf { exponent } => exponent,
        };
        let numbers = [
            ("a number of", groups.get() as f64, Self::MOST_GROUPS),
            ("a share of", share, 1),
            ("a Zipf exponent of", exponent, 100),
        ];
        let wrong =
            numbers.into_iter().find(|&(_, value, most)| !(0.0..=most.into()).contains(&value));
        match wrong {
            Some((which, value, most)) => Err(SpecError::PrefixGroups { which, value, most }),
            None => Ok(()),
        }
    }
}

impl Sessions {
    /// Says what is wrong with this description.
    fn check(&self) -> Result<(), SpecError> {
        if let Turns::Uniform { least, most } = self.turns
            && least > most
        {
            return Err(SpecError::Turns { least, most });
        }
        self.think.check()
    }
}

impl ThinkTime {
    fn check(self) -> Result<(), SpecError> {
        let (seconds, sigma) = match self {
            Self::None => return Ok(()),
            Self::Fixed { seconds } | Self::Exponential { mean: seconds } => (seconds.get(), 0.0),
            Self::LogNormal { median, sigma } => (median.get(), sigma),
        };
        // A day and a spread of e^5 are beyond every user, and keep all that is drawn within range.
        if !(0.0..=86_400.0).contains(&seconds) {
            return Err(SpecError::ThinkTime {
                which: "seconds of think time",
                value: seconds,
                most: 86_400,
            });
        }
        if !(0.0..=5.0).contains(&sigma) {
            return Err(SpecError::ThinkTime {
                which: "sigma of the think time",
                value: sigma,
                most: 5,
            });
        }
        Ok(())
    }
}

impl VllmRandom {
    fn check(&self, requests: NonZeroU64) -> Result<(), SpecError> {
        let law = |nominal, ratio| Length::Uniform { nominal, ratio };
        let (input, output) =
            (law(self.input, self.input_ratio), law(self.output, self.output_ratio));
        Lengths::Independent { input, output }.check()?;
        if self.form == PromptForm::TokenIds && self.vocabulary < 2 {
            return Err(SpecError::Vocabulary { start: 0, end: self.vocabulary });
        }
        if self.form == PromptForm::TokenIds && self.vocabulary > MOST_IDS {
            return Err(SpecError::VocabularySize { size: self.vocabulary, most: MOST_IDS });
        }
        drawn_whole("vLLM's random data set", requests, MOST_REQUESTS)
    }
}

/// Far beyond every tokenizer's, and few enough to be listed.
const MOST_IDS: u32 = 1 << 24;
/// Each takes about a hundred bytes.
const MOST_REQUESTS: u64 = 1 << 21;

impl PrefixRepetition {
    fn check(&self, requests: NonZeroU64) -> Result<(), SpecError> {
        let lengths = |length| Length::Fixed(length);
        let (input, output) = (lengths(self.suffix), lengths(self.output));
        Lengths::Independent { input, output }.check()?;
        if self.form == PromptForm::TokenIds && self.vocabulary < 2 {
            return Err(SpecError::Vocabulary { start: 0, end: self.vocabulary });
        }
        let prefixes = self.prefixes;
        if requests < prefixes {
            return Err(SpecError::Prefixes { requests, prefixes });
        }
        drawn_whole("prefix_repetition", requests, 1 << 24)
    }
}

/// Refuses plans of more requests than can well be drawn before the run.
pub(crate) fn drawn_whole(
    content: &'static str,
    requests: NonZeroU64,
    most: u64,
) -> Result<(), SpecError> {
    if requests.get() > most {
        return Err(SpecError::TooMany { content, requests, most });
    }
    Ok(())
}
