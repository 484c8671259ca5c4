//! Verse to make prompts of.

use std::sync::LazyLock;

/// Eight of Shakespeare's sonnets, line by line: numbers 12, 18, 29, 30, 55, 73, 116 and 130, in modern spelling. They were
/// printed in 1609 and belong to everybody. Their order is part of what a seed means.
pub(super) static SONNETS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("sonnets.txt").lines().collect());

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::SONNETS;

    #[test]
    fn eight_sonnets_of_fourteen_plain_lines_each() {
        assert_eq!(SONNETS.len(), 8 * 14);
        let distinct: HashSet<&str> = SONNETS.iter().copied().collect();
        assert_eq!(distinct.len(), SONNETS.len());
        for line in SONNETS.iter() {
            assert!(line.is_ascii() && *line == line.trim() && !line.contains("  "), "{line}");
            assert!((5..=11).contains(&line.split(' ').count()), "{line}");
        }
    }

    #[test]
    fn each_sonnet_ends_in_a_full_stop_and_a_couplet() {
        for sonnet in SONNETS.chunks(14) {
            assert!(sonnet.last().is_some_and(|line| line.ends_with('.')));
        }
    }
}
