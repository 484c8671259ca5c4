use std::num::NonZeroU64;

use fizeau_core::{Nanos, Tokens};
use fizeau_roofline::{KnownModel, OperatorKind};

use super::*;
use crate::host::ProbeHost;
use crate::measurement::{AttentionShape, GemmShape, Measurement};
use crate::trial::Unavailable;

fn system(name: &str, deployment: Deployment) -> System {
    let model = KnownModel::named(name).unwrap().model().unwrap();
    System::new(model, Device::named("h200-sxm").unwrap().clone(), deployment).unwrap()
}

fn operators(name: &str, ranks: u32, pass: ModelPass) -> Vec<ModelOperator> {
    let deployment = Deployment::SINGLE.with_tensor(ranks).unwrap();
    model_operators(&system(name, deployment), pass)
}

fn product(all: &[ModelOperator], role: &str) -> GemmShape {
    let found = all.iter().find(|operator| operator.role == role).unwrap();
    let Operation::Gemm { shape, .. } = &found.operation else { panic!("{found:?}") };
    *shape
}

fn attention(all: &[ModelOperator]) -> AttentionShape {
    let shape = all.iter().find_map(|operator| match &operator.operation {
        Operation::Attention { shape, .. } => Some(*shape),
        _ => None,
    });
    shape.unwrap()
}

fn weights(operators: &[ModelOperator]) -> f64 {
    let of = |operator: &ModelOperator| match &operator.operation {
        Operation::Gemm { shape, .. } => (operator.count * shape.batch * shape.n * shape.k) as f64,
        _ => 0.0,
    };
    operators.iter().map(of).sum()
}

#[test]
fn the_products_of_a_dense_model_hold_all_of_its_matrices() {
    for (name, streamed) in [("llama-3.1-8b", 7.5047e9), ("qwen3-32b", 31.9836e9)] {
        let found = weights(&operators(name, 1, ModelPass::decode(8, 1024)));
        assert!((found / streamed - 1.0).abs() < 1e-3, "{name}: {found}");
        let eighth = weights(&operators(name, 8, ModelPass::decode(8, 1024)));
        assert!((8.0 * eighth / found - 1.0).abs() < 1e-3, "{name}: {eighth}");
    }
}

#[test]
fn a_mixture_touches_the_experts_that_its_tokens_pick() {
    // 128 experts of which a token uses 8: 51.6 of them for 8 tokens, worked by hand.
    let all = operators("qwen3-30b-a3b", 1, ModelPass::decode(8, 1024));
    let shape = product(&all, "experts_up");
    assert_eq!((shape.batch, shape.m), (52, 2));
}

#[test]
fn latent_attention_is_absorbed_in_a_decode_step_alone() {
    let roles = |pass| -> Vec<String> {
        operators("deepseek-v3", 8, pass).into_iter().map(|operator| operator.role).collect()
    };
    assert!(roles(ModelPass::decode(64, 4096)).contains(&"absorb_keys".to_owned()));
    assert!(roles(ModelPass::prefill(4096)).contains(&"kv_up".to_owned()));
    assert!(roles(ModelPass::prefill(4096)).contains(&"all_reduce".to_owned()));
}

/// Benchmarks of decode steps name no mask, since a single query sees all keys with one and without. Of several it matters.
#[test]
fn a_single_query_has_no_mask() {
    for (tokens, is_twin) in [(1, true), (4, false)] {
        let mut pass = ModelPass::decode(8, 1024);
        pass.tokens = tokens;
        let all = operators("llama-3.1-8b", 1, pass);
        let ours = all.iter().find(|of| matches!(of.operation, Operation::Attention { .. }));
        let mut theirs = attention(&all);
        (theirs.causal, theirs.page_tokens) = (false, Some(64));
        let theirs = Operation::Attention { shape: theirs, role: None };
        assert_eq!(ours.unwrap().is_measured_by(&theirs), is_twin, "{tokens}");
    }
}

/// Eight attention groups of one device that share the experts in eight groups: attention works on an eighth of the sequences with all
/// heads, experts on all tokens with an eighth of the experts.
#[test]
fn attention_groups_share_sequences_and_expert_groups_share_experts() {
    let pass = ModelPass::decode(64, 1024);
    let alone = operators("qwen3-30b-a3b", 1, pass);
    let spread =
        Deployment::SINGLE.with_attention_groups(8).unwrap().with_expert_groups(8).unwrap();
    let shared = model_operators(&system("qwen3-30b-a3b", spread), pass);
    let (one, eighth) = (product(&alone, "qkv"), product(&shared, "qkv"));
    assert_eq!((eighth.m, eighth.n, eighth.k), (one.m / 8, one.n, one.k));
    assert_eq!((attention(&shared).batch, attention(&alone).batch), (8, 64));
    let (all, some) = (product(&alone, "experts_up"), product(&shared, "experts_up"));
    assert_eq!((some.n, some.k), (all.n, all.k), "an expert is whole");
    assert!(all.batch > 120 && some.batch == 16, "{all:?} {some:?}");
    let told = |of: &[ModelOperator]| of.iter().filter(|of| of.part == TermKind::LinkBytes).count();
    assert_eq!(told(&alone), 0);
    assert!(told(&shared) > 0);
}

/// Every term of the roofline has an operator, and every operator but norms a term.
#[test]
fn each_term_of_the_roofline_is_made_of_operators() {
    let spread = Deployment::SINGLE.with_tensor(8).unwrap();
    let load = UniformLoad::new(Tokens::new(1024), Tokens::new(128), NonZeroU64::new(64).unwrap());
    for known in KnownModel::all() {
        let name = known.name;
        let system = system(name, spread);
        for (phase, pass) in [
            (PassPhase::Prefill, system.prefill_pass(&load)),
            (PassPhase::Decode, system.decode_pass(&load, 64.0)),
        ] {
            let operators = model_operators(&system, ModelPass::of(phase, &pass));
            let terms = system.pass_terms(phase, &pass);
            for term in &terms {
                let has = |part| operators.iter().any(|operator| operator.part == part);
                let is_link = matches!(term.part, TermKind::LinkBytes | TermKind::LinkHops);
                let part = if is_link { TermKind::LinkBytes } else { term.part };
                assert!(has(part), "{name}: {part:?}");
            }
            for operator in &operators {
                // Gains of norms may go into the matrices behind them.
                let is_norm = operator.part == TermKind::Operator(OperatorKind::Vectors);
                assert!(
                    is_norm || terms.iter().any(|term| term.part == operator.part),
                    "{name}: {operator:?}"
                );
            }
        }
    }
}

#[test]
fn passes_that_hardly_differ_run_the_same_shapes() {
    let step = |from, to, sequences| {
        ModelPass::of(PassPhase::Decode, &Pass::decode(sequences, ContextSpan::between(from, to)))
    };
    assert_eq!(step(1025.0, 1151.0, 64.0), ModelPass::decode(64, 1088));
    assert_eq!(step(1025.0, 1155.0, 63.2), ModelPass::decode(64, 1088));
    let cached = ModelPass::of(PassPhase::Prefill, &Pass::prefill(1024.0, 512.0));
    assert_eq!((cached.tokens, cached.context), (512, 1024));
    assert_eq!(ModelPass::of(PassPhase::Prefill, &cached.in_the_roofline()), cached);
}

#[test]
fn formats_decide_what_is_multiplied() {
    let model = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    let model = model.with_weights(&"fp8".parse().unwrap());
    let device = Device::named("h200-sxm").unwrap().clone();
    let system = System::new(model, device, Deployment::SINGLE).unwrap();
    let all = model_operators(&system, ModelPass::decode(8, 1024));
    let of = |role: &str| all.iter().find(|operator| operator.role == role).unwrap();
    let (gpu, cpu) = (DeviceFacts::new("gpu0", "a GPU"), DeviceFacts::new("cpu", "a processor"));
    assert_eq!(of("qkv").dtypes(&gpu), [Dtype::Fp8E4m3, Dtype::Bf16]);
    assert_eq!(of("attention").dtypes(&gpu), [Dtype::Bf16; 2], "the cache is as it was");
    assert_eq!(of("qkv").dtypes(&cpu), [Dtype::F32, Dtype::Bf16]);
}

/// A processor with a library beside its own loops, and a GPU; neither measures anything.
struct Both;

impl ProbeBackend for Both {
    fn host(&self) -> ProbeHost {
        ProbeHost::named("node")
    }

    fn devices(&self) -> Vec<DeviceFacts> {
        vec![DeviceFacts::new("cpu", "a processor"), DeviceFacts::new("gpu0", "a GPU")]
    }

    fn trials(&self, component: Component) -> Vec<ProbeTrial> {
        let square = |dtype| {
            let shape = GemmShape::new(8, 8, 8);
            ProbeTrial::new(Operation::Gemm { shape, output: dtype, role: None }, dtype, 1)
        };
        let on =
            |name: &str, trial: ProbeTrial| ProbeTrial { device: Some(name.to_owned()), ..trial };
        let by = |way: &str, trial: ProbeTrial| ProbeTrial {
            instructions: Some(way.to_owned()),
            ..trial
        };
        if component != Component::Gemm {
            return Vec::new();
        }
        vec![
            on("cpu", square(Dtype::F32)),
            on("cpu", ProbeTrial { threads: 4, ..square(Dtype::F32) }),
            on("cpu", by("library", square(Dtype::F32))),
            on("gpu0", square(Dtype::Bf16)),
            on("gpu0", square(Dtype::Fp8E4m3)),
        ]
    }

    fn measure(&mut self, _: &ProbeTrial, _: Nanos) -> Result<Measurement, Unavailable> {
        Err(Unavailable::because("it is none"))
    }
}

#[test]
fn each_device_is_asked_in_its_own_ways() {
    let model = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    let load = UniformLoad::new(Tokens::new(64), Tokens::new(8), NonZeroU64::new(4).unwrap());
    let asked = |model: &Model| {
        let parts = [Component::Gemm, Component::Attention];
        let trials = model_trials(&Both, &parts, (model, &Deployment::SINGLE), &load).unwrap();
        let is_qkv = |trial: &ProbeTrial| matches!(&trial.operation, Operation::Gemm { role: Some(role), .. } if role == "qkv");
        let ways = trials
            .into_iter()
            .filter(is_qkv)
            .map(|trial| (trial.device.unwrap(), trial.dtype, trial.instructions, trial.threads));
        ways.collect::<Vec<_>>()
    };
    let library = Some("library".to_owned());
    let cpu = || "cpu".to_owned();
    let gpu = |dtype| ("gpu0".to_owned(), dtype, None, 1);
    let pass = [(cpu(), Dtype::F32, None, 4), (cpu(), Dtype::F32, library, 1), gpu(Dtype::Bf16)];
    // A decode step and a prefill.
    assert_eq!(asked(&model), [pass.clone(), pass].concat());
    let narrow = asked(&model.with_weights(&"fp8".parse().unwrap()));
    assert_eq!(narrow.iter().filter(|way| **way == gpu(Dtype::Fp8E4m3)).count(), 2);
}
