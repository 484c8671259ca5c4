//! What a client asks for, read from the body of its request.

use fizeau_core::Tokens;
use serde::Deserialize;
use serde_json::Value;

use super::app::App;
use super::prompt::{Prompt, Read};
use super::refusal::{Refusal, Status};

/// Which of the two generation routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    Chat,
    Completions,
}

/// A request that can be answered.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) route: Route,
    pub(super) model: String,
    pub(super) prompt_tokens: Tokens,
    /// The prompt itself, where it came as token ids.
    pub(super) prompt_ids: Option<Vec<u32>>,
    pub(super) max_tokens: Tokens,
    pub(super) delivery: Delivery,
    pub(super) usage: StreamUsage,
    pub(super) token_ids: TokenIds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    Streamed,
    Whole,
}

/// Where a stream carries usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamUsage {
    Never,
    AtTheEnd,
    OnEveryChunk,
}

/// Whether chunks carry token ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenIds {
    Absent,
    Present,
}

/// The body, as far as it matters; all other fields are ignored.
#[derive(Deserialize)]
struct Body {
    model: Option<String>,
    prompt: Option<Prompt>,
    messages: Option<Vec<Message>>,
    max_tokens: Option<u64>,
    max_completion_tokens: Option<u64>,
    n: Option<u64>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    return_token_ids: Option<bool>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<Value>,
}

#[derive(Deserialize, Default, Clone, Copy)]
struct StreamOptions {
    include_usage: Option<bool>,
    continuous_usage_stats: Option<bool>,
}

impl Ask {
    /// Reads a body and holds it against what `app` serves.
    pub(super) fn parse(app: &App, route: Route, body: &[u8]) -> Result<Self, Refusal> {
        let mut body: Body = serde_json::from_slice(body).map_err(|error| {
            Refusal::bad_request(None, format!("the body is not a request: {error}"))
        })?;
        let model = body.model.as_deref().unwrap_or_else(|| app.model());
        if !app.serves(model) {
            return Err(Refusal {
                status: Status::NOT_FOUND,
                kind: "NotFoundError",
                param: Some("model"),
                message: format!("The model `{model}` does not exist."),
            });
        }
        let model = model.to_owned();
        let prompt = body.prompt(route)?;
        let ask = Self {
            route,
            model,
            prompt_tokens: prompt.tokens,
            prompt_ids: prompt.ids,
            max_tokens: body.max_tokens(route)?,
            delivery: match body.stream {
                Some(true) => Delivery::Streamed,
                _ => Delivery::Whole,
            },
            usage: body.usage(),
            token_ids: match body.return_token_ids {
                Some(true) => TokenIds::Present,
                _ => TokenIds::Absent,
            },
        };
        ask.check_length(app.longest_job)?;
        Ok(ask)
    }

    fn check_length(&self, limit: Option<Tokens>) -> Result<(), Refusal> {
        let (prompt, output) = (self.prompt_tokens, self.max_tokens);
        match limit {
            Some(limit) if prompt + output > limit => Err(Refusal::bad_request(
                Some("max_tokens"),
                format!(
                    "This model's maximum context length is {limit} tokens. However, you requested {} tokens \
                     ({prompt} in the prompt, {output} for the output). Reduce either.",
                    prompt + output
                ),
            )),
            _ => Ok(()),
        }
    }
}

impl Body {
    fn prompt(&mut self, route: Route) -> Result<Read, Refusal> {
        match (route, self.prompt.take(), &self.messages) {
            (Route::Completions, Some(prompt), _) => prompt.read(),
            (Route::Completions, None, _) => Err(Refusal::bad_request(
                Some("prompt"),
                "`prompt` is missing: a text or a list of token ids",
            )),
            (Route::Chat, _, Some(messages)) if !messages.is_empty() => Ok(read_messages(messages)),
            (Route::Chat, ..) => Err(Refusal::bad_request(
                Some("messages"),
                "`messages` is missing or empty: a list of objects with `role` and `content`",
            )),
        }
    }

    fn max_tokens(&self, route: Route) -> Result<Tokens, Refusal> {
        if self.n.is_some_and(|n| n != 1) {
            return Err(Refusal::bad_request(
                Some("n"),
                "`n` must be 1: the simulated engine gives one sample a request",
            ));
        }
        let default = match route {
            Route::Chat => 128,
            Route::Completions => 16,
        };
        match self.max_completion_tokens.or(self.max_tokens) {
            Some(0) => {
                Err(Refusal::bad_request(Some("max_tokens"), "`max_tokens` must be at least 1"))
            }
            asked => Ok(Tokens::new(asked.unwrap_or(default))),
        }
    }

    fn usage(&self) -> StreamUsage {
        let options = self.stream_options.unwrap_or_default();
        match (options.include_usage, options.continuous_usage_stats) {
            (Some(true), Some(true)) => StreamUsage::OnEveryChunk,
            (Some(true), _) => StreamUsage::AtTheEnd,
            _ => StreamUsage::Never,
        }
    }
}

/// Counts the words of a conversation; content is a text or a list of parts of which some have a text.
fn read_messages(messages: &[Message]) -> Read {
    let mut words = 0;
    for content in messages.iter().filter_map(|message| message.content.as_ref()) {
        match content {
            Value::String(text) => words += text.split_whitespace().count(),
            Value::Array(parts) => {
                let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
                words += texts.flat_map(str::split_whitespace).count();
            }
            _ => {}
        }
    }
    Read { tokens: Tokens::new((words as u64).max(1)), ids: None }
}
