//! A level as `summary.json`.

use std::borrow::Cow;

use fizeau_metrics::{LevelSummary, Validity};
use serde::{Serialize, Serializer};

use super::proof::Client;
use super::{LevelReport, LevelStatus, LoadPoint};
use crate::{Asked, Checklist, Unseen};
use fizeau_core::WarmUp;

/// The file as it is written: the schema's names in the schema's order.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Summary<'a> {
    #[cfg_attr(feature = "schema", schemars(extend("const" = "fizeau.summary/1")))]
    schema: &'static str,
    version: &'static str,
    load: LoadPoint,
    asked: Asked,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_reason: Option<&'a str>,
    validity: &'a Validity,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<&'a super::Until>,
    warm_up: Option<WarmUp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warm_up_reason: Option<&'static str>,
    #[serde(flatten)]
    summary: Cow<'a, LevelSummary>,
    client: Client<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_known: Option<&'a Unseen>,
    speed_of_light: &'a super::SpeedOfLight,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed_of_light_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checklist: Option<&'a Checklist>,
}

#[cfg(feature = "schema")]
fizeau_core::written_as!(LevelReport, Summary<'static>);

impl Serialize for LevelReport {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (status, status_reason) = match &self.status {
            LevelStatus::Finished => ("finished", None),
            LevelStatus::Partial { reason } => ("partial", Some(reason.as_str())),
        };
        let summary = Summary {
            schema: "fizeau.summary/1",
            version: env!("CARGO_PKG_VERSION"),
            load: self.load,
            asked: self.asked,
            status,
            status_reason,
            validity: &self.validity,
            until: self.until.as_ref(),
            warm_up: self.warm_up,
            warm_up_reason: self.warm_up.is_none().then_some("it is not recorded"),
            summary: self.known_summary(),
            client: Client(self),
            not_known: self.unseen.as_deref(),
            speed_of_light: &self.speed_of_light,
            speed_of_light_reason: self.speed_of_light.reason(),
            checklist: self.checklist.as_ref(),
        };
        summary.serialize(to)
    }
}

impl LevelReport {
    /// The summary, without arrivals that nobody asked for, and without what they could not have saturated.
    fn known_summary(&self) -> Cow<'_, LevelSummary> {
        let mut summary = Cow::Borrowed(&self.summary);
        if self.asked.arrivals.is_none()
            && (summary.arrivals.is_some() || summary.saturation.is_some())
        {
            let summary = summary.to_mut();
            (summary.arrivals, summary.saturation) = (None, None);
        }
        summary
    }

    /// The content of `summary.json`, indented, with a newline at its end.
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for these types.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }
}
