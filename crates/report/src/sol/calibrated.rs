//! What a calibration predicts, as a table.

use fizeau_core::{PerSec, Seconds};
use fizeau_record::Calibrated;
use fizeau_roofline::Interval;

use super::grid::Grid;
use super::quantity::row;
use crate::Shown;

impl Shown<'_, Calibrated<'_>> {
    /// The figures as a table, or none where they are refused.
    pub(super) fn table(&self) -> Option<Vec<String>> {
        let of = self.prediction.ok()?;
        let head = format!("calibrated on {}", self.scope);
        let mut grid = Grid::new(&[&head, "likely", "1 in 20 below", "1 in 20 above"]);
        let mut add = |name: &str, of: [f64; 3]| grid.row(row(name, of.into_iter()));
        let ms = |of: &Interval<Seconds>| [of.value, of.low, of.high].map(|time| time.get() * 1e3);
        let rate = |of: &Interval<PerSec>| [of.value, of.low, of.high].map(PerSec::get);
        add("TTFT with all under way, ms", ms(&of.ttft));
        add("TPOT, ms", ms(&of.tpot));
        add("E2EL, ms", ms(&of.e2el));
        add("output tokens/s", rate(&of.output_tokens_per_s));
        add("requests/s", rate(&of.requests_per_s));
        Some(grid.lines())
    }

    /// Why there is no table.
    pub(super) fn refusal(&self) -> Option<String> {
        self.prediction.err().map(ToString::to_string)
    }
}
