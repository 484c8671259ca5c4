//! Reading single fields of a config, with errors that name them.

use serde_json::{Map, Value};

use super::ModelConfigError;

/// The fields of a JSON object. A `null` counts as absent: configs use it that way.
#[derive(Clone, Copy)]
pub(super) struct ConfigFields<'a>(pub(super) &'a Map<String, Value>);

impl<'a> ConfigFields<'a> {
    pub(super) fn get(self, field: &str) -> Option<&'a Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    /// A count from 1 to `range`'s limit.
    pub(super) fn count(
        self,
        field: &'static str,
        range: CountRange,
    ) -> Result<u64, ModelConfigError> {
        self.optional_count(field, range)?
            .ok_or(ModelConfigError::Missing { field, expected: range.expected })
    }

    pub(super) fn optional_count(
        self,
        field: &'static str,
        range: CountRange,
    ) -> Result<Option<u64>, ModelConfigError> {
        let Some(value) = self.scalar(field)? else {
            return Ok(None);
        };
        match value.as_u64() {
            Some(count) if (1..=range.limit).contains(&count) => Ok(Some(count)),
            _ => Err(ModelConfigError::Invalid {
                field,
                found: shown(value),
                expected: range.expected,
            }),
        }
    }

    /// A count that may be 0 or absent, which mean the same: none of it.
    pub(super) fn nonzero(
        self,
        field: &'static str,
        range: CountRange,
    ) -> Result<Option<u64>, ModelConfigError> {
        match self.scalar(field)? {
            Some(value) if value.as_u64() == Some(0) => Ok(None),
            _ => self.optional_count(field, range),
        }
    }

    /// The first of several names that is there and not 0: families call the same thing differently.
    pub(super) fn any(
        self,
        names: &[&'static str],
        range: CountRange,
    ) -> Result<Option<u64>, ModelConfigError> {
        Ok(self.any_named(names, range)?.map(|(_, count)| count))
    }

    /// The same, and the name under which it was found.
    pub(super) fn any_named(
        self,
        names: &[&'static str],
        range: CountRange,
    ) -> Result<Option<(&'static str, u64)>, ModelConfigError> {
        for name in names {
            if let Some(count) = self.nonzero(name, range)? {
                return Ok(Some((name, count)));
            }
        }
        Ok(None)
    }

    pub(super) fn flag(self, field: &'static str) -> Result<Option<bool>, ModelConfigError> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        match value.as_bool() {
            Some(flag) => Ok(Some(flag)),
            None => Err(ModelConfigError::Invalid {
                field,
                found: shown(value),
                expected: "true or false",
            }),
        }
    }

    pub(super) fn text(self, field: &str) -> Option<&'a str> {
        self.get(field).and_then(Value::as_str)
    }

    pub(super) fn list(self, field: &str) -> Option<&'a [Value]> {
        self.get(field).and_then(Value::as_array).map(Vec::as_slice)
    }

    /// A value that some configs repeat for every layer: the list counts as the one value that it is made of.
    fn scalar(self, field: &'static str) -> Result<Option<&'a Value>, ModelConfigError> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        match value.as_array().map(Vec::as_slice) {
            Some([first, rest @ ..]) if rest.iter().all(|other| other == first) => Ok(Some(first)),
            Some([_, ..]) => Err(ModelConfigError::Unsupported {
                field,
                found: shown(value),
                reason: "it is a list of different values, and one for all layers is needed",
            }),
            _ => Ok(Some(value)),
        }
    }
}

/// What a count may be, in numbers and in words.
#[derive(Clone, Copy)]
pub(super) struct CountRange {
    pub(super) limit: u64,
    pub(super) expected: &'static str,
}

// The limits lie far above any real model, and low enough that no layer's count overflows 64 bits: the largest is
// that of 2^13 experts with 3 * 2^20 * 2^23 elements each, below 2^58. Whole models are checked by their sum.
pub(super) const LAYERS: CountRange =
    CountRange { limit: 1 << 12, expected: "a whole number from 1 to 4096" };
pub(super) const HEADS: CountRange =
    CountRange { limit: 1 << 12, expected: "a whole number from 1 to 4096" };
pub(super) const HEAD_DIM: CountRange =
    CountRange { limit: 1 << 12, expected: "a whole number from 1 to 4096" };
pub(super) const RANK: CountRange =
    CountRange { limit: 1 << 16, expected: "a whole number from 1 to 65536" };
pub(super) const HIDDEN: CountRange =
    CountRange { limit: 1 << 20, expected: "a whole number from 1 to 1048576" };
pub(super) const FEED_FORWARD: CountRange =
    CountRange { limit: 1 << 23, expected: "a whole number from 1 to 8388608" };
pub(super) const EXPERTS: CountRange =
    CountRange { limit: 1 << 13, expected: "a whole number from 1 to 8192" };
pub(super) const VOCABULARY: CountRange =
    CountRange { limit: 1 << 28, expected: "a whole number from 1 to 268435456" };
pub(super) const CONTEXT: CountRange =
    CountRange { limit: 1 << 40, expected: "a whole number of tokens from 1 to 2^40" };

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
