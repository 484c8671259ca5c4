//! The families, one entry for each set of model classes that are alike in what their configs do not say.

use super::{Family, Flag, NormSpan};

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
    parallel: Flag::Field("use_parallel_residual", false),
    single_blocks: false,
    router_bias: false,
    expert_bias: false,
    shared_gate: false,
    dense_beside_experts: false,
    dense_width: DENSE_WIDTH,
    dense_width_in_hidden: None,
    learned_positions: None,
    defaults: &[],
};

/// The stand-in for families that are not in the table: fields alone decide.
pub(super) static UNKNOWN: Family =
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
        ("max_position_embeddings", 131_072),
        ("vocab_size", 262_208),
        ("num_attention_heads", 8),
        ("num_key_value_heads", 4),
        ("head_dim", 256),
    ],
    ..GEMMA2
};

const GLM4_MOE: Family = Family {
    names: &["glm4moe", "glm4vmoe"],
    output_bias: Flag::No,
    qk_norm: Flag::Field("use_qk_norm", false),
    router_bias: true,
    ..LLAMA
};

const COHERE: Family = Family {
    names: &["cohere"],
    norms: 1,
    parallel: Flag::Yes,
    qk_norm: Flag::Field("use_qk_norm", false),
    qk_norm_span: NormSpan::Heads,
    tied: true,
    ..LLAMA
};

const OLMO2: Family =
    Family { names: &["olmo2"], qk_norm: Flag::Yes, qk_norm_span: NormSpan::Heads, ..LLAMA };

const LAYER_NORM: Family = Family { norm_vectors: 2, gated: Some(false), ..LLAMA };

/// Everything has biases, and positions are a table.
const GPT2: Family = Family {
    names: &["gpt2", "gptbigcode"],
    qkv_bias: Flag::Yes,
    output_bias: Flag::Yes,
    feed_forward_bias: Flag::Yes,
    tied: true,
    dense_width_in_hidden: Some(4),
    learned_positions: Some(0),
    ..LAYER_NORM
};

const ERNIE: Family = Family {
    names: &["ernie45", "ernie45moe", "ernie45vlmoe"],
    qkv_bias: Flag::Field("use_bias", false),
    output_bias: Flag::Field("use_bias", false),
    feed_forward_bias: Flag::Field("use_bias", false),
    tied: true,
    ..LLAMA
};

pub(super) static FAMILIES: &[Family] = &[
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
    Family { names: &["granite", "granitemoe", "granitemoeshared", "exaone"], ..LLAMA },
    Family { names: &["smollm3"], tied: true, ..LLAMA },
    Family { names: &["bamba"], ..LLAMA },
    Family { names: &["kimilinear"], router_bias: true, ..LLAMA },
    Family {
        names: &["internlm2", "internlm3"],
        qkv_bias: Flag::Field("qkv_bias", false),
        output_bias: Flag::Field("bias", false),
        feed_forward_bias: Flag::Field("bias", false),
        ..LLAMA
    },
    Family { names: &["phimoe"], norm_vectors: 2, ..LLAMA },
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
    // What it has beside its layers (per-layer embeddings, LAuReL, AltUp) is named by the fields for it.
    Family { names: &["gemma3n"], full_every: Some(5), defaults: &[], ..GEMMA3 },
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
    Family { names: &["dots1"], qk_norm: Flag::Yes, ..GLM4_MOE },
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
        parallel: Flag::Field("parallel_attn", true),
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
    Family {
        names: &["chatglm"],
        qkv_bias: Flag::Field("add_qkv_bias", false),
        output_bias: Flag::Field("add_bias_linear", false),
        feed_forward_bias: Flag::Field("add_bias_linear", false),
        ..LLAMA
    },
    Family {
        names: &["gptneox"],
        parallel: Flag::Field("use_parallel_residual", true),
        qkv_bias: Flag::Field("attention_bias", true),
        output_bias: Flag::Field("attention_bias", true),
        feed_forward_bias: Flag::Yes,
        ..LAYER_NORM
    },
    Family {
        names: &["phi"],
        norms: 1,
        parallel: Flag::Yes,
        qkv_bias: Flag::Yes,
        output_bias: Flag::Yes,
        feed_forward_bias: Flag::Yes,
        ..LAYER_NORM
    },
    GPT2,
    Family { names: &["opt"], dense_width_in_hidden: None, learned_positions: Some(2), ..GPT2 },
    Family { names: &["dbrx"], ..LLAMA },
    Family { names: &["step3p5"], qk_norm: Flag::Field("use_qk_norm", true), ..LLAMA },
    Family { names: &["arcee"], gated: Some(false), ..LLAMA },
    Family { names: &["apertus"], gated: Some(false), qk_norm: Flag::Yes, ..LLAMA },
];
