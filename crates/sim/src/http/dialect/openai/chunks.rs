//! Completions and chat as streams, chunk by chunk as vLLM writes them.

use std::ops::Range;

use serde_json::Value;

use super::super::super::frames::{self, DONE, ReplyContents, StreamWriter, push, push_number};
use super::super::super::parsed_request::{
    GeneratingRoute, Logprobs, ParsedRequest, StreamUsage, TokenIds,
};
use super::reason;
use crate::serve::JobId;

/// How likely each token is said to have been, as a logarithm: some number, since there is no model.
const LOGPROB: &str = "-0.5";

pub(in super::super::super) struct OpenAiChunks {
    route: GeneratingRoute,
    usage: StreamUsage,
    token_ids: TokenIds,
    logprobs: Logprobs,
    /// The prompt's ids as JSON, where the first chunk is to have them.
    prompt_ids: Option<String>,
    /// The prompt's text as JSON has it within quotes, where the first chunk is to have it, and how long it is.
    echo: (String, usize),
    /// `data: {"id":...,"model":...,"choices":[`
    head: String,
}

impl OpenAiChunks {
    /// `created` is in seconds since 1970.
    pub(in super::super::super) fn new(
        ask: &mut ParsedRequest,
        number: JobId,
        created: u64,
    ) -> Self {
        let object = match ask.route {
            GeneratingRoute::Chat => "chat.completion.chunk",
            _ => "text_completion",
        };
        let id = Value::from(frames::reply_id(ask, number));
        let model = Value::from(ask.model.as_str());
        let echo = ask.echo.take().unwrap_or_default();
        Self {
            route: ask.route,
            usage: ask.usage,
            token_ids: ask.token_ids,
            logprobs: ask.logprobs,
            prompt_ids: ask.prompt_ids.take().map(|ids| Value::from(ids).to_string()),
            echo: (inside(&echo), echo.chars().count()),
            head: format!(
                r#"data: {{"id":{id},"object":"{object}","created":{created},"model":{model},"choices":["#
            ),
        }
    }

    /// Closes a chunk whose choices are written.
    fn finish_chunk(&self, reply: &ReplyContents, tokens: u64, to: &mut Vec<u8>) {
        match (self.usage, self.route) {
            (StreamUsage::OnEveryChunk, _) => {
                push(to, r#","usage":"#);
                push_usage(reply, tokens, to);
                push(to, "}");
            }
            // vLLM writes the unset field on one route and leaves it out on the other.
            (_, GeneratingRoute::Completions) => push(to, r#","usage":null"#),
            _ => {}
        }
        push(to, "}\n\n");
    }

    fn push_logprobs(&self, reply: &ReplyContents, range: Range<u64>, to: &mut Vec<u8>) {
        push(to, r#","logprobs":"#);
        match (self.logprobs, self.route) {
            (Logprobs::Absent, _) => push(to, "null"),
            (Logprobs::Present, GeneratingRoute::Chat) => push_chat_logprobs(reply, range, to),
            (Logprobs::Present, _) => push_logprobs(reply, range, self.echo.1, to),
        }
    }
}

impl StreamWriter for OpenAiChunks {
    /// The role chunk, which only chat has.
    fn start(&self, reply: &ReplyContents, to: &mut Vec<u8>) {
        if self.route != GeneratingRoute::Chat {
            return;
        }
        push(to, &self.head);
        push(
            to,
            r#"{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]"#,
        );
        if let Some(ids) = &self.prompt_ids {
            push(to, r#","prompt_token_ids":"#);
            push(to, ids);
        }
        self.finish_chunk(reply, 0, to);
    }

    fn tokens(&self, reply: &ReplyContents, range: Range<u64>, to: &mut Vec<u8>) {
        push(to, &self.head);
        let (open, close) = match self.route {
            GeneratingRoute::Chat => (r#"{"index":0,"delta":{"content":""#, r#""}"#),
            _ => (r#"{"index":0,"text":""#, r#"""#),
        };
        push(to, open);
        if range.start == 0 {
            push(to, &self.echo.0);
        }
        reply.push_words(range.clone(), to);
        push(to, close);
        self.push_logprobs(reply, range.clone(), to);
        if range.end == reply.tokens {
            push(to, r#","finish_reason":""#);
            push(to, reason(reply.ending));
            push(to, r#"","stop_reason":null"#);
        } else if self.route == GeneratingRoute::Chat {
            push(to, r#","finish_reason":null"#);
        } else {
            push(to, r#","finish_reason":null,"stop_reason":null"#);
        }
        if let (0, Some(ids), GeneratingRoute::Completions) =
            (range.start, &self.prompt_ids, self.route)
        {
            push(to, r#","prompt_token_ids":"#);
            push(to, ids);
        }
        let end = range.end;
        if self.token_ids == TokenIds::Present {
            push(to, r#","token_ids":["#);
            reply.push_ids(range, to);
            push(to, "]");
        }
        push(to, "}]");
        self.finish_chunk(reply, end, to);
    }

    /// The chunk that carries usage alone, if it was asked for, and the end.
    fn end(&self, reply: &ReplyContents, to: &mut Vec<u8>) {
        if self.usage != StreamUsage::Never {
            push(to, &self.head);
            push(to, r#"],"usage":"#);
            push_usage(reply, reply.tokens, to);
            if let Some(cached) = reply.cached_tokens {
                push(to, r#","prompt_tokens_details":{"cached_tokens":"#);
                push_number(to, cached);
                push(to, "}");
            }
            push(to, "}}\n\n");
        }
        push(to, DONE);
    }
}

/// Writes usage but for the end of its object.
fn push_usage(reply: &ReplyContents, tokens: u64, to: &mut Vec<u8>) {
    push(to, r#"{"prompt_tokens":"#);
    push_number(to, reply.prompt_tokens);
    push(to, r#","total_tokens":"#);
    push_number(to, reply.prompt_tokens.saturating_add(tokens));
    push(to, r#","completion_tokens":"#);
    push_number(to, tokens);
}

/// A text as JSON has it within quotes.
fn inside(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    let inside = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inside.unwrap_or_default().to_owned()
}

/// The form of chat: an entry a token.
fn push_chat_logprobs(reply: &ReplyContents, range: Range<u64>, to: &mut Vec<u8>) {
    push(to, r#"{"content":["#);
    for index in range.clone() {
        let word = reply.word(index);
        let bytes: Vec<_> = word.bytes().map(|byte| byte.to_string()).collect();
        let comma = if index > range.start { "," } else { "" };
        push(to, &format!(r#"{comma}{{"token":"{word}","logprob":{LOGPROB},"bytes":["#));
        push(to, &bytes.join(","));
        push(to, r#"],"top_logprobs":[]}"#);
    }
    push(to, "]}");
}

/// The form of completions: a list a property. `before` is how many characters stand before the reply.
fn push_logprobs(reply: &ReplyContents, range: Range<u64>, before: usize, to: &mut Vec<u8>) {
    let list = |entry: &mut dyn FnMut(u64) -> String| {
        range.clone().map(entry).collect::<Vec<_>>().join(",")
    };
    let said: usize = (0..range.start).map(|index| reply.word(index).len()).sum();
    let mut offset = before + said;
    let offsets = list(&mut |index| {
        let at = offset;
        offset += reply.word(index).len();
        at.to_string()
    });
    let logprobs = list(&mut |_| LOGPROB.to_owned());
    let tokens = list(&mut |index| format!(r#""{}""#, reply.word(index)));
    let top = list(&mut |index| format!(r#"{{"{}":{LOGPROB}}}"#, reply.word(index)));
    let text = format!(
        r#"{{"text_offset":[{offsets}],"token_logprobs":[{logprobs}],"tokens":[{tokens}],"top_logprobs":[{top}]}}"#
    );
    push(to, &text);
}

/// Those of a reply in one piece.
pub(super) fn logprobs(ask: &ParsedRequest, reply: &ReplyContents) -> Value {
    let mut json = Vec::new();
    match (ask.logprobs, ask.route) {
        (Logprobs::Absent, _) => return Value::Null,
        (Logprobs::Present, GeneratingRoute::Chat) => {
            push_chat_logprobs(reply, 0..reply.tokens, &mut json)
        }
        (Logprobs::Present, _) => {
            let before = ask.echo.as_ref().map_or(0, |echo| echo.chars().count());
            push_logprobs(reply, 0..reply.tokens, before, &mut json);
        }
    }
    // What was written just now is JSON.
    serde_json::from_slice(&json).unwrap_or_default()
}
