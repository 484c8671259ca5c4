//! Families whose configs say something of their own about layers: golden counts, by hand from the lists of tensors.
//!
//! Published sizes are the models' names and cards. Configs are the fields that decide, and no more.

use fizeau_roofline::{Format, Model, TensorClass};
use serde_json::{Map, Value, json};

/// The fields of a config among the fixtures, with others besides.
macro_rules! fixture {
    ($name:literal, $more:tt) => {{
        let text = include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../fixtures/configs/",
            $name,
            ".json"
        ));
        with(&text.replace("Infinity", "null"), json!($more))
    }};
}

fn with(text: &str, more: Value) -> Value {
    let mut config: Map<String, Value> = serde_json::from_str(text).unwrap();
    let Value::Object(more) = more else { panic!("{more}") };
    config.extend(more);
    Value::Object(config)
}

#[track_caller]
fn read(config: &Value) -> Model {
    Model::from_config_json(&config.to_string()).unwrap()
}

/// Elements of a class, and their formats.
fn class(model: &Model, class: TensorClass) -> (u64, Vec<String>) {
    let own = model.tensors().into_iter().filter(|tensors| tensors.class == class);
    own.fold((0, Vec::new()), |(sum, mut formats), tensors| {
        formats.push(tensors.format.to_string());
        (sum + tensors.stored, formats)
    })
}

/// What an embedding, each layer and so on hold in 16 bits, and what else in `bits`.
fn bytes(narrow: u64, bits: f64, all: u64) -> f64 {
    narrow as f64 * bits / 8.0 + (all - narrow) as f64 * 2.0
}

/// GLM-5.2 (744B-A40B): 21 of 78 layers have an indexer, whose choice the next three share. Each layer keeps a latent of 576
/// elements, and one that chooses a key of 128.
#[test]
fn some_layers_share_an_indexers_choice() {
    let kinds: Vec<&str> = (0..78_u64)
        .map(|layer| if layer < 3 || layer % 4 == 2 { "full" } else { "shared" })
        .collect();
    let fp8 = json!({"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]});
    let listed = fixture!("glm-5", {
        "indexer_types": kinds, "index_topk_freq": 4, "index_skip_topk_offset": 3,
        "index_topk_pattern": null, "index_share_for_mtp_iteration": true,
        "quantization_config": fp8,
    });
    let model = read(&listed);
    let counts = model.parameters();
    assert_eq!((counts.total, counts.active), (743_377_019_904, 41_250_530_304));
    assert_eq!(class(&model, TensorClass::Indexer).0, 21 * (2048 * 4096 + 6144 * 128 + 6144 * 32));
    assert_eq!(model.weight_bytes().get(), 745_580_333_808.0);
    assert_eq!(model.kv_bytes_per_token().get(), 95_232.0);
    let narrow = model.clone().with_kv_cache(Format::Fp8).kv_bytes_per_token();
    assert_eq!(narrow.get(), f64::from(78 * 656 + 21 * 132));
    assert_eq!(model.unread(), [""; 0]);

    let mut ruled = listed.clone();
    ruled["indexer_types"] = Value::Null;
    assert_eq!(read(&ruled), model);
    let mut strange = listed;
    strange["indexer_types"][5] = json!("half");
    let message = Model::from_config_json(&strange.to_string()).unwrap_err().to_string();
    assert!(message.contains("`indexer_types` is \"half\""), "{message}");
}

/// Kimi-Linear-48B-A3B in NVFP4: its recurrent layers are called `self_attn` like the others, and stay wide with them.
#[test]
fn kimi_delta_attention_is_named_like_attention() {
    let nvfp4 = |ignore: Value| {
        let scheme =
            json!({"num_bits": 4, "group_size": 16, "type": "float", "strategy": "tensor_group"});
        json!({"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized", "ignore": ignore,
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": scheme, "input_activations": scheme}}})
    };
    let quantized = |ignore: Value| {
        read(&fixture!("kimi-linear-48b-a3b", {"quantization_config": nvfp4(ignore)}))
    };
    let model = quantized(json!(["re:.*self_attn.*", "re:.*block_sparse_moe.gate$", "lm_head"]));
    assert_eq!(class(&model, TensorClass::Recurrent), (789_217_280, vec!["bf16".to_owned()]));
    assert_eq!(class(&model, TensorClass::Attention).1, ["bf16"]);
    assert_eq!(class(&model, TensorClass::Experts).1, ["nvfp4"]);
    let gigabytes = |bytes: f64| format!("{:.2}", bytes / 1e9);
    assert_eq!(gigabytes(model.weight_bytes().get()), "30.17");
    assert_eq!(gigabytes(model.streamed_weight_bytes().get()), "3.74");
    // Seven layers keep a latent.
    assert_eq!(model.kv_bytes_per_token().get(), 7.0 * 576.0 * 2.0);

    // Written out, for one of them: the gates are of 2 h 128 + 2 128 4096 elements, and h 32.
    let names = [
        "q_proj", "k_proj", "v_proj", "o_proj", "b_proj", "f_a_proj", "f_b_proj", "g_a_proj",
        "g_b_proj",
    ];
    let named: Vec<String> =
        names.iter().map(|name| format!("model.layers.0.self_attn.{name}")).collect();
    let model = quantized(json!(named));
    let (_, formats) = class(&model, TensorClass::Recurrent);
    assert_eq!(formats, ["bf16", "nvfp4"]);
    let wide = model.tensors().into_iter().find(|t| t.class == TensorClass::Recurrent).unwrap();
    assert_eq!(wide.stored, 789_217_280 / 20);
    assert_eq!(model.warnings, [""; 0]);
}

/// The fields of Kimi K3 (2.8T-A104B) that decide.
fn kimi_k3() -> Value {
    let full: Vec<u64> = (1..=23).map(|nth| 4 * nth).chain([93]).collect();
    let ignore = [
        "re:.*self_attn.*",
        "re:.*shared_experts.*",
        "re:.*mlp\\.(gate|up|gate_up|down)_proj.*",
        "re:.*lm_head.*",
        "re:.*routed_expert_.*",
    ];
    json!({
        "architectures": ["KimiLinearForCausalLM"], "dtype": "bfloat16", "first_k_dense_replace": 1,
        "hidden_size": 7168, "intermediate_size": 33_792, "kv_lora_rank": 512, "q_lora_rank": 1536,
        "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "num_attention_heads": 96,
        "num_hidden_layers": 93, "vocab_size": 163_840, "tie_word_embeddings": false,
        "moe_intermediate_size": 3072, "num_experts": 896, "num_experts_per_token": 16,
        "num_shared_experts": 2, "routed_expert_hidden_size": 3584, "latent_moe_use_norm": true,
        "mla_use_output_gate": true,
        "linear_attn_config": {"full_attn_layers": full, "head_dim": 128, "num_heads": 96,
            "short_conv_kernel_size": 4, "gate_lower_bound": -5.0, "use_full_rank_gate": true},
        "quantization_config": {"quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized",
            "ignore": ignore, "config_groups": {"group_0": {"targets": ["Linear"], "input_activations": null,
                "weights": {"num_bits": 4, "group_size": 32, "type": "float", "strategy": "group"}}}},
    })
}

#[test]
fn kimi_k3_narrows_its_experts_and_gates_its_attention() {
    let config = kimi_k3();
    let model = read(&config);
    let counts = model.parameters();
    assert_eq!((counts.total, counts.active), (2_779_481_465_440, 105_361_007_200));
    assert_eq!(class(&model, TensorClass::Recurrent), (30_607_048_704, vec!["bf16".to_owned()]));
    assert_eq!(class(&model, TensorClass::Attention), (5_572_657_152, vec!["bf16".to_owned()]));
    let (experts, formats) = class(&model, TensorClass::Experts);
    assert_eq!((experts, formats), (2_722_740_830_208, vec!["mxfp4-a16".to_owned()]));
    assert_eq!(model.weight_bytes().get(), bytes(experts, 4.25, counts.total));
    assert_eq!(model.kv_bytes_per_token().get(), 24.0 * 576.0 * 2.0);
    assert_eq!(model.unread(), [""; 0]);

    let mut strange = config;
    strange["linear_attn_config"]["value_rank"] = json!(64);
    assert_eq!(read(&strange).unread(), ["`linear_attn_config.value_rank`"]);
}

/// Nemotron-3-Super with experts in NVFP4 and nothing said of the projections around them: 40 layers of 2 h 1024 elements.
#[test]
fn projections_around_narrower_experts_have_a_format_of_their_own() {
    let pattern =
        "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME";
    let sparse = pattern.match_indices('E').map(|(layer, _)| layer);
    let listed: Map<String, Value> = sparse
        .map(|layer| {
            (
                format!("backbone.layers.{layer}.mixer.experts"),
                json!({"quant_algo": "NVFP4", "group_size": 16}),
            )
        })
        .collect();
    let mixed = json!({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": listed});
    let model = read(&fixture!("nemotron-3-super-120b-a12b", {"quantization_config": mixed}));
    assert_eq!(class(&model, TensorClass::Experts).1, ["nvfp4"]);
    assert_eq!(class(&model, TensorClass::Dense), (40 * 2 * 4096 * 1024, vec!["bf16".to_owned()]));

    // Where all is narrow, a list can name them.
    let except = |names: Value| {
        let block = json!({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": names});
        read(&fixture!("nemotron-3-super-120b-a12b", {"quantization_config": block}))
    };
    assert_eq!(class(&except(json!([])), TensorClass::Dense).1, ["nvfp4"]);
    let model = except(json!(["*.mixer.fc1_latent_proj", "*.mixer.fc2_latent_proj"]));
    assert_eq!(class(&model, TensorClass::Dense).1, ["bf16"]);
    assert_eq!(model.warnings, [""; 0]);
}

/// Granite-4.0-H-Tiny as llm-compressor's recipe for the family has it: `mamba.in_proj` in 16 bits, `out_proj` in 8. Of 9,648
/// columns 3,072 go out.
#[test]
fn formats_within_mamba_layers_are_blended_by_size() {
    let scheme = json!({"num_bits": 8, "type": "float", "strategy": "channel"});
    let block = |ignore: Value| {
        json!({"quant_method": "compressed-tensors", "format": "float-quantized", "ignore": ignore,
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": scheme, "input_activations": scheme}}})
    };
    let ignored = json!([
        "lm_head",
        "re:.*block_sparse_moe.router",
        "re:.*mamba.in_proj",
        "re:.*shared_mlp.input_linear"
    ]);
    let model = read(&fixture!("granite-4.0-h-tiny", {"quantization_config": block(ignored)}));
    let mamba = model.tensors().into_iter().find(|t| t.class == TensorClass::Recurrent).unwrap();
    let (inner, into) = (3072.0, 3072.0 + 2.0 * 128.0 + 3072.0 + 48.0);
    let bits = (16.0 * into + 8.0 * inner) / (into + inner);
    assert!(
        (mamba.bytes().get() * 8.0 / mamba.stored as f64 - bits).abs() < 1e-6,
        "{}",
        mamba.format
    );
    // Two of three matrices in 16 bits.
    let shared =
        model.tensors().into_iter().find(|t| t.class == TensorClass::SharedExperts).unwrap();
    assert!(
        (shared.bytes().get() / shared.stored as f64 - 5.0 / 3.0).abs() < 1e-6,
        "{}",
        shared.format
    );
    assert_eq!(class(&model, TensorClass::Experts).1, ["fp8"]);
    assert_eq!(model.warnings, [""; 0]);
}

/// Gemma 4 E2B (2.3B effective, its card): 20 of 35 layers share keys and have blocks twice as wide, and each layer has an input of
/// 256 elements of its own.
#[test]
fn layers_that_share_keys_may_be_wider() {
    let kinds: Vec<&str> = (0..35)
        .map(|layer| if layer % 5 == 4 { "full_attention" } else { "sliding_attention" })
        .collect();
    let config = json!({
        "architectures": ["Gemma4ForCausalLM"], "dtype": "bfloat16", "hidden_size": 1536,
        "intermediate_size": 6144, "num_hidden_layers": 35, "num_attention_heads": 8,
        "num_key_value_heads": 1, "head_dim": 256, "global_head_dim": 512, "sliding_window": 512,
        "layer_types": kinds, "num_kv_shared_layers": 20, "use_double_wide_mlp": true,
        "hidden_size_per_layer_input": 256, "vocab_size": 262_144, "vocab_size_per_layer_input": 262_144,
        "max_position_embeddings": 131_072, "tie_word_embeddings": true,
    });
    let model = read(&config);
    let counts = model.parameters();
    assert_eq!((counts.total, counts.streamed), (4_628_575_488, 2_279_548_416));
    assert_eq!(class(&model, TensorClass::Dense).0, 1_557_135_360);
    assert_eq!(model.weight_bytes().get(), 2.0 * 4_628_575_488.0);
    // Three layers of those that keep keys see everything.
    assert_eq!(model.kv_bytes_per_token().get(), 3.0 * 1024.0 * 2.0);
    assert_eq!(model.warnings, [""; 0]);
}

/// Qwen3.5-397B-A17B as its official GPTQ checkpoints have it: the routed experts alone in four bits.
#[test]
fn rules_of_gptq_keep_what_they_name() {
    let rules = json!({
        "lm_head": {}, "model.language_model.embed_tokens": {}, "-:.*attn.*": {}, "-:.*shared_expert.*": {},
        "-:.*mtp.*": {}, "-:.*visual.*": {},
    });
    let block = |rules: Value| json!({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": true, "desc_act": false, "dynamic": rules});
    let quantized = |rules: Value| {
        let mut config = fixture!("qwen3.5-397b-a17b", {"quantization_config": block(rules)});
        config.as_object_mut().unwrap().remove("vision_config");
        read(&config)
    };
    let model = quantized(rules);
    for wide in [TensorClass::Attention, TensorClass::Recurrent, TensorClass::SharedExperts] {
        assert_eq!(class(&model, wide).1, ["bf16"], "{wide}");
    }
    let (experts, formats) = class(&model, TensorClass::Experts);
    assert_eq!(formats, ["int4-g128"]);
    assert_eq!(model.weight_bytes().get(), bytes(experts, 4.125, model.parameters().total));
    assert_eq!(model.unread(), [""; 0]);
    // Others may be in more bits; what is said of them twice is left alone.
    let model =
        quantized(json!({"+:.*attn.*": {"bits": 8, "group_size": 64}, "-:.*linear_attn.*": {}}));
    assert_eq!(class(&model, TensorClass::Attention).1, ["int8-g64"]);
    assert_eq!(class(&model, TensorClass::Recurrent).1, ["bf16"]);
    assert_eq!(class(&model, TensorClass::SharedExperts).1, ["int4-g128"]);
    // The first rule that fits holds, and their order is not read.
    assert_eq!(model.unread(), ["`quantization_config.dynamic`"]);
}

/// AutoRound lists what is otherwise module by module, or by an expression that is found in a name.
#[test]
fn modules_that_autoround_lists_are_otherwise() {
    let names = ["q_proj", "k_proj", "v_proj", "o_proj"];
    let all: Map<String, Value> = (0..36)
        .flat_map(|layer| names.map(|name| format!("model.layers.{layer}.self_attn.{name}")))
        .map(|name| (name, json!({"bits": 16, "data_type": "fp"})))
        .collect();
    let block = |extra: Value| {
        json!({"quant_method": "auto-round", "bits": 4, "group_size": 128, "sym": true, "data_type": "int", "amp": true,
            "enable_minmax_tuning": true, "act_bits": 16, "extra_config": extra})
    };
    let read = |extra: Value| crate::quantization::read("qwen3-8b", block(extra));
    let model = read(Value::Object(all));
    crate::quantization::check_all(&model, ["bf16", "int4-g128", "-", "bf16"]);
    assert_eq!(read(json!({"self_attn\\.[qkvo]_proj": {"bits": 16}})), model);
    let wider = read(json!({"self_attn.*": {"bits": 8}}));
    crate::quantization::check_all(&wider, ["int8-g128", "int4-g128", "-", "bf16"]);
    let narrow =
        json!({"quant_method": "auto-round", "bits": 4, "data_type": "int", "act_bits": 8});
    assert_eq!(
        crate::quantization::read("qwen3-8b", narrow).unread(),
        ["`quantization_config.act_bits`"]
    );
}

/// Of a language model in a part of a config, what is written outside holds, then the file beside it.
#[test]
fn a_block_that_was_left_over_is_overruled() {
    let plain: Value = serde_json::from_str(crate::config!("qwen3-8b")).unwrap();
    let int4 = json!({"quant_method": "gptq", "bits": 4, "group_size": 32, "sym": true});
    let nvfp4 = json!({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]});
    let beside = json!({"quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}});
    let wrapped = |inner: &Value, outer: &Value| {
        let mut text = plain.clone();
        text["quantization_config"] = inner.clone();
        json!({"architectures": ["Qwen3ForCausalLM"], "text_config": text, "quantization_config": outer})
    };
    let format = |model: &Model| class(model, TensorClass::Dense).1;
    let outer = read(&wrapped(&int4, &nvfp4));
    assert_eq!(format(&outer), ["nvfp4"]);
    let [warning] = &*outer.warnings else { panic!("{:?}", outer.warnings) };
    assert!(
        warning.contains("within its own part of the config differs and is not taken"),
        "{warning}"
    );
    let both = |config: Value| {
        Model::from_config_and_quantization(&config.to_string(), &beside.to_string()).unwrap()
    };
    assert_eq!(outer.unread(), ["`quantization_config`"]);
    let file = both(wrapped(&int4, &Value::Null));
    assert_eq!((format(&file), file.warnings.len()), (vec!["nvfp4".to_owned()], 1));
    let against = both(wrapped(&Value::Null, &int4));
    assert_eq!(format(&against), ["int4-g32"]);
    assert!(
        against.warnings.concat().contains("in the file beside it differs"),
        "{:?}",
        against.warnings
    );
    // What is said twice alike needs no word.
    assert_eq!(both(wrapped(&nvfp4, &nvfp4)).warnings, [""; 0]);
    assert_eq!(format(&read(&wrapped(&int4, &Value::Null))), ["int4-g32"]);
}

/// The built-in Nemotron-3-Nano with the names that newer exports have for its layers, and no count of them.
#[test]
fn layers_of_one_block_have_newer_names() {
    let text = crate::config!("nemotron-3-nano-30b-a3b");
    let old: Value = serde_json::from_str(&text.replace("Infinity", "null")).unwrap();
    let letters = old["hybrid_override_pattern"].as_str().unwrap().to_owned();
    let respelt = |mamba: &str| {
        let name = |letter| match letter {
            'M' => mamba,
            '*' => "full_attention",
            'E' => "moe",
            _ => "mlp",
        };
        let names: Vec<&str> = letters.chars().map(name).collect();
        let mut config = old.clone();
        config["hybrid_override_pattern"] = Value::Null;
        config["num_hidden_layers"] = Value::Null;
        config["layers_block_type"] = json!(names);
        read(&config)
    };
    assert_eq!(respelt("linear_attention"), read(&old));
    assert_eq!(respelt("mamba"), read(&old));
}

/// ERNIE-4.5-VL-28B-A3B, whose layers have experts for text and narrower ones for images: 21.9B of it are the language model, as
/// ERNIE-4.5-21B-A3B (21,825,437,888) is.
#[test]
fn experts_of_text_and_of_images_are_apart() {
    let lists = fixture!("ernie-4.5-21b-a3b", {
        "architectures": ["Ernie4_5_VLMoeForConditionalGeneration"], "model_type": "ernie4_5_moe_vl",
        "moe_num_experts": [64, 64], "moe_intermediate_size": [1536, 512],
        "moe_layer_start_index": [1, 1], "moe_layer_end_index": [29, 28],
    });
    let model = read(&lists);
    let counts = model.parameters();
    assert_eq!(counts.total, 21_825_437_888);
    assert!(
        model.warnings.iter().any(|text| text.contains("only that of text")),
        "{:?}",
        model.warnings
    );
    assert_eq!(model.unread(), [""; 0]);
}
