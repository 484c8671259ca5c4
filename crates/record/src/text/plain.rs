//! Text that a terminal shows and does not obey.

/// `text` with nothing in it that a terminal would obey: each control character, ends of lines among them, becomes the replacement
/// character. What a file or a server says may hold some.
#[must_use]
pub fn plain(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

/// The same of a text of several lines, which it stays.
///
/// ```
/// use fizeau_record::text::{plain, plain_lines};
/// assert_eq!(plain_lines("a\r\n\u{1b}[31mb"), "a\u{fffd}\n\u{fffd}[31mb");
/// assert_eq!(plain("a\nb"), "a\u{fffd}b");
/// ```
#[must_use]
pub fn plain_lines(text: &str) -> String {
    text.replace(|c: char| c.is_control() && c != '\n', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::{plain, plain_lines};

    #[test]
    fn a_terminal_has_nothing_to_obey() {
        let text = "error: a\u{1b}[31mRED\u{7}\u{9b}2J\r\n  next: \u{7f}";
        let lines = "error: a\u{fffd}[31mRED\u{fffd}\u{fffd}2J\u{fffd}\n  next: \u{fffd}";
        assert_eq!(plain_lines(text), lines);
        assert_eq!(plain(text), lines.replace('\n', "\u{fffd}"));
    }
}
