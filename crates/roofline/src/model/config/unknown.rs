//! Fields that are read, fields that cannot matter, and a warning for each of the rest.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde_json::Value;

use super::super::fields::ConfigFields;
use super::super::{FeedForward, Layers, Mixer, Model};
use super::families::Family;
use super::remarks::Remarks;

/// Fields that some part of this crate reads.
const UNDERSTOOD: &str = "
    activation_function add_full_attention_sink_bias add_qkv_bias add_swa_attention_sink_bias
    architectures attention_bias attention_chunk_size attention_head_dim attention_k_eq_v
    attention_other_setting attention_out_bias attn_layer_indices attn_layer_period attn_output_gate
    attn_type_list bias block_configs cla_share_factor compression_config conv_kernel
    cross_attention_layers d_model decoder_sparse_step dtype enable_moe_block expand expert_dtype
    expert_ffn_hidden_size expert_intermediate_size expert_layer_offset expert_layer_period
    experts_per_token ffn_dim ffn_hidden_size first_k_dense_replace full_attention_interval
    global_head_dim head_dim hidden_act hidden_activation hidden_size hidden_size_per_layer_input
    hybrid_layer_pattern hybrid_override_pattern index_head_dim index_n_heads
    index_share_for_mtp_iteration index_skip_topk_offset index_topk index_topk_freq indexer_types
    interleave_moe_layer_step intermediate_size intermediate_size_mlp is_moe_layer kv_channels
    kv_lora_rank kv_n_heads layer_types layers_block_type linear_attn_config linear_conv_kernel_dim
    linear_key_head_dim linear_num_key_heads linear_num_value_heads linear_value_head_dim
    lm_head_bias mamba_conv_bias mamba_d_conv mamba_d_head mamba_d_state mamba_expand mamba_head_dim
    mamba_n_groups mamba_n_heads mamba_num_heads mamba_proj_bias mamba_ssm_cache_dtype
    mamba_ssm_dtype max_position_embeddings max_sequence_length max_window_layers mla_use_nope
    mla_use_output_gate mlp_bias mlp_hidden_act mlp_layer_types mlp_only_layers model_type
    moe_intermediate_size moe_k moe_latent_size moe_layer_end_index moe_layer_freq
    moe_layer_interval moe_layer_num_skipped moe_layer_start_index moe_layers moe_layers_enum
    moe_num_experts moe_num_shared_experts moe_router_enable_expert_bias moe_router_topk
    moe_shared_expert_intermediate_size moe_top_k moe_topk moe_use_aux_free
    mtp_hybrid_override_pattern mtp_layers_block_type mtp_num_hidden_layers mtp_transformer_layers
    multi_query multi_query_group_num n_embd n_groups n_head n_heads n_inner n_layer n_layers
    n_positions n_routed_experts n_shared_experts new_decoder_architecture no_rope_layer_interval
    no_rope_layers num_attention_groups num_attention_heads num_dense_layers num_experts
    num_experts_per_tok num_experts_per_token num_global_key_value_heads num_hidden_layers
    num_key_value_heads num_kv_heads num_kv_shared_layers num_layers num_local_experts
    num_mtp_modules num_nextn_predict_layers num_shared_expert num_shared_experts padded_vocab_size
    parallel_attn q_lora_rank qk_nope_head_dim qk_rope_head_dim qkv_bias quantization
    quantization_config routed_expert_hidden_size seq_length share_expert_dim share_expert_dims
    share_q_dim shared_expert_intermediate_size shared_intermediate_size sliding_window
    sliding_window_pattern sliding_window_size ssm_state_size swa_head_dim swa_num_attention_heads
    swa_num_key_value_heads swa_v_head_dim tie_word_embeddings top_k_experts topk_method torch_dtype
    use_bias use_cla use_conv_bias use_double_wide_mlp use_expert_bias use_head_wise_attn_gate
    use_mla use_moe_router_bias use_mtp use_qk_norm use_qkv_bias use_routing_bias use_sliding_window
    v_head_dim vocab_size vocab_size_per_layer_input
";

/// Fields that change neither what is stored nor how much is computed, or too little to see: what values are
/// multiplied by, which experts are chosen, how training went, how the file was written.
const IRRELEVANT: &str = "
    activation_alpha add_bias_linear add_classification_head alibi anyres_pooling_size
    apply_layernorm_1p apply_residual_connection_post_layernorm apply_router_weight_on_input
    att_impl_type attention_mechanism attention_method attention_softmax_in_fp32 attn_implementation
    attn_softmax_bf16 attn_temperature_tuning audio_processor auto_map aux_loss_alpha bf16
    bias_dropout_fusion cache_implementation chunk_size chunk_size_feed_forward clip_qkv dense_list
    dim_model_base diversity_penalty do_layer_norm_before do_sample drop_path_rate early_stopping
    embd_layer enable_bias encoder_no_repeat_ngram_size ep_size ffn_act_fn finetuning_task
    for_llm_compressor fp16 fp32 fp32_residual_connection full_attn_mod fuse_gate_detach_matmul
    fuse_linear_cross_entropy fuse_norm fuse_swiglu fused_qkv gradient_checkpointing
    group_limited_greedy id2label ignore_index init_method initial_context_length interleaved_qkv
    interpolate_factor is_decoder is_llama_config is_moe keep_mtp_layers kv_cache_dtype label2id
    language latent_moe_use_norm layer_norm_elementwise_affine layer_norm_type layer_switch
    layerdrop length_penalty linear_activation mamba_chunk_size mamba_hidden_act
    mamba_norm_before_gate masked_softmax_fusion max_batch_size max_length max_model_len
    max_pos_embed max_seq_len min_length mlp_gate_act mlp_type model_max_length
    moe_apply_router_weight_on_input moe_capacity moe_drop_tokens moe_gate moe_gate_act moe_group
    moe_group_size moe_norm_topk_prob moe_normalize_expert_weights moe_renormalize
    moe_router_activation moe_router_activation_func moe_router_dtype moe_router_score_function
    moe_routing_type moe_shared_expert_overlap mtp_use_dedicated_embeddings mup_enabled n_ctx
    n_group n_vocab name_or_path need_fp32_gate no_repeat_ngram_size nope_layer_interval
    norm_before_gate norm_expert_weight norm_head norm_only_q norm_topk_prob norm_type
    normalization_function normalization_type normalize_router_weights num_beam_groups num_beams
    num_expert_group num_ln_in_parallel_attn num_logits_to_keep num_media_embeds
    num_return_sequences order_of_interleaved_layers org_vocab_size output_attentions
    output_hidden_states output_router_logits pool_type position_embedding_type post_layer_norm
    pre_seq_len prefix prefix_projection pretraining_sequence_length pretraining_tp problem_type
    pruned_heads q_head_dim qk_head_dim qk_layernorm qk_norm_type qkv_format query_pre_attn_scalar
    reorder_and_upcast_attn repetition_penalty rescale_prenorm_residual residual_in_fp32 return_dict
    rms_norm rmsnorm router_bias_func router_dtype save_model_dtype scale_attention_softmax_in_fp32
    scale_attn_by_inverse_layer_idx scale_attn_weights scale_depth scale_emb scale_fmt score_func
    score_function scoring_func seq_aux seq_len_interpolation_factor shared_moe_mode softmax_in_fp32
    speech_lora swiglu_limit swiglu_limits swiglu_limits_shared task_specific_params temperature
    temperature_tuning text_model_type tie_encoder_decoder top_k top_p topk_group torch_compile
    torchscript true_head_dim typical_p uniform_expert_assignment unsloth_fixed use_bfloat16
    use_bidirectional_attention use_cache use_dynamic_ntk use_embedding_sharing
    use_flash_attention_2 use_flash_attn use_fp32_gate use_gated_activation use_grouped_topk
    use_logn_attn use_mamba_kernels use_mixed_mlp_moe use_moe use_parallel_block
    use_parallel_residual use_recompute use_rmsnorm using_moe vision_lora zero_centered
";

/// What a name begins with where it is about such things too.
const IRRELEVANT_STARTS: &str = "
    bos_ eod_ eos_ im_ image_ initializer logit mm_ mscale original_ pad_ router_aux summary_
    time_step_ tokenizer video_ vision_
";

/// What it ends with.
const IRRELEVANT_ENDS: &str = "
    _beta _coef _coeff _dropout _dropout_prob _eps _epsilon _gain _id _ids _init _init_std _loss
    _loss_weight _multiplier _noise _pdrop _range _scale _scale_factor _scaling _scaling_factor
    _softcapping _std _temperature _theta _token _token_index _version dropout
";

/// What it contains: positions are told by angles, whose arithmetic is a sliver of a layer's.
const IRRELEVANT_PARTS: &[&str] = &["mrope", "rope", "rotary", "yarn"];

/// Objects of which single fields are read, and those of them that are understood.
const OBJECTS: [(&str, &str); 2] = [
    (
        "attention_other_setting",
        "attention_type head_dim num_attention_groups num_attention_heads num_key_value_heads true_head_dim v_head_dim",
    ),
    (
        "linear_attn_config",
        "full_attn_layers gate_lower_bound head_dim kda_layers num_heads short_conv_kernel_size use_full_rank_gate",
    ),
];

/// Names every field that is set and neither read nor known not to matter.
pub(super) fn warn(fields: ConfigFields<'_>, remarks: &mut Remarks) {
    for (name, value) in fields.0 {
        let known = KNOWN.contains(name.as_str()) || is_neutral(fields, name, value);
        if !is_off(value) && !known && !is_irrelevant(name, value) {
            remarks.not_understood(short(name).as_str());
        }
    }
    for (object, understood) in OBJECTS {
        let own = fields.get(object).and_then(Value::as_object);
        for (name, value) in own.into_iter().flatten() {
            let known = words(understood).any(|word| word == name);
            if !is_off(value) && !known && !is_irrelevant(name, value) {
                remarks.not_understood(&format!("{object}.{}", short(name)));
            }
        }
    }
}

static KNOWN: LazyLock<HashSet<&str>> =
    LazyLock::new(|| words(UNDERSTOOD).chain(words(IRRELEVANT)).collect());

/// Fields that would matter, with a value that says what is assumed anyway.
fn is_neutral(fields: ConfigFields<'_>, name: &str, value: &Value) -> bool {
    match name {
        "moe_every_n_layer" => value.as_u64() == Some(1),
        // Else there is a projection between the embedding and the layers.
        "word_embed_proj_dim" => fields.get("hidden_size") == Some(value),
        // ChatGLM says how many groups of heads there are.
        "multi_query_attention" => fields.get("multi_query_group_num").is_some(),
        _ => false,
    }
}

/// Fields that are read only of a kind of layer.
struct OfKind {
    kind: &'static str,
    is: fn(&Layers) -> bool,
    fields: &'static [&'static str],
    /// Whether they may be left over where the config lists its layers.
    left_over: bool,
}

const OF_KINDS: [OfKind; 5] = [
    OfKind {
        kind: "Mamba",
        is: |layers| matches!(layers.mixer, Mixer::Mamba2(_)),
        fields: &["mamba_d_state", "ssm_state_size"],
        left_over: true,
    },
    OfKind {
        kind: "linear attention",
        is: |layers| matches!(layers.mixer, Mixer::DeltaNet(_)),
        fields: &["linear_num_key_heads", "linear_attn_config", "linear_key_head_dim"],
        left_over: true,
    },
    OfKind {
        kind: "latent attention",
        is: |layers| matches!(layers.mixer, Mixer::Latent(_)),
        fields: &["index_n_heads", "index_topk", "kv_lora_rank", "q_lora_rank", "use_mla"],
        left_over: false,
    },
    OfKind {
        kind: "softmax attention",
        is: |layers| matches!(layers.mixer, Mixer::Attention(_)),
        fields: &[
            "attention_k_eq_v",
            "attention_other_setting",
            "attn_output_gate",
            "num_kv_shared_layers",
            "share_q_dim",
            "use_cla",
            "use_head_wise_attn_gate",
        ],
        left_over: false,
    },
    OfKind {
        kind: "a dense block",
        is: |layers| matches!(layers.feed_forward, FeedForward::Dense(_)),
        fields: &["hidden_size_per_layer_input", "use_double_wide_mlp"],
        left_over: false,
    },
];

/// Names the fields that are read only of a kind of layer which the model turned out not to have.
pub(super) fn warn_of_absent(
    fields: ConfigFields<'_>,
    family: &Family,
    model: &Model,
    remarks: &mut Remarks,
) {
    let lists = fields.get("layer_types").is_some();
    let set = |name: &&&str| fields.get(name).is_some_and(|value| !is_off(value));
    for OfKind { kind, is, fields, left_over } in &OF_KINDS {
        if (*left_over && lists) || model.layers.iter().any(is) {
            continue;
        }
        for name in fields.iter().filter(set) {
            let text = format!("`{name}` is given, but no layer is marked as {kind}");
            remarks.doubt(format!("`{name}`"), text);
        }
    }
    // Read of families alone whose layers are one block each.
    if !family.single_blocks && set(&&"hybrid_override_pattern") {
        remarks.not_understood("hybrid_override_pattern");
    }
}

/// Values that say that there is none of something.
pub(super) fn is_off(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.is_empty(),
    }
}

/// By parts of its name. Those tell what a number is about; an object may hold anything.
fn is_irrelevant(name: &str, value: &Value) -> bool {
    if name.starts_with('_') || IRRELEVANT_PARTS.iter().any(|part| name.contains(part)) {
        return true;
    }
    let plain = match value {
        Value::Object(_) => false,
        Value::Array(list) => !list.iter().any(|value| value.is_object() || value.is_array()),
        _ => true,
    };
    plain
        && (words(IRRELEVANT_STARTS).any(|start| name.starts_with(start))
            || words(IRRELEVANT_ENDS).any(|end| name.ends_with(end)))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_ascii_whitespace()
}

/// A name cut where it is longer than any real one.
fn short(name: &str) -> String {
    name.chars().take(64).collect()
}
