//! One trial on a GPU: its arrays, its samples, and what is kept beside them.

mod attention;
mod collective;
mod gemm;
mod latency;
mod launch;
mod memory;

use fizeau_core::{Bytes, Nanos, PerSec};

use super::driver::{Address, Argument, Driver, Kernel, Launch, timed, with_arrays};
use super::error::CudaError;
use super::ptx::{self, Fill};
use crate::measurement::{Measurement, Method, OperationWork, Provenance, TimedBy, size};
use crate::sampling::{Sampled, SamplingRule, sample_timed};
use crate::trial::ProbeTrial;
pub(super) use collective::Collecting;

/// One trial, and with what it is measured.
#[derive(Debug)]
pub(super) struct Measuring<'a> {
    pub(super) driver: &'a mut dyn Driver,
    pub(super) device: &'a str,
    pub(super) time: Nanos,
    pub(super) trial: &'a ProbeTrial,
}

/// Why there is no measurement.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Cuda(#[from] CudaError),
    #[error("{0}")]
    NotHere(String),
}

impl Failure {
    pub(super) const fn not_written(reason: String) -> Self {
        Self::NotHere(reason)
    }
}

/// Arrays take no more than this part of the memory that is free.
const OF_FREE: f64 = 0.9;
/// Cycles for which the clock is watched: about a millisecond.
const WATCHED_CYCLES: u64 = 2_000_000;

impl Measuring<'_> {
    fn fits(&mut self, bytes: u64) -> Result<(), Failure> {
        fits(self.driver, bytes)
    }

    /// The measurement, but for what only its kind knows.
    fn measurement(
        &self,
        sampled: Sampled,
        clocks: [Option<PerSec>; 2],
        work: OperationWork,
    ) -> Measurement {
        let operation = self.trial.operation.clone();
        let mut seen =
            Measurement::new(self.device, operation, sampled.timing, Provenance::native());
        seen.work = work;
        [seen.circumstances.clock_before, seen.circumstances.clock_after] = clocks;
        seen.method = Method {
            warm_up_operations: Some(sampled.warm_up_operations),
            timed_by: Some(TimedBy::DeviceEvents),
            instructions: Some("ptx".to_owned()),
            ..Method::default()
        };
        seen
    }
}

/// Whether there is as much room.
fn fits(driver: &mut dyn Driver, bytes: u64) -> Result<(), Failure> {
    let free = driver.free_bytes()?;
    if bytes as f64 <= OF_FREE * free as f64 {
        return Ok(());
    }
    Err(Failure::NotHere(format!(
        "it needs {} of the device's memory, and {} are free",
        size(Bytes::new(bytes as f64)),
        size(Bytes::new(free as f64))
    )))
}

/// Samples for `time` of what `queue` puts into the queue, by the device's own clock.
fn sampled(
    driver: &mut dyn Driver,
    time: Nanos,
    mut queue: impl FnMut(&mut dyn Driver, u64) -> Result<(), CudaError>,
) -> Result<Sampled, CudaError> {
    let mut took = |count: u64| timed(driver, |driver| queue(driver, count));
    sample_timed(SamplingRule::lasting(time), &mut took)
}

/// The clock of the multiprocessors at rest, by one that counts its cycles while events take the time. None if nothing comes of it. Where all
/// of them work it may be lower.
fn clock(driver: &mut dyn Driver) -> Result<Option<PerSec>, CudaError> {
    let kernel = small(driver, "spin")?;
    with_arrays(driver, [8], |driver, [out]| {
        let arguments = vec![Argument::Long(out), Argument::Long(WATCHED_CYCLES)];
        let launch = Launch { kernel, blocks: (1, 1), threads: 1, arguments };
        let took = timed(driver, |driver| driver.launch(&launch))?.as_secs_f64();
        let mut cycles = [0; 8];
        driver.download(out, &mut cycles)?;
        let rate = u64::from_le_bytes(cycles) as f64 / took;
        Ok((rate.is_finite() && rate > 0.0).then(|| PerSec::new(rate)))
    })
}

/// One of the kernels that have no variants.
fn small(driver: &mut dyn Driver, entry: &str) -> Result<Kernel, CudaError> {
    let kernels = [ptx::fill(), ptx::chase(), ptx::empty(), ptx::spin()];
    driver.load(&ptx::module(kernels), entry)
}

/// Fills `bytes` at `to` by `rule`.
fn fill(driver: &mut dyn Driver, to: Address, bytes: u64, rule: Fill) -> Result<(), CudaError> {
    let kernel = small(driver, "fill")?;
    let blocks = (driver.properties().multiprocessors.max(1) * 8, 1);
    let words = [rule.random, rule.fixed, rule.seed].map(Argument::Word);
    let mut arguments = vec![Argument::Long(to), Argument::Long(bytes / 4)];
    arguments.extend(words);
    driver.launch(&Launch { kernel, blocks, threads: 256, arguments })
}

/// Elements of 32 bits at `from`.
fn floats(driver: &mut dyn Driver, from: Address, count: usize) -> Result<Vec<f32>, CudaError> {
    let mut bytes = vec![0; 4 * count];
    driver.download(from, &mut bytes)?;
    let float = |word: &[u8; 4]| f32::from_le_bytes(*word);
    Ok(bytes.as_chunks().0.iter().map(float).collect())
}
