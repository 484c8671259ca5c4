//! How much a command prints: a flag of every command whose result is longer than a screen.

use clap::Args;
use fizeau::report::Verbosity;

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
