//! Families beyond the known models: whole configs, with all the fields that decide nothing.
//!
//! Totals are those of the checkpoints' safetensors headers, as Hugging Face shows them; where a checkpoint holds
//! more than the language model (a vision tower, MTP modules with tables of their own), what remains without that.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{
    AttentionKeys, Bound, ContextSpan, Deployment, Device, FeedForward, Layers, Mixer, Model, Pass,
    PassTime, System, UniformLoad,
};

/// The text of a whole config among the fixtures.
macro_rules! whole {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../fixtures/configs/",
            $name,
            ".json"
        ))
    };
}

macro_rules! whole_configs {
    ($($name:literal: $total:expr,)*) => { [$(($name, whole!($name), $total),)*] };
}

fn read(text: &str) -> Model {
    Model::from_config_json(text).unwrap()
}

#[test]
fn checkpoints_have_the_counted_parameters() {
    let configs = whole_configs! {
        "command-r": 34_980_831_232_u64,
        "deepseek-v2-lite": 15_706_484_224,
        "dots.llm1": 142_774_381_696,
        "ernie-4.5-21b-a3b": 21_825_437_888,
        "ernie-4.5-0.3b": 360_748_032,
        "exaone-4.0-32b": 32_003_216_384,
        "falcon-7b": 6_921_720_704,
        "gemma-2-9b": 9_241_705_984,
        "gemma-2b": 2_506_172_416,
        "gemma-3-1b": 999_885_952,
        "gemma-3-27b": 27_009_346_304,
        "glm-4-9b-0414": 9_400_279_040,
        "glm-4-9b-chat": 9_399_951_360,
        "granite-3.1-8b": 8_170_848_256,
        "hunyuan-a13b": 80_393_183_232,
        "kimi-linear-48b-a3b": 49_122_681_728,
        "mistral-7b-v0.1": 7_241_732_096,
        "mixtral-8x22b": 140_620_634_112,
        "olmo-2-7b": 7_298_617_344,
        "olmo-3-7b": 7_298_011_136,
        "olmoe-1b-7b": 6_919_161_856,
        "phi-3-mini-4k": 3_821_079_552,
        "phi-3.5-moe": 41_873_153_344,
        "phi-4": 14_659_507_200,
        "qwen1.5-moe-a2.7b": 14_315_784_192,
        "qwen3-vl-30b-a3b": 30_532_122_624,
        "seed-oss-36b": 36_151_104_512,
        "smollm3-3b": 3_075_098_624,
        "starcoder2-15b": 15_957_889_024,
    };
    for (name, text, total) in configs {
        assert_eq!(read(text).parameters().total, total, "{name}");
    }
}

/// Sizes as the publishers round them, in billions: of the whole and of what a token uses.
#[test]
fn published_sizes_come_out() {
    let configs = whole_configs! {
        "command-r7b": (8.03, 8.03),
        "gemma-4-26b-a4b": (25.2, 3.8),
        "gemma-4-31b": (30.7, 30.7),
        "glm-5": (744.0, 40.0),
        "granite-4.0-h-tiny": (6.94, 1.47),
        "llama-4-maverick": (400.0, 17.0),
        "llama-4-scout": (109.0, 17.0),
        "mimo-v2-flash": (309.0, 15.0),
        "nemotron-h-8b": (8.1, 8.1),
        "nemotron-3-super-120b-a12b": (120.6, 12.7),
        "qwen3.5-397b-a17b": (397.0, 17.0),
        "step-3.5-flash": (196.0, 11.0),
    };
    for (name, text, (total, active)) in configs {
        let counted = read(text).parameters();
        let off = |counted: u64, published: f64| (counted as f64 / 1e9 / published - 1.0).abs();
        assert!(off(counted.total, total) < 0.015, "{name}: {}", counted.total);
        assert!(off(counted.active, active) < 0.09, "{name}: {}", counted.active);
    }
}

/// GLM-4.5 and its Air: 358,337,791,296 and 110,468,824,832 with the module and its tables.
#[test]
fn modules_for_further_tokens_are_apart() {
    let whole = |text: &str| {
        let model = read(text);
        let counted = model.parameters();
        counted.total + counted.draft + 2 * model.vocabulary * model.hidden
    };
    assert_eq!(whole(whole!("glm-4.5")), 358_337_791_296);
    assert_eq!(whole(whole!("glm-4.5-air")), 110_468_824_832);
}

/// Whole configs give no warning but of parts that are left out, and of weights published in 32 bits.
#[test]
fn nothing_in_whole_configs_is_called_unknown() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/configs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let model = read(&std::fs::read_to_string(&path).unwrap());
            let meant = |text: &&String| text.contains("not counted") || text.contains("float32");
            let unknown = model.warnings.iter().filter(|text| !meant(text));
            assert_eq!(unknown.collect::<Vec<_>>(), Vec::<&String>::new(), "{}", path.display());
        }
    }
}

fn windows(text: &str) -> BTreeSet<(Option<u64>, u64)> {
    let of = |layers: &Layers| match &layers.mixer {
        Mixer::Attention(attention) => Some((attention.window, layers.count)),
        _ => None,
    };
    read(text).layers.iter().filter_map(of).collect()
}

#[test]
fn windows_alternate_as_each_family_says() {
    let full_and = |full: u64, window: u64, windowed: u64| {
        BTreeSet::from([(None, full), (Some(window), windowed)])
    };
    assert_eq!(windows(whole!("gemma-2-9b")), full_and(21, 4096, 21));
    assert_eq!(windows(whole!("gemma-3-1b")), full_and(4, 512, 22));
    assert_eq!(windows(whole!("gemma-3-27b")), full_and(10, 1024, 52));
    assert_eq!(windows(whole!("gemma-4-31b")), full_and(10, 1024, 50));
    assert_eq!(windows(whole!("command-r7b")), full_and(8, 4096, 24));
    assert_eq!(windows(whole!("olmo-3-7b")), full_and(8, 4096, 24));
    assert_eq!(windows(whole!("exaone-4.0-32b")), full_and(16, 4096, 48));
    assert_eq!(
        windows(whole!("mimo-v2-flash")),
        BTreeSet::from([(None, 1), (None, 8), (Some(128), 39)])
    );
    assert_eq!(windows(whole!("mistral-7b-v0.1")), BTreeSet::from([(Some(4096), 32)]));
    // No context outgrows it: Phi-4-mini's 262,144 tokens of 131,072.
    let long = whole!("phi-3-mini-4k").replace("2047", "4096");
    assert_eq!(windows(&long), BTreeSet::from([(None, 32)]));
    // Named, and not used.
    assert_eq!(windows(whole!("qwen1.5-moe-a2.7b")), BTreeSet::from([(None, 24)]));
    // Chunks, three in four layers, by a list or by silence.
    assert_eq!(windows(whole!("llama-4-scout")), full_and(12, 8192, 36));
}

/// Mistral-7B-v0.1 keeps 131,072 bytes for each of the last 4,096 tokens.
#[test]
fn a_cache_within_windows_has_a_limit() {
    let model = read(whole!("mistral-7b-v0.1"));
    assert_eq!(model.kv_bytes_per_token().get(), 0.0);
    assert_eq!(model.cache_limit().unwrap().get(), 131_072.0 * 4096.0);
    let device = Device::named("h100-sxm").unwrap().clone();
    let system = System::new(model, device, Deployment::SINGLE).unwrap();
    let [note] = system.notes() else { panic!("{:?}", system.notes()) };
    assert!(note.contains("536870912 bytes at most, within a window of 4096"), "{note}");
    assert_eq!(read(whole!("gemma-3-27b")).cache_limit(), None);
    assert_eq!(read(whole!("deepseek-v2-lite")).cache_limit(), None);
}

#[test]
fn heads_may_differ_between_kinds_of_layer() {
    let heads = |text: &str| -> BTreeSet<(bool, u64, u64, u64, u64)> {
        let of = |layers: &Layers| match &layers.mixer {
            Mixer::Attention(a) => {
                Some((a.window.is_some(), a.heads, a.kv_heads, a.key_dim, a.value_dim))
            }
            _ => None,
        };
        read(text).layers.iter().filter_map(of).collect()
    };
    let mimo = heads(whole!("mimo-v2-flash"));
    assert_eq!(mimo, BTreeSet::from([(false, 64, 4, 192, 128), (true, 64, 8, 192, 128)]));
    let gemma = heads(whole!("gemma-4-31b"));
    assert_eq!(gemma, BTreeSet::from([(false, 32, 4, 512, 512), (true, 32, 16, 256, 256)]));
    let step = heads(whole!("step-3.5-flash"));
    assert_eq!(step, BTreeSet::from([(false, 64, 8, 128, 128), (true, 96, 8, 128, 128)]));
}

/// One projection makes keys and values, and both are cached: `key_states` are normed with gains and rotated, `value_states` only
/// normed, and the cache is given both (Hugging Face's `Gemma4TextAttention`; vLLM's `Gemma4Attention` attends with `q, k, v`). An engine
/// might keep the projection's output alone, so that the bound counts that.
#[test]
fn keys_and_values_of_one_projection_are_both_kept() {
    let model = read(whole!("gemma-4-31b"));
    let full = model.layers.iter().find_map(|layers| match &layers.mixer {
        Mixer::Attention(attention) if attention.window.is_none() => Some(attention.clone()),
        _ => None,
    });
    let full = full.unwrap();
    assert_eq!(full.keys, AttentionKeys::AreValues);
    assert_eq!((full.kv_heads, full.key_dim), (4, 512));
    assert_eq!(model.kv_bytes_per_token().get(), 81_920.0);
    let grown = |context: f64| model.cache_bytes(context).get();
    assert_eq!(grown(9_000.0) - grown(8_000.0), 81_920e3);

    let device = Device::named("h200-sxm").unwrap().clone();
    let system = System::new(model.clone(), device.clone(), Deployment::SINGLE).unwrap();
    let read = |of: fn(&System, &Pass) -> PassTime| {
        let cache = |context| of(&system, &Pass::decode(1.0, ContextSpan::at(context))).cache.get();
        (cache(9_000.0) - cache(8_000.0)) * device.memory_bandwidth().get() / 1e3
    };
    assert_eq!(read(System::bound_pass).round(), 40_960.0);
    assert_eq!(read(System::expected_pass).round(), 81_920.0);
    // How many fit follows: as engines keep them, and at best.
    let load = UniformLoad::new(Tokens::new(100_000), Tokens::new(10), NonZeroU64::MIN);
    let room = system.answer(&load).unwrap();
    let [real, best] =
        [room.max_batch.unwrap() as f64, Bound::at(&system, &load).unwrap().max_batch as f64];
    assert!(best / real > 1.5, "{real} {best}");
}

#[test]
fn experts_stand_where_the_config_says() {
    let sparse = |text: &str| {
        let has = |layers: &&Layers| matches!(layers.feed_forward, FeedForward::Experts(_));
        read(text).layers.iter().filter(has).map(|layers| layers.count).sum::<u64>()
    };
    assert_eq!(sparse(whole!("llama-4-maverick")), 24);
    assert_eq!(sparse(whole!("llama-4-scout")), 48);
    assert_eq!(sparse(whole!("glm-4.5")), 89);
    assert_eq!(sparse(whole!("mimo-v2-flash")), 47);
    assert_eq!(sparse(whole!("ernie-4.5-21b-a3b")), 27);
    assert_eq!(sparse(whole!("step-3.5-flash")), 42);
}

/// Hunyuan's name for dense first layers, and Jamba's for those between.
#[test]
fn experts_may_start_late_and_skip_layers() {
    let config = whole!("hunyuan-a13b");
    let sparse = |text: &str| {
        let has = |layers: &&Layers| matches!(layers.feed_forward, FeedForward::Experts(_));
        read(text).layers.iter().filter(has).map(|layers| layers.count).sum::<u64>()
    };
    let skipping = |by: &str| config.replace("\"moe_layer_num_skipped\": 0", by);
    assert_eq!(sparse(config), 32);
    assert_eq!(sparse(&skipping("\"moe_layer_num_skipped\": 4")), 28);
    assert_eq!(sparse(&skipping("\"expert_layer_period\": 3, \"expert_layer_offset\": 1")), 11);
}

/// Step-3 (arXiv 2507.19427): 316 billion parameters, 38 of them active.
#[test]
fn queries_of_low_rank_are_counted() {
    let layers: Vec<String> = (4..60).map(|layer| layer.to_string()).collect();
    let config = serde_json::json!({
        "architectures": ["Step3TextForCausalLM"], "hidden_size": 7168, "intermediate_size": 18432,
        "num_attention_heads": 64, "num_attention_groups": 1, "num_hidden_layers": 61,
        "vocab_size": 128_815, "moe_intermediate_size": 5120, "moe_num_experts": 48, "moe_top_k": 3,
        "share_expert_dim": 5120, "share_q_dim": 2048, "head_dim": 256, "torch_dtype": "bfloat16",
        "moe_layers_enum": layers.join(","), "tie_word_embeddings": false,
    });
    let counts = read(&config.to_string()).parameters();
    assert_eq!((counts.total / 100_000_000, counts.active / 1_000_000_000), (3162, 38));
}

/// The library leaves out of a file what is the default of the family's code.
#[test]
fn defaults_that_files_leave_out() {
    let smollm =
        whole!("smollm3-3b").replace("\"tie_word_embeddings\": true", "\"unsloth_fixed\": true");
    assert_eq!(read(&smollm), read(whole!("smollm3-3b")));
    let gemma = whole!("gemma-3-27b");
    assert_eq!(read(gemma).max_context.unwrap().get(), 131_072);
    let unknown = whole!("phi-4").replace("Phi3", "Foo").replace("phi3", "foo");
    let untold = unknown.replace("\"tie_word_embeddings\": false", "\"use_cache\": true");
    assert!(!read(&unknown).warnings.iter().any(|text| text.contains("tie_word")));
    assert!(read(&untold).warnings.iter().any(|text| text.contains("tie_word_embeddings")));
}

/// GPT-2, OPT-6.7B and DBRX, which name their dimensions in their own ways.
#[test]
fn older_names_are_read() {
    let check = |config: serde_json::Value, total: u64, warnings: &[&str]| {
        let model = read(&config.to_string());
        assert_eq!(model.parameters().total, total, "{config}");
        assert_eq!(model.warnings, warnings, "{config}");
    };
    let gpt2 = serde_json::json!({
        "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "model_type": "gpt2",
        "n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "n_inner": null,
        "summary_use_proj": true, "summary_type": "cls_index", "vocab_size": 50_257, "dtype": "float16",
    });
    check(gpt2, 124_439_808, &[]);
    let opt = serde_json::json!({
        "activation_function": "relu", "architectures": ["OPTForCausalLM"], "do_layer_norm_before": true,
        "ffn_dim": 16_384, "hidden_size": 4096, "max_position_embeddings": 2048, "model_type": "opt",
        "num_attention_heads": 32, "num_hidden_layers": 32, "torch_dtype": "float16",
        "vocab_size": 50_272, "word_embed_proj_dim": 4096,
    });
    check(opt, 6_658_473_984, &[]);
    let dbrx = serde_json::json!({
        "architectures": ["DbrxForCausalLM"], "attn_config": {"clip_qkv": 8, "kv_n_heads": 8, "model_type": ""},
        "d_model": 6144, "ffn_config": {"ffn_hidden_size": 10_752, "moe_num_experts": 16, "moe_top_k": 4},
        "max_seq_len": 32_768, "model_type": "dbrx", "n_heads": 48, "n_layers": 40,
        "torch_dtype": "bfloat16", "vocab_size": 100_352,
    });
    check(dbrx, 131_596_523_520, &[]);
}
