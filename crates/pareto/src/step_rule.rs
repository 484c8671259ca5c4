//! When more load does not pay.

use std::fmt;
use std::str::FromStr;

/// When a level is not worth what it costs over a lower one: [`StepRule::KNEE`] where a server saturates,
/// [`StepRule::default`] where to stay below what is allowed.
///
/// Written `2x:10%`: at least 2 times the latency for under 10 % more throughput.
///
/// ```
/// use fizeau_pareto::StepRule;
/// assert_eq!("2x:10%".parse(), Ok(StepRule::default()));
/// assert_eq!(StepRule { most_cost: 1.5, least_gain: 0.2 }.to_string(), "1.5x:20%");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepRule {
    /// What latency is multiplied by, from where on it is too much; above 1.
    pub most_cost: f64,
    /// The least relative gain in throughput that pays for that: 0.10 is 10 %; from 0 on.
    pub least_gain: f64,
}

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}`: write FACTORx:GAIN%, such as 2x:10%, with a factor above 1 and a gain from 0 on")]
pub struct StepRuleError(String);

impl StepRule {
    /// Less than 10 % more throughput for more than 1.5 times the latency. Under saturation, where requests only queue,
    /// throughput stands still and latency grows with the load (Little's law), so a doubling of the load costs twice the
    /// latency; half of that leaves room for noise.
    pub const KNEE: Self = Self { most_cost: 1.5, least_gain: 0.10 };
}

impl Default for StepRule {
    /// Twice the latency for under 10 % more throughput: what is allowed is given up only for what nobody would pay.
    fn default() -> Self {
        Self { most_cost: 2.0, least_gain: 0.10 }
    }
}

impl FromStr for StepRule {
    type Err = StepRuleError;

    fn from_str(text: &str) -> Result<Self, StepRuleError> {
        let parse = || {
            let (cost, gain) = text.split_once(':')?;
            let most_cost: f64 = cost.trim().strip_suffix('x')?.trim().parse().ok()?;
            let percent: f64 = gain.trim().strip_suffix('%')?.trim().parse().ok()?;
            let is_sound =
                most_cost > 1.0 && most_cost.is_finite() && percent >= 0.0 && percent.is_finite();
            is_sound.then_some(Self { most_cost, least_gain: percent / 100.0 })
        };
        parse().ok_or_else(|| StepRuleError(text.to_owned()))
    }
}

impl fmt::Display for StepRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // To a millionth of a percent: 0.07 * 100 is no whole number of floats.
        let percent = (self.least_gain * 1e8).round() / 1e6;
        write!(f, "{}x:{percent}%", self.most_cost)
    }
}
