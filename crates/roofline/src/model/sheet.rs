//! What there is to say of a model, as one document.

use fizeau_core::{Bytes, Tokens};
use serde::Serialize;

use super::{FeedForward, KnownModel, Layers, Mixer, Model, Parameters, Tensors};

/// A description of a model, ready to be written as JSON.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ModelSheet {
    /// What it is called.
    pub name: String,
    /// The repository on Hugging Face; absent for a file.
    pub repository: Option<&'static str>,
    /// What its config calls its architecture.
    pub architecture: String,
    /// What it is made of, in a few words.
    pub kind: String,
    /// How many layers it has.
    pub layers: u64,
    /// The hidden size.
    pub hidden: u64,
    /// How many tokens it knows.
    pub vocabulary: u64,
    /// The longest context; absent where the config is silent.
    pub max_context: Option<u64>,
    /// The counts of parameters.
    pub params: Parameters,
    /// All weights.
    pub weight_bytes: f64,
    /// What one decoded token reads of them when it is alone.
    pub streamed_weight_bytes: f64,
    /// What one more token takes where the whole context is kept; windows and states come on top.
    pub kv_bytes_per_token: f64,
    /// What a sequence keeps at most, where no layer keeps the whole context.
    pub cache_limit: Option<f64>,
    /// The format of the cache.
    pub kv_cache: String,
    /// What a sequence keeps at a few contexts.
    pub cache: Vec<CacheAt>,
    /// Its tensors by class and format.
    pub tensors: Vec<TensorSheet>,
    /// What of the config was not understood.
    pub warnings: Vec<String>,
}

/// The memory that a sequence keeps at some context.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct CacheAt {
    /// Its tokens.
    pub context: u64,
    /// What it keeps, in bytes.
    pub bytes: f64,
}

/// The tensors of a class and a format.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TensorSheet {
    /// The class, as in files.
    pub class: &'static str,
    /// How they are stored.
    pub format: String,
    /// Elements that are stored.
    pub stored: u64,
    /// Those of them that one token uses.
    pub active: u64,
    /// Those that a decode step reads.
    pub streamed: u64,
    /// What they take in memory.
    pub bytes: f64,
}

/// Contexts to show the cache at.
const CONTEXTS: [u64; 4] = [1024, 8192, 131_072, 1_048_576];

impl ModelSheet {
    /// That of `model`, which is called `name`, and which of the built-in ones it is.
    #[must_use]
    pub fn of(name: &str, known: Option<&KnownModel>, model: &Model) -> Self {
        let kept = |context| CacheAt { context, bytes: model.cache_bytes(context as f64).get() };
        Self {
            name: name.to_owned(),
            repository: known.map(|known| known.repository),
            architecture: model.architecture.to_owned(),
            kind: kind(model),
            layers: model.layers.iter().map(|layers| layers.count).sum(),
            hidden: model.hidden,
            vocabulary: model.vocabulary,
            max_context: model.max_context.map(Tokens::get),
            params: model.parameters(),
            weight_bytes: model.weight_bytes().get(),
            streamed_weight_bytes: model.streamed_weight_bytes().get(),
            kv_bytes_per_token: model.kv_bytes_per_token().get(),
            cache_limit: model.cache_limit().map(Bytes::get),
            kv_cache: model.kv_cache().to_string(),
            cache: CONTEXTS.into_iter().map(kept).collect(),
            tensors: model.tensors().iter().map(TensorSheet::from).collect(),
            warnings: model.warnings.to_vec(),
        }
    }
}

impl From<&Tensors> for TensorSheet {
    fn from(tensors: &Tensors) -> Self {
        Self {
            class: tensors.class.as_str(),
            format: tensors.format.to_string(),
            stored: tensors.stored,
            active: tensors.active,
            streamed: tensors.streamed,
            bytes: tensors.bytes().get(),
        }
    }
}

/// `MoE, MLA`: the feed-forward block first, then what makes its attention particular.
fn kind(model: &Model) -> String {
    let any = |is: fn(&Layers) -> bool| model.layers.iter().any(is);
    let experts = any(|layers| matches!(layers.feed_forward, FeedForward::Experts(_)));
    let mixers = [
        (any(|layers| matches!(&layers.mixer, Mixer::Latent(l) if l.indexer.is_some())), "DSA"),
        (any(|layers| matches!(&layers.mixer, Mixer::Latent(l) if l.indexer.is_none())), "MLA"),
        (any(|layers| matches!(layers.mixer, Mixer::DeltaNet(_))), "DeltaNet"),
        (any(|layers| matches!(layers.mixer, Mixer::Mamba2(_))), "Mamba-2"),
        (
            any(|layers| matches!(&layers.mixer, Mixer::Attention(a) if a.window.is_some())),
            "window",
        ),
    ];
    let particular = mixers.iter().filter(|(is, _)| *is).map(|(_, name)| *name);
    let words = [if experts { "MoE" } else { "dense" }].into_iter().chain(particular);
    words.collect::<Vec<_>>().join(", ")
}
