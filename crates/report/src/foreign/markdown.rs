//! An imported run as Markdown.

use super::ImportedRun;
use super::text::{COLUMNS, cells};

impl ImportedRun {
    /// The table of what is known, and what is not, as GitHub's Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let tool = self.levels().first().map_or("another tool", |level| level.source.tool.as_str());
        let mut text =
            format!("### {}\n\nMeasured by {}, imported; ", escaped(&self.title()), escaped(tool));
        text.push_str("nothing here can be computed again or checked.\n\n| load |");
        for (_, _, name) in COLUMNS {
            text.push_str(&format!(" {name} |"));
        }
        text.push_str(&format!("\n|---|{}\n", "---:|".repeat(COLUMNS.len())));
        let columns: Vec<Vec<String>> =
            COLUMNS.iter().map(|column| cells(self.levels(), column.2)).collect();
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
            "\nBold: no other level beats it. \\*: the greatest of fewer than 100 values.\n\n",
        );
        for caveat in self.caveats() {
            text.push_str(&format!("- {}\n", escaped(caveat)));
        }
        text.push_str("\nNot known:\n\n");
        for (what, why) in self.not_known() {
            text.push_str(&format!("- {}: {}\n", escaped(what), escaped(why)));
        }
        text
    }
}

/// What Markdown or HTML would take for more than text, and what would end a line.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
