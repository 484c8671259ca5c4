//! Cells that line up in columns.

#[cfg(feature = "probe")]
use fizeau_record::text::wrap_hanging;

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

/// The fewest characters that a column of words is brought down to.
#[cfg(feature = "probe")]
const NARROWEST: usize = 8;

/// A table no wider than `room`, its head the first row: words that do not fit go on below, two spaces further in. They are never
/// cut, since what tells two rows apart may be at their end.
#[cfg(feature = "probe")]
pub(crate) fn fitted(
    table: &[Vec<String>],
    room: usize,
    is_words: impl Fn(usize) -> bool,
) -> Vec<String> {
    let mut widths = widths(table.iter().map(Vec::as_slice));
    let gaps = GAP.len() * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > room {
        let columns = widths.iter_mut().enumerate().filter(|(column, _)| is_words(*column));
        match columns.map(|(_, width)| width).max().filter(|width| **width > NARROWEST) {
            Some(widest) => *widest -= 1,
            None => break,
        }
    }
    let lines_of = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| folded(cell, *width));
        let cells: Vec<Vec<String>> = cells.collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let at = |line: usize| -> Vec<String> {
            cells.iter().map(|cell| cell.get(line).cloned().unwrap_or_default()).collect()
        };
        (0..height).map(|n| line(&at(n), &widths, |_| true, &is_words)).collect::<Vec<_>>()
    };
    table.iter().flat_map(lines_of).collect()
}

/// The lines of a cell of `width`; a word that is longer is broken where the cell ends.
#[cfg(feature = "probe")]
fn folded(cell: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in wrap_hanging(cell, width, "  ").lines() {
        let letters: Vec<char> = line.chars().collect();
        lines.extend(letters.chunks(width.max(1)).map(|part| part.iter().collect::<String>()));
    }
    lines
}

#[cfg(all(test, feature = "probe"))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_table_fits_and_loses_no_letter(
            words in prop::collection::vec(("[a-z0-9]{1,30}( [a-z0-9]{1,30}){0,12}", "[0-9]{1,8}", "[a-z]{0,60}"), 1..8),
            room in 40_usize..120,
        ) {
            let table: Vec<Vec<String>> = words.into_iter().map(|(a, b, c)| vec![a, b, c]).collect();
            let lines = fitted(&table, room, |column| column != 1);
            prop_assert!(lines.iter().all(|line| line.chars().count() <= room), "{lines:#?}");
            let letters = |text: &mut dyn Iterator<Item = &String>| {
                let mut letters: Vec<char> = text.flat_map(|text| text.chars()).filter(|letter| *letter != ' ').collect();
                letters.sort_unstable();
                letters
            };
            prop_assert_eq!(letters(&mut lines.iter()), letters(&mut table.iter().flatten()));
        }

        #[test]
        fn rows_that_differ_at_their_end_stay_apart(start in "[a-z]{3,9}( [a-z]{3,9}){6,12}", room in 40_usize..80) {
            let row = |threads: &str| vec![format!("{start}, {threads} threads"), "1.00".to_owned()];
            let one = fitted(&[row("1")], room, |column| column == 0);
            let two = fitted(&[row("2")], room, |column| column == 0);
            prop_assert_ne!(one, two);
        }
    }
}
