//! How a run is watched.

use clap::Args;

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct LiveArgs {
    /// Show the run on the whole terminal, with curves that grow; q or Ctrl-C ends it and keeps what was measured.
    #[arg(long, help_heading = "Progress")]
    pub(crate) live: bool,
}
