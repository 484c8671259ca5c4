//! Counts of random models are consistent, whatever their architecture.

use fizeau_core::Bytes;
use fizeau_roofline::{Mixer, Model};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::fixed;

/// The fields of a kind of token mixer.
fn mixers() -> impl Strategy<Value = Value> {
    let dims = (1_u64..=64, 1_u64..=8, 1_u64..=256);
    let attention =
        (dims, prop::option::of(1_u64..=8192)).prop_map(|((kv_heads, group, head_dim), window)| {
            json!({
                "num_attention_heads": kv_heads * group, "num_key_value_heads": kv_heads,
                "head_dim": head_dim, "sliding_window": window, "sliding_window_pattern": 3,
            })
        });
    let latent = (1_u64..=128, 1_u64..=1024, prop::option::of(1_u64..=2048), any::<bool>())
        .prop_map(|(heads, rank, query_rank, sparse)| {
            json!({
                "num_attention_heads": heads, "kv_lora_rank": rank, "q_lora_rank": query_rank,
                "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
                "index_topk": sparse.then_some(2048), "index_n_heads": 64, "index_head_dim": 128,
            })
        });
    let delta = (1_u64..=32, 1_u64..=256, 1_u64..=6).prop_map(|(heads, dim, interval)| {
        json!({
            "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256,
            "full_attention_interval": interval, "linear_num_key_heads": heads,
            "linear_num_value_heads": 2 * heads, "linear_key_head_dim": dim,
            "linear_value_head_dim": dim, "linear_conv_kernel_dim": 4,
        })
    });
    prop_oneof![attention, latent, delta]
}

/// The fields of a kind of feed-forward block.
fn feed_forwards() -> impl Strategy<Value = Value> {
    let dense = (1_u64..=65_536).prop_map(|width| json!({"intermediate_size": width}));
    let experts = (1_u64..=512, 0.0..=1.0, 1_u64..=4096, 0_u64..=3, 0_u64..=4).prop_map(
        |(count, share, width, shared, dense)| {
            json!({
                "num_experts": count, "num_experts_per_tok": ((count as f64 * share) as u64).max(1),
                "moe_intermediate_size": width, "n_shared_experts": shared,
                "first_k_dense_replace": dense, "intermediate_size": 4 * width,
                "num_nextn_predict_layers": shared,
            })
        },
    );
    prop_oneof![dense, experts]
}

fn configs() -> impl Strategy<Value = Map<String, Value>> {
    let names = prop::sample::select(vec![
        "llama",
        "qwen2",
        "qwen3",
        "gemma2",
        "gpt_oss",
        "deepseek_v3",
        "cohere",
        "olmo2",
        "starcoder2",
        "nobody",
    ]);
    let whole = (1_u64..=128, 1_u64..=16_384, 1_u64..=300_000, any::<bool>());
    (names, whole, mixers(), feed_forwards()).prop_map(|(name, whole, mixer, feed_forward)| {
        let (layers, hidden, words, tied) = whole;
        let whole = json!({
            "model_type": name, "num_hidden_layers": layers, "hidden_size": hidden, "vocab_size": words,
            "tie_word_embeddings": tied, "torch_dtype": "bfloat16",
        });
        let parts = [whole, mixer, feed_forward];
        parts.into_iter().flat_map(|part| part.as_object().cloned().unwrap_or_default()).collect()
    })
}

fn read(config: &Map<String, Value>) -> Model {
    Model::from_config_json(&Value::Object(config.clone()).to_string()).unwrap()
}

/// Attention of the plain kind, with 2 heads of 64 dimensions to keep.
fn make_plain(config: &mut Map<String, Value>) {
    let others = ["lora", "linear", "v_head_dim", "full_attention_interval"];
    config.retain(|name, _| !others.iter().any(|other| name.contains(other)));
    for (field, value) in [("num_attention_heads", 8), ("num_key_value_heads", 2), ("head_dim", 64)]
    {
        config.insert(field.to_owned(), json!(value));
    }
}

/// A config whose layers are listed, and whether each sees everything.
fn listed() -> impl Strategy<Value = (Map<String, Value>, Vec<bool>)> {
    let layers = prop::collection::vec(any::<bool>(), 1..48);
    (configs(), layers).prop_map(|(mut config, full)| {
        make_plain(&mut config);
        for (field, value) in [
            ("sliding_window", json!(100)),
            ("num_hidden_layers", json!(full.len())),
            ("first_k_dense_replace", json!(0)),
        ] {
            config.insert(field.to_owned(), value);
        }
        (config, full)
    })
}

fn with_layers(config: &Map<String, Value>, full: &[bool]) -> Model {
    let name = |full: &bool| if *full { "full_attention" } else { "sliding_attention" };
    let names: Vec<&str> = full.iter().map(name).collect();
    let mut config = config.clone();
    config.insert("layer_types".to_owned(), json!(names));
    read(&config)
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn counts_are_nested(config in configs()) {
        let model = read(&config);
        let counted = model.parameters();
        prop_assert!(counted.total >= counted.active);
        prop_assert!(counted.active >= counted.streamed);
        prop_assert!(counted.streamed > 0);
        for tensors in model.tensors() {
            prop_assert!(tensors.stored >= tensors.active && tensors.active >= tensors.streamed);
        }
        prop_assert!(model.weight_bytes() >= model.streamed_weight_bytes());
        let layers: u64 = model.layers.iter().map(|layers| layers.count).sum();
        prop_assert_eq!(Some(layers), config["num_hidden_layers"].as_u64());
    }

    /// More context never takes less, and no layer with a window takes more than its window.
    #[test]
    fn the_cache_grows_with_the_context_up_to_its_windows(
        config in configs(), context in 1.0..1e6_f64, more in 0.0..1e6_f64,
    ) {
        let model = read(&config);
        let (short, long) = (model.cache_bytes(context), model.cache_bytes(context + more));
        prop_assert!(long >= short);
        // What grows without end is what `kv_bytes_per_token` says, once all windows are full.
        let far = |context: f64| model.cache_bytes(1e6 + context).get();
        let slope = far(1e6) - far(0.0);
        let per_token = model.kv_bytes_per_token().get();
        prop_assert!((slope - 1e6 * per_token).abs() <= 1e-9 * far(1e6));
        let state = model.cache_bytes(0.0);
        let recurrent = |mixer: &Mixer| matches!(mixer, Mixer::DeltaNet(_) | Mixer::Mamba2(_));
        let remembers = model.layers.iter().any(|layers| recurrent(&layers.mixer));
        prop_assert_eq!(state > Bytes::default(), remembers);
    }

    /// Which layers are which does not matter, only how many there are of each.
    #[test]
    fn the_order_of_layers_does_not_matter(
        ((config, full), order) in listed().prop_flat_map(|(config, full)| {
            let order = Just(full.clone()).prop_shuffle();
            (Just((config, full)), order)
        }),
    ) {
        let (model, shuffled) = (with_layers(&config, &full), with_layers(&config, &order));
        prop_assert_eq!(model.parameters(), shuffled.parameters());
        prop_assert_eq!(model.kv_bytes_per_token(), shuffled.kv_bytes_per_token());
        prop_assert_eq!(model.cache_bytes(5000.0), shuffled.cache_bytes(5000.0));
    }

    /// The unbounded part of the cache is that of the layers that see everything.
    #[test]
    fn windows_cap_the_cache((config, full) in listed()) {
        let model = with_layers(&config, &full);
        let open = full.iter().filter(|full| **full).count() as f64;
        prop_assert_eq!(model.kv_bytes_per_token().get(), open * 2.0 * 2.0 * 64.0 * 2.0);
        let capped = full.len() as f64 - open;
        let kept = 2.0 * 2.0 * 64.0 * 2.0 * (open * 5000.0 + capped * 100.0);
        prop_assert_eq!(model.cache_bytes(5000.0).get(), kept);
    }

    /// A field that nobody knows is named, and changes nothing.
    #[test]
    fn unknown_fields_are_named(config in configs(), name in "zz[a-d]{1,20}") {
        let mut odd = config.clone();
        odd.insert(name.clone(), json!(7));
        let (plain, odd) = (read(&config), read(&odd));
        prop_assert_eq!(odd.parameters(), plain.parameters());
        let warning = format!("`{name}` is not understood and could matter");
        prop_assert!(odd.warnings.contains(&warning));
    }

    /// Layers that borrow their keys keep none.
    #[test]
    fn shared_keys_are_kept_once(config in configs(), sharing in 0_u64..=200) {
        let mut config = config;
        make_plain(&mut config);
        let own = read(&config);
        config.insert("num_kv_shared_layers".to_owned(), json!(sharing));
        let shared = read(&config);
        prop_assert!(shared.cache_bytes(9000.0) <= own.cache_bytes(9000.0));
        prop_assert!(shared.parameters().total <= own.parameters().total);
        if sharing >= config["num_hidden_layers"].as_u64().unwrap_or(0) {
            prop_assert_eq!(shared.kv_bytes_per_token(), Bytes::default());
        }
    }
}
