//! Small tables: heads over cells that line up.

use super::wrap::wrap;

/// Rows of as many cells as there are columns.
pub(super) struct Grid {
    /// The lines of the heading.
    pub(super) heads: Vec<Vec<String>>,
    pub(super) rows: Vec<Vec<String>>,
    /// How many columns at the right are of words, and start where their heads do; the others end there.
    pub(super) words: usize,
}

/// What is between columns.
const GAP: &str = "  ";

impl Grid {
    /// The table within `width`: columns leave from the right where there is no room, but for the first two.
    pub(super) fn lines(&self, width: usize) -> Vec<String> {
        let widths = self.widths();
        let fits = |count: &usize| {
            let cells: usize = widths.iter().take(*count).sum();
            cells + GAP.len() * count.saturating_sub(1) <= width
        };
        let count = (2..=widths.len()).rev().find(fits).unwrap_or(2);
        let all = self.heads.iter().chain(&self.rows);
        all.map(|row| {
            let line = self.line(row, &widths, count);
            if line.chars().count() <= width { line } else { wrap(&line, width) }
        })
        .collect()
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

    fn line(&self, row: &[String], widths: &[usize], count: usize) -> String {
        let first_words = widths.len().saturating_sub(self.words);
        let cells = row.iter().zip(widths).enumerate().take(count);
        let cells = cells.map(|(column, (cell, width))| {
            if column < first_words { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        let line = cells.collect::<Vec<_>>().join(GAP);
        line.trim_end().to_owned()
    }
}
