//! Formats: what an element takes, which arithmetic works on it, and names.

use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec};
use fizeau_roofline::{
    Activations, Device, FileType, Format, GgmlType, MathType, Pass, WeightChoice,
};
use proptest::prelude::*;

use crate::fixed;

#[test]
fn bits_per_element_are_those_of_the_specifications() {
    for (name, bits) in [
        ("f32", 32.0),
        ("bf16", 16.0),
        ("fp8", 8.0),
        // A float32 scale for each 128 x 128 (DeepSeek-V3, arXiv 2412.19437).
        ("fp8-block", 8.0 + 4.0 * 8.0 / 16_384.0),
        ("int8", 8.0),
        // OCP Microscaling Formats 1.0: an 8-bit scale for each 32.
        ("mxfp8", 8.25),
        ("mxfp6", 6.25),
        ("mxfp4", 4.25),
        // NVIDIA: an fp8 scale for each 16.
        ("nvfp4", 4.5),
        // A 16-bit scale for each 128, and AWQ's 4-bit zero point.
        ("int4-g128", 4.125),
        ("awq", 4.156_25),
        ("int8-channel", 8.0),
        // MLX: a 16-bit scale and a 16-bit bias for each 64.
        ("int4-g64-bias", 4.5),
        // bitsandbytes; QLoRA's double quantisation saves 0.373 bits (arXiv 2305.14314).
        ("nf4", 4.5),
        ("nf4-double", 4.5 - 0.373),
        // ggml-common.h.
        ("q8_0", 8.5),
        ("q6_k", 6.5625),
        ("q5_k", 5.5),
        ("q4_k", 4.5),
        ("q3_k", 3.4375),
        ("q2_k", 2.625),
        ("iq4_xs", 4.25),
        ("iq1_s", 1.5625),
    ] {
        let format: Format = name.parse().unwrap();
        assert!((format.bits_per_element() - bits).abs() < 1e-4, "{name}: {format:?}");
        let bytes = format.element_size().get();
        assert!((bytes - bits / 8.0).abs() < 1e-4, "{name}: {bytes}");
    }
}

#[test]
fn a_gguf_block_holds_its_values_and_little_more() {
    for kind in GgmlType::all() {
        let format = Format::Ggml(kind);
        let (values, all) = (f64::from(format.value_bits()), format.bits_per_element());
        assert!(values <= all && all < values + 1.0, "{kind:?}");
    }
}

#[test]
fn names_are_forgiving() {
    for (written, read) in [
        ("FP16", "bf16"),
        ("f16", "bf16"),
        ("BFloat16", "bf16"),
        (" fp8_e4m3 ", "fp8"),
        ("FP8_BLOCK", "fp8-128x128"),
        ("w8a8", "int8"),
        ("W4A16", "int4-g128"),
        ("int4", "int4-g128"),
        ("GPTQ", "int4-g128"),
        ("AWQ", "int4-g128-zp"),
        ("w8a16", "int8-channel"),
        ("INT3_G64_ZP", "int3-g64-zp"),
        ("Q4_K", "q4_k"),
        ("iq4-xs", "iq4_xs"),
    ] {
        assert_eq!(written.parse::<Format>().unwrap().to_string(), read, "{written}");
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    for name in
        ["", "fp", "fp4", "int9", "int4-g0", "int4-g", "int4-g+8", "fp8-0x1", "q4_k_m", "Q9"]
    {
        let message = name.parse::<Format>().unwrap_err().to_string();
        assert!(message.contains(&format!("\"{name}\"")), "{message}");
        assert!(message.contains("nvfp4") && !message.contains('\n'), "{message}");
    }
    let long = "x".repeat(10_000).parse::<Format>().unwrap_err();
    assert!(long.to_string().len() < 400);
}

/// Every format that has a name of its own.
fn any_format() -> impl Strategy<Value = Format> {
    let plain = [
        Format::F32,
        Format::Bf16,
        Format::Fp8,
        Format::Mxfp8,
        Format::Mxfp6,
        Format::Mxfp4,
        Format::Nvfp4,
        Format::Int8,
        Format::Nf4,
        Format::Nf4Double,
    ];
    let ggml: Vec<GgmlType> = GgmlType::all().collect();
    let activations = proptest::sample::select(Activations::ALL.to_vec());
    let int = (2_u8..=8, 0_u32..300).prop_map(|(bits, group)| Format::Int { bits, group });
    let stored = prop_oneof![proptest::sample::select(plain.to_vec()), int];
    prop_oneof![
        (stored, activations)
            .prop_map(|(stored, activations)| stored.with_activations(activations)),
        proptest::sample::select(plain.to_vec()),
        proptest::sample::select(ggml).prop_map(Format::Ggml),
        (1_u32..=65_536, 1_u32..=65_536)
            .prop_map(|(rows, columns)| Format::Fp8Blocks { rows, columns }),
        (2_u8..=8, 0_u32..300).prop_map(|(bits, group)| Format::Int { bits, group }),
        (2_u8..=8, 0_u32..300).prop_map(|(bits, group)| Format::IntZero { bits, group }),
        (2_u8..=8, 0_u32..300).prop_map(|(bits, group)| Format::IntBias { bits, group }),
    ]
}

/// A device that has the units which `has` says, each with a rate of its own.
fn device(has: [bool; 3]) -> Device {
    let (memory, bandwidth) = (Bytes::new(80e9), BytesPerSec::new(3e12));
    let device = Device::new("made up", memory, bandwidth, FlopsPerSec::new(1e15)).unwrap();
    let kinds = [(MathType::Fp8, 2e15), (MathType::Fp4, 4e15), (MathType::Int8, 2e15)];
    kinds.into_iter().zip(has).filter(|pair| pair.1).fold(device, |device, ((math, rate), _)| {
        device.with_rate(math, FlopsPerSec::new(rate)).unwrap()
    })
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn a_name_reads_back_as_the_same_format(format in any_format()) {
        let name = format.to_string();
        prop_assert_eq!(name.parse::<Format>().unwrap(), format);
        prop_assert_eq!(name.to_uppercase().parse::<Format>().unwrap(), format);
    }

    #[test]
    fn any_text_is_a_format_or_an_error(text in ".{0,40}") {
        let _ = text.parse::<Format>();
        let _ = text.parse::<WeightChoice>();
        let _ = text.parse::<FileType>();
    }

    /// The values alone take no more than the format; scales add less than a byte.
    #[test]
    fn a_format_takes_its_values_and_some_scales(format in any_format()) {
        let bits = format.bits_per_element();
        prop_assert!(f64::from(format.value_bits()) <= bits && bits.is_finite());
    }

    /// What engines use is never faster than what a bound assumes, and both are arithmetic that the device has.
    #[test]
    fn usual_arithmetic_is_within_the_fastest(format in any_format(), has in any::<[bool; 3]>()) {
        let device = device(has);
        let usual = device.dense_rate(format.math_on(&device));
        let fastest = device.dense_rate(format.fastest_math_on(&device));
        prop_assert!(usual.is_some() && fastest.is_some());
        prop_assert!(usual <= fastest, "{format}: {usual:?} {fastest:?}");
    }

    /// More units never make the fastest slower.
    #[test]
    fn more_units_are_never_slower(format in any_format(), has in any::<[bool; 3]>(), more in 0_usize..3) {
        let mut richer = has;
        richer[more] = true;
        let (poor, rich) = (device(has), device(richer));
        let rate = |device: &Device| device.dense_rate(format.fastest_math_on(device)).unwrap().get();
        prop_assert!(rate(&poor) <= rate(&rich));
    }

    /// A blend lies between its parts, is the parts' sum, and does not mind their order.
    #[test]
    fn a_blend_is_the_mean(parts in proptest::collection::vec((any_format(), 1.0_f64..1e9), 1..6)) {
        let blend = Format::blend(&parts);
        let elements: f64 = parts.iter().map(|part| part.1).sum();
        let bits: f64 = parts.iter().map(|part| part.0.bits_per_element() * part.1).sum();
        let mean = bits / elements;
        prop_assert!((blend.bits_per_element() - mean).abs() < 1e-6 * mean);
        let mut turned = parts.clone();
        turned.reverse();
        let other = Format::blend(&turned);
        prop_assert!((other.bits_per_element() - mean).abs() < 1e-6 * mean);
        let alike = parts.iter().all(|part| part.0 == parts[0].0);
        prop_assert_eq!(alike, blend == parts[0].0);
    }
}

#[test]
fn weights_that_a_device_cannot_multiply_are_widened() {
    let on = |name: &str, format: Format| {
        let device = Device::named(name).unwrap();
        (format.math_on(device), format.fastest_math_on(device))
    };
    use MathType::{Bf16, Fp4, Fp8, Int8};
    // vLLM's documentation: fp8 on Ampere and MXFP4 and NVFP4 on Hopper run through Marlin, in 16 bits.
    assert_eq!(on("a100-sxm-80", Format::Fp8), (Bf16, Bf16));
    assert_eq!(on("h100-sxm", Format::Fp8), (Fp8, Fp8));
    assert_eq!(on("h100-sxm", Format::Mxfp4), (Bf16, Fp8));
    assert_eq!(on("h100-sxm", Format::Nvfp4), (Bf16, Fp8));
    assert_eq!(on("b200-sxm", Format::Mxfp4), (Fp8, Fp4));
    assert_eq!(on("b200-sxm", Format::Nvfp4), (Fp4, Fp4));
    assert_eq!(on("h100-sxm", Format::Bf16), (Bf16, Bf16));
    assert_eq!(on("h100-sxm", Format::Int { bits: 4, group: 128 }), (Bf16, Fp8));
    assert_eq!(on("a100-sxm-80", Format::Int { bits: 4, group: 128 }), (Bf16, Int8));
    assert_eq!(on("a100-sxm-80", Format::Int8), (Int8, Int8));
    // Of weights alone, and beside activations in fewer bits than engines choose: what a bound assumes is the same.
    let beside = |name, format: Format, activations| on(name, format.with_activations(activations));
    let four = Format::Int { bits: 4, group: 128 };
    assert_eq!(beside("b200-sxm", Format::Nvfp4, Activations::A16), (Bf16, Fp4));
    assert_eq!(beside("b200-sxm", Format::Nvfp4, Activations::A8), (Fp8, Fp4));
    assert_eq!(beside("h100-sxm", Format::Fp8, Activations::A16), (Bf16, Fp8));
    assert_eq!(beside("h100-sxm", four, Activations::A8), (Fp8, Fp8));
    assert_eq!(beside("mi355x", Format::Mxfp4, Activations::A4), (Fp4, Fp4));
    assert_eq!(beside("mi355x", Format::Mxfp4, Activations::A8), on("mi355x", Format::Mxfp4));
    // Where integers are slow, widening them is faster.
    let slow = device([false; 3]).with_rate(Int8, FlopsPerSec::new(1e14)).unwrap();
    assert_eq!(Format::Int8.fastest_math_on(&slow), Bf16);
}

#[test]
fn block_types_are_in_the_order_of_their_variants() {
    for (n, kind) in GgmlType::all().enumerate() {
        assert_eq!(kind as usize, n, "{kind:?}");
    }
}

/// Kernels widen a cache of NVFP4 to 8 bits before they multiply it.
#[test]
fn a_cache_in_four_bits_is_multiplied_in_eight() {
    let attention = |format| {
        let model = crate::llama_8b().with_kv_cache(format);
        let system = crate::single(model, Device::named("b200-sxm").unwrap());
        system.expected_pass(&Pass::prefill(8192.0, 0.0)).attention
    };
    assert_eq!(attention(Format::Nvfp4), attention(Format::Fp8));
    assert!(attention(Format::Fp8) < attention(Format::Bf16));
}
