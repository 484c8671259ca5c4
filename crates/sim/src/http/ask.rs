//! What a client asks for, read from the body of its request.

use fizeau_core::Tokens;
use serde::Deserialize;
use serde_json::Value;

use super::app::App;
use super::prompt::{Prompt, Read};
use super::refusal::{Refusal, Status};
use crate::content::{Chain, Form};

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
    /// What a prefix cache wants to know of the prompt, where there is one.
    pub(super) chain: Option<Chain>,
    /// How many tokens of the prompt such a cache held, once the engine has said so.
    pub(super) cached_tokens: Option<Tokens>,
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
    /// Requests with different ones share no prefix.
    cache_salt: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    role: Option<Value>,
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
        let salt = body.cache_salt.take();
        let chain = |form| {
            let mut chain = app.chain(&model, form)?;
            salt.iter().for_each(|salt| chain.salt(salt));
            Some(chain)
        };
        let prompt = body.prompt(route, chain)?;
        let max_tokens = body.max_tokens(prompt.tokens, app.longest_job)?;
        Ok(Self {
            route,
            model,
            prompt_tokens: prompt.tokens,
            prompt_ids: prompt.ids,
            chain: prompt.chain,
            cached_tokens: None,
            max_tokens: max_tokens.unwrap_or_else(|| default_tokens(app, route, prompt.tokens)),
            delivery: match body.stream {
                Some(true) => Delivery::Streamed,
                _ => Delivery::Whole,
            },
            usage: body.usage(),
            token_ids: match body.return_token_ids {
                Some(true) => TokenIds::Present,
                _ => TokenIds::Absent,
            },
        })
    }
}

/// How many tokens a request gets that does not say: vLLM's default of a completion, and a sentence or two of a chat, but
/// no more than there is room for.
fn default_tokens(app: &App, route: Route, prompt: Tokens) -> Tokens {
    let default = match route {
        Route::Chat => 128,
        Route::Completions => 16,
    };
    let room = app.longest_job.map_or(u64::MAX, |limit| limit.get().saturating_sub(prompt.get()));
    Tokens::new(default.min(room))
}

/// Whether prompt and output have room within `limit`; refused in vLLM's words.
fn check_length(prompt: Tokens, output: Option<Tokens>, limit: Tokens) -> Result<(), Refusal> {
    if prompt >= limit {
        let message = format!(
            "This model's maximum context length is {limit} tokens. However, your request has {prompt} input \
             tokens. Please reduce the length of the input messages."
        );
        return Err(Refusal::bad_request(None, message));
    }
    match output {
        Some(output) if prompt + output > limit => {
            let message = format!(
                "'max_tokens' or 'max_completion_tokens' is too large: {output}. This model's maximum context \
                 length is {limit} tokens and your request has {prompt} input tokens ({output} > {limit} - \
                 {prompt})."
            );
            Err(Refusal::bad_request(Some("max_tokens"), message))
        }
        _ => Ok(()),
    }
}

impl Body {
    fn prompt(
        &mut self,
        route: Route,
        chain: impl Fn(Form) -> Option<Chain>,
    ) -> Result<Read, Refusal> {
        match (route, self.prompt.take(), &self.messages) {
            (Route::Completions, Some(prompt), _) => prompt.read(chain),
            (Route::Completions, None, _) => Err(Refusal::bad_request(
                Some("prompt"),
                "`prompt` is missing: a text or a list of token ids",
            )),
            (Route::Chat, _, Some(messages)) if !messages.is_empty() => {
                Ok(read_messages(messages, chain(Form::Chat)))
            }
            (Route::Chat, ..) => Err(Refusal::bad_request(
                Some("messages"),
                "`messages` is missing or empty: a list of objects with `role` and `content`",
            )),
        }
    }

    /// The length asked for behind `prompt` tokens, if one is.
    fn max_tokens(&self, prompt: Tokens, limit: Option<Tokens>) -> Result<Option<Tokens>, Refusal> {
        if self.n.is_some_and(|n| n != 1) {
            return Err(Refusal::bad_request(
                Some("n"),
                "`n` must be 1: the simulated engine gives one sample a request",
            ));
        }
        let asked = self.max_completion_tokens.or(self.max_tokens).map(Tokens::new);
        if asked == Some(Tokens::ZERO) {
            let message = "`max_tokens` must be at least 1";
            return Err(Refusal::bad_request(Some("max_tokens"), message));
        }
        limit.map_or(Ok(()), |limit| check_length(prompt, asked, limit))?;
        Ok(asked)
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

/// Counts the words of a conversation, of all its messages; content is a text or a list of parts of which some have a
/// text. Tools and their calls count none.
fn read_messages(messages: &[Message], mut chain: Option<Chain>) -> Read {
    let mut words = 0;
    for message in messages {
        let role = message.role.as_ref().and_then(Value::as_str).unwrap_or_default();
        chain.iter_mut().for_each(|chain| chain.role(role));
        let mut add = |text: &str| {
            words += text.split_whitespace().count();
            chain.iter_mut().for_each(|chain| chain.words(text));
        };
        match &message.content {
            Some(Value::String(text)) => add(text),
            Some(Value::Array(parts)) => {
                parts.iter().filter_map(|part| part.get("text")?.as_str()).for_each(add);
            }
            _ => {}
        }
    }
    Read { tokens: Tokens::new((words as u64).max(1)), ids: None, chain }
}
