//! What this silicon really does, measured part by part: memory, latency, arithmetic, products of matrices, attention,
//! collectives.
//!
//! A [`Measurement`] is what was seen of one operation: its shape, the bytes by three conventions and the arithmetic, how it
//! was measured, every sample, clocks, whether the result was right, and who measured, this crate or another tool. All else
//! follows from it in one place, for imported measurements too: times and rates ([`ProbeFigures`]), shares of three peaks
//! ([`PeakShares`]), the verdict with its reasons ([`ProbeRow`]). A [`ProbeDocument`] is those of one machine: `probe.json`.
//!
//! ```
//! use fizeau_core::{Bytes, Millis};
//! use fizeau_probe::{
//!     Dtype, Measurement, MemoryKernel, Operation, ProbeDocument, ProbeHost, Provenance, StoreKind, Timing,
//! };
//!
//! let operation = Operation::Memory {
//!     kernel: MemoryKernel::Triad,
//!     stores: Some(StoreKind::Ordinary),
//!     working_set: Some(Bytes::new(24e6)),
//! };
//! let samples = Timing::of_samples(vec![Millis::new(2.0); 10], 1);
//! let mut seen = Measurement::new("cpu", operation, samples, Provenance::native());
//! seen.work = MemoryKernel::Triad.work(1_000_000, Dtype::F64, StoreKind::Ordinary);
//! let document = ProbeDocument::new(ProbeHost::named("node1"), Vec::new(), vec![seen]);
//!
//! let figures = &document.rows[0].figures;
//! assert_eq!(figures.stream.map(|rate| rate.typical.get()), Some(12e9));
//! assert_eq!(figures.hardware.map(|rate| rate.typical.get()), Some(16e9));
//! assert_eq!(ProbeDocument::from_json(&document.to_json())?, document);
//! # Ok::<(), fizeau_probe::ProbeDocumentError>(())
//! ```
//!
//! **Use this crate** to measure a machine, to read what other tools measured, and to hold either against what a vendor prints.
//! **Do not use it** to measure an endpoint: that is for the layers from `fizeau-transport` to `fizeau-experiment`.
//!
//! # Invariants
//!
//! - What was seen and what follows from it are apart: a document that is read is judged anew.
//! - What is not known is absent, never zero; what another tool tells is converted, and a note says so.
//! - Operands are never zeros unless the row says so, and results are held against a reference.
//!
#![doc = include_str!("../place.md")]

mod comparison;
#[cfg(feature = "cpu")]
mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod document;
mod drive;
mod figures;
mod fit;
mod fleet;
mod folder;
mod gpu_coverage;
mod host;
mod import;
mod judge;
mod measured_device;
mod measurement;
mod plateau;
mod row;
#[cfg(any(feature = "cpu", feature = "cuda"))]
mod sampling;
#[cfg(feature = "schema")]
mod schema;
mod several;
mod shapes;
mod shares;
mod statistics;
mod trial;
mod twins;

pub use comparison::{ComparedFault, ComparedRow, ComponentSlander, ProbeComparison, Slander};
#[cfg(feature = "cpu")]
pub use cpu::CpuBackend;
#[cfg(feature = "cuda")]
pub use cuda::{CudaBackend, CudaCollectives, CudaError};
pub use device::{ArithmeticUnits, DeviceFacts, Peak, SpecifiedPeak};
pub use document::{ProbeDocument, ProbeDocumentError};
pub use drive::{KeepGoing, MeasurementSink, ProbeEvent, ProbeOutcome, run_trials};
pub use figures::{Figure, ProbeFigures};
pub use fit::CollectiveFit;
/// How far a row is to be believed.
pub use fizeau_core::Verdict;
pub use fleet::{FleetCell, FleetFault, FleetMember, FleetRow, FleetTable};
pub use folder::{KeptMeasurements, ProbeFolder, ProbeFolderError};
pub use host::ProbeHost;
pub use import::{
    FormatTried, ImportJoinError, ImportedMeasurements, MeasurementImportError, import_measurements,
};
pub use judge::{Objection, ProbeRule};
pub use measured_device::{MeasuredDevice, MeasuredDeviceError};
pub use measurement::{
    ArrayPages, AttentionPhase, AttentionShape, ByteConvention, ByteCounts, CacheState,
    Circumstances, CollectiveOp, CollectiveRegime, CollectiveShape, Component, DataPattern, Dtype,
    FirstTouch, GemmShape, LaunchCost, Measurement, MemoryKernel, Method, NormShape, Operation,
    OperationWork, PageAdvice, Provenance, RankRule, RecurrenceRule, RecurrenceShape,
    ReportedFigure, ReportedValue, SampleStatistic, StoreKind, TimedBy, Timing, TransferEngine,
    Verification,
};
pub use plateau::Plateau;
pub use row::ProbeRow;
pub use several::SeveralDevices;
pub use shapes::{ModelOperator, ModelPass, ModelRows, model_operators, model_trials};
pub use shares::PeakShares;
pub use trial::{ProbeBackend, ProbeTrial, Unavailable, UnavailableReasons, usual_trials};
pub use twins::{MeasuredOperator, MeasuredTerm};

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
