//! The names of formats, read and written.

use std::fmt;
use std::str::FromStr;

use super::{Activations, Format, GgmlType};

/// Names that stand for one format each, in lower case with `_` for `-`. The first of a format is the one that is
/// written.
const NAMES: [(&str, Format); 29] = [
    ("f32", Format::F32),
    ("fp32", Format::F32),
    ("float32", Format::F32),
    ("bf16", Format::Bf16),
    ("f16", Format::Bf16),
    ("fp16", Format::Bf16),
    ("bfloat16", Format::Bf16),
    ("float16", Format::Bf16),
    ("fp8", Format::Fp8),
    ("fp8_e4m3", Format::Fp8),
    ("fp8_e5m2", Format::Fp8),
    ("float8", Format::Fp8),
    ("w8a8_fp8", Format::Fp8),
    ("fp8_block", Format::FP8_BLOCK),
    ("fp8_blocks", Format::FP8_BLOCK),
    ("mxfp8", Format::Mxfp8),
    ("mxfp6", Format::Mxfp6),
    ("mxfp4", Format::Mxfp4),
    ("nvfp4", Format::Nvfp4),
    ("int8", Format::Int8),
    ("w8a8", Format::Int8),
    ("w8a8_int8", Format::Int8),
    // The groups that AutoAWQ, GPTQ and llm-compressor make unless told otherwise.
    ("awq", Format::IntZero { bits: 4, group: 128 }),
    ("int4", Format::Int { bits: 4, group: 128 }),
    ("gptq", Format::Int { bits: 4, group: 128 }),
    ("w4a16", Format::Int { bits: 4, group: 128 }),
    ("w8a16", Format::Int { bits: 8, group: 0 }),
    ("nf4", Format::Nf4),
    ("nf4_double", Format::Nf4Double),
];

/// No format has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no format is named \"{name}\"{}; known are f32, bf16 (fp16), fp8, fp8-block, mxfp8, mxfp6, mxfp4, nvfp4, int8 \
     (w8a8), int4, int4-g128, awq, gptq, nf4, nf4-double, and GGUF's q8_0, q6_k, q4_k and so on, or for all weights q4_k_m and its like",
    hint(name)
)]
pub struct UnknownFormat {
    name: String,
}

/// What is meant by a name that several formats share.
fn hint(name: &str) -> &'static str {
    match name.trim().to_lowercase().as_str() {
        "fp4" | "float4" | "f4" | "w4a4" => " alone: there are nvfp4 and mxfp4",
        _ => "",
    }
}

impl UnknownFormat {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.chars().take(48).collect() }
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    /// Reads a name such as `bf16`, `fp8-block`, `nvfp4`, `int4-g128` or `q4_k`. Case does not matter, and `_` or a
    /// space will do for `-`.
    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let wanted = name.trim().to_lowercase().replace(['-', ' '], "_");
        if let Some((_, format)) = NAMES.iter().find(|known| known.0 == wanted) {
            return Ok(*format);
        }
        let named = |kind: &GgmlType| kind.as_str().replace('-', "_") == wanted;
        if let Some(kind) = GgmlType::all().find(named) {
            return Ok(Self::Ggml(kind));
        }
        let found = blocks(&wanted).or_else(|| integers(&wanted)).or_else(|| beside(&wanted));
        found.ok_or_else(|| UnknownFormat::new(name))
    }
}

/// `fp8_128x128`.
fn blocks(name: &str) -> Option<Format> {
    let (rows, columns) = name.strip_prefix("fp8_")?.split_once('x')?;
    let side = |text: &str| number(text).filter(|side| (1..=1 << 16).contains(side));
    Some(Format::Fp8Blocks { rows: side(rows)?, columns: side(columns)? })
}

/// `nvfp4_a16`, `mxfp4_a4`, `int4_g128_a8`: not where engines do just that with the format.
fn beside(name: &str) -> Option<Format> {
    let (stored, activations) = name.rsplit_once('_')?;
    let mut known = Activations::ALL.into_iter();
    let activations = known.find(|known| known.as_str() == activations)?;
    let stored: Format = stored.parse().ok()?;
    let found = stored.with_activations(activations);
    (found != stored).then_some(found)
}

/// `int4_g128`, `int4_g128_zp`, `int4_g64_bias`, `int8_channel`, `w4a16_g64`.
fn integers(name: &str) -> Option<Format> {
    let (head, tail) = name.split_once('_')?;
    let bits = match head.strip_prefix("int") {
        Some(bits) => bits,
        None => head.strip_prefix('w')?.strip_suffix("a16")?,
    };
    let bits = u8::try_from(number(bits)?).ok().filter(|bits| (2..=8).contains(bits))?;
    let (group, of): (&str, fn(u8, u32) -> Format) = if let Some(group) = tail.strip_suffix("_zp") {
        (group, |bits, group| Format::IntZero { bits, group })
    } else if let Some(group) = tail.strip_suffix("_bias") {
        (group, |bits, group| Format::IntBias { bits, group })
    } else {
        (tail, |bits, group| Format::Int { bits, group })
    };
    let group = match group {
        "channel" => 0,
        _ => number(group.strip_prefix('g')?).filter(|&group| group > 0)?,
    };
    Some(of(bits, group))
}

/// Digits alone: a sign would be another name for the same format.
fn number(text: &str) -> Option<u32> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

impl fmt::Display for Format {
    /// The name, from which [`FromStr`] makes the same format again; a mixture shows its mean size instead.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let channel = |group: u32| match group {
            0 => "channel".to_owned(),
            _ => format!("g{group}"),
        };
        f.pad(&match *self {
            Self::Fp8Blocks { rows, columns } => format!("fp8-{rows}x{columns}"),
            Self::Beside(weights) => weights.to_string(),
            Self::Ggml(kind) => kind.as_str().to_owned(),
            Self::Mixed(mixed) => format!("mixed-{:.2}-bit", mixed.bits_per_element()),
            Self::Int { bits, group } => format!("int{bits}-{}", channel(group)),
            Self::IntZero { bits, group } => format!("int{bits}-{}-zp", channel(group)),
            Self::IntBias { bits, group } => format!("int{bits}-{}-bias", channel(group)),
            _ => {
                let name = NAMES.iter().find(|known| known.1 == *self).map_or("", |known| known.0);
                name.replace('_', "-")
            }
        })
    }
}
