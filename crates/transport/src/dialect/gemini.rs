//! Google's Gemini: contents in, chunks of candidates out.

use std::borrow::Cow;

use fizeau_core::{Role, Tokens, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

use super::body::{self, ChatMessages, FieldValue, JsonObject, NestedParameters};
use super::fields::{FewItems, TextField};
use super::json::{
    self, WholeCount, append, append_arguments, counted, ended_with, error_words, take_finish,
};
use super::{BodyInput, Builtin, EndRule, RequestError, WireEvent};

/// Gemini's `/v1beta/models/MODEL:streamGenerateContent?alt=sse`.
///
/// Events hold many tokens each; their `usageMetadata` is the count so far, thoughts included. There is no end
/// marker: the body ends after an event with a `finishReason`. Generating past the model's own end cannot be asked
/// for.
pub(super) static GEMINI: Builtin = Builtin {
    end: EndRule::FinishThenBody,
    varying: Some(&["candidatesTokenCount", "totalTokenCount"]),
    reserved: RESERVED,
    ..Builtin::stream(body, |event| json::object(event, classify))
};

const RESERVED: &[&str] =
    &["contents", "generationConfig.candidateCount", "generationConfig.maxOutputTokens"];

const SAMPLING: NestedParameters = NestedParameters {
    field: "generationConfig",
    names: &[
        ("frequency_penalty", "frequencyPenalty"),
        ("presence_penalty", "presencePenalty"),
        ("seed", "seed"),
        ("stop", "stopSequences"),
        ("temperature", "temperature"),
        ("top_k", "topK"),
        ("top_p", "topP"),
    ],
};

fn body(ask: &BodyInput<'_>) -> Result<Vec<u8>, RequestError> {
    let messages = body::messages(ask)?;
    let system =
        messages.system().map(|text| FieldValue::Owned(json!({"parts": [{"text": text}]})));
    let limit = ask.request.max_output_tokens.get();
    let config = JsonObject::default().with("maxOutputTokens", FieldValue::Count(limit));
    JsonObject::default()
        .with("contents", FieldValue::Owned(contents(messages)))
        .maybe("systemInstruction", system)
        .with("generationConfig", FieldValue::Object(config))
        .encode(ask, RESERVED, Some(&SAMPLING))
}

/// The conversation without the system's words, which have a field of their own.
fn contents(messages: ChatMessages<'_>) -> Value {
    let content = |(role, text)| match role {
        Role::System => None,
        Role::Assistant => Some(json!({"role": "model", "parts": [{"text": text}]})),
        _ => Some(json!({"role": "user", "parts": [{"text": text}]})),
    };
    messages.iter().filter_map(content).collect()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GeminiChunk<'a> {
    #[serde(borrow)]
    candidates: FewItems<GeminiCandidate<'a>>,
    prompt_feedback: Option<Feedback<'a>>,
    usage_metadata: Option<GeminiUsage>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GeminiCandidate<'a> {
    #[serde(borrow)]
    content: Option<GeminiContent<'a>>,
    finish_reason: TextField<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GeminiContent<'a> {
    #[serde(borrow)]
    parts: FewItems<ContentPart<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ContentPart<'a> {
    #[serde(borrow)]
    text: TextField<'a>,
    thought: Option<bool>,
    function_call: Option<GeminiFunctionCall<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GeminiFunctionCall<'a> {
    #[serde(borrow)]
    name: TextField<'a>,
    args: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Feedback<'a> {
    #[serde(borrow)]
    block_reason: TextField<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GeminiUsage {
    prompt_token_count: WholeCount,
    candidates_token_count: WholeCount,
    thoughts_token_count: WholeCount,
    cached_content_token_count: WholeCount,
}

fn classify(chunk: GeminiChunk<'_>) -> WireEvent<'_> {
    let blocked = chunk.prompt_feedback.map(|feedback| feedback.block_reason.0);
    let blocked = blocked.filter(|reason| !reason.is_empty());
    let usage = chunk.usage_metadata.map(|usage| usage.to_usage());
    let mut event = WireEvent {
        error: error_words(chunk.error.as_ref())
            .or_else(|| blocked.map(|reason| format!("the prompt was blocked: {reason}"))),
        usage: usage.and_then(counted),
        ..WireEvent::default()
    };
    let mut has_candidate = false;
    for candidate in chunk.candidates {
        has_candidate = true;
        for part in candidate.content.unwrap_or_default().parts {
            take_part(&mut event, part);
        }
        take_reason(&mut event, &candidate.finish_reason.0);
    }
    let count = event.usage.and_then(|usage| usage.completion_tokens);
    event.running = count.map(Tokens::get).filter(|_| has_candidate);
    event
}

fn take_part<'a>(event: &mut WireEvent<'a>, part: ContentPart<'a>) {
    let channel: &mut Cow<'a, str> =
        if part.thought == Some(true) { &mut event.reasoning } else { &mut event.visible };
    append(channel, part.text.0);
    if let Some(call) = part.function_call {
        append(&mut event.tool_call, call.name.0);
        append_arguments(&mut event.tool_call, call.args.as_ref());
    }
}

/// Most reasons other than the two good ones mean that a filter or a fault cut the reply short.
fn take_reason(event: &mut WireEvent<'_>, reason: &str) {
    match reason {
        "FINISH_REASON_UNSPECIFIED" => {}
        "" | "STOP" | "MAX_TOKENS" | "OTHER" => take_finish(event, reason),
        _ => {
            event.error.get_or_insert_with(|| ended_with(reason));
        }
    }
}

impl GeminiUsage {
    /// Thoughts are counted apart from the answer and are output all the same.
    fn to_usage(&self) -> Usage {
        let output = [self.candidates_token_count, self.thoughts_token_count];
        let output = output.into_iter().filter_map(|count| count.0).reduce(u64::saturating_add);
        Usage {
            prompt_tokens: self.prompt_token_count.tokens(),
            completion_tokens: output.map(Tokens::new),
            cached_tokens: self.cached_content_token_count.tokens(),
            reasoning_tokens: self.thoughts_token_count.tokens(),
        }
    }
}
