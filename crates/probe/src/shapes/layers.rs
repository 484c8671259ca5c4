//! The operators of a model's layers on the busiest device, layer by layer.

mod states;

use fizeau_roofline::{
    Attention, AttentionKeys, Dense, Deployment, Experts, FeedForward, Format, Indexer, Latent,
    Layers, Mixer, Model, OperatorKind, TermKind,
};

use super::{ModelOperator, ModelPass};
use crate::measurement::{AttentionPhase, AttentionShape, Dtype, GemmShape, Operation};

/// All but what devices tell one another; alike ones are not put together.
pub(super) fn operators(
    model: &Model,
    deployment: &Deployment,
    pass: ModelPass,
) -> Vec<ModelOperator> {
    let groups = u64::from(deployment.attention_groups());
    let by = ShapesOf { model, deployment, pass, local: pass.sequences.div_ceil(groups) };
    let mut all = Vec::new();
    for layers in &model.layers {
        by.mixer(layers, &mut all);
        by.norms(layers, &mut all);
        by.feed_forward(layers, &mut all);
    }
    let sampled = GemmShape::new(by.local, by.cut(model.vocabulary), model.hidden);
    all.push(by.norm("final_norm", (by.local, model.hidden), 1));
    all.push(by.gemm((OperatorKind::Head, "head"), sampled, model.head_format(), 1));
    all
}

/// Of which term of the roofline a product is a part, and what it is for.
type Named<'a> = (OperatorKind, &'a str);

/// How products of one kind are stored, and how many layers have them.
#[derive(Clone, Copy)]
struct Stored {
    kind: OperatorKind,
    format: Format,
    count: u64,
}

struct ShapesOf<'a> {
    model: &'a Model,
    deployment: &'a Deployment,
    pass: ModelPass,
    /// Sequences of the attention group that has most.
    local: u64,
}

impl ShapesOf<'_> {
    /// Of `count` things the share of the fullest rank.
    fn cut(&self, count: u64) -> u64 {
        count.div_ceil(u64::from(self.deployment.tensor())).max(1)
    }

    /// Tokens of the attention group that has most.
    const fn tokens(&self) -> u64 {
        self.local * self.pass.tokens
    }

    fn gemm(
        &self,
        (kind, role): Named<'_>,
        shape: GemmShape,
        format: Format,
        count: u64,
    ) -> ModelOperator {
        let (role, part) = (role.to_owned(), TermKind::Operator(kind));
        let operation = Operation::Gemm { shape, output: Dtype::Bf16, role: Some(role.clone()) };
        ModelOperator { part, role, operation, format, count }
    }

    /// All tokens by weights of `inputs x outputs`.
    fn linear(&self, of: Stored, role: &str, (inputs, outputs): (u64, u64)) -> ModelOperator {
        let shape = GemmShape::new(self.tokens(), outputs, inputs);
        self.gemm((of.kind, role), shape, of.format, of.count)
    }

    fn mixer(&self, layers: &Layers, all: &mut Vec<ModelOperator>) {
        let (count, hidden) = (layers.count, self.model.hidden);
        let of = |kind, format| Stored { kind, format, count };
        let recurrent = |format, outputs: u64, inner: u64| {
            let of = of(OperatorKind::Recurrent, format);
            [
                self.linear(of, "recurrent_in", (hidden, self.cut(outputs))),
                self.linear(of, "recurrent_out", (self.cut(inner), hidden)),
            ]
        };
        match &layers.mixer {
            Mixer::Attention(layer) => {
                self.softmax(layer, of(OperatorKind::Projections, layer.format), all);
            }
            Mixer::Latent(layer) => {
                self.latent(layer, of(OperatorKind::Projections, layer.format), all);
            }
            Mixer::DeltaNet(layer) => {
                let keys = 2 * layer.key_heads * layer.key_dim;
                let values = layer.value_heads * layer.value_dim;
                let gates = match layer.gate_rank {
                    Some(rank) if layer.full_output_gate => rank + values + layer.value_heads,
                    Some(rank) => 2 * rank + layer.value_heads,
                    None => values + 2 * layer.value_heads,
                };
                all.extend(recurrent(layer.format, keys + values + gates, values));
                all.push(self.delta_net(layer, count));
            }
            Mixer::Mamba2(layer) => {
                let inner = layer.heads * layer.head_dim;
                let outputs = 2 * inner + 2 * layer.groups * layer.state + layer.heads;
                all.extend(recurrent(layer.format, outputs, inner));
                all.push(self.mamba(layer, count));
            }
            _ => {}
        }
    }

    fn softmax(&self, layer: &Attention, of: Stored, all: &mut Vec<ModelOperator>) {
        let hidden = self.model.hidden;
        let (heads, kv_heads) = (self.cut(layer.heads), self.cut(layer.kv_heads));
        let kv = match layer.keys {
            AttentionKeys::Own => kv_heads * (layer.key_dim + layer.value_dim),
            AttentionKeys::AreValues => kv_heads * layer.key_dim,
            _ => 0,
        };
        let queries = heads * layer.key_dim * layer.query_parts;
        match layer.query_rank {
            None => all.push(self.linear(of, "qkv", (hidden, queries + kv))),
            Some(rank) => {
                all.push(self.linear(of, "query_down_kv", (hidden, rank + kv)));
                all.push(self.linear(of, "query_up", (rank, queries)));
            }
        }
        let shape =
            self.attention_shape(heads, kv_heads, (layer.key_dim, layer.value_dim), layer.window);
        all.push(self.attention(shape, of.count));
        all.push(self.linear(of, "output", (heads * layer.value_dim, hidden)));
    }

    fn latent(&self, layer: &Latent, of: Stored, all: &mut Vec<ModelOperator>) {
        let hidden = self.model.hidden;
        let heads = self.cut(layer.heads);
        let queries = heads * (layer.nope_dim + layer.rope_dim);
        let latent = layer.kv_rank + layer.rope_dim;
        match layer.query_rank {
            None => all.push(self.linear(of, "query_kv_down", (hidden, queries + latent))),
            Some(rank) => {
                all.push(self.linear(of, "query_down_kv_down", (hidden, rank + latent)));
                all.push(self.linear(of, "query_up", (rank, queries)));
            }
        }
        let seen = layer.indexer.as_ref().map(|indexer| indexer.top_k);
        if self.pass.phase == AttentionPhase::Decode {
            // The expansion of keys and values goes into queries and outputs, a product a head.
            let each = |role, n: u64, k: u64| {
                let shape = GemmShape { batch: heads, ..GemmShape::new(self.tokens(), n, k) };
                self.gemm((of.kind, role), shape, of.format, of.count)
            };
            all.push(each("absorb_keys", layer.kv_rank, layer.nope_dim));
            let shape = self.attention_shape(heads, 1, (latent, layer.kv_rank), seen);
            all.push(self.attention(AttentionShape { shared_kv: true, ..shape }, of.count));
            all.push(each("absorb_values", layer.value_dim, layer.kv_rank));
        } else {
            let expanded = heads * (layer.nope_dim + layer.value_dim);
            all.push(self.linear(of, "kv_up", (layer.kv_rank, expanded)));
            let dims = (layer.nope_dim + layer.rope_dim, layer.value_dim);
            all.push(self.attention(self.attention_shape(heads, heads, dims, None), of.count));
        }
        if layer.output_gate {
            all.push(self.linear(of, "output_gate", (hidden, heads * layer.value_dim)));
        }
        all.push(self.linear(of, "output", (heads * layer.value_dim, hidden)));
        // Where the choice is an earlier layer's there is no indexer.
        if let Some(indexer) = layer.indexer.as_ref().filter(|indexer| indexer.heads > 0) {
            let of = Stored { kind: OperatorKind::Indexer, ..of };
            self.indexer(indexer, layer.query_rank.unwrap_or(hidden), of, all);
        }
    }

    /// Whole on each rank: the matrices, and all queries against all keys that they see, of a prompt in the mean.
    fn indexer(&self, indexer: &Indexer, from: u64, of: Stored, all: &mut Vec<ModelOperator>) {
        let Indexer { heads, dim, .. } = *indexer;
        all.push(self.linear(of, "indexer_queries", (from, heads * dim)));
        all.push(self.linear(of, "indexer_keys", (self.model.hidden, dim + heads)));
        let ModelPass { tokens, context, .. } = self.pass;
        let seen = context - (tokens - 1).min(context - 1) / 2;
        let scores = GemmShape { batch: self.local, ..GemmShape::new(tokens * heads, seen, dim) };
        let cache = self.model.kv_cache();
        all.push(self.gemm((of.kind, "indexer_scores"), scores, cache, of.count));
    }

    fn attention_shape(
        &self,
        query_heads: u64,
        kv_heads: u64,
        (key_dim, value_dim): (u64, u64),
        window: Option<u64>,
    ) -> AttentionShape {
        let ModelPass { phase, tokens, context, .. } = self.pass;
        // A window narrower than a prompt is a band; what is measured is a prompt as long as it, at least.
        let kv_len = window.map_or(context, |window| context.min(window.max(tokens)));
        AttentionShape {
            phase,
            batch: self.local,
            query_heads,
            // Heads are repeated where ranks are more than they.
            kv_heads: if query_heads.is_multiple_of(kv_heads) { kv_heads } else { query_heads },
            key_dim,
            value_dim,
            query_len: tokens,
            kv_len,
            causal: true,
            shared_kv: false,
            page_tokens: None,
        }
    }

    fn attention(&self, shape: AttentionShape, count: u64) -> ModelOperator {
        let role = "attention".to_owned();
        let operation = Operation::Attention { shape, role: Some(role.clone()) };
        let part = TermKind::Operator(OperatorKind::Attention);
        ModelOperator { part, role, operation, format: self.model.kv_cache(), count }
    }

    fn feed_forward(&self, layers: &Layers, all: &mut Vec<ModelOperator>) {
        let count = layers.count;
        match &layers.feed_forward {
            FeedForward::Dense(dense) => {
                let of = Stored { kind: OperatorKind::Dense, format: dense.format, count };
                self.dense("", dense, of, all);
            }
            FeedForward::Experts(experts) => self.experts(experts, count, all),
            _ => {}
        }
    }

    fn dense(&self, prefix: &str, dense: &Dense, of: Stored, all: &mut Vec<ModelOperator>) {
        let (hidden, width) = (self.model.hidden, self.cut(dense.width));
        let first = if dense.matrices > 2 { "gate_up" } else { "up" };
        let outputs = dense.matrices.saturating_sub(1) * width;
        all.push(self.linear(of, &format!("{prefix}{first}"), (hidden, outputs)));
        all.push(self.linear(of, &format!("{prefix}down"), (width, hidden)));
    }

    /// Every token of the replica reaches the experts, which all devices of a stage share.
    fn experts(&self, experts: &Experts, count: u64, all: &mut Vec<ModelOperator>) {
        let (hidden, format) = (self.model.hidden, experts.each.format);
        let of = |kind, format| Stored { kind, format, count };
        let router = of(OperatorKind::Router, experts.router_format);
        all.push(self.linear(router, "router", (hidden, experts.count)));
        let inner = experts.latent.unwrap_or(hidden);
        if let Some(latent) = experts.latent {
            let of = of(OperatorKind::Shared, experts.latent_format);
            all.push(self.linear(of, "experts_narrow", (hidden, self.cut(latent))));
            all.push(self.linear(of, "experts_widen", (self.cut(latent), hidden)));
        }
        let groups = u64::from(self.deployment.expert_groups()).max(1);
        let (local, tokens) =
            (experts.count.div_ceil(groups), self.pass.sequences * self.pass.tokens);
        let used = experts.per_token as f64 / experts.count as f64;
        let touched = local as f64 * (1.0 - (1.0 - used).powf(tokens as f64));
        let touched = (touched.round() as u64).clamp(1, local);
        let rows = (tokens * experts.per_token).div_ceil(groups).div_ceil(touched);
        let ranks = (self.deployment.devices_per_stage() / groups).max(1);
        let width = experts.each.width.div_ceil(ranks);
        let outputs = experts.each.matrices.saturating_sub(1) * width;
        let grouped = |role, n: u64, k: u64| {
            let shape = GemmShape { batch: touched, ..GemmShape::new(rows, n, k) };
            self.gemm((OperatorKind::Experts, role), shape, format, count)
        };
        all.push(grouped("experts_up", outputs, inner));
        all.push(grouped("experts_down", inner, width));
        if let Some(shared) = &experts.shared {
            self.dense("shared_", shared, of(OperatorKind::Shared, shared.format), all);
        }
    }
}
