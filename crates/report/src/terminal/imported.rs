//! The table of another tool's levels.

use super::Terminal;
use super::table::{Column, Row, Table};
use crate::columns::Figure;
use crate::table::{Cell, Column as ComparisonLine, places};
use fizeau_core::LoadKind;
use fizeau_metrics::{Metric, Statistic};
use fizeau_record::{ImportedLevel, ImportedRun};

use crate::Shown;

impl Shown<'_, ImportedRun> {
    /// Its levels as a table within the terminal's width, those of the frontier marked, and the columns that had no room.
    pub(crate) fn table(&self, terminal: &Terminal<'_>) -> (Vec<String>, Vec<String>) {
        let best = self.frontier();
        let row = |index| if best.contains(&index) { Row::Frontier } else { Row::Other };
        let table = Table {
            rows: (0..self.levels().len()).map(row).collect(),
            columns: Column::all(columns(self.levels()), terminal.charset),
        };
        let drawn = table.draw(terminal.width, terminal.style);
        (drawn.lines, drawn.left_out)
    }
}

fn columns(levels: &[ImportedLevel]) -> Vec<ComparisonLine> {
    let is_rate = |level: &ImportedLevel| level.level_load().kind() == LoadKind::Rate;
    let (group, head) = if levels.iter().all(is_rate) { ("load", "req/s") } else { ("", "conc") };
    let is_mixed = levels.iter().any(is_rate) && !levels.iter().all(is_rate);
    let head = if is_mixed { "load" } else { head };
    let load = |level: &ImportedLevel| Cell {
        text: match level.level_load() {
            _ if level.load.is_unknown => "?".to_owned(),
            load if is_mixed && is_rate(level) => format!("{}/s", load.number()),
            load => load.number(),
        },
        marked: false,
    };
    let mut all =
        vec![ComparisonLine { group, head, rank: None, cells: levels.iter().map(load).collect() }];
    all.extend(places().0.iter().flat_map(|place| place.columns(levels, &figure)));
    let failed = |level: &ImportedLevel| Cell {
        text: level.counts.failed.map_or_else(|| "-".to_owned(), |failed| failed.to_string()),
        marked: false,
    };
    let failed = levels.iter().map(failed).collect();
    all.push(ComparisonLine { group: "", head: "failed", rank: Some(16), cells: failed });
    all
}

/// The figure of that column; it has no interval.
fn figure(level: &ImportedLevel, metric: Metric, statistic: Statistic) -> Figure {
    let name = metric.column(statistic).unwrap_or_default();
    let is_stand_in = level.greatest_for_p99.contains(&name);
    Figure { value: level.figure(&name), ends: None, is_stand_in }
}
