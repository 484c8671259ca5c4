//! The speed of light by level and phase, below the table of a sweep.

use super::grid::Grid;
use super::{Terminal, TextLine};
use crate::Shown;
use crate::speed_of_light_table::{COLUMNS, LESSER, note};
use fizeau_record::SweepReport;

impl Shown<'_, SweepReport> {
    /// How much of the speed of light each level reached, phase by phase; nothing where no level has one.
    pub(super) fn say_light(&self, terminal: &Terminal<'_>, out: &mut Vec<TextLine>) {
        let rows = self.light_rows();
        if rows.is_empty() {
            return;
        }
        let setup = self.setup();
        let device = setup.hardware.as_deref().unwrap_or("the hardware");
        let spread = setup.deployment.as_ref().map(|spread| format!(" ({spread})"));
        let spread = spread.unwrap_or_default();
        out.push(TextLine::text(format!("Speed of light of {device}{spread}, reached by phase:")));
        let heads = [
            COLUMNS.map(|column| match column.head {
                "cache full" => "cache",
                _ if column.group == "out tok/s" => "tok/s",
                _ => "",
            }),
            COLUMNS.map(|column| if column.head == "cache full" { "full" } else { column.head }),
        ];
        let grid = Grid {
            heads: heads.map(|row| row.map(str::to_owned).into()).into(),
            rows: rows.into_iter().map(Vec::from).collect(),
            words: 1,
            lesser: LESSER.into(),
        };
        let drawn = grid.draw(terminal.width);
        out.extend(drawn.lines.into_iter().map(TextLine::Whole));
        out.push(TextLine::text(note(&drawn.left_out)));
        out.extend(terminal.not_shown(drawn.left_out, &COLUMNS.map(|column| column.head)));
        out.extend(self.data_sheet_words().map(TextLine::text));
        out.extend(self.calibrated_words().map(TextLine::text));
        out.push(TextLine::Blank);
    }
}
