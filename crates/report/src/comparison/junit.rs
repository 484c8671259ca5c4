//! A comparison as JUnit's XML, which continuous integration shows.

use fizeau_metrics::{ComparedFigure, ComparisonAnswer};

use super::table::ComparisonLine;
use crate::Shown;
use crate::text::plain;
use fizeau_record::ComparedLevel;
use fizeau_record::ComparisonReport;

impl Shown<'_, ComparisonReport> {
    /// The answers as JUnit's XML (the format that Apache Ant's junitreport task reads): a suite for each run that is held
    /// against the baseline, a test case for each figure that is decided and each load. Failed are those that make
    /// [`ComparisonReport::passes`] false; what could not be tested is skipped, and where that is all of a level, or the
    /// level is missing, one more case fails. Ends with a newline.
    #[must_use]
    pub fn junit(&self) -> String {
        let mut suites = String::new();
        let mut all = Count::default();
        for comparison in &self.comparisons {
            let mut cases = String::new();
            let mut count = Count::default();
            for missing in &comparison.missing_levels {
                missing_case(missing, &mut cases, &mut count);
            }
            for level in &comparison.levels {
                level_cases(level, &mut cases, &mut count);
            }
            let name = format!("{} against {}", comparison.candidate.name, self.baseline.name);
            let head = format!("  <testsuite name=\"{}\"{}>\n", escape(&name), count.words());
            suites.push_str(&format!("{head}{cases}  </testsuite>\n"));
            all.add(&count);
        }
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fizeau compare\"{}>\n{suites}</testsuites>\n",
            all.words()
        )
    }
}

#[derive(Default)]
struct Count {
    tests: usize,
    failures: usize,
    skipped: usize,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.tests += other.tests;
        self.failures += other.failures;
        self.skipped += other.skipped;
    }

    fn words(&self) -> String {
        let Self { tests, failures, skipped } = self;
        format!(" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"")
    }
}

/// Of a level that only the baseline has.
fn missing_case(level: &str, out: &mut String, count: &mut Count) {
    (count.tests, count.failures) = (count.tests + 1, count.failures + 1);
    out.push_str(&format!(
        "    <testcase classname=\"{}\" name=\"the level was measured\"><failure message=\"only the baseline has it\"/></testcase>\n",
        escape(level)
    ));
}

fn level_cases(level: &ComparedLevel, out: &mut String, count: &mut Count) {
    let of = if level.name.is_empty() { "the level" } else { &level.name };
    let mut case = |name: &str, tag: &str, said: &str| {
        count.tests += 1;
        let head = format!("    <testcase classname=\"{}\" name=\"{}\"", escape(of), escape(name));
        let said = escape(said);
        out.push_str(&match tag {
            "" => format!("{head}><system-out>{said}</system-out></testcase>\n"),
            tag => format!("{head}><{tag} message=\"{said}\"/></testcase>\n"),
        });
        match tag {
            "failure" => count.failures += 1,
            "skipped" => count.skipped += 1,
            _ => {}
        }
    };
    for row in level.table.rows.iter().filter(|row| row.is_decided) {
        let (tag, said) = outcome(row);
        case(&row.figure.label(), tag, &said);
    }
    if level.table.family_size() == 0 {
        case("some metric could be tested", "failure", "no metric of this load could be tested");
    }
}

/// The tag that a figure gets, and what is said of it.
fn outcome(row: &ComparedFigure) -> (&'static str, String) {
    match ComparisonLine::of(row) {
        ComparisonLine::Untested(_, why) => ("skipped", format!("not tested: {why}")),
        ComparisonLine::Tested([figure, a, b, change, interval, p, result]) => {
            let said = format!("{result}: {figure}: {a} to {b}, {change} ({interval}), p {p}");
            let is_worse = row.answer() == Some(ComparisonAnswer::Worse);
            (if is_worse { "failure" } else { "" }, said)
        }
    }
}

/// Text within an attribute or an element.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in plain(text).chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // What XML 1.0 has no place for, control characters being gone.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}
