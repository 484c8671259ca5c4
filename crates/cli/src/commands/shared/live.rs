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
    refuse_if!(
        !std::io::stderr().is_terminal(),
        "--live needs a terminal on standard error; leave it out, and the run is measured in \
         silence"
    );
    refuse_if!(
        is_dumb(),
        "--live needs a terminal with a full screen (TERM=dumb has none); leave it out, and \
         the run is shown in lines"
    );
    Ok(view)
}

#[cfg(feature = "tui")]
fn screen() -> Result<View, Fail> {
    Ok(View::Screen)
}

#[cfg(not(feature = "tui"))]
fn screen() -> Result<View, Fail> {
    Err(usage!(
        "--live: this program was built without it; build it with --features tui, or leave it out"
    ))
}
