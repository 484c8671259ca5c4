//! The operators of a pass, each an affine account of what it reads and computes on one device.

mod feed_forward;
mod mixers;

use crate::model::{Attention, Latent, Layers, PromptEnd};
use crate::reach::{LayerReach, ModelReaches};
use crate::{Deployment, Format, Model, TensorClass};

/// One operator of all layers that have it alike, as one device of a stage sees it. Bytes and FLOPs, not yet time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Operator {
    pub(crate) kind: OperatorKind,
    /// How its operands are stored, which sets the rate of its arithmetic.
    pub(crate) format: Format,
    /// Bytes of weights that every pass reads.
    pub(crate) weights: f64,
    /// Experts, of which a pass reads those that its tokens pick.
    pub(crate) experts: Option<Routed>,
    /// FLOPs for each token that reaches the device.
    pub(crate) per_token: f64,
    /// And for each of these that is sampled: of a prompt the last one. All that is behind the last cache or state that a layer
    /// writes, for a bound.
    pub(crate) per_sampled: f64,
    /// Of its layers, the share that each token of a prompt goes through.
    pub(crate) whole: f64,
    /// Bytes of activations in and out for each such token.
    pub(crate) activations: f64,
    /// FLOPs for each pair of a query's and a key's position.
    pub(crate) per_pair: Pairs,
    /// FLOPs, in [`Operator::expanded_in`], for each cached token of a prompt whose latent is expanded anew, where engines do so unless
    /// attending to latents takes less.
    pub(crate) expansion: f64,
    /// How the matrices are stored that expand it.
    pub(crate) expanded_in: Format,
    /// Bytes of cache for each token of a sequence that it reads or writes.
    pub(crate) cached: f64,
    /// Which tokens those are.
    pub(crate) reach: LayerReach,
    /// Bytes of a sequence's state.
    pub(crate) state: f64,
    /// Of the replica's tokens and sequences, the share that this device works on.
    pub(crate) share: f64,
    /// Which positions it works on.
    pub(crate) positions: Positions,
}

impl Operator {
    /// Bytes of weights that a pass of one token reads.
    pub(crate) fn least_read(&self) -> f64 {
        self.weights + self.experts.map_or(0.0, |routed| routed.each * routed.per_token)
    }
}

/// What an operator is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OperatorKind {
    /// Matrices of attention: queries, keys, values, output.
    Projections,
    /// Attention over the cache.
    Attention,
    /// The indexer of sparse attention, its matrices and its scores.
    Indexer,
    /// Linear attention and state-space layers, matrices and states.
    Recurrent,
    /// Dense feed-forward blocks.
    Dense,
    /// Routed experts.
    Experts,
    /// Shared experts.
    Shared,
    /// Routers.
    Router,
    /// The LM head.
    Head,
    /// Norms, biases, sinks: read, and hardly computed with.
    Vectors,
}

fizeau_core::words! {
    /// The name used in files: `projections`, `shared_experts`.
    pub(crate) OperatorKind::as_str {
        Projections = "projections", Attention = "attention", Indexer = "indexer",
        Recurrent = "recurrent", Dense = "dense", Experts = "experts", Shared = "shared_experts",
        Router = "router", Head = "head", Vectors = "vectors",
    }
}

/// FLOPs per pair: latent attention expands keys in prefill and absorbs the expansion in decode.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Pairs {
    pub(crate) prefill: f64,
    /// Those of a prompt's last position, beside the others.
    pub(crate) last: f64,
    pub(crate) decode: f64,
}

impl Pairs {
    /// As many for each.
    const fn alike(flops: f64) -> Self {
        Self { prefill: flops, last: 0.0, decode: flops }
    }

    /// Decoding's with a token that all sequences begin with, of which keys and values can be kept expanded once for them all: the
    /// lesser of both, for a bound (TyphoonMLA, arXiv 2509.21081).
    pub(crate) fn of_shared(&self) -> f64 {
        self.decode.min(self.prefill + self.last)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Routed {
    /// Bytes that one expert takes on a device, all layers together.
    pub(crate) each: f64,
    /// `E`.
    pub(crate) count: f64,
    /// `k`.
    pub(crate) per_token: f64,
    /// Groups of devices that share them, `e`.
    pub(crate) groups: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Positions {
    /// Every token.
    All,
    /// The last of a prompt, and every decoded one: those that are sampled.
    Sampled,
}

/// How the work of a stage is cut among its devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperatorCut {
    /// Evenly, whatever the deployment can really divide; activations stay on chip: the bound.
    Ideal,
    /// As engines do it: attention by heads within a group, caches of few heads repeated, routers whole.
    Real,
}

impl OperatorCut {
    /// Bytes of a layer's state of so many elements, and of what its convolution remembers, in 16 bits.
    pub(crate) fn state_bytes(self, model: &Model, state: u64, convolution: u64) -> f64 {
        let format = match self {
            Self::Ideal => model.least_state_cache(),
            Self::Real => model.state_cache(),
        };
        format.element_size().get() * state as f64 + ACTIVATION * convolution as f64
    }

    /// Bytes of a token in one layer's keys and values: as engines keep them, or as few as would do.
    pub(crate) fn attention_bytes(self, layer: &Attention, format: Format) -> f64 {
        let elements = match self {
            Self::Ideal => layer.least_cache_elements(),
            Self::Real => layer.cache_elements(),
        };
        format.element_size().get() * elements as f64
    }

    /// Bytes of a token in one layer's latents and its indexer's keys. Layouts with scales are what engines have; a
    /// bound needs the values alone.
    pub(crate) fn latent_bytes(self, layer: &Latent, format: Format) -> (f64, f64) {
        let indexer = layer.indexer.as_ref();
        let (latent, keys) = match self {
            Self::Ideal => {
                let size = format.element_size();
                let keys = indexer.map(|indexer| size * indexer.dim as f64);
                (size * layer.cache_elements() as f64, keys)
            }
            Self::Real => {
                (layer.cache_bytes(format), indexer.map(|indexer| indexer.cache_bytes(format)))
            }
        };
        (latent.get(), keys.unwrap_or_default().get())
    }
}

impl Operator {
    const fn new(kind: OperatorKind, format: Format) -> Self {
        Self {
            kind,
            format,
            weights: 0.0,
            experts: None,
            per_token: 0.0,
            per_sampled: 0.0,
            whole: 1.0,
            activations: 0.0,
            per_pair: Pairs::alike(0.0),
            expansion: 0.0,
            expanded_in: format,
            cached: 0.0,
            reach: LayerReach::WHOLE,
            state: 0.0,
            share: 1.0,
            positions: Positions::All,
        }
    }
}

/// The operators of `model` as one device of each stage sees them, all stages together.
pub(crate) fn operators(model: &Model, deployment: &Deployment, cut: OperatorCut) -> Vec<Operator> {
    let mut all = Vec::new();
    let by = OperatorBuilder { model, reaches: &ModelReaches::of(model), deployment, cut };
    for layers in &model.layers {
        by.layers(layers, &mut all);
    }
    all.push(by.head());
    all.extend(by.vectors());
    all
}

/// Those of `layers`, which are of `model`.
pub(crate) fn operators_of(
    model: &Model,
    deployment: &Deployment,
    cut: OperatorCut,
    layers: &Layers,
) -> Vec<Operator> {
    let mut all = Vec::new();
    OperatorBuilder { model, reaches: &ModelReaches::of(model), deployment, cut }
        .layers(layers, &mut all);
    all
}

/// The LM head.
pub(crate) fn head(model: &Model, deployment: &Deployment, cut: OperatorCut) -> Operator {
    OperatorBuilder { model, reaches: &ModelReaches::default(), deployment, cut }.head()
}

/// Bytes of an activation: 16-bit, as engines pass them between operators.
const ACTIVATION: f64 = 2.0;

struct OperatorBuilder<'a> {
    model: &'a Model,
    reaches: &'a ModelReaches,
    deployment: &'a Deployment,
    cut: OperatorCut,
}

/// Elements of an operator's matrices, by how tensor parallelism cuts them.
#[derive(Debug, Clone, Copy, Default)]
struct OperatorElements {
    /// By all ranks.
    cut: u64,
    /// Not at all.
    whole: u64,
    /// By `heads.1` heads, as far as these go; then repeated: the first is the elements.
    heads: (u64, u64),
}

/// Elements that a token brings into and out of an operator's matrices, by how tensor parallelism cuts them.
#[derive(Debug, Clone, Copy, Default)]
struct OperatorWidths {
    whole: u64,
    cut: u64,
}

impl OperatorBuilder<'_> {
    fn layers(&self, layers: &Layers, all: &mut Vec<Operator>) {
        self.mixer(layers, all);
        self.feed_forward(layers, all);
    }

    fn head(&self) -> Operator {
        let (hidden, vocabulary) = (self.model.hidden, self.model.vocabulary);
        let logits = OperatorWidths { whole: hidden, cut: vocabulary };
        let parts = OperatorElements { cut: hidden * vocabulary, ..OperatorElements::default() };
        let format = self.model.head_format();
        let head = self.matrices(OperatorKind::Head, format, parts, logits, 1.0);
        Operator { positions: Positions::Sampled, ..head }
    }

    /// Devices of a stage.
    fn stage(&self) -> f64 {
        self.deployment.devices_per_stage() as f64
    }

    fn tensor(&self) -> f64 {
        f64::from(self.deployment.tensor())
    }

    /// Of the sequences, the share that a device works on.
    fn share(&self) -> f64 {
        match self.cut {
            OperatorCut::Ideal => 1.0,
            OperatorCut::Real => 1.0 / f64::from(self.deployment.attention_groups()),
        }
    }

    /// Ways in which work on all heads is cut.
    fn ways(&self) -> f64 {
        match self.cut {
            OperatorCut::Ideal => self.stage(),
            OperatorCut::Real => self.tensor(),
        }
    }

    /// Of what is kept for `heads` heads, the share that a device has: a head is not cut, so that the fullest device
    /// has `ceil(heads / t)` of them, and with more ranks than heads they are repeated.
    fn heads_share(&self, heads: u64) -> f64 {
        match self.cut {
            OperatorCut::Ideal => 1.0 / self.stage(),
            OperatorCut::Real => {
                let heads = heads.max(1);
                heads.div_ceil(u64::from(self.deployment.tensor())) as f64 / heads as f64
            }
        }
    }

    /// `operator` of these layers, of which a prompt's tokens need, in the layer that writes the last cache or state, the share
    /// `written`, and nothing behind it: for a bound, since some engine may leave out the rest ([`PromptEnd`]).
    fn ended(&self, operator: Operator, layers: &Layers, written: f64) -> Operator {
        let PromptEnd { last, behind } = layers.end;
        if self.cut == OperatorCut::Real || last + behind == 0 {
            return operator;
        }
        let (count, last, behind) = (layers.count as f64, last as f64, behind as f64);
        let whole = (count - last - behind) / count;
        let needed = whole + written * last / count;
        let pairs = operator.per_pair;
        Operator {
            per_token: operator.per_token * needed,
            per_sampled: operator.per_token * (1.0 - needed),
            per_pair: Pairs {
                prefill: pairs.prefill * whole,
                last: pairs.prefill * (1.0 - whole),
                ..pairs
            },
            whole,
            ..operator
        }
    }

    /// Whole on each rank.
    fn vectors(&self) -> Option<Operator> {
        let mut bytes = 0.0;
        for tensors in self.model.tensors() {
            if tensors.class == TensorClass::Vectors {
                bytes += tensors.format.element_size().get() * tensors.streamed as f64;
            }
        }
        let whole = match self.cut {
            OperatorCut::Ideal => bytes / self.stage(),
            OperatorCut::Real => bytes,
        };
        let vectors = Operator::new(OperatorKind::Vectors, Format::Bf16);
        (whole > 0.0).then_some(Operator { weights: whole, share: self.share(), ..vectors })
    }

    /// Matrices of `parts` in each of `count` layers, within an attention group.
    fn matrices(
        &self,
        kind: OperatorKind,
        format: Format,
        parts: OperatorElements,
        widths: OperatorWidths,
        count: f64,
    ) -> Operator {
        let (of_heads, heads) = parts.heads;
        let (elements, activations) = match self.cut {
            OperatorCut::Ideal => ((parts.cut + parts.whole + of_heads) as f64 / self.stage(), 0.0),
            OperatorCut::Real => (
                parts.cut as f64 / self.tensor()
                    + parts.whole as f64
                    + of_heads as f64 * self.heads_share(heads),
                ACTIVATION * (widths.whole as f64 + widths.cut as f64 / self.tensor()),
            ),
        };
        Operator {
            weights: format.element_size().get() * elements * count,
            per_token: 2.0 * elements * count,
            activations: activations * count,
            share: self.share(),
            ..Operator::new(kind, format)
        }
    }
}
