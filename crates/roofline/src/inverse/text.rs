//! Goals as people write them down.

use std::num::NonZeroU64;
use std::str::FromStr;

use fizeau_core::{PerSec, Seconds, Tokens};

use super::{ServingGoal, ServingNeed};

/// What is smaller or larger is a slip; nothing is so fast or so slow.
const LEAST: f64 = 1e-9;
const MOST: f64 = 1e12;

/// Why a text is no goal.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ServingGoalError {
    /// It is of no such form.
    #[error(
        "{text}: give a goal such as ttft<300ms, with its unit, or ttft:300, tpot<20ms or tpot:20, tps>50 or tps:50, rps>10 or rps:10, \
         concurrency:32, context:8192; the model has one figure for all requests and no percentiles"
    )]
    Form {
        /// The part that is wrong.
        text: String,
    },
    /// Nothing is so fast or so slow, so much or so little.
    #[error("{text}: {name} is {value}; it must be from {least} to {MOST:e}")]
    Range {
        /// The part that is wrong.
        text: String,
        /// What is to be met.
        name: String,
        /// What it is to be.
        value: String,
        /// The least that it may be.
        least: f64,
    },
}

impl FromStr for ServingGoal {
    type Err = ServingGoalError;

    /// Of parts such as `tpot:50` with blanks or commas between: `ttft` and `tpot` in milliseconds, `tps` of a user and `rps` a
    /// second, `concurrency` in requests, `context` in tokens. Or as goals of measured levels are written: `tpot<50ms`, `ttft<0.5s`,
    /// `tps>=50`; a limit that is met with equality is the same goal.
    ///
    /// ```
    /// use fizeau_roofline::ServingGoal;
    ///
    /// let goal: ServingGoal = "tpot:50 context:8192".parse()?;
    /// assert_eq!(goal.tpot().map(|tpot| tpot.get()), Some(0.05));
    /// assert_eq!("tpot<50ms, tps>20".parse::<ServingGoal>(), "tpot:50 tps:20".parse());
    /// assert!("tpot:0".parse::<ServingGoal>().is_err());
    /// # Ok::<(), fizeau_roofline::ServingGoalError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, ServingGoalError> {
        let mut goal = Self::default();
        for text in text.split([' ', ',']).filter(|text| !text.is_empty()) {
            let wrong = || ServingGoalError::Form { text: text.to_owned() };
            let (name, value, number) = named_number(text).ok_or_else(wrong)?;
            let least = if matches!(name, "concurrency" | "context") { 1.0 } else { LEAST };
            if !(least..=MOST).contains(&number) {
                let [text, name, value] = [text, name, value].map(str::to_owned);
                return Err(ServingGoalError::Range { text, name, value, least });
            }
            if least == 1.0 && number.fract() != 0.0 {
                return Err(wrong());
            }
            goal = goal.and(match name {
                "ttft" => ServingNeed::Ttft(Seconds::new(number / 1e3)),
                "tpot" => ServingNeed::Tpot(Seconds::new(number / 1e3)),
                "tps" => ServingNeed::TokensPerSPerUser(PerSec::new(number)),
                "rps" => ServingNeed::RequestsPerS(PerSec::new(number)),
                "concurrency" => {
                    ServingNeed::Concurrency(NonZeroU64::new(number as u64).ok_or_else(wrong)?)
                }
                "context" => ServingNeed::Context(Tokens::new(number as u64)),
                _ => return Err(wrong()),
            })?;
        }
        Ok(goal)
    }
}

/// The name, the value as written, and its number, of a time in milliseconds. A time has an upper limit, all else a lower one.
fn named_number(text: &str) -> Option<(&str, &str, f64)> {
    let (name, limit) = text.split_at(text.find([':', '<', '>'])?);
    let is_time = matches!(name, "ttft" | "tpot");
    let Some(value) = limit.strip_prefix(':') else {
        let limit = limit.strip_prefix(if is_time { '<' } else { '>' })?;
        let value = limit.strip_prefix('=').unwrap_or(limit);
        let (digits, scale) = match (is_time, value.strip_suffix("ms"), value.strip_suffix('s')) {
            (false, ..) => (value, 1.0),
            (true, Some(digits), _) => (digits, 1.0),
            (true, None, Some(digits)) => (digits, 1e3),
            (true, None, None) => return None,
        };
        return Some((name, value, digits.parse::<f64>().ok()? * scale));
    };
    Some((name, value, value.parse().ok()?))
}

impl ServingGoal {
    /// This need too.
    pub(super) fn and(mut self, need: ServingNeed) -> Result<Self, ServingGoalError> {
        let (name, value) = match need {
            ServingNeed::Ttft(most) => ("ttft", most.get() * 1e3),
            ServingNeed::Tpot(most) => ("tpot", most.get() * 1e3),
            ServingNeed::TokensPerSPerUser(least) => ("tps", least.get()),
            ServingNeed::RequestsPerS(least) => ("rps", least.get()),
            ServingNeed::Concurrency(_) | ServingNeed::Context(_) => ("", 1.0),
        };
        // What was read is held against its own digits; here a rounding may lie between.
        if !(LEAST * 0.999..=MOST * 1.001).contains(&value) {
            let (text, value) = (format!("{name}:{value}"), value.to_string());
            return Err(ServingGoalError::Range {
                text,
                name: name.to_owned(),
                value,
                least: LEAST,
            });
        }
        match need {
            ServingNeed::Ttft(most) => self.ttft = Some(most),
            ServingNeed::Tpot(most) => self.tpot = Some(most),
            ServingNeed::TokensPerSPerUser(least) => self.tokens_per_s_per_user = Some(least),
            ServingNeed::RequestsPerS(least) => self.requests_per_s = Some(least),
            ServingNeed::Concurrency(least) => self.concurrency = Some(least),
            ServingNeed::Context(tokens) => self.context = Some(tokens),
        }
        Ok(self)
    }
}
