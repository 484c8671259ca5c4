//! Goals for a single request, and whether it met them.

use std::str::FromStr;

use fizeau_core::{Millis, Nanos};

use crate::RequestMetrics;

/// Goals for a single request, in the spelling of vLLM's `--goodput`: `ttft:500 tpot:50 e2el:2000`, in
/// milliseconds.
///
/// A request is good if it succeeded and each figure that has a goal exists and is no greater than its goal.
/// So a reply of a single token, which has no TPOT, cannot meet a goal for TPOT.
///
/// ```
/// use fizeau_core::Millis;
/// let goals: fizeau_metrics::GoodputGoals = "ttft:500 tpot:50".parse()?;
/// assert_eq!(goals.ttft, Some(Millis::new(500.0)));
/// assert_eq!(goals.e2el, None);
/// # Ok::<(), fizeau_metrics::GoodputError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GoodputGoals {
    /// The most that send start to first token may take; absent if no goal was given.
    pub ttft: Option<Millis>,
    /// The slowest mean pace after the first event.
    pub tpot: Option<Millis>,
    /// The most that send start to last token may take.
    pub e2el: Option<Millis>,
}

/// Why a text is not a set of goals for requests.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoodputError {
    /// A piece without a colon.
    #[error("goodput goal `{0}`: write `name:milliseconds`, for instance `ttft:500`")]
    NoColon(String),
    /// Names that are no metric of a request.
    #[error("unknown goodput goal {}: the names are ttft, tpot and e2el", quoted(.0))]
    UnknownNames(Vec<String>),
    /// A limit that is not a positive number.
    #[error(
        "goodput goal `{0}`: the limit must be a positive number of milliseconds, without a unit"
    )]
    Limit(String),
    /// One name twice.
    #[error("goodput goal `{0}` is given twice: keep one")]
    Twice(String),
}

impl GoodputGoals {
    /// Whether no goal is given at all; goodput is then absent.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ttft.is_none() && self.tpot.is_none() && self.e2el.is_none()
    }

    /// Whether the request succeeded and met every goal.
    #[must_use]
    pub fn are_met_by(&self, request: &RequestMetrics) -> bool {
        let succeeded = request.output_tokens.is_some();
        succeeded
            && within(self.ttft, request.ttft.map(Nanos::to_millis))
            && within(self.tpot, request.tpot)
            && within(self.e2el, request.e2el.map(Nanos::to_millis))
    }
}

impl FromStr for GoodputGoals {
    type Err = GoodputError;

    /// Reads goals separated by white space. An empty text gives no goals.
    fn from_str(text: &str) -> Result<Self, GoodputError> {
        let mut goals = Self::default();
        let mut unknown = Vec::new();
        for piece in text.split_whitespace() {
            let Some((name, limit)) = piece.split_once(':') else {
                return Err(GoodputError::NoColon(piece.to_owned()));
            };
            let goal = match name {
                "ttft" => &mut goals.ttft,
                "tpot" => &mut goals.tpot,
                "e2el" => &mut goals.e2el,
                _ => {
                    unknown.push(name.to_owned());
                    continue;
                }
            };
            let limit: f64 = limit.parse().unwrap_or(f64::NAN);
            if !(limit > 0.0 && limit.is_finite()) {
                return Err(GoodputError::Limit(piece.to_owned()));
            }
            if goal.replace(Millis::new(limit)).is_some() {
                return Err(GoodputError::Twice(name.to_owned()));
            }
        }
        if unknown.is_empty() { Ok(goals) } else { Err(GoodputError::UnknownNames(unknown)) }
    }
}

fn within(goal: Option<Millis>, measured: Option<Millis>) -> bool {
    match (goal, measured) {
        (None, _) => true,
        (Some(goal), Some(measured)) => measured <= goal,
        (Some(_), None) => false,
    }
}

fn quoted(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
