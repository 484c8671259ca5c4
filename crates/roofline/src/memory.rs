//! What weights and caches take.

use crate::model::{AttentionKeys, Mixer, TensorClass};
use crate::operator::{Operator, OperatorCut, head, operators_of};
use crate::reach::{LayerReach, ModelReaches};
use crate::span::ContextSpan;
use crate::{Deployment, Device, Model, Serving, UniformLoad};

/// What weights and caches take, in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Memory {
    /// Weights on the fullest device, as engines spread them.
    weights: f64,
    /// Of these, the embedding and the LM head.
    tables: f64,
    /// All weights of a replica, none repeated.
    ideal_weights: f64,
    /// What a sequence keeps on the fullest of the devices that serve it.
    real: SequenceMemory,
    /// What a sequence keeps in all, nothing repeated.
    ideal: SequenceMemory,
}

/// What a sequence keeps.
#[derive(Debug, Clone, PartialEq)]
struct SequenceMemory {
    /// Bytes of a token, for each reach of the model.
    tokens: Vec<(LayerReach, f64)>,
    /// Bytes of states, whatever the context.
    state: f64,
}

impl SequenceMemory {
    fn of(
        model: &Model,
        reaches: &ModelReaches,
        cut: OperatorCut,
        share: impl Fn(u64) -> f64,
        layers_together: u64,
    ) -> Self {
        // What a layer of each kind keeps, by reach, and of states.
        let none = || vec![0.0; model.layers.len()];
        let (mut by_reach, mut states) = (vec![none(); reaches.len()], none());
        let put = |each: &mut [f64], kind: usize, bytes| {
            each.get_mut(kind).into_iter().for_each(|own| *own = bytes);
        };
        for (kind, layers) in model.layers.iter().enumerate() {
            let (reach, bytes, heads) = match &layers.mixer {
                Mixer::Attention(layer) if layer.keys != AttentionKeys::Shared => (
                    LayerReach::of_attention(layer),
                    cut.attention_bytes(layer, model.kv_cache()),
                    layer.kv_heads,
                ),
                Mixer::Latent(layer) => {
                    let (latent, keys) = cut.latent_bytes(layer, model.kv_cache());
                    (LayerReach::of_latent(layer), latent + keys, 1)
                }
                Mixer::DeltaNet(layer) => {
                    let (state, convolution) =
                        (layer.state_elements(), layer.convolution_elements());
                    let bytes = cut.state_bytes(model, state, convolution);
                    put(&mut states, kind, bytes * share(layer.value_heads));
                    continue;
                }
                Mixer::Mamba2(layer) => {
                    let (state, convolution) =
                        (layer.state_elements(), layer.convolution_elements());
                    let bytes = cut.state_bytes(model, state, convolution);
                    put(&mut states, kind, bytes * share(layer.heads));
                    continue;
                }
                Mixer::Attention(_) | Mixer::None => continue,
            };
            let place = reaches.place(reach).index;
            if let Some(each) = by_reach.get_mut(place) {
                put(each, kind, bytes * share(heads));
            }
        }
        let sum = |each: &Vec<f64>| model.most_in_a_row(layers_together, each);
        let tokens = reaches.iter().zip(&by_reach).map(|(reach, each)| (*reach, sum(each)));
        let mut kept = Self { tokens: tokens.collect(), state: sum(&states) };
        kept.tokens.retain(|(_, bytes)| *bytes > 0.0);
        kept
    }

    /// On average over `contexts`, without the first `shared` tokens, which others have as well.
    fn mean(&self, contexts: ContextSpan, shared: f64) -> f64 {
        let own = ContextSpan::between(contexts.from - shared, contexts.to - shared);
        let tokens = self.tokens.iter().map(|(reach, bytes)| bytes * reach.mean_kept(own));
        tokens.sum::<f64>() + self.state
    }

    /// The most that it took up to `context`: a chunk was full before the next began.
    fn most(&self, context: f64, shared: f64) -> f64 {
        let own = context - shared;
        let tokens = self.tokens.iter().map(|(reach, bytes)| bytes * own.min(reach.kept));
        tokens.sum::<f64>() + self.state
    }
}

impl Memory {
    pub(crate) fn new(model: &Model, deployment: &Deployment, reaches: &ModelReaches) -> Self {
        let tensor = u64::from(deployment.tensor());
        let (most, all) = (layers_of_fullest_stage(model, deployment), u64::MAX);
        let by_heads = |heads: u64| heads.div_ceil(tensor) as f64 / heads.max(1) as f64;
        let (weights, tables) = fullest_weights(model, deployment);
        Self {
            weights,
            tables,
            ideal_weights: model.weight_bytes().get(),
            real: SequenceMemory::of(model, reaches, OperatorCut::Real, by_heads, most),
            ideal: SequenceMemory::of(model, reaches, OperatorCut::Ideal, |_| 1.0, all),
        }
    }

    /// What a device has for caches, and what of that a sequence of up to `context` tokens takes.
    pub(crate) fn room(&self, device: &Device, serving: &Serving) -> f64 {
        usable(device, serving) - self.weights
    }

    /// How many sequences of `load` a replica can hold at best, all memory being free for them, on average over the
    /// passes that they take part in, all beginning with the same `shared` tokens; infinite where they keep nothing.
    pub(crate) fn most(
        &self,
        device: &Device,
        deployment: &Deployment,
        load: &UniformLoad,
        shared: f64,
    ) -> f64 {
        let (input, output, _) = load.lengths();
        let contexts = ContextSpan::between(input, input + output - 1.0);
        self.ideal_room(device, deployment) / self.ideal.mean(contexts, shared)
    }

    /// The memory of a replica beside its weights, none repeated.
    pub(crate) fn ideal_room(&self, device: &Device, deployment: &Deployment) -> f64 {
        device.memory().get() * deployment.devices_per_replica() as f64 - self.ideal_weights
    }

    pub(crate) const fn ideal_weights(&self) -> f64 {
        self.ideal_weights
    }

    pub(crate) const fn weights(&self) -> f64 {
        self.weights
    }

    /// Of the weights, the embedding and the LM head.
    pub(crate) const fn tables(&self) -> f64 {
        self.tables
    }

    /// What a sequence of `context` tokens keeps in all.
    pub(crate) fn ideal_sequence(&self, context: f64) -> f64 {
        self.ideal.most(context, 0.0)
    }

    /// What one more token takes where the whole context is kept, as few bytes as would do.
    pub(crate) fn ideal_per_token(&self) -> f64 {
        let is_whole = |(reach, _): &&(LayerReach, f64)| reach.kept.is_infinite();
        self.ideal.tokens.iter().filter(is_whole).map(|(_, bytes)| bytes).sum()
    }

    /// What a sequence of `context` tokens keeps on the fullest of its devices, `shared` tokens apart.
    pub(crate) fn sequence(&self, context: f64, shared: f64) -> f64 {
        self.real.most(context, shared)
    }

    /// Bytes that each reach keeps of a token in all.
    pub(crate) fn ideal_kept(&self) -> (&[(LayerReach, f64)], f64) {
        (&self.ideal.tokens, self.ideal.state)
    }
}

/// What an engine may use of a device.
pub(crate) fn usable(device: &Device, serving: &Serving) -> f64 {
    device.usable_memory().get() * serving.memory_share - serving.reserve.get()
}

/// `ceil(L / p)`.
fn layers_of_fullest_stage(model: &Model, deployment: &Deployment) -> u64 {
    let layers: u64 = model.layers.iter().map(|layers| layers.count).sum();
    layers.div_ceil(u64::from(deployment.pipeline()))
}

/// Of the layers, the share that the fullest stage has: `ceil(L / p) / L`.
pub(crate) fn fullest_stage(model: &Model, deployment: &Deployment) -> f64 {
    let layers: u64 = model.layers.iter().map(|layers| layers.count).sum();
    layers_of_fullest_stage(model, deployment) as f64 / layers.max(1) as f64
}

/// Layers' matrices as engines cut them, tables by tensor parallelism, norms and biases whole. With several stages the
/// embedding and the LM head lie on different ones, and the fullest has as many layers in a row as take most. With the tables, and of
/// these alone.
fn fullest_weights(model: &Model, deployment: &Deployment) -> (f64, f64) {
    let bytes = |operator: &Operator| {
        let experts = operator.experts.map_or(0.0, |routed| routed.each * routed.count);
        operator.weights + experts
    };
    let each = model.layers.iter().map(|layers| {
        let all = operators_of(model, deployment, OperatorCut::Real, layers);
        all.iter().map(bytes).sum::<f64>() / layers.count as f64
    });
    let each: Vec<f64> = each.collect();
    let layers = model.most_in_a_row(layers_of_fullest_stage(model, deployment), &each);
    let stage = fullest_stage(model, deployment);
    let head = head(model, deployment, OperatorCut::Real).weights;
    let (mut embedding, mut vectors, mut is_tied) = (0.0, 0.0, true);
    for tensors in model.tensors() {
        match tensors.class {
            TensorClass::Embedding => {
                embedding = tensors.bytes().get() / f64::from(deployment.tensor());
            }
            TensorClass::Vectors | TensorClass::ExpertBiases => vectors += tensors.bytes().get(),
            TensorClass::Head => is_tied = false,
            _ => {}
        }
    }
    let tables = match (is_tied, deployment.pipeline()) {
        (true, _) => embedding,
        (false, 1) => embedding + head,
        (false, _) => embedding.max(head),
    };
    (layers + vectors * stage + tables, tables)
}

/// What else lies on each device, in bytes: for each sequence, and once.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct OtherMemory {
    pub(crate) own: f64,
    pub(crate) once: f64,
}
