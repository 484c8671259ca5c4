//! A model, reduced to what speed depends on: how much is stored, how much is read, how much is computed.

mod accounts;
mod config;
mod drafting;
mod elements;
mod error;
mod fields;
mod known;
mod latent_cache;
mod layers;
mod parts;
mod sheet;
mod weights;

pub use accounts::{Parameters, TensorClass, Tensors};
pub use error::ModelConfigError;
pub use known::{KnownModel, UnknownModel};
pub(crate) use layers::PromptEnd;
pub use layers::{
    Attention, AttentionKeys, DeltaNet, Dense, ExpertGroups, Experts, FeedForward, Indexer, Latent,
    Layers, Mamba2, Mixer, QueryNorm,
};

pub use sheet::{CacheAt, ModelSheet, TensorSheet};
pub use weights::{WeightChoice, WeightChoiceError};

use fizeau_core::Tokens;

use crate::Format;

/// A decoder-only language model, as its `config.json` describes it.
///
/// In the formulas, `h` is the hidden size, `V` the vocabulary, `E` the experts of a layer and `k` those that a
/// token uses.
///
/// ```
/// use fizeau_roofline::Model;
/// # let text = include_str!(concat!(
/// #     env!("CARGO_MANIFEST_DIR"),
/// #     "/data/models/llama-3.1-8b.json"
/// # ));
/// let model = Model::from_config_json(text)?;
/// assert_eq!(model.parameters().total, 8_030_261_248);
/// assert_eq!(model.kv_bytes_per_token().get(), 131_072.0);
/// # Ok::<(), fizeau_roofline::ModelConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The architecture's name as the config gives it, such as `LlamaForCausalLM`.
    pub architecture: String,
    /// The width of the residual stream, `h`.
    pub hidden: u64,
    /// The entries of the vocabulary, `V`.
    pub vocabulary: u64,
    /// The layers, those that are alike together. An MTP module is not among them.
    pub layers: Vec<Layers>,
    /// Which of those each layer is one of, from the first layer to the last.
    order: Vec<u32>,
    /// Elements of the norm before the LM head, of the head's bias, and of a table of positions.
    final_vectors: u64,
    tables: Tables,
    cache: CacheFormats,
    /// What predicts further tokens (multi-token prediction), one module; none where the model has none.
    pub draft: Option<Layers>,
    /// Whether the family's code is known to build the module so.
    knows_draft: bool,
    /// The longest context that the config declares; none where it is silent.
    pub max_context: Option<Tokens>,
    /// What is to be said of the config, a sentence each: what could matter and was not understood, what is not counted.
    pub warnings: Vec<String>,
    /// What of the config was not understood, by name.
    unread: Vec<String>,
}

/// How the embedding and the LM head are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tables {
    /// Whether the input embedding doubles as LM head.
    tied: bool,
    embedding: Format,
    head: Format,
}

/// How a sequence's memory is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CacheFormats {
    /// Keys and values, or latents, if the config or the caller says so.
    kv: Option<Format>,
    /// States of linear attention and state-space layers, if the config or the caller says so.
    state: Option<Format>,
}

impl Model {
    /// Reads a Hugging Face `config.json`.
    ///
    /// The key-value cache is taken to be 16-bit, as engines keep it by default; see [`Model::with_kv_cache`].
    ///
    /// # Errors
    /// If the text is not a JSON object, a field is missing or senseless, two fields contradict each other,
    /// or the model is of a kind that this crate does not cover. The error names the field and what it ought
    /// to be.
    pub fn from_config_json(text: &str) -> Result<Self, ModelConfigError> {
        config::parse(text)
    }

    /// Reads a `config.json` and the `hf_quant_config.json` beside it, in which NVIDIA's Model Optimizer says how the
    /// checkpoint is quantised. What a config says itself of its quantisation comes first.
    ///
    /// # Errors
    /// As [`Model::from_config_json`], for either text.
    pub fn from_config_and_quantization(
        config: &str,
        quantization: &str,
    ) -> Result<Self, ModelConfigError> {
        config::parse_both(config, quantization)
    }

    /// What of the config was not understood and could matter, by name: fields, or the architecture. Where there is anything, the
    /// model may be another than the one that was read, and a bound is of the one that was read.
    #[must_use]
    pub fn unread(&self) -> &[String] {
        &self.unread
    }

    /// The first of them, and how many more there are; none where all was understood.
    #[must_use]
    pub fn unread_in_words(&self) -> Option<String> {
        unread_in_words(&self.unread)
    }

    /// The same model with its key-value cache kept in `format`. Whether it is 16-bit or fp8 is a setting of the
    /// engine that the model's config may not know.
    #[must_use]
    pub fn with_kv_cache(self, format: Format) -> Self {
        Self { cache: CacheFormats { kv: Some(format), ..self.cache }, ..self }
    }

    /// The same model with the states of its linear attention and state-space layers kept in `format`: a setting of the
    /// engine, as vLLM's `--mamba-ssm-cache-dtype`. What convolutions remember stays in 16 bits.
    #[must_use]
    pub fn with_state_cache(self, format: Format) -> Self {
        Self { cache: CacheFormats { state: Some(format), ..self.cache }, ..self }
    }

    /// How keys and values (or latents) are kept.
    #[must_use]
    pub const fn kv_cache(&self) -> Format {
        match self.cache.kv {
            Some(format) => format,
            None => Format::Bf16,
        }
    }

    /// Whether anybody says so: 16 bits that were asked for are no default.
    pub(crate) const fn says_kv_cache(&self) -> bool {
        self.cache.kv.is_some()
    }

    /// How the states of linear attention and state-space layers are taken to be kept. Where nothing is said, in 32
    /// bits, as Hugging Face's code and SGLang keep those of gated delta rules.
    #[must_use]
    pub const fn state_cache(&self) -> Format {
        match self.cache.state {
            Some(format) => format,
            None => Format::F32,
        }
    }

    /// Whether there are states of which nothing says how they are kept.
    pub(crate) fn has_unsaid_states(&self) -> bool {
        let has_state =
            |layers: &Layers| matches!(layers.mixer, Mixer::DeltaNet(_) | Mixer::Mamba2(_));
        self.cache.state.is_none() && self.layers.iter().any(has_state)
    }

    /// How they are kept at the least, for a bound: where nothing is said, in 16 bits, since vLLM by default takes the
    /// model's own format.
    pub(crate) const fn least_state_cache(&self) -> Format {
        match self.cache.state {
            Some(format) => format,
            None => Format::Bf16,
        }
    }

    /// The most that `count` layers in a row come to, where a layer of each kind in [`Model::layers`] has `each`.
    pub(crate) fn most_in_a_row(&self, count: u64, each: &[f64]) -> f64 {
        let all: f64 = self.layers.iter().zip(each).map(|(of, each)| of.count as f64 * each).sum();
        let layers = self.layers.iter().map(|layers| layers.count).sum::<u64>();
        if count >= layers {
            return all;
        }
        let at = |kind: &u32| each.get(*kind as usize).copied().unwrap_or(0.0);
        let width = count as usize;
        let mut sum: f64 = self.order.iter().take(width).map(at).sum();
        let mut most = sum;
        for (leaves, comes) in self.order.iter().zip(self.order.iter().skip(width)) {
            sum += at(comes) - at(leaves);
            most = most.max(sum);
        }
        // Whoever changed the layers since has none in order: then they are taken to be alike.
        if self.order.len() as u64 == layers { most } else { all * count as f64 / layers as f64 }
    }

    /// How the LM head is stored.
    #[must_use]
    pub const fn head_format(&self) -> Format {
        self.tables.head
    }
}

/// As [`Model::unread_in_words`].
pub(crate) fn unread_in_words(unread: &[String]) -> Option<String> {
    const SHOWN: usize = 4;
    let shown = unread.get(..unread.len().min(SHOWN)).filter(|shown| !shown.is_empty())?.join(", ");
    Some(match unread.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    })
}
