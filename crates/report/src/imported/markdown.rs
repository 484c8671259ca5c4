//! An imported run as Markdown.

use fizeau_record::ImportedRun;

use super::{cells, names};
use crate::Shown;
use crate::markdown::escape;

impl Shown<'_, ImportedRun> {
    /// The table of what is known, and what is not, as GitHub's Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let tool = self.levels().first().map_or("another tool", |level| level.source.tool.as_str());
        let mut text =
            format!("### {}\n\nMeasured by {}, imported; ", escape(&self.title()), escape(tool));
        text.push_str("nothing here can be computed again or checked.\n\n| load |");
        let names = names();
        for name in &names {
            text.push_str(&format!(" {name} |"));
        }
        text.push_str(&format!("\n|---|{}\n", "---:|".repeat(names.len())));
        let columns: Vec<Vec<String>> =
            names.iter().map(|name| cells(self.levels(), name)).collect();
        let best = self.frontier();
        for (index, level) in self.levels().iter().enumerate() {
            let mark = if best.contains(&index) { "**" } else { "" };
            text.push_str(&format!("| {mark}{}{mark} |", level.load_words()));
            for cells in &columns {
                let cell = cells.get(index).map_or("-", String::as_str);
                text.push_str(&format!(" {} |", cell.replace('*', "\\*")));
            }
            text.push('\n');
        }
        text.push_str(
            "\nBold: no other load beats it. \\*: the greatest of fewer than 100 values.\n\n",
        );
        for remark in self.remarks() {
            text.push_str(&format!("- {}\n", escape(&remark)));
        }
        text.push_str("\nNot known:\n\n");
        for known in self.not_known() {
            text.push_str(&format!("- {}: {}\n", escape(&known.what), escape(&known.why)));
        }
        text
    }
}
