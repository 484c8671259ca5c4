//! Weights as they are stored, and as somebody asks for them: sizes of published files, and choices.

use fizeau_roofline::{Format, Model, TensorClass, WeightChoice};

use crate::llama_8b;
use crate::quantization::{check, check_all, known, read};

/// Sizes of the published files: `openai/gpt-oss-*` (65.25 GB, 12.82 GiB), `deepseek-ai/DeepSeek-V3`
/// (688.6 GB with its MTP module, which has an embedding and a head of its own).
#[test]
fn weights_are_as_large_as_the_published_files() {
    let gigabytes = |model: &Model| model.weight_bytes().get() / 1e9;
    let large = gigabytes(&known("gpt-oss-120b"));
    assert!((large / 65.25 - 1.0).abs() < 0.001, "{large}");
    let small = gigabytes(&known("gpt-oss-20b")) * 1e9 / (1_u64 << 30) as f64;
    assert!((small / 12.82 - 1.0).abs() < 0.001, "{small}");
    let deepseek = known("deepseek-v3");
    let tables = 2.0 * 2.0 * (deepseek.hidden * deepseek.vocabulary) as f64;
    let draft = deepseek.parameters().draft as f64 * Format::FP8_BLOCK.element_size().get();
    let file = gigabytes(&deepseek) + (draft + tables) / 1e9;
    assert!((file / 688.6 - 1.0).abs() < 0.002, "{file}");
}

/// Bits per weight of Llama-3.1-8B in llama.cpp's own table (`tools/quantize/README.md`). Norms are float32 there.
#[test]
fn file_types_take_what_llama_cpp_says() {
    for (kind, bits) in [
        ("Q3_K_S", 3.6429),
        ("Q3_K_M", 3.9960),
        ("Q3_K_L", 4.2979),
        ("Q4_K_S", 4.6672),
        ("Q4_K_M", 4.8944),
        ("Q5_K_S", 5.5704),
        ("Q5_K_M", 5.7036),
        ("Q6_K", 6.5633),
        ("Q8_0", 8.5008),
        ("Q2_K", 3.1593),
        ("IQ4_XS", 4.4597),
        ("IQ4_NL", 4.6818),
    ] {
        let choice: WeightChoice = kind.parse().unwrap();
        let model = llama_8b().with_weights(&choice);
        let found = model.weight_bytes().get() * 8.0 / model.parameters().total as f64;
        assert!((found - bits).abs() < 0.001, "{kind}: {found:.4} for {bits}");
        assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    }
}

/// 4.92 GB: `Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf`, of which some 8 MB are the tokenizer.
#[test]
fn a_gguf_file_has_the_published_size() {
    let model = llama_8b().with_weights(&WeightChoice::file("q4_k_m".parse().unwrap()));
    let gigabytes = model.weight_bytes().get() / 1e9;
    assert!((4.91..4.92).contains(&gigabytes), "{gigabytes}");
}

#[test]
fn a_word_quantises_the_layers_alone() {
    let model = llama_8b().with_weights(&"fp8".parse().unwrap());
    for tensors in model.tensors() {
        let expected = match tensors.class {
            TensorClass::Attention | TensorClass::Dense => Format::Fp8,
            _ => Format::Bf16,
        };
        assert_eq!(tensors.format, expected, "{}", tensors.class);
    }
    let widened = model.with_weights(&"bf16".parse().unwrap());
    assert_eq!(widened.weight_bytes(), llama_8b().weight_bytes());
}

#[test]
fn a_class_by_name_holds() {
    let choice: WeightChoice = "fp8, head=nvfp4, dense=int4".parse().unwrap();
    let model = llama_8b().with_weights(&choice);
    let format = |class| model.tensors().into_iter().find(|t| t.class == class).unwrap().format;
    assert_eq!(format(TensorClass::Attention), Format::Fp8);
    assert_eq!(format(TensorClass::Dense), Format::Int { bits: 4, group: 128 });
    assert_eq!(format(TensorClass::Head), Format::Nvfp4);
    assert_eq!(format(TensorClass::Embedding), Format::Bf16);
}

#[test]
fn a_choice_that_is_not_understood_says_why() {
    for (text, says) in [
        ("fp9", "\"fp9\""),
        ("", "\"\""),
        ("attn=fp8", "\"attn\""),
        ("attention=", "\"\""),
        ("fp8,bf16", "\"bf16\""),
        ("fp4", "\"fp4\" alone: there are nvfp4 and mxfp4"),
        ("head=fp8,head=bf16", "\"head=bf16\""),
    ] {
        let message = text.parse::<WeightChoice>().unwrap_err().to_string();
        assert!(message.contains(says) && !message.contains('\n'), "{message}");
    }
}

#[test]
fn a_word_changes_what_the_checkpoint_quantised() {
    let with = |name: &str, word: &str| known(name).with_weights(&word.parse().unwrap());
    // A narrower word takes what was quantised, and leaves the rest.
    let model = with("deepseek-v3", "nvfp4");
    check_all(&model, ["nvfp4", "nvfp4", "bf16", "bf16"]);
    check(&model, TensorClass::Experts, "nvfp4");
    // The same width again changes nothing, blocks and all.
    assert_eq!(with("deepseek-v3", "fp8"), known("deepseek-v3"));
    // The published 4-bit checkpoint is meant, and a warning says what it really has.
    for word in ["nvfp4", "fp8"] {
        let model = with("gpt-oss-120b", word);
        assert_eq!(model.tensors(), known("gpt-oss-120b").tensors());
        assert!(model.warnings.iter().any(|warning| warning.contains("mxfp4")), "{word}");
    }
    assert_eq!(with("gpt-oss-120b", "mxfp4"), known("gpt-oss-120b"));
    // A class by name holds all the same.
    check(&with("gpt-oss-120b", "experts=nvfp4"), TensorClass::Experts, "nvfp4");
    check(&with("gpt-oss-120b", "bf16"), TensorClass::Experts, "bf16");
}

/// FlashMLA's fp8 layout for sparse attention, and fp8 without scales where nothing picks tokens.
#[test]
fn latents_in_fp8_are_laid_out_by_their_kernels() {
    let per_layer = |name: &str, format| {
        let model = known(name).with_kv_cache(format);
        model.kv_bytes_per_token().get() / 61.0
    };
    assert_eq!(per_layer("deepseek-v3", Format::Bf16), 2.0 * 576.0);
    assert_eq!(per_layer("deepseek-v3", Format::Fp8), 576.0);
    assert_eq!(per_layer("deepseek-v3.2", Format::Bf16), 2.0 * (576.0 + 128.0));
    assert_eq!(per_layer("deepseek-v3.2", Format::Fp8), 656.0 + 132.0);
}

/// One table cannot be stored in two ways.
#[test]
fn a_tied_head_is_stored_as_the_embedding() {
    let config = serde_json::json!({"quant_method": "modelopt", "quant_algo": "FP8"});
    let model = read("qwen3-0.6b", config);
    check(&model, TensorClass::Embedding, "bf16");
    assert_eq!(model.head_format(), Format::Bf16);
    let chosen = known("qwen3-0.6b").with_weights(&"fp8,head=fp8".parse().unwrap());
    check(&chosen, TensorClass::Embedding, "fp8");
}

#[test]
fn a_class_that_the_model_has_not_is_named() {
    let check = |text: &str, model: &Model| text.parse::<WeightChoice>().unwrap().check(model);
    let error = check("experts=fp8", &llama_8b()).unwrap_err().to_string();
    assert_eq!(error, "the model has no weights of the class experts");
    assert_eq!(check("fp8,head=fp8,dense=bf16", &llama_8b()), Ok(()));
    assert_eq!(check("experts=fp8,router=fp8", &known("gpt-oss-120b")), Ok(()));
}
