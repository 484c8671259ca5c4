//! Reading the twins of an event without parsing them.
//!
//! Successive events of a reply are the same JSON but for the text and a few numbers. After an event was parsed in
//! full, a [`EventTemplate`] is made of it: its bytes, with holes where the text was and behind the keys that the dialect
//! names. An event that fits the template is the same JSON with other values, so that its meaning is known. Anything
//! else (a finish reason, a usage of its own, an escape, another spacing) does not fit and is parsed in full.
//!
//! What a hole means is not declared but found out, as the template is made: a made-up matched is parsed in full, and what
//! changed in its meaning must be just what was put into the holes.

mod scan;
mod template;

pub(crate) use template::{EventTemplate, TemplateMatch};

use crate::dialect::{Dialect, WireEvent};
use crate::event::RawEvent;

/// What the making of a template costs in credit, what an event earns that fits, and one that does not. A stream that
/// never repeats itself has one event in sixty-four made into a template, which costs a few per cent of the parsing.
const PRICE: u32 = 64;
const FITTED: u32 = 16;
const MISSED: u32 = 1;
/// The most that can be saved, and what there is at first: enough for two kinds of event right after each other.
const FULL: u32 = 2 * PRICE;

/// The template at hand, and whether another may be made.
#[derive(Debug)]
pub(crate) struct EventTemplates {
    /// The keys whose values differ; none if the dialect wants each event parsed.
    keys: Option<&'static [&'static str]>,
    template: Option<EventTemplate>,
    credit: u32,
}

impl EventTemplates {
    pub(crate) const fn of(keys: Option<&'static [&'static str]>) -> Self {
        Self { keys, template: None, credit: FULL }
    }

    /// What `event` says, if it fits the template at hand.
    pub(crate) fn match_event<'a>(&mut self, event: &RawEvent<'a>) -> Option<TemplateMatch<'a>> {
        let matched = self.template.as_ref()?.match_event(event)?;
        self.credit = (self.credit + FITTED).min(FULL);
        Some(matched)
    }

    /// Makes a template of `event`, which did not fit and says `wire`, if it is one that may have twins.
    pub(crate) fn learn(
        &mut self,
        dialect: &dyn Dialect,
        event: &RawEvent<'_>,
        wire: &WireEvent<'_>,
    ) {
        let (Some(keys), Some(plain)) = (self.keys, template::plain(wire)) else {
            return;
        };
        self.credit = (self.credit + MISSED).min(FULL);
        let Some(left) = self.credit.checked_sub(PRICE) else {
            return;
        };
        self.credit = left;
        if let Some(template) = EventTemplate::of(dialect, keys, event, plain) {
            self.template = Some(template);
        }
    }
}

#[cfg(test)]
mod tests {
    use fizeau_core::{Channel, Stamp};

    use super::{EventTemplates, FULL, PRICE, TemplateMatch};
    use crate::event::{RawEvent, ReadMark};
    use crate::route::Route;

    fn event(data: &str) -> RawEvent<'_> {
        RawEvent { data: data.as_bytes(), name: b"", mark: ReadMark::user(Stamp::EPOCH, 0) }
    }

    /// Reads one event as the reader of a reply does; its matched if it was cast.
    fn read<'a>(
        templates: &mut EventTemplates,
        route: Route,
        event: &RawEvent<'a>,
    ) -> Option<TemplateMatch<'a>> {
        let matched = templates.match_event(event);
        if matched.is_none() {
            let dialect = route.dialect();
            if let Ok(wire) = dialect.read(event) {
                templates.learn(dialect, event, &wire);
            }
        }
        matched
    }

    /// The matched of `first` that `second` is.
    fn matched<'a>(route: Route, first: &str, second: &'a str) -> Option<TemplateMatch<'a>> {
        let mut templates = EventTemplates::of(route.dialect().varying());
        assert_eq!(read(&mut templates, route, &event(first)), None);
        read(&mut templates, route, &event(second))
    }

    /// Two events of each common kind, told by a `#` where they differ in the count of tokens and a `%` in the text.
    #[test]
    fn common_events_fit() {
        let usage = r#""usage":{"prompt_tokens":9,"total_tokens":1#,"completion_tokens":#}"#;
        let kinds = [
            (Route::Completions, format!(r#"{{"created":17#,"choices":[{{"text":"%","finish_reason":null}}],{usage}}}"#)),
            (Route::Completions, r#"{"choices":[{"text":"%","token_ids":[3,#],"finish_reason":null}]}"#.into()),
            (Route::Chat, format!(r#"{{"choices":[{{"delta":{{"content":"%"}},"logprobs":null}}],{usage}}}"#)),
            (Route::Chat, format!(r#"{{"choices": [{{"delta": {{"reasoning_content": "%"}}}}], {usage}}}"#)),
            (Route::Chat, r#"{"choices":[{"delta":{"content":"%"}}],"obfuscation":"x#"}"#.into()),
            (Route::Gemini, r#"{"candidates":[{"content":{"parts":[{"text":"%"}]}}],"usageMetadata":{"candidatesTokenCount":#}}"#.into()),
            (Route::LlamaCppCompletion, r#"{"content":"%","tokens":[7#],"tokens_predicted":#}"#.into()),
            (Route::Messages, r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"%"}}"#.into()),
            (Route::OllamaGenerate, r#"{"created_at":"2026-01-01T00:00:0#Z","response":"%","done":false}"#.into()),
            (Route::OllamaChat, r#"{"created_at":"2026-01-01T00:00:0#Z","message":{"content":"%"}}"#.into()),
            (Route::Responses, r#"{"type":"response.output_text.delta","sequence_number":#,"delta":"%"}"#.into()),
            (Route::SglangGenerate, r#"{"text":"%","output_ids":[#],"meta_info":{"completion_tokens":#}}"#.into()),
            (Route::TgiGenerate, r#"{"index":#,"token":{"id":#,"text":"%","logprob":-0.#}}"#.into()),
            (Route::TritonGenerate, r#"{"text_output":"%"}"#.into()),
        ];
        for (route, kind) in kinds {
            let first = kind.replace('#', "1").replace('%', "a");
            let second = kind.replace('#', "24").replace('%', " bé");
            let matched = matched(route, &first, &second);
            let matched = matched.unwrap_or_else(|| panic!("{route:?}: {kind}"));
            assert_eq!((matched.text(), matched.chars), (" bé", 3));
            let expected = route.dialect().read(&event(&second)).unwrap();
            let counts = (expected.running, expected.usage, expected.token_ids);
            assert_eq!((matched.running, matched.usage, matched.token_ids), counts, "{kind}");
            assert_eq!(Some(matched.channel), expected.channel(), "{kind}");
        }
    }

    #[test]
    fn what_says_more_or_is_unsure_does_not_fit() {
        let kinds = [
            // An escape, an end, a count of none, a second text.
            (r#"{"choices":[{"text":"a"}]}"#, r#"{"choices":[{"text":"\n"}]}"#),
            (
                r#"{"choices":[{"text":"a","finish_reason":null}]}"#,
                r#"{"choices":[{"text":"a","finish_reason":"stop"}]}"#,
            ),
            (
                r#"{"choices":[{"text":"a"}],"completion_tokens":5}"#,
                r#"{"choices":[{"text":"a"}],"completion_tokens":05}"#,
            ),
            (
                r#"{"choices":[{"text":"a"}],"usage":{"completion_tokens":5}}"#,
                r#"{"choices":[{"text":"a"}],"usage":{"completion_tokens":0}}"#,
            ),
            (
                r#"{"choices":[{"text":"a"}],"usage":{"completion_tokens":5}}"#,
                r#"{"choices":[{"text":"a"}],"usage":{"completion_tokens":6.0}}"#,
            ),
            (
                r#"{"choices":[{"text":"a"}],"usage":{"completion_tokens":5}}"#,
                r#"{"choices":[{"text":"a"}],"usage":{"completion_tokens":6}} "#,
            ),
            (
                r#"{"choices":[{"text":"a","token_ids":[1],"output_ids":[1]}]}"#,
                r#"{"choices":[{"text":"a","token_ids":[1],"output_ids":[1]}]}"#,
            ),
            (
                r#"{"choices":[{"text":"a"},{"text":"b"}]}"#,
                r#"{"choices":[{"text":"a"},{"text":"b"}]}"#,
            ),
        ];
        for (first, second) in kinds {
            assert_eq!(matched(Route::Completions, first, second), None, "{second}");
        }
        let text = r#"{"choices":[{"text":"a"}]}"#;
        assert_eq!(matched(Route::Completions, text, text).unwrap().channel, Channel::Visible);
    }

    /// So that it costs a few per cent at most.
    #[test]
    fn a_stream_that_never_repeats_makes_few_moulds() {
        let mut templates = EventTemplates::of(Route::Completions.dialect().varying());
        let (mut made, events) = (0, 3_200);
        for number in 0..events {
            let data = format!(r#"{{"id":"{number}","choices":[{{"text":"a"}}]}}"#);
            let before = templates.credit;
            assert_eq!(read(&mut templates, Route::Completions, &event(&data)), None);
            made += u32::from(templates.credit < before);
        }
        assert!((1..=(FULL + events) / PRICE).contains(&made), "{made}");
    }
}
