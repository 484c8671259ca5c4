//! What a model's decode step and prefill really run: shapes from its layers, not from a list of squares.

use fizeau_core::Bytes;
use fizeau_roofline::{
    Attention, Dense, Deployment, Experts, FeedForward, Keys, Latent, Layers, Mixer, Model,
};

use crate::device::DeviceFacts;
use crate::measurement::{
    AttentionPhase, AttentionShape, CollectiveOp, CollectiveShape, Component, Dtype, GemmShape,
    Operation,
};
use crate::trial::{ProbeBackend, Trial, usual_trials};

/// A pass of a model: which half of generation, and how much at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelPass {
    /// Decode or prefill.
    pub phase: AttentionPhase,
    /// Sequences at once: the concurrency of a decode step, the prompts of a prefill.
    pub sequences: u64,
    /// New tokens of each: 1 of a decode step, the prompt's length of a prefill.
    pub tokens: u64,
    /// Tokens of each that are in its cache when the pass ends, the new ones included.
    pub context: u64,
}

impl ModelPass {
    /// A decode step of `sequences`, each with `context` tokens.
    #[must_use]
    pub const fn decode(sequences: u64, context: u64) -> Self {
        Self { phase: AttentionPhase::Decode, sequences, tokens: 1, context }
    }

    /// The prefill of one prompt of `tokens`.
    #[must_use]
    pub const fn prefill(tokens: u64) -> Self {
        Self { phase: AttentionPhase::Prefill, sequences: 1, tokens, context: tokens }
    }
}

/// One operator of a model on one device, to be measured.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelOperator {
    /// What it is for: `qkv`, `gate_up`, `experts_down`.
    pub role: String,
    /// What to measure.
    pub trial: Trial,
    /// How often a pass runs it on one device: once a layer that has it.
    pub count: u64,
}

/// The operators of `pass` of `model` on one device of `deployment`, each shape once. Operands are `dtype`, whatever the model's
/// weights are stored in; arithmetic is by `threads`.
///
/// Projections that engines fuse are one product: queries, keys and values; gate and up. Latent attention is absorbed in a decode
/// step and expanded in a prefill. Experts are a grouped product of as many as a pass is expected to touch (`E (1 - (1 - k/E)^T)`), with
/// the tokens spread evenly. What a recurrent layer does with its state is not a product of matrices and not among them.
#[must_use]
pub fn model_operators(
    model: &Model,
    deployment: &Deployment,
    pass: ModelPass,
    (dtype, threads): (Dtype, u32),
) -> Vec<ModelOperator> {
    let by = ShapesOf { model, deployment, pass, dtype, threads };
    let mut all = Vec::new();
    for layers in &model.layers {
        by.mixer(layers, &mut all);
        by.feed_forward(layers, &mut all);
    }
    let sampled = GemmShape::new(pass.sequences, by.cut(model.vocabulary), model.hidden);
    all.push(by.gemm("head", sampled, 1));
    let layers: u64 = model.layers.iter().map(|layers| layers.count).sum();
    all.extend(by.all_reduce(layers));
    merged(all)
}

/// What is usual of these `components`, but products of matrices and attention are those that a model runs in `passes` on one device of
/// `deployment`: on each device that measures such, in 32 bits on a processor, which widens to them, by as many threads as it has, and
/// in 16 on a GPU.
pub fn model_trials(
    backend: &impl ProbeBackend,
    components: &[Component],
    (model, deployment): (&Model, &Deployment),
    passes: &[ModelPass],
) -> Vec<Trial> {
    let is_own = |of: &Component| matches!(of, Component::Gemm | Component::Attention);
    let usual = components.iter().copied().filter(|component| !is_own(component));
    let mut trials = usual_trials(backend, usual);
    let threads = backend.host().processors.unwrap_or(1);
    let devices = backend.devices();
    let of_name = |name: Option<&str>| {
        devices.iter().find(|facts| name.is_none_or(|name| facts.name == name))
    };
    for component in components {
        let mut names: Vec<Option<String>> = match is_own(component) {
            true => backend.trials(*component).into_iter().map(|trial| trial.device).collect(),
            // What devices tell one another is of no single one.
            false => vec![None],
        };
        names.dedup();
        for (name, pass) in
            names.iter().flat_map(|name| passes.iter().map(move |pass| (name, pass)))
        {
            let is_processor = of_name(name.as_deref()).is_some_and(DeviceFacts::is_processor);
            let dtype = if is_processor { Dtype::F32 } else { Dtype::Bf16 };
            let operators = model_operators(model, deployment, *pass, (dtype, threads));
            let requested = operators.into_iter().map(|operator| operator.trial);
            let requested = requested.filter(|trial| trial.operation.component() == *component);
            trials.extend(requested.map(|trial| Trial { device: name.clone(), ..trial }));
        }
    }
    trials
}

/// Operators that are alike, together.
fn merged(all: Vec<ModelOperator>) -> Vec<ModelOperator> {
    let mut merged: Vec<ModelOperator> = Vec::new();
    for operator in all {
        match merged.iter_mut().find(|other| other.trial == operator.trial) {
            Some(other) => other.count += operator.count,
            None => merged.push(operator),
        }
    }
    merged
}

struct ShapesOf<'a> {
    model: &'a Model,
    deployment: &'a Deployment,
    pass: ModelPass,
    dtype: Dtype,
    threads: u32,
}

impl ShapesOf<'_> {
    /// Of `count` things the share of the fullest rank.
    fn cut(&self, count: u64) -> u64 {
        count.div_ceil(u64::from(self.deployment.tensor())).max(1)
    }

    /// Tokens of a pass.
    const fn tokens(&self) -> u64 {
        self.pass.sequences * self.pass.tokens
    }

    fn gemm(&self, role: &str, shape: GemmShape, count: u64) -> ModelOperator {
        let output = if self.dtype == Dtype::F32 { Dtype::F32 } else { Dtype::Bf16 };
        let named = Some(role.to_owned());
        let operation = Operation::Gemm { shape, output, role: named };
        let trial = Trial::new(operation, self.dtype, self.threads);
        ModelOperator { role: role.to_owned(), trial, count }
    }

    /// All tokens by weights of `inputs x outputs`.
    fn linear(&self, role: &str, (inputs, outputs): (u64, u64), count: u64) -> ModelOperator {
        self.gemm(role, GemmShape::new(self.tokens(), outputs, inputs), count)
    }

    fn mixer(&self, layers: &Layers, all: &mut Vec<ModelOperator>) {
        let (count, hidden) = (layers.count, self.model.hidden);
        match &layers.mixer {
            Mixer::Attention(layer) => self.softmax(layer, count, all),
            Mixer::Latent(layer) => self.latent(layer, count, all),
            Mixer::DeltaNet(layer) => {
                let keys = 2 * layer.key_heads * layer.key_dim;
                let values = layer.value_heads * layer.value_dim;
                let gates = match layer.gate_rank {
                    Some(rank) => 2 * rank + layer.value_heads,
                    None => values + 2 * layer.value_heads,
                };
                all.push(self.linear(
                    "recurrent_in",
                    (hidden, self.cut(keys + values + gates)),
                    count,
                ));
                all.push(self.linear("recurrent_out", (self.cut(values), hidden), count));
            }
            Mixer::Mamba2(layer) => {
                let inner = layer.heads * layer.head_dim;
                let outputs = 2 * inner + 2 * layer.groups * layer.state + layer.heads;
                all.push(self.linear("recurrent_in", (hidden, self.cut(outputs)), count));
                all.push(self.linear("recurrent_out", (self.cut(inner), hidden), count));
            }
            _ => {}
        }
    }

    fn softmax(&self, layer: &Attention, count: u64, all: &mut Vec<ModelOperator>) {
        let hidden = self.model.hidden;
        let (heads, kv_heads) = (self.cut(layer.heads), self.cut(layer.kv_heads));
        let kv = match layer.keys {
            Keys::Own => kv_heads * (layer.key_dim + layer.value_dim),
            Keys::AreValues => kv_heads * layer.key_dim,
            _ => 0,
        };
        let queries = heads * layer.key_dim * layer.query_parts;
        match layer.query_rank {
            None => all.push(self.linear("qkv", (hidden, queries + kv), count)),
            Some(rank) => {
                all.push(self.linear("query_down_kv", (hidden, rank + kv), count));
                all.push(self.linear("query_up", (rank, queries), count));
            }
        }
        let shape =
            self.attention_shape(heads, kv_heads, (layer.key_dim, layer.value_dim), layer.window);
        let shared_kv = matches!(layer.keys, Keys::AreValues);
        all.push(self.attention(AttentionShape { shared_kv, ..shape }, count));
        all.push(self.linear("output", (heads * layer.value_dim, hidden), count));
    }

    fn latent(&self, layer: &Latent, count: u64, all: &mut Vec<ModelOperator>) {
        let hidden = self.model.hidden;
        let heads = self.cut(layer.heads);
        let queries = heads * (layer.nope_dim + layer.rope_dim);
        let latent = layer.kv_rank + layer.rope_dim;
        match layer.query_rank {
            None => all.push(self.linear("query_kv_down", (hidden, queries + latent), count)),
            Some(rank) => {
                all.push(self.linear("query_down_kv_down", (hidden, rank + latent), count));
                all.push(self.linear("query_up", (rank, queries), count));
            }
        }
        let seen = layer.indexer.as_ref().map(|indexer| indexer.top_k);
        if self.pass.phase == AttentionPhase::Decode {
            // The expansion of keys and values goes into queries and outputs, a product a head.
            let each =
                |n: u64, k: u64| GemmShape { batch: heads, ..GemmShape::new(self.tokens(), n, k) };
            all.push(self.gemm("absorb_keys", each(layer.kv_rank, layer.nope_dim), count));
            let shape = self.attention_shape(heads, 1, (latent, layer.kv_rank), seen);
            all.push(self.attention(AttentionShape { shared_kv: true, ..shape }, count));
            all.push(self.gemm("absorb_values", each(layer.value_dim, layer.kv_rank), count));
        } else {
            let expanded = heads * (layer.nope_dim + layer.value_dim);
            all.push(self.linear("kv_up", (layer.kv_rank, expanded), count));
            let dims = (layer.nope_dim + layer.rope_dim, layer.value_dim);
            all.push(self.attention(self.attention_shape(heads, heads, dims, None), count));
        }
        all.push(self.linear("output", (heads * layer.value_dim, hidden), count));
    }

    fn attention_shape(
        &self,
        query_heads: u64,
        kv_heads: u64,
        (key_dim, value_dim): (u64, u64),
        window: Option<u64>,
    ) -> AttentionShape {
        let ModelPass { phase, sequences, tokens, context } = self.pass;
        // A window narrower than a prompt is a band; what is measured is a prompt as long as it, at least.
        let kv_len = window.map_or(context, |window| context.min(window.max(tokens)));
        AttentionShape {
            phase,
            batch: sequences,
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
        ModelOperator { role, trial: Trial::new(operation, self.dtype, self.threads), count }
    }

    fn feed_forward(&self, layers: &Layers, all: &mut Vec<ModelOperator>) {
        match &layers.feed_forward {
            FeedForward::Dense(dense) => self.dense("", dense, layers.count, all),
            FeedForward::Experts(experts) => self.experts(experts, layers.count, all),
            _ => {}
        }
    }

    fn dense(&self, of: &str, dense: &Dense, count: u64, all: &mut Vec<ModelOperator>) {
        let (hidden, width) = (self.model.hidden, self.cut(dense.width));
        let first = if dense.matrices > 2 { "gate_up" } else { "up" };
        let outputs = dense.matrices.saturating_sub(1) * width;
        all.push(self.linear(&format!("{of}{first}"), (hidden, outputs), count));
        all.push(self.linear(&format!("{of}down"), (width, hidden), count));
    }

    fn experts(&self, experts: &Experts, count: u64, all: &mut Vec<ModelOperator>) {
        let hidden = self.model.hidden;
        all.push(self.linear("router", (hidden, experts.count), count));
        let inner = experts.latent.unwrap_or(hidden);
        if let Some(latent) = experts.latent {
            all.push(self.linear("experts_narrow", (hidden, self.cut(latent)), count));
            all.push(self.linear("experts_widen", (self.cut(latent), hidden), count));
        }
        let groups = u64::from(self.deployment.expert_groups()).max(1);
        let (local, tokens) = (experts.count.div_ceil(groups), self.tokens());
        let used = experts.per_token as f64 / experts.count as f64;
        let touched = local as f64 * (1.0 - (1.0 - used).powf(tokens as f64));
        let touched = (touched.round() as u64).clamp(1, local);
        let rows = (tokens * experts.per_token).div_ceil(groups).div_ceil(touched);
        let ranks = (self.deployment.devices_per_stage() / groups).max(1);
        let width = experts.each.width.div_ceil(ranks);
        let outputs = experts.each.matrices.saturating_sub(1) * width;
        let grouped = |n: u64, k: u64| GemmShape { batch: touched, ..GemmShape::new(rows, n, k) };
        all.push(self.gemm("experts_up", grouped(outputs, inner), count));
        all.push(self.gemm("experts_down", grouped(inner, width), count));
        if let Some(shared) = &experts.shared {
            self.dense("shared_", shared, count, all);
        }
    }

    /// Two a layer among the ranks of tensor parallelism, in 16 bits.
    fn all_reduce(&self, layers: u64) -> Option<ModelOperator> {
        let ranks = self.deployment.tensor();
        let message = Bytes::new(2.0 * (self.tokens() * self.model.hidden) as f64);
        let shape = CollectiveShape::new(CollectiveOp::AllReduce, ranks, message);
        let role = "all_reduce".to_owned();
        let operation = Operation::Collective { shape, role: Some(role.clone()) };
        let trial = Trial::new(operation, Dtype::Bf16, self.threads);
        (ranks > 1).then_some(ModelOperator { role, trial, count: 2 * layers })
    }
}

#[cfg(test)]
mod tests {
    use fizeau_roofline::KnownModel;

    use super::*;

    fn operators(name: &str, ranks: u32, pass: ModelPass) -> Vec<ModelOperator> {
        let model = KnownModel::named(name).unwrap().model().unwrap();
        let deployment = Deployment::SINGLE.with_tensor(ranks).unwrap();
        model_operators(&model, &deployment, pass, (Dtype::Bf16, 1))
    }

    fn weights(operators: &[ModelOperator]) -> f64 {
        let of = |operator: &ModelOperator| match &operator.trial.operation {
            Operation::Gemm { shape, .. } => {
                (operator.count * shape.batch * shape.n * shape.k) as f64
            }
            _ => 0.0,
        };
        operators.iter().map(of).sum()
    }

    #[test]
    fn the_products_of_a_dense_model_hold_all_of_its_matrices() {
        for (name, streamed) in [("llama-3.1-8b", 7.5047e9), ("qwen3-32b", 31.9836e9)] {
            let found = weights(&operators(name, 1, ModelPass::decode(8, 1024)));
            assert!((found / streamed - 1.0).abs() < 1e-3, "{name}: {found}");
            let eighth = weights(&operators(name, 8, ModelPass::decode(8, 1024)));
            assert!((8.0 * eighth / found - 1.0).abs() < 1e-3, "{name}: {eighth}");
        }
    }

    #[test]
    fn a_mixture_touches_the_experts_that_its_tokens_pick() {
        // 128 experts of which a token uses 8: 51.6 of them for 8 tokens, worked by hand.
        let all = operators("qwen3-30b-a3b", 1, ModelPass::decode(8, 1024));
        let up = all.iter().find(|operator| operator.role == "experts_up").unwrap();
        let Operation::Gemm { shape, .. } = &up.trial.operation else { panic!("{up:?}") };
        assert_eq!((shape.batch, shape.m), (52, 2));
    }

    #[test]
    fn latent_attention_is_absorbed_in_a_decode_step_alone() {
        let roles = |pass| -> Vec<String> {
            operators("deepseek-v3", 8, pass).into_iter().map(|operator| operator.role).collect()
        };
        assert!(roles(ModelPass::decode(64, 4096)).contains(&"absorb_keys".to_owned()));
        assert!(roles(ModelPass::prefill(4096)).contains(&"kv_up".to_owned()));
        assert!(roles(ModelPass::prefill(4096)).contains(&"all_reduce".to_owned()));
    }
}
