//! What a model stores and streams, counted.

use std::fmt;

use fizeau_core::Bytes;
use serde::Serialize;

use crate::Format;

use super::{AttentionKeys, Dense, Experts, FeedForward, Layers, Mixer, Model, Tables};

/// The three counts that are all called a model's parameters, and the MTP modules' apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Parameters {
    /// Every parameter of the base model that is stored. A tied table counts once.
    pub total: u64,
    /// Those that one token uses, as publishers count: of the experts only the token's own, and both tables.
    pub active: u64,
    /// Those that a decode step of one token reads: see [`Tensors::streamed`].
    pub streamed: u64,
    /// Those of the MTP modules, their projections included, tables not; 0 where there is none.
    #[serde(rename = "mtp")]
    pub draft: u64,
}

/// Which part of a model a tensor belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TensorClass {
    /// The input embedding.
    Embedding,
    /// Projections of attention, of whatever kind.
    Attention,
    /// The indexer of sparse attention.
    Indexer,
    /// Linear attention and state-space layers.
    Recurrent,
    /// Dense feed-forward blocks.
    Dense,
    /// Routed experts.
    Experts,
    /// Shared experts.
    SharedExperts,
    /// Routers.
    Router,
    /// Norms, biases, sinks, convolution taps.
    Vectors,
    /// Biases of routed experts.
    ExpertBiases,
    /// The LM head, where it is not the embedding.
    Head,
}

fizeau_core::words! {
    /// The name used in files: `embedding`, `shared_experts`.
    pub TensorClass::as_str {
        Embedding = "embedding", Attention = "attention", Indexer = "indexer",
        Recurrent = "recurrent", Dense = "dense", Experts = "experts",
        SharedExperts = "shared_experts", Router = "router", Vectors = "vectors",
        ExpertBiases = "expert_biases", Head = "head",
    }
}

impl fmt::Display for TensorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.as_str().replace('_', " "))
    }
}

/// The tensors of one class in one format.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Tensors {
    /// Which part of the model.
    pub class: TensorClass,
    /// How they are stored.
    pub format: Format,
    /// Elements that are stored.
    pub stored: u64,
    /// Elements that one token uses: fewer than stored for routed experts.
    pub active: u64,
    /// Elements of the active ones that a decode step has to read. Not so the input embedding, unless it is
    /// tied (single rows are gathered); the router's correction terms; the final norm; and the norms of a layer of
    /// softmax attention and a dense block, whose gains fold into the matrices behind them.
    pub streamed: u64,
}

impl Tensors {
    /// What they take in memory.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.format.element_size() * self.stored as f64
    }
}

impl Model {
    /// Every tensor of the base model, by class and format, in the order of [`TensorClass`].
    #[must_use]
    pub fn tensors(&self) -> Vec<Tensors> {
        let mut all = ParameterTally::default();
        let table = self.vocabulary * self.hidden;
        let Tables { tied, embedding, head } = self.tables;
        let gathered = Elements { streamed: if tied { table } else { 0 }, ..Elements::all(table) };
        all.add(TensorClass::Embedding, embedding, gathered);
        if !tied {
            all.add(TensorClass::Head, head, Elements::all(table));
        }
        all.add(TensorClass::Vectors, Format::Bf16, Elements::unread(self.final_vectors));
        for layers in &self.layers {
            all.add_layers(layers, self.hidden);
        }
        all.0.sort_by_key(|tensors| tensors.class);
        all.0
    }

    /// The tensors of the MTP modules: their layers, and for each a projection of two hidden states to one and
    /// three norms. They share the base model's tables.
    pub(crate) fn draft_tensors(&self) -> Vec<Tensors> {
        let mut all = ParameterTally::default();
        if let Some(layers) = &self.draft {
            all.add_layers(layers, self.hidden);
            let projection = Elements::all(layers.count * 2 * self.hidden * self.hidden);
            all.add(TensorClass::Dense, Format::Bf16, projection);
        }
        all.0.sort_by_key(|tensors| tensors.class);
        all.0
    }

    /// The counts of parameters.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        let tensors = self.tensors();
        let sum = |of: fn(&Tensors) -> u64| tensors.iter().map(of).sum::<u64>();
        Parameters {
            total: sum(|t| t.stored),
            active: sum(|t| t.active),
            streamed: sum(|t| t.streamed),
            draft: self.draft_tensors().iter().map(|t| t.stored).sum(),
        }
    }

    /// What all weights of the base model take in memory.
    #[must_use]
    pub fn weight_bytes(&self) -> Bytes {
        self.tensors().iter().fold(Bytes::default(), |sum, tensors| sum + tensors.bytes())
    }

    /// What one decoded token reads of the weights when it is alone: the bytes of [`Parameters::streamed`], but
    /// for the biases of routed experts. They are under a thousandth of it; to leave them out keeps the figure a
    /// lower limit.
    #[must_use]
    pub fn streamed_weight_bytes(&self) -> Bytes {
        let mut sum = Bytes::default();
        for tensors in self.tensors() {
            let format = match tensors.class {
                TensorClass::ExpertBiases => continue,
                // Read as LM head; nothing where the two are apart.
                TensorClass::Embedding => self.tables.head,
                _ => tensors.format,
            };
            sum = sum + format.element_size() * tensors.streamed as f64;
        }
        sum
    }

    /// Whether all counts fit their type, with room for the factors that come on top; otherwise how many parameters
    /// there would be. No single layer exceeds it: the fields' ranges see to that.
    pub(super) fn is_countable(&self) -> Result<(), u128> {
        let mut all = 2 * u128::from(self.vocabulary) * u128::from(self.hidden);
        for layers in self.layers.iter().chain(&self.draft) {
            let mut one = ParameterTally::default();
            one.add_layers(&Layers { count: 1, ..layers.clone() }, self.hidden);
            let elements: u128 = one.0.iter().map(|t| u128::from(t.stored)).sum();
            let projection = 2 * u128::from(self.hidden) * u128::from(self.hidden);
            all += u128::from(layers.count) * (elements + projection);
        }
        if all < 1 << 58 { Ok(()) } else { Err(all) }
    }

    /// What one more token of a sequence takes in the caches of the layers that see the whole context. Layers
    /// with a window stop growing at its length: see [`Model::cache_bytes`].
    #[must_use]
    pub fn kv_bytes_per_token(&self) -> Bytes {
        let of = |layers: &Layers| match &layers.mixer {
            Mixer::Attention(attention) if attention.window.is_none() => {
                attention.kept_bytes(self.kv_cache())
            }
            Mixer::Latent(latent) => latent.kept_bytes(self.kv_cache()),
            _ => Bytes::default(),
        };
        let all = self.layers.iter().map(|layers| of(layers) * layers.count as f64);
        all.fold(Bytes::default(), |sum, layers| sum + layers)
    }

    /// The most that a sequence ever keeps, where no layer keeps the whole context: all have windows, or states. None
    /// where some layer keeps it all. [`Model::kv_bytes_per_token`] is 0 for such models, whatever they keep.
    #[must_use]
    pub fn cache_limit(&self) -> Option<Bytes> {
        self.widest_window().map(|window| self.cache_bytes(window as f64))
    }

    /// Whether all layers that keep anything of a token keep the whole context, so that their caches grow alike: none has a window or
    /// a state.
    #[must_use]
    pub fn keeps_whole_contexts(&self) -> bool {
        self.layers.iter().all(|layers| match &layers.mixer {
            Mixer::Attention(layer) => {
                layer.window.is_none() || layer.keys == AttentionKeys::Shared
            }
            Mixer::Latent(_) | Mixer::None => true,
            Mixer::DeltaNet(_) | Mixer::Mamba2(_) => false,
        })
    }

    /// The widest window where no layer keeps the whole context; 0 where none keeps keys at all.
    fn widest_window(&self) -> Option<u64> {
        let mut widest = 0;
        for layers in &self.layers {
            match &layers.mixer {
                Mixer::Attention(attention) if attention.keys == AttentionKeys::Shared => {}
                Mixer::Attention(attention) => widest = widest.max(attention.window?),
                Mixer::Latent(_) => return None,
                Mixer::DeltaNet(_) | Mixer::Mamba2(_) | Mixer::None => {}
            }
        }
        Some(widest)
    }

    /// What to say of a model whose cache stops growing.
    pub(crate) fn cache_note(&self) -> Option<String> {
        let (window, limit) = self.widest_window().zip(self.cache_limit())?;
        Some(format!(
            "no layer keeps the whole context: KV bytes per token are given as 0; a sequence keeps {:.0} bytes at most, \
             within a window of {window} tokens",
            limit.get()
        ))
    }

    /// What a sequence of `context` tokens keeps: keys and values (or latents), within their windows, and states.
    #[must_use]
    pub fn cache_bytes(&self, context: f64) -> Bytes {
        let mut kept = Bytes::default();
        for layers in &self.layers {
            let (count, none) = (layers.count as f64, Bytes::default());
            let (per_token, seen, state) = match &layers.mixer {
                Mixer::Attention(attention) => {
                    let seen =
                        attention.window.map_or(context, |window| context.min(window as f64));
                    (attention.kept_bytes(self.kv_cache()), seen, (0, 0))
                }
                Mixer::Latent(latent) => (latent.kept_bytes(self.kv_cache()), context, (0, 0)),
                Mixer::DeltaNet(layer) => {
                    (none, 0.0, (layer.state_elements(), layer.convolution_elements()))
                }
                Mixer::Mamba2(layer) => {
                    (none, 0.0, (layer.state_elements(), layer.convolution_elements()))
                }
                Mixer::None => (none, 0.0, (0, 0)),
            };
            kept = kept
                + per_token * (count * seen)
                + self.state_cache().element_size() * (count * state.0 as f64)
                // What convolutions remember are activations.
                + Format::Bf16.element_size() * (count * state.1 as f64);
        }
        kept
    }
}

impl super::Attention {
    /// What a token adds to the cache: nothing where the cache is another layer's.
    fn kept_bytes(&self, format: Format) -> Bytes {
        match self.keys {
            AttentionKeys::Shared => Bytes::default(),
            _ => format.element_size() * self.cache_elements() as f64,
        }
    }
}

impl super::Latent {
    /// What a token adds to the cache, the indexer's key included.
    fn kept_bytes(&self, format: Format) -> Bytes {
        let own = self.cache_bytes(format);
        self.indexer.as_ref().map_or(own, |indexer| own + indexer.cache_bytes(format))
    }
}

/// Elements of a tensor, or of several, counted in three ways.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Elements {
    stored: u64,
    active: u64,
    streamed: u64,
}

impl Elements {
    const fn all(elements: u64) -> Self {
        Self { stored: elements, active: elements, streamed: elements }
    }

    const fn unread(elements: u64) -> Self {
        Self { stored: elements, active: elements, streamed: 0 }
    }

    const fn some(stored: u64, active: u64) -> Self {
        Self { stored, active, streamed: active }
    }
}

#[derive(Default)]
struct ParameterTally(Vec<Tensors>);

impl ParameterTally {
    fn add(&mut self, class: TensorClass, format: Format, elements: Elements) {
        let Elements { stored, active, streamed } = elements;
        if stored == 0 {
            return;
        }
        let alike = |known: &&mut Tensors| known.class == class && known.format == format;
        match self.0.iter_mut().find(alike) {
            Some(known) => {
                known.stored += stored;
                known.active += active;
                known.streamed += streamed;
            }
            None => self.0.push(Tensors { class, format, stored, active, streamed }),
        }
    }

    fn add_vectors(&mut self, elements: Elements) {
        self.add(TensorClass::Vectors, Format::Bf16, elements);
    }

    fn add_layers(&mut self, layers: &Layers, hidden: u64) {
        let count = layers.count;
        self.add_mixer(&layers.mixer, count, hidden);
        match &layers.feed_forward {
            FeedForward::Dense(dense) => self.add_dense(TensorClass::Dense, dense, count, hidden),
            FeedForward::Experts(experts) => self.add_experts(experts, count, hidden),
            FeedForward::None => {}
        }
        let norms = count * layers.norms;
        let folds = matches!(
            (&layers.mixer, &layers.feed_forward),
            (Mixer::Attention(_), FeedForward::Dense(_))
        );
        self.add_vectors(if folds { Elements::unread(norms) } else { Elements::all(norms) });
    }

    fn add_dense(&mut self, class: TensorClass, dense: &Dense, count: u64, hidden: u64) {
        self.add(class, dense.format, Elements::all(count * dense.matrix_elements(hidden)));
        self.add_vectors(Elements::all(count * dense.vectors));
    }

    fn add_experts(&mut self, experts: &Experts, count: u64, hidden: u64) {
        let (stored, active) = (count * experts.count, count * experts.per_token);
        let each = experts.each_elements(hidden);
        let matrices = Elements::some(stored * each, active * each);
        self.add(TensorClass::Experts, experts.each.format, matrices);
        let biases = Elements::some(stored * experts.each.vectors, active * experts.each.vectors);
        self.add(TensorClass::ExpertBiases, Format::Bf16, biases);
        let router = Elements::all(count * experts.router_elements(hidden));
        self.add(TensorClass::Router, experts.router_format, router);
        self.add_vectors(Elements::unread(count * experts.router_vectors));
        let latent = Elements::all(count * experts.latent_elements(hidden));
        self.add(TensorClass::Dense, experts.latent_format, latent);
        if let Some(shared) = &experts.shared {
            self.add_dense(TensorClass::SharedExperts, shared, count, hidden);
        }
    }

    fn add_mixer(&mut self, mixer: &Mixer, count: u64, hidden: u64) {
        let (class, format, matrices, vectors) = match mixer {
            Mixer::Attention(layer) => {
                let matrices = layer.matrix_elements(hidden);
                (TensorClass::Attention, layer.format, matrices, layer.vectors)
            }
            Mixer::Latent(layer) => {
                if let Some(indexer) = &layer.indexer {
                    let matrices = count * indexer.matrix_elements(hidden, layer.query_rank);
                    self.add(TensorClass::Indexer, layer.format, Elements::all(matrices));
                    self.add_vectors(Elements::all(count * indexer.vectors));
                }
                let matrices = layer.matrix_elements(hidden);
                (TensorClass::Attention, layer.format, matrices, layer.vectors)
            }
            Mixer::DeltaNet(layer) => {
                let matrices = layer.matrix_elements(hidden);
                (TensorClass::Recurrent, layer.format, matrices, layer.vector_elements())
            }
            Mixer::Mamba2(layer) => {
                let matrices = layer.matrix_elements(hidden);
                (TensorClass::Recurrent, layer.format, matrices, layer.vectors)
            }
            Mixer::None => return,
        };
        self.add(class, format, Elements::all(count * matrices));
        self.add_vectors(Elements::all(count * vectors));
    }
}
