//! Models of every kind, devices, deployments and loads, at random.

use std::num::NonZeroU64;

use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec, Seconds, Tokens};
use fizeau_roofline::{
    Deployment, Device, Format, KnownModel, Link, MathType, Model, ReductionSite, System, Topology,
    UniformLoad,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Powers of two from `2^least` to `2^most`.
fn power(least: u32, most: u32) -> impl Strategy<Value = u64> {
    (least..=most).prop_map(|bits| 1_u64 << bits)
}

fn model_of(config: &Value) -> Model {
    Model::from_config_json(&config.to_string()).unwrap()
}

/// Grouped attention with dense blocks; every other layer may have a window.
fn dense() -> impl Strategy<Value = Model> {
    let shape = (1_u64..40, power(8, 13), power(0, 3), power(5, 8), power(9, 15));
    let more = (prop::option::of(1_u64..5_000), 0_u64..60);
    (shape, more).prop_map(|((layers, hidden, kv, dim, wide), (window, sharing))| {
        let kind =
            |k: u64| if k.is_multiple_of(2) { "sliding_attention" } else { "full_attention" };
        let kinds: Vec<_> = (0..layers).map(kind).collect();
        let mut config = json!({
            "architectures": ["LlamaForCausalLM"], "num_hidden_layers": layers,
            "hidden_size": hidden, "num_attention_heads": 16, "num_key_value_heads": kv,
            "head_dim": dim, "intermediate_size": wide, "vocab_size": 32_000,
            "torch_dtype": "bfloat16",
        });
        if sharing < layers {
            config["num_kv_shared_layers"] = json!(sharing);
        }
        if let Some(window) = window {
            config["sliding_window"] = json!(window);
            config["layer_types"] = json!(kinds);
        }
        model_of(&config)
    })
}

fn experts() -> impl Strategy<Value = Model> {
    (1_u64..40, power(8, 13), power(4, 9), 1_u64..=16, power(8, 12)).prop_map(
        |(layers, hidden, count, each, wide)| {
            model_of(&json!({
                "architectures": ["Qwen3MoeForCausalLM"], "num_hidden_layers": layers,
                "hidden_size": hidden, "num_attention_heads": 16, "num_key_value_heads": 4,
                "head_dim": 128, "moe_intermediate_size": wide, "num_experts": count,
                "num_experts_per_tok": each, "vocab_size": 32_000, "torch_dtype": "bfloat16",
                "intermediate_size": 4 * wide,
            }))
        },
    )
}

/// Latent attention with experts, possibly sparse.
fn latent() -> impl Strategy<Value = Model> {
    (2_u64..30, power(10, 13), prop::option::of(power(4, 12)), 0_u64..=2).prop_map(
        |(layers, hidden, top_k, dense)| {
            let mut config = json!({
                "architectures": ["DeepseekV3ForCausalLM"], "num_hidden_layers": layers,
                "hidden_size": hidden, "num_attention_heads": 16, "num_key_value_heads": 16,
                "q_lora_rank": 256, "kv_lora_rank": 128, "qk_nope_head_dim": 64,
                "qk_rope_head_dim": 32, "v_head_dim": 64, "n_routed_experts": 32,
                "n_shared_experts": 1, "num_experts_per_tok": 4, "moe_intermediate_size": 512,
                "intermediate_size": 4096, "first_k_dense_replace": dense,
                "vocab_size": 32_000, "torch_dtype": "bfloat16", "moe_layer_freq": 1,
            });
            if let Some(top_k) = top_k {
                config["architectures"] = json!(["DeepseekV32ForCausalLM"]);
                config["index_topk"] = json!(top_k);
                config["index_n_heads"] = json!(16);
                config["index_head_dim"] = json!(64);
            }
            model_of(&config)
        },
    )
}

fn known() -> impl Strategy<Value = Model> {
    prop::sample::select(KnownModel::all()).prop_map(|known| known.model().unwrap())
}

/// Of every architecture, with weights and caches of several widths.
pub(crate) fn models() -> impl Strategy<Value = Model> {
    let weights = prop::sample::select(vec!["", "bf16", "fp8", "nvfp4", "int8"]);
    let cache = prop::sample::select(vec![Format::Bf16, Format::Fp8]);
    let any = prop_oneof![2 => dense(), 2 => experts(), 2 => latent(), 3 => known()];
    (any, weights, cache).prop_map(|(model, weights, cache)| {
        let model = model.with_kv_cache(cache);
        if weights.is_empty() { model } else { model.with_weights(&weights.parse().unwrap()) }
    })
}

/// With all rates, or without those of 4 and 8 bits; memory for some of the models.
pub(crate) fn devices() -> impl Strategy<Value = Device> {
    (1e11..3e12, 1e11..1e13, 1e13..1e16, 1.0..2.0, any::<bool>()).prop_map(
        |(memory, bandwidth, rate, more, narrow)| {
            let device = device(memory, bandwidth, rate);
            if !narrow {
                return device;
            }
            let with = |device: Device, math, rate| {
                device.with_rate(math, FlopsPerSec::new(rate)).unwrap()
            };
            let device = with(device, MathType::Fp8, rate * more);
            let device = with(device, MathType::Int8, rate * 0.5);
            with(device, MathType::Fp4, rate * more * 2.0)
        },
    )
}

/// A device with links of NVLink's order.
pub(crate) fn device(memory: f64, bandwidth: f64, rate: f64) -> Device {
    let link = |bytes: f64, latency, domain| Link {
        bandwidth: BytesPerSec::new(bytes),
        latency: Seconds::new(latency),
        topology: Topology::Switch { domain, reduces: ReductionSite::AtEndpoints },
    };
    let (memory, bandwidth) = (Bytes::new(memory), BytesPerSec::new(bandwidth));
    let device = Device::new("made-up", memory, bandwidth, FlopsPerSec::new(rate)).unwrap();
    let device = device.with_link(link(450e9, 1e-6, 8)).unwrap();
    device.with_network(link(50e9, 5e-6, u32::MAX)).unwrap()
}

/// Degrees up to eight each; those that a model cannot be cut by are left out by [`systems`].
pub(crate) fn deployments() -> impl Strategy<Value = Deployment> {
    (power(0, 4), 1_u32..=4, power(0, 3), power(0, 3), 1_u32..=3).prop_map(
        |(tensor, pipeline, groups, experts, replicas)| {
            let small = |degree: u64| degree as u32;
            Deployment::SINGLE
                .with_tensor(small(tensor))
                .and_then(|d| d.with_pipeline(pipeline))
                .and_then(|d| d.with_attention_groups(small(groups)))
                .and_then(|d| d.with_expert_groups(small(experts)))
                .and_then(|d| d.with_replicas(replicas))
                .unwrap()
        },
    )
}

/// Any model on any device, in a deployment if it can be cut so, else on one device.
pub(crate) fn systems() -> impl Strategy<Value = System> {
    (models(), devices(), deployments()).prop_map(|(model, device, deployment)| {
        System::new(model.clone(), device.clone(), deployment)
            .or_else(|_| System::new(model, device, Deployment::SINGLE))
            .unwrap()
    })
}

pub(crate) fn loads() -> impl Strategy<Value = UniformLoad> {
    (1_u64..20_000, 1_u64..5_000, 1_u64..2_000, 0.0..1.0).prop_map(|(input, output, n, share)| {
        let cached = (input as f64 * share) as u64;
        let concurrency = NonZeroU64::new(n).unwrap();
        UniformLoad::new(Tokens::new(input), Tokens::new(output), concurrency)
            .with_cached(Tokens::new(if n.is_multiple_of(2) { cached } else { 0 }))
    })
}

/// Greater or equal, but for rounding.
pub(crate) fn at_least(a: f64, b: f64) -> bool {
    a >= b * (1.0 - 1e-9)
}
