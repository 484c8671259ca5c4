//! How models are spread, and what keeps them from it.

use std::collections::HashSet;

use fizeau_roofline::{
    Deployment, DeploymentError, Device, ExpertExchange, KnownModel, Model, Overlap, System,
};
use proptest::prelude::*;

use crate::{config, fixed, llama_8b};

fn tensor(degree: u32) -> Deployment {
    Deployment::SINGLE.with_tensor(degree).unwrap()
}

/// Llama-3.1-8B with other heads.
fn with_heads(heads: u32, kv_heads: u32) -> Model {
    let text = config!("llama-3.1-8b");
    let queries = format!("\"num_attention_heads\": {heads}, \"head_dim\": 128");
    let text = text.replace("\"num_attention_heads\": 32", &queries);
    let keys = format!("\"num_key_value_heads\": {kv_heads}");
    let text = text.replace("\"num_key_value_heads\": 8", &keys);
    Model::from_config_json(&text).unwrap()
}

#[test]
fn what_divides_passes() {
    for degree in [1, 2, 4, 8, 16, 32] {
        assert_eq!(tensor(degree).check(&llama_8b()), Ok(()));
    }
    for stages in [1, 3, 32] {
        assert_eq!(Deployment::SINGLE.with_pipeline(stages).unwrap().check(&llama_8b()), Ok(()));
    }
}

#[test]
fn what_does_not_divide_is_told_what_would() {
    let error = |of: Deployment| of.check(&llama_8b()).unwrap_err().to_string();
    assert_eq!(
        error(tensor(6)),
        "tensor parallelism of 6 does not divide the 32 attention heads; 4 or 8 would"
    );
    assert_eq!(
        error(tensor(64)),
        "tensor parallelism of 64 does not divide the 32 attention heads; 32 would"
    );
    assert_eq!(
        error(Deployment::SINGLE.with_pipeline(33).unwrap()),
        "33 pipeline stages for 32 layers leave stages without a layer; use at most 32"
    );
    assert_eq!(
        error(tensor(8).with_expert_groups(3).unwrap()),
        "expert parallelism of 3 does not divide the 8 devices of a stage; 2 or 4 would"
    );
    let zero = Deployment::SINGLE.with_tensor(0).unwrap_err().to_string();
    assert_eq!(zero, "tensor parallelism is 0; it must be a whole number from 1 to 65536");
}

#[test]
fn key_value_heads_are_cut_or_repeated_whole() {
    // 48 heads of 8 keys: 12 divides the heads, and neither divides nor repeats the keys.
    let model = with_heads(48, 8);
    assert_eq!(
        tensor(12).check(&model).unwrap_err().to_string(),
        "tensor parallelism of 12 neither divides the 8 key-value heads nor is a multiple of them; \
         8 or 16 would be"
    );
    assert_eq!(tensor(16).check(&model), Ok(()));
    assert_eq!(tensor(16).notes(&model), ["8 key-value heads on 16 ranks: each is stored twice"]);
    let wide = tensor(32).notes(&llama_8b());
    assert_eq!(wide, ["8 key-value heads on 32 ranks: each is stored 4 times"]);
}

#[test]
fn notes_say_what_is_uneven_or_unused() {
    assert_eq!(tensor(8).notes(&llama_8b()), Vec::<String>::new());
    let uneven = Deployment::SINGLE.with_pipeline(3).unwrap();
    assert_eq!(uneven.notes(&llama_8b()), ["32 layers in 3 stages: 11 in some, 10 in others"]);
    let experts = tensor(4).with_expert_groups(4).unwrap();
    let notes = experts.notes(&llama_8b());
    assert_eq!(notes, ["the model has no experts to spread over 4 groups"]);
}

#[test]
fn a_link_that_is_not_known_is_said_to_be() {
    let device = Device::named("h100-sxm").unwrap();
    let bare = Device::new(
        "bare",
        device.memory(),
        device.memory_bandwidth(),
        device.dense_rate(fizeau_roofline::MathType::Bf16).unwrap(),
    )
    .unwrap();
    assert_eq!(Deployment::SINGLE.link_notes(&bare), Vec::<String>::new());
    assert_eq!(tensor(1).with_replicas(8).unwrap().link_notes(&bare), Vec::<String>::new());
    assert_eq!(
        tensor(8).link_notes(&bare),
        ["bare: 8 devices exchange data, and no link between them is known; expected times leave \
          that communication out"]
    );
}

#[test]
fn text_that_is_no_deployment_is_refused() {
    for (text, word) in
        [("tp", "tp"), ("tp8 foo", "foo"), ("qp8", "qp8"), ("8", "8"), ("tp-8", "tp-8")]
    {
        let error = text.parse::<Deployment>().unwrap_err();
        assert_eq!(error, DeploymentError::Unreadable { word: word.to_owned() }, "{text}");
    }
    assert!("tp0".parse::<Deployment>().is_err());
    assert_eq!("TP=8,EP8 X2".parse(), tensor(8).with_expert_groups(8).unwrap().with_replicas(2));
}

fn known(name: &str) -> Model {
    KnownModel::named(name).unwrap().model().unwrap()
}

#[test]
fn a_latent_cache_is_whole_on_each_rank() {
    let notes = tensor(8).notes(&known("deepseek-v3"));
    assert_eq!(
        notes,
        [
            "each of 8 ranks keeps the whole latent cache; attention data parallelism would divide it"
        ]
    );
    let groups = Deployment::SINGLE.with_attention_groups(8).unwrap();
    assert_eq!(groups.notes(&known("deepseek-v3")), Vec::<String>::new());
}

#[test]
fn experts_have_to_divide() {
    let of: Deployment = "EP48 DP48".parse().unwrap();
    assert_eq!(
        of.check(&known("qwen3-30b-a3b")).unwrap_err().to_string(),
        "expert parallelism of 48 does not divide the 128 experts; 16 would"
    );
    let linear = tensor(32).check(&known("qwen3-next-80b-a3b")).unwrap_err().to_string();
    assert!(linear.starts_with("tensor parallelism of 32 does not divide the 16 "), "{linear}");
}

#[test]
fn candidates_spread_experts_and_share_latents() {
    let ways = |name: &str, devices| -> Vec<String> {
        let all = Deployment::candidates(&known(name), devices);
        all.iter().map(ToString::to_string).collect()
    };
    assert_eq!(ways("mixtral-8x7b", 2), ["x2", "PP2", "DP2", "EP2 DP2", "TP2", "TP2 EP2"]);
    let deepseek = ways("deepseek-v3", 16);
    for way in ["TP16 EP16", "EP16 DP16", "TP8 PP2 EP8", "TP4 EP16 DP4", "TP8 EP8 x2"] {
        assert!(deepseek.contains(&way.to_owned()), "{way} in {deepseek:?}");
    }
    // All of the experts that there are, where devices are more.
    assert!(ways("mixtral-8x7b", 16).contains(&"TP2 EP8 DP8".to_owned()));
}

fn degrees() -> impl Strategy<Value = u32> {
    prop_oneof![Just(1), 1_u32..=16, 1_u32..=1 << 16]
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn what_is_written_is_read(
        t in degrees(), p in degrees(), e in degrees(), d in degrees(), r in degrees(),
        exchange in proptest::sample::select(vec![
            ExpertExchange::Fastest, ExpertExchange::AllToAll, ExpertExchange::AllGather,
        ]),
        overlap in proptest::sample::select(vec![Overlap::None, Overlap::TwoBatches]),
    ) {
        let of = tensor(t).with_pipeline(p).unwrap().with_expert_groups(e).unwrap();
        let of = of.with_attention_groups(d).unwrap().with_replicas(r).unwrap();
        let of = of.with_expert_exchange(exchange).with_overlap(overlap);
        prop_assert_eq!(of.to_string().parse(), Ok(of));
    }

    /// An error offers what works.
    #[test]
    fn what_would_do_does(heads in 1_u32..=64, repeats in 1_u32..=8, degree in 1_u32..=80) {
        let model = with_heads(heads * repeats, heads);
        let fitting = match tensor(degree).check(&model) {
            Ok(()) => return Ok(()),
            Err(DeploymentError::DoesNotDivide { fitting, .. }) => fitting,
            Err(DeploymentError::KeyValueHeads { fitting, .. }) => fitting,
            Err(other) => panic!("{other}"),
        };
        prop_assert!(!fitting.is_empty());
        for degree in fitting {
            prop_assert_eq!(tensor(degree).check(&model), Ok(()));
        }
    }

    #[test]
    fn candidates_use_all_devices_once(devices in 0_u64..=96) {
        let model = llama_8b();
        let all = Deployment::candidates(&model, devices);
        prop_assert_eq!(all.is_empty(), devices == 0);
        let distinct: HashSet<Deployment> = all.iter().copied().collect();
        prop_assert_eq!(distinct.len(), all.len());
        for way in all {
            prop_assert_eq!(way.devices(), devices);
            prop_assert_eq!(way.check(&model), Ok(()));
            prop_assert_eq!(way.attention_groups(), 1);
        }
    }
}

/// The fullest of two stages of DeepSeek-V3 has 31 layers with experts of 11.5 billion parameters each, not 31 mean ones; gpt-oss's
/// layers with windows lie between those without, so that each stage has half of either.
#[test]
fn the_fullest_stage_has_the_heaviest_layers_in_a_row() {
    let system = |name: &str, deployment: &str| {
        let model = KnownModel::named(name).unwrap().model().unwrap();
        let device = Device::named("h200-sxm").unwrap().clone();
        System::new(model, device, deployment.parse().unwrap()).unwrap()
    };
    let weights = system("deepseek-v3", "PP2").weight_bytes_per_device().get();
    assert!((356e9..360e9).contains(&weights), "{weights}");
    let cache =
        |deployment| system("gpt-oss-120b", deployment).cache_bytes_per_device(8192.0).get();
    assert_eq!(cache("PP2"), 0.5 * cache("1 device"));
    let whole = system("deepseek-v3", "PP61").cache_bytes_per_device(1000.0).get();
    assert_eq!(whole, 1000.0 * 576.0 * 2.0);
}
