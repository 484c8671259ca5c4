//! What an event says that is nothing but output.

use fizeau_core::{Channel, Tokens, Usage};

use crate::dialect::WireEvent;

/// An event with text on one channel, perhaps with counts, and with nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Twin<'a> {
    /// Valid UTF-8, yet not a `str`: to be sure of that takes longer than to count its characters.
    text: &'a [u8],
    pub(crate) chars: usize,
    pub(crate) channel: Channel,
    pub(crate) token_ids: u32,
    pub(crate) logprobs: u32,
    pub(crate) running: Option<u64>,
    pub(crate) usage: Option<Usage>,
}

/// A count that a twin may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    Cached,
    Completion,
    Ids,
    Prompt,
    Reasoning,
    Running,
}

impl Figure {
    pub(super) const ALL: [Self; 6] =
        [Self::Cached, Self::Completion, Self::Ids, Self::Prompt, Self::Reasoning, Self::Running];
}

impl<'a> Twin<'a> {
    /// The same with another text, of `chars` characters.
    pub(super) const fn with_text<'t>(self, text: &'t [u8], chars: usize) -> Twin<'t> {
        Twin { text, chars, ..self }
    }

    /// The size of the text, in bytes.
    pub(crate) const fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn text(&self) -> &'a str {
        std::str::from_utf8(self.text).unwrap_or_default()
    }

    pub(super) fn get(&self, figure: Figure) -> Option<u64> {
        let of_usage = |field: fn(&Usage) -> Option<Tokens>| {
            self.usage.as_ref().and_then(field).map(Tokens::get)
        };
        match figure {
            Figure::Cached => of_usage(|usage| usage.cached_tokens),
            Figure::Completion => of_usage(|usage| usage.completion_tokens),
            Figure::Ids => Some(self.token_ids.into()),
            Figure::Prompt => of_usage(|usage| usage.prompt_tokens),
            Figure::Reasoning => of_usage(|usage| usage.reasoning_tokens),
            Figure::Running => self.running,
        }
    }

    pub(super) fn set(&mut self, figure: Figure, value: u64) {
        let tokens = Some(Tokens::new(value));
        match (figure, &mut self.usage) {
            (Figure::Ids, _) => self.token_ids = u32::try_from(value).unwrap_or(u32::MAX),
            (Figure::Running, _) => self.running = Some(value),
            (Figure::Cached, Some(usage)) => usage.cached_tokens = tokens,
            (Figure::Completion, Some(usage)) => usage.completion_tokens = tokens,
            (Figure::Prompt, Some(usage)) => usage.prompt_tokens = tokens,
            (Figure::Reasoning, Some(usage)) => usage.reasoning_tokens = tokens,
            // No hole feeds a usage that is not there.
            (_, None) => {}
        }
    }
}

/// `wire` as a twin, if it can have any: text on just one channel, and nothing beside it but counts.
pub(super) fn plain<'w>(wire: &'w WireEvent<'_>) -> Option<Twin<'w>> {
    let mut texts = wire.texts().into_iter().filter(|(_, text)| !text.is_empty());
    let (channel, text) = texts.next()?;
    let says_more = wire.finish.is_some()
        || wire.error.is_some()
        || wire.timing.is_some()
        || wire.done
        || wire.embedded.is_some()
        || texts.next().is_some();
    (!says_more).then_some(Twin {
        text: text.as_bytes(),
        chars: text.chars().count(),
        channel,
        token_ids: wire.token_ids,
        logprobs: wire.logprobs,
        running: wire.running,
        usage: wire.usage,
    })
}
