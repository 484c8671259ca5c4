//! Small tables: heads over cells that line up.

use fizeau_record::text::wrap;

use crate::grid::{self, GAP};

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

impl Grid {
    /// The table within `width`: where there is no room columns leave, the lesser ones and then those at the right, but for the
    /// first two.
    pub(super) fn draw(&self, width: usize) -> Drawn {
        let all = || self.heads.iter().chain(&self.rows);
        let widths = grid::widths(all().map(Vec::as_slice));
        let first_words = widths.len().saturating_sub(self.words);
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
        let lines = all().map(|row| {
            let is_shown = |column| shown.contains(&column);
            let line = grid::line(row, &widths, is_shown, |column| column >= first_words);
            if line.chars().count() <= width { line } else { wrap(&line, width) }
        });
        Drawn { lines: lines.collect(), left_out }
    }
}
