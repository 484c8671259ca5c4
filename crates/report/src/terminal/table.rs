//! The table of levels: columns that know how much they are needed.

use super::Style;
use crate::LevelReport;
use crate::table::{Cell, columns};

/// The table before it is fitted to a width.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
    pub(super) columns: Vec<Column>,
}

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
    head: &'static str,
    /// Columns with a rank are left out where there is no room for them, the lowest rank first.
    rank: Option<u8>,
    cells: Vec<Cell>,
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
    pub(super) fn of(levels: &[&LevelReport]) -> Vec<Self> {
        let column = |column: crate::table::Column| {
            let marked = column.cells.iter().any(|cell| cell.marked);
            let widest = column.cells.iter().map(|cell| cell.text.chars().count()).max();
            let widest = widest.unwrap_or(0) + usize::from(marked);
            Self {
                group: column.group,
                head: column.head,
                rank: column.rank,
                width: widest.max(column.head.len()),
                cells: column.cells,
            }
        };
        columns(levels).into_iter().map(column).collect()
    }

    /// Whether both stand under one group's name.
    fn is_with(&self, other: &Self) -> bool {
        !self.group.is_empty() && self.group == other.group
    }

    fn name(&self) -> String {
        // "TTFT ms" and "p50" read as "TTFT p50".
        let group = self.group.split(' ').next().unwrap_or_default();
        format!("{group} {}", self.head).trim().to_owned()
    }

    /// The cell, right-aligned on its digits: where any cell of the column is marked, the others leave the
    /// mark's place empty.
    fn cell(&self, row: usize) -> String {
        let any_marked = self.cells.iter().any(|cell| cell.marked);
        let text = match self.cells.get(row) {
            Some(cell) if cell.marked => format!("{}*", cell.text),
            Some(cell) if any_marked => format!("{} ", cell.text),
            Some(cell) => cell.text.clone(),
            None => String::new(),
        };
        format!("{text:>0$}", self.width)
    }
}

impl Table {
    /// The table within `width`: with three spaces between columns, else with two or one, else without the
    /// columns that are needed least. The heads of groups stand above their columns.
    pub(super) fn draw(mut self, width: usize, style: Style) -> Drawn {
        let mut left_out = Vec::new();
        let mut gap = 3;
        self.settle(gap);
        while self.total(gap) > width {
            if gap > 1 {
                gap -= 1;
                self.settle(gap);
                continue;
            }
            let ranked = self.columns.iter().enumerate();
            let ranked = ranked.filter_map(|(i, column)| Some((column.rank?, i)));
            let Some((_, least)) = ranked.min() else {
                break;
            };
            left_out.push(self.columns.remove(least).name());
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
            if run.len() > 1 {
                line.push_str(&format!("{:-^span$}", format!(" {group} ")));
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
        " ".repeat(MARK) + &heads
    }

    fn row(&self, row: usize, gap: usize, style: Style) -> String {
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
            Style::Plain => line.to_owned(),
            Style::Ansi => format!("{colour}{line}\u{1b}[0m"),
        }
    }
}

/// Room for a row's mark.
const MARK: usize = 1;
