//! The table of levels: columns that know how much they are needed.

use super::{Charset, TextStyle};
use crate::table::{Cell, PLUS_MINUS, columns};
use fizeau_record::LevelReport;

/// The table before it is fitted to a width.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
    pub(super) columns: Vec<Column>,
}

/// What columns of intervals are called that had no room.
pub(super) const INTERVALS: &str = "intervals";
const INTERVALS_OF_MEDIANS: &str = "intervals of medians";

/// How a row stands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    Frontier,
    OperatingPoint,
    Other,
}

/// A column with its width.
#[derive(Debug)]
pub(super) struct Column {
    group: &'static str,
    head: String,
    /// Columns with a rank are left out where there is no room for them, the lowest rank first.
    rank: Option<u8>,
    is_extra: bool,
    is_interval: bool,
    cells: Vec<Cell>,
    /// The most that any cell has behind its last whole digit: point, decimals and mark.
    behind: usize,
    width: usize,
}

/// The table as lines, and the columns that had no room.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) lines: Vec<String>,
    pub(super) left_out: Vec<String>,
}

impl Column {
    /// The columns for levels of one kind of load, each as wide as its widest cell or its heading.
    pub(super) fn of(levels: &[&LevelReport], charset: Charset) -> Vec<Self> {
        Self::all(columns(levels), charset)
    }

    /// Columns that are at hand, likewise.
    pub(super) fn all(columns: Vec<crate::table::Column>, charset: Charset) -> Vec<Self> {
        let column = |column: crate::table::Column| {
            let of_all = |of: fn(&Cell) -> usize| column.cells.iter().map(of).max().unwrap_or(0);
            let (before, behind) = (of_all(|cell| split(cell).0), of_all(|cell| split(cell).1));
            let is_extra = column.is_extra();
            let head = charset.words(column.head);
            Self {
                group: column.group,
                rank: column.rank,
                is_extra,
                is_interval: column.head == PLUS_MINUS,
                behind,
                width: (before + behind).max(head.chars().count()),
                head,
                cells: column.cells,
            }
        };
        columns.into_iter().map(column).collect()
    }

    /// Whether both stand under one group's name.
    fn is_with(&self, other: &Self) -> bool {
        !self.group.is_empty() && self.group == other.group
    }

    fn is_p50(&self) -> bool {
        self.head == "p50"
    }

    fn name(&self) -> String {
        // "TTFT ms" and "p50" read as "TTFT p50".
        let group = self.group.split(' ').next().unwrap_or_default();
        format!("{group} {}", self.head).trim().to_owned()
    }

    /// The cell, its point under those of the others.
    fn cell(&self, row: usize) -> String {
        let Some(cell) = self.cells.get(row) else { return " ".repeat(self.width) };
        let pad = " ".repeat(self.behind - split(cell).1.min(self.behind));
        let mark = if cell.marked { "*" } else { "" };
        let text = format!("{}{mark}{pad}", cell.text);
        format!("{text:>0$}", self.width)
    }
}

/// How many characters a cell has up to its last whole digit, and how many behind that.
fn split(cell: &Cell) -> (usize, usize) {
    let before = cell.text.find('.').unwrap_or(cell.text.len());
    let before = cell.text.get(..before).map_or(0, |text| text.chars().count());
    let all = cell.text.chars().count() + usize::from(cell.marked);
    (before, all - before)
}

impl Table {
    /// The table within `width`, with the heads of groups above their columns: with three spaces between columns, else with
    /// two; else without the columns that are for wide tables; else with one space; else without those that are needed least.
    pub(super) fn draw(mut self, width: usize, style: TextStyle) -> Drawn {
        let mut left_out = Vec::new();
        let mut gap = 3;
        self.settle(gap);
        while self.total(gap) > width {
            let has_extra = self.columns.iter().any(|column| column.is_extra);
            if gap > if has_extra { 2 } else { 1 } {
                gap -= 1;
                self.settle(gap);
                continue;
            }
            let ranked = self.columns.iter().enumerate();
            let ranked = ranked.filter_map(|(i, column)| Some((column.rank?, i)));
            let Some((_, least)) = ranked.min() else {
                break;
            };
            let of_medians = self.columns.get(least.saturating_sub(1)).is_some_and(Column::is_p50);
            let removed = self.columns.remove(least);
            // The intervals of several figures are named once.
            let name = match removed.is_interval {
                true if of_medians => INTERVALS_OF_MEDIANS.to_owned(),
                true => INTERVALS.to_owned(),
                false => removed.name(),
            };
            if name == INTERVALS {
                left_out.retain(|name| name != INTERVALS_OF_MEDIANS);
            }
            if !left_out.contains(&name) {
                left_out.push(name);
            }
            self.settle(gap);
        }
        let mut lines = vec![self.groups(gap), self.heads(gap)];
        lines.extend((0..self.rows.len()).map(|row| self.row(row, gap, style)));
        Drawn { lines, left_out }
    }

    /// Widens the last column of each group that is narrower than the group's name.
    fn settle(&mut self, gap: usize) {
        let runs = self.columns.chunk_by_mut(Column::is_with);
        for run in runs {
            let widths: usize = run.iter().map(|column| column.width).sum();
            let span = widths + gap * (run.len() - 1);
            if let Some(last) = run.last_mut() {
                last.width += last.group.len().saturating_sub(span);
            }
        }
    }

    fn total(&self, gap: usize) -> usize {
        MARK + self.columns.iter().map(|column| gap + column.width).sum::<usize>()
    }

    /// The upper line of the heading: each group's name at the right end of its columns, or over them in the
    /// middle with a rule to both sides where there are several.
    fn groups(&self, gap: usize) -> String {
        let mut line = " ".repeat(MARK);
        for run in self.columns.chunk_by(Column::is_with) {
            let widths: usize = run.iter().map(|column| column.width).sum();
            let span = widths + gap * (run.len() - 1);
            let group = run.first().map_or("", |column| column.group);
            line.push_str(&" ".repeat(gap));
            let spaced = format!(" {group} ");
            if run.len() > 1 && spaced.len() <= span {
                line.push_str(&format!("{spaced:-^span$}"));
            } else {
                line.push_str(&format!("{group:>span$}"));
            }
        }
        line.trim_end().to_owned()
    }

    fn heads(&self, gap: usize) -> String {
        let head =
            |column: &Column| format!("{}{:>2$}", " ".repeat(gap), column.head, column.width);
        let heads: String = self.columns.iter().map(head).collect();
        (" ".repeat(MARK) + &heads).trim_end().to_owned()
    }

    fn row(&self, row: usize, gap: usize, style: TextStyle) -> String {
        let kind = self.rows.get(row).copied().unwrap_or(Row::Other);
        let (mark, colour) = match kind {
            Row::Frontier => ("+", "\u{1b}[1m"),
            Row::OperatingPoint => (">", "\u{1b}[1;32m"),
            Row::Other => (" ", "\u{1b}[2m"),
        };
        let cell = |column: &Column| " ".repeat(gap) + &column.cell(row);
        let cells: String = self.columns.iter().map(cell).collect();
        let line = format!("{mark}{cells}");
        let line = line.trim_end();
        match style {
            TextStyle::Plain => line.to_owned(),
            TextStyle::Ansi => format!("{colour}{line}\u{1b}[0m"),
        }
    }
}

/// Room for a row's mark.
const MARK: usize = 1;
