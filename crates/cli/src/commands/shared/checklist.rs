//! The checklist at the end of a command.

use std::borrow::Borrow;

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
    enforce_all([(String::new(), checklist)], trust, exit)
}

/// The same of several lists, each with what stands before its rows.
pub(crate) fn enforce_all<C: Borrow<Checklist>>(
    lists: impl IntoIterator<Item = (String, C)>,
    trust: &TrustArgs,
    exit: Exit,
) -> Exit {
    let mut ends = exit;
    for (of, list) in lists {
        let list: &Checklist = list.borrow();
        for row in trust.require.iter().flat_map(|required| list.missed(required)) {
            // What a server says may hold what a terminal would obey.
            tell!("--require: {of}{}", plain(&row.to_string()));
            ends = if exit == Exit::Good { Exit::Missed } else { exit };
        }
    }
    ends
}
