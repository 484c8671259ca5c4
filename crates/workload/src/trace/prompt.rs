//! What the requests of a trace say.

use std::sync::Arc;

use fizeau_core::{Prompt, Tokens};

use super::error::TraceError;
use super::reader::TraceRecord;
use super::spec::TraceSpec;
use crate::codec::{CodecError, TextCodec};
use crate::content::{PromptContent, TextSource};
use crate::prompts::{ExactText, digits_of, fit_text, user_message};
use crate::seed::{RandomStream, Seed, StreamPurpose, scramble};
use crate::words::{WORDS, words};

/// Makes prompts: a block's tokens follow from its id, whatever is behind the blocks from the request's own key.
#[derive(Debug, Clone)]
pub(super) struct TracePrompts {
    content: PromptContent,
    tokenizer: Option<Arc<dyn TextCodec>>,
    seed: Seed,
    block: u64,
}

/// Which prompt is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct TracePrompt<'a> {
    /// How often the file was begun before: equal ids are equal tokens within one round only.
    pub(super) round: u64,
    /// A number that no other prompt has.
    pub(super) key: u64,
    /// The blocks that it begins with.
    pub(super) blocks: &'a [u64],
    /// How many tokens it has.
    pub(super) input: Tokens,
}

impl<'a> TracePrompt<'a> {
    /// Request `number` of the plan, of which `record` is all that is known.
    pub(super) fn measured(number: u64, round: u64, record: &'a TraceRecord) -> Self {
        Self { round, key: number, blocks: &record.blocks, input: record.input }
    }

    /// Warm-up request `number`: as long, and like no other. Counted down from the far end, where no measured one comes.
    pub(super) const fn warmup(number: u64, record: &TraceRecord) -> Self {
        Self { round: 0, key: u64::MAX - number, blocks: &[], input: record.input }
    }
}

impl TracePrompts {
    /// The prompts of `spec`, exact text fitted under `tokenizer`.
    ///
    /// # Errors
    /// If exact text is asked for and there is no tokenizer, or it fails on a first text.
    pub(super) fn new(
        spec: &TraceSpec,
        tokenizer: Option<Arc<dyn TextCodec>>,
    ) -> Result<Self, TraceError> {
        let seed = own_seed(spec);
        let block = spec.block().get();
        let prompts = Self { content: spec.content.clone(), tokenizer, seed, block };
        if prompts.content.is_exact() {
            let codec = prompts.tokenizer.as_deref().ok_or(TraceError::NoTokenizer)?;
            let first = TracePrompt { round: 0, key: 0, blocks: &[], input: Tokens::new(64) };
            prompts.exact(codec, first).map_err(TraceError::Tokenizer)?;
        }
        Ok(prompts)
    }

    /// The same with the seed and salt of `spec`.
    pub(super) fn reseeded(&self, spec: &TraceSpec) -> Self {
        Self { seed: own_seed(spec), ..self.clone() }
    }

    /// The prompt, and how many tokens it has where that is certain.
    pub(super) fn make(&self, which: TracePrompt<'_>) -> (Prompt, Option<Tokens>) {
        match &self.content {
            PromptContent::TokenIds { range } => {
                // The symbol is below the length of the range, so that the sum fits.
                let id = |symbol: u64| range.start.saturating_add(symbol as u32);
                let ids = self.symbols(which, range.len() as u64).map(id).collect();
                (Prompt::TokenIds(ids), Some(which.input))
            }
            PromptContent::Chat(wording) => (user_message(self.text(*wording, which).0), None),
            PromptContent::Text(wording) => {
                let (text, tokens) = self.text(*wording, which);
                (Prompt::Text(text), tokens)
            }
            // The specification was checked.
            _ => (Prompt::Text(String::new()), None),
        }
    }

    /// A text of `which` that is fitted under `codec`: where two begin with the same blocks, their texts do.
    fn exact(
        &self,
        codec: &dyn TextCodec,
        which: TracePrompt<'_>,
    ) -> Result<ExactText, CodecError> {
        let vocabulary = codec.vocabulary();
        let symbols = self.symbols(which, vocabulary.len() as u64);
        let ids = symbols.filter_map(|symbol| vocabulary.get(symbol as usize).copied()).collect();
        let mut padding = self.seed.stream(StreamPurpose::Padding, which.key);
        fit_text(codec, "", ids, which.input, &mut padding)
    }

    fn text(&self, wording: TextSource, which: TracePrompt<'_>) -> (String, Option<Tokens>) {
        let tokenizer = match wording {
            TextSource::Exact => self.tokenizer.as_deref(),
            // The specification was checked: there is no verse.
            TextSource::Words | TextSource::Sonnet => None,
        };
        match tokenizer.map(|tokenizer| self.exact(tokenizer, which)) {
            Some(Ok(exact)) => (exact.text, Some(exact.tokens)),
            Some(Err(_)) | None => (words(self.symbols(which, WORDS.len() as u64)), None),
        }
    }

    /// The prompt as numbers below `alphabet`: block after block, the last one cut where the prompt ends, then what no
    /// other prompt has.
    fn symbols(&self, which: TracePrompt<'_>, alphabet: u64) -> impl Iterator<Item = u64> {
        let length = usize::try_from(which.input.get()).unwrap_or(usize::MAX);
        let block = usize::try_from(self.block).unwrap_or(usize::MAX);
        let round = self.seed.child(which.round);
        let blocks = which.blocks.iter().flat_map(move |id| {
            row(round.stream(StreamPurpose::Prefix, *id), *id ^ round.0, alphabet).take(block)
        });
        let own = row(
            self.seed.stream(StreamPurpose::Body, which.key),
            which.key ^ self.seed.0,
            alphabet,
        );
        blocks.chain(own).take(length)
    }
}

/// A seed of the trace's own: a plan of the same seed must not begin its prompts like it.
fn own_seed(spec: &TraceSpec) -> Seed {
    Seed(spec.seed.salted(spec.salt).stream(StreamPurpose::Distinct, 1).next_u64())
}

/// An endless row of symbols, which begins with the digits of a number so that no other row is the same.
fn row(mut draws: RandomStream, number: u64, alphabet: u64) -> impl Iterator<Item = u64> {
    let digits = digits_of(scramble(number), alphabet).map(|digit| digit as u64);
    digits.chain(std::iter::repeat_with(move || draws.below(alphabet)))
}
