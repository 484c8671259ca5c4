//! What of a config was not understood, and what that means for bounds; kinds of model that are refused by name.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{Bound, Device, MeasuredFigures, Model, ModelConfigError, RequestLengths};
use serde_json::{Map, Value, json};

use crate::{config, single};

/// Llama-3.1-8B's config with these fields.
fn with(more: Value) -> String {
    let mut config: Map<String, Value> = serde_json::from_str(config!("llama-3.1-8b")).unwrap();
    let Value::Object(more) = more else { panic!("{more}") };
    config.extend(more);
    Value::Object(config).to_string()
}

#[track_caller]
fn unread(more: Value) -> Vec<String> {
    Model::from_config_json(&with(more)).unwrap().unread().to_vec()
}

#[track_caller]
fn refused(more: Value) -> String {
    Model::from_config_json(&with(more)).unwrap_err().to_string()
}

/// Twice the bound is impossible of a model that was read whole, and decides nothing of one that was not.
#[test]
fn a_bound_of_a_config_that_was_not_read_whole_decides_nothing() {
    let violation = |more: Value| {
        let model = Model::from_config_json(&with(more)).unwrap();
        let system = single(model, Device::named("h100-sxm").unwrap());
        let mut lengths = RequestLengths::for_model(system.model());
        lengths.add(Tokens::new(128), Tokens::new(128));
        let bound = Bound::over(&system, &lengths, NonZeroU64::MIN).unwrap();
        let tokens = Some(bound.output_tokens_per_s * 2.0);
        let measured =
            MeasuredFigures { output_tokens_per_s: tokens, ..MeasuredFigures::default() };
        system.bound_violation(&lengths, NonZeroU64::MIN, &measured).unwrap().unwrap()
    };
    let whole = violation(json!({}));
    assert!(whole.is_proof());
    assert!(whole.to_string().contains("at the very best; the run is wrong, or"), "{whole}");

    let doubted = violation(
        json!({"layer_skips": 2, "architectures": ["FooForCausalLM"], "model_type": "foo"}),
    );
    assert!(!doubted.is_proof());
    let text = doubted.to_string();
    assert!(text.contains("decides nothing"), "{text}");
    assert!(text.contains("(the architecture `FooForCausalLM`, `layer_skips`)"), "{text}");
    assert!((doubted.times - 2.0).abs() < 1e-9 && !doubted.remedies.is_empty());

    let many = json!({"a_one": 1, "a_two": 1, "a_three": 1, "a_four": 1, "a_five": 1, "a_six": 1});
    let text = violation(many).to_string();
    assert!(text.contains(" and 2 more)"), "{text}");
}

#[test]
fn fields_that_the_layers_do_not_read_are_not_understood() {
    assert_eq!(unread(json!({})), [""; 0]);
    assert_eq!(
        unread(json!({"q_lora_rank": 1024, "index_topk": 512, "index_n_heads": 64})),
        ["`index_n_heads`", "`index_topk`", "`q_lora_rank`"]
    );
    assert_eq!(unread(json!({"use_mla": true})), ["`use_mla`"]);
    assert_eq!(unread(json!({"use_mla": false, "kv_lora_rank": null, "v_head_dim": 0})), [""; 0]);
    assert_eq!(unread(json!({"hybrid_override_pattern": "M*"})), ["`hybrid_override_pattern`"]);
    assert_eq!(unread(json!({"sliding_window_size": -1})), [""; 0]);
    // Parts that are left out by design leave no doubt, nor does what is kept wide and is not found.
    assert_eq!(unread(json!({"vision_config": {"depth": 3}})), [""; 0]);
    let ignoring = json!({"quant_method": "fp8", "ignored_layers": ["model.layers.0.foo"]});
    let model = Model::from_config_json(&with(json!({"quantization_config": ignoring}))).unwrap();
    assert_eq!((model.warnings.len(), model.unread().len()), (1, 0));
    let strange = json!({"quant_method": "fp8", "codebook": 3});
    assert_eq!(unread(json!({"quantization_config": strange})), ["`quantization_config.codebook`"]);
}

/// Each was given a bound of another model.
#[test]
fn kinds_that_are_not_known_are_refused_by_name() {
    for (more, field, says) in [
        (json!({"compress_ratios": [0, 0, 4, 128]}), "compress_ratios", "compressed keys"),
        (json!({"o_lora_rank": 1024}), "o_lora_rank", "low rank"),
        (json!({"mamba_d_ssm": 3072}), "mamba_d_ssm", "side by side"),
        (json!({"layer_group_size": 5}), "layer_group_size", "lightning"),
        (json!({"zero_expert_num": 256}), "zero_expert_num", "compute nothing"),
        (json!({"model_type": "mamba2"}), "model_type", "without attention"),
    ] {
        let message = refused(more);
        assert!(message.contains(&format!("`{field}` is")), "{message}");
        assert!(message.contains(says), "{message}");
    }
}

/// Dense first layers by a list of truths, as K-EXAONE has them.
#[test]
fn experts_stand_where_a_list_of_truths_says() {
    let sparse: Vec<bool> = (0..32).map(|layer| layer > 0).collect();
    let experts = json!({"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 1024, "is_moe_layer": sparse});
    let model = Model::from_config_json(&with(experts)).unwrap();
    assert_eq!(model.layers.iter().map(|layers| layers.count).collect::<Vec<_>>(), [1, 31]);
}

/// Errors name the part of the config that they are of.
#[test]
fn an_error_names_its_part() {
    let mut text: Value = serde_json::from_str(config!("llama-3.1-8b")).unwrap();
    text["hidden_size"] = Value::Null;
    let wrapped = json!({"architectures": ["LlavaForConditionalGeneration"], "hidden_size": 4096, "text_config": text});
    let error = Model::from_config_json(&wrapped.to_string()).unwrap_err();
    assert!(matches!(error, ModelConfigError::Within { part: "text_config", .. }), "{error:?}");
    let message = error.to_string();
    assert!(
        message.contains("has no `hidden_size`") && message.contains("(in its `text_config`)"),
        "{message}"
    );
    assert!(!refused(json!({"hidden_size": 0})).contains("in its"));
}
