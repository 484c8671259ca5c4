//! Standard output, and what is said beside it on standard error.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

use fizeau::record::text::{plain_lines, wrap_hanging};
use serde::Serialize;

use crate::exit::Fail;
use crate::terminal::{interrupt, progress, screen};

/// Prints a line. A reader who has seen enough (`fizeau bench | head`) is nothing to fail over, nor is a terminal that is gone.
pub(crate) fn say(text: impl Display) -> Result<(), Fail> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe && !interrupt::is_hung_up() => {
            Err(broken!("standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// Prints a document where `json` asks for it, or else its text; a line's end behind them is not doubled.
pub(crate) fn say_either<E: Display>(
    json: bool,
    document: impl FnOnce() -> Result<String, E>,
    text: impl FnOnce() -> String,
) -> Result<(), Fail> {
    say(if json { document().map_err(Fail::broken)? } else { text() }.trim_end())
}

/// Prints a document.
pub(crate) fn say_json(document: &impl Serialize) -> Result<(), Fail> {
    say(pretty(document).map_err(Fail::broken)?)
}

/// A document as JSON, for people.
pub(crate) fn pretty(document: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document)
}

/// Says something on standard error, as `eprintln!` does, but with nothing in it that a terminal would obey, since what is said often has
/// a text of a server or of another tool's file in it, and in lines as long as the terminal is wide; one line in a pipe.
macro_rules! tell {
    ($($words:tt)*) => { $crate::terminal::say::tell(&format!($($words)*)) };
}

/// See the macro of this name.
pub(crate) fn tell(text: &str) {
    let text = plain_lines(text);
    let text = match screen::of_stderr() {
        Some(width) => {
            let lines = text.lines().map(|line| wrap_hanging(line, width, ""));
            lines.collect::<Vec<_>>().join("\n")
        }
        None => text,
    };
    // Nothing is left to do about a standard error that is gone, and a run shall not end for it.
    progress::aside(|| drop(writeln!(std::io::stderr().lock(), "{text}")));
}
