//! The bytes of a reply. What does not change within a stream is rendered once.

use std::ops::Range;

use fizeau_core::Tokens;
use serde_json::{Value, json};

use super::ask::{Ask, Route, StreamUsage, TokenIds};
use crate::job::JobId;
use crate::text;

/// Writes the events of one stream. Writing one a second time gives the same bytes.
pub(super) struct Frames {
    number: JobId,
    route: Route,
    usage: StreamUsage,
    token_ids: TokenIds,
    output_tokens: u64,
    prompt_tokens: u64,
    cached_tokens: Option<u64>,
    /// The prompt's ids as JSON, where the first chunk is to have them.
    prompt_ids: Option<String>,
    /// `data: {"id":...,"model":...,"choices":[`
    head: String,
}

impl Frames {
    /// `created` is in seconds since 1970.
    pub(super) fn new(ask: &mut Ask, number: JobId, created: u64) -> Self {
        let object = match ask.route {
            Route::Chat => "chat.completion.chunk",
            Route::Completions => "text_completion",
        };
        let (id, model) = (reply_id(ask.route, number), Value::from(ask.model.as_str()));
        let prompt_ids = ask.prompt_ids.take();
        let prompt_ids = prompt_ids.filter(|_| ask.token_ids == TokenIds::Present);
        Self {
            number,
            route: ask.route,
            usage: ask.usage,
            token_ids: ask.token_ids,
            output_tokens: ask.max_tokens.get(),
            prompt_tokens: ask.prompt_tokens.get(),
            cached_tokens: None,
            prompt_ids: prompt_ids.map(|ids| Value::from(ids).to_string()),
            head: format!(
                r#"data: {{"id":"{id}","object":"{object}","created":{created},"model":{model},"choices":["#
            ),
        }
    }

    /// How many tokens the stream has.
    pub(super) const fn length(&self) -> u64 {
        self.output_tokens
    }

    /// Notes what a prefix cache held of the prompt, before the first event is written.
    pub(super) const fn cached(&mut self, tokens: Tokens) {
        self.cached_tokens = Some(tokens.get());
    }

    /// Writes the role chunk, which only chat has; whether there is one.
    pub(super) fn role(&self, event: &mut Vec<u8>) -> Option<()> {
        if self.route == Route::Completions {
            return None;
        }
        push(event, &self.head);
        push(
            event,
            r#"{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]"#,
        );
        self.finish_chunk(event, 0);
        Some(())
    }

    /// Writes the chunk with the tokens numbered `range`, at least one.
    pub(super) fn tokens(&self, range: Range<u64>, event: &mut Vec<u8>) {
        push(event, &self.head);
        let (open, close) = match self.route {
            Route::Chat => (r#"{"index":0,"delta":{"content":""#, r#""}"#),
            Route::Completions => (r#"{"index":0,"text":""#, r#"""#),
        };
        push(event, open);
        for index in range.clone() {
            push(event, text::word(self.number, index));
        }
        push(event, close);
        let last = range.end == self.output_tokens;
        let finish = match (self.route, last) {
            (Route::Chat, false) => r#","logprobs":null,"finish_reason":null"#,
            (Route::Completions, false) => {
                r#","logprobs":null,"finish_reason":null,"stop_reason":null"#
            }
            (_, true) => r#","logprobs":null,"finish_reason":"length","stop_reason":null"#,
        };
        push(event, finish);
        if let (0, Some(ids)) = (range.start, &self.prompt_ids) {
            push(event, r#","prompt_token_ids":"#);
            push(event, ids);
        }
        if self.token_ids == TokenIds::Present {
            push(event, r#","token_ids":["#);
            for index in range.clone() {
                push(event, if index == range.start { "" } else { "," });
                push_number(event, text::token_id(self.number, index));
            }
            push(event, "]");
        }
        push(event, "}]");
        self.finish_chunk(event, range.end);
    }

    /// Writes the chunk that carries usage alone; whether one was asked for.
    pub(super) fn usage(&self, event: &mut Vec<u8>) -> Option<()> {
        if self.usage == StreamUsage::Never {
            return None;
        }
        push(event, &self.head);
        push(event, r#"],"usage":"#);
        self.push_usage(event, self.output_tokens);
        if let Some(cached) = self.cached_tokens {
            push(event, r#","prompt_tokens_details":{"cached_tokens":"#);
            push_number(event, cached);
            push(event, "}");
        }
        push(event, "}}\n\n");
        Some(())
    }

    /// Closes a chunk whose choices are written.
    fn finish_chunk(&self, event: &mut Vec<u8>, completion_tokens: u64) {
        match (self.usage, self.route) {
            (StreamUsage::OnEveryChunk, _) => {
                push(event, r#","usage":"#);
                self.push_usage(event, completion_tokens);
                push(event, "}");
            }
            // vLLM writes the unset field on one route and leaves it out on the other.
            (_, Route::Completions) => push(event, r#","usage":null"#),
            (_, Route::Chat) => {}
        }
        push(event, "}\n\n");
    }

    /// Writes usage but for the end of its object.
    fn push_usage(&self, event: &mut Vec<u8>, completion_tokens: u64) {
        push(event, r#"{"prompt_tokens":"#);
        push_number(event, self.prompt_tokens);
        push(event, r#","total_tokens":"#);
        push_number(event, self.prompt_tokens.saturating_add(completion_tokens));
        push(event, r#","completion_tokens":"#);
        push_number(event, completion_tokens);
    }
}

/// The protocol's own end.
pub(super) const DONE: &[u8] = b"data: [DONE]\n\n";

fn push(event: &mut Vec<u8>, text: &str) {
    event.extend_from_slice(text.as_bytes());
}

/// Writes a number in decimal. Formatting through `fmt` costs several times as much, and there are three of these to
/// a token.
fn push_number(event: &mut Vec<u8>, number: u64) {
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

/// A reply in one piece.
pub(super) fn whole(ask: &Ask, number: JobId, created: u64) -> String {
    let tokens = ask.max_tokens.get();
    let text: String = (0..tokens).map(|index| text::word(number, index)).collect();
    let (object, mut choice) = match ask.route {
        Route::Chat => {
            ("chat.completion", json!({"message": {"role": "assistant", "content": text}}))
        }
        Route::Completions => ("text_completion", json!({"text": text})),
    };
    choice["index"] = 0.into();
    choice["logprobs"] = Value::Null;
    choice["finish_reason"] = "length".into();
    choice["stop_reason"] = Value::Null;
    if ask.token_ids == TokenIds::Present {
        let ids = (0..tokens).map(|index| text::token_id(number, index));
        choice["token_ids"] = ids.collect();
        choice["prompt_token_ids"] = ask.prompt_ids.clone().into();
    }
    let prompt = ask.prompt_tokens.get();
    let mut usage = json!({
        "prompt_tokens": prompt,
        "total_tokens": prompt.saturating_add(tokens),
        "completion_tokens": tokens,
    });
    if let Some(cached) = ask.cached_tokens {
        usage["prompt_tokens_details"] = json!({ "cached_tokens": cached });
    }
    json!({
        "id": reply_id(ask.route, number),
        "object": object,
        "created": created,
        "model": ask.model,
        "choices": [choice],
        "usage": usage,
    })
    .to_string()
}

/// The name of a reply on the wire.
pub(super) fn reply_id(route: Route, number: JobId) -> String {
    match route {
        Route::Chat => format!("chatcmpl-{}", number.0),
        Route::Completions => format!("cmpl-{}", number.0),
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
