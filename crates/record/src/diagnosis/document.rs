//! A diagnosis as JSON.

use std::num::NonZeroU64;

use fizeau_core::{LevelLoad, Tokens, document};
use fizeau_roofline::UniformLoad;
use serde::{Deserialize, Serialize};

use super::{Diagnosed, ProbedSilicon, Waterfall};
use crate::JsonError;

/// The schema of a diagnosis.
const DIAGNOSIS: &str = "fizeau.diagnosis/1";

document! {
    /// Why levels are slower than their bounds (schema `fizeau.diagnosis/1`).
    #[non_exhaustive]
    pub struct DiagnosisDocument,
    pub(super) fn new(name: &str, of: &Diagnosed<'_>, explained: Vec<LevelDiagnosis>, others: Vec<String>) {
        let title = |silicon: &ProbedSilicon| silicon.system().device().title.clone();
    } {
        #[cfg_attr(feature = "schema", schemars(extend("const" = DIAGNOSIS)))]
        schema: String = DIAGNOSIS.to_owned(),
        version: String = env!("CARGO_PKG_VERSION").to_owned(),
        /// The model.
        pub model: String = name.to_owned(),
        /// The devices, as their vendor prints them, or as a probe found them where no data sheet of them is known.
        pub device: String = of.system.device().title.clone(),
        /// The device as it was measured; null where nobody did.
        pub probed: Option<String> = of.measured().map(title),
        /// The levels, in the run's order.
        pub levels: Vec<LevelDiagnosis> = explained,
        /// Levels of which nothing can be explained, each reason with its loads: none of their requests completed, or they do not fit.
        #[serde(default)]
        pub left_out: Vec<String> = others,
    }
}

/// The two waterfalls of a level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LevelDiagnosis {
    /// Its load.
    pub load: LevelLoad,
    /// Its folder, relative to the run's; null where it has none.
    pub folder: Option<String>,
    /// Requests in flight, on average.
    pub in_flight: f64,
    /// Sequences that were decoding, on average.
    pub decoding: f64,
    /// Tokens of a prompt, on average.
    #[serde(default)]
    pub input_tokens: Tokens,
    /// Tokens of a reply, on average.
    #[serde(default)]
    pub output_tokens: Tokens,
    /// What speaks against its figures, the worst first.
    #[serde(default)]
    pub doubts: Vec<String>,
    /// That it is faster than the hardware allows at best, which is impossible, and which input may be wrong; null where it is not.
    #[serde(default)]
    pub beyond_bound: Option<String>,
    /// The mean time to first token.
    pub ttft: DiagnosedFigure,
    /// The mean time per output token.
    pub tpot: DiagnosedFigure,
}

/// A figure, explained as far as it can be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DiagnosedFigure {
    /// From the bound to the measurement.
    Explained(Waterfall),
    /// There is nothing to explain.
    Absent {
        /// Why, in plain words.
        reason: String,
    },
}

impl From<Result<Waterfall, String>> for DiagnosedFigure {
    fn from(result: Result<Waterfall, String>) -> Self {
        match result {
            Ok(waterfall) => Self::Explained(waterfall),
            Err(reason) => Self::Absent { reason },
        }
    }
}

impl DiagnosedFigure {
    /// The waterfall, where there is one.
    #[must_use]
    pub const fn waterfall(&self) -> Option<&Waterfall> {
        match self {
            Self::Explained(waterfall) => Some(waterfall),
            Self::Absent { .. } => None,
        }
    }
}

impl LevelDiagnosis {
    /// Requests that are all like its mean one, as many as were decoding.
    #[must_use]
    pub fn uniform_load(&self) -> UniformLoad {
        let decoding = NonZeroU64::new(self.decoding.round() as u64).unwrap_or(NonZeroU64::MIN);
        UniformLoad::new(self.input_tokens, self.output_tokens, decoding)
    }
}

impl DiagnosisDocument {
    /// The document as indented JSON.
    ///
    /// # Errors
    /// Only if the JSON writer fails, which it does not for numbers and words.
    pub fn to_json(&self) -> Result<String, JsonError> {
        JsonError::pretty(self)
    }

    /// Whether some level is faster than the hardware allows, or none can be explained.
    #[must_use]
    pub fn is_impossible(&self) -> bool {
        self.levels.is_empty() || self.levels.iter().any(|level| level.beyond_bound.is_some())
    }

    /// The level to look at first: the one with the most requests in flight.
    #[must_use]
    pub fn fullest(&self) -> Option<&LevelDiagnosis> {
        self.levels.iter().max_by(|a, b| a.in_flight.total_cmp(&b.in_flight))
    }
}
