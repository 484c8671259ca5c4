//! What the devices of a deployment tell each other in a pass.

use fizeau_core::{Bytes, BytesPerSec, Seconds};
use fizeau_roofline::{
    Collective, ContextSpan, Deployment, Device, ExpertExchange, KnownModel, Link,
    MeasuredCollective, Model, Overlap, Pass, PassTime, ReductionSite, System, Topology,
};
use proptest::prelude::*;

use crate::{fixed, llama_8b};

const HOP: f64 = 1e-6;
const SLOW_HOP: f64 = 5e-6;

/// Eight H100 a machine; no sums in the switch, so that ideal figures are simple ones.
fn device() -> Device {
    let link = |gb_per_s: f64, latency, domain| Link {
        bandwidth: BytesPerSec::new(gb_per_s * 1e9),
        latency: Seconds::new(latency),
        topology: Topology::Switch { domain, reduces: ReductionSite::AtEndpoints },
    };
    let device = Device::named("h100-sxm").unwrap().clone();
    let device = device.with_link(link(450.0, HOP, 8)).unwrap();
    device.with_network(link(50.0, SLOW_HOP, u32::MAX)).unwrap()
}

fn expected(model: Model, deployment: Deployment, pass: &Pass) -> PassTime {
    System::new(model, device(), deployment).unwrap().expected_pass(pass)
}

fn deployment(text: &str) -> Deployment {
    text.parse().unwrap()
}

fn decode(sequences: f64) -> Pass {
    Pass::decode(sequences, ContextSpan::at(1000.0))
}

#[test]
fn one_device_talks_to_nobody() {
    for text in ["1 device", "x8"] {
        let time = expected(llama_8b(), deployment(text), &decode(8.0));
        assert_eq!((time.communication().get(), time.collectives), (0.0, 0.0), "{text}");
    }
}

/// Two sums a layer, one for the embedding, and the logits gathered.
#[test]
fn tensor_ranks_sum_twice_a_layer() {
    let time = expected(llama_8b(), deployment("TP8"), &decode(1.0));
    assert_eq!(time.collectives, 66.0);
    // One token is 8 KiB: one shot. The logits are a quarter of a megabyte: each rank sends its eighth to all.
    assert!((time.hops.get() - 66.0 * HOP).abs() < 1e-12, "{time:?}");
    let bytes = 65.0 * 7.0 * 8192.0 + 7.0 / 8.0 * 2.0 * 128_256.0;
    assert!((time.link.get() - bytes / 450e9).abs() < 1e-12, "{time:?}");
}

/// A prompt is megabytes a layer: two shots; and only its last position has logits.
#[test]
fn a_prompt_moves_all_its_tokens() {
    let time = expected(llama_8b(), deployment("TP8"), &Pass::prefill(8192.0, 0.0));
    let bytes = 65.0 * 2.0 * 7.0 / 8.0 * 8192.0 * 8192.0 + 7.0 / 8.0 * 2.0 * 128_256.0;
    assert!((time.link.get() - bytes / 450e9).abs() < 1e-9, "{time:?}");
    assert!((time.hops.get() - (65.0 * 2.0 + 1.0) * HOP).abs() < 1e-12, "{time:?}");
}

#[test]
fn stages_hand_tokens_on() {
    // Four stages on one machine: three hops within it.
    let time = expected(llama_8b(), deployment("PP4"), &decode(16.0));
    assert_eq!(time.collectives, 3.0);
    assert!((time.link.get() - 3.0 * 16.0 * 8192.0 / 450e9).abs() < 1e-12, "{time:?}");
    assert!((time.hops.get() - 3.0 * HOP).abs() < 1e-12);
    // Two machines: one of three boundaries lies between them.
    let sums = expected(llama_8b(), deployment("TP4"), &decode(16.0));
    let time = expected(llama_8b(), deployment("TP4 PP4"), &decode(16.0));
    let hops = time.hops.get() - sums.hops.get();
    assert!((hops - (2.0 * HOP + SLOW_HOP)).abs() < 1e-12, "{hops}");
}

/// Sixteen ranks are on two machines: each sum goes there and back.
#[test]
fn ranks_beyond_a_machine_use_the_network() {
    let near = expected(llama_8b(), deployment("TP8"), &decode(1.0));
    let far = expected(llama_8b(), deployment("TP16"), &decode(1.0));
    // Scatter, across, gather; the logits' gather has no scatter.
    let hops = 65.0 * (2.0 * HOP + SLOW_HOP) + HOP + SLOW_HOP;
    assert!((far.hops.get() - hops).abs() < 1e-12, "{far:?}");
    assert!(far.communication() > near.communication());
}

#[test]
fn an_unknown_link_is_left_out_and_said_to_be() {
    let device = device();
    let rate = device.dense_rate(fizeau_roofline::MathType::Bf16).unwrap();
    let bare = Device::new("bare", device.memory(), device.memory_bandwidth(), rate).unwrap();
    let of = deployment("TP8");
    assert!(!of.link_notes(&bare).is_empty());
    let system = System::new(llama_8b(), bare, of).unwrap();
    let time = system.expected_pass(&decode(1.0));
    assert_eq!(time.communication().get(), 0.0);
    // They happen all the same.
    assert_eq!(time.collectives, 66.0);
}

fn known(name: &str) -> Model {
    KnownModel::named(name).unwrap().model().unwrap()
}

/// One attention group has all tokens on all of its ranks: what experts give is summed as a dense block's output is.
#[test]
fn experts_of_one_group_need_no_exchange_of_their_own() {
    let qwen = known("qwen3-235b-a22b");
    let spread = expected(qwen.clone(), deployment("TP8 EP8"), &decode(16.0));
    let cut = expected(qwen, deployment("TP8"), &decode(16.0));
    assert_eq!(spread.collectives, 2.0 * 94.0 + 2.0);
    assert_eq!(spread.communication(), cut.communication());
}

/// 64 tokens in 8 groups, 8 of 128 experts each: a token's experts are in 8 (1 - (7/8)^8) = 5.25 groups.
#[test]
fn tokens_go_once_to_each_rank_that_has_their_experts() {
    let qwen = || known("qwen3-235b-a22b");
    let token = 2.0 * 4096.0;
    let copies = 8.0 * (1.0 - 0.875_f64.powi(8)) * 7.0 / 8.0;
    let direct = 2.0 * 94.0 * 8.0 * copies * token / 450e9;
    let time = expected(qwen(), deployment("EP8 DP8 all-to-all"), &decode(64.0));
    assert_eq!(time.collectives, 2.0 * 94.0);
    assert!((time.link.get() / direct - 1.0).abs() < 1e-12, "{time:?}");
    assert!((time.hops.get() - 188.0 * HOP).abs() < 1e-12, "{time:?}");
    // Everything everywhere: 56 tokens come from elsewhere instead of 36.8 that are sent.
    let gathered = 2.0 * 94.0 * 7.0 / 8.0 * 64.0 * token / 450e9;
    let time = expected(qwen(), deployment("EP8 DP8 all-gather"), &decode(64.0));
    assert!((time.link.get() / gathered - 1.0).abs() < 1e-12, "{time:?}");
    // The faster of the two, if nothing is asked for.
    let time = expected(qwen(), deployment("EP8 DP8"), &decode(64.0));
    assert!((time.link.get() / direct - 1.0).abs() < 1e-12, "{time:?}");
}

/// Out in 8 bits with a scale for each 128, back in 16; across machines once, and from there on over the link.
#[test]
fn experts_on_two_machines_are_reached_by_two_levels() {
    let time = expected(known("deepseek-v3"), deployment("EP16 DP16 all-to-all"), &decode(16.0));
    let bytes = (1.0 + 4.0 / 128.0 + 2.0) * 7168.0 * 58.0;
    let across = 2.0 * (1.0 - 0.5_f64.powi(8)) / 2.0;
    // Of eight groups of experts a token uses four: half of the ranks are open to it.
    let within = 8.0 * (1.0 - (7.0 / 8.0_f64).powi(8)) * 7.0 / 8.0;
    let link = bytes * (across / 50e9 + within / 450e9);
    assert!((time.link.get() / link - 1.0).abs() < 1e-12, "{time:?} {link}");
    let hops = 2.0 * 58.0 * (HOP + SLOW_HOP);
    assert!((time.hops.get() - hops).abs() < 1e-12, "{time:?}");
}

/// A prompt's experts are compute-bound: they take as much longer as the fullest of eight groups has more picks.
#[test]
fn the_busiest_experts_are_waited_for() {
    let qwen = || known("qwen3-235b-a22b");
    let pass = Pass::prefill(4096.0, 0.0);
    let even = expected(qwen(), deployment("TP8"), &pass).matrices.get();
    let spread = expected(qwen(), deployment("TP8 EP8"), &pass).matrices.get();
    let picks = 4096.0 * 8.0;
    let more = (2.0 * 8.0_f64.ln() / (picks / 8.0)).sqrt();
    let experts = 2.0 * 94.0 * 3.0 * 4096.0 * 1536.0 * picks / 8.0 / 989.5e12;
    assert!(((spread - even) / (experts * more) - 1.0).abs() < 1e-9, "{even} {spread}");
}

/// Of eight machines, routing by groups leaves four to a token.
#[test]
fn groups_of_experts_spare_the_network() {
    let text = |groups: u32| {
        let known = KnownModel::named("deepseek-v3").unwrap().config;
        let text = known.replace("\"topk_group\": 4", &format!("\"topk_group\": {groups}"));
        Model::from_config_json(&text).unwrap()
    };
    let of = deployment("EP64 DP64 all-to-all");
    let [limited, free] = [4, 8].map(|groups| expected(text(groups), of, &decode(256.0)).link);
    assert!(limited < free, "{limited:?} {free:?}");
}

/// Nemotron-H has a mixer or a feed-forward block in a layer, not both: one sum each.
#[test]
fn a_layer_of_one_block_has_one_sum() {
    let hybrid = known("nemotron-h-56b");
    let layers: u64 = hybrid.layers.iter().map(|layers| layers.count).sum();
    let time = expected(hybrid, deployment("TP8"), &decode(1.0));
    assert_eq!(time.collectives, layers as f64 + 2.0);
}

/// Command R's blocks read the same input: one sum serves both.
#[test]
fn parallel_blocks_share_a_sum() {
    let text = include_str!("../../../../fixtures/configs/command-r.json");
    let model = Model::from_config_json(text).unwrap();
    assert_eq!(expected(model, deployment("TP8"), &decode(1.0)).collectives, 40.0 + 2.0);
}

fn deployments() -> impl Strategy<Value = Deployment> {
    (0_u32..=4, 1_u32..=8, 0_u32..=4).prop_map(|(t, p, d)| {
        let of = Deployment::SINGLE.with_tensor(1 << t).unwrap();
        of.with_pipeline(p).unwrap().with_attention_groups(1 << d).unwrap()
    })
}

/// 20 us and 100 GB/s up to a mebibyte, 80 us and 400 GB/s from two on.
fn measured(collective: Collective, ranks: u32) -> [MeasuredCollective; 2] {
    let line = |sizes: [f64; 2], micros: f64, gb_per_s: f64, within| {
        let line = (Seconds::new(micros * 1e-6), Some(BytesPerSec::new(gb_per_s * 1e9)));
        let sizes = sizes.map(|kib| Bytes::new(kib * 1024.0));
        MeasuredCollective::new(collective, ranks, sizes, line, "a probe").with_within(within)
    };
    [line([32.0, 1024.0], 20.0, 100.0, 0.1), line([2048.0, 1e6], 80.0, 400.0, 0.02)]
}

fn with_measured(device: Device, all: &[MeasuredCollective]) -> Device {
    let add =
        |device: Device, one: &MeasuredCollective| device.with_collective(one.clone()).unwrap();
    all.iter().fold(device, add)
}

/// What was measured among as many devices takes the place of what links give, at any size; the bound has no word of either.
#[test]
fn measured_collectives_take_the_place_of_links() {
    let linked = System::new(llama_8b(), device(), deployment("TP8")).unwrap();
    let sums = measured(Collective::AllReduce, 8);
    let measured = linked.with_device(with_measured(device(), &sums));
    // 64 tokens of 8 KiB: half a mebibyte. 1000 of them are eight: the other line's.
    for (tokens, micros, gb_per_s, within) in
        [(64.0, 20.0, 100.0, 0.1), (1000.0, 80.0, 400.0, 0.02)]
    {
        let pass = decode(tokens);
        let told = measured.collectives_of(&pass);
        let sum = told.iter().find(|of| of.collective == Collective::AllReduce).unwrap();
        let each = micros * 1e-6 + tokens * 8192.0 / (gb_per_s * 1e9);
        assert!((sum.time.get() / (65.0 * each) - 1.0).abs() < 1e-9, "{sum:?}");
        assert_eq!((sum.ranks, sum.times, sum.within), (8, 65.0, Some(within)));
        // Nobody measured how logits are gathered.
        let logits = told.iter().find(|of| of.collective == Collective::AllGather).unwrap();
        assert_eq!(logits.within, None);
        let all: f64 = told.iter().map(|of| of.time.get()).sum();
        let expected = measured.expected_pass(&pass);
        assert!((all / expected.communication().get() - 1.0).abs() < 1e-9);
        assert_eq!(measured.bound_pass(&pass), linked.bound_pass(&pass));
    }
    // Of another number of ranks nothing is known.
    let fewer = System::new(llama_8b(), measured.device().clone(), deployment("TP4")).unwrap();
    assert!(fewer.collectives_of(&decode(64.0)).iter().all(|of| of.within.is_none()));
}

/// A device of which nobody knows a link has collectives all the same once they were measured.
#[test]
fn measured_collectives_need_no_link() {
    let bare = Device::new(
        "bare",
        Bytes::new(80e9),
        BytesPerSec::new(3e12),
        fizeau_core::FlopsPerSec::new(1e15),
    );
    let bare = bare.unwrap();
    let both = [measured(Collective::AllReduce, 8), measured(Collective::AllGather, 8)].concat();
    for (device, has) in [(bare.clone(), false), (with_measured(bare, &both), true)] {
        let system = System::new(llama_8b(), device, deployment("TP8")).unwrap();
        assert_eq!(system.expected_pass(&decode(1.0)).communication().get() > 0.0, has);
        assert_eq!(system.notes().iter().any(|note| note.contains("no link")), !has);
    }
}

/// Tokens on their way to experts and back, by an all-to-all that was measured.
#[test]
fn experts_exchange_by_what_was_measured() {
    let spread = deployment("DP8 EP8").with_expert_exchange(ExpertExchange::AllToAll);
    let device = with_measured(device(), &measured(Collective::AllToAll, 8));
    let system = System::new(known("qwen3-30b-a3b"), device, spread).unwrap();
    let told = system.collectives_of(&decode(64.0));
    assert!(!told.is_empty());
    for leg in told {
        assert_eq!((leg.collective, leg.ranks, leg.times), (Collective::AllToAll, 8, 48.0));
        assert!(leg.within.is_some() && leg.time.get() > 48.0 * 20e-6);
    }
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn more_tokens_take_longer(of in deployments(), sequences in 1.0_f64..500.0, more in 1.0_f64..10.0) {
        let system = System::new(llama_8b(), device(), of).unwrap();
        let few = system.expected_pass(&decode(sequences));
        let many = system.expected_pass(&decode(sequences * more));
        prop_assert!(many.communication() >= few.communication());
        prop_assert_eq!(many.collectives, few.collectives);
        prop_assert!(few.communication().get().is_finite());
    }

    /// Tokens of experts take the faster way if none is asked for, and any way takes longer for more tokens.
    #[test]
    fn the_faster_way_to_experts_is_taken(
        d in 1_u32..=6, t in 0_u32..=2, sequences in 1.0_f64..5000.0, more in 1.0_f64..10.0
    ) {
        let of = Deployment::SINGLE.with_tensor(1 << t).unwrap();
        let of = of.with_attention_groups(1 << d).unwrap().with_expert_groups(1 << d).unwrap();
        let time = |exchange, sequences| {
            expected(known("qwen3-30b-a3b"), of.with_expert_exchange(exchange), &decode(sequences))
                .communication()
        };
        let best = time(ExpertExchange::Fastest, sequences);
        let other = [ExpertExchange::AllToAll, ExpertExchange::AllGather].map(|way| time(way, sequences));
        prop_assert!(best <= other[0] && best <= other[1] && other.contains(&best));
        prop_assert!(time(ExpertExchange::Fastest, sequences * more) >= best);
    }

    /// Two half-batches hide the shorter of talking and computing, are not used where that is slower, and never beat
    /// the bound.
    #[test]
    fn two_batches_overlap_where_it_pays(d in 0_u32..=5, t in 0_u32..=3, tokens in 1.0_f64..20_000.0) {
        let of = Deployment::SINGLE.with_tensor(1 << t).unwrap();
        let of = of.with_attention_groups(1 << d).unwrap().with_expert_groups(1 << d).unwrap();
        let both = of.with_overlap(Overlap::TwoBatches);
        let [pass, half] = [tokens, tokens / 2.0].map(decode);
        let alone = expected(known("qwen3-30b-a3b"), of, &pass);
        let halved = expected(known("qwen3-30b-a3b"), of, &half);
        let system = System::new(known("qwen3-30b-a3b"), device(), both).unwrap();
        let time = system.expected_pass(&pass);
        let talks = halved.communication().get();
        let hidden = 2.0 * talks.max(halved.total.get() - talks);
        let wanted = hidden.min(alone.total.get());
        prop_assert!((time.total.get() / wanted - 1.0).abs() < 1e-9, "{time:?} {alone:?}");
        prop_assert!((time.binding.total().get() / wanted - 1.0).abs() < 1e-9, "{time:?}");
        prop_assert!(time.total >= system.bound_pass(&pass).total);
    }

    #[test]
    fn communication_only_adds(of in deployments(), sequences in 0.1_f64..500.0) {
        let system = System::new(llama_8b(), device(), of).unwrap();
        let pass = decode(sequences);
        let time = system.expected_pass(&pass);
        prop_assert!(time.total >= system.bound_pass(&pass).total);
        prop_assert!(time.communication() <= time.total);
        prop_assert_eq!(time.communication().get() > 0.0, of.devices_per_replica() > 1 &&
            (of.tensor() > 1 || of.pipeline() > 1));
    }
}
