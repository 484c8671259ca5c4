//! Reports as Markdown: for a pull request, or the summary of a step of GitHub's actions.

mod comparison;
mod escape;
mod sweep;

use std::fmt;

pub(crate) use escape::escape;

use crate::ReportSink;
use crate::Shown;
use fizeau_record::SweepReport;

/// Writes a report as `Shown(&sweep).markdown()` has it.
///
/// ```
/// use fizeau_report::{Markdown, ReportSink};
/// # fn show(report: &fizeau_record::SweepReport) -> Result<(), std::fmt::Error> {
/// let mut text = String::new();
/// Markdown(&mut text).report(report)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Markdown<W>(pub W);

impl<W: fmt::Write> ReportSink for Markdown<W> {
    type Error = fmt::Error;

    fn report(&mut self, report: &SweepReport) -> Result<(), fmt::Error> {
        self.0.write_str(&Shown(report).markdown())
    }
}

/// A table: heads, a rule (`:` at the right end of columns of figures), rows. Cells are Markdown already.
fn table(heads: &[String], words: &[bool], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule: Vec<&str> =
        words.iter().map(|is_words| if *is_words { "---" } else { "---:" }).collect();
    let mut out = line(heads);
    out.push_str(&format!("| {} |\n", rule.join(" | ")));
    rows.iter().for_each(|row| out.push_str(&line(row)));
    out
}

/// What is shown when a reader opens it.
fn folded(summary: &str, content: &str) -> String {
    // Markdown within HTML takes blank lines around it.
    format!("<details><summary>{summary}</summary>\n\n{}\n\n</details>\n", content.trim_end())
}
