//! Prompts, made as a specification's content says.

mod dataset;
mod draw;
mod sonnet;
mod starts;
mod vllm_draws;

use std::sync::Arc;

use fizeau_core::{Message, Prompt, RequestId, Role, SessionId, Tokens};

pub(crate) use dataset::DatasetContent;
pub use dataset::Repeats;
pub use draw::{ExactText, exact_text};
pub(crate) use draw::{fit_text, spell};
pub(crate) use vllm_draws::VllmDraws;

use crate::codec::TextCodec;
use crate::content::{Content, Wording};
use crate::parts::{ContentSource, LengthPair, Outline, Phase, RequestPosition, SharedStart, Turn};
use crate::spec::{Spec, SpecError};
use draw::Draw;
use starts::{Start, Starts};

/// Prompts that are made, not taken from a data set.
#[derive(Debug, Clone)]
pub(crate) struct Synthetic {
    content: Content,
    starts: Starts,
    tokenizer: Option<Arc<dyn TextCodec>>,
    /// How long requests are, where the content says so.
    lengths: Option<LengthPair>,
}

impl ContentSource for Synthetic {
    fn content(&self, place: &RequestPosition) -> Turn {
        let draw = self.draw(place);
        let made = match &self.content {
            Content::TokenIds { range } => draw.token_ids(range),
            Content::Unread => {
                let tokens = draw.prefix_len + draw.len;
                Turn::counted(Prompt::TokenIds(Vec::new()), Some(tokens))
            }
            Content::Text(wording) => {
                let (text, tokens) = self.text(*wording, &draw);
                Turn::counted(Prompt::Text(text), tokens)
            }
            Content::Chat(wording) => {
                Turn::counted(user_message(self.text(*wording, &draw).0), None)
            }
            _ => Turn::new(Prompt::Text(String::new())),
        };
        Turn { output_tokens: self.lengths.map(|lengths| lengths.output), ..made }
    }

    fn shares(&self) -> bool {
        self.starts.shares()
    }

    fn outline(&self, place: &RequestPosition) -> Option<Outline> {
        let draw = self.draw(place);
        let shares = draw.prefix_len > Tokens::ZERO;
        Some(Outline {
            shared: shares.then_some(SharedStart { number: draw.prefix, tokens: draw.prefix_len }),
            row: None,
            tokens: draw.prefix_len + draw.len,
        })
    }
}

impl Synthetic {
    /// The prompts that `spec` asks for.
    pub(crate) fn new(spec: &Spec, tokenizer: Option<Arc<dyn TextCodec>>) -> Self {
        let (content, starts, lengths) = match &spec.content {
            Content::PrefixRepetition(repetition) => {
                let content = repetition.content(tokenizer.is_some());
                (content, Starts::repeated(spec, repetition), Some(repetition.lengths()))
            }
            content => (content.clone(), Starts::new(spec), None),
        };
        let starts = if content.is_exact() { starts.with_texts() } else { starts };
        Self { content, starts, tokenizer, lengths }
    }

    /// Whether text has to be fitted under a tokenizer.
    pub(crate) const fn is_exact(&self) -> bool {
        self.content.is_exact()
    }

    /// Makes the longest prompt that there can be, to see whether the tokenizer can.
    pub(crate) fn try_longest(&self, spec: &Spec) -> Result<(), SpecError> {
        let codec = self.tokenizer.as_deref().ok_or(SpecError::NoTokenizer)?;
        let first = RequestPosition {
            seed: spec.seed.salted(spec.salt),
            phase: Phase::Measured,
            request: RequestId(0),
            session: SessionId(0),
            turn: 0,
            input: spec.lengths.longest().input,
        };
        self.draw(&first).exact(codec, &self.starts).map(drop).map_err(SpecError::Tokenizer)
    }

    fn draw(&self, place: &RequestPosition) -> Draw {
        let len = self.lengths.map_or(place.input, |lengths| lengths.input);
        let start = self.starts.of(place);
        let draw =
            Draw { seed: place.seed, index: place.key(), prefix: 0, prefix_len: Tokens::ZERO, len };
        match start {
            Start::None => draw,
            Start::Own(tokens) => Draw { len: tokens + len, ..draw },
            Start::Shared { number, tokens } => Draw { prefix: number, prefix_len: tokens, ..draw },
        }
    }

    fn text(&self, wording: Wording, draw: &Draw) -> (String, Option<Tokens>) {
        let fitted = match (wording, self.tokenizer.as_deref()) {
            (Wording::Exact, Some(codec)) => draw.exact(codec, &self.starts).ok(),
            (Wording::Sonnet, Some(codec)) => draw.exact_sonnet(codec).ok(),
            (Wording::Words, _) | (_, None) => None,
        };
        match (fitted, wording) {
            (Some(exact), _) => (exact.text, Some(exact.tokens)),
            (None, Wording::Sonnet) => (draw.sonnet(), None),
            (None, Wording::Exact | Wording::Words) => (draw.words(), None),
        }
    }
}

/// `text` as one message of the user.
pub(crate) fn user_message(text: String) -> Prompt {
    Prompt::Chat(vec![Message { role: Role::User, content: text }])
}
