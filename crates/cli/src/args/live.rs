//! How a run is watched.

use std::io::IsTerminal;

use clap::Args;

use crate::exit::Fail;
use crate::progress::View;
use crate::screen::is_dumb;

#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct LiveArgs {
    /// Show the run on the whole terminal, with its curves growing; q or Ctrl-C ends it and keeps what was measured. Needs a
    /// program built with the feature `tui`.
    #[arg(long, help_heading = "Progress")]
    live: bool,
}

impl LiveArgs {
    /// Refuses a full screen where there is none.
    pub(crate) fn view(self) -> Result<View, Fail> {
        if !self.live {
            return Ok(View::Lines);
        }
        let view = screen()?;
        if !std::io::stderr().is_terminal() {
            return Err(Fail::usage(
                "--live: standard error is no terminal; without it the run is measured in silence",
            ));
        }
        if is_dumb() {
            return Err(Fail::usage(
                "--live: the terminal has no full screen (TERM=dumb); without it the run is told in lines",
            ));
        }
        Ok(view)
    }
}

#[cfg(feature = "tui")]
fn screen() -> Result<View, Fail> {
    Ok(View::Screen)
}

#[cfg(not(feature = "tui"))]
fn screen() -> Result<View, Fail> {
    Err(Fail::usage(
        "--live: this program was built without it; build it with --features tui, or leave it out",
    ))
}
