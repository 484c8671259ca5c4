//! A small table: names to the left, figures to the right.

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
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let draw = |row: &Vec<String>| {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let is_left = column == 0 || (self.has_notes && column + 1 == columns);
                let gap = if column == 0 { "" } else { "  " };
                match is_left {
                    true => line.push_str(&format!("{gap}{cell:<width$}")),
                    false => line.push_str(&format!("{gap}{cell:>width$}")),
                }
            }
            line.trim_end().to_owned()
        };
        self.rows.iter().map(draw).collect()
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
