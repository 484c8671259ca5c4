//! SGLang's own route, `/generate`.

use fizeau_core::{Choice, NamedChoice};
use std::ops::Range;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::app::App;
use crate::http::dialect::one_sample;
use crate::http::frames::{
    self, DONE, ReplyContents, ReplyFailure, ReplyFailureKind, StreamWriter, push, push_number,
};
use crate::http::length::{LengthLimits, ReplyEnding};
use crate::http::parsed_request::{Delivery, GeneratingRoute, ParsedRequest, PromptSource};
use crate::http::prompt::{self, PromptField};
use crate::http::response::{self, Refusal};
use crate::serve::{JobId, Priority};

/// What each event of SGLang's `/generate` has of the text and the token ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SglangText {
    /// All so far: SGLang's default, whose bytes grow with the square of the reply's length.
    #[default]
    Cumulative,
    /// What is new, as with its flag `--incremental-streaming-output`.
    Incremental,
}

impl Choice for SglangText {
    const CHOICES: &'static [NamedChoice<Self>] = &[
        NamedChoice::new(
            "cumulative",
            Self::Cumulative,
            "All the text so far, as SGLang does by default",
        ),
        NamedChoice::new(
            "incremental",
            Self::Incremental,
            "Only what is new, as SGLang does with --incremental-streaming-output",
        ),
    ];
}

/// The body, as far as it matters; all other fields are ignored.
#[derive(Deserialize)]
struct SglangBody {
    text: Option<PromptField>,
    input_ids: Option<PromptField>,
    sampling_params: Option<SglangSampling>,
    stream: Option<bool>,
    rid: Option<String>,
    priority: Option<i64>,
    /// What keeps its prefix apart from others'.
    extra_key: Option<String>,
}

#[derive(Deserialize, Default)]
struct SglangSampling {
    max_new_tokens: Option<u64>,
    min_new_tokens: Option<u64>,
    ignore_eos: Option<bool>,
    n: Option<u64>,
}

pub(in super::super) fn parse(app: &App, body: &[u8]) -> Result<ParsedRequest, Refusal> {
    let body: SglangBody = response::parsed(body)?;
    let (field, prompt) = match (body.text, body.input_ids) {
        (Some(text), None) => ("text", text),
        (None, Some(ids)) => ("input_ids", ids),
        _ => {
            let message = "Either text or input_ids should be provided, and not both.";
            return Err(Refusal::bad_request(Some("text"), message));
        }
    };
    let sampling = body.sampling_params.unwrap_or_default();
    one_sample(sampling.n)?;
    let source = PromptSource::of(app, None, body.extra_key)?;
    let prompt = prompt.read(field, |form| source.chain(form))?;
    let limits = LengthLimits {
        field: "max_new_tokens",
        most: sampling.max_new_tokens,
        least: sampling.min_new_tokens,
        // SGLang's own.
        default: 128,
        ignore_eos: sampling.ignore_eos,
    };
    Ok(ParsedRequest {
        delivery: Delivery::of(body.stream),
        priority: Priority(body.priority.unwrap_or_default()),
        request_id: body.rid,
        sglang: app.sglang.unwrap_or_default(),
        ..ParsedRequest::new(app, GeneratingRoute::Generate, source, prompt, limits)?
    })
}

pub(in super::super) struct SglangEvents {
    text: SglangText,
    /// `"meta_info":{"id":...,"finish_reason":`
    meta: String,
}

impl SglangEvents {
    pub(in super::super) fn new(ask: &ParsedRequest, number: JobId) -> Self {
        let id = Value::from(frames::reply_id(ask, number));
        Self { text: ask.sglang, meta: format!(r#"],"meta_info":{{"id":{id},"finish_reason":"#) }
    }
}

impl SglangEvents {
    /// What ends with token `end` is shown as `shown`; the reply ends with it for `reason`, unless that is null.
    fn event(
        &self,
        reply: &ReplyContents,
        shown: Range<u64>,
        end: u64,
        reason: &Value,
        to: &mut Vec<u8>,
    ) {
        push(to, r#"data: {"text":""#);
        reply.push_words(shown.clone(), to);
        push(to, r#"","output_ids":["#);
        reply.push_ids(shown, to);
        push(to, &self.meta);
        match reason {
            Value::Null => push(to, "null"),
            reason => push(to, &reason.to_string()),
        }
        push(to, r#","prompt_tokens":"#);
        push_number(to, reply.prompt_tokens);
        push(to, r#","completion_tokens":"#);
        push_number(to, end);
        push(to, r#","cached_tokens":"#);
        push_number(to, reply.cached_tokens.unwrap_or_default());
        push(to, "}}\n\n");
    }
}

impl StreamWriter for SglangEvents {
    fn tokens(&self, reply: &ReplyContents, range: Range<u64>, to: &mut Vec<u8>) {
        let end = range.end;
        let shown = match self.text {
            SglangText::Cumulative => 0..end,
            SglangText::Incremental => range,
        };
        let reason = if end == reply.tokens { finish_reason(reply) } else { Value::Null };
        self.event(reply, shown, end, &reason, to);
    }

    fn end(&self, _: &ReplyContents, to: &mut Vec<u8>) {
        push(to, DONE);
    }

    /// An abort is a reason to finish, with an event of its own; what else fails is an error, as SGLang has it in a stream.
    fn fail(&self, reply: &ReplyContents, made: u64, failure: ReplyFailure, to: &mut Vec<u8>) {
        if failure.kind == ReplyFailureKind::Abort {
            let shown = match self.text {
                SglangText::Cumulative => 0..made,
                SglangText::Incremental => made..made,
            };
            let reason = json!({"type": "abort", "message": failure.words, "status_code": 500,
                "err_type": "InternalServerError"});
            self.event(reply, shown, made, &reason, to);
        } else {
            let error = json!({"error": {"message": failure.words}});
            push(to, &format!("data: {error}\n\n"));
        }
        push(to, DONE);
    }
}

/// A reply in one piece.
pub(in super::super) fn whole(reply: &ReplyContents, id: &str) -> Value {
    let ids: Value = (0..reply.tokens).map(|index| reply.token_id(index)).collect();
    json!({
        "text": reply.text(),
        "output_ids": ids,
        "meta_info": {
            "id": id,
            "finish_reason": finish_reason(reply),
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.tokens,
            "cached_tokens": reply.cached_tokens.unwrap_or_default(),
        },
    })
}

fn finish_reason(reply: &ReplyContents) -> Value {
    match reply.ending {
        ReplyEnding::Length => json!({"type": "length", "length": reply.tokens}),
        ReplyEnding::Stop => json!({"type": "stop", "matched": prompt::END}),
    }
}

/// The answer to `/get_model_info`.
pub(in super::super) fn model_info(app: &App) -> Value {
    json!({
        "model_path": app.model(),
        "tokenizer_path": app.model(),
        "is_generation": true,
        "preferred_sampling_params": null,
    })
}
