//! Many machines side by side.

use fizeau_probe::{FleetCell, FleetFault, FleetTable};
use fizeau_record::text::wrap_hanging;

use super::LINE;
use crate::{Shown, grid};

/// So many operations in which a machine is slow have a line.
const SLOW: usize = 3;

impl Shown<'_, FleetTable> {
    /// A line for each machine, the slowest first: its share of the fleet's median over all operations, its worst operation, and in how
    /// many it is slow with confidence, and `!` for one that cannot pass; then why that is, and the worst of the slow, with how far they
    /// are from the others. No line is wider than 80 columns. Ends with a newline.
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
            vec![self.marked(&member.name), all, least, member.least_subject.clone(), slow]
        };
        let mut table = vec![head];
        table.extend(self.members.iter().map(row));
        let mut lines = match self.members.as_slice() {
            [] => Vec::new(),
            _ => grid::fitted(&table, LINE, |column| column != 1 && column != 2),
        };
        lines.push(wrap_hanging(&self.counted(), LINE, "  "));
        let fault = |fault: &FleetFault| format!("! {}: {}", fault.member, fault.reason);
        lines.extend(self.faults.iter().map(|seen| wrap_hanging(&fault(seen), LINE, "  ")));
        lines.extend(self.slow().take(SLOW).map(|line| wrap_hanging(&line, LINE, "  ")));
        lines.join("\n") + "\n"
    }

    /// The member's name, with `!` where it cannot pass.
    pub(super) fn marked(&self, member: &str) -> String {
        let is_faulty = self.faults.iter().any(|fault| fault.member == member);
        format!("{member}{}", if is_faulty { " !" } else { "" })
    }

    /// Of each operation in which a machine is slow with confidence a line, the farthest from the others first.
    fn slow(&self) -> impl Iterator<Item = String> {
        let cells =
            self.0.rows.iter().flat_map(|row| row.cells.iter().map(move |cell| (row, cell)));
        let far = |cell: &FleetCell| cell.deviations.filter(|_| cell.is_slow());
        let mut slow: Vec<_> =
            cells.filter_map(|(row, cell)| Some((far(cell)?, row, cell))).collect();
        slow.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
        slow.into_iter().map(|(deviations, row, cell)| {
            format!(
                "slow: {}, {}: {:.1} % of the median, {:.0} deviations below it",
                cell.member,
                row.subject,
                100.0 * cell.share_of_median,
                -deviations
            )
        })
    }

    /// `8 machines, 20 operations that two of them measured at least`, or `8 devices of 4 machines`; of none why there is none.
    pub(super) fn counted(&self) -> String {
        if self.members.is_empty() {
            return match self.faults.iter().any(|fault| fault.bad_rows > 0) {
                true => "Nothing is left to compare: what was measured of these machines is wrong or cannot be",
                false => "Nothing is left to compare: no operation was measured of two of these machines",
            }
            .to_owned();
        }
        // A member is called by its machine and its device.
        let machine =
            |name: &'_ str| name.rsplit_once(' ').map_or(name.len(), |(node, _)| node.len());
        let mut nodes: Vec<&str> =
            self.members.iter().map(|member| &member.name[..machine(&member.name)]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let (devices, machines) = (self.members.len(), counted(nodes.len(), "machine"));
        let members = match devices == nodes.len() {
            true => machines,
            false => format!("{} of {machines}", counted(devices, "device")),
        };
        let operations = counted(self.rows.len(), "operation");
        format!("{members}, {operations} that two of them measured at least")
    }
}

/// `1 machine`, `2 machines`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
