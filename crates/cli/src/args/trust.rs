//! What a run is asked before it is believed: flags of every command that shows one.

use clap::Args;
use fizeau::record::RequiredChecks;
use fizeau::report::{ChecklistRows, Verbosity};

use super::VerbosityArgs;

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Checklist")]
pub(crate) struct TrustArgs {
    /// Rows of the checklist that must pass, or the exit code is 1: all, or some of warm_up, open_loop, tail, lengths, rates,
    /// duration, hardware, precision, batch, phases, client, workload, caches, light. A row that cannot be judged does not pass.
    #[arg(long, value_name = "all|ROW,...")]
    pub(crate) require: Option<RequiredChecks>,
    /// Show the whole checklist, which says whether the figures are enough to publish. By default it is one line.
    #[arg(long)]
    pub(crate) checklist: bool,
    #[command(flatten)]
    pub(crate) output: VerbosityArgs,
}

impl TrustArgs {
    /// Which rows are to be shown.
    pub(crate) const fn rows(&self) -> ChecklistRows {
        match self.output.verbosity() {
            _ if self.checklist => ChecklistRows::All,
            Verbosity::Brief => ChecklistRows::Headline(" (all: --checklist, -v)"),
            Verbosity::Full => ChecklistRows::Missed,
        }
    }
}
