//! Streaming: the fastest setting is looked for, then measured, then its result is held against the host's.

use fizeau_core::{Bytes, Nanos};

use super::{Failure, Measuring, clock, fill, floats, sampled};
use crate::cuda::driver::{Address, Argument, Driver, Launch, timed, with_arrays};
use crate::cuda::error::CudaError;
use crate::cuda::ptx::{self, CONSTANT, Fill, LoadSetting};
use crate::cuda::sweep::{Setting, Swept, THREADS, sweep};
use crate::measurement::{
    CacheState, DataPattern, Dtype, LaunchCost, Measurement, MemoryKernel, Operation,
    OperationWork, StoreKind, Verification, worse,
};

/// A launch streams over this much at least, so that it lasts far longer than a launch costs: over small arrays it goes several times.
const LEAST_TRAFFIC: u64 = 256 << 20;
/// But no more than so many times the cache: a small device needs no more.
const CACHES_OF_TRAFFIC: u64 = 8;
/// The part of the time that looking for the fastest setting may have.
const SWEEP_SHARE: f64 = 0.4;
/// Threads whose sums are held against the host's, and places at which arrays are.
const CHECKED_THREADS: u64 = 256;
const CHECKED_PLACES: u64 = 16;
/// Elements that are compared at each place.
const WINDOW: u64 = 16_384;
/// Sums of a thread in single precision, against double.
const SUM_TOLERANCE: f64 = 1e-3;

/// How a copy of as many bytes that stands for an operation is named.
const COPY: &str = "copy";

/// Where the arrays of a kernel lie, and how it goes over them.
struct Streams {
    kernel: MemoryKernel,
    /// Target, or sums; first and second source.
    arrays: [Address; 3],
    elements: u64,
    passes: u64,
    multiprocessors: u32,
}

impl Streams {
    /// Every setting with its launch.
    fn launches(&self, driver: &mut dyn Driver) -> Result<Vec<(Setting, Launch)>, CudaError> {
        let text = ptx::module(LoadSetting::all().map(|load| ptx::stream(self.kernel, load)));
        let launch = |setting: Setting| {
            let kernel = driver.load(&text, &setting.load.entry(self.kernel))?;
            let mut arguments: Vec<Argument> = self.arrays.map(Argument::Long).into();
            arguments.push(Argument::Long(self.elements / u64::from(setting.load.lanes())));
            arguments.push(Argument::Word(self.passes as u32));
            let blocks = (setting.blocks(self.multiprocessors), 1);
            Ok((setting, Launch { kernel, blocks, threads: THREADS, arguments }))
        };
        Setting::all().into_iter().map(launch).collect()
    }

    /// Fills the arrays of these `lengths`, looks for the fastest setting, measures with it, and holds what it leaves against the host's.
    fn measured(
        &self,
        on: Measuring<'_>,
        lengths: [u64; 3],
    ) -> Result<(Setting, Measurement), CudaError> {
        let Measuring { driver, device, time, trial } = on;
        for (seed, (at, length)) in (0..).zip(self.arrays.into_iter().zip(lengths)) {
            fill(driver, at, length & !3, Fill::F32.seeded(seed))?;
        }
        let launches = self.launches(driver)?;
        let swept = sweep(&launches, part(time, SWEEP_SHARE), |(_, launch)| {
            timed(driver, |driver| driver.launch(launch))
        })?;
        let swept = swept.ok_or_else(|| CudaError::Lost("no setting was tried".to_owned()))?;
        let (setting, launch) = &swept.best;
        let before = clock(driver)?;
        let mut sampled = sampled(driver, part(time, 1.0 - SWEEP_SHARE), |driver, count| {
            (0..count).try_for_each(|_| driver.launch(launch))
        })?;
        let clocks = [before, clock(driver)?];
        sampled.timing.operations_per_sample *= self.passes;
        sampled.warm_up_operations *= self.passes;
        // What other settings left must not be taken for what this one wrote.
        fill(driver, self.arrays[0], lengths[0] & !3, Fill::F32.seeded(99))?;
        driver.launch(launch)?;
        let verification = verified(driver, self, *setting)?;
        // Whole lines are written, of which nothing is read before.
        let work = self.kernel.work(self.elements, Dtype::F32, StoreKind::NonTemporal);
        let on = Measuring { driver, device, time, trial };
        let mut seen = on.measurement(sampled, clocks, work);
        seen.verification = verification;
        seen.notes.push(said(&swept));
        Ok((*setting, seen))
    }
}

/// The bytes of target or sums, and of the first and second source; a byte of what a kernel has no use for.
fn lengths(kernel: MemoryKernel, array: u64, multiprocessors: u32) -> [u64; 3] {
    match kernel {
        MemoryKernel::Read => [4 * Setting::most_threads(multiprocessors), array, 1],
        MemoryKernel::Write => [array, 1, 1],
        MemoryKernel::Copy => [array, array, 1],
        _ => [array; 3],
    }
}

impl Measuring<'_> {
    pub(in crate::cuda) fn memory(
        &mut self,
        kernel: MemoryKernel,
        working_set: Bytes,
    ) -> Result<Measurement, Failure> {
        use MemoryKernel::{Copy, Read, Triad, Write};
        if !matches!(kernel, Read | Write | Copy | Triad) {
            return Err(Failure::not_written(format!("{kernel} is not written for GPUs")));
        }
        // Whole loads of every width, whatever the setting.
        let array = (working_set.get() as u64 / u64::from(kernel.array_count())).max(64) & !63;
        let multiprocessors = self.driver.properties().multiprocessors.max(1);
        let lengths = lengths(kernel, array, multiprocessors);
        self.fits(lengths.iter().sum())?;
        let (time, l2) = (self.time, self.driver.properties().l2_bytes);
        let passes = match kernel {
            Read => LEAST_TRAFFIC.min(CACHES_OF_TRAFFIC * l2).div_ceil(array).max(1),
            _ => 1,
        };
        let (setting, mut seen) = with_arrays(self.driver, lengths, |driver, arrays| {
            let streams = Streams { kernel, arrays, elements: array / 4, passes, multiprocessors };
            let on = Measuring { driver, device: self.device, time, trial: self.trial };
            streams.measured(on, lengths)
        })?;
        seen.dtype = Some(Dtype::F32);
        seen.method.data = Some(DataPattern::Uniform);
        seen.method.launch =
            Some(if passes > 1 { LaunchCost::Outside } else { LaunchCost::Inside });
        let is_cold = working_set.get() >= 4.0 * l2 as f64;
        seen.method.cache = Some(if is_cold { CacheState::ColdBySize } else { CacheState::Warm });
        seen.method.load_width_bytes = Some(setting.load.width_bytes);
        seen.method.unroll = Some(setting.load.unroll);
        seen.method.blocks_per_multiprocessor = Some(setting.blocks_per_multiprocessor);
        if let Operation::Memory { working_set, .. } = &mut seen.operation {
            *working_set = Some(Bytes::new((array * u64::from(kernel.array_count())) as f64));
        }
        Ok(seen)
    }

    /// A copy of as many bytes in place of what moves them in and out, and computes so little that it waits for them.
    pub(in crate::cuda) fn copied(&mut self, work: OperationWork) -> Result<Measurement, Failure> {
        let mut seen = self.memory(MemoryKernel::Copy, work.bytes.stream.unwrap_or_default())?;
        seen.dtype = Some(self.trial.dtype);
        seen.method.instructions = Some(COPY.to_owned());
        seen.notes.push("a copy of as many bytes stands for it".to_owned());
        Ok(seen)
    }
}

fn part(of: Nanos, share: f64) -> Nanos {
    Nanos::from_nanos((of.as_nanos() as f64 * share) as u64)
}

/// What else was tried, in a sentence.
fn said<S>(swept: &Swept<S>) -> String {
    let slower = swept.slowest_time.as_nanos() as f64 / swept.best_time.as_nanos().max(1) as f64;
    format!(
        "the fastest of {} settings of load width, unrolling and blocks a multiprocessor (of {}); the slowest took {slower:.1} times as long",
        swept.tried, swept.of
    )
}

/// What the last launch left, against what the host computes from the same rule.
fn verified(
    driver: &mut dyn Driver,
    streams: &Streams,
    setting: Setting,
) -> Result<Verification, CudaError> {
    match streams.kernel {
        MemoryKernel::Read => sums(driver, streams, setting),
        _ => windows(driver, streams),
    }
}

/// The sums of some threads to the last element, and of all the others whether they can be: every element is between 1 and 2.
fn sums(
    driver: &mut dyn Driver,
    streams: &Streams,
    setting: Setting,
) -> Result<Verification, CudaError> {
    let threads = u64::from(setting.blocks(streams.multiprocessors)) * u64::from(THREADS);
    let lanes = u64::from(setting.load.lanes());
    let vectors = streams.elements / lanes;
    let sums = floats(driver, streams.arrays[0], threads as usize)?;
    let every = (threads / CHECKED_THREADS).max(1);
    let mut worst = 0.0_f64;
    for (thread, sum) in (0..threads).zip(sums) {
        let own = (thread..vectors).step_by(threads as usize);
        let sum = f64::from(sum) / streams.passes as f64;
        let error = if thread % every == 0 {
            let element = |index: u64| f64::from(f32::from_bits(Fill::F32.seeded(1).word(index)));
            let of_vector =
                |vector: u64| (0..lanes).map(|lane| element(vector * lanes + lane)).sum::<f64>();
            let expected: f64 = own.map(of_vector).sum();
            (sum - expected).abs() / expected.max(1.0)
        } else {
            let elements = (own.count() as u64 * lanes) as f64;
            let (least, most) =
                (elements * (1.0 - SUM_TOLERANCE), 2.0 * elements * (1.0 + SUM_TOLERANCE));
            if (least..=most).contains(&sum) { 0.0 } else { 1.0 }
        };
        worst = worse(worst, error);
    }
    Ok(Verification::within(worst, SUM_TOLERANCE))
}

/// The target at places from its beginning to its end, to the last bit.
fn windows(driver: &mut dyn Driver, streams: &Streams) -> Result<Verification, CudaError> {
    let length = WINDOW.min(streams.elements);
    let mut worst = 0.0_f64;
    for place in 0..CHECKED_PLACES {
        let first = (streams.elements - length) * place / (CHECKED_PLACES - 1);
        let found = floats(driver, streams.arrays[0] + 4 * first, length as usize)?;
        for (index, value) in (first..).zip(found) {
            let of_source = |seed: u32| f32::from_bits(Fill::F32.seeded(seed).word(index));
            let expected = match streams.kernel {
                MemoryKernel::Write => CONSTANT,
                MemoryKernel::Copy => of_source(1),
                _ => of_source(2).mul_add(CONSTANT, of_source(1)),
            };
            let error = f64::from((value - expected).abs() / expected);
            worst = worse(worst, error);
        }
    }
    Ok(Verification::within(worst, 0.0))
}
