//! Golden values of public models.
//!
//! Computed by hand from their published configs, apart from this crate, and given to the printed digits, in
//! billions. Llama's totals are also those that Hugging Face shows for the checkpoints.

use fizeau_core::Tokens;
use fizeau_roofline::{Format, Model};

use crate::{config, llama_8b};

struct Golden {
    total: f64,
    streamed: f64,
    kv_elements: f64,
}

#[track_caller]
fn check(config: &str, golden: &Golden) {
    let model = Model::from_config_json(config).unwrap();
    let total = model.parameters().total as f64 / 1e9;
    let streamed = model.parameters().streamed as f64 / 1e9;
    // A unit in the last printed digit: six decimals, then four.
    assert!((total - golden.total).abs() < 1e-6, "total is {total}");
    assert!((streamed - golden.streamed).abs() < 1e-4, "streamed is {streamed}");
    assert_eq!(model.kv_bytes_per_token().get(), 2.0 * golden.kv_elements);
    let resident = model.weight_bytes().get();
    assert_eq!(resident, 2.0 * model.parameters().total as f64);
}

#[test]
fn llama_has_its_published_size() {
    check(
        config!("llama-3.1-8b"),
        &Golden { total: 8.030261, streamed: 7.5047, kv_elements: 65_536.0 },
    );
    check(
        config!("llama-3.1-70b"),
        &Golden { total: 70.553706, streamed: 69.5017, kv_elements: 163_840.0 },
    );
    check(
        config!("llama-3.1-405b"),
        &Golden { total: 405.853389, streamed: 403.7479, kv_elements: 258_048.0 },
    );
}

#[test]
fn qwen3_has_its_published_size() {
    check(
        config!("qwen3-0.6b"),
        &Golden { total: 0.596050, streamed: 0.5960, kv_elements: 57_344.0 },
    );
    check(
        config!("qwen3-8b"),
        &Golden { total: 8.190735, streamed: 7.5681, kv_elements: 73_728.0 },
    );
    check(
        config!("qwen3-32b"),
        &Golden { total: 32.762123, streamed: 31.9836, kv_elements: 131_072.0 },
    );
}

#[test]
fn a_tied_table_counts_once_and_is_streamed_as_head() {
    let tied = Model::from_config_json(config!("qwen3-0.6b")).unwrap();
    let untied = config!("qwen3-0.6b").replace("\"tie_word_embeddings\": true,", "");
    let untied = Model::from_config_json(&untied).unwrap();
    let table = 151_936 * 1024;
    assert_eq!(untied.parameters().total, tied.parameters().total + table);
    assert_eq!(untied.parameters().streamed, tied.parameters().streamed);
}

#[test]
fn per_tensor_fp8_halves_the_layers_and_nothing_else() {
    let wide = llama_8b();
    let quantized = config!("llama-3.1-8b").replacen(
        '{',
        r#"{"quantization_config": {"quant_method": "fp8", "ignored_layers": ["lm_head"]},"#,
        1,
    );
    let narrow = Model::from_config_json(&quantized).unwrap();
    assert_eq!(narrow.parameters().total, wide.parameters().total);
    assert_eq!(narrow.kv_bytes_per_token(), wide.kv_bytes_per_token());
    // A byte for each element of a matrix but the tables'.
    let layers = (wide.parameters().streamed - 128_256 * 4096) as f64;
    let saved = |of: fn(&Model) -> f64| of(&wide) - of(&narrow);
    assert_eq!(saved(|model| model.streamed_weight_bytes().get()), layers);
    assert_eq!(saved(|model| model.weight_bytes().get()), layers);
}

#[test]
fn an_fp8_cache_is_half_as_large() {
    let wide = llama_8b();
    let narrow = wide.clone().with_kv_cache(Format::Fp8);
    assert_eq!(narrow.kv_bytes_per_token().get(), 65_536.0);
    assert_eq!(narrow.streamed_weight_bytes(), wide.streamed_weight_bytes());
}

#[test]
fn names_and_limits_are_passed_on() {
    let model = llama_8b();
    assert_eq!(model.architecture, "LlamaForCausalLM");
    assert_eq!(model.max_context, Some(Tokens::new(131_072)));
}

/// Qwen2.5-0.5B: 494,032,768 parameters, by the checkpoint's safetensors; its biases are not in the config.
#[test]
fn qwen2_has_biases_that_its_config_does_not_mention() {
    let config = r#"{
        "architectures": ["Qwen2ForCausalLM"], "hidden_size": 896, "intermediate_size": 4864,
        "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2, "vocab_size": 151936,
        "sliding_window": 32768, "use_sliding_window": false, "tie_word_embeddings": true, "torch_dtype": "bfloat16"
    }"#;
    let model = Model::from_config_json(config).unwrap();
    assert_eq!(model.parameters().total, 494_032_768);
}

/// Mistral-7B-v0.3: 7,248,023,552 parameters, by the checkpoint's safetensors.
#[test]
fn mistral_without_a_window_is_plain() {
    let config = r#"{
        "architectures": ["MistralForCausalLM"], "hidden_size": 4096, "intermediate_size": 14336,
        "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 32768,
        "sliding_window": null, "torch_dtype": "bfloat16"
    }"#;
    let model = Model::from_config_json(config).unwrap();
    assert_eq!(model.parameters().total, 7_248_023_552);
}

/// Llama-2-7B, which has as many key-value heads as query heads: 6,738,415,616 parameters once loaded.
#[test]
fn silence_about_key_value_heads_means_all_of_them() {
    let config = r#"{
        "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "intermediate_size": 11008,
        "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 32000, "dtype": "float16"
    }"#;
    let model = Model::from_config_json(config).unwrap();
    assert_eq!(model.parameters().total, 6_738_415_616);
    assert_eq!(model.kv_bytes_per_token().get(), 524_288.0);
}
