//! Which part of a model a module's name stands for, as the published checkpoints name their modules.

use std::sync::LazyLock;

use super::super::super::TensorClass::{
    self, Attention, Dense, Embedding, Experts, Head, Indexer, Recurrent, Router, SharedExperts,
};
use super::super::super::parts::MatrixPart::{self, *};
use super::pattern::NamePattern;

/// A module by its path within a layer or, for a table, within the model.
#[derive(Debug)]
struct ModulePath {
    path: String,
    class: TensorClass,
    parts: &'static [MatrixPart],
    /// Whether it is so called only where recurrent layers have their projections where attention has its own.
    in_attention: bool,
}

type Named = (&'static str, &'static [MatrixPart]);

const TABLES: [(&str, TensorClass); 6] = [
    ("lm_head", Head),
    ("language_model.lm_head", Head),
    ("model.embed_tokens", Embedding),
    ("model.language_model.embed_tokens", Embedding),
    ("language_model.model.embed_tokens", Embedding),
    ("backbone.embeddings", Embedding),
];

/// Where attention stands in a layer.
const ATTENTION: [&str; 4] = ["self_attn", "attention", "attn", "mixer"];

const PROJECTIONS: [Named; 10] = [
    ("q_proj", &[Query]),
    ("k_proj", &[Key]),
    ("v_proj", &[Value]),
    ("o_proj", &[Output]),
    ("qkv_proj", &[Query, Key, Value]),
    ("q_a_proj", &[QueryDown]),
    ("q_b_proj", &[QueryUp]),
    ("kv_a_proj_with_mqa", &[KvDown]),
    ("kv_b_proj", &[KvUp]),
    ("fused_qkv_a_proj_with_mqa", &[QueryDown, KvDown]),
];

const INDEXER: [&str; 3] = ["wq_b", "wk", "weights_proj"];

/// Where linear attention and state-space layers stand.
const RECURRENT: [&str; 3] = ["linear_attn", "mamba", "mixer"];

const INPUTS: [Named; 8] = [
    ("in_proj", &[Mixed, OutputGate, HeadGates]),
    ("in_proj_qkvz", &[Mixed, OutputGate]),
    ("in_proj_qkv", &[Mixed]),
    ("in_proj_z", &[OutputGate]),
    ("in_proj_ba", &[HeadGates]),
    ("in_proj_a", &[HeadGates]),
    ("in_proj_b", &[HeadGates]),
    ("out_proj", &[Output]),
];

/// Kimi delta attention, under the names of attention (`KimiDeltaAttention` of the code beside the checkpoint).
const KIMI_DELTA: [Named; 10] = [
    ("self_attn.q_proj", &[Mixed]),
    ("self_attn.k_proj", &[Mixed]),
    ("self_attn.v_proj", &[Mixed]),
    ("self_attn.o_proj", &[Output]),
    ("self_attn.b_proj", &[HeadGates]),
    ("self_attn.f_a_proj", &[HeadGates]),
    ("self_attn.f_b_proj", &[HeadGates]),
    ("self_attn.g_a_proj", &[OutputGate]),
    ("self_attn.g_b_proj", &[OutputGate]),
    ("self_attn.g_proj", &[OutputGate]),
];

/// The projections around experts of a narrower width.
const LATENT: [Named; 4] = [
    ("fc1_latent_proj", &[ToLatent]),
    ("fc2_latent_proj", &[FromLatent]),
    ("routed_expert_down_proj", &[ToLatent]),
    ("routed_expert_up_proj", &[FromLatent]),
];

/// Granite's matrices of experts and of what stands beside them, which is its dense block where there are none.
const GRANITE: [(&str, TensorClass, &[MatrixPart]); 6] = [
    ("block_sparse_moe.input_linear", Experts, &[Gate, Up]),
    ("block_sparse_moe.output_linear", Experts, &[Down]),
    ("shared_mlp.input_linear", SharedExperts, &[Gate, Up]),
    ("shared_mlp.output_linear", SharedExperts, &[Down]),
    ("shared_mlp.input_linear", Dense, &[Gate, Up]),
    ("shared_mlp.output_linear", Dense, &[Down]),
];

/// Where feed-forward blocks and mixtures of experts stand.
const FEED_FORWARD: [&str; 4] = ["mlp", "block_sparse_moe", "feed_forward", "mixer"];

const ROUTERS: [&str; 4] = ["gate", "router", "router.gate", "router.layer"];
const SHARED: [&str; 3] = ["shared_experts", "shared_expert", "shared_mlp"];

const MATRICES: [Named; 9] = [
    ("gate_proj", &[Gate]),
    ("up_proj", &[Up]),
    ("down_proj", &[Down]),
    ("gate_up_proj", &[Gate, Up]),
    ("w1", &[Gate]),
    ("w2", &[Down]),
    ("w3", &[Up]),
    ("c_fc", &[Up]),
    ("c_proj", &[Down]),
];

/// What layers are made of, by every name that it has in some family. One expert stands for all.
static IN_LAYERS: LazyLock<Vec<ModulePath>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for (path, parts) in KIMI_DELTA {
        let path = path.to_owned();
        all.push(ModulePath { path, class: Recurrent, parts, in_attention: true });
    }
    let mut put = |path: String, class, parts| {
        all.push(ModulePath { path, class, parts, in_attention: false });
    };
    for (path, class, parts) in GRANITE {
        put(path.to_owned(), class, parts);
    }
    for place in ATTENTION {
        for (name, parts) in PROJECTIONS {
            put(format!("{place}.{name}"), Attention, parts);
        }
        for name in INDEXER {
            put(format!("{place}.indexer.{name}"), Indexer, &[Whole]);
        }
    }
    for place in RECURRENT {
        for (name, parts) in INPUTS {
            put(format!("{place}.{name}"), Recurrent, parts);
        }
    }
    for place in FEED_FORWARD {
        for name in ROUTERS {
            put(format!("{place}.{name}"), Router, &[Whole]);
        }
        for (name, parts) in LATENT {
            put(format!("{place}.{name}"), Dense, parts);
        }
        // Experts may be one module, with all of them in each of its tensors.
        put(format!("{place}.experts"), Experts, &[Gate, Up, Down]);
        for (name, parts) in MATRICES {
            put(format!("{place}.{name}"), Dense, parts);
            put(format!("{place}.experts.{name}"), Experts, parts);
            put(format!("{place}.experts.0.{name}"), Experts, parts);
            for shared in SHARED {
                put(format!("{place}.{shared}.{name}"), SharedExperts, parts);
            }
        }
    }
    all
});

/// Parts of names that stand for what is not counted as a matrix of the language model: encoders, norms, biases.
const NOT_COUNTED: &str = "
    a_log aligner audio bias connector conv1d dt_proj eh_proj embed image img merger multi_modal
    norm patch projector rotary shared_expert_gate shared_head sinks speech vision visual
";

/// What a pattern stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchedModule {
    /// Parts of the model, which were handed over.
    Parts,
    /// Something that is not counted as a matrix of the language model.
    NotCounted,
    /// Nothing that is known here.
    Nothing,
    /// It is a pattern that is not understood.
    Unreadable,
}

/// How many layers there are, and how many further ones predict tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    pub(super) layers: u64,
    pub(super) drafts: u64,
    /// Whether recurrent layers have their projections where attention has its own.
    pub(super) in_attention: bool,
}

impl Depth {
    pub(super) const fn rows(self) -> u64 {
        self.layers + self.drafts
    }

    /// The modules that its layers may have.
    fn modules(self) -> impl Iterator<Item = &'static ModulePath> {
        IN_LAYERS.iter().filter(move |module| self.in_attention || !module.in_attention)
    }
}

/// How much looking up the names of a config may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lookups {
    /// Names of modules that may still be compared, and parts handed over.
    left: u64,
}

impl Lookups {
    /// Some fifty times what published configs take; a file of a megabyte could ask for hours.
    pub(super) const fn new() -> Self {
        Self { left: 8_000_000 }
    }

    /// Whether there are none left.
    pub(super) const fn are_over(self) -> bool {
        self.left == 0
    }

    const fn spend(&mut self, count: usize) {
        self.left = self.left.saturating_sub(count as u64);
    }
}

/// Hands to `take` each part of the model that `pattern` stands for, with its layer; a table has none.
pub(super) fn find(
    pattern: &str,
    depth: Depth,
    lookups: &mut Lookups,
    take: &mut dyn FnMut(Option<u64>, TensorClass, MatrixPart),
) -> MatchedModule {
    let mut found = false;
    let compared = std::cell::Cell::new(0);
    let mut each = |layer, class, parts: &[MatrixPart]| {
        found = true;
        // A part is put into one of a layer's slots, each of which is looked at.
        compared.set(compared.get() + 4 * parts.len());
        parts.iter().for_each(|part| take(layer, class, *part));
    };
    match pattern.strip_prefix("re:") {
        Some(expression) => {
            let Some(regex) = NamePattern::expression(expression) else {
                return MatchedModule::Unreadable;
            };
            lookups.spend(by_pattern(expression, "", &regex, depth, &mut each));
        }
        None if pattern.contains(['*', '?']) => {
            let pattern = pattern.trim_end_matches('.');
            let start = pattern.split(['*', '?']).next().unwrap_or_default();
            let Some(regex) = NamePattern::shell(pattern) else {
                return MatchedModule::Unreadable;
            };
            lookups.spend(by_pattern(pattern, start, &regex, depth, &mut each));
        }
        None => {
            lookups.spend(IN_LAYERS.len());
            by_path(pattern, depth, &mut each);
        }
    }
    lookups.spend(compared.get());
    if found {
        return MatchedModule::Parts;
    }
    let lower = pattern.to_lowercase();
    let apart = NOT_COUNTED.split_ascii_whitespace().any(|word| lower.contains(word))
        || is_draft(&lower)
        || is_attention_class(pattern);
    if apart { MatchedModule::NotCounted } else { MatchedModule::Nothing }
}

/// Whether a name is of the MTP module of a family that does not number it among the layers.
fn is_draft(pattern: &str) -> bool {
    let name = pattern.trim_start_matches("re:").trim_start_matches(['^', '.', '*']);
    name.starts_with("mtp") || (name.starts_with("model.decoder.") && !name.contains("layers."))
}

/// A class of modules that hold projections and are none: llm-compressor lists it so that its cache has no scales. What
/// becomes of the projections is said by their own names.
fn is_attention_class(pattern: &str) -> bool {
    pattern.starts_with(char::is_uppercase) && pattern.ends_with("Attention")
}

/// What takes the parts of a module that was found.
type Each<'a> = &'a mut dyn FnMut(Option<u64>, TensorClass, &[MatrixPart]);

/// `start` is how every match of the pattern starts, as far as that is known: it spares a list of layers by number the
/// search through all others. The number of names that were compared.
fn by_pattern(text: &str, start: &str, regex: &NamePattern, depth: Depth, each: Each<'_>) -> usize {
    let mut compared = TABLES.len();
    for (_, class) in TABLES.iter().filter(|table| regex.matches(table.0)) {
        each(None, *class, &[Whole]);
    }
    let text = text.replace('\\', "");
    let stems = ["language_model.model", "model.language_model", "backbone", "mtp"];
    let stem = stems.into_iter().find(|stem| text.contains(stem)).unwrap_or("model");
    let first = if stem == "mtp" { depth.layers } else { 0 };
    let count = depth.rows() - first;
    // A pattern without a number is the same for every layer.
    let numbered = text.contains(|letter: char| letter.is_ascii_digit() || letter == '[');
    let last = if numbered { count } else { count.min(1) };
    for layer in 0..last {
        let mut name = format!("{stem}.layers.{layer}.");
        let within = name.len();
        if !name.starts_with(start) && !start.starts_with(&name) {
            continue;
        }
        compared += IN_LAYERS.len();
        for module in depth.modules() {
            name.truncate(within);
            name.push_str(&module.path);
            if regex.matches(&name) {
                let all = if numbered { layer..layer + 1 } else { 0..count };
                all.for_each(|layer| each(Some(first + layer), module.class, module.parts));
            }
        }
    }
    compared
}

fn by_path(path: &str, depth: Depth, each: Each<'_>) {
    let path = path.strip_suffix(".weight").unwrap_or(path);
    let words: Vec<&str> = path.split('.').filter(|word| !word.is_empty()).collect();
    let (layer, within) = within_layer(&words);
    let first = if words.first() == Some(&"mtp") { depth.layers } else { 0 };
    let layer = layer.map(|layer: u64| layer.saturating_add(first));
    match layer {
        Some(layer) if layer >= depth.rows() => return,
        Some(_) => {}
        None => {
            let named = |table: &&(&str, TensorClass)| contains(table.0, within);
            TABLES.iter().filter(named).for_each(|table| each(None, table.1, &[Whole]));
        }
    }
    // Encoders have layers too.
    let foreign =
        |word: &&str| NOT_COUNTED.split_ascii_whitespace().any(|apart| word.contains(apart));
    if words.iter().any(foreign) || (layer.is_none() && within.is_empty()) {
        return;
    }
    for module in depth.modules().filter(|module| contains(&module.path, within)) {
        let all = layer.map_or_else(|| 0..depth.rows(), |layer| layer..layer + 1);
        all.for_each(|layer| each(Some(layer), module.class, module.parts));
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

/// Whether `part` stands somewhere in `path`, word by word; nothing stands everywhere.
fn contains(path: &str, part: &[&str]) -> bool {
    let mut rest = Some(path);
    while let Some(text) = rest {
        let mut words = text.split('.');
        if part.iter().all(|word| words.next() == Some(word)) {
            return true;
        }
        rest = text.split_once('.').map(|(_, rest)| rest);
    }
    false
}

/// A pattern for one expert by its number, as the pattern for the expert that stands for all, and the number.
pub(super) fn one_expert(pattern: &str) -> Option<(String, u64)> {
    let (before, after) = pattern.split_once(".experts.")?;
    let (number, rest) = after.split_once('.').unwrap_or((after, ""));
    let number = number.parse().ok()?;
    let dot = if rest.is_empty() { "" } else { "." };
    Some((format!("{before}.experts.0{dot}{rest}"), number))
}
