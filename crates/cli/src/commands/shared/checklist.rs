//! The checklist at the end of a command.

use fizeau::record::Checklist;
use fizeau::report::Shown;

use crate::args::TrustArgs;
use crate::exit::{Exit, Fail};
use crate::terminal::say::{printable, say};

/// The width of what is not a table.
const WIDTH: usize = 80;

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
    let Some(required) = &trust.require else { return false };
    let missed: Vec<_> = checklist.missed(required).collect();
    for row in &missed {
        // What a server says may hold what a terminal would obey.
        tell!("--require: {of}{}", printable(&row.to_string()));
    }
    !missed.is_empty()
}
