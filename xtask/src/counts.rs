//! How many tests ran, read from the closing lines of the test runners.

use std::fmt;
use std::ops::Add;

/// Tests by how they ended. Adds up over runners.
///
/// ```
/// use xtask::Counts;
///
/// let nextest = Counts::of_line("     Summary [   0.010s] 3 tests run: 2 passed, 1 failed, 4 skipped");
/// assert_eq!(nextest, Some(Counts { passed: 2, failed: 1, skipped: 4 }));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Ran and passed.
    pub passed: u64,
    /// Ran and failed, ran out of time, or could not be started.
    pub failed: u64,
    /// Did not run: ignored, or left out by a filter of nextest's.
    pub skipped: u64,
}

impl Counts {
    /// Reads one line of a runner's output; none if it is not a closing line of cargo-nextest or of `cargo
    /// test`. Colours do not matter.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        let line = without_colours(line);
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("Summary [") {
            let (_, results) = rest.split_once(" run: ")?;
            Some(sum(&without_parentheses(results), ','))
        } else {
            let (_, results) = line.strip_prefix("test result: ")?.split_once(". ")?;
            Some(sum(results, ';'))
        }
    }

    /// These counts, once tests that were skipped in them have been run after all: `late` is what that later
    /// run said. What it skipped is left out, having been counted the first time.
    #[must_use]
    pub const fn with_late(self, late: Self) -> Self {
        Self {
            passed: self.passed.saturating_add(late.passed),
            failed: self.failed.saturating_add(late.failed),
            skipped: self.skipped.saturating_sub(late.passed.saturating_add(late.failed)),
        }
    }
}

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            passed: self.passed.saturating_add(other.passed),
            failed: self.failed.saturating_add(other.failed),
            skipped: self.skipped.saturating_add(other.skipped),
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// Adds up pieces like `2 passed`, `1 exec failed` or `3 ignored`. What we have no word for (measured,
/// filtered out) was no test of this run.
fn sum(results: &str, separator: char) -> Counts {
    let mut counts = Counts::default();
    for piece in results.split(separator) {
        let Some((number, word)) = piece.trim().split_once(' ') else {
            continue;
        };
        let Ok(number) = number.parse::<u64>() else {
            continue;
        };
        match word.trim() {
            "passed" => counts.passed += number,
            "failed" | "exec failed" | "timed out" => counts.failed += number,
            "skipped" | "ignored" => counts.skipped += number,
            _ => {}
        }
    }
    counts
}

/// Drops ANSI colour sequences: from an escape to the `m` that ends it.
fn without_colours(line: &str) -> String {
    let mut pieces = line.split('\u{1b}');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        plain.push_str(piece.split_once('m').map_or("", |(_, rest)| rest));
    }
    plain
}

/// Drops `(1 slow, 2 leaky)`: nextest's remarks on tests that it has already counted.
fn without_parentheses(results: &str) -> String {
    let mut depth = 0_u32;
    let mut kept = String::new();
    for character in results.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(character),
            _ => {}
        }
    }
    kept
}
