//! likwid-bench.
//!
//! Of <https://github.com/RRZE-HPC/likwid/blob/master/bench/likwid-bench.c>: who touches arrays first and whether their length was
//! rounded, a banner, `Test: NAME`, then lines `Key: value`. A
//! kernel whose name has `_mem` stores past the caches, others do not; bytes are those that a kernel declares, without
//! lines that are read before they are written. What it calls `stream` is the triad of STREAM; its `triad` has one array more.

use fizeau_core::{Bytes, Flops};

use super::cell;
use super::reading::{NotThis, Reading};
use super::source::Source;
use super::tells::Tells;
use crate::measurement::{
    ByteCounts, Dtype, FirstTouch, MemoryKernel, Operation, OperationWork, SampleStatistic,
    StoreKind,
};

/// One run of one kernel.
#[derive(Debug, Default)]
struct Run {
    place: usize,
    test: String,
    threads: Option<u32>,
    cpus: Vec<(u64, u32)>,
    first_touch: Option<FirstTouch>,
    seconds: Option<f64>,
    passes: Option<u64>,
    size: Option<f64>,
    flops: Option<f64>,
    bytes: Option<f64>,
    notes: Vec<String>,
}

pub(super) fn read(source: &Source) -> Result<Reading<'_>, NotThis> {
    let is_banner = |text: &str| text.trim().starts_with("LIKWID MICRO BENCHMARK");
    source.must_have("banner `LIKWID MICRO BENCHMARK`", is_banner)?;
    let mut reading = Reading::of_lines(source, "likwid-bench");
    let mut run = Run::default();
    for line in source.lines() {
        let text = line.text.trim();
        if run.ends_before(text) {
            std::mem::take(&mut run).close(&mut reading);
        }
        run.line(line.number, text);
    }
    run.close(&mut reading);
    Ok(reading)
}

impl Run {
    /// Whether a line is the first of another run. What a run says of its arrays comes before its banner.
    fn ends_before(&self, text: &str) -> bool {
        let begins = |signs: &[&str]| signs.iter().any(|sign| text.starts_with(sign));
        let is_of_arrays = begins(&["Allocate:", "Initialization:", "Warning: Sanitizing"]);
        !self.test.is_empty()
            && (begins(&["LIKWID MICRO BENCHMARK", "Test:"])
                || self.seconds.is_some() && is_of_arrays)
    }

    fn line(&mut self, place: usize, text: &str) {
        let small = |count: Option<u64>| count.and_then(|count| u32::try_from(count).ok());
        if let Some(threads) =
            text.strip_prefix("Using ").and_then(|rest| rest.strip_suffix(" threads"))
        {
            self.threads = small(cell::count(threads));
        } else if text.starts_with("Initialization:") {
            let is_first = text.to_ascii_lowercase().contains("first thread");
            self.first_touch =
                Some(if is_first { FirstTouch::OneThread } else { FirstTouch::OwnThread });
        } else if text.starts_with("Warning: Sanitizing") {
            self.notes.push(
                "the tool rounded the length of its arrays to what its loop takes at once".into(),
            );
        } else if text.starts_with("Group:") {
            let after = |key| cell::number_after(text, key).and_then(cell::whole);
            let cpu = small(after("running on hwthread ").or_else(|| after("running on core ")));
            self.cpus.extend(after("Global Thread ").zip(cpu));
        } else if let Some((key, value)) = text.split_once(':') {
            let value = value.split_whitespace().next().unwrap_or_default();
            let number = cell::number(value);
            match key {
                "Test" => (self.test, self.place) = (value.to_owned(), place),
                "Time" => self.seconds = number,
                "Iterations per thread" => self.passes = cell::count(value),
                "Size (Byte)" => self.size = number,
                "Number of Flops" => self.flops = number,
                "Data volume (Byte)" => self.bytes = number,
                _ => {}
            }
        }
    }

    fn close(mut self, reading: &mut Reading<'_>) {
        if self.test.is_empty() {
            return;
        }
        let (Some(seconds), Some(passes), Some(bytes)) = (self.seconds, self.passes, self.bytes)
        else {
            return reading.skip(self.place, "its time, its passes or its data volume is missing");
        };
        let kernel = Kernel::of(&self.test);
        let pass = |all: f64| all / passes.max(1) as f64;
        let stream = pass(bytes);
        let tells = Tells::of(Some(passes)).seconds(SampleStatistic::Mean, Some(pass(seconds)));
        let operation = match (kernel.memory, self.test.starts_with("peakflops")) {
            (Some(memory), _) => Operation::Memory {
                kernel: memory,
                stores: memory.stores().then_some(kernel.stores),
                working_set: self.size.map(Bytes::new),
            },
            (None, true) => Operation::Peak,
            (None, false) => Operation::Other { name: self.test.clone() },
        };
        let Some(seen) = reading.measured(self.place, "cpu", operation, tells) else { return };
        let bytes = ByteCounts {
            stream: Some(Bytes::new(stream)),
            copy: None,
            hardware: kernel.hardware(stream),
        };
        seen.work = OperationWork { bytes, flops: self.flops.map(pass).map(Flops::new) };
        seen.dtype = Some(kernel.dtype);
        seen.method.instructions = kernel.instructions;
        seen.method.threads = self.threads;
        self.cpus.sort_unstable();
        seen.method.cpus = self.cpus.into_iter().map(|(_, cpu)| cpu).collect();
        seen.method.first_touch = self.first_touch;
        seen.notes = self.notes;
    }
}

/// What a kernel's name says: `copy_mem_avx512`.
struct Kernel {
    memory: Option<MemoryKernel>,
    stores: StoreKind,
    dtype: Dtype,
    instructions: Option<String>,
}

impl Kernel {
    fn of(name: &str) -> Self {
        let parts: Vec<&str> = name.split('_').collect();
        let memory = match parts[0] {
            "load" | "sum" => Some(MemoryKernel::Read),
            "store" => Some(MemoryKernel::Write),
            "copy" => Some(MemoryKernel::Copy),
            "stream" => Some(MemoryKernel::Triad),
            "ddot" => Some(MemoryKernel::Dot),
            _ => None,
        };
        let has = |part: &str| parts.contains(&part);
        let sets = ["sse", "avx", "avx512", "neon", "sve"];
        let dtype = match (has("sp"), has("int")) {
            (true, _) => Dtype::F32,
            (false, true) => Dtype::Int32,
            (false, false) => Dtype::F64,
        };
        Self {
            memory,
            stores: if has("mem") { StoreKind::NonTemporal } else { StoreKind::Ordinary },
            dtype,
            instructions: sets.into_iter().find(|set| has(set)).map(str::to_owned),
        }
    }

    /// What memory carries of that many bytes, where the kernel is one of ours.
    fn hardware(&self, stream: f64) -> Option<Bytes> {
        let one = self.memory?.work(1, self.dtype, self.stores).bytes;
        Some(Bytes::new(stream * (one.hardware? / one.stream?)))
    }
}
