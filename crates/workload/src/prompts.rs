//! Prompts, made as a specification's content says.

mod dataset;
mod draw;
mod sonnet;
mod starts;
mod vllm_draws;

use std::sync::Arc;

use fizeau_core::{Message, Prompt, RequestId, Role, SessionId, Tokens};

pub(crate) use dataset::DatasetContent;
pub use dataset::DatasetReuse;
pub use draw::{ExactText, exact_text};
pub(crate) use draw::{digits_of, fit_text};
pub(crate) use vllm_draws::VllmDraws;

use crate::codec::TextCodec;
use crate::content::{PromptContent, TextSource};
use crate::parts::{
    ContentSource, LengthPair, PromptOutline, RequestPhase, RequestPosition, SharedStart, Turn,
};
use crate::spec::{PlanSpec, SpecError};
use draw::SymbolSource;
use starts::{PromptStart, PromptStarts};

/// Prompts that are made, not taken from a data set.
#[derive(Debug, Clone)]
pub(crate) struct Synthetic {
    content: PromptContent,
    starts: PromptStarts,
    tokenizer: Option<Arc<dyn TextCodec>>,
    /// How long requests are, where the content says so.
    lengths: Option<LengthPair>,
}

impl ContentSource for Synthetic {
    fn content(&self, place: &RequestPosition) -> Turn {
        let draw = self.draw(place);
        let made = match &self.content {
            PromptContent::TokenIds { range } => draw.token_ids(range),
            PromptContent::Unread => {
                let tokens = draw.prefix_len + draw.len;
                Turn::counted(Prompt::TokenIds(Vec::new()), Some(tokens))
            }
            PromptContent::Text(wording) => {
                let (text, tokens) = self.text(*wording, &draw);
                Turn::counted(Prompt::Text(text), tokens)
            }
            PromptContent::Chat(wording) => {
                Turn::counted(user_message(self.text(*wording, &draw).0), None)
            }
            _ => Turn::new(Prompt::Text(String::new())),
        };
        Turn { output_tokens: self.lengths.map(|lengths| lengths.output), ..made }
    }

    fn shares(&self) -> bool {
        self.starts.shares()
    }

    fn outline(&self, place: &RequestPosition) -> Option<PromptOutline> {
        let draw = self.draw(place);
        let shares = draw.prefix_len > Tokens::ZERO;
        Some(PromptOutline {
            shared: shares.then_some(SharedStart { number: draw.prefix, tokens: draw.prefix_len }),
            row: None,
            tokens: draw.prefix_len + draw.len,
        })
    }
}

impl Synthetic {
    /// The prompts that `spec` asks for.
    pub(crate) fn new(spec: &PlanSpec, tokenizer: Option<Arc<dyn TextCodec>>) -> Self {
        let (content, starts, lengths) = match &spec.content {
            PromptContent::PrefixRepetition(repetition) => {
                let content = repetition.content(tokenizer.is_some());
                (content, PromptStarts::repeated(spec, repetition), Some(repetition.lengths()))
            }
            content => (content.clone(), PromptStarts::new(spec), None),
        };
        let starts = if content.is_exact() { starts.with_texts() } else { starts };
        Self { content, starts, tokenizer, lengths }
    }

    /// Whether text has to be fitted under a tokenizer.
    pub(crate) const fn is_exact(&self) -> bool {
        self.content.is_exact()
    }

    /// Makes the longest prompt that there can be, to see whether the tokenizer can.
    pub(crate) fn try_longest(&self, spec: &PlanSpec) -> Result<(), SpecError> {
        let codec = self.tokenizer.as_deref().ok_or(SpecError::NoTokenizer)?;
        let first = RequestPosition {
            seed: spec.seed.salted(spec.salt),
            phase: RequestPhase::Measured,
            request: RequestId(0),
            session: SessionId(0),
            turn: 0,
            input: spec.lengths.longest().input,
        };
        self.draw(&first).exact(codec, &self.starts).map(drop).map_err(SpecError::Tokenizer)
    }

    fn draw(&self, place: &RequestPosition) -> SymbolSource {
        let len = self.lengths.map_or(place.input, |lengths| lengths.input);
        let start = self.starts.of(place);
        let draw = SymbolSource {
            seed: place.seed,
            index: place.key(),
            prefix: 0,
            prefix_len: Tokens::ZERO,
            len,
        };
        match start {
            PromptStart::None => draw,
            PromptStart::Own(tokens) => SymbolSource { len: tokens + len, ..draw },
            PromptStart::Shared { number, tokens } => {
                SymbolSource { prefix: number, prefix_len: tokens, ..draw }
            }
        }
    }

    fn text(&self, wording: TextSource, draw: &SymbolSource) -> (String, Option<Tokens>) {
        let fitted = match (wording, self.tokenizer.as_deref()) {
            (TextSource::Exact, Some(codec)) => draw.exact(codec, &self.starts).ok(),
            (TextSource::Sonnet, Some(codec)) => draw.exact_sonnet(codec).ok(),
            (TextSource::Words, _) | (_, None) => None,
        };
        match (fitted, wording) {
            (Some(exact), _) => (exact.text, Some(exact.tokens)),
            (None, TextSource::Sonnet) => (draw.sonnet(), None),
            (None, TextSource::Exact | TextSource::Words) => (draw.words(), None),
        }
    }
}

/// `text` as one message of the user.
pub(crate) fn user_message(text: String) -> Prompt {
    Prompt::Chat(vec![Message { role: Role::User, content: text }])
}
