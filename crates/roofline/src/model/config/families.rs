//! What a family's published code fixes and its config does not say.
//!
//! Dimensions are always the config's. Here stand norms, biases, gates and defaults, as in the model classes of the
//! `transformers` library (or in the code beside the checkpoint), under the name that the config gives for itself.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::ModelConfigError;
use super::super::fields::{ConfigFields, shown};
use super::remarks::Remarks;

/// Something that a layer has or has not.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
pub(super) enum Flag {
    Always(bool),
    /// As this field says, or the value where it is silent.
    Field(&'static str, bool),
}

impl Flag {
    pub(super) fn read(self, fields: ConfigFields<'_>) -> Result<bool, ModelConfigError> {
        match self {
            Self::Always(has) => Ok(has),
            Self::Field(field, silent) => Ok(fields.flag(field)?.unwrap_or(silent)),
        }
    }
}

/// What the norms of queries and keys go over.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NormSpan {
    /// The dimensions of one head; all heads share the gains.
    Head,
    /// All heads together.
    Heads,
}

/// What the config of a family leaves to its code; by default as Llama has it.
#[derive(Debug, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'static"))]
pub(super) struct Family {
    /// Its names, in small letters and digits only.
    pub(super) names: Vec<&'static str>,
    /// Norms over the hidden size in a layer.
    pub(super) norms: u64,
    /// Vectors of a norm: 1 for a gain, 2 for a gain and a bias, 0 for a norm that is not learned.
    pub(super) norm_vectors: u64,
    /// Biases of the projections of queries, keys and values.
    pub(super) qkv_bias: Flag,
    /// Bias of attention's output projection.
    pub(super) output_bias: Flag,
    /// Biases of dense feed-forward blocks.
    pub(super) feed_forward_bias: Flag,
    pub(super) qk_norm: Flag,
    pub(super) qk_norm_span: NormSpan,
    /// Whether the query projection makes a gate for attention's output besides.
    pub(super) output_gate: Flag,
    /// One learned sink a head.
    pub(super) sinks: Flag,
    /// Whether feed-forward blocks have a gate; none: whatever their activation suggests.
    pub(super) gated: Option<bool>,
    /// Whether the embedding is the LM head where the config is silent.
    pub(super) tied: bool,
    /// Whether a config that names a window also uses it.
    pub(super) windows: Flag,
    /// Every n-th layer sees everything where windows are given and the config is silent about a pattern.
    pub(super) full_every: Option<u64>,
    /// The mixer and the feed-forward block of a layer read the same input.
    pub(super) parallel: Flag,
    /// A layer is one block, a mixer or a feed-forward one, rather than both.
    pub(super) single_blocks: bool,
    /// The router has a bias for each expert, or a correction term.
    pub(super) router_bias: bool,
    /// Experts have biases.
    pub(super) expert_bias: bool,
    /// A scalar gate (a vector of the hidden size) in front of the shared expert.
    pub(super) shared_gate: bool,
    /// The dense block stays beside the experts, in the same layer.
    pub(super) dense_beside_experts: bool,
    /// Where the width of dense blocks stands.
    pub(super) dense_width: Vec<&'static str>,
    /// That width in hidden sizes where the config is silent.
    pub(super) dense_width_in_hidden: Option<u64>,
    /// Whether positions are learned, and how many more of them there are than tokens of context.
    pub(super) learned_positions: Option<u64>,
    /// Fields that the family's code has defaults for and configs do leave out.
    pub(super) defaults: Vec<(&'static str, u64)>,
    /// Fields that are lists, of the language model first and then of others that share its layers.
    pub(super) text_first: Vec<&'static str>,
}

impl Default for Family {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            norms: 2,
            norm_vectors: 1,
            qkv_bias: Flag::Field("attention_bias", false),
            output_bias: Flag::Field("attention_bias", false),
            feed_forward_bias: Flag::Field("mlp_bias", false),
            qk_norm: Flag::Always(false),
            qk_norm_span: NormSpan::Head,
            output_gate: Flag::Field("attn_output_gate", false),
            sinks: Flag::Always(false),
            gated: Some(true),
            tied: false,
            windows: Flag::Field("use_sliding_window", true),
            full_every: None,
            parallel: Flag::Field("use_parallel_residual", false),
            single_blocks: false,
            router_bias: false,
            expert_bias: false,
            shared_gate: false,
            dense_beside_experts: false,
            dense_width: vec!["intermediate_size_mlp", "intermediate_size", "ffn_hidden_size"],
            dense_width_in_hidden: None,
            learned_positions: None,
            defaults: Vec::new(),
            text_first: Vec::new(),
        }
    }
}

/// The families, one entry for each set of model classes that are alike in what their configs do not say; what an entry does not
/// say is as in Llama.
static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../data/families.json")).unwrap_or_default()
});

/// The stand-in for families that are not in the table: fields alone decide.
static UNKNOWN: LazyLock<Family> = LazyLock::new(|| Family {
    qk_norm: Flag::Field("use_qk_norm", false),
    gated: None,
    ..Family::default()
});

impl Family {
    /// The family that a config names, and what the config calls its architecture.
    ///
    /// The class in `architectures` comes first: of the two names it is the more particular one.
    pub(super) fn of<'a>(
        fields: ConfigFields<'a>,
        remarks: &mut Remarks,
    ) -> Result<(&'static Self, &'a str), ModelConfigError> {
        let class = class(fields)?;
        let model_type = fields.text("model_type");
        let Some(shown) = class.or(model_type) else {
            let expected =
                "a list with one name, such as [\"LlamaForCausalLM\"] or [\"Qwen3ForCausalLM\"]";
            return Err(ModelConfigError::Missing { field: "architectures", expected });
        };
        let known = class.and_then(|name| Self::named(stem(name)));
        if let Some(family) = known.or_else(|| model_type.and_then(Self::named)) {
            return Ok((family, shown));
        }
        let text = format!(
            "the architecture `{shown}` is not known here: two norms a layer, gated feed-forward blocks and no \
             biases or gates beyond what the config says were assumed"
        );
        remarks.doubt(format!("the architecture `{shown}`"), text);
        Ok((&UNKNOWN, shown))
    }

    /// Adds what a file of the family leaves out, and takes the language model's part of what is of several.
    pub(super) fn complete(&self, object: &mut Map<String, Value>, remarks: &mut Remarks) {
        for field in &self.text_first {
            if let Some(Value::Array(each)) = object.get(*field)
                && let Some(first) = each.first().cloned()
            {
                if each.iter().any(|other| *other != first) {
                    remarks.say(format!(
                        "`{field}` is of text and of images: only that of text is counted"
                    ));
                }
                object.insert((*field).to_owned(), first);
            }
        }
        if self.single_blocks && ConfigFields(object).get("num_hidden_layers").is_none() {
            let fields = ConfigFields(object);
            let letters = fields.text("hybrid_override_pattern").map(|text| text.chars().count());
            let names = fields.list("layers_block_type").or_else(|| fields.list("layer_types"));
            if let Some(layers) = letters.or_else(|| names.map(<[Value]>::len)) {
                object.insert("num_hidden_layers".to_owned(), Value::from(layers));
            }
        }
        for &(field, value) in &self.defaults {
            if ConfigFields(object).get(field).is_none() {
                object.insert(field.to_owned(), Value::from(value));
            }
        }
    }

    /// Whether this is the stand-in for families that are not in the table.
    pub(super) const fn is_unknown(&self) -> bool {
        self.names.is_empty()
    }

    fn named(name: &str) -> Option<&'static Self> {
        let letters: String =
            name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
        let plain = letters.strip_suffix("text").unwrap_or(&letters);
        FAMILIES.iter().find(|family| family.names.contains(&plain))
    }
}

fn class(fields: ConfigFields<'_>) -> Result<Option<&str>, ModelConfigError> {
    let field = "architectures";
    let Some(value) = fields.get(field) else {
        return Ok(None);
    };
    match value.as_array().map(Vec::as_slice) {
        Some([Value::String(name), ..]) => Ok(Some(name)),
        _ => Err(ModelConfigError::Invalid {
            field,
            found: shown(value),
            expected: "a list with one name, such as [\"LlamaForCausalLM\"]",
        }),
    }
}

/// A class's name without what it is used for: `Llama` of `LlamaForCausalLM`.
fn stem(class: &str) -> &str {
    let uses = ["ForCausalLM", "ForConditionalGeneration", "LMHeadModel", "Model"];
    uses.iter().find_map(|suffix| class.strip_suffix(suffix)).unwrap_or(class)
}

#[cfg(test)]
mod tests {
    use super::FAMILIES;

    #[test]
    fn the_table_is_read_whole() {
        assert_eq!(FAMILIES.len(), 53);
        assert!(FAMILIES.iter().all(|family| !family.names.is_empty()));
    }
}
