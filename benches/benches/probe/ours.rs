//! What the probe measures of this processor.

use anyhow::{Context, Result};
use fizeau::core::{Bytes, BytesPerSec, FlopsPerSec, Nanos, Seconds};
use fizeau::probe::{
    Component, CpuBackend, Dtype, GemmShape, MemoryKernel, Operation, ProbeBackend, ProbeDocument,
    ProbeRow, ProbeTrial, StoreKind,
};

/// How long each measurement has: short, so that others have their turn in what is nearly the same moment.
const TIME: Nanos = Nanos::from_millis(500);

/// The processor, and what is usually measured of it.
pub(crate) struct Ours {
    backend: CpuBackend,
    threads: u32,
    array: f64,
}

impl Ours {
    pub(crate) fn new() -> Self {
        let backend = CpuBackend::new();
        // The first trials are those of all threads in arrays as large as memory asks for.
        let trials = backend.trials(Component::Memory);
        let threads = trials.iter().map(|trial| trial.threads).max().unwrap_or(1);
        let array = trials.iter().find_map(|trial| match &trial.operation {
            Operation::Memory { kernel: MemoryKernel::Read, working_set, .. } => *working_set,
            _ => None,
        });
        Self { backend, threads, array: array.map_or(256e6, Bytes::get) }
    }

    pub(crate) fn machine(&self) -> String {
        let model = self.backend.devices().first().map(|device| device.model.clone());
        format!("{}, {} threads", model.unwrap_or_default(), self.threads)
    }

    /// Of one array.
    pub(crate) const fn array_bytes(&self) -> f64 {
        self.array
    }

    /// GB/s as STREAM counts, with the better kind of stores.
    pub(crate) fn triad(&mut self) -> Result<f64> {
        let ordinary = self.memory(MemoryKernel::Triad, Some(StoreKind::Ordinary))?;
        // Not every processor has such stores.
        let past = self.memory(MemoryKernel::Triad, Some(StoreKind::NonTemporal));
        Ok(past.map_or(ordinary, |past| past.max(ordinary)))
    }

    /// GB/s.
    pub(crate) fn read(&mut self) -> Result<f64> {
        self.memory(MemoryKernel::Read, None)
    }

    fn memory(&mut self, kernel: MemoryKernel, stores: Option<StoreKind>) -> Result<f64> {
        let working_set = Some(Bytes::new(f64::from(kernel.array_count()) * self.array));
        let operation = Operation::Memory { kernel, stores, working_set };
        let row = self.measured(&ProbeTrial::new(operation, Dtype::F64, self.threads))?;
        let rate = row.figures.stream.context("no bandwidth")?.map(BytesPerSec::get);
        Ok(rate.peak() / 1e9)
    }

    /// GFLOP/s by the better of what is built in and OpenBLAS, where that is found: as the probe's device file has it.
    pub(crate) fn gemm(&mut self, size: u64) -> Result<f64> {
        let square = GemmShape::new(size, size, size);
        let is_one = |trial: &ProbeTrial| {
            let is_square =
                matches!(&trial.operation, Operation::Gemm { shape, .. } if *shape == square);
            is_square && trial.dtype == Dtype::F32 && trial.threads == self.threads
        };
        let trials: Vec<ProbeTrial> =
            self.backend.trials(Component::Gemm).into_iter().filter(is_one).collect();
        let mut best: f64 = 0.0;
        for trial in &trials {
            best = best.max(arithmetic(&self.measured(trial)?)?);
        }
        Ok(best)
    }

    /// GFLOP/s of one thread by the best instructions; and what its units give at the clock that was measured, where they are known.
    pub(crate) fn peak(&mut self) -> Result<(f64, Option<f64>)> {
        let row = self.measured(&ProbeTrial::new(Operation::Peak, Dtype::F32, 1))?;
        let reached = arithmetic(&row)?;
        let share = row.shares.percent_of_clock_peak;
        Ok((reached, share.map(|share| 100.0 * reached / share)))
    }

    /// Nanoseconds.
    pub(crate) fn latency(&mut self) -> Result<f64> {
        let operation = Operation::latency(Bytes::new(2.0 * self.array));
        let row = self.measured(&ProbeTrial::new(operation, Dtype::Int64, 1))?;
        Ok(row.figures.seconds().context("no time")?.map(Seconds::get).peak() * 1e9)
    }

    fn measured(&mut self, trial: &ProbeTrial) -> Result<ProbeRow> {
        let seen = self.backend.measure(trial, TIME)?;
        let (host, devices) = (self.backend.host(), self.backend.devices());
        let mut document = ProbeDocument::new(host, devices, vec![seen]);
        document.rows.pop().context("no row")
    }
}

fn arithmetic(row: &ProbeRow) -> Result<f64> {
    Ok(row.figures.arithmetic.context("no rate")?.map(FlopsPerSec::get).peak() / 1e9)
}
