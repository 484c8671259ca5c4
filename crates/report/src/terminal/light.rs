//! The speed of light by level and phase, below the table of a sweep.

use super::Line;
use crate::SweepReport;
use crate::light_table::{COLUMNS, NOTE};

impl SweepReport {
    /// How much of the speed of light each level reached, phase by phase; nothing where no level has one.
    pub(super) fn say_light(&self, width: usize, out: &mut Vec<Line>) {
        let rows = self.light_rows();
        if rows.is_empty() {
            return;
        }
        let setup = self.setup();
        let device = setup.hardware.as_deref().unwrap_or("the hardware");
        let spread = setup.deployment.as_ref().map(|spread| format!(" ({spread})"));
        let spread = spread.unwrap_or_default();
        out.push(Line::text(format!("Speed of light of {device}{spread}, reached by phase:")));
        let heads = [
            COLUMNS.map(|(group, head, _)| match head {
                "load" | "limits" => "",
                "cache full" => "cache",
                _ if group == "out tok/s" => "tok/s",
                _ => "",
            }),
            COLUMNS.map(|(_, head, _)| if head == "cache full" { "full" } else { head }),
        ];
        // Columns leave from the right where there is no room, what limits first.
        let fits = |count: usize| {
            let is_short = |line: String| line.chars().count() <= width;
            heads.iter().all(|head| is_short(line(head.iter().copied().take(count))))
                && rows.iter().all(|row| is_short(line(row.iter().map(String::as_str).take(count))))
        };
        let count = (1..=COLUMNS.len()).rev().find(|count| fits(*count)).unwrap_or(1);
        for head in heads {
            out.push(Line::Whole(line(head.into_iter().take(count))));
        }
        for row in &rows {
            out.push(Line::Whole(line(row.iter().map(String::as_str).take(count))));
        }
        out.push(Line::text(NOTE.to_owned()));
        out.extend(self.calibrated_words().map(Line::text));
        out.push(Line::Blank);
    }
}

fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let cell = |(cell, (_, _, width)): (&str, (&str, &str, usize))| match width {
        0 => format!("  {cell}"),
        width => format!("{cell:>width$}"),
    };
    let line: String = cells.zip(COLUMNS).map(cell).collect();
    line.trim_end().to_owned()
}
