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
        let mut grid = Grid::new(&[&head, "likely", "1 in 20 below", "1 in 20 above"]);
        let mut add = |name: &str, of: [f64; 3]| grid.row(row(name, of.into_iter()));
        let ms = |of: &Estimate<Seconds>| value_and_ends(of).map(|time| time.get() * 1e3);
        let rate = |of: &Estimate<PerSec>| value_and_ends(of).map(PerSec::get);
        add("TTFT with all under way, ms", ms(&of.ttft));
        // Of requests with one token there is none.
        let has_tpot = of.e2el.value() > of.ttft.value();
        add("TPOT, ms", if has_tpot { ms(&of.tpot) } else { [f64::NAN; 3] });
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
/// The figure, and the ends of its interval.
fn value_and_ends<T: Copy + PartialOrd>(of: &Estimate<T>) -> [T; 3] {
    [of.value(), of.low(), of.high()]
}
