//! Loads that were measured more than once, below the table of a sweep.

use super::Line;
use crate::SweepReport;
use crate::sweep::{HEADS, REPEATS_NOTE};

impl SweepReport {
    /// What the runs of each load came to together; nothing where each was measured once.
    pub(super) fn say_repeats(&self, width: usize, out: &mut Vec<Line>) {
        let rows = self.repeat_rows();
        if rows.is_empty() {
            return;
        }
        let heads = HEADS.map(str::to_owned);
        let widest = |i: usize| {
            let cells = rows.iter().chain([&heads]).filter_map(|row| row.get(i));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..HEADS.len()).map(widest).collect();
        let line = |row: &[String]| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
            cells.collect::<Vec<_>>().join("  ")
        };
        out.push(Line::Blank);
        out.push(Line::text(format!("{REPEATS_NOTE}:")));
        for row in [&heads].into_iter().chain(&rows) {
            let line = line(row);
            // What has no room is broken like a sentence.
            let fits = line.chars().count() <= width;
            out.push(if fits { Line::Whole(line) } else { Line::text(row.join("  ")) });
        }
    }
}
