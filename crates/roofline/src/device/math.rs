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

impl MathType {
    /// All of them, widest first.
    pub const ALL: [Self; 4] = [Self::Bf16, Self::Fp8, Self::Fp4, Self::Int8];

    /// The name in files and tables, such as `bf16`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bf16 => "bf16",
            Self::Fp8 => "fp8",
            Self::Fp4 => "fp4",
            Self::Int8 => "int8",
        }
    }

    /// What its cell is called.
    pub(super) const fn field(self) -> &'static str {
        match self {
            Self::Bf16 => "rates.bf16",
            Self::Fp8 => "rates.fp8",
            Self::Fp4 => "rates.fp4",
            Self::Int8 => "rates.int8",
        }
    }
}
