//! `fizeau models`, and models by name elsewhere.

use serde_json::Value;

use crate::stand::{Scratch, run};

const USAGE: Option<i32> = Some(2);

fn good(words: &[&str]) -> String {
    let ended = run(words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended.out
}

fn parsed(words: &[&str]) -> Value {
    serde_json::from_str(&good(words)).unwrap()
}

#[test]
fn the_table_fits_80_columns_and_has_all_models() {
    let table = good(&["models"]);
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    for name in ["llama-3.1-8b", "deepseek-v3.2", "nemotron-3-nano-30b-a3b"] {
        assert!(table.contains(name), "{table}");
    }
    assert_eq!(parsed(&["models", "--json"]).as_array().unwrap().len(), 18);
}

#[test]
fn one_model_is_shown_by_tensors_and_cache() {
    let text = good(&["models", "openai/GPT-OSS-120B"]);
    for word in ["window 128", "experts", "mxfp4", "65.2 GB", "expert biases", "cache in bf16"] {
        assert!(text.contains(word), "{text}");
    }
    let sheet = parsed(&["models", "--json", "gpt-oss-120b"]);
    assert_eq!(sheet["params"]["total"], 116_829_156_672_u64);
    assert_eq!(sheet["kv_bytes_per_token"], 36_864.0);
    assert_eq!(sheet["warnings"], serde_json::json!([]));
    let tensors = sheet["tensors"].as_array().unwrap();
    let stored = tensors.iter().map(|tensors| tensors["stored"].as_u64().unwrap());
    assert_eq!(stored.sum::<u64>(), 116_829_156_672);
}

#[test]
fn a_file_is_read_and_what_it_has_beyond_is_named() {
    let scratch = Scratch::new("models");
    let path = scratch.path("config.json");
    let config = r#"{
        "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4,
        "num_hidden_layers": 2, "vocab_size": 100, "torch_dtype": "bfloat16", "num_flux_layers": 3
    }"#;
    std::fs::write(&path, config).unwrap();
    let text = good(&["models", &path]);
    assert!(text.contains("warning: `num_flux_layers` is not understood"), "{text}");
    // The folder will do, and what stands beside the config counts.
    let quantization = r#"{"quantization": {"quant_algo": "FP8", "exclude_modules": ["lm_head"]}}"#;
    std::fs::write(scratch.path("hf_quant_config.json"), quantization).unwrap();
    let folder = std::path::Path::new(&path).parent().unwrap().display().to_string();
    let text = good(&["models", &folder]);
    assert!(text.contains("fp8"), "{text}");
    // It is no word on a config of another name.
    let other = scratch.path("other.json");
    std::fs::write(&other, config).unwrap();
    assert!(!good(&["models", &other]).contains("fp8"));
}

#[test]
fn what_is_no_model_is_one_line() {
    let ended = run(&["models", "llama-9"]);
    assert_eq!(ended.code, USAGE);
    assert!(ended.err.contains("llama-9") && ended.err.contains("fizeau models"), "{ended:?}");
    assert_eq!(ended.err.trim_end().lines().count(), 1, "{ended:?}");
}
