//! Quantisations that are wrong, unknown or odd: an error or a warning that names what, and never silence.

use fizeau_roofline::Model;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixed;
use crate::quantization::{quantized, read};

#[test]
fn what_cannot_be_read_is_one_clear_line() {
    let method = "`quantization_config.quant_method`";
    for (config, field, says) in [
        (json!({"quant_method": "aqlm"}), method, "known are fp8"),
        (json!({"bits": 4}), method, "must be"),
        (json!("fp8"), "`quantization_config`", "an object"),
        (
            json!({"quant_method": "fp8", "weight_block_size": [128]}),
            "weight_block_size`",
            "[128, 128]",
        ),
        (json!({"quant_method": "fp8", "ignored_layers": "lm_head"}), "ignored_layers`", "a list"),
        (json!({"quant_method": "awq"}), "`quantization_config.bits`", "2 to 8"),
        (json!({"quant_method": "gptq", "bits": 4, "group_size": 0}), "group_size`", "-1"),
        (json!({"quant_method": "bitsandbytes"}), "load_in_4bit`", "load_in_8bit"),
        (json!({"quant_method": "modelopt", "quant_algo": "FP2"}), "quant_algo`", "NVFP4"),
        (json!({"quant_method": "compressed-tensors"}), "config_groups`", "targets"),
        (
            json!({"quant_method": "compressed-tensors", "config_groups":
            {"a": {"targets": ["Linear"], "weights": {"type": "float", "num_bits": 3}}}}),
            "weights`",
            "3-bit",
        ),
        (
            json!({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp3"}}}),
            "dtype`",
            "fp3",
        ),
        (json!({"quant_method": "gguf"}), "file_type`", "Q4_K_M"),
        // Half of the elements are not there.
        (
            json!({"quant_method": "compressed-tensors", "config_groups": {},
            "sparsity_config": {"format": "sparse-24-bitmask", "sparsity_structure": "2:4"}}),
            "sparsity_config`",
            "sparse",
        ),
        (
            json!({"quant_method": "compressed-tensors", "config_groups": {}, "format": "marlin-24"}),
            "quantization_config.format`",
            "2:4",
        ),
    ] {
        let error = Model::from_config_json(&quantized("llama-3.1-8b", config)).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(field) && message.contains(says), "{message}");
        assert!(!message.contains('\n') && message.len() < 400, "{message}");
    }
}

#[test]
fn what_could_matter_and_is_not_known_is_a_warning() {
    for (config, says) in [
        (json!({"quant_method": "fp8", "wibble": 3}), "`quantization_config.wibble`"),
        (
            json!({"quant_method": "fp8", "ignored_layers": ["model.layers.0.hyper"]}),
            "\"model.layers.0.hyper\"",
        ),
        (
            json!({"quant_method": "fp8", "ignored_layers": ["model.layers.77.mlp"]}),
            "\"model.layers.77.mlp\"",
        ),
        (
            json!({"quant_method": "fp8", "ignored_layers": ["re:^(?!.*vision).*mlp"]}),
            "\"re:^(?!.*vision).*mlp\", a pattern that cannot be read",
        ),
        (
            json!({"quant_method": "fp8", "ignored_layers": ["a.b", "c.d", "e.f", "g.h"]}),
            " and 1 more",
        ),
        (
            json!({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_quant_algo": "FP7"}),
            "FP7",
        ),
        (
            json!({"quant_method": "quark", "global_quant_config": {},
            "layer_quant_config": {"*k_proj": {"output_tensors": {"dtype": "fp7"}}}}),
            "layer_quant_config` has {\"dtype\":\"fp7\"}",
        ),
        (
            json!({"quant_method": "gptq", "bits": 4, "dynamic": {"+:.*wkv.*": {"bits": 8}}}),
            "dynamic",
        ),
    ] {
        let model = read("llama-3.1-8b", config);
        let found = model.warnings.iter().filter(|warning| warning.contains(says)).count();
        assert_eq!(found, 1, "{says}: {:?}", model.warnings);
    }
}

fn any_pattern() -> impl Strategy<Value = String> {
    let layer = 0_u64..40;
    let module = proptest::sample::select(vec![
        "self_attn",
        "self_attn.q_proj",
        "mlp",
        "mlp.down_proj",
        "mlp.gate",
        "hyper.net",
        "mlp.up_proj",
    ]);
    prop_oneof![
        (layer.clone(), module.clone()).prop_map(|(n, m)| format!("model.layers.{n}.{m}")),
        module.clone().prop_map(|m| format!("model.layers.*.{m}")),
        module.clone().prop_map(|m| format!("re:.*{m}$")),
        module.prop_map(str::to_owned),
        Just("lm_head".to_owned()),
        "[a-z*?.:()|\\\\]{1,12}",
    ]
}

proptest! {
    #![proptest_config(fixed())]

    /// The order of a list of exceptions does not matter, to formats or warnings.
    #[test]
    fn lists_have_no_order(
        patterns in proptest::collection::vec(any_pattern(), 0..6).prop_flat_map(|list| {
            (Just(list.clone()), Just(list).prop_shuffle())
        }),
    ) {
        let of = |list: &[String]| read("llama-3.1-8b", json!({"quant_method": "fp8", "ignored_layers": list}));
        let (one, other) = (of(&patterns.0), of(&patterns.1));
        prop_assert_eq!(&one.warnings, &other.warnings);
        prop_assert_eq!(one, other);
    }

    /// An exception never makes a checkpoint smaller, and one that changes nothing is named, unless it stands for what is
    /// not quantised in any case.
    #[test]
    fn no_exception_is_lost(pattern in any_pattern()) {
        let of = |list: Vec<&String>| {
            let config = json!({"quant_method": "modelopt", "quant_algo": "FP8", "ignore": list});
            read("qwen3-8b", config)
        };
        let (with, without) = (of(vec![&pattern]), of(vec![]));
        prop_assert!(with.weight_bytes() >= without.weight_bytes());
        let wide = ["gate", "embed", "model", "router"].iter().any(|word| pattern.contains(word));
        let changed = with.weight_bytes() > without.weight_bytes();
        prop_assert!(changed || wide || !with.warnings.is_empty(), "{pattern}");
    }

    /// Any content gives a model with finite sizes, or an error.
    #[test]
    fn any_quantization_is_answered(
        method in proptest::sample::select(vec![
            "fp8", "awq", "gptq", "compressed-tensors", "modelopt", "quark", "mxfp4", "bitsandbytes", "gguf", "?",
        ]),
        key in proptest::sample::select(vec![
            "bits", "group_size", "weight_block_size", "ignore", "config_groups", "quant_algo", "exclude_modules",
            "quantized_layers", "global_quant_config", "kv_cache_scheme", "modules_to_not_convert", "file_type",
        ]),
        value in prop_oneof![
            Just(Value::Null), any::<bool>().prop_map(Value::from), any::<i64>().prop_map(Value::from),
            ".{0,20}".prop_map(Value::from), Just(json!({})), Just(json!([])), Just(json!([[], {}])),
            Just(json!({"a": {"weights": {"num_bits": -1}}})), Just(json!({"weight": {"dtype": 3}})),
        ],
    ) {
        let config = quantized("qwen3-8b", json!({"quant_method": method, key: value}));
        if let Ok(model) = Model::from_config_json(&config) {
            prop_assert!(model.weight_bytes().get().is_finite());
        }
    }
}
