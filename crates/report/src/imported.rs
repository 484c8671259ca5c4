//! An imported run for a terminal.

mod charts;
mod markdown;

use fizeau_record::text::{column_decimals, plain_lines, wrap_hanging};
use fizeau_record::{ImportedLevel, ImportedRun};

use crate::table::places;
use crate::{Charset, ChecklistRows, Shown, Terminal, TextStyle, Verbosity};

/// The most columns that a sentence takes.
const WIDTH: usize = 80;

/// The names of the figures that every table of levels has.
fn names() -> Vec<String> {
    places().0.iter().filter_map(|place| place.metric.column(place.statistic)).collect()
}

impl Shown<'_, ImportedRun> {
    /// The table of what is known, and what is not, in at most 80 columns of ASCII.
    #[must_use]
    pub fn text(&self) -> String {
        let (style, charset) = (TextStyle::Plain, Charset::Ascii);
        let checklist = ChecklistRows::Missed;
        let verbosity = Verbosity::Full;
        self.terminal(&Terminal {
            width: WIDTH,
            style,
            charset,
            verbosity,
            checklist,
            report: None,
        })
    }

    /// The same, as wide as the terminal is. Without a newline after the last line.
    #[must_use]
    pub fn terminal(&self, terminal: &Terminal<'_>) -> String {
        let printable = |lines: Vec<String>| plain_lines(&lines.join("\n"));
        let (table, left_out) = self.table(terminal);
        let mut notes = self.notes();
        if !left_out.is_empty() {
            notes.insert(0, format!("Not shown at this width: {}", left_out.join(", ")));
        }
        [printable(self.head()), table.join("\n"), printable(notes)].join("\n\n")
    }

    fn head(&self) -> Vec<String> {
        let mut lines = wrapped(&self.title(), "");
        let sources: Vec<&str> = {
            let mut files: Vec<&str> =
                self.levels().iter().map(|level| level.source.file.as_str()).collect();
            files.dedup();
            files
        };
        let first = self.levels().first();
        let tool = first.map_or("another tool", |level| level.source.tool.as_str());
        let files = match sources.as_slice() {
            [one] => (*one).to_owned(),
            many => format!("{} files", many.len()),
        };
        lines.extend(wrapped(&format!("  measured by {tool}; imported from {files}"), "  "));
        let date = first.and_then(|level| level.about.date.as_ref());
        lines.extend(date.map(|date| format!("  begun {date}")));
        let settings = self.settings();
        if !settings.is_empty() {
            lines.extend(wrapped(&format!("  {}", settings.join(", ")), "    "));
        }
        lines.push("  suspect: nothing here can be computed again or checked".to_owned());
        for fact in self.not_known().into_iter().filter(|fact| fact.is_contradiction()) {
            let text = format!("  suspect: the file contradicts itself: {}", fact.why);
            lines.extend(wrapped(&text, "    "));
        }
        lines
    }

    fn notes(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(tail) = self.tail().filter(|_| self.levels().len() > 1) {
            let text = format!("+ no other load beats it in requests/s and {tail}");
            lines.extend(wrapped(&text, "  "));
        }
        if self.levels().iter().any(|level| !level.greatest_for_p99.is_empty()) {
            lines.push("* the greatest of fewer than 100 values".to_owned());
        }
        lines.extend(self.not_in_figures());
        for caveat in self.caveats() {
            lines.extend(wrapped(&format!("note: {caveat}"), "  "));
        }
        lines.push("Not known:".to_owned());
        for known in self.not_known() {
            lines.extend(wrapped(&format!("  {}: {}", known.what, known.why), "    "));
        }
        lines
    }

    /// What no figure has: requests that failed, levels that are left out, further runs of a load.
    fn not_in_figures(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let failed: u64 = self.levels().iter().filter_map(|level| level.counts.failed).sum();
        if failed > 0 {
            let (requests, they) =
                if failed == 1 { ("request", "it is") } else { ("requests", "they are") };
            lines.push(format!("{failed} {requests} failed; {they} in no figure"));
        }
        for level in self.levels() {
            if let Some(reason) = level.left_out() {
                lines.push(format!("left out: {} ({reason})", level.load_words()));
            }
        }
        if self.one_a_load().len() < self.levels().len() {
            lines.push("of a load that was measured more than once one run is compared".to_owned());
        }
        lines
    }

    /// The same, and what is not quite as its name says.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let caveats = self.caveats().into_iter().map(str::to_owned);
        self.not_in_figures().into_iter().chain(caveats).collect()
    }
}

/// The figures of a column, with a star behind what stands in for a p99; `-` where nothing is known.
fn cells(levels: &[ImportedLevel], name: &str) -> Vec<String> {
    let decimals = column_decimals(levels.iter().filter_map(|level| level.figure(name)));
    let cell = |level: &ImportedLevel| {
        let star = if level.greatest_for_p99.iter().any(|own| own == name) { "*" } else { "" };
        let value = level.figure(name);
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}{star}"))
    };
    levels.iter().map(cell).collect()
}

fn wrapped(text: &str, further: &str) -> Vec<String> {
    wrap_hanging(text, WIDTH, further).lines().map(str::to_owned).collect()
}
