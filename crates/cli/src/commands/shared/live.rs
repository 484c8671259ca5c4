//! From arguments to how a run is watched.

use std::io::IsTerminal;

use crate::args::LiveArgs;
use crate::exit::Fail;
use crate::terminal::progress::View;
use crate::terminal::screen::is_dumb;

/// Refuses a full screen where there is none.
pub(crate) fn view(args: LiveArgs) -> Result<View, Fail> {
    if !args.live {
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
