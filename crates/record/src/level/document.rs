//! A level as `summary.json`.

use fizeau_core::{LevelLoad, WarmUp, document};
use fizeau_metrics::{LevelSummary, Validity};

use super::client::ClientDocument;
use super::speed::LightDocument;
use super::{LevelReport, LevelStatus, UntilPreciseDocument};
use crate::{Checklist, JsonError, LevelTelemetry, RequestedLoad, ShardsReport, UnknownFact};

/// The schema of `summary.json`.
pub(crate) const SUMMARY: &str = "fizeau.summary/2";

const FINISHED: &str = "finished";

document! {
    /// `summary.json` (schema `fizeau.summary/2`): what was measured at one level, and whether to believe it.
    pub struct SummaryDocument as "Summary" of SUMMARY, from |level: &LevelReport| {
        let (word, why) = match &level.status {
            LevelStatus::Finished => (FINISHED, None),
            LevelStatus::Partial { reason } => ("partial", Some(reason.clone())),
        };
    } {
        /// The operating condition.
        pub load: LevelLoad = level.load,
        /// The arrivals and cache hits that were requested.
        #[serde(alias = "asked")]
        pub requested: RequestedLoad = level.requested,
        /// `finished` or `partial`.
        status: String = word.to_owned(),
        /// What cut it short.
        status_reason?: String = why,
        /// Whether to believe it.
        pub validity: Validity = level.validity.clone(),
        /// How well is known what it was to find out; left out if nothing was asked for.
        pub until?: UntilPreciseDocument = level.until.as_ref().map(UntilPreciseDocument::from),
        /// What was sent before it; null where that is not recorded.
        pub warm_up, warm_up_reason: WarmUp = level.warm_up.ok_or("it is not recorded"),
        /// What was measured.
        #[serde(flatten)]
        pub summary: LevelSummary = level.known_summary(),
        /// What the client saw of itself.
        pub(crate) client: ClientDocument = ClientDocument::of(level),
        /// The clients that measured it together; left out where one did alone.
        pub shards?: Box<ShardsReport> = level.shards.clone(),
        /// What its servers, their devices and the client's host said meanwhile; left out where nobody asked them.
        pub telemetry?: Box<LevelTelemetry> = level.telemetry.clone(),
        /// What is not known of it since another tool measured it.
        pub not_known?: Vec<UnknownFact> = level.unseen.as_ref().map(|unseen| unseen.not_known().to_vec()),
        /// How far it is from the best that the hardware could do; null where there is no bound.
        pub(crate) speed_of_light: Option<LightDocument> = level.speed_of_light.comparison().map(LightDocument::from),
        /// Why there is none.
        pub speed_of_light_reason?: String = level.speed_of_light.reason().map(str::to_owned),
        /// The checklist of what it must show before it is believed; left out of the levels of a sweep, which has one for all of them.
        pub checklist?: Checklist = level.checklist.clone(),
    }
}

impl SummaryDocument {
    /// How many tapes it is of, those of probes among them.
    pub(crate) fn tapes(&self) -> u64 {
        let probes = self.summary.probe.as_ref().map_or(0, |probe| probe.requests.sent);
        self.summary.requests.sent.saturating_add(probes)
    }

    /// Whether the level ran to its end.
    #[must_use]
    pub fn status(&self) -> LevelStatus {
        match (self.status.as_str(), &self.status_reason) {
            (FINISHED, _) => LevelStatus::Finished,
            (_, reason) => LevelStatus::Partial {
                reason: reason.clone().unwrap_or_else(|| "no reason was given".to_owned()),
            },
        }
    }
}

impl LevelReport {
    /// The summary, without arrivals that nobody asked for, and without what they could not have saturated.
    fn known_summary(&self) -> LevelSummary {
        let mut summary = self.summary.clone();
        if self.requested.arrivals.is_none() {
            (summary.arrivals, summary.saturation) = (None, None);
        }
        summary
    }

    /// The content of `summary.json`, indented, with a newline at its end.
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for these types.
    pub fn to_json(&self) -> Result<String, JsonError> {
        JsonError::pretty(&SummaryDocument::from(self))
    }
}
