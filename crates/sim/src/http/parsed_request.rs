//! What a client asks for, whichever dialect it speaks.

use std::num::NonZeroU64;

use fizeau_core::Tokens;

use super::app::App;
use super::dialect::SglangText;
use super::length::{LengthLimits, ReplyEnding};
use super::prompt::ServedPrompt;
use super::response::Refusal;
use crate::content::{TokenChain, TokenForm};
use crate::serve::Priority;

/// Which of the routes that generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GeneratingRoute {
    Chat,
    Completions,
    /// SGLang's own.
    Generate,
    /// Anthropic's.
    Messages,
    Responses,
}

/// A request that can be answered.
#[derive(Debug)]
pub(super) struct ParsedRequest {
    pub(super) route: GeneratingRoute,
    pub(super) model: String,
    pub(super) prompt_tokens: Tokens,
    /// The prompt itself, where the reply is to have its ids.
    pub(super) prompt_ids: Option<Vec<u32>>,
    /// The prompt's text, where the reply is to begin with it.
    pub(super) echo: Option<String>,
    /// What a prefix cache wants to know of the prompt, where there is one.
    pub(super) chain: Option<TokenChain>,
    /// How many tokens of the prompt such a cache held, once the engine has said so.
    pub(super) cached_tokens: Option<Tokens>,
    /// How many tokens the reply has, known beforehand: the most that it may have, or fewer where the model stops.
    pub(super) max_tokens: Tokens,
    /// Why it has no more.
    pub(super) ending: ReplyEnding,
    pub(super) priority: Priority,
    pub(super) delivery: Delivery,
    pub(super) usage: StreamUsage,
    pub(super) token_ids: TokenIds,
    pub(super) logprobs: Logprobs,
    /// What each event shows, on SGLang's route.
    pub(super) sglang: SglangText,
    /// What the client named its request; the reply's id has it in it.
    pub(super) request_id: Option<String>,
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

/// Whether chunks carry log-probabilities of their tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Logprobs {
    Absent,
    Present,
}

impl ParsedRequest {
    /// A request for `prompt` in one piece and with nothing besides.
    pub(super) fn new(
        app: &App,
        route: GeneratingRoute,
        source: PromptSource,
        prompt: ServedPrompt,
        limits: LengthLimits,
    ) -> Result<Self, Refusal> {
        let (max_tokens, ending) = limits.settle(app, prompt.tokens)?;
        Ok(Self {
            route,
            model: source.model,
            prompt_tokens: prompt.tokens,
            prompt_ids: None,
            echo: None,
            chain: prompt.chain,
            cached_tokens: None,
            max_tokens,
            ending,
            priority: Priority::default(),
            delivery: Delivery::Whole,
            usage: StreamUsage::Never,
            token_ids: TokenIds::Absent,
            logprobs: Logprobs::Absent,
            sglang: SglangText::default(),
            request_id: None,
        })
    }
}

/// Whose prompt it is: the model asked for, and what keeps its beginning apart from that of others.
#[derive(Debug)]
pub(super) struct PromptSource {
    model: String,
    salt: Option<String>,
    /// Tokens of a block by which prefixes are found again, where they are.
    block: Option<NonZeroU64>,
}

impl PromptSource {
    /// Of a request for `model`, which is the server's own where none was named.
    pub(super) fn of(
        app: &App,
        model: Option<String>,
        salt: Option<String>,
    ) -> Result<Self, Refusal> {
        let model = model.unwrap_or_else(|| app.model().to_owned());
        if !app.serves(&model) {
            let message = format!("The model `{model}` does not exist.");
            return Err(Refusal::not_found(Some("model"), message));
        }
        if salt.as_deref() == Some("") {
            let message = "Parameter 'cache_salt' must be a non-empty string if provided.";
            return Err(Refusal::bad_request(Some("cache_salt"), message));
        }
        Ok(Self { model, salt, block: app.prefix_block })
    }

    /// The beginning of what a prefix cache is told of a prompt of `form`, where there is one.
    pub(super) fn chain(&self, form: TokenForm) -> Option<TokenChain> {
        self.block.map(|block| {
            let mut chain = TokenChain::new(&self.model, form, block);
            self.salt.iter().for_each(|salt| chain.salt(salt));
            chain
        })
    }
}

impl Delivery {
    /// As field `stream` says.
    pub(super) const fn of(stream: Option<bool>) -> Self {
        match stream {
            Some(true) => Self::Streamed,
            _ => Self::Whole,
        }
    }
}

#[cfg(test)]
impl ParsedRequest {
    /// A request for a streamed reply of `tokens` tokens, with everything on its chunks.
    pub(super) fn sample(route: GeneratingRoute, tokens: u64) -> Self {
        Self {
            route,
            model: "m".into(),
            prompt_tokens: Tokens::new(3),
            prompt_ids: Some(vec![1, 2, 3]),
            echo: None,
            chain: None,
            cached_tokens: None,
            max_tokens: Tokens::new(tokens),
            ending: ReplyEnding::Length,
            priority: Priority::default(),
            delivery: Delivery::Streamed,
            usage: StreamUsage::OnEveryChunk,
            token_ids: TokenIds::Present,
            logprobs: Logprobs::Absent,
            sglang: SglangText::Incremental,
            request_id: None,
        }
    }
}
