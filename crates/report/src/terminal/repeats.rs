//! Loads that were measured more than once, below the table of a sweep.

use super::grid::Grid;
use super::{Terminal, TextLine};
use crate::Shown;
use crate::sweep::{HEADS, REPEATS_NOTE};
use fizeau_record::SweepReport;

impl Shown<'_, SweepReport> {
    /// What the runs of each load came to together; nothing where each was measured once.
    pub(super) fn say_repeats(&self, terminal: &Terminal<'_>, out: &mut Vec<TextLine>) {
        let &Terminal { width, charset, .. } = terminal;
        let rows = self.repeat_rows();
        if rows.is_empty() {
            return;
        }
        out.push(TextLine::Blank);
        out.push(TextLine::text(format!("{REPEATS_NOTE}:")));
        let heads = vec![HEADS.map(str::to_owned).into()];
        let rows = rows.iter().map(|row| row.iter().map(|cell| charset.words(cell)).collect());
        let grid = Grid { heads, rows: rows.collect(), words: 0, lesser: Vec::new() };
        let drawn = grid.draw(width);
        out.extend(drawn.lines.into_iter().map(TextLine::Whole));
        out.extend(terminal.not_shown(drawn.left_out, &HEADS));
    }
}
