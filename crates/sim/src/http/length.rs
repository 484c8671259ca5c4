//! How long a reply becomes.

use std::num::NonZeroU64;
use std::str::FromStr;

use fizeau_core::Tokens;
use serde::Serialize;

use super::app::App;
use super::response::Refusal;
use crate::chance::{self, DrawnFor};
use crate::serve::JobId;

/// Where a model ends its replies by itself, if a request lets it: with a token that has no text and counts.
///
/// A request that sets `ignore_eos` gets all that it asks for. Else its reply ends at this length, reason `stop`, but not
/// before `min_tokens` and not after `max_tokens`, reason `length`.
///
/// ```
/// use fizeau_core::{Nanos, Tokens};
/// use fizeau_sim::FixedTiming;
/// use fizeau_sim::http::{NaturalLength, ServerConfig};
/// let engine = FixedTiming::new(Nanos::from_millis(20), Nanos::from_millis(5));
/// let length = NaturalLength::Geometric { mean: Tokens::new(200), seed: 7 };
/// let config = ServerConfig::new(engine).with_natural_length(length);
/// # let _ = config;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NaturalLength {
    /// After so many tokens each time; none counts as one.
    Fixed(Tokens),
    /// After a length drawn for each request, from a geometric distribution: each token is the last with the same
    /// probability, so that short replies are many and some are several times as long as the mean.
    Geometric {
        /// The mean of the distribution; none counts as one.
        mean: Tokens,
        /// Where the draws begin: the same requests in the same order get the same lengths.
        seed: u64,
    },
}

/// Why a text is no natural length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}: it must be a number of tokens, or mean:TOKENS")]
pub struct NaturalLengthError(String);

impl FromStr for NaturalLength {
    type Err = NaturalLengthError;

    /// `200` tokens, or `mean:200` of them, drawn from seed 0.
    fn from_str(text: &str) -> Result<Self, NaturalLengthError> {
        let mean = text.strip_prefix("mean:");
        let tokens = mean.unwrap_or(text).parse::<NonZeroU64>();
        let tokens = tokens.map_err(|_| NaturalLengthError(text.to_owned()))?;
        let tokens = Tokens::new(tokens.get());
        Ok(if mean.is_some() {
            Self::Geometric { mean: tokens, seed: 0 }
        } else {
            Self::Fixed(tokens)
        })
    }
}

impl NaturalLength {
    /// The same, where it is drawn from this seed.
    #[must_use]
    pub const fn with_seed(self, seed: u64) -> Self {
        match self {
            Self::Geometric { mean, .. } => Self::Geometric { mean, seed },
            fixed @ Self::Fixed(_) => fixed,
        }
    }

    /// That of reply `number`, at least 1.
    fn of(self, number: JobId) -> u64 {
        match self {
            Self::Fixed(tokens) => tokens.get().max(1),
            Self::Geometric { mean, seed } => {
                let goes_on = 1.0 - 1.0 / (mean.get().max(1) as f64);
                // The inverse of the distribution function, P(length > k) = goes_on^k. A mean of 1 divides by minus
                // infinity, which gives 0; a length beyond u64 stays at its end.
                // A share is below 1, and what is left over 0.
                let left =
                    1.0 - chance::share(chance::drawn(DrawnFor::Lengths.stream(seed), number.0));
                let draws = left.ln() / goes_on.ln();
                (draws.floor() as u64).saturating_add(1)
            }
        }
    }
}

/// Why a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ReplyEnding {
    /// It has all the tokens that it may have.
    Length,
    /// The model ended it: its last token says so and has no text.
    Stop,
}

/// What a request says of the length of its reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct LengthLimits {
    /// The name of the field with the most tokens.
    pub(super) field: &'static str,
    pub(super) most: Option<u64>,
    pub(super) least: Option<u64>,
    /// What holds where the most is not said.
    pub(super) default: u64,
    pub(super) ignore_eos: Option<bool>,
}

impl LengthLimits {
    /// How many tokens the next reply has behind `prompt`, and why no more.
    pub(super) fn settle(
        self,
        app: &App,
        prompt: Tokens,
    ) -> Result<(Tokens, ReplyEnding), Refusal> {
        let field = self.field;
        let refuse = |message| Err(Refusal::bad_request(Some(field), message));
        if self.most == Some(0) {
            return refuse(format!("`{field}` must be at least 1"));
        }
        if let Some(limit) = app.longest_job {
            self.check(prompt, limit)?;
        }
        let room =
            app.longest_job.map_or(u64::MAX, |limit| limit.get().saturating_sub(prompt.get()));
        let most = self.most.unwrap_or_else(|| self.default.min(room));
        let least = self.least.unwrap_or(0);
        if least > most {
            return refuse(format!(
                "min_tokens must be less than or equal to {field}={most}, got {least}."
            ));
        }
        let ends = match (app.natural, self.ignore_eos) {
            (None, _) | (_, Some(true)) => None,
            // The end of a reply is a token of its own, which only those behind the least can be.
            (Some(natural), _) => {
                Some(natural.of(JobId(app.numbered)).max(least.saturating_add(1)))
            }
        };
        Ok(match ends.filter(|ends| *ends <= most) {
            Some(ends) => (Tokens::new(ends), ReplyEnding::Stop),
            None => (Tokens::new(most), ReplyEnding::Length),
        })
    }

    /// Whether prompt and output have room within `limit`; refused in vLLM's words.
    fn check(self, prompt: Tokens, limit: Tokens) -> Result<(), Refusal> {
        if prompt >= limit {
            let message = format!(
                "This model's maximum context length is {limit} tokens. However, your request has {prompt} input \
                 tokens. Please reduce the length of the input messages."
            );
            return Err(Refusal::bad_request(None, message));
        }
        match self.most.map(Tokens::new) {
            Some(output) if prompt + output > limit => {
                let field = match self.field {
                    "max_tokens" => "'max_tokens' or 'max_completion_tokens'".to_owned(),
                    other => format!("'{other}'"),
                };
                let message = format!(
                    "{field} is too large: {output}. This model's maximum context length is {limit} tokens and your \
                     request has {prompt} input tokens ({output} > {limit} - {prompt})."
                );
                Err(Refusal::bad_request(Some(self.field), message))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::http::fault::Faults;

    proptest! {
        /// The mean of 20,000 draws lies within five standard errors; the deviation of a geometric distribution is less
        /// than its mean.
        #[test]
        fn draws_have_their_mean(mean in 1u64..5_000, seed: u64) {
            let length = NaturalLength::Geometric { mean: Tokens::new(mean), seed };
            let draws = 20_000;
            let sum: u64 = (0..draws).map(|number| length.of(JobId(number))).sum();
            let found = sum as f64 / draws as f64;
            let error = mean as f64 / (draws as f64).sqrt();
            prop_assert!((found - mean as f64).abs() <= 5.0 * error, "{found} for {mean}");
        }
    }

    /// A server with both draws each by itself: a tenth of the requests meet the fault, and their replies are as long as others.
    #[test]
    fn faults_do_not_choose_by_length() {
        let faults: Faults = "0.1*reset".parse().unwrap();
        let length = NaturalLength::Geometric { mean: Tokens::new(200), seed: 0 };
        let met: Vec<u64> = (0..20_000).filter(|&number| faults.of(number).is_some()).collect();
        let sum: u64 = met.iter().map(|&number| length.of(JobId(number))).sum();
        let mean = sum as f64 / met.len() as f64;
        // Five standard errors of 2,000.
        assert!((177.0..223.0).contains(&mean), "{mean} of {}", met.len());
    }

    #[test]
    fn no_length_is_nothing() {
        let drawn = NaturalLength::Geometric { mean: Tokens::ZERO, seed: 1 };
        for length in [NaturalLength::Fixed(Tokens::ZERO), drawn] {
            assert_eq!(length.of(JobId(3)), 1, "{length:?}");
        }
    }
}
