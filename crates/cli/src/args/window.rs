//! Which part of a level is looked at beside the whole.

use clap::Args;
use fizeau::metrics::{WindowChoice, WindowEnd};

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Result")]
pub(crate) struct WindowArgs {
    /// What to leave out at the beginning for the figures of the steady state: auto (until it is steady), a number of requests (50),
    /// or a time (30s). The figures of the whole run stay beside them. It leaves out requests that were measured; --num-warmups sends
    /// further ones that never count.
    #[arg(long, value_name = "auto|N|Ns", default_value = "auto")]
    pub(crate) warmup: WindowEnd,
    /// What to leave out at the end for the figures of the steady state, likewise.
    #[arg(long, value_name = "auto|N|Ns", default_value = "auto")]
    pub(crate) cooldown: WindowEnd,
}

impl WindowArgs {
    /// Both as the library has them.
    pub(crate) const fn choice(&self) -> WindowChoice {
        WindowChoice { warmup: self.warmup, cooldown: self.cooldown }
    }
}
