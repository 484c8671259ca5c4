//! A level of another tool, as far as it can be known, and levels that belong together.

mod folder;
mod run;

#[cfg(feature = "schema")]
pub(crate) use folder::ImportedDocument;
pub use run::ImportedRun;

use std::collections::BTreeMap;

use fizeau_core::{LevelLoad, LoadKind, Nanos, PerSec, Tape, document};
use serde::{Deserialize, Serialize};

use crate::{ImportUnknowns, ImportedSource, UnknownFact};

/// A level of another tool, as far as its file tells: `imported.json` of its folder (schema `fizeau.imported/1`).
///
/// Figures are there only where the tool's definition is ours, or is ours but for what [`ImportedLevel::caveats`] says.
/// Everything else is among [`ImportedLevel::not_known`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedLevel {
    /// Where it comes from.
    pub source: ImportedSource,
    /// Its load.
    pub load: ImportedLoad,
    /// What was run, as far as the file tells.
    pub about: ImportedAbout,
    /// Requests, tokens and time.
    pub counts: ImportedCounts,
    /// Finite figures by the names of the columns of a table of levels, which have the units: `output_tps`,
    /// `p99_ttft_ms`.
    pub figures: BTreeMap<String, f64>,
    /// Columns of p99 that hold the greatest of fewer than 100 values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub greatest_for_p99: Vec<String>,
    /// What is not quite as its name says, in plain words.
    #[serde(default)]
    pub caveats: Vec<String>,
    /// What cannot be known, and why.
    pub not_known: Vec<UnknownFact>,
    /// What the wall clock showed at the epoch of the tapes, in nanoseconds since 1970; none where the file does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch_unix_ns: Option<u64>,
    /// Whether the tapes have the file's own sessions and turns. Without, each request stands alone in them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_sessions: bool,
    /// The tool's own record, as JSON; without the lists of single requests where those became tapes.
    #[serde(with = "as_json")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::Json"))]
    pub record: String,
    /// What was seen of each request; empty where the file does not tell.
    #[serde(skip)]
    pub tapes: Vec<Tape>,
}

/// The load of a level.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedLoad {
    /// Requests per second that were to be sent; none where each left as soon as it might.
    pub requests_per_s: Option<PerSec>,
    /// Squared coefficient of variation of the gaps at that rate: 0 for an even spacing, 1 for Poisson; none where the file does
    /// not say, or says it in its own record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cv_squared: Option<f64>,
    /// The cap on requests in flight; none without.
    pub max_in_flight: Option<u32>,
    /// Whether the file does not say. Without a rate, without a cap and known all requests left at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unknown: bool,
}

impl ImportedLoad {
    /// That of a tool which writes a rate or a cap where it has one: without both it is not known.
    #[must_use]
    pub fn from_rate_and_cap(rate: Option<f64>, cap: Option<u64>) -> Self {
        let requests_per_s = rate.filter(|rate| *rate > 0.0 && rate.is_finite()).map(PerSec::new);
        let max_in_flight = cap.and_then(|cap| u32::try_from(cap).ok()).filter(|cap| *cap > 0);
        let is_unknown = requests_per_s.is_none() && max_in_flight.is_none();
        Self { requests_per_s, cv_squared: None, max_in_flight, is_unknown }
    }

    /// With gaps of a gamma law of this shape, as tools call it: 1 is Poisson, infinity is even. Without a rate there are none.
    #[must_use]
    pub fn with_burstiness(self, burstiness: Option<f64>) -> Self {
        let told = burstiness.filter(|shape| *shape > 0.0 && self.requests_per_s.is_some());
        Self { cv_squared: told.map(|shape| 1.0 / shape), ..self }
    }
}

/// What was run. Texts are the file's own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedAbout {
    /// The model.
    pub model: Option<String>,
    /// The dialect or the engine, as the tool names it.
    pub backend: Option<String>,
    /// The data set.
    pub dataset: Option<String>,
    /// When it was measured, as ISO 8601 has it; without a zone where the file has none.
    pub date: Option<String>,
    /// What the user named it.
    pub label: Option<String>,
    /// On how many devices, where the file tells.
    pub devices: Option<u64>,
    /// The goals of goodput, as `ttft:500 tpot:50`; none where the file has none or others than there can be here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput: Option<String>,
    /// What else sets it apart: metadata of the user's, settings that a sweep varied.
    pub settings: BTreeMap<String, String>,
}

document! {
    /// Requests, tokens and time.
    #[derive(Copy, Default)]
    pub struct ImportedCounts {
        /// Requests that succeeded.
        pub completed: u64,
        /// Requests that did not; absent where the file does not say.
        pub failed: Option<u64>,
        /// Tokens of the prompts of those that succeeded.
        pub input_tokens: Option<u64>,
        /// Tokens of their replies.
        pub output_tokens: Option<u64>,
        /// How long the level took, by the tool's clock.
        pub duration_s: Option<f64>,
        /// Requests that the cap on requests in flight delayed past the instants of a rate; absent where the file does not say.
        pub held_back?: u64,
    }
}

impl ImportedLevel {
    /// One of which nothing but its record is known yet.
    #[must_use]
    pub fn of(source: ImportedSource, record: String) -> Self {
        Self {
            source,
            load: ImportedLoad::default(),
            about: ImportedAbout::default(),
            counts: ImportedCounts::default(),
            figures: BTreeMap::new(),
            greatest_for_p99: Vec::new(),
            caveats: Vec::new(),
            not_known: Vec::new(),
            epoch_unix_ns: None,
            has_sessions: false,
            record,
            tapes: Vec::new(),
        }
    }

    /// What is not known of it that its tapes have a value for.
    #[must_use]
    pub fn unseen(&self) -> ImportUnknowns {
        let is_left = |known: &&UnknownFact| {
            !AGAIN.contains(&known.what.as_str()) && !known.what.split(", ").all(is_figure)
        };
        let not_known = self.not_known.iter().filter(is_left).cloned().collect();
        let rate_cap = self.load.requests_per_s.and(self.load.max_in_flight);
        let mut unseen = ImportUnknowns::new(self.source.tool.clone(), not_known);
        unseen.rate_cap = rate_cap;
        // A time that no clock can show is none.
        let lasted = self.counts.duration_s.and_then(|took| Nanos::from_secs_f64(took).ok());
        unseen.lasted = lasted.unwrap_or_default();
        unseen.has_sessions = self.has_sessions;
        unseen
    }

    /// The load that it stands for: the rate where there was one, else the cap, else as many as there were requests, as if
    /// all had left at once. [`ImportedLevel::load_words`] says where it is not known.
    #[must_use]
    pub fn level_load(&self) -> LevelLoad {
        match (self.load.requests_per_s, self.load.max_in_flight) {
            (Some(rate), _) => LevelLoad::Rate(rate),
            (None, Some(cap)) => LoadKind::Concurrency.at(cap.into()),
            (None, None) => LoadKind::Concurrency.at(self.sent() as f64),
        }
    }

    /// The load in words: `concurrency 4`, `load not known`.
    #[must_use]
    pub fn load_words(&self) -> String {
        match self.load.is_unknown {
            true => "load not known".to_owned(),
            false => self.level_load().to_string(),
        }
    }

    /// The figure of that name, where it is known.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.get(name).copied()
    }

    /// Requests that were sent, as far as is known.
    #[must_use]
    pub const fn sent(&self) -> u64 {
        match self.counts.failed {
            Some(failed) => self.counts.completed.saturating_add(failed),
            None => self.counts.completed,
        }
    }

    /// Why it may not be compared with others; none if it may.
    #[must_use]
    pub fn left_out(&self) -> Option<&'static str> {
        (self.counts.completed == 0).then_some("no request completed")
    }
}

/// Whether it is the name of a latency's column, such as `p99_ttft_ms`: tapes give what the file lacks.
fn is_figure(what: &str) -> bool {
    what.ends_with("_ms") && !what.contains(' ')
}

/// What the tool did not say in a way that we could take, and tapes show again.
const AGAIN: [&str; 3] =
    ["goodput", "its steady state", "peaks of requests in flight and of tokens per second"];

/// A text of JSON as what it says.
mod as_json {
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(text: &str, to: S) -> Result<S::Ok, S::Error> {
        let value: Value = serde_json::from_str(text).map_err(S::Error::custom)?;
        value.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
        let value = Value::deserialize(from)?;
        serde_json::to_string(&value).map_err(D::Error::custom)
    }
}
