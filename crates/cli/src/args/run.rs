//! What goes with any run: what it is asked before it is believed, how it is watched and shown, and the client that measures it.

use std::num::NonZeroUsize;

use clap::Args;
use fizeau::metrics::{WindowChoice, WindowEnd};
use fizeau::record::RequiredChecks;
use fizeau::report::{ChecklistRows, Verbosity};

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Checklist")]
pub(crate) struct TrustArgs {
    /// Rows of the checklist that must pass, or the exit code is 1: all, or some of warm_up, open_loop, tail, lengths, rates,
    /// duration, hardware, precision, batch, phases, client, workload, caches, speed_of_light; given several times, all of them. A row that cannot be judged does not pass.
    #[arg(long, value_name = "all|ROW,...")]
    pub(crate) require: Vec<RequiredChecks>,
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

// How much a command prints: a flag of every command whose result is longer than a screen.

#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct VerbosityArgs {
    /// Print every figure. By default the output fits on one screen.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

impl VerbosityArgs {
    pub(crate) const fn verbosity(self) -> Verbosity {
        if self.verbose { Verbosity::Full } else { Verbosity::Brief }
    }
}

// How a run is watched.

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct LiveArgs {
    /// Show the run on the whole terminal, with curves that grow; q or Ctrl-C ends it and keeps what was measured.
    #[arg(long, help_heading = "Progress")]
    pub(crate) live: bool,
}

// Which part of a level is looked at beside the whole.

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Result")]
pub(crate) struct WindowArgs {
    /// What to leave out at the beginning for the figures of the steady state: auto (until it is steady), a number of requests (50),
    /// or a time (30s). The figures of the whole run stay beside them. It leaves out requests that were measured; --num-warmups sends
    /// further ones that never count.
    #[arg(long, value_name = "auto|N|Ns", default_value = "auto")]
    pub(crate) warmup: WindowEnd,
    /// What to leave out at the end for the figures of the steady state, as with --warmup.
    #[arg(long, value_name = "auto|N|Ns", default_value = "auto")]
    pub(crate) cooldown: WindowEnd,
}

impl WindowArgs {
    /// Both as the library has them.
    pub(crate) const fn choice(&self) -> WindowChoice {
        WindowChoice { warmup: self.warmup, cooldown: self.cooldown }
    }
}

// The client itself: how it measures, and when it is to be believed.

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Client")]
pub(crate) struct ClientArgs {
    /// The number of threads that measure; by default one for each logical core.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// A threshold of the verdict, as NAME=VALUE, such as lateness-suspect=5ms or cpu-suspect=0.8. An unknown name is answered with
    /// the list of all.
    #[arg(long, value_name = "NAME=VALUE", num_args = 1..)]
    pub(crate) threshold: Vec<String>,
}
