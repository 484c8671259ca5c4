//! What sets the pace of a run.

use fizeau::metrics::Pace;
use fizeau::record::RunRecord;

/// As the plan of the run has it.
pub(crate) fn pace(record: &RunRecord) -> Pace {
    match record.text("plan.arrivals").as_deref() {
        Some("closed_loop") => Pace::ClosedLoop,
        Some("all_at_once") => Pace::AllAtOnce,
        _ => Pace::OpenLoop,
    }
}
