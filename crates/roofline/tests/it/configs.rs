//! Configs that are wrong, or right and not covered: refused by name.

use fizeau_roofline::{Model, ModelConfigError};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::{config, fixed};

/// Llama-3.1-8B's config with one field set to `value`.
fn with(field: &str, value: Value) -> String {
    let mut config: Map<String, Value> = serde_json::from_str(config!("llama-3.1-8b")).unwrap();
    config.insert(field.to_owned(), value);
    Value::Object(config).to_string()
}

fn without(field: &str) -> String {
    let mut config: Map<String, Value> = serde_json::from_str(config!("llama-3.1-8b")).unwrap();
    assert!(config.remove(field).is_some(), "no {field} to take out");
    Value::Object(config).to_string()
}

#[track_caller]
fn refused(config: &str) -> ModelConfigError {
    Model::from_config_json(config).unwrap_err()
}

/// The message names the field and its value, and is one line.
#[track_caller]
fn check(config: &str, field: &str, says: &str) {
    let message = refused(config).to_string();
    assert!(message.contains(&format!("`{field}`")), "{message}");
    assert!(message.contains(says), "{message}");
    assert!(!message.contains('\n'), "{message}");
}

#[test]
fn what_cannot_be_computed_is_refused_by_field() {
    let recurrent = json!(["full_attention", "wkv"].repeat(16));
    check(&with("layer_types", recurrent), "layer_types", "\"wkv\"");
    let lightning = json!([0, 1].repeat(16));
    check(&with("attn_type_list", lightning), "attn_type_list", "softmax");
    let widths = json!([1024, 2048]);
    check(&with("intermediate_size", widths), "intermediate_size", "a list of different values");
}

/// Each would make the bound slower than the truth.
#[test]
fn layers_without_formulas_are_refused_by_name() {
    check(&with("attn_layer_period", json!(8)), "attn_layer_period", "Mamba-1");
    check(&with("cross_attention_layers", json!([3, 8])), "cross_attention_layers", "image");
    let blocks = json!([{"attention": {"no_op": true}, "ffn": {"ffn_mult": 2.625}}]);
    let mut config: Map<String, Value> =
        serde_json::from_str(&with("block_configs", blocks)).unwrap();
    config.remove("intermediate_size");
    check(&Value::Object(config).to_string(), "block_configs", "each layer");
    assert!(Model::from_config_json(&with("cross_attention_layers", json!([]))).is_ok());
}

/// What Python's `json` writes, and some editors.
#[test]
fn python_json_is_read() {
    let plain = Model::from_config_json(config!("llama-3.1-8b")).unwrap();
    let odd = with("time_step_limit", json!([0.0, "Infinity"])).replace("\"Infinity\"", "Infinity");
    assert_eq!(Model::from_config_json(&odd).unwrap(), plain);
    let marked = format!("\u{feff}{}", config!("llama-3.1-8b"));
    assert_eq!(Model::from_config_json(&marked).unwrap(), plain);
}

#[test]
fn what_decides_over_layers_is_never_ignored() {
    for (field, value) in [
        ("moe_every_n_layer", json!(2)),
        ("moe_layer_offset", json!(1)),
        ("is_encoder_decoder", json!(true)),
        ("multi_query_attention", json!(true)),
        // What a name is about, its content need not be.
        ("image_layers_token", json!({"every": 4})),
    ] {
        let model = Model::from_config_json(&with(field, value)).unwrap();
        let [warning] = &*model.warnings else { panic!("{field}: {:?}", model.warnings) };
        assert!(warning.contains(field), "{warning}");
    }
    for (field, value) in [
        ("moe_every_n_layer", json!(1)),
        ("moe_layer_offset", json!(0)),
        ("is_encoder_decoder", json!(false)),
        ("full_attn_mod", json!(1)),
        ("vision_lora", json!({"r": 256})),
    ] {
        let model = Model::from_config_json(&with(field, value)).unwrap();
        assert!(model.warnings.is_empty(), "{field}: {:?}", model.warnings);
    }
}

#[test]
fn what_experts_need_is_named() {
    let experts = with("num_experts", json!(64));
    check(&experts, "num_experts_per_tok", "must be");
    let mut config: Map<String, Value> = serde_json::from_str(&experts).unwrap();
    config.insert("num_experts_per_tok".to_owned(), json!(65));
    let many = Value::Object(config).to_string();
    check(&many, "num_experts_per_tok", "`num_experts` is 64");
    // By the names that the config uses itself.
    let many =
        many.replace("num_experts_per_tok", "moe_k").replace("num_experts", "moe_num_experts");
    check(&many, "moe_k", "`moe_num_experts` is 64");
}

#[test]
fn a_list_has_an_entry_for_each_layer() {
    let short = with("layer_types", json!(["full_attention", "full_attention"]));
    check(&short, "layer_types", "is 2 and `num_hidden_layers` is 32");
    let absent = with("layer_types", json!(vec!["sliding_attention"; 32]));
    check(&absent, "sliding_window", "has no");
}

#[test]
fn fields_of_an_absent_kind_of_layer_are_named() {
    let model = Model::from_config_json(&with("mamba_d_state", json!(128))).unwrap();
    let [warning] = &*model.warnings else { panic!("{:?}", model.warnings) };
    assert!(warning.contains("`mamba_d_state`") && warning.contains("no layer"), "{warning}");
}

#[test]
fn impossible_sizes_are_refused_together() {
    let mut config: Map<String, Value> = serde_json::from_str(config!("llama-3.1-8b")).unwrap();
    for (field, value) in [
        ("num_experts", 8192_u64),
        ("num_experts_per_tok", 2),
        ("hidden_size", 1 << 20),
        ("intermediate_size", 1 << 23),
        ("num_hidden_layers", 4096),
    ] {
        config.insert(field.to_owned(), json!(value));
    }
    config.insert("head_dim".to_owned(), json!(128));
    let error = refused(&Value::Object(config).to_string());
    assert!(matches!(error, ModelConfigError::TooLarge(_)), "{error}");
}

#[test]
fn what_dense_models_say_of_such_fields_is_accepted() {
    for config in [
        with("num_experts", json!(0)),
        with("num_local_experts", Value::Null),
        with("sliding_window", Value::Null),
        with("layer_types", json!(vec!["full_attention"; 32])),
        with("text_config", json!({})),
        with("quantization_config", Value::Null),
    ] {
        assert!(Model::from_config_json(&config).is_ok(), "{config}");
    }
}

#[test]
fn a_missing_field_is_named() {
    for field in [
        "hidden_size",
        "intermediate_size",
        "num_attention_heads",
        "num_hidden_layers",
        "vocab_size",
    ] {
        check(&without(field), field, "must be");
    }
    let mut nameless: Map<String, Value> = serde_json::from_str(config!("llama-3.1-8b")).unwrap();
    nameless.remove("architectures");
    assert!(Model::from_config_json(&Value::Object(nameless.clone()).to_string()).is_ok());
    nameless.remove("model_type");
    check(&Value::Object(nameless).to_string(), "architectures", "must be");
}

#[test]
fn a_senseless_field_is_named() {
    check(&with("num_hidden_layers", json!(0)), "num_hidden_layers", "is 0");
    check(&with("hidden_size", json!(-1)), "hidden_size", "is -1");
    check(&with("hidden_size", json!(40.5)), "hidden_size", "is 40.5");
    check(&with("vocab_size", json!("many")), "vocab_size", "\"many\"");
    check(&with("head_dim", json!(u64::MAX)), "head_dim", "from 1 to 4096");
    check(&with("attention_bias", json!(1)), "attention_bias", "true or false");
    check(&with("architectures", json!([])), "architectures", "one name");
}

#[test]
fn a_contradiction_names_both_fields() {
    let heads = with("num_key_value_heads", json!(7));
    check(&heads, "num_key_value_heads", "is 7 and `num_attention_heads` is 32");
    let odd = with("hidden_size", json!(4100));
    check(&odd, "num_attention_heads", "`hidden_size` is 4100");
    // With the head dimension stated, the quotient does not matter.
    let mut stated: Map<String, Value> = serde_json::from_str(&odd).unwrap();
    stated.insert("head_dim".to_owned(), json!(128));
    assert!(Model::from_config_json(&Value::Object(stated).to_string()).is_ok());
}

#[test]
fn what_is_no_object_is_refused() {
    for text in ["", "[]", "12", "{", "\u{feff}[]", "null", "Infinity"] {
        assert!(matches!(refused(text), ModelConfigError::NotAnObject(_)), "{text}");
    }
}

#[test]
fn long_values_are_cut_in_messages() {
    let message = refused(&with("hidden_size", json!("x".repeat(10_000)))).to_string();
    assert!(message.len() < 300, "{} bytes", message.len());
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (0_u64..300).prop_map(Value::from),
        (0_u32..64).prop_map(|bits| Value::from(1_u64 << bits)),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,80}".prop_map(Value::from),
        proptest::collection::vec(".{0,8}", 0..4).prop_map(Value::from),
        Just(json!({"quant_method": "fp8"})),
    ]
}

proptest! {
    #![proptest_config(fixed())]

    /// Foreign values give a model with finite, consistent figures, or an error; never a panic or an overflow.
    #[test]
    fn any_two_fields_may_be_anything(
        picks in proptest::collection::vec((any::<prop::sample::Index>(), any_value()), 0..3),
    ) {
        let mut config: Map<String, Value> = serde_json::from_str(config!("qwen3-8b")).unwrap();
        let names: Vec<String> = config.keys().cloned().chain(["quantization_config".to_owned()]).collect();
        for (index, value) in picks {
            config.insert(index.get(&names).clone(), value);
        }
        if let Ok(model) = Model::from_config_json(&Value::Object(config).to_string()) {
            prop_assert!(model.parameters().streamed <= model.parameters().total);
            prop_assert!(model.streamed_weight_bytes().get() <= model.weight_bytes().get());
            prop_assert!(model.kv_bytes_per_token().get() > 0.0);
        }
    }

    /// The largest dimensions that are accepted do not overflow.
    #[test]
    fn extreme_dimensions_do_not_overflow(
        bits in (0_u32..=12, 0_u32..=20, 0_u32..=12, 0_u32..=12, 0_u32..=23, 0_u32..=28),
    ) {
        let (layers, hidden, heads, head_dim, wide, words) = bits;
        let config = json!({
            "architectures": ["Qwen2ForCausalLM"], "num_hidden_layers": 1_u64 << layers,
            "hidden_size": 1_u64 << hidden, "num_attention_heads": 1_u64 << heads,
            "head_dim": 1_u64 << head_dim, "intermediate_size": 1_u64 << wide,
            "vocab_size": 1_u64 << words, "torch_dtype": "bfloat16",
        });
        let model = Model::from_config_json(&config.to_string()).unwrap();
        prop_assert!(model.parameters().total >= model.parameters().streamed);
    }

    #[test]
    fn any_text_is_answered(text in ".{0,200}") {
        prop_assert!(Model::from_config_json(&text).is_err());
    }
}

/// A layout of single blocks may stand in either of two lists; the one that is wrong is named.
#[test]
fn a_wrong_list_of_blocks_is_named() {
    let mut config: Map<String, Value> = serde_json::from_str(config!("nemotron-h-56b")).unwrap();
    config.remove("hybrid_override_pattern").unwrap();
    let layers = config["num_hidden_layers"].as_u64().unwrap() as usize;
    for field in ["layer_types", "layers_block_type"] {
        let mut blocks = vec!["mamba"; layers];
        blocks[3] = "wkv";
        let mut wrong = config.clone();
        wrong.insert(field.to_owned(), json!(blocks));
        check(&Value::Object(wrong.clone()).to_string(), field, "\"wkv\"");
        wrong.insert(field.to_owned(), json!(["mamba"]));
        check(&Value::Object(wrong).to_string(), field, "is 1 and");
    }
}
