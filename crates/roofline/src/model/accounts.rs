//! What a model stores and streams, counted.

use std::fmt;

use fizeau_core::Bytes;

use crate::Format;

use super::{Dense, FeedForward, Keys, Layers, Mixer, Model};

/// The three counts that are all called a model's parameters, and the MTP module's apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameters {
    /// Every parameter of the base model that is stored. A tied table counts once.
    pub total: u64,
    /// Those that one token uses, as publishers count: of the experts only the token's own, and both tables.
    pub active: u64,
    /// Those that a decode step of one token reads: the matrices that it multiplies by and the LM head. The input
    /// embedding is not among them (single rows are gathered) unless it is tied, nor are norms and biases.
    pub streamed: u64,
    /// Those of the MTP module, its projection included, tables not.
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
    /// The LM head, where it is not the embedding.
    Head,
}

impl TensorClass {
    /// The name used in files: `embedding`, `shared_experts`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Embedding => "embedding",
            Self::Attention => "attention",
            Self::Indexer => "indexer",
            Self::Recurrent => "recurrent",
            Self::Dense => "dense",
            Self::Experts => "experts",
            Self::SharedExperts => "shared_experts",
            Self::Router => "router",
            Self::Vectors => "vectors",
            Self::Head => "head",
        }
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
        let mut all = Tally::default();
        let table = self.vocabulary * self.hidden;
        all.add(TensorClass::Embedding, self.tables.embedding, table, table);
        if !self.tables.tied {
            all.add(TensorClass::Head, self.tables.head, table, table);
        }
        // The final norm.
        all.add(TensorClass::Vectors, Format::Bf16, self.hidden, self.hidden);
        for layers in &self.layers {
            all.add_layers(layers, self.hidden);
        }
        all.0.sort_by_key(|tensors| tensors.class);
        all.0
    }

    /// The counts of parameters.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        let tensors = self.tensors();
        let sum = |of: fn(&Tensors) -> u64| tensors.iter().map(of).sum::<u64>();
        let streams = |class| match class {
            TensorClass::Embedding => self.tables.tied,
            TensorClass::Vectors => false,
            _ => true,
        };
        let streamed =
            tensors.iter().filter(|tensors| streams(tensors.class)).map(|t| t.active).sum();
        let mut draft = Tally::default();
        if let Some(layers) = &self.draft {
            draft.add_layers(layers, self.hidden);
        }
        Parameters {
            total: sum(|t| t.stored),
            active: sum(|t| t.active),
            streamed,
            draft: draft.0.iter().map(|t| t.stored).sum(),
        }
    }

    /// What all weights of the base model take in memory.
    #[must_use]
    pub fn weight_bytes(&self) -> Bytes {
        self.tensors().iter().fold(Bytes::default(), |sum, tensors| sum + tensors.bytes())
    }

    /// What one decoded token reads of the weights when it is alone: the bytes of [`Parameters::streamed`].
    #[must_use]
    pub fn streamed_weight_bytes(&self) -> Bytes {
        let mut sum = Bytes::default();
        for tensors in self.tensors() {
            let format = match tensors.class {
                TensorClass::Embedding if self.tables.tied => self.tables.head,
                TensorClass::Embedding | TensorClass::Vectors => continue,
                _ => tensors.format,
            };
            sum = sum + format.element_size() * tensors.active as f64;
        }
        sum
    }

    /// What one more token of a sequence takes in the caches of the layers that see the whole context. Layers
    /// with a window stop growing at its length: see [`Model::cache_bytes`].
    #[must_use]
    pub fn kv_bytes_per_token(&self) -> Bytes {
        let of = |layers: &Layers| match &layers.mixer {
            Mixer::Attention(attention) if attention.window.is_none() => attention.kept_elements(),
            Mixer::Latent(latent) => latent.kept_elements(),
            _ => 0,
        };
        let elements: u64 = self.layers.iter().map(|layers| layers.count * of(layers)).sum();
        self.cache.kv.element_size() * elements as f64
    }

    /// What a sequence of `context` tokens keeps: keys and values (or latents), within their windows, and states.
    #[must_use]
    pub fn cache_bytes(&self, context: f64) -> Bytes {
        let mut kept = Bytes::default();
        for layers in &self.layers {
            let count = layers.count as f64;
            let (per_token, seen, state) = match &layers.mixer {
                Mixer::Attention(attention) => {
                    let seen =
                        attention.window.map_or(context, |window| context.min(window as f64));
                    (attention.kept_elements(), seen, 0)
                }
                Mixer::Latent(latent) => (latent.kept_elements(), context, 0),
                Mixer::DeltaNet(layer) => {
                    (0, 0.0, layer.state_elements() + layer.convolution_elements())
                }
                Mixer::Mamba2(layer) => {
                    (0, 0.0, layer.state_elements() + layer.convolution_elements())
                }
                Mixer::None => (0, 0.0, 0),
            };
            kept = kept
                + self.cache.kv.element_size() * (count * per_token as f64 * seen)
                + self.cache.state.element_size() * (count * state as f64);
        }
        kept
    }
}

impl super::Attention {
    /// Elements that a token adds to the cache: none where the cache is another layer's.
    const fn kept_elements(&self) -> u64 {
        match self.keys {
            Keys::Own | Keys::AreValues => self.cache_elements(),
            Keys::Shared => 0,
        }
    }
}

impl super::Latent {
    /// Elements that a token adds to the cache, the indexer's key included.
    fn kept_elements(&self) -> u64 {
        self.cache_elements() + self.indexer.as_ref().map_or(0, |indexer| indexer.dim)
    }
}

#[derive(Default)]
struct Tally(Vec<Tensors>);

impl Tally {
    fn add(&mut self, class: TensorClass, format: Format, stored: u64, active: u64) {
        if stored == 0 {
            return;
        }
        let alike = |known: &&mut Tensors| known.class == class && known.format == format;
        match self.0.iter_mut().find(alike) {
            Some(known) => {
                known.stored += stored;
                known.active += active;
            }
            None => self.0.push(Tensors { class, format, stored, active }),
        }
    }

    fn add_vectors(&mut self, elements: u64) {
        self.add(TensorClass::Vectors, Format::Bf16, elements, elements);
    }

    fn add_layers(&mut self, layers: &Layers, hidden: u64) {
        let count = layers.count;
        self.add_mixer(&layers.mixer, count, hidden);
        match &layers.feed_forward {
            FeedForward::Dense(dense) => self.add_dense(TensorClass::Dense, dense, count, hidden),
            FeedForward::Experts(experts) => {
                let each = experts.each.matrix_elements(hidden);
                let (stored, active) =
                    (count * experts.count * each, count * experts.per_token * each);
                self.add(TensorClass::Experts, experts.each.format, stored, active);
                // A routed expert's biases are as few as its matrices are many: all count as active.
                self.add_vectors(
                    count * (experts.count * experts.each.vectors + experts.router_vectors),
                );
                let router = count * hidden * experts.count;
                self.add(TensorClass::Router, experts.router_format, router, router);
                if let Some(shared) = &experts.shared {
                    self.add_dense(TensorClass::SharedExperts, shared, count, hidden);
                }
            }
            FeedForward::None => {}
        }
        self.add_vectors(count * layers.norms);
    }

    fn add_dense(&mut self, class: TensorClass, dense: &Dense, count: u64, hidden: u64) {
        let elements = count * dense.matrix_elements(hidden);
        self.add(class, dense.format, elements, elements);
        self.add_vectors(count * dense.vectors);
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
                    self.add(TensorClass::Indexer, layer.format, matrices, matrices);
                    self.add_vectors(count * indexer.vectors);
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
        self.add(class, format, count * matrices, count * matrices);
        self.add_vectors(count * vectors);
    }
}
