//! A level as `summary.json`.

use fizeau_core::{LevelLoad, WarmUp};
use fizeau_metrics::{LevelSummary, Validity};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use super::client::ClientDocument;
use super::speed::LightDocument;
use super::{LevelReport, LevelStatus, UntilPreciseDocument};
use crate::{Checklist, JsonError, LevelTelemetry, RequestedLoad, ShardsReport, UnknownFact};

/// `summary.json` (schema `fizeau.summary/2`): what was measured at one level, and whether to believe it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Summary"))]
pub struct SummaryDocument {
    #[cfg_attr(feature = "schema", schemars(extend("const" = SUMMARY)))]
    #[serde(deserialize_with = "present_schema")]
    schema: String,
    version: String,
    /// The operating condition.
    pub load: LevelLoad,
    /// The arrivals and cache hits that were requested.
    #[serde(alias = "asked")]
    pub requested: RequestedLoad,
    /// `finished` or `partial`.
    status: String,
    /// What cut it short.
    #[serde(skip_serializing_if = "Option::is_none")]
    status_reason: Option<String>,
    /// Whether to believe it.
    pub validity: Validity,
    /// How well is known what it was to find out; left out if nothing was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<UntilPreciseDocument>,
    /// What was sent before it; null where that is not recorded.
    pub warm_up: Option<WarmUp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warm_up_reason: Option<String>,
    /// What was measured.
    #[serde(flatten)]
    pub summary: LevelSummary,
    /// What the client saw of itself.
    pub(crate) client: ClientDocument,
    /// The clients that measured it together; left out where one did alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shards: Option<Box<ShardsReport>>,
    /// What its servers, their devices and the client's host said meanwhile; left out where nobody asked them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<Box<LevelTelemetry>>,
    /// What is not known of it since another tool measured it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_known: Option<Vec<UnknownFact>>,
    /// How far it is from the best that the hardware could do; null where there is no bound.
    pub(crate) speed_of_light: Option<LightDocument>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_of_light_reason: Option<String>,
    /// The checklist of what it must show before it is believed; left out of the levels of a sweep, which has one for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checklist: Option<Checklist>,
}

/// The schema of `summary.json`.
pub(crate) const SUMMARY: &str = "fizeau.summary/2";

/// A document of an earlier schema is read as one of the present.
fn present_schema<'de, D: Deserializer<'de>>(schema: D) -> Result<String, D::Error> {
    IgnoredAny::deserialize(schema).map(|_| SUMMARY.to_owned())
}

const FINISHED: &str = "finished";

impl From<&LevelReport> for SummaryDocument {
    fn from(level: &LevelReport) -> Self {
        let (status, status_reason) = match &level.status {
            LevelStatus::Finished => (FINISHED, None),
            LevelStatus::Partial { reason } => ("partial", Some(reason.clone())),
        };
        Self {
            schema: SUMMARY.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            load: level.load,
            requested: level.requested,
            status: status.to_owned(),
            status_reason,
            validity: level.validity.clone(),
            until: level.until.as_ref().map(UntilPreciseDocument::from),
            warm_up: level.warm_up,
            warm_up_reason: level.warm_up.is_none().then(|| "it is not recorded".to_owned()),
            summary: level.known_summary(),
            client: ClientDocument::of(level),
            shards: level.shards.clone(),
            telemetry: level.telemetry.clone(),
            not_known: level.unseen.as_ref().map(|unseen| unseen.not_known().to_vec()),
            speed_of_light: level.speed_of_light.comparison().map(LightDocument::from),
            speed_of_light_reason: level.speed_of_light.reason().map(str::to_owned),
            checklist: level.checklist.clone(),
        }
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
