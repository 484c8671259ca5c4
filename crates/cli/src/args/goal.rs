//! `--slo`: goals of a level, or by default those that suit a chat.

use clap::{Arg, Args};
use fizeau::metrics::Slo;

use crate::exit::{Fail, Named};

/// The goal where none is given: what a person who chats would call prompt and fluent. To miss it is no failure.
const DEFAULT: &str = "p99 ttft<500ms, p99 tpot<20ms";

const HELP: &str = "The goal that the operating point must meet. A range such as p99 ttft<500ms..800ms has a tight and a loose \
                    end: both are answered, and the exit code is 1 where not even the loose end is met";

#[derive(Debug, Clone, Args)]
#[command(mut_arg("slo", |arg| with_help(arg, HELP)))]
pub(crate) struct GoalArgs {
    #[arg(long)]
    slo: Option<String>,
}

/// The flag with this help, and with its default as a flag that always has a value would show it.
pub(super) fn with_help(arg: Arg, help: &str) -> Arg {
    arg.help(format!("{help} [default: {DEFAULT:?}]"))
        .long_help(format!("{help}\n\n[default: {DEFAULT:?}]"))
}

impl GoalArgs {
    /// The goals, given or not.
    pub(crate) fn slo(&self) -> Result<Slo, Fail> {
        self.slo.as_deref().unwrap_or(DEFAULT).parse().named("--slo")
    }

    /// Whether somebody asked for them.
    pub(crate) const fn is_given(&self) -> bool {
        self.slo.is_some()
    }
}
