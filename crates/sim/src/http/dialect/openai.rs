//! OpenAI's completions and chat, with vLLM's extras.

mod chunks;

use serde::Deserialize;
use serde_json::{Value, json};

pub(in super::super) use chunks::OpenAiChunks;

use crate::content::TokenForm;
use crate::http::app::App;
use crate::http::dialect::one_sample;
use crate::http::frames::ReplyContents;
use crate::http::length::{LengthLimits, ReplyEnding};
use crate::http::parsed_request::{
    Delivery, GeneratingRoute, Logprobs, ParsedRequest, PromptSource, StreamUsage, TokenIds,
};
use crate::http::prompt::{self, PromptField, PromptMessage, ServedPrompt};
use crate::http::response::{self, Refusal};
use crate::serve::Priority;

/// The body, as far as it matters; all other fields are ignored.
#[derive(Deserialize)]
struct OpenAiBody {
    model: Option<String>,
    prompt: Option<PromptField>,
    messages: Option<Vec<PromptMessage>>,
    max_tokens: Option<u64>,
    max_completion_tokens: Option<u64>,
    min_tokens: Option<u64>,
    ignore_eos: Option<bool>,
    n: Option<u64>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    return_token_ids: Option<bool>,
    echo: Option<bool>,
    /// A switch on one route and a number on the other.
    logprobs: Option<Value>,
    priority: Option<i64>,
    cache_salt: Option<String>,
    request_id: Option<String>,
}

#[derive(Deserialize, Clone, Copy)]
struct StreamOptions {
    include_usage: Option<bool>,
    continuous_usage_stats: Option<bool>,
}

pub(in super::super) fn parse(
    app: &App,
    route: GeneratingRoute,
    body: &[u8],
) -> Result<ParsedRequest, Refusal> {
    let mut body: OpenAiBody = response::parsed(body)?;
    body.check()?;
    if app.refuses_ids && matches!(body.prompt, Some(PromptField::Ids(_))) {
        let message = "text input must be of type `str`".to_owned();
        return Err(Refusal::not_found(Some("prompt"), message));
    }
    let source = PromptSource::of(app, body.model.take(), body.cache_salt.take())?;
    let prompt = body.read(route, &source)?;
    let limits = LengthLimits {
        field: "max_tokens",
        most: body.max_completion_tokens.or(body.max_tokens),
        least: body.min_tokens,
        // vLLM's default of a completion, and a sentence or two of a chat.
        default: if route == GeneratingRoute::Chat { 128 } else { 16 },
        ignore_eos: body.ignore_eos,
    };
    let token_ids = match body.return_token_ids {
        Some(true) => TokenIds::Present,
        _ => TokenIds::Absent,
    };
    let echoes = route == GeneratingRoute::Completions && body.echo == Some(true);
    Ok(ParsedRequest {
        prompt_ids: (token_ids == TokenIds::Present).then(|| body.prompt_ids(route)),
        echo: body.prompt.as_ref().filter(|_| echoes).map(PromptField::to_text),
        priority: Priority(body.priority.unwrap_or_default()),
        delivery: Delivery::of(body.stream),
        usage: body.usage(),
        token_ids,
        logprobs: body.logprobs(),
        request_id: body.request_id.take(),
        ..ParsedRequest::new(app, route, source, prompt, limits)?
    })
}

impl OpenAiBody {
    fn check(&self) -> Result<(), Refusal> {
        one_sample(self.n)?;
        if self.stream_options.is_some() && self.stream != Some(true) {
            let message = "Stream options can only be defined when `stream=True`.";
            return Err(Refusal::bad_request(Some("stream_options"), message));
        }
        Ok(())
    }

    fn read(&self, route: GeneratingRoute, source: &PromptSource) -> Result<ServedPrompt, Refusal> {
        let missing = |field, message| Err(Refusal::bad_request(Some(field), message));
        match (route, &self.prompt, &self.messages) {
            (GeneratingRoute::Completions, Some(prompt), _) => {
                prompt.read("prompt", |form| source.chain(form))
            }
            (GeneratingRoute::Completions, None, _) => {
                missing("prompt", "`prompt` is missing: a text or a list of token ids")
            }
            (_, _, Some(messages)) if !messages.is_empty() => {
                Ok(prompt::read(messages, source.chain(TokenForm::Chat)))
            }
            _ => missing(
                "messages",
                "`messages` is missing or empty: a list of objects with `role` and `content`",
            ),
        }
    }

    fn prompt_ids(&self, route: GeneratingRoute) -> Vec<u32> {
        match route {
            GeneratingRoute::Chat => {
                prompt::conversation_ids(self.messages.as_deref().unwrap_or_default())
            }
            _ => self.prompt.as_ref().map(PromptField::to_ids).unwrap_or_default(),
        }
    }

    fn usage(&self) -> StreamUsage {
        let options = self.stream_options.map(|of| (of.include_usage, of.continuous_usage_stats));
        match options {
            Some((Some(true), Some(true))) => StreamUsage::OnEveryChunk,
            Some((Some(true), _)) => StreamUsage::AtTheEnd,
            _ => StreamUsage::Never,
        }
    }

    const fn logprobs(&self) -> Logprobs {
        match self.logprobs {
            Some(Value::Bool(true) | Value::Number(_)) => Logprobs::Present,
            _ => Logprobs::Absent,
        }
    }
}

/// The reason of an end.
const fn reason(ending: ReplyEnding) -> &'static str {
    match ending {
        ReplyEnding::Length => "length",
        ReplyEnding::Stop => "stop",
    }
}

/// A reply in one piece.
pub(in super::super) fn whole(
    ask: &ParsedRequest,
    reply: &ReplyContents,
    id: &str,
    created: u64,
) -> Value {
    let text = ask.echo.clone().unwrap_or_default() + &reply.text();
    let (object, mut choice) = match ask.route {
        GeneratingRoute::Chat => {
            ("chat.completion", json!({"message": {"role": "assistant", "content": text}}))
        }
        _ => ("text_completion", json!({"text": text})),
    };
    choice["index"] = 0.into();
    choice["logprobs"] = chunks::logprobs(ask, reply);
    choice["finish_reason"] = reason(reply.ending).into();
    choice["stop_reason"] = Value::Null;
    let mut usage = json!({
        "prompt_tokens": reply.prompt_tokens,
        "total_tokens": reply.prompt_tokens.saturating_add(reply.tokens),
        "completion_tokens": reply.tokens,
    });
    if let Some(cached) = reply.cached_tokens {
        usage["prompt_tokens_details"] = json!({ "cached_tokens": cached });
    }
    let prompt_ids = Value::from(ask.prompt_ids.clone());
    if ask.token_ids == TokenIds::Present {
        choice["token_ids"] = (0..reply.tokens).map(|index| reply.token_id(index)).collect();
        if ask.route == GeneratingRoute::Completions {
            choice["prompt_token_ids"] = prompt_ids.clone();
        }
    }
    let mut whole = json!({
        "id": id,
        "object": object,
        "created": created,
        "model": ask.model,
        "choices": [choice],
        "usage": usage,
    });
    if ask.route == GeneratingRoute::Chat && ask.token_ids == TokenIds::Present {
        whole["prompt_token_ids"] = prompt_ids;
    }
    whole
}
