//! What a fleet does now, as a document.

use fizeau_core::{Joules, Millis, PerJoule, UsdPerHour, Watts, document};

use super::FleetFinding;
use crate::assessment::ServingAssessment;
use crate::steps::StepsAssessment;
use crate::vocabulary::Exporter;

document! {
    /// What a fleet does now, and what its devices could do: `fizeau.watch/2`.
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
        pub window as "window_ms": Millis,
        /// What one device costs for an hour, where that is known.
        pub usd_per_device_hour?: UsdPerHour,
        /// Where that is a published price, which is assumed since nobody gave one: whose, where and when.
        pub assumed_price?: String,
        /// All replicas that tell, as one; absent where none does.
        pub fleet?: ServingAssessment,
        /// Each by itself, in the order in which they were named.
        pub replicas: Vec<ReplicaReport>,
        /// Their devices, by the pages of these; absent where there is no such page.
        pub devices?: FleetDevices,
        /// Step by step, by the records of forward passes, where there are any.
        pub steps?: StepsAssessment,
        /// What is worth a sentence.
        pub findings: Vec<FleetFinding>,
    }
}

document! {
    /// What the exporters of a fleet's devices say, over the same stretch.
    #[derive(Copy)]
    #[non_exhaustive]
    pub struct FleetDevices {
        /// How many they tell of.
        pub devices: u64,
        /// What all of these draw, by their gauges; absent where one does not tell.
        pub power as "power_w"?: Watts,
        /// What a generated token takes, by the counters of energy; absent where one does not count, or other devices serve.
        pub joules_per_token as "joules_per_output_token"?: Joules,
        /// How many generated tokens a joule gives, likewise.
        pub tokens_per_joule as "output_tokens_per_joule"?: PerJoule,
    }
}

document! {
    /// One page of a fleet: a replica.
    #[non_exhaustive]
    pub struct ReplicaReport {
        /// Where its page is, without user, password and query.
        pub address: String,
        /// Whose page it is.
        pub exporter?: Exporter,
        /// What it does; absent where it does not tell, which is then among the findings.
        pub assessment?: ServingAssessment,
    }
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
