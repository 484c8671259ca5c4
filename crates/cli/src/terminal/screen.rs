//! What standard output and standard error can show.

use std::env::var_os;
use std::io::IsTerminal;

use fizeau::report::{Charset, TextStyle};

/// How to write for whoever reads standard output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    /// Columns of text on a line.
    pub(crate) width: usize,
    pub(crate) style: TextStyle,
    pub(crate) charset: Charset,
}

impl Screen {
    /// As the terminal is. What goes into a pipe or a file is plain ASCII of 80 columns, of every command and whatever the
    /// environment says, so that it is the same everywhere.
    pub(crate) fn of_stdout() -> Self {
        let out = std::io::stdout();
        if !out.is_terminal() {
            return Self { width: ASSUMED_WIDTH, style: TextStyle::Plain, charset: Charset::Ascii };
        }
        let size = terminal_size::terminal_size_of(&out);
        let is_set = |name: &str| var_os(name).is_some_and(|value| !value.is_empty());
        let style =
            if is_set("NO_COLOR") || is_dumb() { TextStyle::Plain } else { TextStyle::Ansi };
        let columns: Option<usize> =
            std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        // A terminal that does not know its size says that it has none.
        let width =
            columns.or_else(|| size.map(|(width, _)| width.0.into())).filter(|width| *width > 0);
        let width = width.unwrap_or(ASSUMED_WIDTH);
        Self { width, style, charset: charset() }
    }
}

/// Whether the terminal can do no more than a printer.
pub(crate) fn is_dumb() -> bool {
    var_os("TERM").is_some_and(|term| term == "dumb")
}

/// How wide standard error is; none if it is no terminal, or one that does not say.
pub(crate) fn of_stderr() -> Option<usize> {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    size.map(|(width, _)| width.0.into()).filter(|width| *width > 0)
}

/// Of a pipe, and of a terminal that does not say how wide it is.
const ASSUMED_WIDTH: usize = 80;

/// By the locale, as the C library has it: the first of these that is set decides.
pub(crate) fn charset() -> Charset {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(var_os);
    let mut locale = locale.map(|value| value.to_string_lossy().to_ascii_lowercase());
    let locale = locale.find(|value| !value.is_empty()).unwrap_or_default();
    match locale.contains("utf-8") || locale.contains("utf8") {
        true => Charset::Unicode,
        false => Charset::Ascii,
    }
}
