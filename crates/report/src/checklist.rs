//! The list for people: in a terminal, and as a table of a page.

use crate::Shown;
use crate::text::plain;
use fizeau_record::text::wrap;
use fizeau_record::{CheckOutcome, CheckRow, Checklist};

/// Which rows of a checklist to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChecklistRows {
    /// Those that failed, or of which nothing can be told.
    #[default]
    Missed,
    /// The same, and behind the headline these words: how all of it is shown.
    MissedOf(&'static str),
    /// All.
    All,
}

impl Shown<'_, Checklist> {
    /// The list as text: `Checklist: 11 of 14 pass`, and below it the rows that are to be shown. Without a newline at its end.
    #[must_use]
    pub fn text(&self, rows: ChecklistRows, width: usize) -> String {
        let shown = |row: &&CheckRow| rows == ChecklistRows::All || row.outcome.is_missed();
        let hint = match rows {
            ChecklistRows::MissedOf(hint) => hint,
            ChecklistRows::Missed | ChecklistRows::All => "",
        };
        let mut lines = vec![wrap(&format!("{}{hint}", self.headline()), width)];
        let row = |row: &CheckRow| wrap(&plain(&format!("  {row}")), width);
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
