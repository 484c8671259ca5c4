//! How numbers are stored, and which arithmetic works on them.

mod beside;
mod file_type;
mod ggml;
mod math;
mod mixed;
mod names;

pub use beside::{Activations, WeightsBeside};
pub use file_type::FileType;
pub(crate) use file_type::{GgufTensor, ModelShape};
pub use ggml::GgmlType;
pub use mixed::MixedFormat;
pub use names::UnknownFormat;

use fizeau_core::Bytes;

/// How the elements of a tensor are stored.
///
/// Three things are apart: what an element takes ([`Format::element_size`]), which arithmetic engines use for it
/// on a device ([`Format::math_on`]), and the fastest that could be used without changing a weight's value
/// ([`Format::fastest_math_on`]). 4-bit integers halve the traffic of 8-bit ones and are multiplied in 16 bits.
///
/// Formats have names, which can be read and written:
///
/// ```
/// use fizeau_roofline::Format;
///
/// let format: Format = "NVFP4".parse()?;
/// assert_eq!(format, Format::Nvfp4);
/// assert_eq!(format.bits_per_element(), 4.5);
/// assert_eq!("awq".parse::<Format>()?.to_string(), "int4-g128-zp");
/// # Ok::<(), fizeau_roofline::UnknownFormat>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Four bytes: float32, as recurrent states are often kept.
    F32,
    /// Two bytes: bfloat16 or float16.
    Bf16,
    /// One byte: 8-bit floating point with a scale per tensor or channel, too few to count.
    Fp8,
    /// One byte, and a 4-byte scale for each block of `rows` x `columns` elements, as DeepSeek-V3 is published
    /// (arXiv 2412.19437, section 3.3).
    Fp8Blocks {
        /// Rows of a block.
        rows: u32,
        /// Columns of a block.
        columns: u32,
    },
    /// 8-bit floating point with an 8-bit scale for each 32: 8.25 bits (OCP Microscaling Formats 1.0).
    Mxfp8,
    /// 6-bit floating point with an 8-bit scale for each 32: 6.25 bits (OCP Microscaling Formats 1.0).
    Mxfp6,
    /// 4-bit floating point with an 8-bit scale for each 32: 4.25 bits (OCP Microscaling Formats 1.0).
    Mxfp4,
    /// 4-bit floating point with an fp8 scale for each 16: 4.5 bits (NVIDIA, "Introducing NVFP4", 2025).
    Nvfp4,
    /// One byte: 8-bit integers with a scale per channel, multiplied as such with 8-bit activations.
    Int8,
    /// Integers that are widened to 16 bits before they are multiplied, with a 16-bit scale for each `group`.
    Int {
        /// Bits of an element.
        bits: u8,
        /// Elements that share a scale; 0: a whole channel, and its scale does not count.
        group: u32,
    },
    /// As [`Format::Int`], and each group has a zero point of as many bits beside its scale: AWQ, and GPTQ where
    /// it is not symmetric.
    IntZero {
        /// Bits of an element.
        bits: u8,
        /// Elements that share a scale and a zero point; 0: a whole channel.
        group: u32,
    },
    /// As [`Format::Int`], and each group has a 16-bit bias beside its scale: MLX.
    IntBias {
        /// Bits of an element.
        bits: u8,
        /// Elements that share a scale and a bias; 0: a whole channel.
        group: u32,
    },
    /// 4-bit quantiles of a normal distribution with a float32 scale for each 64: 4.5 bits (bitsandbytes).
    Nf4,
    /// As [`Format::Nf4`], with scales in 8 bits and a float32 for each 256 of them: 4.127 bits (QLoRA, arXiv
    /// 2305.14314, section 3).
    Nf4Double,
    /// Weights that are multiplied with activations of another type than engines choose for them: `nvfp4-a16`
    /// ([`Format::with_activations`]).
    Beside(WeightsBeside),
    /// A block type of llama.cpp.
    Ggml(GgmlType),
    /// Several formats in one class of tensors, reduced to their mean.
    Mixed(MixedFormat),
}

impl Format {
    /// The blocks of DeepSeek-V3 and of those that follow it: 128 x 128.
    pub const FP8_BLOCK: Self = Self::Fp8Blocks { rows: 128, columns: 128 };

    /// The size of one element, its share of the scales included.
    #[must_use]
    pub fn element_size(self) -> Bytes {
        Bytes::new(self.bits_per_element() / 8.0)
    }

    /// The size of one element in bits, its share of the scales included: 4.25 for [`Format::Mxfp4`].
    #[must_use]
    pub fn bits_per_element(self) -> f64 {
        /// What `bits` of scales add to each of `group` elements; a group of 0 is too large to count.
        fn shared(bits: f64, group: u32) -> f64 {
            if group == 0 { 0.0 } else { bits / f64::from(group) }
        }
        match self {
            Self::F32 => 32.0,
            Self::Bf16 => 16.0,
            Self::Fp8 | Self::Int8 => 8.0,
            Self::Fp8Blocks { rows, columns } => {
                8.0 + 32.0 / (f64::from(rows.max(1)) * f64::from(columns.max(1)))
            }
            Self::Mxfp8 => 8.25,
            Self::Mxfp6 => 6.25,
            Self::Mxfp4 => 4.25,
            Self::Nvfp4 | Self::Nf4 => 4.5,
            Self::Int { bits, group } => f64::from(bits) + shared(16.0, group),
            Self::IntZero { bits, group } => {
                f64::from(bits) + shared(16.0 + f64::from(bits), group)
            }
            Self::IntBias { bits, group } => f64::from(bits) + shared(32.0, group),
            Self::Nf4Double => 4.0 + 8.0 / 64.0 + 32.0 / (64.0 * 256.0),
            Self::Beside(weights) => weights.stored().bits_per_element(),
            Self::Ggml(kind) => kind.bits_per_element(),
            Self::Mixed(mixed) => mixed.bits_per_element(),
        }
    }

    /// The bits of an element's own value, scales apart: 4 for [`Format::Nvfp4`]. Of a mixture, those of the
    /// mean.
    #[must_use]
    pub fn value_bits(self) -> u32 {
        match self {
            Self::Int { bits, .. } | Self::IntZero { bits, .. } | Self::IntBias { bits, .. } => {
                u32::from(bits)
            }
            Self::Beside(weights) => weights.stored().value_bits(),
            // Scales add less than a bit to every other format.
            _ => self.bits_per_element() as u32,
        }
    }
}
