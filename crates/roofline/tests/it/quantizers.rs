//! What quantisers really write, with all that does not matter: read without a word of warning.

use fizeau_roofline::Format;
use serde_json::{Value, json};

use crate::quantization::{check_all, read};

/// Checks attention, what comes after it, router and head.
#[track_caller]
fn check(name: &str, config: Value, expected: [&str; 4]) {
    check_all(&read(name, config), expected);
}

#[test]
fn autoawq_through_transformers() {
    let config = json!({
        "backend": "autoawq", "bits": 4, "do_fuse": false, "exllama_config": null, "fuse_max_seq_len": null,
        "group_size": 128, "modules_to_fuse": null, "modules_to_not_convert": ["gate"], "quant_method": "awq",
        "version": "gemm", "zero_point": true,
    });
    check("mixtral-8x7b", config, ["int4-g128-zp", "int4-g128-zp", "bf16", "bf16"]);
}

#[test]
fn gptq_through_transformers() {
    let config = json!({
        "batch_size": 1, "bits": 4, "block_name_to_quantize": null, "cache_block_outputs": true,
        "damp_percent": 0.1, "dataset": null, "desc_act": true, "exllama_config": {"version": 1},
        "group_size": 128, "max_input_length": null, "model_seqlen": null,
        "module_name_preceding_first_block": null, "modules_in_block_to_quantize": null, "pad_token_id": null,
        "quant_method": "gptq", "sym": true, "tokenizer": null, "true_sequential": true, "use_cuda_fp16": false,
        "use_exllama": true,
    });
    check("llama-3.1-8b", config, ["int4-g128", "int4-g128", "-", "bf16"]);
}

#[test]
fn llm_compressor() {
    let arguments = json!({
        "actorder": null, "block_structure": null, "dynamic": true, "group_size": null, "num_bits": 8,
        "observer": null, "observer_kwargs": {}, "strategy": "token", "symmetric": true, "type": "float",
    });
    let mut weights = arguments.clone();
    weights["strategy"] = json!("channel");
    weights["dynamic"] = json!(false);
    let config = json!({
        "config_groups": {"group_0": {
            "format": "float-quantized", "input_activations": arguments, "output_activations": null,
            "targets": ["Linear"], "weights": weights,
        }},
        "format": "float-quantized", "global_compression_ratio": null,
        "ignore": ["re:.*lm_head", "re:.*mlp.gate$", "re:vision_model.*", "re:multi_modal_projector.*"],
        "kv_cache_scheme": null, "quant_method": "compressed-tensors", "quantization_status": "compressed",
        "sparsity_config": {}, "transform_config": {}, "version": "0.11.0",
    });
    check("qwen3-30b-a3b", config, ["fp8", "fp8", "bf16", "bf16"]);
}

/// As NVIDIA's checkpoints of Qwen3-Next: heads' gates, the convolution and what predicts further tokens are kept.
#[test]
fn model_optimizer() {
    let mut kept = vec!["lm_head".to_owned(), "mtp.layers.0*".to_owned(), "mtp.fc".to_owned()];
    for n in 0..48 {
        let layer = format!("model.layers.{n}");
        kept.push(format!("{layer}.mlp.gate"));
        kept.push(format!("{layer}.mlp.shared_expert_gate"));
        if n % 4 == 3 {
            kept.push(format!("{layer}.self_attn*"));
        } else {
            kept.push(format!("{layer}.linear_attn.conv1d"));
        }
    }
    let scheme = json!({"dynamic": false, "num_bits": 4, "type": "float", "group_size": 16});
    let config = json!({
        "config_groups": {"group_0": {"input_activations": scheme, "weights": scheme, "targets": ["Linear"]}},
        "ignore": kept, "quant_algo": "NVFP4", "quant_method": "modelopt",
        "kv_cache_scheme": {"dynamic": false, "num_bits": 8, "type": "float"},
        "producer": {"name": "modelopt", "version": "0.37.0"},
    });
    check("qwen3-next-80b-a3b", config, ["bf16", "nvfp4", "bf16", "bf16"]);
}

#[test]
fn quark() {
    let tensor = json!({
        "ch_axis": -1, "dtype": "fp4", "group_size": 32, "is_dynamic": false, "qscheme": "per_group",
        "scale_format": "e8m0", "scale_type": "float", "symmetric": null,
    });
    let config = json!({
        "algo_config": null, "exclude": ["lm_head", "re:.*self_attn.*", "re:.*mlp.gate$"],
        "export": {"kv_cache_group": [], "min_kv_scale": 0.0, "pack_method": "reorder"},
        "global_quant_config": {
            "bias": null, "input_tensors": tensor, "output_tensors": null, "target_device": null, "weight": tensor,
        },
        "kv_cache_group": [], "kv_cache_post_rope": false, "kv_cache_quant_config": {},
        "layer_quant_config": {}, "layer_type_quant_config": {}, "min_kv_scale": 0.0, "quant_method": "quark",
        "quant_mode": "eager_mode", "softmax_quant_spec": null, "version": "0.10",
    });
    check("deepseek-v3", config, ["bf16", "mxfp4-a4", "bf16", "bf16"]);
}

/// As Quark of each age says that keys and values are kept in 8 bits.
#[test]
fn quark_caches() {
    let fp8 = json!({"dtype": "fp8_e4m3", "is_dynamic": false, "qscheme": "per_tensor"});
    let all = json!({"weight": fp8, "input_tensors": fp8, "output_tensors": null});
    let mut outputs = all.clone();
    outputs["output_tensors"] = fp8.clone();
    let group = json!(["*k_proj", "*v_proj"]);
    for more in [
        json!({"layer_quant_config": {"*k_proj": outputs, "*v_proj": outputs}}),
        json!({"layer_quant_config": {"*k_proj": {"output_tensors": fp8}}, "export": {"kv_cache_group": group}}),
        json!({"kv_cache_quant_config": {"*k_proj": outputs, "*v_proj": outputs}, "kv_cache_group": group}),
        json!({"kv_cache_quant_config": fp8}),
        json!({"global_quant_config": outputs, "kv_cache_group": group}),
    ] {
        let mut config =
            json!({"quant_method": "quark", "global_quant_config": all, "exclude": ["lm_head"]});
        for (field, value) in more.as_object().unwrap() {
            config[field] = value.clone();
        }
        let model = read("llama-3.1-8b", config);
        assert_eq!(model.kv_cache(), Format::Fp8, "{more}");
        check_all(&model, ["fp8", "fp8", "-", "bf16"]);
        assert!(model.warnings.is_empty(), "{more} {:?}", model.warnings);
    }
}

/// What lists name beside modules, and switches that are off.
#[test]
fn names_of_classes_and_of_drafts() {
    let config = json!({
        "quant_method": "fp8", "weight_block_size": [128, 128], "dequantize": false,
        "ignored_layers": ["model.decoder.self_attn.o_proj", "Llama4TextAttention", "lm_head"],
    });
    check("llama-3.1-8b", config, ["fp8-128x128", "fp8-128x128", "-", "bf16"]);
}

#[test]
fn bitsandbytes() {
    let config = json!({
        "_load_in_4bit": true, "_load_in_8bit": false, "bnb_4bit_compute_dtype": "bfloat16",
        "bnb_4bit_quant_storage": "uint8", "bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": true,
        "llm_int8_enable_fp32_cpu_offload": false, "llm_int8_has_fp16_weight": false,
        "llm_int8_skip_modules": null, "llm_int8_threshold": 6.0, "load_in_4bit": true, "load_in_8bit": false,
        "quant_method": "bitsandbytes",
    });
    check("llama-3.1-8b", config, ["nf4-double", "nf4-double", "-", "bf16"]);
}

/// As `Qwen/Qwen3-235B-A22B-FP8` and GLM-4.5 list what they keep: norms, routers, and parts of the MTP module.
#[test]
fn long_lists_of_what_is_kept() {
    let mut kept = vec!["lm_head".to_owned(), "model.layers.61.eh_proj".to_owned()];
    kept.push("model.layers.61.shared_head.head".to_owned());
    kept.push("model.layers.61.embed_tokens".to_owned());
    for n in 0..61 {
        for module in
            ["input_layernorm", "mlp.gate", "post_attention_layernorm", "self_attn.q_a_layernorm"]
        {
            kept.push(format!("model.layers.{n}.{module}"));
        }
    }
    let config = json!({
        "activation_scheme": "dynamic", "modules_to_not_convert": kept, "fmt": "e4m3", "quant_method": "fp8",
        "scale_fmt": "ue8m0", "packed_modules_mapping": {}, "weight_block_size": [128, 128],
    });
    check("deepseek-v3", config, ["fp8-128x128", "fp8-128x128", "bf16", "bf16"]);
}
