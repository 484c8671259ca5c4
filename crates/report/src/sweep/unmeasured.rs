//! Loads that a sweep was to measure and of which there is nothing, in words.

use fizeau_record::{SweepReport, Unmeasured};

use crate::Shown;

impl Shown<'_, SweepReport> {
    /// What was never measured or is lost, each reason once: `64, 128 (never measured: ...)`.
    pub(crate) fn never_measured(&self) -> Vec<String> {
        let alike = |one: &Unmeasured, next: &Unmeasured| {
            (&one.reason, one.is_lost) == (&next.reason, next.is_lost)
        };
        let words = |alike: &[Unmeasured]| {
            let loads: Vec<String> = alike.iter().map(|of| self.label(of.load)).collect();
            let first = alike.first();
            let reason = match first.and_then(|of| of.reason.as_deref()) {
                Some(reason) if first.is_some_and(|of| of.is_lost) => reason.to_owned(),
                Some(reason) => format!("never measured: {reason}"),
                None => "never measured".to_owned(),
            };
            format!("{} ({reason})", loads.join(", "))
        };
        self.unmeasured().chunk_by(alike).map(words).collect()
    }
}
