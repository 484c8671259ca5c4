//! Events of a stream, taken apart.

use serde_json::{Map, Value, json};

use crate::http::frames::{Frames, ReplyFailure};
use crate::serve::Emission;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StreamEvent {
    /// What stands after `event:`.
    pub(super) name: Option<String>,
    pub(super) data: EventData,
    /// How many tokens of the engine's end with it.
    pub(super) tokens: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum EventData {
    Json(Value),
    /// What is no JSON: `[DONE]`.
    Text(String),
}

impl StreamEvent {
    pub(super) const fn json(value: Value) -> Self {
        Self { name: None, data: EventData::Json(value), tokens: 0 }
    }

    pub(super) fn done() -> Self {
        Self { name: None, data: EventData::Text("[DONE]".to_owned()), tokens: 0 }
    }

    /// The events in what the server wrote of its own accord. `tokens` end with the last of them.
    pub(super) fn read(bytes: &[u8], tokens: u64) -> Vec<Self> {
        let text = String::from_utf8_lossy(bytes);
        let whole = text.split("\n\n").filter(|event| !event.is_empty());
        let mut events: Vec<_> = whole.map(Self::one).collect();
        if let Some(last) = events.last_mut() {
            last.tokens = tokens;
        }
        events
    }

    fn one(text: &str) -> Self {
        let (mut name, mut data) = (None, String::new());
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("event: ") {
                name = Some(rest.to_owned());
            } else if let Some(rest) = line.strip_prefix("data: ") {
                data.push_str(rest);
            }
        }
        let data = serde_json::from_str(&data).map_or(EventData::Text(data), EventData::Json);
        Self { name, data, tokens: 0 }
    }

    pub(super) const fn value(&mut self) -> Option<&mut Value> {
        match &mut self.data {
            EventData::Json(value) => Some(value),
            EventData::Text(_) => None,
        }
    }

    /// The only choice of an OpenAI chunk.
    pub(super) fn choice(&mut self) -> Option<&mut Map<String, Value>> {
        self.value()?.pointer_mut("/choices/0")?.as_object_mut()
    }

    /// Whether it is an OpenAI chunk with a choice.
    pub(super) fn is_chunk(&self) -> bool {
        matches!(&self.data, EventData::Json(value) if value.pointer("/choices/0").is_some())
    }

    /// The text of a token's event, on whichever route.
    pub(super) fn text(&mut self) -> Option<&mut String> {
        const PLACES: [&str; 6] = [
            "/choices/0/text",
            "/choices/0/delta/content",
            "/choices/0/delta/reasoning_content",
            "/delta/text",
            "/delta",
            "/text",
        ];
        let value = self.value()?;
        let place =
            PLACES.into_iter().find(|at| value.pointer(at).is_some_and(Value::is_string))?;
        match value.pointer_mut(place) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether it is an OpenAI chunk with usage and nothing else.
    pub(super) fn is_usage(&self) -> bool {
        match &self.data {
            EventData::Json(value) => {
                value["usage"].is_object() && value["choices"].as_array().is_some_and(Vec::is_empty)
            }
            EventData::Text(_) => false,
        }
    }

    /// The usage, where there is one.
    pub(super) fn usage(&mut self) -> Option<EventUsage<'_>> {
        self.value()?.get_mut("usage")?.as_object_mut().map(EventUsage)
    }

    /// Takes the reason for the end away.
    pub(super) fn go_on(&mut self) {
        let Some(value) = self.value() else { return };
        for place in ["/choices/0/finish_reason", "/meta_info/finish_reason"] {
            value.pointer_mut(place).into_iter().for_each(|reason| *reason = Value::Null);
        }
    }

    /// The reason of an OpenAI chunk for the end.
    pub(super) fn finish(&mut self) -> Option<&mut Value> {
        self.choice()?.get_mut("finish_reason").filter(|reason| !reason.is_null())
    }
}

/// The usage of a chunk.
pub(super) struct EventUsage<'a>(&'a mut Map<String, Value>);

impl EventUsage<'_> {
    pub(super) fn of(&self, name: &str) -> u64 {
        self.0.get(name).and_then(Value::as_u64).unwrap_or(0)
    }

    /// Sets a count, and the total with it.
    pub(super) fn set(&mut self, name: &str, count: u64) {
        self.0.insert(name.to_owned(), count.into());
        let total = self.of("prompt_tokens").saturating_add(self.of("completion_tokens"));
        self.0.insert("total_tokens".to_owned(), total.into());
    }

    pub(super) fn set_cached(&mut self, count: u64) {
        self.0.insert("prompt_tokens_details".to_owned(), json!({ "cached_tokens": count }));
    }
}

// A reply as it would be with nothing wrong, event by event.

/// The events that faults set out from. Each may be asked for more than once.
pub(super) struct FaultlessEvents(Frames);

impl FaultlessEvents {
    pub(super) const fn new(frames: Frames) -> Self {
        Self(frames)
    }

    /// How many tokens the reply has.
    pub(super) const fn total(&self) -> u64 {
        self.0.total()
    }

    /// Notes what the engine said with the first token.
    pub(super) const fn begun(&mut self, first: &Emission) {
        self.0.cached(first.timing.cached_tokens);
    }

    /// What comes with the head.
    pub(super) fn opening(&self) -> Vec<StreamEvent> {
        self.read(0, Frames::opening)
    }

    /// What comes with the first token, before it.
    pub(super) fn start(&self) -> Vec<StreamEvent> {
        self.read(0, Frames::start)
    }

    /// Token `index`.
    pub(super) fn token(&self, index: u64) -> Vec<StreamEvent> {
        self.read(1, |frames, to| frames.tokens(index..index + 1, to))
    }

    /// What ends a reply that fails behind token `made`.
    pub(super) fn failed(&self, made: u64, failure: ReplyFailure) -> Vec<StreamEvent> {
        self.read(0, |frames, to| frames.fail(made, failure, to))
    }

    /// What comes behind the last token.
    pub(super) fn end(&self) -> Vec<StreamEvent> {
        self.read(0, Frames::end)
    }

    fn read(&self, tokens: u64, write: impl FnOnce(&Frames, &mut Vec<u8>)) -> Vec<StreamEvent> {
        let mut bytes = Vec::new();
        write(&self.0, &mut bytes);
        StreamEvent::read(&bytes, tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_taken_apart() {
        let text = b"event: a\ndata: {\"delta\":\"x\"}\n\ndata: [DONE]\n\n";
        let mut events = StreamEvent::read(text, 2);
        assert_eq!(events.len(), 2);
        assert_eq!(events[0].name.as_deref(), Some("a"));
        assert_eq!(events[0].text().map(|text| text.as_str()), Some("x"));
        assert_eq!(events[1], StreamEvent { tokens: 2, ..StreamEvent::done() });
        assert_eq!(StreamEvent::read(b"", 1), []);
    }
}
