//! Figures of another tool: what is known, and what is not.

use serde::Serialize;

use super::figures::Figure;
use super::table::{Cell, Head, Row, Table};
use super::template::{Template, data, render};
use crate::foreign::{TEXT_COLUMNS, cells_of};
use crate::{ImportedRun, NotKnown};

/// All that the page shows.
#[derive(Debug, Serialize)]
struct Shown {
    title: String,
    /// Who measured, and from which files that is known.
    source: String,
    levels: Table,
    figures: Vec<Figure>,
    caveats: Vec<String>,
    not_known: Table,
    setup: Vec<(&'static str, String)>,
}

impl ImportedRun {
    /// The content of `report.html`: the levels as far as another tool's file tells, the charts that take no tapes, and what is
    /// not known, with the reasons. Foreign text is escaped, and nothing is loaded from anywhere.
    #[must_use]
    pub fn page(&self) -> String {
        let charts = [self.charts("")];
        // What lies behind the third takes what each request did.
        let figures = Figure::all(&charts).into_iter().take(3).collect();
        let title = self.title();
        let shown = Shown {
            title: title.clone(),
            source: self.source_words(),
            levels: self.level_table(),
            figures,
            caveats: self.caveats().into_iter().map(str::to_owned).collect(),
            not_known: not_known(&self.all_not_known()),
            setup: self.setup().rows(),
        };
        render(Template::Imported, &format!("Fizeau: {title}"), &shown, &data(&charts))
    }

    fn source_words(&self) -> String {
        let mut files: Vec<&str> =
            self.levels().iter().map(|level| level.source.file.as_str()).collect();
        files.dedup();
        let tool = self.levels().first().map_or("another tool", |level| &level.source.tool);
        format!("Measured by {tool}. Imported from {}.", files.join(", "))
    }

    fn level_table(&self) -> Table {
        let best = self.frontier();
        let columns: Vec<Vec<String>> =
            TEXT_COLUMNS.iter().map(|column| cells_of(self.levels(), column.2)).collect();
        let row = |(index, level): (usize, &crate::ImportedLevel)| {
            let texts = columns.iter().map(|cells| cells.get(index).cloned().unwrap_or_default());
            let figures = TEXT_COLUMNS.iter().zip(texts).map(|((_, _, name), text)| {
                level.figure(name).map_or_else(Cell::default, |value| Cell::number(value, text))
            });
            let load = level.load_point().words();
            let mark = if best.contains(&index) { "on the frontier" } else { "" };
            let cells = std::iter::once(Cell::left(load)).chain(figures);
            Row::plain(cells.chain([Cell::left(mark)]))
        };
        let heads = TEXT_COLUMNS.iter().map(|(_, _, name)| Head::figure(name, ""));
        let heads = std::iter::once(Head::words("load")).chain(heads);
        Table {
            name: Some("levels".to_owned()),
            label: "Levels".to_owned(),
            heads: heads.chain([Head::words("place")]).collect(),
            rows: self.levels().iter().enumerate().map(row).collect(),
            notes: vec![
                "An empty cell is not known. *: the greatest of fewer than 100 values.".to_owned(),
            ],
        }
    }
}

/// What is not known, and why.
pub(super) fn not_known<'a>(all: impl IntoIterator<Item = &'a NotKnown>) -> Table {
    let row = |known: &NotKnown| Row::plain([Cell::left(&*known.what), Cell::left(&*known.why)]);
    Table {
        name: None,
        label: "Not known".to_owned(),
        heads: vec![Head::words("what"), Head::words("why")],
        rows: all.into_iter().map(row).collect(),
        notes: Vec::new(),
    }
}
