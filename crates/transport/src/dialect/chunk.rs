//! The chunks of both OpenAI routes, read by their values and never by the presence of a key: servers send
//! every key with null, several things in one chunk, and the same thing in several places.

use fizeau_core::{ServerTiming, Tokens, Usage};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess};
use serde_json::Value;

pub(crate) use super::json::{PlainBody, message};

use super::fields::{
    CallArguments, DeltaContent, FewItems, ItemCount, Lenient, Loose, TextField, lenient,
};
use super::json::{
    Timings, WholeCount, append, counted, object_or_done, plain_fault, seconds, take_finish, words,
};
use super::{EventError, WireEvent};
use crate::event::RawEvent;

/// What differs from chunk to chunk. `created` is the time of the chunk on some servers; `obfuscation` is OpenAI's
/// padding.
pub(super) const VARYING: &[&str] = &[
    "avg_decoded_tokens_per_iter",
    "completion_tokens",
    "created",
    "obfuscation",
    "output_ids",
    "token_ids",
    "total_tokens",
];

/// What `event` says, on either route.
pub(super) fn read<'a>(event: &RawEvent<'a>) -> Result<WireEvent<'a>, EventError> {
    let mut wire = object_or_done(event, classify)?;
    // The few events that hold nothing are looked at once more: servers put errors into many shapes.
    if wire.has_nothing() {
        wire.error = plain_fault(event.data);
    }
    Ok(wire)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OpenAiChunk<'a> {
    #[serde(borrow)]
    choices: FewItems<Choice<'a>>,
    usage: Option<OpenAiUsage>,
    error: Option<Value>,
    object: Loose<'a>,
    /// Only looked at beside `"object": "error"`.
    message: Option<Value>,
    /// llama.cpp's server.
    timings: Option<Timings>,
    /// Groq.
    x_groq: Option<Groq>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice<'a> {
    #[serde(borrow)]
    text: TextField<'a>,
    delta: Option<Delta<'a>>,
    finish_reason: TextField<'a>,
    /// vLLM.
    token_ids: ItemCount,
    /// LMDeploy.
    output_ids: ItemCount,
    logprobs: Logprobs,
    /// OpenRouter's, beside `"finish_reason": "error"` or what came before it.
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta<'a> {
    #[serde(borrow)]
    content: DeltaContent<'a>,
    reasoning: Loose<'a>,
    reasoning_content: Loose<'a>,
    reasoning_details: FewItems<OpenAiReasoningDetail<'a>>,
    refusal: Loose<'a>,
    tool_calls: FewItems<OpenAiToolCall<'a>>,
    function_call: Option<OpenAiFunction<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OpenAiReasoningDetail<'a> {
    #[serde(borrow)]
    text: Loose<'a>,
    summary: Loose<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OpenAiToolCall<'a> {
    #[serde(borrow)]
    function: Option<OpenAiFunction<'a>>,
    custom: Option<OpenAiCustomTool<'a>>,
}

/// A tool whose input is free text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OpenAiCustomTool<'a> {
    #[serde(borrow)]
    name: TextField<'a>,
    input: TextField<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OpenAiFunction<'a> {
    #[serde(borrow)]
    name: TextField<'a>,
    arguments: CallArguments<'a>,
}

/// `content` on the chat route, `tokens` on the completions route.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OpenAiLogprobs {
    content: ItemCount,
    tokens: ItemCount,
}

/// What is there of them; a number in their place (Together) says nothing.
#[derive(Debug, Default)]
struct Logprobs(OpenAiLogprobs);

impl<'a> Lenient<'a> for Logprobs {
    fn of_map<A: MapAccess<'a>>(map: A) -> Result<Self, A::Error> {
        OpenAiLogprobs::deserialize(MapAccessDeserializer::new(map)).map(Self)
    }
}

impl<'de> Deserialize<'de> for Logprobs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        lenient(from)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OpenAiUsage {
    prompt_tokens: WholeCount,
    completion_tokens: WholeCount,
    total_tokens: WholeCount,
    prompt_tokens_details: Option<OpenAiTokenDetails>,
    completion_tokens_details: Option<OpenAiTokenDetails>,
    /// SGLang has it at the top.
    reasoning_tokens: WholeCount,
    /// DeepSeek, in place of the details.
    prompt_cache_hit_tokens: WholeCount,
    /// Of gateways before Anthropic and Bedrock: what of the prompt was written to a cache.
    cache_creation_input_tokens: WholeCount,
    cache_write_tokens: WholeCount,
    /// Groq, in seconds, with the two below.
    queue_time: Option<f64>,
    prompt_time: Option<f64>,
    completion_time: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OpenAiTokenDetails {
    cached_tokens: WholeCount,
    reasoning_tokens: WholeCount,
    cache_creation_tokens: WholeCount,
    cache_creation_input_tokens: WholeCount,
    cache_write_tokens: WholeCount,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Groq {
    error: Option<Value>,
    usage: Option<OpenAiUsage>,
}

fn classify(chunk: OpenAiChunk<'_>) -> WireEvent<'_> {
    let mut event = WireEvent {
        error: chunk.error_words(),
        timing: chunk.timing(),
        usage: chunk.usage(),
        ..WireEvent::default()
    };
    let untold = chunk.usage.as_ref().and_then(OpenAiUsage::untold);
    let mut has_choice = false;
    for choice in chunk.choices {
        has_choice = true;
        take_choice(&mut event, choice);
    }
    let running = event.usage.and_then(|usage| usage.completion_tokens);
    event.running = running.map(Tokens::get).filter(|_| has_choice);
    // A count under way is of what came so far, and its total no more than a sum; the last one is of all.
    if let (Some(untold), Some(usage)) = (untold, &mut event.usage)
        && (!has_choice || event.finish.is_some())
    {
        usage.reasoning_tokens = Some(untold);
        usage.completion_tokens = usage.completion_tokens.map(|count| count + untold);
    }
    event
}

fn take_choice<'a>(event: &mut WireEvent<'a>, choice: Choice<'a>) {
    // Together sends the same text in both places, on either route.
    let is_twice = choice.delta.as_ref().is_some_and(|of| of.content.text == choice.text.0);
    if !is_twice {
        append(&mut event.visible, choice.text.0);
    }
    if let Some(delta) = choice.delta {
        take_delta(event, delta);
    }
    event.token_ids += choice.token_ids.0.max(choice.output_ids.0);
    let Logprobs(logprobs) = choice.logprobs;
    event.logprobs += logprobs.content.0.max(logprobs.tokens.0);
    if let Some(said) = choice.error.as_ref().and_then(words) {
        event.error.get_or_insert(said);
    }
    take_finish(event, &choice.finish_reason.0);
}

fn take_delta<'a>(event: &mut WireEvent<'a>, delta: Delta<'a>) {
    append(&mut event.visible, delta.content.text);
    append(&mut event.refusal, delta.refusal.0);
    let mut has_function = false;
    for OpenAiToolCall { function, custom } in delta.tool_calls {
        if let Some(custom) = custom {
            append(&mut event.tool_call, custom.name.0);
            append(&mut event.tool_call, custom.input.0);
        }
        has_function |= function.is_some();
        function.into_iter().for_each(|function| take_function(event, function));
    }
    // One call under the old and the new name is still one.
    let old = delta.function_call.filter(|_| !has_function);
    old.into_iter().for_each(|function| take_function(event, function));
    // One thought under several names is still one: servers in transition send the old and the new key.
    let mut reasoning = delta.reasoning.0;
    if reasoning.is_empty() {
        reasoning = delta.reasoning_content.0;
    }
    if reasoning.is_empty() {
        for detail in delta.reasoning_details {
            append(&mut reasoning, detail.text.0);
            append(&mut reasoning, detail.summary.0);
        }
    }
    append(&mut event.reasoning, delta.content.thinking);
    append(&mut event.reasoning, reasoning);
}

fn take_function<'a>(event: &mut WireEvent<'a>, function: OpenAiFunction<'a>) {
    append(&mut event.tool_call, function.name.0);
    append(&mut event.tool_call, function.arguments.0);
}

impl OpenAiChunk<'_> {
    fn error_words(&self) -> Option<String> {
        let groq = self.x_groq.as_ref().and_then(|groq| groq.error.as_ref());
        let plain = self.message.as_ref().filter(|_| self.object.0 == "error");
        let mut errors = [self.error.as_ref(), groq, plain].into_iter().flatten();
        errors.find_map(words)
    }

    /// The usage, if it is anything but zeros: some servers put an empty one on every chunk.
    fn usage(&self) -> Option<Usage> {
        let groq = || self.x_groq.as_ref().and_then(|groq| groq.usage.as_ref());
        let field = self.usage.as_ref().or_else(groq).map(OpenAiUsage::to_usage);
        let usage = field.and_then(counted);
        usage.or_else(|| self.timings.as_ref().and_then(Timings::to_usage))
    }

    fn timing(&self) -> Option<ServerTiming> {
        let groq = self.x_groq.as_ref().and_then(|groq| groq.usage.as_ref());
        let own = self.timings.as_ref().map(Timings::to_timing);
        let usages = [self.usage.as_ref(), groq].into_iter().flatten();
        let of_usage = usages.map(|usage| ServerTiming {
            queue: usage.queue_time.and_then(seconds),
            prefill: usage.prompt_time.and_then(seconds),
            decode: usage.completion_time.and_then(seconds),
        });
        let mut timings = own.into_iter().chain(of_usage);
        timings.find(|timing| *timing != ServerTiming::default())
    }
}

impl OpenAiUsage {
    fn to_usage(&self) -> Usage {
        let prompt = self.prompt_tokens_details.as_ref();
        let completion = self.completion_tokens_details.as_ref();
        let cached = prompt.and_then(|details| details.cached_tokens.0);
        let reasoning = completion.and_then(|details| details.reasoning_tokens.0);
        let reasoning = reasoning.or(self.reasoning_tokens.0);
        let cached = cached.or(self.prompt_cache_hit_tokens.0);
        Usage {
            prompt_tokens: self.prompt_tokens.tokens(),
            completion_tokens: self.generated(reasoning).map(Tokens::new),
            cached_tokens: cached.map(Tokens::new),
            reasoning_tokens: reasoning.map(Tokens::new),
        }
    }

    /// All generated tokens. Thoughts are among the completion's, but for servers that count them beside it: these tell by their total.
    fn generated(&self, reasoning: Option<u64>) -> Option<u64> {
        let completion = self.completion_tokens.0?;
        let is_beside = reasoning.is_some() && self.beyond() == reasoning;
        Some(completion.saturating_add(reasoning.filter(|_| is_beside).unwrap_or_default()))
    }

    /// What the total has beyond prompt and completion.
    fn beyond(&self) -> Option<u64> {
        let known = self.prompt_tokens.0?.checked_add(self.completion_tokens.0?)?;
        self.total_tokens.0?.checked_sub(known)
    }

    /// Thoughts that only the total tells of, as of gateways before Gemini; of a total with something else in it, such as the cached part of
    /// the prompt once more, or what was written to a cache, none.
    fn untold(&self) -> Option<Tokens> {
        let Usage { cached_tokens, reasoning_tokens, prompt_tokens, .. } = self.to_usage();
        let beyond = self.beyond().map(Tokens::new).filter(|beyond| *beyond > Tokens::ZERO)?;
        let is_counted = prompt_tokens > Some(Tokens::ZERO) && reasoning_tokens.is_none();
        let is_of_prompt = cached_tokens == Some(beyond) || self.writes_cache();
        (is_counted && !is_of_prompt).then_some(beyond)
    }

    /// Whether a part of the prompt was written to a cache. Whether it counts in the prompt, in the total or in neither is each
    /// gateway's own.
    fn writes_cache(&self) -> bool {
        let in_details = self.prompt_tokens_details.as_ref().map(|details| {
            [
                details.cache_creation_tokens,
                details.cache_creation_input_tokens,
                details.cache_write_tokens,
            ]
        });
        let own = [self.cache_creation_input_tokens, self.cache_write_tokens];
        let written = in_details.into_iter().flatten().chain(own);
        written.into_iter().any(|count| count.0 > Some(0))
    }
}
