//! A diagnosis as one HTML file.

use std::fmt::Write;

use fizeau_record::{DiagnosedFigure, DiagnosisDocument, LevelDiagnosis, Waterfall};

use super::{cautions, figures, level_title, number, range, unexplained};
use crate::Shown;
use crate::escape::escape;
use crate::page::document;

/// Evidence is prose, unlike the cells of other tables.
const STYLE: &str = "caption{text-align:left;font-weight:600}th:first-child,td:first-child{text-align:left}\
    th:last-child,td:last-child{text-align:left;white-space:normal;min-width:16rem}";

impl Shown<'_, DiagnosisDocument> {
    /// The content of a page: the picture of the fullest level, and of each level a table of causes with their evidence.
    #[must_use]
    pub fn page(&self) -> String {
        let title = format!("{} on {}", self.model, self.device);
        let mut out = format!(
            "<header>\n<p class=\"kind\">Fizeau diagnosis</p>\n<h1>{}</h1>\n<p>From the speed of light to what was measured, cause by cause.{}</p>\n</header>\n",
            escape(&title),
            self.probed.as_ref().map_or_else(String::new, |probed| format!(
                " Measured silicon: {}.",
                escape(probed)
            )),
        );
        if let Some(svg) = self.svg() {
            put(&mut out, format_args!("<section>\n<h2>The fullest level</h2>\n{svg}</section>\n"));
        }
        for level in &self.levels {
            section(&mut out, level);
        }
        self.left_out().for_each(|words| paragraph(&mut out, &words));
        document(&format!("Fizeau diagnosis: {title}"), &out, STYLE)
    }
}

fn section(out: &mut String, level: &LevelDiagnosis) {
    put(out, format_args!("<section>\n<h2>{}</h2>\n", escape(&level_title(level))));
    cautions(level).for_each(|words| paragraph(out, &words));
    for (name, figure) in figures(level) {
        match figure {
            DiagnosedFigure::Explained(waterfall) => table(out, name, waterfall),
            DiagnosedFigure::Absent { reason } => paragraph(out, &unexplained(name, reason)),
        }
    }
    out.push_str("</section>\n");
}

fn paragraph(out: &mut String, words: &str) {
    put(out, format_args!("<p>{}</p>\n", escape(words)));
}

fn table(out: &mut String, name: &str, waterfall: &Waterfall) {
    put(
        out,
        format_args!(
            "<table>\n<caption>Mean {name}</caption>\n<thead><tr><th>Cause</th><th>ms</th><th>Range</th><th>Share</th><th>Evidence</th></tr></thead>\n<tbody>\n"
        ),
    );
    for step in &waterfall.steps {
        let cells = [
            step.cause.title().to_owned(),
            number(step.adds_ms),
            range(step.range_ms),
            format!("{:.0} %", step.share * 100.0),
            step.evidence.clone(),
        ];
        row(out, &cells);
    }
    let whole = [
        "measured".to_owned(),
        number(waterfall.measured_ms),
        range(waterfall.measured_interval_ms),
        "100 %".to_owned(),
        String::new(),
    ];
    row(out, &whole);
    put(
        out,
        format_args!(
            "</tbody>\n</table>\n<p><strong>Try first:</strong> {}</p>\n",
            escape(&waterfall.try_first.advice)
        ),
    );
}

fn row(out: &mut String, cells: &[String; 5]) {
    let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
    put(out, format_args!("<tr>{cells}</tr>\n"));
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = out.write_fmt(text);
}
