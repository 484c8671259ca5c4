//! Blocks of named figures in vLLM's layout: width 50, names in 40 columns.

use std::fmt::Display;

/// The heading of a block, in the middle of its line.
pub(crate) fn heading(title: &str) -> String {
    let title = format!(" {title} ");
    format!("{title:=^50}")
}

/// A name and its figure.
pub(crate) fn line(name: &str, value: impl Display) -> String {
    format!("{name:<40} {value}")
}
