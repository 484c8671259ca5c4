//! The checklist at the end of a command.

use fizeau::record::Checklist;
use fizeau::record::text::plain;
use fizeau::report::{Shown, Terminal};

use crate::args::TrustArgs;
use crate::exit::{Exit, Fail};
use crate::terminal::say::say;
use crate::terminal::screen::Screen;

/// The width of what is not a table.
const WIDTH: usize = 80;

/// The terminal that a report is shown on, with the rows that the flags ask for and where its page is.
pub(crate) fn terminal<'a>(trust: &TrustArgs, report: Option<&'a str>) -> Terminal<'a> {
    let Screen { width, style, charset } = Screen::of_stdout();
    let (verbosity, checklist) = (trust.output.verbosity(), trust.rows());
    Terminal { width, style, charset, verbosity, checklist, report }
}

/// Prints the list below a level's blocks.
pub(crate) fn show(checklist: &Checklist, trust: &TrustArgs) -> Result<(), Fail> {
    say(Shown(checklist).text(trust.rows(), WIDTH))
}

/// How a command ends that would end with `exit`: rows that were required and did not pass are said, and miss what was asked.
pub(crate) fn enforce(checklist: &Checklist, trust: &TrustArgs, exit: Exit) -> Exit {
    match say_missed(checklist, trust, "") {
        true if exit == Exit::Good => Exit::Missed,
        _ => exit,
    }
}

/// Says which of the required rows did not pass, `of` standing before each; whether there was any.
pub(crate) fn say_missed(checklist: &Checklist, trust: &TrustArgs, of: &str) -> bool {
    let missed: Vec<_> =
        trust.require.iter().flat_map(|required| checklist.missed(required)).collect();
    for row in &missed {
        // What a server says may hold what a terminal would obey.
        tell!("--require: {of}{}", plain(&row.to_string()));
    }
    !missed.is_empty()
}
