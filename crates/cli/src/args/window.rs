//! Which part of a level is looked at beside the whole.

use clap::Args;
use fizeau::metrics::{WindowChoice, WindowEnd};

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Result")]
pub(crate) struct WindowArgs {
    /// What to leave out at the front for the figures of the steady state: auto (until it is steady), so many requests (50),
    /// or so much time (30s). It cuts measured requests and sends none: the whole run's figures stay, and --num-warmups
    /// sends requests that never count.
    #[arg(long, value_name = "auto|N|Ns", default_value = "auto")]
    pub(crate) warmup: WindowEnd,
    /// Likewise at the back.
    #[arg(long, value_name = "auto|N|Ns", default_value = "auto")]
    pub(crate) cooldown: WindowEnd,
}

impl WindowArgs {
    /// Both as the library has them.
    pub(crate) const fn choice(&self) -> WindowChoice {
        WindowChoice { warmup: self.warmup, cooldown: self.cooldown }
    }
}
