//! The prompts of vLLM's `random` data set.

use std::collections::HashSet;
use std::sync::Arc;

use fizeau_core::{Prompt, Tokens};

use super::{PromptStarts, SymbolSource, user_message};
use crate::codec::{CodecError, TextCodec};
use crate::content::{PromptForm, VllmRandom};
use crate::numpy::Generator;
use crate::parts::{
    ContentSource, PromptOutline, RequestPhase, RequestPosition, SharedStart, Turn,
};
use crate::spec::{PlanSpec, SpecError};

/// What vLLM draws for a whole plan.
#[derive(Debug)]
pub(crate) struct VllmDraws {
    form: PromptForm,
    codec: Option<Arc<dyn TextCodec>>,
    /// The ids that prompts are made of: the whole vocabulary without special ids.
    allowed: Vec<u32>,
    /// How many ids padding is drawn from.
    vocabulary: u32,
    prefix: Vec<u32>,
    prefix_len: u64,
    requests: Vec<DrawnRequest>,
}

/// What vLLM draws for one request.
#[derive(Debug)]
struct DrawnRequest {
    input: u64,
    output: u64,
    /// Where among the allowed ids the prompt starts.
    start: u64,
    /// How many tokens the whole prompt has.
    tokens: u64,
    /// The generator as it was when the prompt was fitted, so that it can be fitted again.
    padding: Generator,
}

impl VllmDraws {
    pub(crate) fn new(
        random: &VllmRandom,
        spec: &PlanSpec,
        codec: Option<Arc<dyn TextCodec>>,
    ) -> Result<Self, SpecError> {
        let codec = match random.form {
            PromptForm::TokenIds => None,
            PromptForm::Chat | PromptForm::Text => Some(codec.ok_or(SpecError::NoTokenizer)?),
        };
        let (vocabulary, allowed, special) = match codec.as_deref() {
            None => (random.vocabulary, (0..random.vocabulary).collect(), Tokens::ZERO),
            Some(codec) => (codec.size(), allowed(codec), codec.special_tokens()),
        };
        if allowed.len() < 2 {
            return Err(SpecError::Vocabulary { start: 0, end: allowed.len() as u32 });
        }
        let ([low, high], [least, most]) = random.ends(special);
        let prefix_len = random.prefix.get();
        if low + prefix_len == 0 {
            return Err(SpecError::NoLength { which: "shortest input" });
        }
        let count = spec.requests.get() as usize;
        let mut rng = Generator::default_rng(spec.seed.0);
        let inputs = rng.integers(low, high - low + 1, count);
        let outputs = rng.integers(least, most - least + 1, count);
        let offsets = rng.integers(0, vocabulary.into(), count);
        let form = random.form;
        let mut draws = Self {
            form,
            codec,
            allowed,
            vocabulary,
            prefix: Vec::new(),
            prefix_len,
            requests: Vec::new(),
        };
        draws.draw_prefix(&mut rng).map_err(SpecError::Tokenizer)?;
        for (number, ((input, output), offset)) in
            (0..).zip(inputs.into_iter().zip(outputs).zip(offsets))
        {
            let start = (offset + number) % draws.allowed.len() as u64;
            let tokens = prefix_len + input;
            let mut drawn = DrawnRequest { input, output, start, tokens, padding: rng.clone() };
            if let Some(codec) = draws.codec.as_deref() {
                let fitted = draws.fit(codec, draws.ids(&drawn), tokens, &mut rng);
                drawn.tokens = fitted.map_err(SpecError::Tokenizer)?.1.len() as u64;
            }
            draws.requests.push(drawn);
        }
        Ok(draws)
    }

    fn draw_prefix(&mut self, rng: &mut Generator) -> Result<(), CodecError> {
        if self.prefix_len == 0 {
            return Ok(());
        }
        let places = rng.integers(0, self.allowed.len() as u64, self.prefix_len as usize);
        let ids = places.into_iter().filter_map(|place| self.allowed.get(place as usize).copied());
        let ids: Vec<u32> = ids.collect();
        self.prefix = match self.codec.as_deref() {
            None => ids,
            Some(codec) => self.fit(codec, ids, self.prefix_len, rng)?.1,
        };
        Ok(())
    }

    /// The ids of a prompt before it is fitted.
    fn ids(&self, drawn: &DrawnRequest) -> Vec<u32> {
        let turned = self.allowed.iter().cycle().skip(drawn.start as usize);
        self.prefix.iter().chain(turned.take(drawn.input as usize)).copied().collect()
    }

    /// vLLM's `gen_prompt_decode_to_target_len`.
    fn fit(
        &self,
        codec: &dyn TextCodec,
        ids: Vec<u32>,
        wanted: u64,
        rng: &mut Generator,
    ) -> Result<(String, Vec<u32>), CodecError> {
        const TRIES: usize = 10;
        let wanted = wanted as usize;
        let mut ids = ids;
        for _ in 0..TRIES {
            let text = codec.decode_any(&ids)?;
            ids = codec.encode(&text)?;
            if ids.len() == wanted {
                return Ok((text, ids));
            }
            let missing = wanted.saturating_sub(ids.len());
            ids.truncate(wanted);
            let padding = rng.integers(0, self.vocabulary.into(), missing);
            ids.extend(padding.into_iter().map(|id| id as u32));
        }
        let text = codec.decode_any(&ids)?;
        let ids = codec.encode(&text)?;
        Ok((text, ids))
    }

    fn drawn(&self, place: &RequestPosition) -> Option<&DrawnRequest> {
        let number = place.request.0 % (self.requests.len() as u64).max(1);
        self.requests.get(number as usize)
    }

    /// A prompt as long as `drawn`, of which nothing is vLLM's.
    fn warm(&self, place: &RequestPosition, drawn: &DrawnRequest) -> SymbolSource {
        SymbolSource {
            seed: place.seed,
            index: place.key(),
            prefix: 1,
            prefix_len: Tokens::ZERO,
            len: Tokens::new(self.prefix_len + drawn.input),
        }
    }

    /// The text of a prompt, and its tokens.
    fn text(&self, place: &RequestPosition, drawn: &DrawnRequest) -> (String, Option<Tokens>) {
        let warm = || self.warm(place, drawn);
        let fitted = match (place.phase, self.codec.as_deref()) {
            (_, None) => None,
            (RequestPhase::Measured, Some(codec)) => {
                let ids = self.ids(drawn);
                let wanted = self.prefix_len + drawn.input;
                let fitted = self.fit(codec, ids, wanted, &mut drawn.padding.clone()).ok();
                fitted.map(|(text, ids)| (text, Tokens::new(ids.len() as u64)))
            }
            (RequestPhase::Warmup, Some(codec)) => {
                let fitted = warm().exact(codec, &PromptStarts::default()).ok();
                fitted.map(|exact| (exact.text, exact.tokens))
            }
        };
        // A tokenizer that could do it when the plan was made, and cannot now, leaves words.
        fitted.map_or_else(|| (warm().words(), None), |(text, tokens)| (text, Some(tokens)))
    }
}

impl ContentSource for VllmDraws {
    fn content(&self, place: &RequestPosition) -> Turn {
        let Some(drawn) = self.drawn(place) else {
            return Turn::new(Prompt::Text(String::new()));
        };
        let made = match (self.form, place.phase) {
            (PromptForm::TokenIds, RequestPhase::Measured) => {
                Turn::counted(Prompt::TokenIds(self.ids(drawn)), Some(Tokens::new(drawn.tokens)))
            }
            (PromptForm::TokenIds, RequestPhase::Warmup) => {
                self.warm(place, drawn).token_ids(&(0..self.vocabulary))
            }
            (PromptForm::Text, _) => {
                let (text, tokens) = self.text(place, drawn);
                Turn::counted(Prompt::Text(text), tokens)
            }
            (PromptForm::Chat, _) => Turn::counted(user_message(self.text(place, drawn).0), None),
        };
        Turn { output_tokens: Some(Tokens::new(drawn.output)), ..made }
    }

    /// The prefix, and that two prompts start at the same id by chance. Of texts it is a little less than the tokenizer
    /// makes of it, where the shorter one ends.
    fn outline(&self, place: &RequestPosition) -> Option<PromptOutline> {
        let drawn = self.drawn(place)?;
        let is_measured = place.phase == RequestPhase::Measured;
        let start = SharedStart { number: 0, tokens: Tokens::new(self.prefix_len) };
        Some(PromptOutline {
            shared: (is_measured && self.prefix_len > 0).then_some(start),
            row: is_measured.then_some(drawn.start),
            tokens: Tokens::new(drawn.tokens),
        })
    }
}

/// The whole vocabulary of `codec` without its special ids.
fn allowed(codec: &dyn TextCodec) -> Vec<u32> {
    let special: HashSet<&u32> = codec.special_ids().iter().collect();
    (0..codec.size()).filter(|id| !special.contains(id)).collect()
}
