//! A fleet's distribution as a picture: each member's shares of the median, the slowest member first.

use fizeau_probe::FleetTable;

use super::cells;
use super::fleet::counted;
use crate::Shown;
use crate::pictures::{
    CurveAxis, CurveChart, CurveLimit, CurvePanel, CurvePoint, CurveSeries, CurveStyle,
};

/// How wide a member's dots lie, in members.
const WIDTH: f64 = 0.7;

impl Shown<'_, FleetTable> {
    /// A dot for each operation of each machine, by its share of the fleet's median: an SVG file, light and dark. None where nothing
    /// was measured by two.
    #[must_use]
    pub fn chart(&self) -> Option<String> {
        self.curves()?.file()
    }

    /// The operations of all machines: the usual ones, and those that are slow.
    fn points(&self) -> [Vec<CurvePoint>; 2] {
        let (mut usual, mut slow) = (Vec::new(), Vec::new());
        for (place, member) in self.members.iter().enumerate() {
            let mut low: Vec<CurvePoint> = Vec::new();
            for (turn, row) in self.rows.iter().enumerate() {
                // Operations side by side within a member's column, so that none hides another.
                let aside = WIDTH * ((turn as f64 + 0.5) / self.rows.len() as f64 - 0.5);
                for cell in row.cells.iter().filter(|cell| cell.member == member.name) {
                    let at = ((place + 1) as f64 + aside, 100.0 * cell.share_of_median);
                    let to = if cell.is_slow() { &mut low } else { &mut usual };
                    to.push(CurvePoint { at, ends: None, label: None });
                }
            }
            // A slow member is named once, at its slowest operation.
            if let Some(point) = low.iter_mut().min_by(|a, b| a.at.1.total_cmp(&b.at.1)) {
                point.label = Some(member.name.clone());
            }
            slow.append(&mut low);
        }
        [usual, slow]
    }

    pub(super) fn curves(&self) -> Option<CurveChart> {
        let [usual, slow] = self.points();
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
        let mut all = vec![series("an operation of a machine", CurveStyle::Scattered, usual)];
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
