//! What arithmetic units multiply.

/// What arithmetic units multiply. How weights are stored is another matter: weights in 4-bit integers are
/// widened as they are read and multiplied as [`MathType::Bf16`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MathType {
    /// 16-bit floating point, `bfloat16` or `float16`.
    Bf16,
    /// 8-bit floating point.
    Fp8,
    /// 4-bit floating point with scales for small blocks (MXFP4, NVFP4).
    Fp4,
    /// 8-bit integers.
    Int8,
}

fizeau_core::words! {
    /// What its cell is called.
    pub(super) MathType::field {
        Bf16 = "rates.bf16", Fp8 = "rates.fp8", Fp4 = "rates.fp4", Int8 = "rates.int8",
    }
}

fizeau_core::words! {
    /// The name in files and tables, such as `bf16`.
    pub MathType::name, all {
        Bf16 = "bf16", Fp8 = "fp8", Fp4 = "fp4", Int8 = "int8",
    }
}
