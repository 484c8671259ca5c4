//! Two machines side by side.

use fizeau_probe::ProbeComparison;
use fizeau_record::text::wrap_hanging;

use super::LINE;
use super::fleet::counted;
use crate::{Shown, grid};

/// So many wrong results have a line.
const MOST_WRONG: usize = 3;

impl Shown<'_, ProbeComparison> {
    /// A line for each operation that both measured: how many times as fast the second is, with its interval, `!` where a result
    /// cannot be right, and what may slander a row that is far below its kin. No line is wider than 80 columns. Ends with a newline.
    #[must_use]
    pub fn text(&self) -> String {
        let head = ["operation", "B / A", "interval", ""].map(str::to_owned).to_vec();
        let mut table = vec![head];
        let (mut notes, mut wrong) = (Vec::new(), Vec::new());
        for row in &self.rows {
            let ends = row.ratio_ci.map(|[low, high]| format!("{low:.2} to {high:.2}"));
            let faults = row.faults.iter().map(|fault| {
                let (side, reason) = (fault.side.to_uppercase(), &fault.reason);
                wrong.push(format!("! {}: {side} cannot be right: {reason}", row.subject));
                format!("! {side}")
            });
            let mut marks: Vec<String> = faults.collect();
            marks.extend(row.slandered.as_ref().map(|slander| {
                let causes = match slander.causes.is_empty() {
                    true => "nothing that was kept explains it".to_owned(),
                    false => slander.causes.join("; "),
                };
                let side = slander.side.to_uppercase();
                notes
                    .push(format!("{}: {side} is far below its other rows: {causes}", row.subject));
                format!("{side} is low")
            }));
            let ratio = format!("{:.2}", row.ratio);
            let cells = [row.subject.clone(), ratio, ends.unwrap_or_else(|| "-".to_owned())];
            table.push(cells.into_iter().chain([marks.join(", ")]).collect());
        }
        let mut lines = grid::fitted(&table, LINE, |column| column == 0 || column == 3);
        if self.rows.is_empty() {
            lines = vec!["No operation was measured of both.".to_owned()];
        }
        let more = wrong.len().saturating_sub(MOST_WRONG);
        wrong.truncate(MOST_WRONG);
        wrong.extend(
            (more > 0).then(|| format!("! {} more cannot be right", counted(more, "result"))),
        );
        lines.extend(wrong.iter().chain(&notes).map(|note| wrap_hanging(note, LINE, "    ")));
        for (side, only) in [("A", &self.only_a), ("B", &self.only_b)] {
            let count = only.len();
            lines.extend(
                (count > 0)
                    .then(|| format!("Measured of {side} alone: {}", counted(count, "operation"))),
            );
        }
        lines.join("\n") + "\n"
    }
}
