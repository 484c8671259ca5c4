//! Which of the levels within the goal to run at.

use clap::Args;
use clap::builder::PossibleValuesParser;
use fizeau::pareto::{StepRule, StepRuleError};
use fizeau::record::{Profile, ProfileChoice};

/// Which of the levels within the goal to run at.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ChoosingArgs {
    /// What to put first where several levels meet the goals: general, the most requests/s; chat, the least p99 TTFT, for which up
    /// to a fifth of the requests/s is given up; batch, the most requests/s at any latency (without --step-rule); agent, the most
    /// good requests/s (--goodput). The default is general.
    #[arg(long, value_name = "USE", value_parser = profiles(), hide_possible_values = true, help_heading = "Goals")]
    pub(crate) prefer: Option<String>,
    /// When to stay below a level though it meets the goals. With 2x:10%: where the tail of E2EL is at least 2 times as long for
    /// less than 10 % more requests/s at the very next level, or at some later one if none gains 10 % (so that fine steps are judged
    /// together). With off: never. The default is 2x:10%, with --prefer batch off.
    #[arg(long, value_name = "FACTORx:GAIN%|off", value_parser = rule, help_heading = "Goals")]
    pub(crate) step_rule: Option<RuleArg>,
}

/// A rule, or none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RuleArg(Option<StepRule>);

impl ChoosingArgs {
    /// What is asked for.
    pub(crate) fn choice(&self) -> ProfileChoice {
        let profile = self.prefer.as_deref().and_then(Profile::named);
        ProfileChoice { profile, rule: self.step_rule.map(|rule| rule.0) }
    }
}

fn profiles() -> PossibleValuesParser {
    Profile::ALL.map(|profile| profile.name).into()
}

fn rule(text: &str) -> Result<RuleArg, StepRuleError> {
    if text == "off" { Ok(RuleArg(None)) } else { text.parse().map(|rule| RuleArg(Some(rule))) }
}
