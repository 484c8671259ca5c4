//! Text for terminals: with what characters, and none that it would obey.

use fizeau_metrics::VerdictReason;
use fizeau_record::WorkloadRecord;
pub(crate) use fizeau_record::text::plain;
use fizeau_record::text::wrap;

/// Whether to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextStyle {
    /// Text alone, for pipes and files.
    #[default]
    Plain,
    /// ANSI escape codes.
    Ansi,
}

/// How much of a result is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verbosity {
    /// What decides, on one screen of 40 lines where that can be: of each reason its first line.
    #[default]
    Brief,
    /// Every figure that there is, and all of each reason.
    Full,
}

/// The lengths that were asked for, whether by a law or by a data set.
pub(crate) fn requested_lengths(workload: &WorkloadRecord) -> String {
    format!("{}, {}", input_lengths(workload), lengths(&workload.output_tokens, "output", "out"))
}

pub(crate) fn input_lengths(workload: &WorkloadRecord) -> String {
    lengths(&workload.input_tokens, "input", "tokens in")
}

pub(crate) fn output_lengths(workload: &WorkloadRecord) -> String {
    lengths(&workload.output_tokens, "output", "tokens out")
}

fn lengths(lengths: &str, of: &str, words: &str) -> String {
    match lengths.starts_with("as the ") {
        true => format!("{of} lengths {lengths}"),
        false => format!("{lengths} {words}"),
    }
}

/// The text of a reason or of a note: in brief what it says first.
pub(crate) fn shown(text: &str, verbosity: Verbosity) -> &str {
    match verbosity {
        Verbosity::Brief => VerdictReason::headline(text),
        Verbosity::Full => text,
    }
}

/// What is said below a verdict that does not change it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct VerdictNotes {
    /// What the reader has to know even in brief: server and client that disagree, requests preempted, clocks lowered.
    pub(crate) findings: Vec<String>,
    /// What explains or could not be checked.
    pub(crate) notes: Vec<String>,
}

impl VerdictNotes {
    /// A line each; in brief of a finding its headline, and of the notes how many there are and how to see them.
    pub(crate) fn lines(&self, verbosity: Verbosity) -> Vec<String> {
        let finding = |text: &String| format!("finding: {}", shown(text, verbosity));
        let mut lines: Vec<String> = self.findings.iter().map(finding).collect();
        match (verbosity, self.notes.len()) {
            (_, 0) => {}
            (Verbosity::Brief, 1) => lines.push("and 1 note (-v shows it)".to_owned()),
            (Verbosity::Brief, n) => lines.push(format!("and {n} notes (-v shows them)")),
            (Verbosity::Full, _) => {
                lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
            }
        }
        lines
    }
}

/// With a capital at its front.
pub(crate) fn capital(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A name in `room` columns; of a longer one the end, which tells folders and addresses apart.
pub(crate) fn shortened(name: &str, room: usize) -> String {
    match name.chars().count().checked_sub(room) {
        None | Some(0) => name.to_owned(),
        Some(more) => format!("...{}", name.chars().skip(more + 3).collect::<String>()),
    }
}

/// The width of a terminal as it comes: that of tables which commands print alone.
pub(crate) const WIDTH: usize = 80;

/// What the verdict answers; the checklist answers another question.
pub(crate) const VERDICT: &str = "Are these figures right? Verdict:";

/// Adds a sentence, broken over as many lines as it takes.
pub(crate) fn sentence(out: &mut String, text: &str) {
    out.push_str(&wrap(&plain(text), WIDTH));
    out.push('\n');
}

/// Adds a line as it is, but for blanks at its end.
pub(crate) fn line(out: &mut String, text: &str) {
    out.push_str(plain(text).trim_end());
    out.push('\n');
}
