//! A comparison as Markdown.

use fizeau_metrics::ComparedFigure;

use super::escape;
use super::{folded, table};
use crate::Shown;
use crate::comparison::summary::{FEWER_COMPLETED, NO_ANSWER, SummaryLine, no_difference};
use crate::comparison::table::{ComparisonLine, heads};
use crate::comparison::what_changed;
use fizeau_record::{ChangedField, ComparedLevel, ComparisonReport, RunComparison};

impl Shown<'_, ComparisonReport> {
    /// The comparison as Markdown, as GitHub shows it: what it comes to first, then a table for each load, and what changed.
    /// Foreign text is escaped. Ends with a newline.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out = String::from("## Comparison\n\n");
        for (number, comparison) in self.comparisons.iter().enumerate() {
            if number > 0 {
                out.push('\n');
            }
            self.say_markdown(comparison, &mut out);
        }
        let notes = self.notes.iter().map(|note| format!("> {}  \n", escape(note)));
        out.push('\n');
        out.extend(notes);
        out
    }

    fn say_markdown(&self, comparison: &RunComparison, out: &mut String) {
        out.push_str(&format!("{}\n\n", verdict(comparison)));
        let (a, b) = (escape(&self.baseline.name), escape(&comparison.candidate.name));
        out.push_str(&format!("A: {a}  \nB: {b}\n\n"));
        let a = self.baseline.notes.iter().map(|note| format!("A: {note}"));
        let b = comparison.candidate.notes.iter().map(|note| format!("B: {note}"));
        for note in a.chain(b).chain(comparison.notes.iter().cloned()) {
            out.push_str(&format!("- {}\n", escape(&note)));
        }
        if !comparison.forced.is_empty() {
            let fields = changed_table(&comparison.forced);
            out.push_str(&format!("\nCompared although these differ:\n\n{fields}"));
        }
        if let Some(distance) = &comparison.frontier_distance {
            let text = crate::comparison::distance::text(distance, ["A", "B"]);
            out.push_str(&format!("\n{}\n", escape(&text)));
        }
        for level in &comparison.levels {
            out.push_str(&level_table(level));
        }
        let (changed, what) = (&comparison.changed, what_changed(comparison));
        out.push('\n');
        if changed.is_empty() {
            out.push_str(&format!("{what}: nothing that was recorded\n"));
        } else {
            let summary = format!("{what}: {} fields", changed.len());
            out.push_str(&folded(&summary, &changed_table(changed)));
        }
    }
}

/// `B is **worse** in p99 TTFT at concurrency 8.`
fn verdict(comparison: &RunComparison) -> String {
    match Shown(comparison).summary_line() {
        SummaryLine::Untested => format!("**{NO_ANSWER}.**"),
        SummaryLine::NoDifference => format!("**{}.**", no_difference("B")),
        SummaryLine::Answers(answers) => {
            let told = answers
                .into_iter()
                .map(|(word, figures)| format!("**{word}** in {}", escape(&figures.join(", "))));
            let told = format!("B is {}.", told.collect::<Vec<_>>().join(", and "));
            match Shown(comparison).fails_more() {
                true => format!("{told} {FEWER_COMPLETED}."),
                false => told,
            }
        }
    }
}

fn level_table(level: &ComparedLevel) -> String {
    let mut out = String::from("\n");
    if !level.name.is_empty() {
        out.push_str(&format!("### {}\n\n", escape(&level.name)));
    }
    let row = |row: &ComparedFigure| -> Vec<String> {
        let cells = match ComparisonLine::of(row) {
            ComparisonLine::Tested(cells) => cells.to_vec(),
            ComparisonLine::Untested([figure, a, b], why) => {
                let dash = || "-".to_owned();
                vec![figure, a, b, dash(), dash(), dash(), why]
            }
        };
        cells.iter().map(|cell| answer(&escape(cell))).collect()
    };
    let rows: Vec<Vec<String>> = level.table.rows.iter().map(row).collect();
    let words = [true, false, false, false, false, false, true];
    out.push_str(&table(&heads("A", "B"), &words, &rows));
    let notes = level.notes.iter().map(|note| format!("\n- {}", escape(note)));
    out.extend(notes);
    out.push('\n');
    out
}

/// What matters stands out.
fn answer(cell: &str) -> String {
    match cell {
        "better" | "worse" => format!("**{cell}**"),
        cell => cell.to_owned(),
    }
}

fn changed_table(fields: &[ChangedField]) -> String {
    let row = |field: &ChangedField| {
        let [a, b] = field.values();
        [field.label(), a, b].map(|cell| escape(&cell)).to_vec()
    };
    let rows: Vec<Vec<String>> = fields.iter().map(row).collect();
    table(&["field", "A", "B"].map(str::to_owned), &[true; 3], &rows)
}
