//! The list for people: in a terminal, and as a table of a page.

use crate::Shown;
use crate::text::plain;
use fizeau_record::text::wrap;
use fizeau_record::{CheckOutcome, Checklist, ChecklistRow};

/// Which rows of a checklist to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChecklistRows {
    /// None: one line says how many pass, and behind it stand these words, such as how the rows are shown.
    Headline(&'static str),
    /// Those that failed, or that cannot be judged.
    #[default]
    Missed,
    /// All.
    All,
}

impl Shown<'_, Checklist> {
    /// The list as text: whether the figures are enough to publish, and below it the rows that are to be shown. Without a newline at
    /// its end.
    #[must_use]
    pub fn text(&self, rows: ChecklistRows, width: usize) -> String {
        let headline = match rows {
            ChecklistRows::Headline(hint) => {
                let (pass, all) = (self.count(CheckOutcome::Pass), self.rows().len());
                format!("Checklist: {pass} of {all} pass{hint}")
            }
            ChecklistRows::Missed | ChecklistRows::All => self.headline(),
        };
        let shown = |row: &&ChecklistRow| match rows {
            ChecklistRows::Headline(_) => false,
            ChecklistRows::Missed => row.outcome.is_missed(),
            ChecklistRows::All => true,
        };
        let mut lines = vec![wrap(&format!("{PUBLISH} {headline}"), width)];
        let row = |row: &ChecklistRow| wrap(&plain(&format!("  {row}")), width);
        lines.extend(self.rows().iter().filter(shown).map(row));
        lines.join("\n")
    }

    /// `Checklist: 11 of 14 pass, 2 fail, 1 unknown`
    pub(crate) fn headline(&self) -> String {
        let (pass, all) = (self.count(CheckOutcome::Pass), self.rows().len());
        let mut words = format!("Checklist: {pass} of {all} pass");
        for outcome in [CheckOutcome::Fail, CheckOutcome::Unknown, CheckOutcome::Simulated] {
            match self.count(outcome) {
                0 => {}
                n => words.push_str(&format!(", {n} {}", outcome.as_str())),
            }
        }
        words
    }
}

/// What the checklist answers; the verdict answers another question.
const PUBLISH: &str = "Are they enough to publish?";
