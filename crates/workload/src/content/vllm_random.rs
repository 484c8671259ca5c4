//! vLLM's `random` data set, draw for draw.

use std::collections::HashSet;
use std::sync::Arc;

use fizeau_core::{Prompt, Tokens};
use serde::{Deserialize, Serialize};

use super::prefix_repetition::drawn_whole;
use super::{Draw, Form, Starts, user_message};
use crate::exact::{CodecError, TextCodec};
use crate::length::{Length, Lengths};
use crate::numpy::Generator;
use crate::parts::{ContentSource, LengthPair, Made, Outline, Phase, Place, SharedStart};
use crate::spec::{Spec, SpecError};

/// vLLM's `random` data set (as of vLLM 0.33.0), draw for draw: for the same seed the lengths, the offsets, the prefix and
/// the token ids are vLLM's own, and with the model's tokenizer the texts are too.
///
/// Texts are those of Python's tokenizer where that one does not tidy spaces up (`clean_up_tokenization_spaces`), and has
/// no special ids beyond those that [`TextCodec::special_ids`] gives: vLLM leaves out `all_special_ids`, which a
/// `tokenizer.json` does not name. That a server's own tokenizer counts a prompt (`/tokenize`), to trim it where the
/// two differ, is not done.
///
/// What differs from all other content, because vLLM does it so:
///
/// - Prompts are equal from run to run: the salt does not touch them. A server that still has an earlier run's
///   prompts cached is measured too fast, and supplies more than [`crate::Plan::expected_cache`].
/// - A plan of more requests does not start with the shorter one, since all prompt lengths are drawn before the first output
///   length. Past its end, a plan begins again.
/// - A prompt is a row of neighbouring ids, (offset + number + 0, 1, 2, ...): two prompts that start at the same id are the
///   same as far as the shorter goes, which a prefix cache finds.
/// - The lengths are those given here, whatever the specification's are, and so is the prefix.
///
/// Text needs a tokenizer, and is decoded and encoded again up to ten times: what is too long is cut, what is too short is
/// padded with random ids. All of that is done when the plan is made, since each prompt's padding follows from those
/// before it. Token ids need none, and are sent as they were drawn. Warm-up requests are not vLLM's (which repeats the
/// first prompt): they have the same lengths and other tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VllmRandom {
    /// The form that prompts are sent in; vLLM's is text.
    pub form: Form,
    /// How many ids token ids are drawn from, from 0 on: the tokenizer's `vocab_size`, for vLLM's offsets. Text takes it
    /// from its tokenizer.
    pub vocabulary: u32,
    /// The nominal prompt length, `--random-input-len`; the prefix comes on top.
    pub input: Tokens,
    /// The nominal output length, `--random-output-len`.
    pub output: Tokens,
    /// `--random-prefix-len`.
    pub prefix: Tokens,
    /// `--random-range-ratio` of the prompt, from 0 up to, not including, 1.
    pub input_ratio: f64,
    /// `--random-range-ratio` of the output.
    pub output_ratio: f64,
}

/// vLLM's: 1024 tokens in, 128 out, no prefix, all of one length, as text.
impl Default for VllmRandom {
    fn default() -> Self {
        Self {
            form: Form::Text,
            vocabulary: 32_000,
            input: Tokens::new(1024),
            output: Tokens::new(128),
            prefix: Tokens::ZERO,
            input_ratio: 0.0,
            output_ratio: 0.0,
        }
    }
}

impl VllmRandom {
    /// The longest prompt, without its prefix, and the longest output.
    pub(crate) fn longest(&self) -> LengthPair {
        let ([_, input], [_, output]) = self.ends(Tokens::ZERO);
        LengthPair { input: Tokens::new(input), output: Tokens::new(output) }
    }

    /// The shortest and the longest prompt without its prefix, and output, where the tokenizer adds `special` tokens.
    fn ends(&self, special: Tokens) -> ([u64; 2], [u64; 2]) {
        let ends = |length: u64, ratio: f64| {
            let length = length as f64;
            [length * (1.0 - ratio), length * (1.0 + ratio)]
        };
        let [low, high] = ends(self.input.get().saturating_sub(special.get()), self.input_ratio);
        let [least, most] = ends(self.output.get(), self.output_ratio);
        let output = [least.floor().max(1.0) as u64, most.ceil().max(1.0) as u64];
        ([low.floor() as u64, high.ceil() as u64], output)
    }

    pub(super) fn check(&self, spec: &Spec) -> Result<(), SpecError> {
        let law = |nominal, ratio| Length::Uniform { nominal, ratio };
        let (input, output) =
            (law(self.input, self.input_ratio), law(self.output, self.output_ratio));
        Lengths::Independent { input, output }.check()?;
        if self.form == Form::TokenIds && self.vocabulary < 2 {
            return Err(SpecError::Vocabulary { start: 0, end: self.vocabulary });
        }
        if self.form == Form::TokenIds && self.vocabulary > MOST_IDS {
            return Err(SpecError::VocabularySize { size: self.vocabulary, most: MOST_IDS });
        }
        drawn_whole("vLLM's random data set", spec.requests, MOST_REQUESTS)
    }
}

/// Far beyond every tokenizer's, and few enough to be listed.
const MOST_IDS: u32 = 1 << 24;
/// Each takes about a hundred bytes.
const MOST_REQUESTS: u64 = 1 << 21;

/// What vLLM draws for a whole plan.
#[derive(Debug)]
pub(crate) struct VllmDraws {
    form: Form,
    codec: Option<Arc<dyn TextCodec>>,
    /// The ids that prompts are made of: the whole vocabulary without special ids.
    allowed: Vec<u32>,
    /// How many ids padding is drawn from.
    vocabulary: u32,
    prefix: Vec<u32>,
    prefix_len: u64,
    requests: Vec<Drawn>,
}

/// What vLLM draws for one request.
#[derive(Debug)]
struct Drawn {
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
        spec: &Spec,
        codec: Option<Arc<dyn TextCodec>>,
    ) -> Result<Self, SpecError> {
        let codec = match random.form {
            Form::TokenIds => None,
            Form::Chat | Form::Text => Some(codec.ok_or(SpecError::NoTokenizer)?),
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
            let mut drawn = Drawn { input, output, start, tokens, padding: rng.clone() };
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
    fn ids(&self, drawn: &Drawn) -> Vec<u32> {
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

    fn drawn(&self, place: &Place) -> Option<&Drawn> {
        let number = place.request.0 % (self.requests.len() as u64).max(1);
        self.requests.get(number as usize)
    }

    /// A prompt as long as `drawn`, of which nothing is vLLM's.
    fn warm(&self, place: &Place, drawn: &Drawn) -> Draw {
        Draw {
            seed: place.seed,
            index: place.key(),
            prefix: 1,
            prefix_len: Tokens::ZERO,
            len: Tokens::new(self.prefix_len + drawn.input),
        }
    }

    /// The text of a prompt, and its tokens.
    fn text(&self, place: &Place, drawn: &Drawn) -> (String, Option<Tokens>) {
        let warm = || self.warm(place, drawn);
        let fitted = match (place.phase, self.codec.as_deref()) {
            (_, None) => None,
            (Phase::Measured, Some(codec)) => {
                let ids = self.ids(drawn);
                let wanted = self.prefix_len + drawn.input;
                let fitted = self.fit(codec, ids, wanted, &mut drawn.padding.clone()).ok();
                fitted.map(|(text, ids)| (text, Tokens::new(ids.len() as u64)))
            }
            (Phase::Warmup, Some(codec)) => {
                let fitted = warm().exact(codec, &Starts::default()).ok();
                fitted.map(|exact| (exact.text, exact.tokens))
            }
        };
        // A tokenizer that could do it when the plan was made, and cannot now, leaves words.
        fitted.map_or_else(|| (warm().words(), None), |(text, tokens)| (text, Some(tokens)))
    }
}

impl ContentSource for VllmDraws {
    fn content(&self, place: &Place) -> Made {
        let Some(drawn) = self.drawn(place) else {
            return Made::new(Prompt::Text(String::new()), None);
        };
        let made = match (self.form, place.phase) {
            (Form::TokenIds, Phase::Measured) => {
                Made::new(Prompt::TokenIds(self.ids(drawn)), Some(Tokens::new(drawn.tokens)))
            }
            (Form::TokenIds, Phase::Warmup) => {
                self.warm(place, drawn).token_ids(&(0..self.vocabulary))
            }
            (Form::Text, _) => {
                let (text, tokens) = self.text(place, drawn);
                Made::new(Prompt::Text(text), tokens)
            }
            (Form::Chat, _) => Made::new(user_message(self.text(place, drawn).0), None),
        };
        Made { output_tokens: Some(Tokens::new(drawn.output)), ..made }
    }

    /// The prefix, and that two prompts start at the same id by chance. Of texts it is a little less than the tokenizer
    /// makes of it, where the shorter one ends.
    fn outline(&self, place: &Place) -> Option<Outline> {
        let drawn = self.drawn(place)?;
        let is_measured = place.phase == Phase::Measured;
        let start = SharedStart { number: 0, tokens: Tokens::new(self.prefix_len) };
        Some(Outline {
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
