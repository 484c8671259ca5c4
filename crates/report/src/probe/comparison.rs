//! Two machines side by side.

use fizeau_probe::ProbeComparison;
use fizeau_record::text::wrap_hanging;

use super::LINE;
use super::fleet::counted;
use crate::{Shown, grid};

/// So many wrong results have a line.
const MOST_WRONG: usize = 3;
/// So many operations that one machine alone has are named.
const MOST_ALONE: usize = 3;

impl Shown<'_, ProbeComparison> {
    /// A line for each operation that both measured: how many times as fast the second is, with its interval, `!` where a result
    /// cannot be right, and what may slander a row or a part of a machine that is far below its kin. Then what one of them alone has. No
    /// line is wider than 80 columns. Ends with a newline.
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
                let causes = causes(&slander.causes);
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
        notes.extend(self.slandered_components.iter().map(|of| {
            format!(
                "{}: {} is far below its other parts, B / A is {:.2} in the median and {:.2} over all parts: {}",
                of.component,
                of.side.to_uppercase(),
                of.ratio,
                of.usual_ratio,
                causes(&of.causes)
            )
        }));
        let more = wrong.len().saturating_sub(MOST_WRONG);
        wrong.truncate(MOST_WRONG);
        wrong.extend(
            (more > 0).then(|| format!("! {} more cannot be right", counted(more, "result"))),
        );
        lines.extend(wrong.iter().chain(&notes).map(|note| wrap_hanging(note, LINE, "    ")));
        for (side, only) in [("A", &self.only_a), ("B", &self.only_b)] {
            let alone = format!("Measured of {side} alone: {}", alone(only));
            lines.extend((!only.is_empty()).then(|| wrap_hanging(&alone, LINE, "    ")));
        }
        lines.join("\n") + "\n"
    }
}

fn causes(causes: &[String]) -> String {
    match causes.is_empty() {
        true => "nothing that was kept explains it".to_owned(),
        false => causes.join("; "),
    }
}

/// How many operations there are, and the first of them.
fn alone(only: &[String]) -> String {
    let named = only.iter().take(MOST_ALONE).map(String::as_str);
    let more = only.len().saturating_sub(MOST_ALONE);
    let more = (more > 0).then(|| format!("{more} more"));
    let named = named.map(str::to_owned).chain(more).collect::<Vec<_>>().join("; ");
    format!("{}: {named}", counted(only.len(), "operation"))
}
