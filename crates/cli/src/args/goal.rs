//! `--slo` and `--goodput`: the goals of a load, and those of single requests.

use clap::{Args, ValueEnum};
use fizeau::experiment::SweepSettings;
use fizeau::metrics::{ComparisonSettings, GoodputGoals, LevelFigure, SignificanceLevel, Slo};
use fizeau::pareto::{StepRule, StepRuleError};
use fizeau::record::{GoalSource, Profile, ProfileChoice};
use fizeau::roofline::HourlyRate;

use super::values::share;
use crate::exit::{Fail, Named};

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Goals")]
pub(crate) struct GoalArgs {
    /// The goals that must hold, such as "p99 ttft<500ms, p99 tpot<20ms"; given several times, all of them. The exit code is 1 if they are missed. A range such as
    /// p99 ttft<500ms..800ms has a tight and a loose end, of which the loose one decides the exit code. Under an open loop ttft and e2el must keep their limits
    /// from the schedule too, as ttft_scheduled and e2el_scheduled. `failed<1%` is a goal for failed requests. `fizeau sweep` without goals
    /// chooses its operating point by the goals in this example; `fizeau search` must have goals.
    #[arg(long, value_name = "GOALS")]
    slo: Vec<String>,
    /// The goals of a single request in milliseconds, such as ttft:500 tpot:50; they give goodput. A request is good if it meets
    /// all goals of one group; the word or begins another group: ttft:500 tpot:50 or e2el:2000.
    #[arg(long, visible_alias = "goal", value_name = "METRIC:MS", num_args = 1..)]
    goodput: Vec<String>,
}

impl GoalArgs {
    /// The goals, given or not. To miss those that are assumed is no failure.
    pub(crate) fn slo(&self) -> Result<Slo, Fail> {
        Ok(match slo(&self.slo)? {
            Some(slo) => slo,
            None => SweepSettings::USUAL_GOALS.parse().named("--slo")?,
        })
    }

    /// Whose [these](Self::slo) are.
    pub(crate) const fn source(&self) -> GoalSource {
        if self.is_given() { GoalSource::Given } else { GoalSource::Assumed }
    }

    /// The goals that somebody asked for.
    pub(crate) fn given(&self) -> Result<Option<Slo>, Fail> {
        self.is_given().then(|| self.slo()).transpose()
    }

    /// The goals of a search, which nobody else can choose.
    pub(crate) fn of_search(&self) -> Result<Slo, Fail> {
        let why = "--slo: a search needs the goals that the load must keep, such as --slo \"p99 ttft<500ms\"";
        self.given()?.ok_or_else(|| Fail::usage(why))
    }

    /// Whether somebody asked for them.
    pub(crate) const fn is_given(&self) -> bool {
        !self.slo.is_empty()
    }

    /// Which requests are good.
    pub(crate) fn goodput(&self) -> Result<GoodputGoals, Fail> {
        goodput(&self.goodput)
    }
}

/// The goals of a load, as `--slo` says them; none where nobody does.
pub(crate) fn slo(given: &[String]) -> Result<Option<Slo>, Fail> {
    let Some(slo) = all_goals(given) else { return Ok(None) };
    refuse_if!(
        !slo.contains(['<', '>']) && slo.contains(':'),
        "--slo {slo}: this is a goal for each single request; give it as --goodput {slo}, or write a percentile, such as --slo \"p99 \
         ttft<500ms\""
    );
    slo.parse().named("--slo").map(Some)
}

/// The goals of each `--slo`, one after the other; none of none.
pub(crate) fn all_goals(given: &[String]) -> Option<String> {
    (!given.is_empty()).then(|| given.join(", "))
}

/// Which requests are good, as `--goodput` says it.
pub(crate) fn goodput(words: &[String]) -> Result<GoodputGoals, Fail> {
    let words = words.join(" ");
    refuse_if!(
        words.contains(['<', '>']),
        "--goodput {words}: this is a goal for all requests of a level; give it as --slo \"{words}\""
    );
    words.parse().named("--goodput")
}

// Which of the levels within the goal to run at.

/// Which of the levels within the goal to run at.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ChoosingArgs {
    /// What to put first where several levels meet the goals: general, the most requests/s; chat, the least p99 TTFT, for which up
    /// to a fifth of the requests/s is given up; batch, the most requests/s at any latency (without --step-rule); agent, the most
    /// good requests/s (--goodput). The default is general.
    #[arg(long, value_name = "USE", value_parser = Profile::ALL.map(|profile| profile.name), hide_possible_values = true, help_heading = "Goals")]
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

fn rule(text: &str) -> Result<RuleArg, StepRuleError> {
    if text == "off" { Ok(RuleArg(None)) } else { text.parse().map(|rule| RuleArg(Some(rule))) }
}

// How two systems are told apart: what `fizeau ab` and `fizeau compare` have alike.

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Answer")]
pub(crate) struct DecisionArgs {
    /// The metrics to decide by, separated by commas: p50 ttft, p99 tpot, output_tps. By default median and p99 of TTFT and TPOT,
    /// output TPS, and with --goodput the good share. Each further metric makes differences in the others harder to detect.
    #[arg(long, value_name = "METRICS", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,
    /// The probability of reporting a difference where there is none, over all metrics of all loads and runs together.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.05)]
    pub(crate) alpha: f64,
    /// The smallest difference that is called better or worse, as a share of the baseline's figure; 0 for any.
    #[arg(long, value_name = "SHARE", default_value = "0.1%")]
    pub(crate) smallest: String,
    /// When to end with exit code 1: with `regression`, where any metric is worse than the baseline's, where nothing could be
    /// tested, or where a level of the baseline is missing.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = FailOn::Never)]
    pub(crate) fail_on: FailOn,
    /// The older spelling of --fail-on regression.
    #[arg(long, hide = true)]
    pub(crate) fail_on_worse: bool,
}

impl DecisionArgs {
    /// The figures that are named.
    pub(crate) fn figures(&self) -> Result<Vec<LevelFigure>, Fail> {
        self.metrics.iter().map(|name| name.parse().named("--metrics")).collect()
    }

    /// How strictly systems are told apart.
    pub(crate) fn comparison(&self) -> Result<ComparisonSettings, Fail> {
        let alpha = SignificanceLevel::new(self.alpha).named("--alpha")?;
        let smallest = self.smallest.parse().named("--smallest")?;
        Ok(ComparisonSettings { alpha, smallest, ..ComparisonSettings::default() })
    }

    /// Whether what is worse is a failure.
    pub(crate) const fn fails_on_regression(&self) -> bool {
        self.fail_on_worse || matches!(self.fail_on, FailOn::Regression)
    }
}

/// What is a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A metric that is worse, or a comparison without an answer
    Regression,
    /// Nothing: any comparison that was made is a success
    Never,
}

// What a device costs.

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Cost")]
pub(crate) struct PriceArgs {
    /// The price of one device for an hour in US dollars, for what a million tokens cost; by default the lowest published price
    /// of the device, where one is known.
    #[arg(long, value_name = "USD")]
    pub(crate) gpu_hour: Option<HourlyRate>,
}
