//! The bytes of a reply. What does not change within a stream is rendered once.

use std::fmt::Write as _;

use bytes::Bytes;
use serde_json::{Value, json};

use super::ask::{Ask, Route, StreamUsage, TokenIds};
use crate::job::{Emission, JobId, SubmitError};
use crate::text;

/// Writes the events of one stream.
pub(super) struct Frames {
    job: JobId,
    route: Route,
    usage: StreamUsage,
    token_ids: TokenIds,
    prompt_tokens: u64,
    /// The prompt's ids as JSON, until the first chunk has taken them.
    prompt_ids: Option<String>,
    /// `data: {"id":...,"model":...,"choices":[`
    head: String,
}

impl Frames {
    /// `created` is in seconds since 1970.
    pub(super) fn new(ask: &mut Ask, job: JobId, created: u64) -> Self {
        let object = match ask.route {
            Route::Chat => "chat.completion.chunk",
            Route::Completions => "text_completion",
        };
        let (id, model) = (reply_id(ask.route, job), Value::from(ask.model.as_str()));
        let prompt_ids = ask.prompt_ids.take();
        let prompt_ids = prompt_ids.filter(|_| ask.token_ids == TokenIds::Present);
        Self {
            job,
            route: ask.route,
            usage: ask.usage,
            token_ids: ask.token_ids,
            prompt_tokens: ask.prompt_tokens.get(),
            prompt_ids: prompt_ids.map(|ids| Value::from(ids).to_string()),
            head: format!(
                r#"data: {{"id":"{id}","object":"{object}","created":{created},"model":{model},"choices":["#
            ),
        }
    }

    /// The role chunk, which only chat has.
    pub(super) fn role(&self) -> Option<Bytes> {
        if self.route == Route::Completions {
            return None;
        }
        let mut event = self.head.clone();
        event.push_str(
            r#"{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]"#,
        );
        Some(self.finish_chunk(event, 0))
    }

    /// The chunk with one token.
    pub(super) fn token(&mut self, emission: &Emission) -> Bytes {
        let mut event = String::with_capacity(self.head.len() + 256);
        event.push_str(&self.head);
        let (open, close) = match self.route {
            Route::Chat => (r#"{"index":0,"delta":{"content":""#, r#""}"#),
            Route::Completions => (r#"{"index":0,"text":""#, r#"""#),
        };
        event.push_str(open);
        event.push_str(text::word(self.job, emission.index));
        event.push_str(close);
        event.push_str(match (self.route, emission.last) {
            (Route::Chat, false) => r#","logprobs":null,"finish_reason":null"#,
            (Route::Completions, false) => {
                r#","logprobs":null,"finish_reason":null,"stop_reason":null"#
            }
            (_, true) => r#","logprobs":null,"finish_reason":"length","stop_reason":null"#,
        });
        if let Some(ids) = self.prompt_ids.take() {
            event.push_str(r#","prompt_token_ids":"#);
            event.push_str(&ids);
        }
        if self.token_ids == TokenIds::Present {
            let id = text::token_id(self.job, emission.index);
            // Writing to a string cannot fail.
            write!(event, r#","token_ids":[{id}]"#).ok();
        }
        event.push_str("}]");
        self.finish_chunk(event, emission.index + 1)
    }

    /// The chunk that carries usage alone, where it was asked for.
    pub(super) fn usage(&self, completion_tokens: u64) -> Option<Bytes> {
        if self.usage == StreamUsage::Never {
            return None;
        }
        let mut event = self.head.clone();
        event.push_str(r#"],"usage":"#);
        self.push_usage(&mut event, completion_tokens);
        event.push_str("}\n\n");
        Some(event.into())
    }

    /// Closes a chunk whose choices are written.
    fn finish_chunk(&self, mut event: String, completion_tokens: u64) -> Bytes {
        match (self.usage, self.route) {
            (StreamUsage::OnEveryChunk, _) => {
                event.push_str(r#","usage":"#);
                self.push_usage(&mut event, completion_tokens);
            }
            // vLLM writes the unset field on one route and leaves it out on the other.
            (_, Route::Completions) => event.push_str(r#","usage":null"#),
            (_, Route::Chat) => {}
        }
        event.push_str("}\n\n");
        event.into()
    }

    fn push_usage(&self, event: &mut String, completion_tokens: u64) {
        let prompt = self.prompt_tokens;
        let total = prompt.saturating_add(completion_tokens);
        // Writing to a string cannot fail.
        write!(
            event,
            r#"{{"prompt_tokens":{prompt},"total_tokens":{total},"completion_tokens":{completion_tokens}}}"#
        )
        .ok();
    }
}

/// The protocol's own end.
pub(super) const fn done() -> Bytes {
    Bytes::from_static(b"data: [DONE]\n\n")
}

/// An error in the middle of a stream.
pub(super) fn error(error: &SubmitError) -> Bytes {
    let object = json!({"error": {
        "message": error.to_string(),
        "type": "BadRequestError",
        "param": null,
        "code": 400,
    }});
    format!("data: {object}\n\n").into()
}

/// A reply in one piece.
pub(super) fn whole(ask: &Ask, job: JobId, created: u64, tokens: u64) -> String {
    let text: String = (0..tokens).map(|index| text::word(job, index)).collect();
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
        let ids = (0..tokens).map(|index| text::token_id(job, index));
        choice["token_ids"] = ids.collect();
        choice["prompt_token_ids"] = ask.prompt_ids.clone().into();
    }
    let prompt = ask.prompt_tokens.get();
    json!({
        "id": reply_id(ask.route, job),
        "object": object,
        "created": created,
        "model": ask.model,
        "choices": [choice],
        "usage": {
            "prompt_tokens": prompt,
            "total_tokens": prompt.saturating_add(tokens),
            "completion_tokens": tokens,
        },
    })
    .to_string()
}

/// The name of a reply on the wire.
pub(super) fn reply_id(route: Route, job: JobId) -> String {
    match route {
        Route::Chat => format!("chatcmpl-{}", job.0),
        Route::Completions => format!("cmpl-{}", job.0),
    }
}
