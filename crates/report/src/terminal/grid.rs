//! Small tables: heads over cells that line up.

use super::wrap::wrap;

/// Rows of as many cells as there are columns.
pub(super) struct Grid {
    /// The lines of the heading.
    pub(super) heads: Vec<Vec<String>>,
    pub(super) rows: Vec<Vec<String>>,
    /// How many columns at the right are of words, and start where their heads do; the others end there.
    pub(super) words: usize,
    /// The columns that are needed least, which leave first where there is no room: the first of these first.
    pub(super) lesser: Vec<usize>,
}

/// A table as lines, and the columns that had no room.
pub(super) struct Drawn {
    pub(super) lines: Vec<String>,
    pub(super) left_out: Vec<usize>,
}

/// What is between columns.
const GAP: &str = "  ";

impl Grid {
    /// The table within `width`: where there is no room columns leave, the lesser ones and then those at the right, but for the
    /// first two.
    pub(super) fn draw(&self, width: usize) -> Drawn {
        let widths = self.widths();
        let mut shown: Vec<usize> = (0..widths.len()).collect();
        let mut left_out = Vec::new();
        let total = |shown: &[usize]| {
            let cells: usize = shown.iter().filter_map(|column| widths.get(*column)).sum();
            cells + GAP.len() * shown.len().saturating_sub(1)
        };
        let others = (2..widths.len()).rev().filter(|column| !self.lesser.contains(column));
        for column in self.lesser.iter().copied().chain(others) {
            if total(&shown) <= width {
                break;
            }
            shown.retain(|other| *other != column);
            left_out.push(column);
        }
        let all = self.heads.iter().chain(&self.rows);
        let lines = all.map(|row| {
            let line = self.line(row, &widths, &shown);
            if line.chars().count() <= width { line } else { wrap(&line, width) }
        });
        Drawn { lines: lines.collect(), left_out }
    }

    fn widths(&self) -> Vec<usize> {
        let all = || self.heads.iter().chain(&self.rows);
        let columns = all().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| {
            let cells = all().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        (0..columns).map(widest).collect()
    }

    fn line(&self, row: &[String], widths: &[usize], shown: &[usize]) -> String {
        let first_words = widths.len().saturating_sub(self.words);
        let cells = row.iter().zip(widths).enumerate();
        let cells = cells.filter(|(column, _)| shown.contains(column));
        let cells = cells.map(|(column, (cell, width))| {
            if column < first_words { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        let line = cells.collect::<Vec<_>>().join(GAP);
        line.trim_end().to_owned()
    }
}
