//! How operands are stored while they are computed with.

use serde::{Deserialize, Serialize};

/// The type of an element. What accumulates is not said by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Dtype {
    /// IEEE double precision.
    F64,
    /// IEEE single precision.
    F32,
    /// NVIDIA's 19-bit format, stored in 32 bits.
    Tf32,
    /// The upper half of a single.
    Bf16,
    /// IEEE half precision.
    F16,
    /// 8 bits with 4 of exponent.
    #[serde(rename = "fp8_e4m3")]
    Fp8E4m3,
    /// 8 bits with 5 of exponent.
    #[serde(rename = "fp8_e5m2")]
    Fp8E5m2,
    /// OCP microscaling, 8 bits with a scale for each 32 elements.
    Mxfp8,
    /// OCP microscaling, 4 bits with a scale for each 32 elements.
    Mxfp4,
    /// NVIDIA's 4 bits with a scale for each 16 elements.
    Nvfp4,
    /// Whole numbers of 8 bits.
    Int8,
    /// Whole numbers of 32 bits.
    Int32,
    /// Whole numbers of 64 bits, as pointers are.
    Int64,
}

fizeau_core::words! {
    /// The name in files: `bf16`, `fp8_e4m3`.
    pub Dtype::as_str, all, shown {
        F64 = "f64", F32 = "f32", Tf32 = "tf32", Bf16 = "bf16", F16 = "f16",
        Fp8E4m3 = "fp8_e4m3", Fp8E5m2 = "fp8_e5m2", Mxfp8 = "mxfp8", Mxfp4 = "mxfp4",
        Nvfp4 = "nvfp4", Int8 = "int8", Int32 = "int32", Int64 = "int64",
    }
}

impl Dtype {
    /// The bytes of one element, its part of a block's scale included.
    #[must_use]
    pub const fn element_bytes(self) -> f64 {
        match self {
            Self::F64 | Self::Int64 => 8.0,
            Self::F32 | Self::Tf32 | Self::Int32 => 4.0,
            Self::Bf16 | Self::F16 => 2.0,
            Self::Fp8E4m3 | Self::Fp8E5m2 | Self::Int8 => 1.0,
            Self::Mxfp8 => 1.0 + 1.0 / 32.0,
            Self::Mxfp4 => 0.5 + 1.0 / 32.0,
            Self::Nvfp4 => 0.5 + 1.0 / 16.0,
        }
    }
}
