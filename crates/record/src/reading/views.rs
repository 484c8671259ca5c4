//! What was said of levels of a run, as one JSON document.

use serde::Serialize;

use crate::{JsonError, StoredLevel, StoredRun, TruncatedTail};

/// The schema of a document of the summaries of levels that belong to no sweep.
pub const LEVELS_SCHEMA: &str = "fizeau.levels/2";

/// What was said of a level.
#[derive(Debug, Clone, Serialize)]
pub struct LevelView<T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<String>,
    /// What was left over of its tapes, where their file was cut: the figures are of a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<LeftoverBytes>,
    #[serde(flatten)]
    said: T,
}

/// What a cut file holds.
#[derive(Debug, Clone, Serialize)]
struct LeftoverBytes {
    whole_tapes: u64,
    rest_bytes: u64,
    /// How many there were when the level was summed up.
    #[serde(skip_serializing_if = "Option::is_none")]
    counted_tapes: Option<u64>,
}

impl<T> LevelView<T> {
    /// That this was said of `level`, of whose tapes so much was `cut`.
    #[must_use]
    pub fn new(level: &StoredLevel, cut: Option<TruncatedTail>, said: T) -> Self {
        let level = Some(level.name().to_owned()).filter(|name| !name.is_empty());
        let left = |cut: TruncatedTail| LeftoverBytes {
            whole_tapes: cut.whole,
            rest_bytes: cut.rest_bytes,
            counted_tapes: cut.counted,
        };
        Self { level, cut: cut.map(left), said }
    }

    /// The level's name; none of the only one of a run.
    #[must_use]
    pub fn level(&self) -> Option<&str> {
        self.level.as_deref()
    }

    /// What was said.
    #[must_use]
    pub const fn content(&self) -> &T {
        &self.said
    }
}

impl StoredRun {
    /// What was said of `levels` of this run, as one document of that schema.
    ///
    /// # Errors
    /// If it cannot be put into JSON.
    pub fn levels_json(
        &self,
        schema: &str,
        levels: &[impl Serialize],
    ) -> Result<String, JsonError> {
        #[derive(Serialize)]
        struct Document<'a, L> {
            schema: &'a str,
            version: &'a str,
            run: String,
            levels: &'a [L],
        }
        let (version, run) = (env!("CARGO_PKG_VERSION"), self.path().display().to_string());
        serde_json::to_string_pretty(&Document { schema, version, run, levels })
            .map_err(JsonError::new)
    }
}
