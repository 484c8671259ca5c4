//! What was seen of one operation: nothing derived, nothing judged.

mod circumstances;
mod collective;
mod dtype;
mod matrix;
mod memory;
mod method;
mod operation;
mod recurrence;
mod timing;
mod work;

use serde::{Deserialize, Serialize};

#[cfg(any(feature = "cpu", feature = "cuda"))]
pub(crate) use circumstances::worse;
pub use circumstances::{Circumstances, Provenance, Verification};
pub use collective::{CollectiveOp, CollectiveRegime, CollectiveShape, RankRule};
pub use dtype::Dtype;
pub use matrix::{AttentionPhase, AttentionShape, GemmShape};
pub use memory::{MemoryKernel, StoreKind};
pub use method::{
    ArrayPages, CacheState, DataPattern, FirstTouch, LaunchCost, Method, PageAdvice, TimedBy,
};
pub use operation::{Component, Operation, TransferEngine};
pub(crate) use operation::{ONE_WAY, memory_of, size};
pub use recurrence::{NormShape, RecurrenceRule, RecurrenceShape};
pub use timing::{ReportedFigure, ReportedValue, SampleStatistic, Timing};
pub use work::{ByteConvention, ByteCounts, OperationWork};

/// How [`Method::instructions`] names the library that some machines have, apart from what a program is built with.
pub(crate) const OPENBLAS: &str = "OpenBLAS";

/// What was seen of one operation on one device. Rates, shares and the verdict follow from it ([`crate::ProbeRow`]), whoever
/// measured.
///
/// ```
/// use fizeau_core::{Bytes, Millis};
/// use fizeau_probe::{Dtype, Measurement, MemoryKernel, Operation, Provenance, StoreKind, Timing};
///
/// let operation = Operation::Memory {
///     kernel: MemoryKernel::Triad,
///     stores: Some(StoreKind::Ordinary),
///     working_set: Some(Bytes::new(24e6)),
/// };
/// let samples = vec![Millis::new(2.0), Millis::new(2.1), Millis::new(2.0)];
/// let mut seen = Measurement::new("cpu", operation, Timing::of_samples(samples, 1), Provenance::native());
/// seen.dtype = Some(Dtype::F64);
/// seen.work = MemoryKernel::Triad.work(1_000_000, Dtype::F64, StoreKind::Ordinary);
/// seen.method.threads = Some(2);
/// assert_eq!(seen.key(), "cpu: triad, 22.89 MiB, ordinary stores, f64, 2 threads");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Measurement {
    /// On what: `cpu`, `gpu0`, `gpu0-7`. What is known of it is in the document's list of devices.
    pub device: String,
    /// What was done.
    pub operation: Operation,
    /// How the operands are stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<Dtype>,
    /// What one operation moves and computes.
    pub work: OperationWork,
    /// How it was measured.
    pub method: Method,
    /// The times.
    pub timing: Timing,
    /// Clocks, and what else went on.
    pub circumstances: Circumstances,
    /// Whether the result was right.
    pub verification: Verification,
    /// Who measured.
    pub provenance: Provenance,
    /// What must be known besides: a unit that was corrected, a figure that a file does not explain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Measurement {
    /// `operation` on `device`, timed so by that one. The rest is not known, and the result was not checked.
    #[must_use]
    pub fn new(
        device: impl Into<String>,
        operation: Operation,
        timing: Timing,
        provenance: Provenance,
    ) -> Self {
        Self {
            device: device.into(),
            operation,
            dtype: None,
            work: OperationWork::default(),
            method: Method::default(),
            timing,
            circumstances: Circumstances::default(),
            verification: Verification::not_checked("the tool reports no check"),
            provenance,
            notes: Vec::new(),
        }
    }

    /// The instructions, or the library, by which rows of one operation are told apart. None else: which ones are best is for the
    /// processor to say, but where they are what is measured, or where a machine has a library that others lack.
    #[must_use]
    pub fn named_instructions(&self) -> Option<&str> {
        let by = self.method.instructions.as_deref()?;
        (matches!(self.operation, Operation::Peak) || by == OPENBLAS).then_some(by)
    }

    /// What it is found by among others: device, operation, type, instructions, threads and pages. Measurements of two
    /// documents with the same key are of the same thing.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}: {}", self.device, self.subject())
    }

    /// The same without the device, to hold devices against each other.
    #[must_use]
    pub fn subject(&self) -> String {
        self.described(&self.operation, self.threads())
    }

    /// The same without what machines of unlike sizes choose for themselves: how large arrays are, and how many threads work.
    pub(crate) fn kind(&self) -> String {
        self.described(&self.operation.of_any_size(), None)
    }

    /// `2 threads`.
    pub(crate) fn threads(&self) -> Option<String> {
        let count = self.method.threads?;
        Some(if count == 1 { "1 thread".into() } else { format!("{count} threads") })
    }

    fn described(&self, operation: &Operation, threads: Option<String>) -> String {
        let pages = self.method.pages.map(|pages| pages.requested);
        let pages = pages.filter(|requested| *requested != PageAdvice::Default);
        let parts = [
            self.dtype.map(|dtype| dtype.to_string()),
            self.named_instructions().map(str::to_owned),
            threads,
            pages.map(|requested| format!("{requested} pages")),
        ];
        let parts = parts.into_iter().flatten().map(|part| format!(", {part}"));
        std::iter::once(operation.to_string()).chain(parts).collect()
    }
}
