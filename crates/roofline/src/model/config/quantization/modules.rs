//! Which part of a model a module's name stands for, as the published checkpoints name their modules.

use super::super::super::TensorClass::{
    self, Attention, Dense, Embedding, Experts, Head, Indexer, Recurrent, Router, SharedExperts,
};
use super::super::super::parts::Part::{self, *};
use super::regex::Regex;

/// A module within a layer, or a table of the model.
type Module = (&'static str, TensorClass, &'static [Part]);

const FEED_FORWARD: &[Part] = &[Gate, Up, Down];
const INPUT: &[Part] = &[Mixed, OutputGate, HeadGates];

/// What layers are made of. One expert stands for all.
const IN_LAYERS: [Module; 73] = [
    ("self_attn.q_proj", Attention, &[Query]),
    ("self_attn.k_proj", Attention, &[Key]),
    ("self_attn.v_proj", Attention, &[Value]),
    ("self_attn.o_proj", Attention, &[Output]),
    ("self_attn.qkv_proj", Attention, &[Query, Key, Value]),
    ("self_attn.q_a_proj", Attention, &[QueryDown]),
    ("self_attn.q_b_proj", Attention, &[QueryUp]),
    ("self_attn.kv_a_proj_with_mqa", Attention, &[KvDown]),
    ("self_attn.kv_b_proj", Attention, &[KvUp]),
    ("self_attn.fused_qkv_a_proj_with_mqa", Attention, &[QueryDown, KvDown]),
    ("self_attn.indexer.wq_b", Indexer, &[Whole]),
    ("self_attn.indexer.wk", Indexer, &[Whole]),
    ("self_attn.indexer.weights_proj", Indexer, &[Whole]),
    ("linear_attn.in_proj_qkvz", Recurrent, &[Mixed, OutputGate]),
    ("linear_attn.in_proj_qkv", Recurrent, &[Mixed]),
    ("linear_attn.in_proj_z", Recurrent, &[OutputGate]),
    ("linear_attn.in_proj_ba", Recurrent, &[HeadGates]),
    ("linear_attn.in_proj_b", Recurrent, &[HeadGates]),
    ("linear_attn.in_proj_a", Recurrent, &[HeadGates]),
    ("linear_attn.out_proj", Recurrent, &[Output]),
    ("mamba.in_proj", Recurrent, INPUT),
    ("mamba.out_proj", Recurrent, &[Output]),
    ("mlp.gate_proj", Dense, &[Gate]),
    ("mlp.up_proj", Dense, &[Up]),
    ("mlp.down_proj", Dense, &[Down]),
    ("mlp.gate_up_proj", Dense, &[Gate, Up]),
    ("mlp.c_fc", Dense, &[Up]),
    ("mlp.c_proj", Dense, &[Down]),
    ("mlp.gate", Router, &[Whole]),
    ("mlp.router", Router, &[Whole]),
    ("mlp.router.gate", Router, &[Whole]),
    ("mlp.experts", Experts, FEED_FORWARD),
    ("mlp.experts.gate_up_proj", Experts, &[Gate, Up]),
    ("mlp.experts.down_proj", Experts, &[Down]),
    ("mlp.experts.0.gate_proj", Experts, &[Gate]),
    ("mlp.experts.0.up_proj", Experts, &[Up]),
    ("mlp.experts.0.down_proj", Experts, &[Down]),
    ("mlp.shared_experts.gate_proj", SharedExperts, &[Gate]),
    ("mlp.shared_experts.up_proj", SharedExperts, &[Up]),
    ("mlp.shared_experts.down_proj", SharedExperts, &[Down]),
    ("mlp.shared_experts.gate_up_proj", SharedExperts, &[Gate, Up]),
    ("mlp.shared_expert.gate_proj", SharedExperts, &[Gate]),
    ("mlp.shared_expert.up_proj", SharedExperts, &[Up]),
    ("mlp.shared_expert.down_proj", SharedExperts, &[Down]),
    ("mlp.shared_mlp", SharedExperts, FEED_FORWARD),
    ("block_sparse_moe.gate", Router, &[Whole]),
    ("block_sparse_moe.experts.0.w1", Experts, &[Gate]),
    ("block_sparse_moe.experts.0.w2", Experts, &[Down]),
    ("block_sparse_moe.experts.0.w3", Experts, &[Up]),
    ("block_sparse_moe.shared_experts", SharedExperts, FEED_FORWARD),
    ("feed_forward.gate_proj", Dense, &[Gate]),
    ("feed_forward.up_proj", Dense, &[Up]),
    ("feed_forward.down_proj", Dense, &[Down]),
    ("feed_forward.router", Router, &[Whole]),
    ("feed_forward.experts", Experts, FEED_FORWARD),
    ("feed_forward.experts.gate_up_proj", Experts, &[Gate, Up]),
    ("feed_forward.experts.down_proj", Experts, &[Down]),
    ("feed_forward.experts.0.gate_proj", Experts, &[Gate]),
    ("feed_forward.experts.0.up_proj", Experts, &[Up]),
    ("feed_forward.experts.0.down_proj", Experts, &[Down]),
    ("feed_forward.shared_expert", SharedExperts, FEED_FORWARD),
    ("mixer.q_proj", Attention, &[Query]),
    ("mixer.k_proj", Attention, &[Key]),
    ("mixer.v_proj", Attention, &[Value]),
    ("mixer.o_proj", Attention, &[Output]),
    ("mixer.in_proj", Recurrent, INPUT),
    ("mixer.out_proj", Recurrent, &[Output]),
    ("mixer.up_proj", Dense, &[Up]),
    ("mixer.down_proj", Dense, &[Down]),
    ("mixer.gate", Router, &[Whole]),
    ("mixer.experts.0.up_proj", Experts, &[Up]),
    ("mixer.experts.0.down_proj", Experts, &[Down]),
    ("mixer.shared_experts", SharedExperts, FEED_FORWARD),
];

const TABLES: [Module; 6] = [
    ("lm_head", Head, &[Whole]),
    ("language_model.lm_head", Head, &[Whole]),
    ("model.embed_tokens", Embedding, &[Whole]),
    ("model.language_model.embed_tokens", Embedding, &[Whole]),
    ("language_model.model.embed_tokens", Embedding, &[Whole]),
    ("backbone.embeddings", Embedding, &[Whole]),
];

/// Parts of names that stand for what is not counted as a matrix of the language model: encoders, norms, biases.
const NOT_COUNTED: [&str; 22] = [
    "a_log",
    "aligner",
    "audio",
    "bias",
    "connector",
    "conv1d",
    "dt_proj",
    "eh_proj",
    "image",
    "img",
    "merger",
    "multi_modal",
    "norm",
    "patch",
    "projector",
    "rotary",
    "shared_expert_gate",
    "shared_head",
    "sinks",
    "speech",
    "vision",
    "visual",
];

/// What a pattern stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Parts of the model, which were handed over.
    Parts,
    /// Something that is not counted as a matrix of the language model.
    NotCounted,
    /// Nothing that is known here.
    Nothing,
}

/// How many layers there are, and how many further ones predict tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    pub(super) layers: u64,
    pub(super) drafts: u64,
}

impl Depth {
    pub(super) const fn rows(self) -> u64 {
        self.layers + self.drafts
    }
}

/// Hands to `take` each part of the model that `pattern` stands for, with its layer; a table has none.
pub(super) fn find(
    pattern: &str,
    depth: Depth,
    take: &mut dyn FnMut(Option<u64>, TensorClass, Part),
) -> Found {
    let mut found = false;
    let mut each = |layer, module: &Module| {
        found = true;
        for part in module.2 {
            take(layer, module.1, *part);
        }
    };
    match pattern.strip_prefix("re:") {
        Some(expression) => {
            if let Some(regex) = Regex::expression(expression) {
                by_pattern(expression, &regex, depth, &mut each);
            }
        }
        None if pattern.contains(['*', '?']) => {
            let pattern = pattern.trim_end_matches('.');
            if let Some(regex) = Regex::shell(pattern) {
                by_pattern(pattern, &regex, depth, &mut each);
            }
        }
        None => by_path(pattern, depth, &mut each),
    }
    if found {
        return Found::Parts;
    }
    let lower = pattern.to_lowercase();
    let apart = NOT_COUNTED.iter().any(|word| lower.contains(word)) || is_draft(&lower);
    if apart { Found::NotCounted } else { Found::Nothing }
}

/// Whether a name is of the MTP module of a family that does not number it among the layers.
fn is_draft(pattern: &str) -> bool {
    pattern.trim_start_matches("re:").trim_start_matches(['^', '.', '*']).starts_with("mtp")
}

fn by_pattern(text: &str, regex: &Regex, depth: Depth, each: &mut dyn FnMut(Option<u64>, &Module)) {
    for module in TABLES.iter().filter(|module| regex.matches(module.0)) {
        each(None, module);
    }
    let stems = ["language_model.model", "model.language_model", "backbone", "mtp"];
    let stem = stems.into_iter().find(|stem| text.replace('\\', "").contains(stem));
    let stem = stem.unwrap_or("model");
    // A pattern without a number is the same for every layer.
    let numbered = text.contains(|letter: char| letter.is_ascii_digit()) || text.contains("\\d");
    let first = if stem == "mtp" { depth.layers } else { 0 };
    let count = depth.rows() - first;
    let last = if numbered { count } else { count.min(1) };
    for layer in 0..last {
        for module in &IN_LAYERS {
            if regex.matches(&format!("{stem}.layers.{layer}.{}", module.0)) {
                let all = if numbered { layer..layer + 1 } else { 0..count };
                all.for_each(|layer| each(Some(first + layer), module));
            }
        }
    }
}

fn by_path(path: &str, depth: Depth, each: &mut dyn FnMut(Option<u64>, &Module)) {
    let path = path.strip_suffix(".weight").unwrap_or(path);
    let words: Vec<&str> = path.split('.').filter(|word| !word.is_empty()).collect();
    let (layer, within) = within_layer(&words);
    let first = if words.first() == Some(&"mtp") { depth.layers } else { 0 };
    let layer = layer.map(|layer: u64| layer.saturating_add(first));
    match layer {
        Some(layer) if layer >= depth.rows() => return,
        Some(_) => {}
        None => {
            let named = |module: &&Module| contains(&words_of(module.0), within);
            TABLES.iter().filter(named).for_each(|module| each(None, module));
        }
    }
    // Encoders have layers too.
    let foreign = |word: &&str| NOT_COUNTED.iter().any(|apart| word.contains(apart));
    if words.iter().any(foreign) || (layer.is_none() && within.is_empty()) {
        return;
    }
    for module in IN_LAYERS.iter().filter(|module| contains(&words_of(module.0), within)) {
        let all = layer.map_or(0..depth.rows(), |layer| layer..layer + 1);
        all.for_each(|layer| each(Some(layer), module));
    }
}

/// The layer that a path is in, and the path within it.
fn within_layer<'a, 'b>(words: &'b [&'a str]) -> (Option<u64>, &'b [&'a str]) {
    for (at, pair) in words.windows(2).enumerate() {
        if let ["layers" | "h" | "blocks", number] = pair
            && let Ok(layer) = number.parse()
        {
            return (Some(layer), words.get(at + 2..).unwrap_or_default());
        }
    }
    (None, words)
}

fn words_of(path: &str) -> Vec<&str> {
    path.split('.').collect()
}

/// Whether `part` stands somewhere in `path`, word by word; nothing stands everywhere.
fn contains(path: &[&str], part: &[&str]) -> bool {
    part.is_empty() || path.windows(part.len()).any(|words| words == part)
}
