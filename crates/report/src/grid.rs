//! Cells that line up in columns.

/// What is between columns.
pub(crate) const GAP: &str = "  ";

/// The width of each column: that of its widest cell.
pub(crate) fn widths<'a>(rows: impl IntoIterator<Item = &'a [String]>) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(row.len().max(widths.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    widths
}

/// A line of cells, each as wide as its column: words begin there, figures end there. Without blanks at its end.
pub(crate) fn line<'a>(
    row: &'a [String],
    widths: &'a [usize],
    is_shown: impl Fn(usize) -> bool,
    is_words: impl Fn(usize) -> bool,
) -> String {
    let cells = row.iter().zip(widths).enumerate().filter(|(column, _)| is_shown(*column));
    let cells = cells.map(|(column, (cell, width))| match is_words(column) {
        true => format!("{cell:<width$}"),
        false => format!("{cell:>width$}"),
    });
    cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
}
