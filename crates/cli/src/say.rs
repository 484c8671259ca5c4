//! Standard output.

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
