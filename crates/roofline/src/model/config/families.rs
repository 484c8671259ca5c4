//! What a family's published code fixes and its config does not say.
//!
//! Dimensions are always the config's. Here stand norms, biases, gates and defaults, as in the model classes of the
//! `transformers` library (or in the code beside the checkpoint), under the name that the config gives for itself.

use serde_json::Value;

use super::super::ModelError;
use super::super::fields::{Fields, shown};

/// Something that a layer has or has not.
#[derive(Clone, Copy)]
pub(super) enum Flag {
    No,
    Yes,
    /// As this field says, or the value where it is silent.
    Field(&'static str, bool),
}

impl Flag {
    pub(super) fn read(self, fields: Fields<'_>) -> Result<bool, ModelError> {
        match self {
            Self::No => Ok(false),
            Self::Yes => Ok(true),
            Self::Field(field, silent) => Ok(fields.flag(field)?.unwrap_or(silent)),
        }
    }
}

/// What the norms of queries and keys go over.
#[derive(Clone, Copy)]
pub(super) enum NormSpan {
    /// The dimensions of one head; all heads share the gains.
    Head,
    /// All heads together.
    Heads,
}

/// What the config of a family leaves to its code.
pub(super) struct Family {
    /// Its names, in small letters and digits only.
    names: &'static [&'static str],
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
    pub(super) dense_width: &'static [&'static str],
    /// That width in hidden sizes where the config is silent.
    pub(super) dense_width_in_hidden: Option<u64>,
    /// Fields that the family's code has defaults for and configs do leave out.
    pub(super) defaults: &'static [(&'static str, u64)],
}

const DENSE_WIDTH: &[&str] = &["intermediate_size_mlp", "intermediate_size", "ffn_hidden_size"];

const LLAMA: Family = Family {
    names: &["llama"],
    norms: 2,
    norm_vectors: 1,
    qkv_bias: Flag::Field("attention_bias", false),
    output_bias: Flag::Field("attention_bias", false),
    feed_forward_bias: Flag::Field("mlp_bias", false),
    qk_norm: Flag::No,
    qk_norm_span: NormSpan::Head,
    output_gate: Flag::Field("attn_output_gate", false),
    sinks: Flag::No,
    gated: Some(true),
    tied: false,
    windows: Flag::Field("use_sliding_window", true),
    full_every: None,
    single_blocks: false,
    router_bias: false,
    expert_bias: false,
    shared_gate: false,
    dense_beside_experts: false,
    dense_width: DENSE_WIDTH,
    dense_width_in_hidden: None,
    defaults: &[],
};

/// The stand-in for families that are not in the table: fields alone decide.
static UNKNOWN: Family =
    Family { names: &[], qk_norm: Flag::Field("use_qk_norm", false), gated: None, ..LLAMA };

/// Qwen names a window that it does not use, and says so in a second field.
const QWEN2: Family = Family {
    names: &["qwen2", "qwen2vl", "qwen25vl", "qwen2audio", "qwen25omnithinker"],
    qkv_bias: Flag::Yes,
    output_bias: Flag::No,
    windows: Flag::Field("use_sliding_window", false),
    ..LLAMA
};

const QWEN3: Family = Family {
    names: &["qwen3", "qwen3moe", "qwen3vl", "qwen3vlmoe", "qwen3omnimoethinker", "qwen3omnimoe"],
    qk_norm: Flag::Yes,
    windows: Flag::Field("use_sliding_window", false),
    ..LLAMA
};

const GEMMA: Family = Family { names: &["gemma", "paligemma"], tied: true, ..LLAMA };

/// Norms before and after both blocks.
const GEMMA2: Family = Family { names: &["gemma2"], norms: 4, full_every: Some(2), ..GEMMA };

const GEMMA3: Family = Family {
    names: &["gemma3", "medgemma"],
    qk_norm: Flag::Yes,
    full_every: Some(6),
    defaults: &[
        ("vocab_size", 262_208),
        ("num_attention_heads", 8),
        ("num_key_value_heads", 4),
        ("head_dim", 256),
    ],
    ..GEMMA2
};

const GLM4_MOE: Family = Family {
    names: &["glm4moe", "glm4vmoe", "dots1"],
    output_bias: Flag::No,
    qk_norm: Flag::Field("use_qk_norm", false),
    router_bias: true,
    ..LLAMA
};

const COHERE: Family = Family {
    names: &["cohere"],
    norms: 1,
    qk_norm: Flag::Field("use_qk_norm", false),
    qk_norm_span: NormSpan::Heads,
    tied: true,
    ..LLAMA
};

const OLMO2: Family =
    Family { names: &["olmo2"], qk_norm: Flag::Yes, qk_norm_span: NormSpan::Heads, ..LLAMA };

const LAYER_NORM: Family = Family { norm_vectors: 2, gated: Some(false), ..LLAMA };

const ERNIE: Family = Family {
    names: &["ernie45", "ernie45moe", "ernie45vlmoe"],
    qkv_bias: Flag::Field("use_bias", false),
    output_bias: Flag::Field("use_bias", false),
    feed_forward_bias: Flag::Field("use_bias", false),
    tied: true,
    ..LLAMA
};

static FAMILIES: &[Family] = &[
    LLAMA,
    Family {
        names: &[
            "mistral",
            "mixtral",
            "ministral",
            "ministral3",
            "mistral3",
            "phi3",
            "phi3v",
            "phi4mm",
        ],
        qkv_bias: Flag::No,
        output_bias: Flag::No,
        feed_forward_bias: Flag::No,
        ..LLAMA
    },
    Family { names: &["granite", "granitemoe", "granitemoeshared", "smollm3", "exaone"], ..LLAMA },
    QWEN2,
    Family {
        names: &["qwen2moe"],
        qkv_bias: Flag::Field("qkv_bias", true),
        shared_gate: true,
        ..QWEN2
    },
    QWEN3,
    Family {
        names: &["qwen3next", "qwen35", "qwen35moe"],
        output_gate: Flag::Field("attn_output_gate", true),
        shared_gate: true,
        defaults: &[("full_attention_interval", 4)],
        ..QWEN3
    },
    GEMMA,
    GEMMA2,
    GEMMA3,
    Family {
        names: &["gemma4"],
        dense_beside_experts: true,
        defaults: &[("vocab_size", 262_144), ("global_head_dim", 512)],
        ..GEMMA3
    },
    Family {
        names: &["gptoss"],
        output_bias: Flag::Field("attention_bias", true),
        qkv_bias: Flag::Field("attention_bias", true),
        sinks: Flag::Yes,
        full_every: Some(2),
        router_bias: true,
        expert_bias: true,
        ..LLAMA
    },
    Family {
        names: &[
            "deepseek",
            "deepseekv2",
            "deepseekv3",
            "deepseekv32",
            "kimik2",
            "kimik25",
            "minicpm3",
        ],
        ..LLAMA
    },
    Family { names: &["glmmoedsa", "glm4moelite"], router_bias: true, ..LLAMA },
    Family { names: &["glm"], output_bias: Flag::No, ..LLAMA },
    Family { names: &["glm4", "glm4v"], norms: 4, output_bias: Flag::No, ..LLAMA },
    GLM4_MOE,
    // Its norms of queries and keys go over all heads of a layer; its published size leaves them out, 2e-6 of it.
    Family { names: &["minimaxm2"], ..LLAMA },
    // Its norms of queries and keys are not learned.
    Family { names: &["llama4"], defaults: &[("n_shared_experts", 1)], ..LLAMA },
    Family { names: &["mimov2flash", "mimov2"], ..LLAMA },
    Family { names: &["mimo"], ..QWEN2 },
    Family {
        names: &["nemotronh"],
        norms: 1,
        gated: Some(false),
        single_blocks: true,
        router_bias: true,
        ..LLAMA
    },
    Family { names: &["nemotron"], ..LAYER_NORM },
    COHERE,
    Family { names: &["cohere2"], full_every: Some(4), qk_norm: Flag::No, ..COHERE },
    Family { names: &["olmo"], norm_vectors: 0, ..LLAMA },
    OLMO2,
    Family { names: &["olmo3"], full_every: Some(4), ..OLMO2 },
    Family { names: &["olmoe"], ..OLMO2 },
    Family { names: &["exaone4"], qk_norm: Flag::Yes, full_every: Some(4), ..LLAMA },
    Family {
        names: &["granitemoehybrid"],
        dense_width: &["shared_intermediate_size", "intermediate_size"],
        ..LLAMA
    },
    Family {
        names: &["starcoder2"],
        qkv_bias: Flag::Field("use_bias", true),
        output_bias: Flag::Field("use_bias", true),
        feed_forward_bias: Flag::Field("use_bias", true),
        tied: true,
        ..LAYER_NORM
    },
    Family {
        names: &["falcon"],
        qkv_bias: Flag::Field("bias", false),
        output_bias: Flag::Field("bias", false),
        feed_forward_bias: Flag::Field("bias", false),
        tied: true,
        dense_width_in_hidden: Some(4),
        ..LAYER_NORM
    },
    Family {
        names: &[
            "hunyuanv1dense",
            "hunyuanv1moe",
            "hunyuandense",
            "hunyuanmoe",
            "hunyuanmoev1",
            "hunyuan",
        ],
        qk_norm: Flag::Field("use_qk_norm", true),
        ..LLAMA
    },
    ERNIE,
    Family {
        names: &["bailingmoe", "bailingmoev2"],
        qkv_bias: Flag::Field("use_qkv_bias", false),
        output_bias: Flag::Field("use_bias", false),
        feed_forward_bias: Flag::Field("use_bias", false),
        qk_norm: Flag::Field("use_qk_norm", false),
        ..LLAMA
    },
    Family {
        names: &["seedoss"],
        qkv_bias: Flag::Field("attention_bias", true),
        output_bias: Flag::Field("attention_out_bias", false),
        ..LLAMA
    },
    Family { names: &["step3p5"], qk_norm: Flag::Field("use_qk_norm", true), ..LLAMA },
    Family { names: &["arcee"], gated: Some(false), ..LLAMA },
    Family { names: &["apertus"], gated: Some(false), qk_norm: Flag::Yes, ..LLAMA },
];

impl Family {
    /// The family that a config names, and what the config calls its architecture.
    ///
    /// The class in `architectures` comes first: of the two names it is the more particular one.
    pub(super) fn of<'a>(
        fields: Fields<'a>,
        warnings: &mut Vec<String>,
    ) -> Result<(&'static Self, &'a str), ModelError> {
        let class = class(fields)?;
        let model_type = fields.text("model_type");
        let Some(shown) = class.or(model_type) else {
            let expected =
                "a list with one name, such as [\"LlamaForCausalLM\"] or [\"Qwen3ForCausalLM\"]";
            return Err(ModelError::Missing { field: "architectures", expected });
        };
        let known = class.and_then(|name| Self::named(stem(name)));
        if let Some(family) = known.or_else(|| model_type.and_then(Self::named)) {
            return Ok((family, shown));
        }
        warnings.push(format!(
            "the architecture `{shown}` is not known here: two norms a layer, gated feed-forward blocks and no \
             biases or gates beyond what the config says were assumed"
        ));
        Ok((&UNKNOWN, shown))
    }

    fn named(name: &str) -> Option<&'static Self> {
        let letters: String =
            name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
        let plain = letters.strip_suffix("text").unwrap_or(&letters);
        FAMILIES.iter().find(|family| family.names.contains(&plain))
    }
}

fn class(fields: Fields<'_>) -> Result<Option<&str>, ModelError> {
    let field = "architectures";
    let Some(value) = fields.get(field) else {
        return Ok(None);
    };
    match value.as_array().map(Vec::as_slice) {
        Some([Value::String(name), ..]) => Ok(Some(name)),
        _ => Err(ModelError::Invalid {
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
