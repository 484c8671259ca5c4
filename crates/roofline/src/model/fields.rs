//! Reading single fields of a config, with errors that name them.

use serde_json::{Map, Value};

use super::ModelError;

/// The fields of a JSON object. A `null` counts as absent: configs use it that way.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a Map<String, Value>);

impl<'a> Fields<'a> {
    pub(super) fn get(self, field: &str) -> Option<&'a Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    /// A count from 1 to `range`'s limit.
    pub(super) fn count(self, field: &'static str, range: Range) -> Result<u64, ModelError> {
        self.optional_count(field, range)?
            .ok_or(ModelError::Missing { field, expected: range.expected })
    }

    pub(super) fn optional_count(
        self,
        field: &'static str,
        range: Range,
    ) -> Result<Option<u64>, ModelError> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        match value.as_u64() {
            Some(count) if (1..=range.limit).contains(&count) => Ok(Some(count)),
            _ => Err(ModelError::Invalid { field, found: shown(value), expected: range.expected }),
        }
    }

    pub(super) fn flag(self, field: &'static str) -> Result<Option<bool>, ModelError> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        match value.as_bool() {
            Some(flag) => Ok(Some(flag)),
            None => {
                Err(ModelError::Invalid { field, found: shown(value), expected: "true or false" })
            }
        }
    }
}

/// What a count may be, in numbers and in words.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) limit: u64,
    expected: &'static str,
}

// The limits lie far above any real model, and low enough that every product of dimensions fits 64 bits: a
// layer has at most 2 * 2^20 * 2^12 * 2^13 + 3 * 2^20 * 2^23 < 2^47 elements, and a model at most 2^12
// layers.
pub(super) const LAYERS: Range =
    Range { limit: 1 << 12, expected: "a whole number from 1 to 4096" };
pub(super) const HEADS: Range = Range { limit: 1 << 12, expected: "a whole number from 1 to 4096" };
pub(super) const HEAD_DIM: Range =
    Range { limit: 1 << 12, expected: "a whole number from 1 to 4096" };
pub(super) const HIDDEN: Range =
    Range { limit: 1 << 20, expected: "a whole number from 1 to 1048576" };
pub(super) const FEED_FORWARD: Range =
    Range { limit: 1 << 23, expected: "a whole number from 1 to 8388608" };
pub(super) const VOCABULARY: Range =
    Range { limit: 1 << 28, expected: "a whole number from 1 to 268435456" };
pub(super) const CONTEXT: Range =
    Range { limit: 1 << 40, expected: "a whole number of tokens from 1 to 2^40" };

/// A value as an error shows it: its JSON, cut where it is long.
pub(super) fn shown(value: &Value) -> String {
    const LONGEST: usize = 48;
    let json = value.to_string();
    if json.chars().count() <= LONGEST {
        return json;
    }
    let kept: String = json.chars().take(LONGEST).collect();
    format!("{kept}...")
}
