//! The table of finished levels, and the errors beside it.

use std::collections::BTreeMap;

use fizeau_core::FailureClass;
use fizeau_metrics::{Metric, Statistic, Verdict};
use fizeau_record::text::duration_ms;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row, Table};

use crate::progress::{FinishedLevel, RunHistory};

/// Draws the last levels that there is room for, and the errors where there were any.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, history: &RunHistory) {
    if history.failures.is_empty() {
        return table(frame, area, &history.finished);
    }
    let [levels, _, errors] = Layout::horizontal([
        Constraint::Min(20),
        Constraint::Length(1),
        Constraint::Length(ERRORS),
    ])
    .areas(area);
    table(frame, levels, &history.finished);
    failures(frame, errors, &history.failures);
}

/// How wide the errors are.
const ERRORS: u16 = 24;

/// A column: its heading, how wide it is, and what it has of a level.
struct Column {
    heading: String,
    width: u16,
    content: Content,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Name,
    /// Of those that are [`RunHistory::tabled`] the one at that place.
    Figure(usize),
    Failed,
    Verdict,
    Done,
}

/// The most important first: a narrow terminal has the first ones.
fn columns() -> Vec<Column> {
    let column =
        |heading: &str, width, content| Column { heading: heading.to_owned(), width, content };
    let figure = |(place, (metric, statistic)): (usize, (Metric, Statistic))| {
        let entry = metric.entry();
        let heading = match metric.is_latency() {
            true => format!("{} {}", entry.label, statistic.as_str()),
            false => entry.unit.to_owned(),
        };
        (statistic, Column { heading, width: 8, content: Content::Figure(place) })
    };
    let (tails, figures): (Vec<_>, Vec<_>) = RunHistory::tabled()
        .into_iter()
        .enumerate()
        .map(figure)
        .partition(|(of, _)| *of == Statistic::P99);
    let mut all = vec![column("level", 18, Content::Name)];
    all.extend(figures.into_iter().map(|(_, figure)| figure));
    all.push(column("failed", 6, Content::Failed));
    all.push(column("verdict", 7, Content::Verdict));
    all.push(column("done", 7, Content::Done));
    all.extend(tails.into_iter().map(|(_, tail)| tail));
    all
}

fn table(frame: &mut Frame<'_>, area: Rect, finished: &[FinishedLevel]) {
    let block = Block::new().borders(Borders::TOP).title("Finished levels ");
    if finished.is_empty() {
        return frame.render_widget(Paragraph::new("none yet").dim().block(block), area);
    }
    let mut width = 0;
    let columns: Vec<Column> = columns()
        .into_iter()
        .take_while(|column| {
            width += column.width + 1;
            width <= area.width + 1
        })
        .collect();
    let rows = usize::from(area.height.saturating_sub(2));
    let last = finished.get(finished.len().saturating_sub(rows)..).unwrap_or_default();
    let rows = last.iter().map(|level| Row::new(columns.iter().map(|column| cell(column, level))));
    let heading = Row::new(columns.iter().map(|column| aligned(column, column.heading.clone())));
    let widths = columns.iter().map(|column| Constraint::Length(column.width));
    frame.render_widget(Table::new(rows, widths).header(heading.bold()).block(block), area);
}

fn cell(column: &Column, level: &FinishedLevel) -> Cell<'static> {
    let text = match column.content {
        Content::Name => level.name.clone(),
        Content::Figure(place) => figure(place, level),
        Content::Failed => level.failed.to_string(),
        Content::Verdict => level.verdict.as_str().to_owned(),
        Content::Done => level.completed.to_string(),
    };
    let cell = aligned(column, text);
    match (column.content, level.verdict) {
        (Content::Verdict, Verdict::Suspect) => cell.style(Style::new().fg(Color::Yellow)),
        (Content::Verdict, Verdict::Invalid) => cell.style(Style::new().fg(Color::Red)),
        (Content::Failed, _) if level.failed > 0 => cell.style(Style::new().fg(Color::Red)),
        _ => cell,
    }
}

/// Words to the left, figures to the right.
fn aligned(column: &Column, text: String) -> Cell<'static> {
    let line = Line::from(text);
    Cell::from(match column.content {
        Content::Name | Content::Verdict => line,
        _ => line.right_aligned(),
    })
}

fn figure(place: usize, level: &FinishedLevel) -> String {
    let known = level.figures.get(place).copied().flatten();
    match (known, RunHistory::tabled().get(place)) {
        (Some(ms), Some((metric, _))) if metric.is_latency() => duration_ms(ms),
        (Some(rate), _) => format!("{rate:.0}"),
        (None, _) => "-".to_owned(),
    }
}

fn failures(frame: &mut Frame<'_>, area: Rect, errors: &BTreeMap<FailureClass, u64>) {
    let lines = errors.iter().map(|(class, count)| Line::from(format!("{count:>6} {class}")));
    let block = Block::new().borders(Borders::TOP).title("Errors ".red());
    frame.render_widget(Paragraph::new(Text::from_iter(lines)).block(block), area);
}
