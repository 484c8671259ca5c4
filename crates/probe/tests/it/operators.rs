//! Operators of models, carried out on the processor of this machine.

use std::num::NonZeroU64;

use fizeau_core::{Nanos, Tokens, Verdict};
use fizeau_probe::{
    Component, CpuBackend, Operation, ProbeBackend, ProbeDocument, Verification, model_trials,
};
use fizeau_roofline::{Deployment, Device, Model, PassPhase, System, UniformLoad};

/// Norms of queries and keys, and a gated block.
const DENSE: &str = r#"{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 64, "intermediate_size": 96,
    "head_dim": 16, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2, "vocab_size": 128,
    "tie_word_embeddings": false, "torch_dtype": "bfloat16"}"#;

/// Kimi delta attention, latent attention, experts.
const LINEAR: &str = r#"{"architectures": ["KimiLinearForCausalLM"], "model_type": "kimi_linear", "hidden_size": 64,
    "intermediate_size": 96, "first_k_dense_replace": 1, "head_dim": 16, "hidden_act": "silu", "kv_lora_rank": 32,
    "mla_use_nope": true, "model_max_length": 4096, "moe_intermediate_size": 16, "moe_layer_freq": 1,
    "num_attention_heads": 2, "num_key_value_heads": 2, "num_experts": 4, "num_experts_per_token": 2, "num_shared_experts": 1,
    "num_expert_group": 1, "topk_group": 1, "num_hidden_layers": 4, "num_nextn_predict_layers": 0, "q_lora_rank": null,
    "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16, "tie_word_embeddings": false, "vocab_size": 128,
    "dtype": "bfloat16", "linear_attn_config": {"full_attn_layers": [4], "kda_layers": [1, 2, 3], "head_dim": 16,
    "num_heads": 2, "short_conv_kernel_size": 4}}"#;

/// Mamba-2, attention, plain blocks.
const STATE_SPACE: &str = r#"{"architectures": ["NemotronHForCausalLM"], "model_type": "nemotron_h", "hidden_size": 64,
    "intermediate_size": 96, "hybrid_override_pattern": "M-M*", "num_hidden_layers": 4, "mamba_head_dim": 16,
    "mamba_num_heads": 4, "n_groups": 2, "ssm_state_size": 16, "conv_kernel": 4, "expand": 1, "chunk_size": 16,
    "mlp_hidden_act": "relu2", "attention_head_dim": 16, "num_attention_heads": 4, "num_key_value_heads": 2,
    "max_position_embeddings": 4096, "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 128}"#;

/// Each term of the roofline has a measured time, and each operation of it was verified.
#[test]
fn the_processor_carries_out_each_operator_and_is_right() {
    let load = UniformLoad::new(Tokens::new(48), Tokens::new(8), NonZeroU64::new(3).unwrap());
    let components = [Component::Memory, Component::Gemm, Component::Attention];
    for config in [DENSE, LINEAR, STATE_SPACE] {
        let model = Model::from_config_json(config).unwrap();
        let mut backend = CpuBackend::new();
        let trials =
            model_trials(&backend, &components, (&model, &Deployment::SINGLE), &load).unwrap();
        let of_model = trials.iter().filter(|trial| {
            matches!(
                trial.operation,
                Operation::Gemm { .. }
                    | Operation::Attention { .. }
                    | Operation::Recurrence { .. }
                    | Operation::Norm { .. }
            )
        });
        let mut seen = Vec::new();
        for trial in of_model {
            let row = backend.measure(trial, Nanos::from_millis(1)).unwrap();
            let is_right = matches!(row.verification, Verification::Right { .. });
            assert!(is_right, "{trial:?}: {:?}", row.verification);
            seen.push(row);
        }
        let document = ProbeDocument::new(backend.host(), backend.devices(), seen);
        let device = Device::named("h200-sxm").unwrap().clone();
        let system = System::new(model, device, Deployment::SINGLE).unwrap();
        for (phase, pass) in [
            (PassPhase::Prefill, system.prefill_pass(&load)),
            (PassPhase::Decode, system.decode_pass(&load, 3.0)),
        ] {
            let terms = document.terms(&document.devices[0], &system, (phase, &pass));
            assert!(terms.iter().any(|term| term.part == "vectors"), "{terms:?}");
            for term in terms {
                assert!(term.measured().is_some(), "{phase:?} {term:?}");
                let is_believed =
                    |of: &fizeau_probe::MeasuredOperator| of.verdict != Verdict::Invalid;
                assert!(term.operators.iter().all(is_believed), "{term:?}");
            }
        }
    }
}
