//! What was asked of each request.

use fizeau_core::{Millis, Tokens};
use serde::{Deserialize, Serialize};

/// The lengths that were asked for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestedLengths {
    /// Of prompts; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<RequestedLength>,
    /// Of outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<RequestedLength>,
}

/// Lengths that were asked for: the law, and where half and nine tenths of all are below. Of an import the mean alone.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestedLength {
    /// In words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law: Option<String>,
    /// The median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<Tokens>,
    /// Nine in ten are below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90: Option<Tokens>,
    /// The mean of those that came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
}

impl RequestedLength {
    /// Lengths of which no more is known than these words.
    #[must_use]
    pub fn in_words(law: impl Into<String>) -> Self {
        Self { law: Some(law.into()), ..Self::default() }
    }

    /// In one line; empty where there is no law.
    #[must_use]
    pub fn words(&self) -> String {
        let law = self.law.clone().unwrap_or_default();
        match (self.p50, self.p90) {
            (Some(p50), Some(p90)) if p50 != p90 => format!("{law} (p50 {p50}, p90 {p90})"),
            _ => law,
        }
    }
}

/// The time limits of a request; what is absent is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestTimeouts {
    /// Until a connection stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_ms: Option<Millis>,
    /// From the sending to the first token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_token_ms: Option<Millis>,
    /// Between two arrivals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_ms: Option<Millis>,
    /// From the sending to the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_ms: Option<Millis>,
}
