//! Blocks of named figures in vLLM's layout: width 50, names in 40 columns.

use std::fmt::Display;

/// The heading of a block, in the middle of its line.
pub(crate) fn heading(title: &str) -> String {
    let title = format!(" {title} ");
    format!("{title:=^50}")
}

/// A name and its figure. A list beside it that would go beyond 80 columns is broken behind its commas.
pub(crate) fn line(name: &str, value: impl Display) -> String {
    let whole = format!("{name:<40} {value}");
    let mut out = String::new();
    let mut width = 0;
    for part in whole.split_inclusive(", ") {
        let more = part.trim_end().chars().count();
        if width > 0 && width + more > 80 {
            out.truncate(out.trim_end().len());
            out.push_str(&format!("\n{:<41}", ""));
            width = 41;
        }
        out.push_str(part);
        width += part.chars().count();
    }
    out
}
