//! Many machines side by side.

use fizeau_probe::FleetTable;

use super::LINE;
use crate::{Shown, grid};

impl Shown<'_, FleetTable> {
    /// A line for each machine, the slowest first: its share of the fleet's median over all operations, its worst operation, and those
    /// in which it is slow with confidence. No line is wider than 80 columns. Ends with a newline.
    #[must_use]
    pub fn text(&self) -> String {
        let head = ["machine", "of median", "least", "in", "slow in"].map(str::to_owned).to_vec();
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let row = |member: &fizeau_probe::FleetMember| {
            let slow = match member.slow.len() {
                0 => "-".to_owned(),
                count => counted(count, "operation"),
            };
            let (all, least) = (percent(member.share_of_median), percent(member.least_share));
            vec![member.name.clone(), all, least, member.least_subject.clone(), slow]
        };
        let mut table = vec![head];
        table.extend(self.members.iter().map(row));
        let mut lines = grid::fitted(&table, LINE, |column| column != 1 && column != 2);
        lines.push(self.counted());
        lines.join("\n") + "\n"
    }

    /// `8 machines, 20 operations that two of them measured at least`.
    pub(super) fn counted(&self) -> String {
        let (machines, operations) = (self.members.len(), self.rows.len());
        format!(
            "{}, {} that two of them measured at least",
            counted(machines, "machine"),
            counted(operations, "operation")
        )
    }
}

/// `1 machine`, `2 machines`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
