//! Weights that are multiplied with activations of another type than engines choose for them by themselves.

use std::fmt;

use super::Format;
use super::math::Kernel;
use crate::MathType;

/// Weights that are stored in one of the formats for which activations are quantised too, or in integers for which they are not,
/// while the checkpoint has it otherwise: made by [`Format::with_activations`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WeightsBeside {
    stored: Stored,
    activations: Activations,
}

/// What activations are quantised to where they meet weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Activations {
    /// Not at all: 16 bits, into which weights are widened as they are read.
    A16,
    /// 8-bit floating point.
    A8,
    /// 4-bit floating point.
    A4,
}

fizeau_core::words! {
    /// As names of formats end: `a16`, `a8`, `a4`.
    pub Activations::as_str, all { A16 = "a16", A8 = "a8", A4 = "a4" }
}

/// The formats of which that differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Stored {
    Fp8,
    Fp8Blocks { rows: u32, columns: u32 },
    Mxfp8,
    Mxfp6,
    Mxfp4,
    Nvfp4,
    Int { bits: u8, group: u32 },
}

impl Stored {
    const fn of(format: Format) -> Option<Self> {
        Some(match format {
            Format::Fp8 => Self::Fp8,
            Format::Fp8Blocks { rows, columns } => Self::Fp8Blocks { rows, columns },
            Format::Mxfp8 => Self::Mxfp8,
            Format::Mxfp6 => Self::Mxfp6,
            Format::Mxfp4 => Self::Mxfp4,
            Format::Nvfp4 => Self::Nvfp4,
            Format::Int { bits, group } => Self::Int { bits, group },
            _ => return None,
        })
    }

    const fn format(self) -> Format {
        match self {
            Self::Fp8 => Format::Fp8,
            Self::Fp8Blocks { rows, columns } => Format::Fp8Blocks { rows, columns },
            Self::Mxfp8 => Format::Mxfp8,
            Self::Mxfp6 => Format::Mxfp6,
            Self::Mxfp4 => Format::Mxfp4,
            Self::Nvfp4 => Format::Nvfp4,
            Self::Int { bits, group } => Format::Int { bits, group },
        }
    }
}

impl WeightsBeside {
    /// How the weights are stored.
    #[must_use]
    pub const fn stored(self) -> Format {
        self.stored.format()
    }

    /// What activations are quantised to.
    #[must_use]
    pub const fn activations(self) -> Activations {
        self.activations
    }

    pub(super) const fn kernel(self) -> Kernel {
        match (self.activations, self.stored) {
            (Activations::A16, _) => Kernel::Widen,
            (Activations::A4, Stored::Mxfp4 | Stored::Nvfp4) => Kernel::Native(MathType::Fp4),
            // The units that scale blocks are those that have 4-bit types.
            (Activations::A8, Stored::Nvfp4) => Kernel::ScaledFp8,
            (Activations::A8, Stored::Int { bits: ..=4, .. }) => Kernel::Native(MathType::Fp8),
            _ => self.stored().kernel(),
        }
    }
}

impl fmt::Display for WeightsBeside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.stored(), self.activations.as_str())
    }
}

impl Format {
    /// The same weights, met by activations that are quantised to `activations`: the format itself where engines do just that with
    /// it, or where nothing is known of the two together.
    ///
    /// Checkpoints of 4-bit or 8-bit floating point may quantise weights alone. vLLM widens them to 16 bits then, on devices too that
    /// have units for the type ([#18000](https://github.com/vllm-project/vllm/pull/18000),
    /// [#41769](https://github.com/vllm-project/vllm/pull/41769)). Checkpoints in MXFP4 whose activations are in it as well are
    /// multiplied as 4-bit floating point ([#53141](https://github.com/vllm-project/vllm/pull/53141)).
    ///
    /// ```
    /// use fizeau_roofline::{Activations, Device, Format, MathType};
    ///
    /// let b200 = Device::named("b200-sxm")?;
    /// let alone = Format::Nvfp4.with_activations(Activations::A16);
    /// assert_eq!((Format::Nvfp4.math_on(b200), alone.math_on(b200)), (MathType::Fp4, MathType::Bf16));
    /// assert_eq!(alone.to_string(), "nvfp4-a16");
    /// // No bits fewer, and what a bound has to assume is the same.
    /// assert_eq!(alone.bits_per_element(), 4.5);
    /// assert_eq!(alone.fastest_math_on(b200), MathType::Fp4);
    /// # Ok::<(), fizeau_roofline::UnknownDevice>(())
    /// ```
    #[must_use]
    pub fn with_activations(self, activations: Activations) -> Self {
        let format = match self {
            Self::Beside(own) => own.stored(),
            other => other,
        };
        let Some(stored) = Stored::of(format) else { return self };
        let beside = WeightsBeside { stored, activations };
        if beside.kernel() == format.kernel() { format } else { Self::Beside(beside) }
    }

    /// A cache in this format as engines multiply it: NVFP4 is widened to 8 bits as it is read (NVIDIA, "Optimizing Inference for Long
    /// Context and Large Batch Sizes with NVFP4 KV Cache", 2025).
    pub(crate) fn attended(self) -> Self {
        match self {
            Self::Nvfp4 => self.with_activations(Activations::A8),
            other => other,
        }
    }
}
