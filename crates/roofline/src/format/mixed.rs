//! Several formats in one class of tensors.

use super::Format;
use super::math::{Exact, Kernel};

/// Several formats in one class of tensors, such as attention of which only the output projection is quantised:
/// their mean size, and the arithmetic of the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MixedFormat {
    /// Bits of 2^32 elements: fine enough for any file's size to the byte in a million.
    size: u64,
    pub(super) kernel: Kernel,
    pub(super) exact: Exact,
}

const ELEMENTS: f64 = (1_u64 << 32) as f64;

impl MixedFormat {
    /// The size of one element in bits, on average, its share of the scales included.
    pub(crate) const fn bits_per_element(self) -> f64 {
        self.size as f64 / ELEMENTS
    }
}

impl Format {
    /// The same size and kernels, with values that are exact in other types.
    pub(super) fn with_exact(self, exact: Exact) -> Self {
        let size = (self.bits_per_element() * ELEMENTS).round() as u64;
        Self::Mixed(MixedFormat { size, kernel: self.kernel(), exact })
    }

    /// What `parts`, each a format and the elements in it, are together: the one format if all have the same, and
    /// [`Format::Bf16`] where nothing is given.
    #[must_use]
    pub fn blend(parts: &[(Self, f64)]) -> Self {
        let parts = || parts.iter().filter(|part| part.1 > 0.0);
        let Some(&(mut largest, mut most)) = parts().next() else {
            return Self::Bf16;
        };
        let first = largest;
        let (mut elements, mut bits, mut exact) = (0.0, 0.0, Exact::NONE);
        for &(format, count) in parts() {
            elements += count;
            bits += count * format.bits_per_element();
            exact = exact.or(format.exact());
            if count > most {
                (largest, most) = (format, count);
            }
        }
        if parts().all(|part| part.0 == first) {
            return first;
        }
        let size = (bits / elements * ELEMENTS).round() as u64;
        Self::Mixed(MixedFormat { size, kernel: largest.kernel(), exact })
    }
}
