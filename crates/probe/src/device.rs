//! What is known of a device before it is measured: what its vendor prints, and what units it has.

use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec, PerSec};
use fizeau_roofline::{Device, MathType};
use serde::{Deserialize, Serialize};

use crate::measurement::{Component, Dtype, Measurement, ONE_WAY, Operation};

/// What measurements call the machine's own processor.
pub(crate) const PROCESSOR: &str = "cpu";

/// What is known of a device before it is measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DeviceFacts {
    /// The name that measurements call it by: `cpu`, `gpu0`.
    pub name: String,
    /// The name of the part, as the system gives it.
    pub model: String,
    /// What it holds.
    #[serde(rename = "memory_bytes", default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// The name, in the roofline's table, of the device whose data sheet is that of this part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_sheet: Option<String>,
    /// Its last cache before memory; of a processor that has several, those of all its threads together. In a virtual machine this may be the
    /// host's.
    #[serde(rename = "last_cache_bytes", default, skip_serializing_if = "Option::is_none")]
    pub last_cache: Option<Bytes>,
    /// Its caches of data before memory, the nearest first, as the system describes them: of each level the one that one thread uses. Those
    /// of a virtual machine may be the host's.
    #[serde(rename = "caches_bytes", default, skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<Bytes>,
    /// How many multiprocessors a GPU has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiprocessors: Option<u32>,
    /// The highest clock of what computes, in cycles per second.
    #[serde(rename = "highest_clock_per_s", default, skip_serializing_if = "Option::is_none")]
    pub highest_clock: Option<PerSec>,
    /// Figures that its vendor prints, or that follow from its parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub specification: Vec<SpecifiedPeak>,
    /// Its arithmetic units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<ArithmeticUnits>,
    /// The versions of what stands between: driver, libraries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub software: Vec<String>,
    /// What cannot be measured on it, a sentence each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unavailable: Vec<String>,
}

/// A peak that somebody prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpecifiedPeak {
    /// How much of what.
    pub peak: Peak,
    /// On operands of which type, where it is a rate of arithmetic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<Dtype>,
    /// Who says so.
    pub source: String,
}

/// A rate that cannot be exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Peak {
    /// Of memory, as the hardware counts.
    #[serde(rename = "bytes_per_s")]
    Bandwidth(BytesPerSec),
    /// Of the links of one device, one direction.
    #[serde(rename = "link_bytes_per_s")]
    Link(BytesPerSec),
    /// Of arithmetic, dense.
    #[serde(rename = "flop_per_s")]
    Arithmetic(FlopsPerSec),
}

impl Peak {
    pub(crate) const fn rate(self) -> f64 {
        match self {
            Self::Bandwidth(rate) | Self::Link(rate) => rate.get(),
            Self::Arithmetic(rate) => rate.get(),
        }
    }
}

/// Units that compute with operands of one type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ArithmeticUnits {
    /// The type.
    pub dtype: Dtype,
    /// By which instructions: as [`crate::Method::instructions`] calls them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Operations that one core or multiprocessor completes in a cycle, a multiply-add counted as two.
    pub flops_per_cycle: f64,
    /// How many cores or multiprocessors the device has; threads that share a core share its units. A measurement on fewer threads is held
    /// against as many.
    pub cores: u32,
    /// Who says so.
    pub source: String,
}

impl DeviceFacts {
    /// A device that measurements call `name`, and its vendor `model`. The rest is not known.
    #[must_use]
    pub fn new(name: impl Into<String>, model: impl Into<String>) -> Self {
        Self { name: name.into(), model: model.into(), ..Self::default() }
    }

    /// Whether it is the machine's own processor, and no GPU.
    #[must_use]
    pub fn is_processor(&self) -> bool {
        self.name == PROCESSOR
    }

    /// The same with the figures that the table of devices has of `device`.
    #[must_use]
    pub fn specified_by(mut self, device: &Device) -> Self {
        let source = |field: &str| {
            let cell = device.cells().find(|cell| cell.field == field);
            cell.map_or_else(|| device.name.clone(), |cell| cell.source.clone())
        };
        self.memory = self.memory.or_else(|| Some(device.memory()));
        let known = Device::named(&device.name).ok();
        self.data_sheet = known.map(|known| known.name.clone());
        self.specification.push(SpecifiedPeak {
            peak: Peak::Bandwidth(device.memory_bandwidth()),
            dtype: None,
            source: source("memory.bandwidth"),
        });
        let kinds = [
            (MathType::Bf16, "rates.bf16", [Dtype::Bf16, Dtype::F16].as_slice()),
            (MathType::Fp8, "rates.fp8", &[Dtype::Fp8E4m3, Dtype::Fp8E5m2, Dtype::Mxfp8]),
            (MathType::Fp4, "rates.fp4", &[Dtype::Nvfp4, Dtype::Mxfp4]),
            (MathType::Int8, "rates.int8", &[Dtype::Int8]),
        ];
        for (math, field, dtypes) in kinds {
            let Some(rate) = device.dense_rate(math) else { continue };
            self.specification.extend(dtypes.iter().map(|dtype| SpecifiedPeak {
                peak: Peak::Arithmetic(rate),
                dtype: Some(*dtype),
                source: source(field),
            }));
        }
        if let Some(link) = device.link() {
            self.specification.push(SpecifiedPeak {
                peak: Peak::Link(link.bandwidth),
                dtype: None,
                source: source("link.each_way"),
            });
        }
        self
    }

    /// What `seen` could reach at most by its vendor. A working set that fits into a cache is not held against memory. A copy within
    /// the device is, whoever makes it, by the bytes that it reads and writes; one between two GPUs is held against the links of one,
    /// both of their directions where both are under way.
    pub(crate) fn specified(&self, seen: &Measurement) -> Option<Peak> {
        let fits = |printed: &&SpecifiedPeak| match (printed.peak, seen.operation.component()) {
            (Peak::Bandwidth(_), Component::Memory) => self.is_of_memory(seen),
            (Peak::Link(_), Component::Memory) => between_gpus(&seen.operation).is_some(),
            (Peak::Link(_), Component::Collective) => true,
            (Peak::Arithmetic(_), Component::Compute | Component::Gemm | Component::Attention) => {
                printed.dtype == seen.dtype
            }
            _ => false,
        };
        let peak = self.specification.iter().find(fits)?.peak;
        Some(match (peak, between_gpus(&seen.operation)) {
            (Peak::Link(rate), Some(directions)) => Peak::Link(rate * directions),
            _ => peak,
        })
    }

    fn is_of_memory(&self, seen: &Measurement) -> bool {
        match &seen.operation {
            Operation::Memory { working_set, .. } => match (working_set, self.last_cache) {
                (Some(bytes), Some(cache)) => bytes.get() >= 4.0 * cache.get(),
                _ => true,
            },
            other => other.is_within_one(),
        }
    }

    /// What its units give at the faster of the clocks before and after, on as many of them as threads worked.
    pub(crate) fn at_clock(&self, seen: &Measurement) -> Option<Peak> {
        let is_compute = matches!(
            seen.operation.component(),
            Component::Compute | Component::Gemm | Component::Attention
        );
        if !is_compute {
            return None;
        }
        let clocks = [seen.circumstances.clock_before, seen.circumstances.clock_after];
        let clocks = clocks.into_iter().flatten().map(PerSec::get);
        // The faster of both: a clock that rose meanwhile is no reason to say more than all of the peak.
        let clock = clocks.max_by(f64::total_cmp)?;
        // A library does not say by which instructions it computes: the fastest count then. A loop of our own does, and what is not
        // known of these is not said by others.
        let known = |wanted: &&str| {
            self.units.iter().any(|units| units.instructions.as_deref() == Some(*wanted))
        };
        let is_peak = seen.operation.component() == Component::Compute;
        let wanted = seen.method.instructions.as_deref().filter(|by| is_peak || known(by));
        let alike = |units: &&ArithmeticUnits| {
            Some(units.dtype) == seen.dtype
                && (wanted.is_none()
                    || units.instructions.is_none()
                    || units.instructions.as_deref() == wanted)
        };
        let fastest = |a: &&ArithmeticUnits, b: &&ArithmeticUnits| {
            a.flops_per_cycle.total_cmp(&b.flops_per_cycle)
        };
        let units = self.units.iter().filter(alike).max_by(fastest)?;
        let cores = seen.method.threads.map_or(units.cores, |threads| threads.min(units.cores));
        Some(Peak::Arithmetic(FlopsPerSec::new(units.flops_per_cycle * f64::from(cores) * clock)))
    }
}

/// In how many directions a copy between one GPU and another one is measured; none of any other operation.
fn between_gpus(operation: &Operation) -> Option<f64> {
    let Operation::Transfer { from, to, both_ways, .. } = operation else { return None };
    let is_gpu = |side: &str| {
        let number = side.strip_prefix("gpu");
        number
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    };
    let (to, is_one_way) = match to.strip_suffix(ONE_WAY) {
        Some(to) => (to, true),
        None => (to.as_str(), !both_ways),
    };
    let is_between = from != to && is_gpu(from) && is_gpu(to);
    is_between.then_some(if is_one_way { 1.0 } else { 2.0 })
}
