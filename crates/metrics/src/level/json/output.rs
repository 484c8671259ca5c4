//! What the output was made of, and rates of single requests, in JSON.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::super::{EventBin, OutputSummary, RequestRates};
use crate::distribution::RatesOrReason;
use crate::json::known_or_reason;

const NO_TEXT: &str = "no visible text came, or the window has no length";

impl Serialize for OutputSummary {
    /// An object of `reasoning_tokens`, `visible_tokens`, `reasoning_reported`, `by_channel`, `text_bytes`, `text_chars`,
    /// `visible_tokens_per_s`, `text_bytes_per_s`, `text_chars_per_s`, `tokens_per_event`: a list of `least`, `most`, `events`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let visible = self.visible_tokens_per_s;
        let bins: Vec<EventBin> = self.tokens_per_event.bins().collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("reasoning_tokens", &self.reasoning)?;
        map.serialize_entry("visible_tokens", &self.visible)?;
        map.serialize_entry("reasoning_reported", &self.reasoning_reported)?;
        map.serialize_entry("by_channel", &self.by_channel)?;
        map.serialize_entry("text_bytes", &self.text_bytes)?;
        map.serialize_entry("text_chars", &self.text_chars)?;
        known_or_reason(&mut map, "visible_tokens_per_s", visible, "the window has no length")?;
        known_or_reason(&mut map, "text_bytes_per_s", self.text_bytes_per_s, NO_TEXT)?;
        known_or_reason(&mut map, "text_chars_per_s", self.text_chars_per_s, NO_TEXT)?;
        map.serialize_entry("tokens_per_event", &bins)?;
        map.end()
    }
}

impl Serialize for RequestRates {
    /// An object of `prefill_tokens_per_s`, `user_tokens_per_s`, `text_bytes_per_s`, `text_chars_per_s`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NO_PREFILL: &str = "no prompt of known length that a cache did not supply in full";
        const NO_DECODE: &str = "no reply took time after its first event";
        const NO_TEXT: &str = "no reply had visible text after its first visible event";
        let entries = [
            ("prefill_tokens_per_s", &self.prefill_tps, NO_PREFILL),
            ("user_tokens_per_s", &self.user_tps, NO_DECODE),
            ("text_bytes_per_s", &self.text_bytes, NO_TEXT),
            ("text_chars_per_s", &self.text_chars, NO_TEXT),
        ];
        let mut map = serializer.serialize_map(Some(entries.len()))?;
        for (name, rates, empty) in entries {
            map.serialize_entry(name, &RatesOrReason { rates, empty })?;
        }
        map.end()
    }
}
