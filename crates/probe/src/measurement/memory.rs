//! Streaming kernels and the bytes they count, by three conventions.

use fizeau_core::{Bytes, Flops};
use serde::{Deserialize, Serialize};

use super::Dtype;
use super::work::{ByteCounts, OperationWork};

/// A kernel that streams over arrays. `a` is the target, `b` and `c` are read, `s` is a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum MemoryKernel {
    /// The sum of all `b[i]`: what decoding does with weights and caches.
    Read,
    /// `a[i] = s`.
    Write,
    /// `a[i] = b[i]`.
    Copy,
    /// `a[i] = s * b[i]`.
    Scale,
    /// `a[i] = b[i] + c[i]`.
    Add,
    /// `a[i] = b[i] + s * c[i]`.
    Triad,
    /// The sum of all `b[i] * c[i]`.
    Dot,
    /// `a[i] += b[i] + s * c[i]`.
    Nstream,
}

fizeau_core::words! {
    /// The name in files: `triad`.
    pub MemoryKernel::as_str, all, shown {
        Read = "read", Write = "write", Copy = "copy", Scale = "scale", Add = "add",
        Triad = "triad", Dot = "dot", Nstream = "nstream",
    }
}

/// How a kernel stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum StoreKind {
    /// Through the caches, which read a line before a part of it is written.
    Ordinary,
    /// Past the caches, whole lines at a time.
    NonTemporal,
}

fizeau_core::words! {
    /// The name in files: `non_temporal`.
    pub StoreKind::as_str, all, shown { Ordinary = "ordinary", NonTemporal = "non_temporal" }
}

impl MemoryKernel {
    /// How many arrays it reads, and how many it writes. A target that is read too counts on both sides.
    const fn arrays(self) -> (u32, u32) {
        match self {
            Self::Read => (1, 0),
            Self::Write => (0, 1),
            Self::Copy | Self::Scale => (1, 1),
            Self::Add | Self::Triad => (2, 1),
            Self::Dot => (2, 0),
            Self::Nstream => (3, 1),
        }
    }

    /// How many arrays it works on.
    #[must_use]
    pub const fn array_count(self) -> u32 {
        match self {
            Self::Read | Self::Write => 1,
            Self::Copy | Self::Scale | Self::Dot => 2,
            Self::Add | Self::Triad | Self::Nstream => 3,
        }
    }

    /// Operations on each element.
    const fn flops(self) -> f64 {
        match self {
            Self::Write | Self::Copy => 0.0,
            Self::Read | Self::Scale | Self::Add => 1.0,
            Self::Triad | Self::Dot => 2.0,
            Self::Nstream => 3.0,
        }
    }

    /// Whether it stores at all, so that the kind of store matters.
    #[must_use]
    pub const fn stores(self) -> bool {
        self.arrays().1 > 0
    }

    /// What one pass over `elements` of `dtype` in each array is.
    ///
    /// - STREAM counts each array that is read or written once (J. D. McCalpin's rule).
    /// - The copy convention counts what arrives: half of that, for a copy and a scale alone.
    /// - The hardware also reads each line of a target before it is written, unless stores go past the caches or the kernel
    ///   reads its target anyway. Processors that leave this out on their own make it an upper end.
    #[must_use]
    pub fn work(self, elements: u64, dtype: Dtype, stores: StoreKind) -> OperationWork {
        let array = elements as f64 * dtype.element_bytes();
        let (read, written) = self.arrays();
        let stream = f64::from(read + written) * array;
        let allocated = match (stores, self) {
            (StoreKind::NonTemporal, _) | (_, Self::Nstream) => 0.0,
            (StoreKind::Ordinary, _) => f64::from(written) * array,
        };
        let is_copy = matches!(self, Self::Copy | Self::Scale);
        OperationWork {
            bytes: ByteCounts {
                stream: Some(Bytes::new(stream)),
                copy: is_copy.then_some(Bytes::new(array)),
                hardware: Some(Bytes::new(stream + allocated)),
            },
            flops: Some(Flops::new(self.flops() * elements as f64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// STREAM bytes, hardware bytes with write-allocate, operations, each of an element of one byte.
    #[test]
    fn each_kernel_counts_as_its_convention_says() {
        use MemoryKernel::{Add, Copy, Dot, Nstream, Read, Scale, Triad, Write};
        let expected = [
            (Read, 1.0, 1.0, 1.0),
            (Write, 1.0, 2.0, 0.0),
            (Copy, 2.0, 3.0, 0.0),
            (Scale, 2.0, 3.0, 1.0),
            (Add, 3.0, 4.0, 1.0),
            (Triad, 3.0, 4.0, 2.0),
            (Dot, 2.0, 2.0, 2.0),
            (Nstream, 4.0, 4.0, 3.0),
        ];
        for (kernel, stream, hardware, flops) in expected {
            let work = kernel.work(1, Dtype::Int8, StoreKind::Ordinary);
            let counts = [work.bytes.stream, work.bytes.hardware].map(|bytes| bytes.unwrap().get());
            assert_eq!(
                (counts, work.flops.unwrap().get()),
                ([stream, hardware], flops),
                "{kernel}"
            );
            let past = kernel.work(1, Dtype::Int8, StoreKind::NonTemporal).bytes;
            assert_eq!(past.stream, past.hardware, "{kernel}");
        }
    }
}
