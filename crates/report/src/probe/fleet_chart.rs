//! A fleet's distribution as a picture: each member's shares of the median, the slowest member first.

use fizeau_probe::FleetTable;

use super::cells;
use super::fleet::counted;
use crate::Shown;
use crate::pictures::{
    CurveAxis, CurveChart, CurveLimit, CurvePanel, CurvePoint, CurveSeries, CurveStyle,
};

impl Shown<'_, FleetTable> {
    /// A dot for each operation of each machine, by its share of the fleet's median: an SVG file, light and dark. None where nothing
    /// was measured by two.
    #[must_use]
    pub fn chart(&self) -> Option<String> {
        self.curves()?.file()
    }

    pub(super) fn curves(&self) -> Option<CurveChart> {
        let mut usual = Vec::new();
        let mut slow = Vec::new();
        for (place, member) in self.members.iter().enumerate() {
            let across = (place + 1) as f64;
            for row in &self.rows {
                for cell in row.cells.iter().filter(|cell| cell.member == member.name) {
                    let at = (across, 100.0 * cell.share_of_median);
                    let to = if cell.is_slow() { &mut slow } else { &mut usual };
                    to.push(CurvePoint { at, ends: None, label: None });
                }
            }
        }
        // A slow member is named once, at its slowest operation.
        slow.sort_by(|a, b| a.at.0.total_cmp(&b.at.0).then(a.at.1.total_cmp(&b.at.1)));
        for place in 0..slow.len() {
            let is_first = place == 0 || slow[place - 1].at.0 != slow[place].at.0;
            let member = self.members.get(slow[place].at.0 as usize - 1);
            slow[place].label = member.filter(|_| is_first).map(|member| member.name.clone());
        }
        if usual.is_empty() && slow.is_empty() {
            return None;
        }
        let series = |name: &str, style, points| CurveSeries {
            name: name.to_owned(),
            index: 0,
            style,
            points,
            levels: Vec::new(),
        };
        let mut all = vec![series("an operation of a machine", CurveStyle::Apart, usual)];
        if !slow.is_empty() {
            all.push(series("slow with confidence", CurveStyle::Marked, slow));
        }
        let limit = CurveLimit { at: 100.0, text: "the fleet's median".to_owned() };
        let slowest = self.members.first().map(|member| {
            format!(
                "The slowest is {} with {} % of the median in {}.",
                member.name,
                cells::figure(100.0 * member.least_share),
                member.least_subject
            )
        });
        Some(CurveChart {
            title: "A fleet's machines against its median".to_owned(),
            subtitle: format!(
                "{}, {}",
                counted(self.members.len(), "machine"),
                counted(self.rows.len(), "operation")
            ),
            description: slowest.unwrap_or_default(),
            panels: vec![CurvePanel {
                across: CurveAxis::Counts("Machine, the slowest first".to_owned()),
                up: CurveAxis::Around("Speed, % of the fleet's median of the operation".to_owned()),
                series: all,
                limits: vec![limit],
            }],
            notes: vec![
                "Slow with confidence: more than 3.5 robust deviations below the median."
                    .to_owned(),
            ],
        })
    }
}
