//! The bytes of a reply. What does not change within a stream is rendered once.

use std::ops::Range;

use fizeau_core::Tokens;
use serde_json::{Value, json};

use super::dialect::{anthropic, openai, responses, sglang};
use super::length::ReplyEnding;
use super::parsed_request::{GeneratingRoute, ParsedRequest};
use super::prompt;
use crate::serve::JobId;
use crate::text;

/// Writes the events of one stream. Writing one a second time gives the same bytes.
pub(super) struct Frames {
    reply: ReplyContents,
    wire: Box<dyn StreamWriter + Send>,
}

/// What is said in a reply, whichever dialect it is said in.
#[derive(Debug)]
pub(super) struct ReplyContents {
    number: JobId,
    pub(super) tokens: u64,
    pub(super) ending: ReplyEnding,
    pub(super) prompt_tokens: u64,
    /// Tokens of the prompt that a cache held, where there is one.
    pub(super) cached_tokens: Option<u64>,
}

/// How a dialect writes a stream: each method one event, or several of which each ends with an empty line, or none.
pub(super) trait StreamWriter {
    /// Before there is a token: goes out with the head.
    fn opening(&self, _reply: &ReplyContents, _to: &mut Vec<u8>) {}

    /// Goes out with the first token, before it.
    fn start(&self, _reply: &ReplyContents, _to: &mut Vec<u8>) {}

    /// Tokens that leave together, as one event.
    fn tokens(&self, reply: &ReplyContents, range: Range<u64>, to: &mut Vec<u8>);

    /// Goes out with the last token, behind it.
    fn end(&self, reply: &ReplyContents, to: &mut Vec<u8>);

    /// Goes out behind token `made` instead of all that would follow, where the reply fails. OpenAI's chunks have the form
    /// that vLLM gives an error.
    fn fail(&self, _reply: &ReplyContents, _made: u64, failure: ReplyFailure, to: &mut Vec<u8>) {
        let error = json!({"error": {
            "message": failure.words, "type": "InternalServerError", "param": null, "code": 500,
        }});
        push(to, &format!("data: {error}\n\n{DONE}"));
    }
}

/// How a reply fails.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplyFailure {
    pub(super) kind: ReplyFailureKind,
    /// What is said of it.
    pub(super) words: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyFailureKind {
    Error,
    /// The server gave the reply up, and says so as the reason for its end.
    Abort,
    /// A filter ended it.
    Filter,
}

impl Frames {
    /// `created` is in seconds since 1970.
    pub(super) fn new(ask: &mut ParsedRequest, number: JobId, created: u64) -> Self {
        let wire: Box<dyn StreamWriter + Send> = match ask.route {
            GeneratingRoute::Chat | GeneratingRoute::Completions => {
                Box::new(openai::OpenAiChunks::new(ask, number, created))
            }
            GeneratingRoute::Generate => Box::new(sglang::SglangEvents::new(ask, number)),
            GeneratingRoute::Messages => Box::new(anthropic::AnthropicEvents::new(ask, number)),
            GeneratingRoute::Responses => {
                Box::new(responses::ResponsesEvents::new(ask, number, created))
            }
        };
        Self { reply: ReplyContents::of(ask, number), wire }
    }

    /// How many tokens the stream has.
    pub(super) const fn total(&self) -> u64 {
        self.reply.tokens
    }

    /// Notes what a prefix cache held of the prompt, before the first token is written.
    pub(super) const fn cached(&mut self, tokens: Tokens) {
        self.reply.cached_tokens = Some(tokens.get());
    }

    /// Writes what goes out before there is a token, in no dialect but that of responses anything.
    pub(super) fn opening(&self, to: &mut Vec<u8>) {
        self.wire.opening(&self.reply, to);
    }

    /// Writes the events before the first token: the role, say. Maybe none.
    pub(super) fn start(&self, to: &mut Vec<u8>) {
        self.wire.start(&self.reply, to);
    }

    /// Writes the event with tokens `range`, which the engine let go together.
    pub(super) fn tokens(&self, range: Range<u64>, to: &mut Vec<u8>) {
        self.wire.tokens(&self.reply, range, to);
    }

    /// Writes what ends a reply that fails behind token `made`.
    pub(super) fn fail(&self, made: u64, failure: ReplyFailure, to: &mut Vec<u8>) {
        self.wire.fail(&self.reply, made, failure, to);
    }

    /// Writes the events behind the last token: usage, say, and the protocol's own end.
    pub(super) fn end(&self, to: &mut Vec<u8>) {
        self.wire.end(&self.reply, to);
    }
}

impl ReplyContents {
    fn of(ask: &ParsedRequest, number: JobId) -> Self {
        Self {
            number,
            tokens: ask.max_tokens.get(),
            ending: ask.ending,
            prompt_tokens: ask.prompt_tokens.get(),
            cached_tokens: ask.cached_tokens.map(Tokens::get),
        }
    }

    fn is_end(&self, index: u64) -> bool {
        self.ending == ReplyEnding::Stop && index + 1 == self.tokens
    }

    /// The text of token `index`: none of the one by which a model ends.
    pub(super) fn word(&self, index: u64) -> &'static str {
        if self.is_end(index) { "" } else { text::word(self.number, index) }
    }

    pub(super) fn token_id(&self, index: u64) -> u64 {
        if self.is_end(index) { u64::from(prompt::END) } else { text::token_id(self.number, index) }
    }

    /// The text of all tokens.
    pub(super) fn text(&self) -> String {
        (0..self.tokens).map(|index| self.word(index)).collect()
    }

    /// Writes the texts of tokens `range`. They need no escaping.
    pub(super) fn push_words(&self, range: Range<u64>, to: &mut Vec<u8>) {
        range.for_each(|index| push(to, self.word(index)));
    }

    /// Writes the ids of tokens `range`, with commas in between.
    pub(super) fn push_ids(&self, range: Range<u64>, to: &mut Vec<u8>) {
        for index in range.clone() {
            if index > range.start {
                to.push(b',');
            }
            push_number(to, self.token_id(index));
        }
    }
}

/// The protocol's own end, of those that have this one.
pub(super) const DONE: &str = "data: [DONE]\n\n";

pub(super) fn push(event: &mut Vec<u8>, text: &str) {
    event.extend_from_slice(text.as_bytes());
}

/// Writes a number in decimal. Formatting through `fmt` costs several times as much, and there are three of these to
/// a token.
pub(super) fn push_number(event: &mut Vec<u8>, number: u64) {
    // 2^64 has 20 digits.
    let mut digits = [b'0'; 20];
    let (mut left, mut length) = (number, 0);
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (left % 10) as u8;
        left /= 10;
        length += 1;
        if left == 0 {
            break;
        }
    }
    let (_, written) = digits.split_at(digits.len() - length);
    event.extend_from_slice(written);
}

/// Writes an event under its name, which its type repeats, first of the fields of `data`, an object.
pub(super) fn push_named(to: &mut Vec<u8>, name: &str, data: &Value) {
    let data = data.to_string();
    let fields = data.strip_prefix('{').unwrap_or("}");
    let comma = if fields == "}" { "" } else { "," };
    push(to, &format!("event: {name}\ndata: {{\"type\":\"{name}\"{comma}{fields}\n\n"));
}

/// A reply in one piece, as JSON.
pub(super) fn whole(ask: &ParsedRequest, number: JobId, created: u64) -> String {
    let reply = ReplyContents::of(ask, number);
    let id = reply_id(ask, number);
    let json = match ask.route {
        GeneratingRoute::Chat | GeneratingRoute::Completions => {
            openai::whole(ask, &reply, &id, created)
        }
        GeneratingRoute::Generate => sglang::whole(&reply, &id),
        GeneratingRoute::Messages => anthropic::whole(ask, &reply, &id),
        GeneratingRoute::Responses => responses::whole(ask, &reply, number, created),
    };
    json.to_string()
}

/// The name of a reply on the wire.
pub(super) fn reply_id(ask: &ParsedRequest, number: JobId) -> String {
    let prefix = match ask.route {
        GeneratingRoute::Chat => "chatcmpl-",
        GeneratingRoute::Completions => "cmpl-",
        GeneratingRoute::Generate if ask.request_id.is_none() => "r",
        GeneratingRoute::Generate => "",
        GeneratingRoute::Messages => "msg_",
        GeneratingRoute::Responses => "resp_",
    };
    match &ask.request_id {
        Some(id) => format!("{prefix}{id}"),
        None => format!("{prefix}{}", number.0),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::push_number;

    proptest! {
        #[test]
        fn numbers_are_decimal(number: u64, digits in 0u32..20) {
            for number in [number, number % 10u64.pow(digits), 10u64.pow(digits), 0, u64::MAX] {
                let mut text = Vec::new();
                push_number(&mut text, number);
                prop_assert_eq!(text, number.to_string().into_bytes());
            }
        }
    }
}
