//! Standard output, and what may go beside it.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

use crate::exit::Fail;

/// Prints a line. A reader who has seen enough (`fizeau bench | head`) is nothing to fail over.
pub(crate) fn say(text: impl Display) -> Result<(), Fail> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Fail::broken(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Text for standard error, which often has that of a server or of another tool's file in it: without what a terminal would obey. Ends
/// of lines stay.
pub(crate) fn printable(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\n', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn a_terminal_has_nothing_to_obey() {
        let text = "error: a\u{1b}[31mRED\u{7}\u{9b}2J\r\n  next: \u{7f}";
        assert_eq!(
            printable(text),
            "error: a\u{fffd}[31mRED\u{fffd}\u{fffd}2J\u{fffd}\n  next: \u{fffd}"
        );
    }
}
