//! A small table: names to the left, figures to the right.

use crate::grid;

/// A small table.
#[derive(Debug, Default)]
pub(super) struct Grid {
    rows: Vec<Vec<String>>,
    /// Whether the last column is text.
    has_notes: bool,
}

impl Grid {
    /// A table under `heads`.
    pub(super) fn new(heads: &[&str]) -> Self {
        Self { rows: vec![heads.iter().map(|&head| head.to_owned()).collect()], has_notes: false }
    }

    /// The same table, with remarks in its last column.
    pub(super) fn with_notes(self) -> Self {
        Self { has_notes: true, ..self }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The lines, without blanks at their ends.
    pub(super) fn lines(&self) -> Vec<String> {
        let widths = grid::widths(self.rows.iter().map(Vec::as_slice));
        let is_words = |column| column == 0 || (self.has_notes && column + 1 == widths.len());
        let line = |row: &Vec<String>| grid::line(row, &widths, |_| true, is_words);
        self.rows.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Grid;

    #[test]
    fn names_stand_left_and_figures_right() {
        let mut grid = Grid::new(&["", "bound", "x"]);
        grid.row(["TTFT, ms".to_owned(), "30.0".to_owned(), "a note".to_owned()]);
        assert_eq!(grid.lines(), ["          bound       x", "TTFT, ms   30.0  a note"]);
        assert_eq!(grid.with_notes().lines()[0], "          bound  x");
    }
}
