//! How numbers are stored, and which arithmetic works on them.

use std::fmt;

use fizeau_core::Bytes;

use crate::MathType;

/// How the elements of a tensor are stored.
///
/// The size and the arithmetic are separate: 4-bit integers halve the traffic of 8-bit ones and are multiplied
/// in 16 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Four bytes: float32, as recurrent states are often kept.
    F32,
    /// Two bytes: bfloat16 or float16.
    Bf16,
    /// One byte: 8-bit floating point with a scale per tensor or channel.
    Fp8,
    /// One byte, and a 4-byte scale for each block of `rows` x `columns` elements.
    Fp8Blocks {
        /// Rows of a block.
        rows: u32,
        /// Columns of a block.
        columns: u32,
    },
    /// One byte: 8-bit integers with a scale per channel, multiplied as such.
    Int8,
    /// 4-bit floating point with an 8-bit scale for each 32: 4.25 bits (OCP microscaling).
    Mxfp4,
    /// 4-bit floating point with an fp8 scale for each 16: 4.5 bits.
    Nvfp4,
    /// 4-bit integers with a 16-bit scale for each `group`, widened to 16 bits before they are multiplied.
    Int4 {
        /// Elements that share a scale.
        group: u32,
    },
}

impl Format {
    /// The size of one element, its share of the scales included.
    #[must_use]
    pub fn element_size(self) -> Bytes {
        Bytes::new(match self {
            Self::F32 => 4.0,
            Self::Bf16 => 2.0,
            Self::Fp8 | Self::Int8 => 1.0,
            Self::Fp8Blocks { rows, columns } => {
                1.0 + 4.0 / (f64::from(rows.max(1)) * f64::from(columns.max(1)))
            }
            Self::Mxfp4 => 4.25 / 8.0,
            Self::Nvfp4 => 4.5 / 8.0,
            Self::Int4 { group } => 0.5 + 2.0 / f64::from(group.max(1)),
        })
    }

    /// The arithmetic that engines use for it where the device has it, else the next wider one.
    #[must_use]
    pub const fn math(self) -> MathType {
        match self {
            Self::F32 | Self::Bf16 | Self::Int4 { .. } => MathType::Bf16,
            Self::Fp8 | Self::Fp8Blocks { .. } | Self::Mxfp4 => MathType::Fp8,
            Self::Int8 => MathType::Int8,
            Self::Nvfp4 => MathType::Fp4,
        }
    }

    /// The fastest arithmetic that could ever be used for it: what a bound has to assume.
    #[must_use]
    pub const fn fastest_math(self) -> MathType {
        match self {
            Self::F32 | Self::Bf16 => MathType::Bf16,
            Self::Fp8 | Self::Fp8Blocks { .. } => MathType::Fp8,
            Self::Int8 => MathType::Int8,
            Self::Mxfp4 | Self::Nvfp4 | Self::Int4 { .. } => MathType::Fp4,
        }
    }

    /// The name used in files and on the command line: `bf16`, `fp8`, `mxfp4`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::Fp8 | Self::Fp8Blocks { .. } => "fp8",
            Self::Int8 => "int8",
            Self::Mxfp4 => "mxfp4",
            Self::Nvfp4 => "nvfp4",
            Self::Int4 { .. } => "int4",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
