//! What one operation moves and computes.

use fizeau_core::{Bytes, Flops};
use serde::{Deserialize, Serialize};

/// What one operation moves and computes, whatever time it takes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationWork {
    /// Bytes, by convention.
    #[serde(default)]
    pub bytes: ByteCounts,
    /// Arithmetic, a multiply-add counted as two; whole numbers count alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flops: Option<Flops>,
}

impl OperationWork {
    /// Work that moves `bytes`, each once, and computes `flops`.
    #[must_use]
    pub const fn once(bytes: Bytes, flops: Flops) -> Self {
        let bytes = ByteCounts { stream: Some(bytes), copy: None, hardware: None };
        Self { bytes, flops: Some(flops) }
    }

    /// Work that moves `bytes` by `convention` and of which nothing else is known.
    #[must_use]
    pub fn moved(bytes: Bytes, convention: ByteConvention) -> Self {
        let mut work = Self::default();
        *work.bytes.by_mut(convention) = Some(bytes);
        work
    }
}

/// By which rule bytes are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ByteConvention {
    /// Each array or operand that a program reads or writes, once: the rule of STREAM, and the least a product of matrices can move.
    Stream,
    /// What arrives at the target, once: the rule of `memcpy` benchmarks and of algorithm bandwidth.
    Copy,
    /// What memory carries, lines read before they are written included.
    Hardware,
}

fizeau_core::words! {
    /// The name in files: `stream`.
    pub ByteConvention::as_str, all, shown { Stream = "stream", Copy = "copy", Hardware = "hardware" }
}

/// The bytes of one operation by each convention that applies to it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ByteCounts {
    /// By [`ByteConvention::Stream`].
    #[serde(rename = "stream_bytes", default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Bytes>,
    /// By [`ByteConvention::Copy`].
    #[serde(rename = "copy_bytes", default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<Bytes>,
    /// By [`ByteConvention::Hardware`].
    #[serde(rename = "hardware_bytes", default, skip_serializing_if = "Option::is_none")]
    pub hardware: Option<Bytes>,
}

impl ByteCounts {
    /// The bytes by one convention; none where it does not apply or is not known.
    #[must_use]
    pub const fn by(&self, convention: ByteConvention) -> Option<Bytes> {
        match convention {
            ByteConvention::Stream => self.stream,
            ByteConvention::Copy => self.copy,
            ByteConvention::Hardware => self.hardware,
        }
    }

    fn by_mut(&mut self, convention: ByteConvention) -> &mut Option<Bytes> {
        match convention {
            ByteConvention::Stream => &mut self.stream,
            ByteConvention::Copy => &mut self.copy,
            ByteConvention::Hardware => &mut self.hardware,
        }
    }
}
