//! Text fitted to a width.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// `text` broken between words so that no line is longer than `width`, unless a word is. Further lines stand four spaces further in
/// than the first.
#[must_use]
pub fn wrap(text: &str, width: usize) -> String {
    wrap_hanging(text, width, &" ".repeat(indent(text).len() + 4))
}

/// The same, further lines beginning with `further`.
///
/// ```
/// use fizeau_record::text::wrap_hanging;
/// assert_eq!(wrap_hanging("- one two three", 9, "  "), "- one two\n  three");
/// ```
#[must_use]
pub fn wrap_hanging(text: &str, width: usize, further: &str) -> String {
    let options = Options::new(width)
        .initial_indent(indent(text))
        .subsequent_indent(further)
        .break_words(false)
        .word_splitter(WordSplitter::NoHyphenation)
        .word_separator(WordSeparator::AsciiSpace)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let words: Vec<&str> = text.split_whitespace().collect();
    textwrap::fill(&words.join(" "), options)
}

/// The spaces that it begins with.
fn indent(text: &str) -> &str {
    text.get(..text.len() - text.trim_start_matches(' ').len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed};

    use super::wrap;

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
