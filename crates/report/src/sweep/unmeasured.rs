//! Loads that a sweep was to measure and did not.

use serde::Serialize;

use super::SweepReport;
use crate::LoadPoint;

/// A load that was planned and never measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unmeasured {
    /// The load.
    #[serde(flatten)]
    pub load: LoadPoint,
    /// Why, in plain words; absent where the run was called off, or did not live to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[cfg(feature = "schema")]
fizeau_core::object_schema!(
    Unmeasured,
    "Unmeasured",
    "A load that was planned and never measured: `concurrency` or `requests_per_s`, and why.",
    |o| o
        .may_have::<u32>("concurrency")
        .may_have::<fizeau_core::PerSec>("requests_per_s")
        .may_have::<String>("reason")
);

impl From<LoadPoint> for Unmeasured {
    /// Of a run that does not say why.
    fn from(load: LoadPoint) -> Self {
        Self { load, reason: None }
    }
}

impl SweepReport {
    /// What was never measured, each reason once: `64, 128 (never measured: ...)`.
    pub(crate) fn never_measured(&self) -> Vec<String> {
        let never = self.unmeasured().chunk_by(|one, next| one.reason == next.reason);
        let words = |alike: &[Unmeasured]| {
            let loads: Vec<String> = alike.iter().map(|of| self.label(of.load)).collect();
            let reason = alike.first().and_then(|of| of.reason.as_deref());
            let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            format!("{} (never measured{reason})", loads.join(", "))
        };
        never.map(words).collect()
    }
}
