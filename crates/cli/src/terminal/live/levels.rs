//! The table of finished levels, and the errors beside it.

use std::collections::BTreeMap;

use fizeau::core::{FailureClass, Millis};
use fizeau::metrics::Verdict;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table};

use super::History;
use super::history::Finished;
use crate::terminal::progress::short;

/// Draws the last levels that there is room for, and the errors where there were any.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, history: &History) {
    if history.errors.is_empty() {
        return table(frame, area, &history.finished);
    }
    let [levels, _, errors] = Layout::horizontal([
        Constraint::Min(20),
        Constraint::Length(1),
        Constraint::Length(ERRORS),
    ])
    .areas(area);
    table(frame, levels, &history.finished);
    failures(frame, errors, &history.errors);
}

/// How wide the errors are.
const ERRORS: u16 = 24;

/// A column: its heading, how wide it is, and what it has of a level.
struct Column {
    heading: &'static str,
    width: u16,
    cell: fn(&Finished) -> String,
}

/// The most important first: a narrow terminal has the first ones.
const COLUMNS: [Column; 9] = [
    Column { heading: "level", width: 18, cell: |level| level.name.clone() },
    Column { heading: "tok/s", width: 8, cell: |level| format!("{:.0}", level.output_tps) },
    Column { heading: "TTFT p50", width: 8, cell: |level| latency(level.ttft.p50) },
    Column { heading: "TPOT p50", width: 8, cell: |level| latency(level.tpot.p50) },
    Column { heading: "failed", width: 6, cell: |level| level.failed.to_string() },
    Column { heading: "verdict", width: 7, cell: |level| level.verdict.as_str().to_owned() },
    Column { heading: "done", width: 7, cell: |level| level.completed.to_string() },
    Column { heading: "TTFT p99", width: 8, cell: |level| latency(level.ttft.p99) },
    Column { heading: "TPOT p99", width: 8, cell: |level| latency(level.tpot.p99) },
];

fn table(frame: &mut Frame<'_>, area: Rect, finished: &[Finished]) {
    let block = Block::new().borders(Borders::TOP).title("Finished levels ");
    if finished.is_empty() {
        return frame.render_widget(Paragraph::new("none yet").dim().block(block), area);
    }
    let mut width = 0;
    let columns: Vec<&Column> = COLUMNS
        .iter()
        .take_while(|column| {
            width += column.width + 1;
            width <= area.width + 1
        })
        .collect();
    let rows = usize::from(area.height.saturating_sub(2));
    let last = finished.get(finished.len().saturating_sub(rows)..).unwrap_or_default();
    let rows = last.iter().map(|level| Row::new(columns.iter().map(|column| cell(column, level))));
    let heading = Row::new(columns.iter().map(|column| aligned(column, column.heading.to_owned())));
    let widths = columns.iter().map(|column| Constraint::Length(column.width));
    frame.render_widget(Table::new(rows, widths).header(heading.bold()).block(block), area);
}

fn cell(column: &Column, level: &Finished) -> Cell<'static> {
    let cell = aligned(column, (column.cell)(level));
    match (column.heading, level.verdict) {
        ("verdict", Verdict::Suspect) => cell.style(Style::new().fg(Color::Yellow)),
        ("verdict", Verdict::Invalid) => cell.style(Style::new().fg(Color::Red)),
        ("failed", _) if level.failed > 0 => cell.style(Style::new().fg(Color::Red)),
        _ => cell,
    }
}

/// Names to the left, figures to the right.
fn aligned(column: &Column, text: String) -> Cell<'static> {
    let line = Line::from(text);
    Cell::from(match column.heading {
        "level" | "verdict" => line,
        _ => line.right_aligned(),
    })
}

fn latency(latency: Option<Millis>) -> String {
    latency.map_or_else(|| "-".to_owned(), short)
}

fn failures(frame: &mut Frame<'_>, area: Rect, errors: &BTreeMap<FailureClass, u64>) {
    let lines = errors.iter().map(|(class, count)| Line::from(format!("{count:>6} {class}")));
    let block = Block::new().borders(Borders::TOP).title("Errors ".red());
    frame.render_widget(Paragraph::new(Text::from_iter(lines)).block(block), area);
}
