//! What a calibration predicts, as a table.

use fizeau_core::{Estimate, PerSec, Seconds};
use fizeau_record::CalibratedPrediction;

use super::grid::Grid;
use super::quantity::row;
use crate::Shown;

impl Shown<'_, CalibratedPrediction<'_>> {
    /// The figures as a table, or none where they are refused.
    pub(super) fn table(&self) -> Option<Vec<String>> {
        let of = self.prediction.ok()?;
        let head = format!("calibrated on {}", self.scope);
        let mut grid = Grid::new(&[&head, "likely", "p5", "p95"]);
        let ms = |of: &Estimate<Seconds>| value_and_ends(of).map(|time| time.get() * 1e3);
        let rate = |of: &Estimate<PerSec>| value_and_ends(of).map(PerSec::get);
        let has_tpot = of.e2el.value() > of.ttft.value();
        for (name, values) in [
            ("TTFT with all in flight, ms", Some(ms(&of.ttft))),
            ("TPOT, ms", has_tpot.then(|| ms(&of.tpot))),
            ("E2EL, ms", Some(ms(&of.e2el))),
            ("output tokens/s", Some(rate(&of.output_tokens_per_s))),
            ("requests/s", Some(rate(&of.requests_per_s))),
        ] {
            let values = values.map_or([None; 3], |values| values.map(Some));
            grid.row(row(name, values.into_iter()));
        }
        Some(grid.lines())
    }

    /// Why there is no table.
    pub(super) fn refusal(&self) -> Option<String> {
        self.prediction.err().map(ToString::to_string)
    }
}
/// The figure, and the ends of its interval.
fn value_and_ends<T: Copy + PartialOrd>(of: &Estimate<T>) -> [T; 3] {
    [of.value(), of.low(), of.high()]
}
