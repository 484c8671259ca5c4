//! A sweep as one HTML file that needs nothing else: no network, no script, light and dark, wide and narrow, on
//! paper.

mod charts;
mod client;
mod light;
mod protocol;
mod sections;

use std::fmt::Write;

use crate::SweepReport;
use crate::chart::escape;

/// Everything about the looks, in one place; colours of the charts too.
const STYLE: &str = include_str!("page/style.css");

/// The looks of a chart that is a file of its own: the colours, and what is said of drawings.
pub(crate) fn chart_style() -> String {
    let colours = STYLE.split("* { box-sizing").next().unwrap_or_default();
    let drawings =
        STYLE.lines().filter(|line| line.starts_with("svg .") || line.starts_with("svg text"));
    let mut out = colours.to_owned();
    for line in drawings {
        // Keys lie beside drawings, in the page alone.
        let (line, _) = line.split_once(" .key").unwrap_or((line, ""));
        out.push_str(line);
        out.push('\n');
    }
    out.push_str(
        "svg { font-family: system-ui, sans-serif; }\nsvg .paper { fill: var(--paper); }\n",
    );
    out
}

impl SweepReport {
    /// The content of `report.html`.
    ///
    /// It shows the verdict, the operating point, the frontier, what happens as the load grows, all levels, the
    /// speed of light by phase, the reasons against any of them, the checklist, the client's own proof, and what was run on what. Foreign text is escaped everywhere.
    #[must_use]
    pub fn page(&self) -> String {
        let mut out = String::with_capacity(64 * 1024);
        self.head(&mut out);
        self.facts(&mut out);
        self.frontier_figure(&mut out);
        self.load_figure(&mut out);
        self.level_table(&mut out);
        self.light_table(&mut out);
        self.reason_list(&mut out);
        out.push_str(&self.checklist().html());
        self.client_table(&mut out);
        self.setup_list(&mut out);
        document(&format!("Fizeau: {}", self.setup().endpoint.model), &out)
    }
}

/// A page of its own with `title`, which is escaped, around `content`, which is HTML already.
pub(crate) fn document(title: &str, content: &str) -> String {
    let mut out = String::with_capacity(content.len() + STYLE.len() + 1_024);
    // Writing to a `String` cannot fail.
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{content}\
         </main>\n</body>\n</html>\n",
        escape(title)
    );
    out
}
