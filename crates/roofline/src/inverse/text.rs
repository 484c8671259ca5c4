//! Goals as people write them down.

use std::num::NonZeroU64;
use std::str::FromStr;

use fizeau_core::{PerSec, Seconds, Tokens};

use super::ServingGoal;

/// What is smaller or larger is a slip; nothing is so fast or so slow.
const LEAST: f64 = 1e-9;
const MOST: f64 = 1e12;

/// Why a text is no goal.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ServingGoalError {
    /// It is of no such form.
    #[error(
        "{text}: it must be ttft:MS, tpot:MS, tps:RATE, rps:RATE, concurrency:N or context:TOKENS"
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
    /// second, `concurrency` in requests, `context` in tokens.
    ///
    /// ```
    /// use fizeau_roofline::ServingGoal;
    ///
    /// let goal: ServingGoal = "tpot:50 context:8192".parse()?;
    /// assert_eq!(goal.tpot.map(|tpot| tpot.get()), Some(0.05));
    /// assert!("tpot:0".parse::<ServingGoal>().is_err());
    /// # Ok::<(), fizeau_roofline::ServingGoalError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, ServingGoalError> {
        let mut goal = Self::default();
        for text in text.split([' ', ',']).filter(|text| !text.is_empty()) {
            let wrong = || ServingGoalError::Form { text: text.to_owned() };
            let (name, value) = text.split_once(':').ok_or_else(wrong)?;
            let number: f64 = value.parse().map_err(|_| wrong())?;
            let least = if matches!(name, "concurrency" | "context") { 1.0 } else { LEAST };
            if !(least..=MOST).contains(&number) {
                let [text, name, value] = [text, name, value].map(str::to_owned);
                return Err(ServingGoalError::Range { text, name, value, least });
            }
            match name {
                "ttft" => goal.ttft = Some(Seconds::new(number / 1e3)),
                "tpot" => goal.tpot = Some(Seconds::new(number / 1e3)),
                "tps" => goal.tokens_per_s_per_user = Some(PerSec::new(number)),
                "rps" => goal.requests_per_s = Some(PerSec::new(number)),
                "concurrency" => goal.concurrency = NonZeroU64::new(number as u64),
                "context" => goal.context = Some(Tokens::new(number as u64)),
                _ => return Err(wrong()),
            }
        }
        Ok(goal)
    }
}
