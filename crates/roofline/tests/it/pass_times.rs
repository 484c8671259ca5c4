//! What one pass takes by either estimate, and loads of mean lengths.

use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_roofline::{
    ContextSpan, Deployment, Device, EstimateKind, Pass, RequestLengths, System, UniformLoad,
};
use proptest::prelude::*;

use crate::anything::systems;
use crate::{fixed, golden};

proptest! {
    #![proptest_config(fixed())]

    /// A pass carries a stage's share of a replica's sequences, and never less than one.
    #[test]
    fn a_decode_step_is_the_pass_of_one_stage(
        system in systems(), batch in prop_oneof![0.1..2.0_f64, 2.0..900.0], context in 1..9_000_u64,
    ) {
        let deployment = system.deployment();
        let ways = f64::from(deployment.replicas() * deployment.pipeline());
        let pass = Pass::decode((batch / ways).max(f64::min(batch, 1.0)), ContextSpan::at(context as f64));
        let step = |by| system.decode_step(by, batch, Tokens::new(context));
        prop_assert_eq!(step(EstimateKind::Bound), system.bound_pass(&pass));
        prop_assert_eq!(step(EstimateKind::Expected), system.expected_pass(&pass));
    }
}

/// Three ways that are not their own sum: a replica is one of 3, a stage one of 4.
#[test]
fn stages_and_replicas_share_a_batch() {
    let deployment = Deployment::SINGLE.with_replicas(3).unwrap().with_pipeline(4).unwrap();
    let device = Device::named("h100-sxm").unwrap().clone();
    let system = System::new(golden::model("llama-3.1-70b"), device, deployment).unwrap();
    let step = system.decode_step(EstimateKind::Bound, 120.0, Tokens::new(1_000));
    assert_eq!(step, system.bound_pass(&Pass::decode(10.0, ContextSpan::at(1_000.0))));
}

#[test]
fn a_load_of_mean_lengths_takes_requests() {
    let mut lengths = RequestLengths::for_model(&crate::llama_8b());
    assert_eq!(lengths.mean_load(NonZeroU64::MIN), None);
    lengths.add_cached(Tokens::new(100), Tokens::new(40), Tokens::new(10));
    lengths.add_cached(Tokens::new(200), Tokens::new(0), Tokens::new(31));
    let load = lengths.mean_load(NonZeroU64::MIN).unwrap();
    let mean = |a: u64, b: u64| Tokens::new((a + b).div_ceil(2));
    let expected = UniformLoad::new(mean(100, 200), mean(10, 31), NonZeroU64::MIN);
    assert_eq!(load, expected.with_cached(mean(40, 0)));
}
