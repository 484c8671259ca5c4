//! What a run is asked before it is believed: flags of every command that shows one.

use clap::Args;
use fizeau::record::Requirements;
use fizeau::report::ChecklistRows;

/// What did not pass, and how all of it is shown.
pub(crate) const MISSED: ChecklistRows = ChecklistRows::MissedOf(" (all of it: --checklist)");

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Checklist")]
pub(crate) struct TrustArgs {
    /// Rows of the checklist that must pass, or the exit code is 1: all, or some of warm_up, open_loop, tail, lengths, rates,
    /// duration, hardware, precision, batch, phases, client, workload, caches, light. A row of which nothing can be told does
    /// not pass.
    #[arg(long, value_name = "all|ROW,...")]
    pub(crate) require: Option<Requirements>,
    /// Show the whole checklist, and not only what did not pass.
    #[arg(long)]
    pub(crate) checklist: bool,
}

impl TrustArgs {
    /// Which rows are to be shown.
    pub(crate) const fn rows(&self) -> ChecklistRows {
        if self.checklist { ChecklistRows::All } else { MISSED }
    }
}
