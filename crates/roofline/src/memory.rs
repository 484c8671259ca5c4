//! What fits.

use fizeau_core::Bytes;

use crate::model::{Keys, Mixer, TensorClass};
use crate::operator::{Cut, OperatorKind, operators};
use crate::reach::{Reach, Reaches};
use crate::serving::Prefix;
use crate::span::Span;
use crate::system::System;
use crate::{Admission, Deployment, Device, Load, Model, Serving};

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
    real: Kept,
    /// What a sequence keeps in all, nothing repeated.
    ideal: Kept,
}

/// What a sequence keeps.
#[derive(Debug, Clone, PartialEq)]
struct Kept {
    /// Bytes of a token, for each reach of the model.
    tokens: Vec<(Reach, f64)>,
    /// Bytes of states, whatever the context.
    state: f64,
}

impl Kept {
    fn of(model: &Model, reaches: &Reaches, cut: Cut, share: impl Fn(u64) -> f64) -> Self {
        let empty = |reach: &Reach| (*reach, 0.0);
        let mut kept = Self { tokens: reaches.iter().map(empty).collect(), state: 0.0 };
        let size = model.kv_cache().element_size().get();
        for layers in model.layers() {
            let count = layers.count as f64;
            let (reach, bytes, heads) = match &layers.mixer {
                Mixer::Attention(layer) if layer.keys != Keys::Shared => (
                    Reach::of_attention(layer),
                    size * layer.cache_elements() as f64,
                    layer.kv_heads,
                ),
                Mixer::Latent(layer) => {
                    let (latent, keys) = cut.latent_bytes(layer, model.kv_cache());
                    (Reach::of_latent(layer), latent + keys, 1)
                }
                Mixer::DeltaNet(layer) => {
                    let (state, convolution) =
                        (layer.state_elements(), layer.convolution_elements());
                    let bytes = cut.state_bytes(model, state, convolution);
                    kept.state += bytes * count * share(layer.value_heads);
                    continue;
                }
                Mixer::Mamba2(layer) => {
                    let (state, convolution) =
                        (layer.state_elements(), layer.convolution_elements());
                    let bytes = cut.state_bytes(model, state, convolution);
                    kept.state += bytes * count * share(layer.heads);
                    continue;
                }
                Mixer::Attention(_) | Mixer::None => continue,
            };
            let place = reaches.place(reach).index;
            if let Some((_, sum)) = kept.tokens.get_mut(place) {
                *sum += bytes * count * share(heads);
            }
        }
        kept.tokens.retain(|(_, bytes)| *bytes > 0.0);
        kept
    }

    /// On average over `contexts`, without the first `shared` tokens, which others have as well.
    fn mean(&self, contexts: Span, shared: f64) -> f64 {
        let own = Span::between(contexts.from - shared, contexts.to - shared);
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
    pub(crate) fn new(model: &Model, deployment: &Deployment, reaches: &Reaches) -> Self {
        let tensor = u64::from(deployment.tensor());
        let stage = fullest_stage(model, deployment);
        let by_heads = |heads: u64| stage * heads.div_ceil(tensor) as f64 / heads.max(1) as f64;
        let (weights, tables) = fullest_weights(model, deployment, stage);
        Self {
            weights,
            tables,
            ideal_weights: model.weight_bytes().get(),
            real: Kept::of(model, reaches, Cut::Real, by_heads),
            ideal: Kept::of(model, reaches, Cut::Ideal, |_| 1.0),
        }
    }

    /// What a device has for caches, and what of that a sequence of up to `context` tokens takes.
    pub(crate) fn room(&self, device: &Device, serving: &Serving) -> f64 {
        usable(device, serving) - self.weights
    }

    /// How many sequences of `load` a replica can hold at best, all memory being free for them, on average over the
    /// passes that they take part in; infinite where they keep nothing.
    pub(crate) fn most(&self, device: &Device, deployment: &Deployment, load: &Load) -> f64 {
        let (input, output, cached) = load.lengths();
        let contexts = Span::between(input, input + output - 1.0);
        self.ideal_room(device, deployment) / self.ideal.mean(contexts, cached)
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

    /// What a sequence of `context` tokens keeps in all.
    pub(crate) fn ideal_sequence(&self, context: f64) -> f64 {
        self.ideal.most(context, 0.0)
    }

    /// What a sequence of `context` tokens keeps on the fullest of its devices, `shared` tokens apart.
    pub(crate) fn sequence(&self, context: f64, shared: f64) -> f64 {
        self.real.most(context, shared)
    }

    /// Bytes that each reach keeps of a token in all.
    pub(crate) fn ideal_kept(&self) -> (&[(Reach, f64)], f64) {
        (&self.ideal.tokens, self.ideal.state)
    }
}

/// What an engine may use of a device.
pub(crate) fn usable(device: &Device, serving: &Serving) -> f64 {
    device.usable_memory().get() * serving.memory_share - serving.reserve.get()
}

/// Of the layers, the share that the fullest stage has: `ceil(L / p) / L`.
pub(crate) fn fullest_stage(model: &Model, deployment: &Deployment) -> f64 {
    let layers: u64 = model.layers().iter().map(|layers| layers.count).sum();
    let most = layers.div_ceil(u64::from(deployment.pipeline()));
    most as f64 / layers.max(1) as f64
}

/// Layers' matrices as engines cut them, tables by tensor parallelism, norms and biases whole. With several stages the
/// embedding and the LM head lie on different ones. With the tables, and of these alone.
fn fullest_weights(model: &Model, deployment: &Deployment, stage: f64) -> (f64, f64) {
    let (mut layers, mut head) = (0.0, 0.0);
    for operator in operators(model, deployment, Cut::Real) {
        let experts = operator.experts.map_or(0.0, |routed| routed.each * routed.count);
        match operator.kind {
            OperatorKind::Head => head += operator.weights,
            // Counted below, those included that a step hardly reads.
            OperatorKind::Vectors => {}
            _ => layers += operator.weights + experts,
        }
    }
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
    ((layers + vectors) * stage + tables, tables)
}

/// What else lies on each device, in bytes: for each sequence, and once.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Beside {
    own: f64,
    once: f64,
}

/// What a device's memory is used for under a load, on the fullest device.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MemoryUse {
    /// What the device has.
    pub total: Bytes,
    /// What the engine leaves alone: all beyond its share, and its reserve.
    pub reserve: Bytes,
    /// The weights.
    pub weights: Bytes,
    /// One sequence's cache on average.
    pub sequence: Bytes,
    /// The caches of all sequences that run.
    pub cache: Bytes,
    /// What is left for more of them; 0 where the weights do not fit.
    pub free: Bytes,
}

impl System {
    /// What the weights take on the fullest device: what engines repeat on each rank counts, and a stage with a layer
    /// more than others.
    #[must_use]
    pub const fn weight_bytes_per_device(&self) -> Bytes {
        Bytes::new(self.memory_account().weights())
    }

    /// What a sequence of `context` tokens takes on each device that keeps a part of it. Latents, and heads fewer than
    /// ranks, are repeated.
    #[must_use]
    pub fn cache_bytes_per_device(&self, context: f64) -> Bytes {
        Bytes::new(self.memory_account().sequence(context, 0.0))
    }

    /// How many sequences of `load` all replicas together can run at once by their memory and
    /// [`crate::Serving::max_sequences`]: whole ones in each attention group, since none is split between two.
    ///
    /// `(usable - weights) / (cache of a sequence)` on the fullest device, rounded down, times attention groups and
    /// replicas.
    #[must_use]
    pub fn max_batch(&self, load: &Load) -> f64 {
        self.max_batch_beside(load, Beside::default())
    }

    /// The same with something beside it on each device.
    pub(crate) fn max_batch_beside(&self, load: &Load, beside: Beside) -> f64 {
        let serving = self.serving();
        let groups = f64::from(self.deployment().attention_groups())
            * f64::from(self.deployment().replicas());
        let (own, once) = self.resident(load);
        let room = self.memory_account().room(self.device(), serving) - once - beside.once;
        let fitting = if room > 0.0 { room / (own + beside.own) } else { 0.0 };
        let most = serving.max_sequences.map_or(f64::INFINITY, |most| most.get() as f64);
        (fitting.min(most).max(0.0) + 1e-9).floor() * groups
    }

    /// What this system keeps where it drafts for `other`. A module of the other model's own uses its tables.
    pub(crate) fn kept_beside(&self, other: &Self, load: &Load) -> Beside {
        let (own, once) = self.resident(load);
        Beside { own, once: once + self.weights_beside(other) }
    }

    /// What its weights take on each device beside those of `other`, for which it drafts, in bytes.
    pub(crate) fn weights_beside(&self, other: &Self) -> f64 {
        let memory = self.memory_account();
        let is_own_module = other.model().draft_model().as_ref() == Some(self.model());
        memory.weights - if is_own_module { memory.tables } else { 0.0 }
    }

    /// The sequences of `load` that run at once: its concurrency, or as many whole ones as fit. Where not even one
    /// fits, of which [`System::answer`] tells, figures are those of one.
    #[must_use]
    pub fn running_batch(&self, load: &Load) -> f64 {
        (load.concurrency.get() as f64).min(self.max_batch(load).floor()).max(1.0)
    }

    /// The most sequences of `load` that the silicon could hold, whatever engine serves it: all memory, nothing
    /// repeated, nothing rounded. What the bound on throughput takes.
    #[must_use]
    pub fn ideal_max_batch(&self, load: &Load) -> f64 {
        let most = self.memory_account().most(self.device(), self.deployment(), load);
        (most * f64::from(self.deployment().replicas())).max(0.0)
    }

    /// What the fullest device's memory is used for while `batch` sequences of `load` run.
    #[must_use]
    pub fn memory_use(&self, load: &Load, batch: f64) -> MemoryUse {
        let total = self.device().memory().get();
        let usable = usable(self.device(), self.serving());
        let (own, once) = self.resident(load);
        let groups = f64::from(self.deployment().attention_groups())
            * f64::from(self.deployment().replicas());
        let cache = own * (batch / groups).max(batch.min(1.0)) + once;
        let weights = self.memory_account().weights();
        MemoryUse {
            total: Bytes::new(total),
            reserve: Bytes::new(total - usable),
            weights: Bytes::new(weights),
            sequence: Bytes::new(own),
            cache: Bytes::new(cache),
            free: Bytes::new((usable - weights - cache).max(0.0)),
        }
    }

    /// What a sequence of `load` keeps of its own on the fullest of its devices, on average while it runs, and what all
    /// of them keep once.
    pub(crate) fn resident(&self, load: &Load) -> (f64, f64) {
        let (input, output, cached) = load.lengths();
        let serving = self.serving();
        let context = match serving.admission {
            Admission::AsItGrows => input + output / 2.0,
            Admission::Whole => input + output,
        };
        let block = serving.block.get().max(1) as f64;
        let rounded = (context / block).ceil() * block;
        match serving.prefix {
            Prefix::Shared if cached > 0.0 => {
                let memory = self.memory_account();
                (memory.sequence(rounded, cached), memory.sequence(cached, 0.0))
            }
            _ => (self.memory_account().sequence(rounded, 0.0), 0.0),
        }
    }
}
