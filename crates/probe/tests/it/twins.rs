//! Operators of the roofline beside what was measured of them.

use std::num::NonZeroU64;

use fizeau_core::{Millis, Nanos, Tokens};
use fizeau_probe::{
    AttentionPhase, AttentionShape, CollectiveOp, CollectiveShape, Component, DeviceFacts, Dtype,
    GemmShape, Measurement, MemoryKernel, Operation, ProbeBackend, ProbeDocument, ProbeHost,
    ProbeTrial, Provenance, Timing, Unavailable, model_trials,
};
use fizeau_roofline::{Deployment, Device, KnownModel, PassPhase, System, UniformLoad};

/// A GPU, and others to tell something, on which all takes a millisecond.
struct Fake;

impl ProbeBackend for Fake {
    fn host(&self) -> ProbeHost {
        ProbeHost::named("node")
    }

    fn devices(&self) -> Vec<DeviceFacts> {
        vec![DeviceFacts::new("gpu0", "a GPU").specified_by(device())]
    }

    fn trials(&self, component: Component) -> Vec<ProbeTrial> {
        let on = |operation, dtype| ProbeTrial::new(operation, dtype, 1);
        let shape = GemmShape::new(8, 8, 8);
        let product = |dtype| on(Operation::Gemm { shape, output: dtype, role: None }, dtype);
        match component {
            Component::Memory => {
                let operation = Operation::Memory {
                    kernel: MemoryKernel::Read,
                    stores: None,
                    working_set: None,
                };
                vec![on(operation, Dtype::F32)]
            }
            Component::Gemm => vec![product(Dtype::Bf16), product(Dtype::Fp8E4m3)],
            Component::Attention => {
                let mut shape = attention();
                shape.phase = AttentionPhase::Decode;
                vec![on(Operation::Attention { shape, role: None }, Dtype::Bf16)]
            }
            Component::Collective => {
                let message = fizeau_core::Bytes::new(1024.0);
                let shape = CollectiveShape::new(CollectiveOp::AllReduce, 2, message);
                vec![on(Operation::Collective { shape, role: None }, Dtype::Bf16)]
            }
            _ => Vec::new(),
        }
    }

    fn measure(&mut self, trial: &ProbeTrial, _: Nanos) -> Result<Measurement, Unavailable> {
        let timing = Timing::of_samples(vec![Millis::new(1.0); 8], 1);
        let operation = trial.operation.clone();
        let mut seen = Measurement::new("gpu0", operation, timing, Provenance::native());
        seen.dtype = Some(trial.dtype);
        Ok(seen)
    }
}

/// Some attention, as a document has it.
fn attention() -> AttentionShape {
    let text = r#"{"phase": "prefill", "batch": 1, "query_heads": 8, "kv_heads": 8, "key_dim": 64, "value_dim": 64,
        "query_len": 8, "kv_len": 8, "causal": true, "shared_kv": false}"#;
    serde_json::from_str(text).unwrap()
}

fn device() -> &'static Device {
    Device::named("h200-sxm").unwrap()
}

fn load() -> UniformLoad {
    UniformLoad::new(Tokens::new(1000), Tokens::new(100), NonZeroU64::new(60).unwrap())
}

/// All that a model asks for in that deployment, measured.
fn measured(model: &fizeau_roofline::Model, spread: &Deployment) -> ProbeDocument {
    let parts = [Component::Memory, Component::Gemm, Component::Attention, Component::Collective];
    let trials = model_trials(&Fake, &parts, (model, spread), &load()).unwrap();
    let rows = trials.iter().map(|trial| Fake.measure(trial, Nanos::ZERO).unwrap());
    ProbeDocument::new(Fake.host(), Fake.devices(), rows.collect())
}

fn spreads() -> Vec<Deployment> {
    let one = Deployment::SINGLE;
    let groups = one.with_attention_groups(8).unwrap();
    vec![
        one,
        one.with_tensor(8).unwrap(),
        one.with_tensor(4).unwrap().with_pipeline(2).unwrap(),
        one.with_replicas(3).unwrap(),
        groups.with_expert_groups(8).unwrap(),
        groups.with_tensor(2).unwrap(),
    ]
}

/// What a probe of a model measures is what the roofline's operators are found by, of every known model however it is spread.
#[test]
fn each_operator_has_its_twin_in_a_probe_of_the_same_deployment() {
    for (known, spread) in
        KnownModel::all().iter().flat_map(|known| spreads().into_iter().map(move |of| (known, of)))
    {
        let model = known.model().unwrap();
        let Ok(system) = System::new(model.clone(), device().clone(), spread) else { continue };
        let document = measured(&model, &spread);
        let facts = document.facts_of(device()).unwrap();
        let passes = [
            (PassPhase::Prefill, system.prefill_pass(&load())),
            (PassPhase::Decode, system.decode_pass(&load(), 60.0)),
        ];
        for (phase, pass) in passes {
            for term in document.terms(facts, &system, (phase, &pass)) {
                let name = known.name;
                assert_eq!(term.missing, [""; 0], "{name} {spread} {phase:?}: {term:?}");
                let count: u64 = term.operators.iter().map(|of| of.count).sum();
                if let Some(time) = term.measured() {
                    assert!((time.get() / (count as f64 * 1e-3) - 1.0).abs() < 1e-9, "{term:?}");
                    let share = term.share_of_bound();
                    assert_eq!(share, term.bound.map(|bound| bound / time), "{term:?}");
                }
            }
        }
    }
}

#[test]
fn what_has_no_twin_is_named_and_gives_no_time() {
    let model = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    let system = System::new(model.clone(), device().clone(), Deployment::SINGLE).unwrap();
    let whole = measured(&model, &Deployment::SINGLE);
    let is_down = |row: &Measurement| matches!(&row.operation, Operation::Gemm { role: Some(role), .. } if role == "down");
    let rows = whole.rows.into_iter().map(|row| row.measured).filter(|row| !is_down(row));
    let document = ProbeDocument::new(Fake.host(), Fake.devices(), rows.collect());
    let facts = document.facts_of(device()).unwrap();
    let step = system.decode_pass(&load(), 60.0);
    let terms = document.terms(facts, &system, (PassPhase::Decode, &step));
    let of = |part: &str| terms.iter().find(|term| term.part == part).unwrap();
    assert_eq!(of("dense").measured(), None);
    assert_eq!(of("dense").missing.len(), 1);
    assert!(
        of("dense").missing[0].starts_with("down, gemm 60 x 4096 x 14336"),
        "{:?}",
        of("dense")
    );
    assert_eq!(of("dense").operators.len(), 1, "gate and up stand");
    assert!(of("projections").measured().is_some());
    assert!(document.facts_of(Device::named("l4").unwrap()).is_none(), "another device");
}
