//! A screen for a terminal whose locale has no Unicode.

use ratatui::buffer::Buffer;

/// Puts characters that such a terminal has in the place of those that it has not.
pub(super) fn to_ascii(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if let Some(plain) = plain(cell.symbol()) {
            cell.set_symbol(plain);
        }
    }
}

/// What stands for `symbol`; none where it is plain.
fn plain(symbol: &str) -> Option<&'static str> {
    match symbol {
        _ if symbol.is_ascii() => None,
        "━" => Some("="),
        "─" => Some("-"),
        "│" => Some("|"),
        "┌" | "┐" | "└" | "┘" | "├" | "┤" | "┬" | "┴" | "┼" => Some("+"),
        "•" => Some("*"),
        _ => Some("?"),
    }
}
