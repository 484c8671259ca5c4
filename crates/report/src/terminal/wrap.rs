//! Text fitted to a width.

/// `text` without anything that a terminal would obey: each control character becomes the replacement character.
pub(crate) fn plain(text: &str) -> String {
    let safe = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(safe).collect()
}

/// `text` broken between words so that no line is longer than `width`, unless a word is. Further lines stand
/// four spaces further in.
pub(crate) fn wrap(text: &str, width: usize) -> String {
    let indent: String = text.chars().take_while(|c| *c == ' ').collect();
    let further = format!("{indent}    ");
    let mut out = indent.clone();
    let mut used = indent.len();
    let mut at_start = true;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if !at_start && used + 1 + length > width {
            out.push('\n');
            out.push_str(&further);
            used = further.len();
            at_start = true;
        }
        if !at_start {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
        at_start = false;
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed};

    use super::{plain, wrap};

    #[test]
    fn an_escape_sequence_is_disarmed() {
        assert_eq!(plain("a\u{1b}[31mb\r\n"), "a\u{fffd}[31mb\u{fffd}\u{fffd}");
    }

    proptest! {
        #![proptest_config(Config {
            rng_seed: RngSeed::Fixed(1849),
            failure_persistence: None,
            ..Config::default()
        })]
        #[test]
        fn no_line_is_too_long_and_no_word_is_lost(
            words in prop::collection::vec("[a-z]{1,12}", 0..40),
            width in 20_usize..120,
        ) {
            let text = words.join(" ");
            let wrapped = wrap(&text, width);
            prop_assert!(wrapped.lines().all(|line| line.len() <= width));
            prop_assert_eq!(wrapped.split_whitespace().collect::<Vec<_>>(), words);
        }
    }
}
