//! What the devices of a deployment tell each other in a pass.

use fizeau_core::{BytesPerSec, Seconds};
use fizeau_roofline::{
    Deployment, Device, Link, Model, Pass, PassTime, Reduces, Span, System, Topology,
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
        topology: Topology::Switch { domain, reduces: Reduces::AtEndpoints },
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
    Pass::decode(sequences, Span::at(1000.0))
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

fn deployments() -> impl Strategy<Value = Deployment> {
    (0_u32..=4, 1_u32..=8, 0_u32..=4).prop_map(|(t, p, d)| {
        let of = Deployment::SINGLE.with_tensor(1 << t).unwrap();
        of.with_pipeline(p).unwrap().with_attention_groups(1 << d).unwrap()
    })
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
