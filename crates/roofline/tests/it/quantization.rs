//! How checkpoints say that they are quantised, and what is made of it.

use fizeau_roofline::{Format, KnownModel, Model, TensorClass};
use serde_json::{Map, Value, json};

pub(crate) fn known(name: &str) -> Model {
    Model::from_config_json(KnownModel::named(name).unwrap().config).unwrap()
}

/// A known model's config, unquantised, with this `quantization_config`.
pub(crate) fn quantized(name: &str, quantization: Value) -> String {
    let text = KnownModel::named(name).unwrap().config;
    let mut config: Map<String, Value> = serde_json::from_str(text).unwrap();
    config.insert("quantization_config".to_owned(), quantization);
    config.insert("torch_dtype".to_owned(), json!("bfloat16"));
    Value::Object(config).to_string()
}

pub(crate) fn read(name: &str, quantization: Value) -> Model {
    Model::from_config_json(&quantized(name, quantization)).unwrap()
}

/// All formats of a class, by what is stored in them.
fn formats(model: &Model, class: TensorClass) -> Vec<(String, u64)> {
    let own = model.tensors().into_iter().filter(|tensors| tensors.class == class);
    own.map(|tensors| (tensors.format.to_string(), tensors.stored)).collect()
}

#[track_caller]
pub(crate) fn check(model: &Model, class: TensorClass, expected: &str) {
    let found = formats(model, class);
    assert!(matches!(found.as_slice(), [(name, _)] if name == expected), "{class}: {found:?}");
}

/// Checks attention, what comes after it, router and head; `-` where a model has none.
#[track_caller]
pub(crate) fn check_all(model: &Model, expected: [&str; 4]) {
    let dense = !formats(model, TensorClass::Dense).is_empty();
    let feed = if dense { TensorClass::Dense } else { TensorClass::Experts };
    let classes = [TensorClass::Attention, feed, TensorClass::Router, TensorClass::Head];
    for (class, expected) in classes.into_iter().zip(expected).filter(|pair| pair.1 != "-") {
        check(model, class, expected);
    }
    check(model, TensorClass::Embedding, "bf16");
    check(model, TensorClass::Vectors, "bf16");
    assert_eq!(model.warnings, [""; 0]);
}

#[test]
fn gpt_oss_quantises_its_experts_alone() {
    for name in ["gpt-oss-120b", "gpt-oss-20b"] {
        check_all(&known(name), ["bf16", "mxfp4", "bf16", "bf16"]);
    }
}

#[test]
fn deepseek_keeps_tables_norms_and_routers_wide() {
    let model = known("deepseek-v3");
    check_all(&model, ["fp8-128x128", "fp8-128x128", "bf16", "bf16"]);
    for class in [TensorClass::Experts, TensorClass::SharedExperts] {
        check(&model, class, "fp8-128x128");
    }
}

#[test]
fn fp8_has_scales_for_blocks_or_tensors() {
    let plain = read("llama-3.1-8b", json!({"quant_method": "fp8", "activation_scheme": "static"}));
    check_all(&plain, ["fp8", "fp8", "-", "bf16"]);
    let blocks = json!({"quant_method": "fp8", "weight_block_size": [64, 32], "fmt": "e4m3"});
    check_all(&read("llama-3.1-8b", blocks), ["fp8-64x32", "fp8-64x32", "-", "bf16"]);
}

/// As `meta-llama/Llama-3.1-405B-Instruct-FP8` has it: attention, and the first and last layer, are left out.
#[test]
fn lists_of_modules_go_layer_by_layer() {
    let mut left: Vec<String> = (0..32)
        .flat_map(|n| ["q", "k", "v", "o"].map(|m| format!("model.layers.{n}.self_attn.{m}_proj")))
        .collect();
    left.extend(["gate", "up", "down"].map(|m| format!("model.layers.0.mlp.{m}_proj")));
    left.push("model.layers.31".to_owned());
    let config = json!({
        "quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0, "modules_to_not_convert": left,
    });
    let model = read("llama-3.1-8b", config);
    check(&model, TensorClass::Attention, "bf16");
    let block = 3 * 4096 * 14336;
    let expected = [("fp8".to_owned(), 30 * block), ("bf16".to_owned(), 2 * block)];
    let mut found = formats(&model, TensorClass::Dense);
    found.sort_by_key(|entry| std::cmp::Reverse(entry.1));
    assert_eq!(found, expected);
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
}

/// A class of which a part is left out is the blend of its matrices.
#[test]
fn part_of_a_class_counts_as_its_share() {
    let ignore = ["model.layers.*.mlp.down_proj", "re:.*self_attn.[kv]_proj"];
    let model = read("llama-3.1-8b", json!({"quant_method": "fp8", "ignored_layers": ignore}));
    let bytes = |class| -> f64 {
        let own = model.tensors().into_iter().filter(|tensors| tensors.class == class);
        own.map(|tensors| tensors.bytes().get()).sum()
    };
    let (hidden, wide, keys) = (4096.0, 14336.0, 1024.0);
    let attention = 32.0 * hidden * (2.0 * hidden + 2.0 * 2.0 * keys);
    assert!((bytes(TensorClass::Attention) / attention - 1.0).abs() < 1e-6);
    let dense = 32.0 * hidden * wide * (2.0 + 2.0);
    assert!((bytes(TensorClass::Dense) / dense - 1.0).abs() < 1e-6);
}

fn group(weights: &Value) -> Value {
    json!({"targets": ["Linear"], "weights": weights, "input_activations": null})
}

#[test]
fn compressed_tensors_are_read_by_group() {
    let of = |format: &str, group: Value, ignore: Value| {
        json!({
            "quant_method": "compressed-tensors", "format": format, "ignore": ignore,
            "config_groups": {"group_0": group}, "quantization_status": "compressed",
            "kv_cache_scheme": null, "global_compression_ratio": 1.5, "version": "0.12",
            "sparsity_config": {}, "transform_config": {},
        })
    };
    let nvfp4 = group(
        &json!({"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}),
    );
    let router = json!(["lm_head", "re:.*mlp.gate$"]);
    let model = read("qwen3-30b-a3b", of("nvfp4-pack-quantized", nvfp4, router));
    check_all(&model, ["nvfp4-a16", "nvfp4-a16", "bf16", "bf16"]);

    // As `moonshotai/Kimi-K2-Thinking`: routed experts alone, in 4-bit integers.
    let four = group(&json!({
        "num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": true,
    }));
    let ignore = json!([
        "lm_head",
        "re:.*self_attn.*",
        "re:.*shared_experts.*",
        "re:.*mlp\\.(gate|up|gate_up|down)_proj.*",
    ]);
    let model = read("kimi-k2", of("pack-quantized", four, ignore));
    check_all(&model, ["bf16", "bf16", "bf16", "bf16"]);
    check(&model, TensorClass::Experts, "int4-g32");
    check(&model, TensorClass::SharedExperts, "bf16");

    let eight = json!({"num_bits": 8, "type": "float", "strategy": "channel", "group_size": null});
    let model = read("llama-3.1-8b", of("float-quantized", group(&eight), json!(["lm_head"])));
    check_all(&model, ["fp8-a16", "fp8-a16", "-", "bf16"]);

    let mut integers = group(&json!({"num_bits": 8, "type": "int", "strategy": "channel"}));
    integers["input_activations"] = json!({"num_bits": 8, "type": "int", "dynamic": true});
    let model = read("llama-3.1-8b", of("int-quantized", integers, json!([])));
    check_all(&model, ["int8", "int8", "-", "int8"]);
}

#[test]
fn groups_with_paths_hold_over_classes() {
    let model = read(
        "llama-3.1-8b",
        json!({
            "quant_method": "compressed-tensors", "ignore": ["lm_head"],
            "config_groups": {
                "a": {"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 8, "type": "float"}},
                "b": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float", "group_size": 16}},
            },
            "kv_cache_scheme": {"num_bits": 8, "type": "float", "strategy": "tensor"},
        }),
    );
    check_all(&model, ["fp8-a16", "nvfp4-a16", "-", "bf16"]);
    assert_eq!(model.kv_cache(), Format::Fp8);
}

/// As `nvidia/DeepSeek-R1-FP4`, in the file beside the config.
#[test]
fn modelopt_is_read_from_its_own_file() {
    let mut config: Map<String, Value> =
        serde_json::from_str(KnownModel::named("deepseek-v3").unwrap().config).unwrap();
    config.remove("quantization_config");
    let mut left: Vec<String> = (0..62).map(|n| format!("model.layers.{n}.self_attn*")).collect();
    left.extend(["lm_head", "*.mlp.gate.", "model.layers.61*"].map(str::to_owned));
    let beside = json!({
        "producer": {"name": "modelopt", "version": "0.23.0"},
        "quantization": {
            "quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8", "group_size": 16, "exclude_modules": left,
        },
    });
    let config = Value::Object(config).to_string();
    let model = Model::from_config_and_quantization(&config, &beside.to_string()).unwrap();
    check_all(&model, ["bf16", "nvfp4", "bf16", "bf16"]);
    check(&model, TensorClass::Experts, "nvfp4");
    assert_eq!(model.kv_cache(), Format::Fp8);
}

#[test]
fn modelopt_may_set_each_module() {
    let mut layers = Map::new();
    for n in 0..48 {
        for m in ["q", "k", "v", "o"] {
            layers.insert(
                format!("model.layers.{n}.self_attn.{m}_proj"),
                json!({"quant_algo": "FP8"}),
            );
        }
        let experts = json!({"quant_algo": "NVFP4", "group_size": 16});
        layers.insert(format!("model.layers.{n}.mlp.experts"), experts);
    }
    let config = json!({
        "quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": layers,
        "kv_cache_scheme": {"num_bits": 8, "type": "float", "dynamic": false},
    });
    let model = read("qwen3-30b-a3b", config);
    check_all(&model, ["fp8", "nvfp4", "bf16", "bf16"]);
    assert_eq!(model.kv_cache(), Format::Fp8);
}

#[test]
fn other_dialects_say_the_same_in_their_words() {
    let four = "int4-g128";
    for (config, layers) in [
        (
            json!({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true}),
            "int4-g128-zp",
        ),
        (
            json!({"quant_method": "awq", "w_bit": 4, "q_group_size": 64, "zero_point": false}),
            "int4-g64",
        ),
        (
            json!({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": true, "desc_act": false}),
            four,
        ),
        (json!({"quant_method": "gptq", "bits": 8, "group_size": -1, "sym": true}), "int8-channel"),
        (
            json!({"quant_method": "auto-round", "bits": 4, "group_size": 128, "data_type": "int"}),
            four,
        ),
        (
            json!({"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_quant_type": "nf4",
            "bnb_4bit_use_double_quant": true}),
            "nf4-double",
        ),
        (
            json!({"quant_method": "bitsandbytes", "load_in_8bit": true, "load_in_4bit": false}),
            "int8",
        ),
        (json!({"quant_method": "w8a8_int8"}), "int8"),
        (json!({"quant_method": "mxfp8"}), "mxfp8"),
        (
            json!({"quant_method": "fp8", "weight_block_size": [1, 32], "scale_fmt": "ue8m0"}),
            "mxfp8",
        ),
        (json!({"quant_method": "modelopt", "quant_algo": "FP8", "ignore": ["lm_head"]}), "fp8"),
        (
            json!({"quant_method": "quark", "exclude": ["lm_head"], "global_quant_config": {
            "weight": {"dtype": "fp4", "qscheme": "per_group", "group_size": 32}}}),
            "mxfp4-a16",
        ),
        (
            json!({"quant_method": "modelopt", "quant_algo": "W4A16_NVFP4", "group_size": 16, "ignore": ["lm_head"]}),
            "nvfp4-a16",
        ),
        (
            json!({"quant_method": "modelopt", "quant_algo": "W4A8_AWQ", "ignore": ["lm_head"]}),
            "int4-g128-a8",
        ),
    ] {
        check_all(&read("llama-3.1-8b", config), [layers, layers, "-", "bf16"]);
    }
}

/// MLX has no method, takes tables and routers too, and names the modules that it treats apart.
#[test]
fn mlx_is_read_by_its_bits() {
    let own = json!({"group_size": 64, "bits": 8});
    let mut config = json!({"group_size": 64, "bits": 4, "mode": "affine", "lm_head": own});
    for n in 0..48 {
        config[format!("model.layers.{n}.mlp.gate")] = json!(false);
    }
    let text = quantized("qwen3-30b-a3b", config);
    let model = Model::from_config_json(&text).unwrap();
    check(&model, TensorClass::Experts, "int4-g64-bias");
    check(&model, TensorClass::Embedding, "int4-g64-bias");
    check(&model, TensorClass::Head, "int8-g64-bias");
    check(&model, TensorClass::Router, "bf16");
    // Older files have it under a name of its own.
    let older = text.replace("quantization_config", "quantization");
    assert_eq!(Model::from_config_json(&older).unwrap(), model);
}

/// Some lists name each expert.
#[test]
fn experts_may_be_listed_one_by_one() {
    let of = |experts: u64| {
        let names: Vec<String> = (0..48)
            .flat_map(|n| (0..experts).map(move |e| format!("model.layers.{n}.mlp.experts.{e}")))
            .flat_map(|expert| ["gate", "up", "down"].map(|m| format!("{expert}.{m}_proj")))
            .collect();
        read("qwen3-30b-a3b", json!({"quant_method": "fp8", "modules_to_not_convert": names}))
    };
    check_all(&of(128), ["fp8", "bf16", "bf16", "bf16"]);
    let some = of(127);
    check(&some, TensorClass::Experts, "fp8");
    assert_eq!(some.warnings.len(), 1, "{:?}", some.warnings);
}

#[test]
fn a_gguf_file_type_in_a_config_is_the_choice_by_name() {
    let config = json!({"quant_method": "gguf", "file_type": "Q4_K_M"});
    let read = read("llama-3.1-8b", config).weight_bytes().get();
    let chosen = known("llama-3.1-8b").with_weights(&"q4_k_m".parse().unwrap());
    assert!((read / chosen.weight_bytes().get() - 1.0).abs() < 1e-6);
}

#[test]
fn experts_may_have_a_type_of_their_own() {
    let text = KnownModel::named("deepseek-v3").unwrap().config;
    let mut config: Map<String, Value> = serde_json::from_str(text).unwrap();
    config.insert("expert_dtype".to_owned(), json!("fp4"));
    let model = Model::from_config_json(&Value::Object(config).to_string()).unwrap();
    check(&model, TensorClass::Experts, "mxfp4");
    check(&model, TensorClass::Attention, "fp8-128x128");
}

/// Parts of a checkpoint that are not counted as matrices of the language model give no false alarm.
#[test]
fn encoders_and_norms_in_a_list_are_no_news() {
    let ignored = [
        "visual.blocks.0.attn.qkv",
        "re:visual.*",
        "model.vision_tower.encoder.layers.3.mlp.fc1",
        "multi_modal_projector.linear_1",
        "model.layers.0.input_layernorm",
        "model.layers.0.mlp.gate.e_score_correction_bias",
        "mtp.layers.0.mlp.gate",
        "re:^mtp.*",
    ];
    let model = read("llama-3.1-8b", json!({"quant_method": "fp8", "ignored_layers": ignored}));
    check_all(&model, ["fp8", "fp8", "-", "bf16"]);
}

/// A file of a megabyte could otherwise ask for hours: thousands of layers, each of tens of thousands of names.
#[test]
fn lists_without_end_are_cut_in_words() {
    let mut config: Map<String, Value> =
        serde_json::from_str(KnownModel::named("llama-3.1-8b").unwrap().config).unwrap();
    config.insert("num_hidden_layers".into(), json!(4096));
    let ignored: Vec<String> = (0..1000).map(|n| format!("{}q_proj", ".".repeat(n))).collect();
    config.insert(
        "quantization_config".into(),
        json!({"quant_method": "fp8", "ignored_layers": ignored}),
    );
    let model = Model::from_config_json(&Value::Object(config).to_string()).unwrap();
    let said = |warning: &String| warning.ends_with("more than are looked up; it changes nothing");
    assert!(model.warnings.iter().any(said), "{:?}", model.warnings);
}
