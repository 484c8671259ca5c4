//! `--slo` and `--goodput`: the goals of a load, and those of single requests.

use clap::Args;
use fizeau::metrics::{GoodputGoals, Slo};
use fizeau::record::GoalSource;

use crate::exit::{Fail, Named};

/// The goal where none is given: what a person who chats would call prompt and fluent. To miss it is no failure.
const DEFAULT: &str = "p99 ttft<500ms, p99 tpot<20ms";

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Goals")]
pub(crate) struct GoalArgs {
    /// The goals that must hold, such as "p99 ttft<500ms, p99 tpot<20ms"; the exit code is 1 if they are missed. A range such as
    /// p99 ttft<500ms..800ms has a tight and a loose end, of which the loose one decides the exit code. A sweep without goals
    /// chooses its operating point by the goals in this example; a search must have goals.
    #[arg(long, value_name = "GOALS")]
    slo: Option<String>,
    /// The goals of a single request in milliseconds, such as ttft:500 tpot:50; they give goodput. A request is good if it meets
    /// all goals of one group; the word or begins another group: ttft:500 tpot:50 or e2el:2000.
    #[arg(long, value_name = "METRIC:MS", num_args = 1..)]
    goodput: Vec<String>,
}

impl GoalArgs {
    /// The goals, given or not.
    pub(crate) fn slo(&self) -> Result<Slo, Fail> {
        self.slo.as_deref().unwrap_or(DEFAULT).parse().named("--slo")
    }

    /// Whose [these](Self::slo) are.
    pub(crate) const fn source(&self) -> GoalSource {
        match self.slo {
            Some(_) => GoalSource::Given,
            None => GoalSource::Assumed,
        }
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
        self.slo.is_some()
    }

    /// Which requests are good.
    pub(crate) fn goodput(&self) -> Result<GoodputGoals, Fail> {
        goodput(&self.goodput)
    }
}

/// Which requests are good, as `--goodput` says it.
pub(crate) fn goodput(words: &[String]) -> Result<GoodputGoals, Fail> {
    words.join(" ").parse().named("--goodput")
}
