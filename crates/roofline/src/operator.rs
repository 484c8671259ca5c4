//! The operators of a pass, each an affine account of what it reads and computes on one device.

use crate::model::{Attention, Dense, Experts, FeedForward, Latent, Layers, Mixer};
use crate::{Deployment, Format, Model};

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
    /// Bytes of activations in and out for each such token.
    pub(crate) activations: f64,
    /// FLOPs for each pair of a query's and a key's position.
    pub(crate) per_pair: Pairs,
    /// Bytes of cache for each token that a sequence sees.
    pub(crate) cached: f64,
    /// How many tokens back it sees; infinite: all.
    pub(crate) cap: f64,
    /// Bytes of state read and written for each sequence.
    pub(crate) state: f64,
    /// Of the replica's tokens and sequences, the share that this device works on.
    pub(crate) share: f64,
    /// Which positions it works on.
    pub(crate) positions: Positions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperatorKind {
    Projections,
    Attention,
    Indexer,
    Recurrent,
    Dense,
    Experts,
    Shared,
    Router,
    Head,
}

/// FLOPs per pair: latent attention expands keys in prefill and absorbs the expansion in decode.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Pairs {
    pub(crate) prefill: f64,
    pub(crate) decode: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Routed {
    /// Bytes that one expert takes on a device, all layers together.
    pub(crate) each: f64,
    /// `E`.
    pub(crate) count: f64,
    /// `k`.
    pub(crate) per_token: f64,
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
pub(crate) enum Cut {
    /// Evenly, whatever the deployment can really divide: the bound.
    Ideal,
    /// As engines do it: attention by heads within a group, caches of few heads repeated, routers whole.
    Real,
}

impl Operator {
    const fn new(kind: OperatorKind, format: Format) -> Self {
        Self {
            kind,
            format,
            weights: 0.0,
            experts: None,
            per_token: 0.0,
            activations: 0.0,
            per_pair: Pairs { prefill: 0.0, decode: 0.0 },
            cached: 0.0,
            cap: f64::INFINITY,
            state: 0.0,
            share: 1.0,
            positions: Positions::All,
        }
    }
}

/// The operators of `model` as one device of each stage sees them, all stages together.
pub(crate) fn operators(model: &Model, deployment: &Deployment, cut: Cut) -> Vec<Operator> {
    let mut all = Vec::new();
    let by = Builder { model, deployment, cut };
    for layers in model.layers() {
        by.mixer(layers, &mut all);
        by.feed_forward(layers, &mut all);
    }
    let table = model.hidden() * model.vocabulary();
    let tensor = f64::from(deployment.tensor());
    let mut head = by.matrices(OperatorKind::Head, model.head_format(), table, 1.0, tensor);
    head.positions = Positions::Sampled;
    all.push(head);
    all
}

struct Builder<'a> {
    model: &'a Model,
    deployment: &'a Deployment,
    cut: Cut,
}

impl Builder<'_> {
    /// Devices of a stage.
    fn stage(&self) -> f64 {
        self.deployment.devices_per_stage() as f64
    }

    fn groups(&self) -> f64 {
        f64::from(self.deployment.attention_groups())
    }

    fn tensor(&self) -> f64 {
        f64::from(self.deployment.tensor())
    }

    /// Matrices of `elements` in each of `count` layers, cut `ways` ways within an attention group.
    fn matrices(
        &self,
        kind: OperatorKind,
        format: Format,
        elements: u64,
        count: f64,
        ways: f64,
    ) -> Operator {
        let all = elements as f64 * count;
        let (ways, share) = match self.cut {
            Cut::Ideal => (self.stage(), 1.0),
            Cut::Real => (ways, 1.0 / self.groups()),
        };
        Operator {
            weights: format.element_size().get() * all / ways,
            per_token: 2.0 * all / ways,
            share,
            ..Operator::new(kind, format)
        }
    }

    /// The share of the sequences that a device works on, and into how many parts their caches are cut.
    fn cache_cut(&self, heads: u64) -> (f64, f64) {
        match self.cut {
            Cut::Ideal => (1.0, self.stage()),
            Cut::Real => (1.0 / self.groups(), self.tensor().min(heads as f64)),
        }
    }

    fn pair_cut(&self) -> f64 {
        match self.cut {
            Cut::Ideal => self.stage(),
            Cut::Real => self.tensor(),
        }
    }

    fn mixer(&self, layers: &Layers, all: &mut Vec<Operator>) {
        let (count, hidden) = (layers.count as f64, self.model.hidden());
        match &layers.mixer {
            Mixer::Attention(attention) => {
                let elements = attention.matrix_elements(hidden);
                let kind = OperatorKind::Projections;
                all.push(self.matrices(kind, attention.format, elements, count, self.tensor()));
                all.push(self.attention(attention, count));
            }
            Mixer::Latent(latent) => {
                let elements = latent.matrix_elements(hidden);
                let kind = OperatorKind::Projections;
                all.push(self.matrices(kind, latent.format, elements, count, self.tensor()));
                self.latent(latent, count, all);
            }
            Mixer::DeltaNet(layer) => {
                let state = layer.state_elements() + layer.convolution_elements();
                // Decay, read, correct, write, query: four multiply-adds and more an element (2.4: 4 to 6).
                let flops = 6.0 * layer.state_elements() as f64;
                let elements = layer.matrix_elements(hidden);
                all.push(self.recurrent(layer.format, elements, (state, flops), count));
            }
            Mixer::Mamba2(layer) => {
                let state = layer.state_elements() + layer.convolution_elements();
                let flops = 6.0 * layer.state_elements() as f64;
                let elements = layer.matrix_elements(hidden);
                all.push(self.recurrent(layer.format, elements, (state, flops), count));
            }
            Mixer::None => {}
        }
    }

    fn attention(&self, attention: &Attention, count: f64) -> Operator {
        let format = self.model.kv_cache();
        let (share, ways) = self.cache_cut(attention.kv_heads);
        let flops = attention.flops_per_pair() as f64 * count / self.pair_cut();
        Operator {
            per_pair: Pairs { prefill: flops, decode: flops },
            cached: format.element_size().get() * attention.cache_elements() as f64 * count / ways,
            cap: attention.window.map_or(f64::INFINITY, |window| window as f64),
            share,
            ..Operator::new(
                OperatorKind::Attention,
                attention_math(self.cut, format, attention.format),
            )
        }
    }

    fn latent(&self, latent: &Latent, count: f64, all: &mut Vec<Operator>) {
        let format = self.model.kv_cache();
        let least = |elements: u64| format.element_size() * elements as f64;
        // One latent for all heads: it cannot be cut by them.
        let (share, ways) = self.cache_cut(1);
        let cut = self.pair_cut();
        let cap = latent.indexer.as_ref().map_or(f64::INFINITY, |indexer| indexer.top_k as f64);
        // Layouts with scales are what engines have; a bound needs the values alone.
        let ideal = self.cut == Cut::Ideal;
        let kept = if ideal { least(latent.cache_elements()) } else { latent.cache_bytes(format) };
        all.push(Operator {
            per_pair: Pairs {
                prefill: latent.flops_per_pair_expanded() as f64 * count / cut,
                decode: latent.flops_per_pair_absorbed() as f64 * count / cut,
            },
            cached: kept.get() * count / ways,
            cap,
            share,
            ..Operator::new(
                OperatorKind::Attention,
                attention_math(self.cut, format, latent.format),
            )
        });
        if let Some(indexer) = &latent.indexer {
            let elements = indexer.matrix_elements(self.model.hidden(), latent.query_rank);
            let kind = OperatorKind::Indexer;
            let matrices = self.matrices(kind, latent.format, elements, count, 1.0);
            let flops = indexer.flops_per_pair() as f64 * count / indexer_ways(self.cut, cut);
            let kept = if ideal { least(indexer.dim) } else { indexer.cache_bytes(format) };
            all.push(Operator {
                per_pair: Pairs { prefill: flops, decode: flops },
                cached: kept.get() * count / ways,
                ..matrices
            });
        }
    }

    fn recurrent(
        &self,
        format: Format,
        elements: u64,
        (state, flops): (u64, f64),
        count: f64,
    ) -> Operator {
        let matrices =
            self.matrices(OperatorKind::Recurrent, format, elements, count, self.tensor());
        let cut = self.pair_cut();
        let kept = self.model.state_cache().element_size().get() * state as f64;
        Operator {
            per_token: matrices.per_token + flops * count / cut,
            // Read and written.
            state: 2.0 * kept * count / cut,
            ..matrices
        }
    }

    fn feed_forward(&self, layers: &Layers, all: &mut Vec<Operator>) {
        let count = layers.count as f64;
        match &layers.feed_forward {
            FeedForward::Dense(dense) => all.push(self.dense(OperatorKind::Dense, dense, count)),
            FeedForward::Experts(experts) => {
                all.push(self.experts(experts, count));
                if let Some(shared) = &experts.shared {
                    all.push(self.dense(OperatorKind::Shared, shared, count));
                }
                let router = experts.count * self.model.hidden();
                let format = experts.router_format;
                all.push(self.matrices(OperatorKind::Router, format, router, count, 1.0));
            }
            FeedForward::None => {}
        }
    }

    fn dense(&self, kind: OperatorKind, dense: &Dense, count: f64) -> Operator {
        let elements = dense.matrix_elements(self.model.hidden());
        self.matrices(kind, dense.format, elements, count, self.tensor())
    }

    /// Every token of the replica reaches the experts, which all devices of a stage share.
    fn experts(&self, experts: &Experts, count: f64) -> Operator {
        let format = experts.each.format;
        let elements = experts.each.matrix_elements(self.model.hidden()) as f64 * count;
        let each = format.element_size().get() * elements / self.stage();
        let (total, per_token) = (experts.count as f64, experts.per_token as f64);
        Operator {
            experts: Some(Routed { each, count: total, per_token }),
            per_token: 2.0 * elements * per_token / self.stage(),
            ..Operator::new(OperatorKind::Experts, format)
        }
    }
}

/// Engines keep the indexer whole on each device.
const fn indexer_ways(cut: Cut, pair_cut: f64) -> f64 {
    match cut {
        Cut::Ideal => pair_cut,
        Cut::Real => 1.0,
    }
}

/// What attention multiplies: what the cache holds; for the bound the projections' operands, if those are narrower.
fn attention_math(cut: Cut, cache: Format, projections: Format) -> Format {
    let is_narrower = projections.element_size().get() < cache.element_size().get();
    if cut == Cut::Ideal && is_narrower { projections } else { cache }
}
