//! What is done, with its shape.

use std::fmt;

use fizeau_core::{Bytes, Choice, NamedChoice};
use serde::{Deserialize, Serialize};

use super::{
    AttentionShape, CollectiveRegime, CollectiveShape, Dtype, GemmShape, MemoryKernel, NormShape,
    RecurrenceShape, StoreKind,
};

/// What one operation does, with its shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Operation {
    /// Streams over arrays.
    Memory {
        /// How.
        kernel: MemoryKernel,
        /// How it stores; absent of a kernel that only reads, and where it is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stores: Option<StoreKind>,
        /// All arrays together; absent where it is not told.
        #[serde(rename = "working_set_bytes", default, skip_serializing_if = "Option::is_none")]
        working_set: Option<Bytes>,
    },
    /// Copies between two memories.
    Transfer {
        /// From where: `host`, `gpu0`.
        from: String,
        /// To where.
        to: String,
        /// By what.
        engine: TransferEngine,
        /// Whether both directions are under way at once.
        both_ways: bool,
    },
    /// Follows pointers, each load waiting for the one before. One operation is one load.
    Latency {
        /// What the pointers lie in.
        #[serde(rename = "working_set_bytes", default, skip_serializing_if = "Option::is_none")]
        working_set: Option<Bytes>,
        /// Which memory, where it is not the processor's own: `host to gpu0`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// The same while other threads load memory. What they reached is in `beside`.
    LoadedLatency {
        /// What the pointers lie in.
        #[serde(rename = "working_set_bytes", default, skip_serializing_if = "Option::is_none")]
        working_set: Option<Bytes>,
        /// Threads that load memory, where it is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        injectors: Option<u32>,
        /// How long each pauses between bursts, in steps of its own: larger is less traffic.
        injector_pause: u64,
    },
    /// Arithmetic in registers.
    Peak,
    /// A product of matrices.
    Gemm {
        /// Its shape.
        shape: GemmShape,
        /// The type of the result.
        output: Dtype,
        /// Which operator of a model asks for it: `gate_up of llama-3.1-8b, decode of 64`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
    },
    /// Attention of one layer.
    Attention {
        /// Its shape.
        shape: AttentionShape,
        /// Which operator of a model asks for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
    },
    /// What one layer does with its states.
    Recurrence {
        /// Its shape; the type of operands is that of the states.
        shape: RecurrenceShape,
        /// Which operator of a model asks for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
    },
    /// The norm of rows.
    Norm {
        /// Its shape.
        shape: NormShape,
        /// Which operator of a model asks for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
    },
    /// Ranks that tell each other something.
    Collective {
        /// Which, among how many, how much.
        shape: CollectiveShape,
        /// Which operator of a model asks for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
    },
    /// Arithmetic and traffic in a given proportion.
    Intensity {
        /// Operations for each byte.
        flops_per_byte: f64,
    },
    /// Starting a kernel that does nothing.
    Launch {
        /// How: `stream`, `graph`.
        way: String,
    },
    /// Something that has no place above, by the tool's own name.
    Other {
        /// The name.
        name: String,
    },
}

/// Behind the target of a copy that runs with one the other way, where its own rate alone is told.
pub(crate) const ONE_WAY: &str = ", measured one way";

/// The memory that a copy's `side` names, whichever way of it was measured.
pub(crate) fn memory_of(side: &str) -> &str {
    side.strip_suffix(ONE_WAY).unwrap_or(side)
}

/// What copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TransferEngine {
    /// An engine apart from what computes. No measure of a memory's bandwidth.
    CopyEngine,
    /// The same, asked by the side that reads.
    CopyEngineRead,
    /// The same, asked by the side that writes.
    CopyEngineWrite,
    /// A kernel that loads and stores, asked by the side that reads.
    KernelRead,
    /// A kernel that loads and stores, asked by the side that writes.
    KernelWrite,
    /// The tool does not report it.
    #[serde(rename = "not_reported", alias = "not_said")]
    NotReported,
}

fizeau_core::words! {
    /// The name in files: `copy_engine`.
    pub TransferEngine::as_str, all, shown {
        CopyEngine = "copy_engine", CopyEngineRead = "copy_engine_read",
        CopyEngineWrite = "copy_engine_write", KernelRead = "kernel_read", KernelWrite = "kernel_write",
        NotReported = "not_reported",
    }
}

/// Which part of a machine an operation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Component {
    /// Bandwidth of memory, copies, and norms, which hardly compute.
    Memory,
    /// How long a load takes.
    Latency,
    /// Peak arithmetic.
    Compute,
    /// Products of matrices.
    Gemm,
    /// Attention, and what layers do with their states.
    Attention,
    /// Collectives.
    Collective,
    /// Launches.
    Launch,
    /// Whatever else a tool measured.
    Other,
}

impl Component {
    /// Those that are `asked` for, each once and in the usual order; all of them where none is.
    ///
    /// ```
    /// use fizeau_probe::Component;
    /// let asked = [Component::Gemm, Component::Memory, Component::Gemm];
    /// assert_eq!(Component::chosen(&asked), [Component::Memory, Component::Gemm]);
    /// assert_eq!(Component::chosen(&[]), Component::ALL);
    /// ```
    #[must_use]
    pub fn chosen(asked: &[Self]) -> Vec<Self> {
        let is_asked = |of: &Self| asked.is_empty() || asked.contains(of);
        Self::ALL.into_iter().filter(is_asked).collect()
    }
}

impl Choice for Component {
    const CHOICES: &'static [NamedChoice<Self>] = &[
        NamedChoice::new(
            Self::Memory.as_str(),
            Self::Memory,
            "Bandwidth of memory and caches; of a model also its norms",
        ),
        NamedChoice::new(
            Self::Latency.as_str(),
            Self::Latency,
            "How long a load takes, alone and under traffic",
        ),
        NamedChoice::new(
            Self::Compute.as_str(),
            Self::Compute,
            "Peak arithmetic by type and instruction set",
        ),
        NamedChoice::new(Self::Gemm.as_str(), Self::Gemm, "Products of matrices"),
        NamedChoice::new(
            Self::Attention.as_str(),
            Self::Attention,
            "Attention, decode and prefill; of a model also its recurrent states",
        ),
        NamedChoice::new(Self::Collective.as_str(), Self::Collective, "Collectives among devices"),
    ];
}

fizeau_core::words! {
    /// The name in files: `gemm`.
    pub Component::as_str, all, shown {
        Memory = "memory", Latency = "latency", Compute = "compute", Gemm = "gemm",
        Attention = "attention", Collective = "collective", Launch = "launch", Other = "other",
    }
}

impl Operation {
    /// Loads that wait for one another, within `working_set` bytes of the processor's own memory.
    #[must_use]
    pub const fn latency(working_set: Bytes) -> Self {
        Self::Latency { working_set: Some(working_set), path: None }
    }

    /// How large the arrays are that it goes over, where it has such and their size is told.
    pub(crate) const fn working_set(&self) -> Option<Bytes> {
        match self {
            Self::Memory { working_set, .. }
            | Self::Latency { working_set, .. }
            | Self::LoadedLatency { working_set, .. } => *working_set,
            _ => None,
        }
    }

    /// The same with arrays of no size, and without the threads that load memory beside it.
    pub(crate) fn of_any_size(&self) -> Self {
        let mut of = self.clone();
        match &mut of {
            Self::Memory { working_set, .. } | Self::Latency { working_set, .. } => {
                *working_set = None;
            }
            Self::LoadedLatency { working_set, injectors, .. } => {
                (*working_set, *injectors) = (None, None);
            }
            _ => {}
        }
        of
    }

    /// Whether it copies from a memory into the same one.
    pub(crate) fn is_within_one(&self) -> bool {
        matches!(self, Self::Transfer { from, to, .. } if from == to)
    }

    /// Which part of a machine it is about.
    #[must_use]
    pub const fn component(&self) -> Component {
        match self {
            Self::Memory { .. } | Self::Transfer { .. } | Self::Norm { .. } => Component::Memory,
            Self::Latency { .. } | Self::LoadedLatency { .. } => Component::Latency,
            Self::Peak | Self::Intensity { .. } => Component::Compute,
            Self::Gemm { .. } => Component::Gemm,
            Self::Attention { .. } | Self::Recurrence { .. } => Component::Attention,
            Self::Collective { .. } => Component::Collective,
            Self::Launch { .. } => Component::Launch,
            Self::Other { .. } => Component::Other,
        }
    }
}

/// One line without the method: `triad, 512 MiB, non_temporal stores`.
impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory { kernel, stores, working_set } => {
                write!(f, "{kernel}{}", within(*working_set))?;
                stores.map_or(Ok(()), |stores| write!(f, ", {stores} stores"))
            }
            Self::Transfer { from, to, engine, both_ways } => {
                let ways = if *both_ways { ", both ways" } else { "" };
                write!(f, "copy {from} to {to}, {engine}{ways}")
            }
            Self::Latency { working_set, path } => {
                let path = path.as_deref().map(|path| format!(" {path}")).unwrap_or_default();
                write!(f, "load latency{path}{}", within(*working_set))
            }
            Self::LoadedLatency { working_set, injectors, injector_pause } => {
                write!(f, "loaded latency{}, pause {injector_pause}", within(*working_set))?;
                injectors.map_or(Ok(()), |count| write!(f, ", {count} injectors"))
            }
            Self::Peak => f.write_str("peak arithmetic"),
            Self::Gemm { shape: GemmShape { m, n, k, batch }, output, .. } => {
                let batch = if *batch == 1 { String::new() } else { format!("{batch} x ") };
                write!(f, "gemm {batch}{m} x {n} x {k} to {output}")
            }
            Self::Attention { shape, .. } => {
                let AttentionShape { phase, batch, query_heads, kv_heads, .. } = shape;
                let AttentionShape { key_dim, value_dim, query_len, kv_len, .. } = shape;
                let paged = shape.page_tokens.map(|tokens| format!(", pages of {tokens}"));
                write!(
                    f,
                    "attention {phase}, {batch} x {query_len} queries on {kv_len} keys, \
                     {query_heads}/{kv_heads} heads of {key_dim}/{value_dim}{}",
                    paged.unwrap_or_default()
                )
            }
            Self::Recurrence { shape, .. } => {
                let RecurrenceShape { rule, sequences, tokens, .. } = shape;
                let RecurrenceShape { key_heads, value_heads, key_dim, value_dim, .. } = shape;
                write!(
                    f,
                    "{rule}, {sequences} x {tokens} tokens, {value_heads}/{key_heads} heads of \
                     {key_dim}/{value_dim}"
                )
            }
            Self::Norm { shape: NormShape { rows, width }, .. } => {
                write!(f, "norm, {rows} x {width}")
            }
            Self::Collective { shape, .. } => {
                let CollectiveShape { op, ranks, message, algorithm, regime, .. } = shape;
                write!(f, "{op}, {ranks} ranks, {}", size(*message))?;
                let place = shape.in_place.map(|own| if own { "in place" } else { "out of place" });
                let said = [algorithm.as_deref(), regime.map(CollectiveRegime::as_str), place];
                said.into_iter().flatten().try_for_each(|word| write!(f, ", {word}"))
            }
            Self::Intensity { flops_per_byte } => write!(f, "{flops_per_byte} FLOP/byte"),
            Self::Launch { way } => write!(f, "launch by {way}"),
            Self::Other { name } => f.write_str(name),
        }
    }
}

fn within(working_set: Option<Bytes>) -> String {
    working_set.map(|bytes| format!(", {}", size(bytes))).unwrap_or_default()
}

/// Whole numbers of the largest binary unit that has them, to two decimals.
pub(crate) fn size(bytes: Bytes) -> String {
    let mut value = bytes.get();
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, larger);
    }
    let rounded = (value * 100.0).round() / 100.0;
    format!("{rounded} {unit}")
}
