//! From a Hugging Face `config.json` to a checked [`Model`].
//!
//! What each family has beyond its dimensions (which projections carry a bias, whether queries and keys are
//! normed) is as in the model classes of the `transformers` library.

use fizeau_core::Tokens;
use serde_json::Value;

use super::fields::{
    CONTEXT, FEED_FORWARD, Fields, HEAD_DIM, HEADS, HIDDEN, LAYERS, VOCABULARY, shown,
};
use super::{
    Attention, CacheFormats, Dense, FeedForward, Keys, Layers, Mixer, Model, ModelError, Tables,
};
use crate::Format;

pub(super) fn parse(text: &str) -> Result<Model, ModelError> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| ModelError::NotAnObject(error.to_string()))?;
    let Value::Object(object) = &value else {
        return Err(ModelError::NotAnObject(shown(&value)));
    };
    let fields = Fields(object);
    // What names the obstacle best comes first: a mixture of experts is refused for its experts, not for its
    // name.
    refuse_other_kinds(fields)?;
    let (family, architecture) = architecture(fields)?;
    refuse_windows(fields)?;
    let dims = Dims::read(fields)?;
    let format = precision(fields)?;
    let vectors = layer_vectors(family, fields, &dims)?;
    let layers = Layers {
        count: fields.count("num_hidden_layers", LAYERS)?,
        mixer: Mixer::Attention(Attention {
            heads: dims.heads,
            kv_heads: dims.kv_heads,
            key_dim: dims.head_dim,
            value_dim: dims.head_dim,
            window: None,
            query_parts: 1,
            keys: Keys::Own,
            vectors: vectors - 2 * dims.hidden,
            format,
        }),
        feed_forward: FeedForward::Dense(Dense {
            width: dims.feed_forward,
            matrices: 3,
            vectors: 0,
            format,
        }),
        norms: 2 * dims.hidden,
    };
    Ok(Model {
        architecture: architecture.to_owned(),
        hidden: dims.hidden,
        vocabulary: fields.count("vocab_size", VOCABULARY)?,
        layers: vec![layers],
        tables: Tables {
            // The default of all four families, where the config is silent.
            tied: fields.flag("tie_word_embeddings")?.unwrap_or(false),
            embedding: Format::Bf16,
            head: Format::Bf16,
        },
        cache: CacheFormats { kv: Format::Bf16, state: Format::F32 },
        draft: None,
        max_context: fields.optional_count("max_position_embeddings", CONTEXT)?.map(Tokens::new),
        warnings: Vec::new(),
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Family {
    Llama,
    Mistral,
    Qwen2,
    Qwen3,
}

fn architecture(fields: Fields<'_>) -> Result<(Family, &str), ModelError> {
    const EXPECTED: &str =
        "a list with one name, such as [\"LlamaForCausalLM\"] or [\"Qwen3ForCausalLM\"]";
    let field = "architectures";
    let value = fields.get(field).ok_or(ModelError::Missing { field, expected: EXPECTED })?;
    let name = match value.as_array().map(Vec::as_slice) {
        Some([Value::String(name)]) => name.as_str(),
        _ => {
            return Err(ModelError::Invalid { field, found: shown(value), expected: EXPECTED });
        }
    };
    let family = match name {
        "LlamaForCausalLM" => Family::Llama,
        "MistralForCausalLM" => Family::Mistral,
        "Qwen2ForCausalLM" => Family::Qwen2,
        "Qwen3ForCausalLM" => Family::Qwen3,
        _ => return Err(unsupported(field, value, "its formulas are not known here")),
    };
    Ok((family, name))
}

/// Fields that only other kinds of model have. Some generators write them as 0 in a dense model.
const OTHER_KINDS: [(&str, &str); 7] = [
    ("kv_lora_rank", "latent attention (MLA) is not covered"),
    ("n_routed_experts", "mixtures of experts are not covered"),
    ("num_experts", "mixtures of experts are not covered"),
    ("num_local_experts", "mixtures of experts are not covered"),
    ("num_nextn_predict_layers", "multi-token prediction is not covered"),
    ("ssm_cfg", "state-space layers are not covered"),
    ("text_config", "the language model is nested in it; give that part alone"),
];

fn refuse_other_kinds(fields: Fields<'_>) -> Result<(), ModelError> {
    for (field, reason) in OTHER_KINDS {
        if let Some(value) = fields.get(field)
            && value.as_u64() != Some(0)
        {
            return Err(unsupported(field, value, reason));
        }
    }
    Ok(())
}

fn refuse_windows(fields: Fields<'_>) -> Result<(), ModelError> {
    if let Some(value) = fields.get("layer_types") {
        let full = |layer: &Value| layer.as_str() == Some("full_attention");
        if !value.as_array().is_some_and(|types| types.iter().all(full)) {
            let reason = "only layers of type \"full_attention\" are covered";
            return Err(unsupported("layer_types", value, reason));
        }
    }
    // Qwen names a window that it does not use and says so in a second field; Mistral has only the first.
    if let Some(value) = fields.get("sliding_window")
        && fields.flag("use_sliding_window")? != Some(false)
    {
        let reason = "sliding-window attention is not covered";
        return Err(unsupported("sliding_window", value, reason));
    }
    Ok(())
}

struct Dims {
    hidden: u64,
    heads: u64,
    kv_heads: u64,
    head_dim: u64,
    feed_forward: u64,
}

impl Dims {
    fn read(fields: Fields<'_>) -> Result<Self, ModelError> {
        let hidden = fields.count("hidden_size", HIDDEN)?;
        let heads = fields.count("num_attention_heads", HEADS)?;
        // Silence means as many key-value heads as query heads.
        let kv_heads = fields.optional_count("num_key_value_heads", HEADS)?.unwrap_or(heads);
        if !heads.is_multiple_of(kv_heads) {
            return Err(ModelError::Contradiction {
                field: "num_key_value_heads",
                value: kv_heads,
                other: "num_attention_heads",
                other_value: heads,
                rule: "the first must divide the second",
            });
        }
        let head_dim = match fields.optional_count("head_dim", HEAD_DIM)? {
            Some(head_dim) => head_dim,
            None => derived_head_dim(hidden, heads)?,
        };
        let feed_forward = fields.count("intermediate_size", FEED_FORWARD)?;
        Ok(Self { hidden, heads, kv_heads, head_dim, feed_forward })
    }
}

fn derived_head_dim(hidden: u64, heads: u64) -> Result<u64, ModelError> {
    let head_dim = hidden / heads;
    if hidden.is_multiple_of(heads) && head_dim <= HEAD_DIM.limit {
        return Ok(head_dim);
    }
    Err(ModelError::Contradiction {
        field: "num_attention_heads",
        value: heads,
        other: "hidden_size",
        other_value: hidden,
        rule: "without `head_dim` their quotient is the head dimension: a whole number from 1 to 4096",
    })
}

/// Norm gains and biases of one layer. Every layer has two norms over the hidden size.
fn layer_vectors(family: Family, fields: Fields<'_>, dims: &Dims) -> Result<u64, ModelError> {
    let qkv_bias = dims.head_dim * (dims.heads + 2 * dims.kv_heads);
    let attention_bias =
        if fields.flag("attention_bias")?.unwrap_or(false) { qkv_bias + dims.hidden } else { 0 };
    let mlp_bias = if fields.flag("mlp_bias")?.unwrap_or(false) {
        2 * dims.feed_forward + dims.hidden
    } else {
        0
    };
    let own = match family {
        Family::Llama => attention_bias + mlp_bias,
        Family::Mistral => 0,
        Family::Qwen2 => qkv_bias,
        Family::Qwen3 => attention_bias + 2 * dims.head_dim,
    };
    Ok(2 * dims.hidden + own)
}

fn precision(fields: Fields<'_>) -> Result<Format, ModelError> {
    // The name changed over time; both are in use.
    let field = if fields.get("dtype").is_some() { "dtype" } else { "torch_dtype" };
    let value = fields
        .get(field)
        .ok_or(ModelError::Missing { field, expected: "\"bfloat16\" or \"float16\"" })?;
    if !matches!(value.as_str(), Some("bfloat16" | "float16")) {
        return Err(unsupported(field, value, "16-bit weights are expected"));
    }
    match fields.get("quantization_config") {
        None => Ok(Format::Bf16),
        Some(Value::Object(quantization)) => quantized(Fields(quantization)),
        Some(other) => Err(ModelError::Invalid {
            field: "quantization_config",
            found: shown(other),
            expected: "an object with a `quant_method`, or absent",
        }),
    }
}

/// Per-tensor fp8 of every linear layer but the LM head; any other scheme is refused.
fn quantized(fields: Fields<'_>) -> Result<Format, ModelError> {
    let field = "quantization_config.quant_method";
    let method =
        fields.get("quant_method").ok_or(ModelError::Missing { field, expected: "\"fp8\"" })?;
    if method.as_str() != Some("fp8") {
        return Err(unsupported(field, method, "this quantization is not covered"));
    }
    if let Some(value) = fields.get("weight_block_size") {
        let field = "quantization_config.weight_block_size";
        return Err(unsupported(field, value, "block scales are not covered"));
    }
    let kept_wide = [
        ("ignored_layers", "quantization_config.ignored_layers"),
        ("modules_to_not_convert", "quantization_config.modules_to_not_convert"),
    ];
    for (key, field) in kept_wide {
        let head = |name: &Value| name.as_str() == Some("lm_head");
        if let Some(value) = fields.get(key)
            && !value.as_array().is_some_and(|names| names.iter().all(head))
        {
            let reason = "only the LM head may be left out of the quantization";
            return Err(unsupported(field, value, reason));
        }
    }
    Ok(Format::Fp8)
}

fn unsupported(field: &'static str, value: &Value, reason: &'static str) -> ModelError {
    ModelError::Unsupported { field, found: shown(value), reason }
}
