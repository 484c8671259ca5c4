//! Which arithmetic works on a format: what engines use, and what could be used.

use super::Format;
use crate::{Device, MathType};

/// What engines do with a format's matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kernel {
    /// Widens weights as they are read, and multiplies in 16 bits.
    Widen,
    /// Multiplies this type where the device has units for it, and else widens.
    Native(MathType),
    /// Multiplies 4-bit weights with 8-bit activations, for which the device's units must scale blocks: those
    /// that have 4-bit types do. Else widens.
    ScaledFp8,
}

/// The types that hold every value of a format, so that none is changed by multiplying in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Exact(u8);

impl Exact {
    pub(super) const NONE: Self = Self(0);

    const fn of(types: &[MathType]) -> Self {
        let mut bits = 0;
        let mut rest = types;
        while let [first, others @ ..] = rest {
            bits |= 1 << *first as u8;
            rest = others;
        }
        Self(bits)
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The types into which activations of so many bits can be rounded without losing bits.
    const fn as_wide_as(bits: u32) -> Self {
        use MathType::{Bf16, Fp4, Fp8, Int8};
        match bits {
            // Units for 4-bit floating point take 6-bit as well (AMD CDNA 4 white paper).
            0..=6 => Self::of(&[Bf16, Fp8, Int8, Fp4]),
            7..=8 => Self::of(&[Bf16, Fp8, Int8]),
            _ => Self::of(&[Bf16]),
        }
    }

    const fn has(self, math: MathType) -> bool {
        self.0 & (1 << math as u8) != 0
    }
}

impl Format {
    /// The arithmetic that engines use for it on a device that has units for all types.
    ///
    /// See [`Format::math_on`] for a device that may not.
    #[must_use]
    pub const fn math(self) -> MathType {
        match self.kernel() {
            Kernel::Widen => MathType::Bf16,
            Kernel::Native(math) => math,
            Kernel::ScaledFp8 => MathType::Fp8,
        }
    }

    /// The arithmetic that engines use for it on `device`.
    ///
    /// Weights of a type that the device cannot multiply are widened to 16 bits as they are read, so that they save
    /// traffic and no arithmetic: fp8 on an A100, NVFP4 and MXFP4 on an H100 (vLLM's documentation, "Supported
    /// Hardware" of quantisation kernels: Marlin). llama.cpp multiplies its quantised blocks in 8-bit integers
    /// (its CUDA build options, `GGML_CUDA_FORCE_MMQ`).
    ///
    /// ```
    /// use fizeau_roofline::{Device, Format, MathType};
    ///
    /// let (a100, h100) = (Device::named("a100-sxm-80")?, Device::named("h100-sxm")?);
    /// assert_eq!(Format::Fp8.math_on(h100), MathType::Fp8);
    /// assert_eq!(Format::Fp8.math_on(a100), MathType::Bf16);
    /// assert_eq!(Format::Mxfp4.math_on(h100), MathType::Bf16);
    /// # Ok::<(), fizeau_roofline::UnknownDevice>(())
    /// ```
    #[must_use]
    pub fn math_on(self, device: &Device) -> MathType {
        let has = |math| device.dense_rate(math).is_some();
        let usable = match self.kernel() {
            Kernel::ScaledFp8 => has(MathType::Fp4) && has(MathType::Fp8),
            _ => has(self.math()),
        };
        if usable { self.math() } else { MathType::Bf16 }
    }

    /// The fastest arithmetic of `device` in which every value of the format is exact: what a bound has to assume.
    /// Activations may be in any type; weights are what they are.
    ///
    /// 4-bit floating point fits 8-bit floating point, and twice its values are small integers; 4-bit integers fit
    /// fp8's four significant bits. The 4-bit integer units of the A100 are not in the device table and are left
    /// out: they need 4-bit activations too.
    #[must_use]
    pub fn fastest_math_on(self, device: &Device) -> MathType {
        let exact = self.exact();
        let rate = |math| device.dense_rate(math).map_or(0.0, fizeau_core::FlopsPerSec::get);
        let mut best = MathType::Bf16;
        for math in MathType::ALL {
            if exact.has(math) && rate(math) > rate(best) {
                best = math;
            }
        }
        best
    }

    /// A cache in this format as the bound multiplies it, beside projections in another: in any type that holds the values of
    /// either, or as many bits as the cache has. What a cache holds was rounded already, and kernels round it once more to
    /// whatever the device is fastest with (SageAttention, arXiv 2410.02367); so fewer bits are never slower.
    pub(crate) fn attended_beside(self, projections: Self) -> Self {
        let either = self.exact().or(projections.exact());
        self.with_exact(either.or(Exact::as_wide_as(self.value_bits())))
    }

    pub(super) const fn kernel(self) -> Kernel {
        match self {
            Self::F32 | Self::Bf16 | Self::Nf4 | Self::Nf4Double => Kernel::Widen,
            Self::Int { .. } | Self::IntZero { .. } | Self::IntBias { .. } => Kernel::Widen,
            Self::Fp8 | Self::Fp8Blocks { .. } | Self::Mxfp8 => Kernel::Native(MathType::Fp8),
            Self::Mxfp6 | Self::Mxfp4 => Kernel::ScaledFp8,
            Self::Nvfp4 => Kernel::Native(MathType::Fp4),
            Self::Int8 | Self::Ggml(_) => Kernel::Native(MathType::Int8),
            Self::Beside(weights) => weights.kernel(),
            Self::Mixed(mixed) => mixed.kernel,
        }
    }

    pub(super) const fn exact(self) -> Exact {
        use MathType::{Bf16, Fp4, Fp8, Int8};
        match self {
            Self::F32 | Self::Bf16 | Self::Nf4 | Self::Nf4Double => Exact::of(&[Bf16]),
            Self::Fp8 | Self::Fp8Blocks { .. } | Self::Mxfp8 => Exact::of(&[Bf16, Fp8]),
            // CDNA 4 multiplies 6-bit floating point at the rate of 4-bit (AMD CDNA 4 white paper).
            Self::Mxfp6 => Exact::of(&[Bf16, Fp8, Fp4]),
            Self::Mxfp4 | Self::Nvfp4 => Exact::of(&[Bf16, Fp8, Fp4, Int8]),
            Self::Int8 => Exact::of(&[Bf16, Int8]),
            // Zero points and biases are taken off first, or their product is.
            Self::Int { bits, .. } | Self::IntZero { bits, .. } | Self::IntBias { bits, .. } => {
                if bits <= 4 {
                    Exact::of(&[Bf16, Fp8, Int8])
                } else {
                    Exact::of(&[Bf16, Int8])
                }
            }
            Self::Ggml(kind) if kind.bits_per_element() < 5.0 => Exact::of(&[Bf16, Fp8, Int8]),
            Self::Ggml(_) => Exact::of(&[Bf16, Int8]),
            Self::Beside(weights) => weights.stored().exact(),
            Self::Mixed(mixed) => mixed.exact,
        }
    }
}
