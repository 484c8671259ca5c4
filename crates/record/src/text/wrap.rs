//! Text fitted to a width.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// `text` broken between words, but not between a figure and its unit, so that no line is longer than `width`, unless a word is.
/// Further lines stand four spaces further in than the first.
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
    textwrap::fill(&glued(text), options).replace(GLUE, " ")
}

/// Stands between a figure and its unit while lines are broken.
const GLUE: &str = "\u{a0}";

/// The words of `text` with a blank between them, but for a unit, which is glued to its figure.
fn glued(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut out = words.next().unwrap_or_default().to_owned();
    for word in words {
        let is_unit = UNITS.contains(&word.trim_end_matches(|c: char| ",;:.)]".contains(c)));
        let is_glued = is_unit && out.ends_with(|c: char| c.is_ascii_digit());
        out.push_str(if is_glued { GLUE } else { " " });
        out.push_str(word);
    }
    out
}

/// What stands on the line of its figure.
const UNITS: [&str; 23] = [
    "%", "ns", "us", "ms", "s", "min", "h", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "GB/s",
    "TB/s", "GFLOP/s", "TFLOP/s", "TiB", "MHz", "W", "J", "USD",
];

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

        #[test]
        fn no_unit_begins_a_line(
            figures in prop::collection::vec((0_u32..2000, 0..super::UNITS.len()), 1..20),
            width in 20_usize..120,
        ) {
            let text = figures.iter().map(|(figure, unit)| format!("of {figure} {},", super::UNITS[*unit]));
            let text = text.collect::<Vec<_>>().join(" ");
            let wrapped = wrap(&text, width);
            let begins = |line: &str| line.trim_start().starts_with(|c: char| c == 'o' || c.is_ascii_digit());
            prop_assert!(wrapped.lines().all(begins), "{}", wrapped);
            prop_assert_eq!(wrapped.split_whitespace().collect::<Vec<_>>().join(" "), text);
        }
    }
}
