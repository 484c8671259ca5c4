//! Standard output, and what is said beside it.

use std::fmt::{Arguments, Display};
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

/// Prints a line to standard error, with nothing in it that a terminal would obey. There is nobody to tell that it failed.
pub(crate) fn aside(text: Arguments<'_>) {
    let _ = writeln!(std::io::stderr().lock(), "{}", printable(&text.to_string()));
}

/// Without control characters, but for the ends of lines.
fn printable(text: &str) -> String {
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
