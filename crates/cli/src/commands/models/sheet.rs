//! What there is to say of a model, as data.

use fizeau::core::{Bytes, Tokens};
use fizeau::roofline::{FeedForward, KnownModel, Layers, Mixer, Model, Tensors};
use serde::Serialize;

/// One model.
#[derive(Debug, Serialize)]
pub(super) struct Sheet {
    pub(super) name: String,
    /// The repository on Hugging Face; absent for a file.
    pub(super) repository: Option<&'static str>,
    pub(super) architecture: String,
    /// What it is made of, in a few words.
    pub(super) kind: String,
    pub(super) layers: u64,
    pub(super) hidden: u64,
    pub(super) vocabulary: u64,
    pub(super) max_context: Option<u64>,
    pub(super) params: Params,
    pub(super) weight_bytes: f64,
    pub(super) streamed_weight_bytes: f64,
    /// What one more token takes where the whole context is kept; windows and states come on top.
    pub(super) kv_bytes_per_token: f64,
    /// What a sequence keeps at most, where no layer keeps the whole context.
    pub(super) cache_limit: Option<f64>,
    pub(super) kv_cache: String,
    /// What a sequence keeps at a few contexts.
    pub(super) cache: Vec<Kept>,
    pub(super) tensors: Vec<Tensor>,
    pub(super) warnings: Vec<String>,
}

/// The counts of parameters.
#[derive(Debug, Serialize)]
pub(super) struct Params {
    pub(super) total: u64,
    pub(super) active: u64,
    pub(super) streamed: u64,
    /// Of the modules for further tokens, not in the other counts.
    pub(super) mtp: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Kept {
    pub(super) context: u64,
    pub(super) bytes: f64,
}

/// The tensors of a class and a format.
#[derive(Debug, Serialize)]
pub(super) struct Tensor {
    pub(super) class: &'static str,
    pub(super) format: String,
    pub(super) stored: u64,
    pub(super) active: u64,
    pub(super) streamed: u64,
    pub(super) bytes: f64,
}

/// Contexts to show the cache at.
const CONTEXTS: [u64; 4] = [1024, 8192, 131_072, 1_048_576];

impl Sheet {
    pub(super) fn of(name: &str, known: Option<&KnownModel>, model: &Model) -> Self {
        let counted = model.parameters();
        let kept = |context| Kept { context, bytes: model.cache_bytes(context as f64).get() };
        Self {
            name: name.to_owned(),
            repository: known.map(KnownModel::repository),
            architecture: model.architecture().to_owned(),
            kind: kind(model),
            layers: model.layers().iter().map(|layers| layers.count).sum(),
            hidden: model.hidden(),
            vocabulary: model.vocabulary(),
            max_context: model.max_context().map(Tokens::get),
            params: Params {
                total: counted.total,
                active: counted.active,
                streamed: counted.streamed,
                mtp: counted.draft,
            },
            weight_bytes: model.weight_bytes().get(),
            streamed_weight_bytes: model.streamed_weight_bytes().get(),
            kv_bytes_per_token: model.kv_bytes_per_token().get(),
            cache_limit: model.cache_limit().map(Bytes::get),
            kv_cache: model.kv_cache().to_string(),
            cache: CONTEXTS.into_iter().map(kept).collect(),
            tensors: model.tensors().iter().map(Tensor::of).collect(),
            warnings: model.warnings().to_vec(),
        }
    }
}

impl Tensor {
    fn of(tensors: &Tensors) -> Self {
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
    let any = |is: fn(&Layers) -> bool| model.layers().iter().any(is);
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
