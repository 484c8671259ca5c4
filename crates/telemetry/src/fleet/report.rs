//! What a fleet does now, as a document.

use fizeau_core::{Joules, Millis, PerJoule, UsdPerHour, Watts};
use serde::{Deserialize, Serialize};

use super::FleetFinding;
use crate::assessment::ServingAssessment;
use crate::steps::StepsAssessment;
use crate::vocabulary::Exporter;

/// What a fleet does now, and what its devices could do: `fizeau.watch/2`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FleetReport {
    /// The name and version of this document.
    pub schema: String,
    /// The model that is served.
    pub model: String,
    /// The device, by name.
    pub hardware: String,
    /// How one replica lies on devices.
    pub deployment: String,
    /// The stretch that the figures are of.
    #[serde(rename = "window_ms")]
    pub window: Millis,
    /// What one device costs for an hour, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd_per_device_hour: Option<UsdPerHour>,
    /// Where that is a published price, which is assumed since nobody gave one: whose, where and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assumed_price: Option<String>,
    /// All replicas that tell, as one; absent where none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<ServingAssessment>,
    /// Each by itself, in the order in which they were named.
    pub replicas: Vec<ReplicaReport>,
    /// Their devices, by the pages of these; absent where there is no such page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<FleetDevices>,
    /// Step by step, by the records of forward passes, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepsAssessment>,
    /// What is worth a sentence.
    pub findings: Vec<FleetFinding>,
}

/// What the exporters of a fleet's devices say, over the same stretch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FleetDevices {
    /// How many they tell of.
    pub devices: u64,
    /// What all of these draw, by their gauges; absent where one does not tell.
    #[serde(rename = "power_w", default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Watts>,
    /// What a generated token takes, by the counters of energy; absent where one does not count, or other devices serve.
    #[serde(rename = "joules_per_output_token", default, skip_serializing_if = "Option::is_none")]
    pub joules_per_token: Option<Joules>,
    /// How many generated tokens a joule gives, likewise.
    #[serde(rename = "output_tokens_per_joule", default, skip_serializing_if = "Option::is_none")]
    pub tokens_per_joule: Option<PerJoule>,
}

/// One page of a fleet: a replica.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReplicaReport {
    /// Where its page is, without user, password and query.
    pub address: String,
    /// Whose page it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exporter: Option<Exporter>,
    /// What it does; absent where it does not tell, which is then among the findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assessment: Option<ServingAssessment>,
}

impl FleetReport {
    /// The name and version of this document.
    pub const SCHEMA: &'static str = "fizeau.watch/2";

    /// How many replicas tell.
    #[must_use]
    pub fn telling(&self) -> usize {
        self.replicas.iter().filter(|replica| replica.assessment.is_some()).count()
    }

    /// Whether no page of any replica ever came.
    #[must_use]
    pub fn is_unreached(&self) -> bool {
        self.found_of_all(|finding| matches!(finding, FleetFinding::Silent { since: None, .. }))
    }

    /// Why nobody tells anything, in a sentence.
    #[must_use]
    pub fn silence(&self) -> String {
        match &*self.findings {
            [one] => one.to_string(),
            _ => {
                let pages = self.replicas.len();
                format!("none of the {pages} metrics pages shows the state of its engine")
            }
        }
    }

    /// Whether all pages came, and none is one of a serving engine.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.found_of_all(|finding| matches!(finding, FleetFinding::NotReported { .. }))
    }

    fn found_of_all(&self, is_it: impl Fn(&FleetFinding) -> bool) -> bool {
        self.findings.iter().filter(|finding| is_it(finding)).count() == self.replicas.len()
    }

    /// Whether more is done than can be.
    #[must_use]
    pub fn is_impossible(&self) -> bool {
        self.findings.iter().any(|finding| matches!(finding, FleetFinding::AboveBound { .. }))
    }
}
