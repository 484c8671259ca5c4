//! The table of another tool's levels.

use super::Terminal;
use super::table::{Column, Row, Table};
use crate::table::{Cell, Column as Cells};
use fizeau_core::LoadKind;
use fizeau_record::text::supported;
use fizeau_record::{ImportedLevel, ImportedRun};

use crate::Shown;

/// A latency's median and tail: what stands above both, and their columns with how much each is needed.
type Latency = (&'static str, [(&'static str, &'static str, Option<u8>); 2]);

const LATENCIES: [Latency; 3] = [
    ("TTFT ms", [("p50", "p50_ttft_ms", Some(12)), ("p99", "p99_ttft_ms", Some(18))]),
    ("TPOT ms", [("p50", "p50_tpot_ms", Some(15)), ("p99", "p99_tpot_ms", Some(10))]),
    ("E2EL ms", [("p50", "p50_e2el_ms", Some(11)), ("p99", "p99_e2el_ms", Some(19))]),
];

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

fn columns(levels: &[ImportedLevel]) -> Vec<Cells> {
    let is_rate = |level: &ImportedLevel| level.load_point().kind() == LoadKind::Rate;
    let (group, head) = if levels.iter().all(is_rate) { ("asked", "req/s") } else { ("", "conc") };
    let is_mixed = levels.iter().any(is_rate) && !levels.iter().all(is_rate);
    let head = if is_mixed { "load" } else { head };
    let load = |level: &ImportedLevel| Cell {
        text: match level.load_point() {
            _ if level.load.is_unknown => "?".to_owned(),
            load if is_mixed && is_rate(level) => format!("{load}/s"),
            load => load.to_string(),
        },
        marked: false,
    };
    let figures = |group, head, name: &str, rank| Cells {
        group,
        head,
        rank,
        cells: levels.iter().map(|level| cell(level, name)).collect(),
    };
    let mut all = vec![
        Cells { group, head, rank: None, cells: levels.iter().map(load).collect() },
        figures("req", "/s", "requests_per_s", None),
        figures("out tok", "/s", "output_tps", None),
    ];
    for (group, both) in LATENCIES {
        all.extend(both.map(|(head, name, rank)| figures(group, head, name, rank)));
    }
    let failed = |level: &ImportedLevel| Cell {
        text: level.counts.failed.map_or_else(|| "-".to_owned(), |failed| failed.to_string()),
        marked: false,
    };
    let failed = levels.iter().map(failed).collect();
    all.push(Cells { group: "", head: "failed", rank: Some(16), cells: failed });
    all
}

fn cell(level: &ImportedLevel, name: &str) -> Cell {
    let text = level.figure(name).map(|value| supported(value, None));
    Cell {
        text: text.unwrap_or_else(|| "-".to_owned()),
        marked: level.greatest_for_p99.iter().any(|own| own == name),
    }
}
