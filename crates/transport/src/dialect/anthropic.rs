//! Anthropic's Messages: messages in, typed events out.

use fizeau_core::{Role, Tokens, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

use super::body::{self, ChatMessages, FieldValue, JsonObject};
use super::fields::TextField;
use super::json::{self, WholeCount, error_words, take_finish};
use super::{BodyInput, Builtin, RequestError, WireEvent};

/// `/v1/messages` as Anthropic, vLLM, llama.cpp's server and Ollama speak it.
///
/// The output count of `message_start` is a stand-in and is ignored; those of `message_delta` are cumulative.
/// Signatures of thoughts are no tokens, but tell of thoughts that are not displayed. Generating past the model's own end cannot be asked for.
pub(super) static MESSAGES: Builtin = Builtin {
    varying: Some(&["output_tokens"]),
    ..Builtin::stream(body, |event| json::object(event, classify))
};

fn body(ask: &BodyInput<'_>) -> Result<Vec<u8>, RequestError> {
    let messages = body::messages(ask)?;
    let system = messages.system();
    JsonObject::default()
        .with("model", FieldValue::Text(ask.model))
        .with("max_tokens", FieldValue::Count(ask.request.max_output_tokens.get()))
        .maybe("system", system.map(|text| FieldValue::Owned(text.into())))
        .with("messages", FieldValue::Owned(without_system(messages)))
        .with("stream", FieldValue::Yes(body::True))
        .encode(ask, &[], None)
}

/// The system's words have a field of their own.
fn without_system(messages: ChatMessages<'_>) -> Value {
    let rest = messages.iter().filter(|(role, _)| *role != Role::System);
    rest.map(|(role, content)| json!({"role": role.as_str(), "content": content})).collect()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AnthropicEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextField<'a>,
    /// Of `message_start`.
    message: Option<AnthropicMessage>,
    content_block: Option<Block<'a>>,
    delta: Option<Block<'a>>,
    usage: Option<AnthropicUsage>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AnthropicMessage {
    usage: Option<AnthropicUsage>,
}

/// A content block as it starts, or what is added to it, or to the message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: TextField<'a>,
    text: TextField<'a>,
    thinking: TextField<'a>,
    partial_json: TextField<'a>,
    /// Of a tool.
    name: TextField<'a>,
    stop_reason: TextField<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AnthropicUsage {
    input_tokens: WholeCount,
    cache_creation_input_tokens: WholeCount,
    cache_read_input_tokens: WholeCount,
    output_tokens: WholeCount,
    output_tokens_details: Option<AnthropicTokenDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AnthropicTokenDetails {
    /// Those of `output_tokens` that were thoughts (since version 0.105.0 of Anthropic's SDK).
    thinking_tokens: WholeCount,
}

fn classify(said: AnthropicEvent<'_>) -> WireEvent<'_> {
    let mut event = WireEvent { error: error_words(said.error.as_ref()), ..WireEvent::default() };
    match &*said.kind.0 {
        "message_start" => {
            let usage = said.message.and_then(|message| message.usage);
            event.usage = usage.and_then(|usage| usage.of_input());
        }
        "content_block_start" => take_block(&mut event, said.content_block.unwrap_or_default()),
        "content_block_delta" => {
            take_block(&mut event, said.delta.unwrap_or_default());
            // Some front ends stamp the count so far on each of them.
            event.running = said.usage.and_then(|usage| usage.output_tokens.0);
        }
        "message_delta" => {
            event.usage = said.usage.and_then(|usage| usage.of_all());
            take_finish(&mut event, &said.delta.unwrap_or_default().stop_reason.0);
        }
        "message_stop" => event.done = true,
        "error" => {
            let unnamed = || "an error without words".to_owned();
            event.error.get_or_insert_with(unnamed);
        }
        // Pings, the ends of blocks, and whatever else there may be one day.
        _ => {}
    }
    event
}

fn take_block<'a>(event: &mut WireEvent<'a>, block: Block<'a>) {
    // Where thoughts are not displayed there is the block, and a signature, without any text of it.
    let is_thought = matches!(&*block.kind.0, "thinking" | "redacted_thinking" | "signature_delta");
    event.has_thought = is_thought;
    event.visible = block.text.0;
    event.reasoning = block.thinking.0;
    event.tool_call = block.name.0;
    json::append(&mut event.tool_call, block.partial_json.0);
}

impl AnthropicUsage {
    /// The count of input, which three fields share.
    fn of_input(&self) -> Option<Usage> {
        let parts =
            [self.input_tokens, self.cache_creation_input_tokens, self.cache_read_input_tokens];
        let sum: Tokens = parts.into_iter().filter_map(WholeCount::tokens).sum();
        (sum > Tokens::ZERO).then(|| Usage {
            prompt_tokens: Some(sum),
            cached_tokens: self.cache_read_input_tokens.tokens(),
            ..Usage::default()
        })
    }

    fn of_all(&self) -> Option<Usage> {
        let details = self.output_tokens_details.as_ref();
        json::counted(Usage {
            completion_tokens: self.output_tokens.tokens(),
            reasoning_tokens: details.and_then(|details| details.thinking_tokens.tokens()),
            ..self.of_input().unwrap_or_default()
        })
    }
}
