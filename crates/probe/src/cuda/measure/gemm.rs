//! Products of matrices by the vendor's library: over copies in turn beyond the cache, in one graph, a result held against double precision.

use fizeau_core::{Bytes, Nanos};

use super::{Failure, Measuring, clock, fill, sampled};
use crate::cuda::driver::{Address, Driver};
use crate::cuda::error::CudaError;
use crate::cuda::product::{Format, Operands, Product, ProductSpec, result, scales};
use crate::cuda::trials::{peak_shapes, result_of};
use crate::measurement::{
    ByteCounts, CacheState, DataPattern, Dtype, GemmShape, LaunchCost, Measurement, Verification,
    worse,
};

/// What the library may use for itself: as much as PyTorch lets it have on a Hopper, twice; of small devices less.
const WORKSPACE: u64 = 64 << 20;
const WORKSPACE_OF_MEMORY: u64 = 64;
/// Copies of the operands come to so many times the cache, together.
const CACHES: u64 = 2;
/// But they are no more than these.
const MOST_COPIES: u64 = 256;
/// Products of a graph, at least.
const IN_GRAPH: u64 = 8;
/// Elements of the result that are computed on the host as well.
const CHECKED: u64 = 32;
/// Addresses of this multiple are what the library is fastest with.
const ALIGNED: u64 = 256;
/// Far apart, so that inputs are not weights in another order.
const SEEDS: [u32; 3] = [0x1d87_2b41, 0x6f4a_9163, 0x2545_f491];

/// The room that the operands of a product take.
#[derive(Debug, Clone, Copy)]
struct Room {
    shape: GemmShape,
    format: Format,
    output: Dtype,
    copies: u64,
    /// Of a copy of inputs, of weights and of the result.
    strides: [u64; 3],
}

impl Room {
    fn of(shape: GemmShape, format: Format, output: Dtype, l2_bytes: u64) -> Self {
        let GemmShape { m, n, k, batch } = shape;
        let strides = [format.bytes(batch * m * k), format.bytes(batch * n * k), 2 * batch * m * n]
            .map(|bytes| bytes.next_multiple_of(ALIGNED));
        let each: u64 = strides.iter().sum();
        // One more than fill it, so that none is there still when its turn comes.
        let copies = (CACHES * l2_bytes / each + 2).min(MOST_COPIES);
        Self { shape, format, output, copies, strides }
    }

    fn total(&self) -> u64 {
        self.copies * self.strides.iter().sum::<u64>()
    }

    /// Each copy's place, in turn.
    fn rotation(&self, starts: [Address; 3]) -> Vec<Operands> {
        let turns = IN_GRAPH.div_ceil(self.copies);
        let place = |turn: u64, of: usize| starts[of] + turn % self.copies * self.strides[of];
        let operands = |turn| Operands {
            inputs: place(turn, 0),
            weights: place(turn, 1),
            output: place(turn, 2),
        };
        (0..turns * self.copies).map(operands).collect()
    }
}

impl Measuring<'_> {
    pub(in crate::cuda) fn gemm(
        &mut self,
        shape: GemmShape,
        output: Dtype,
    ) -> Result<Measurement, Failure> {
        self.product(shape, output, self.time)
    }

    /// The fastest of some large products: the highest rate that the library gets out of the tensor cores.
    pub(in crate::cuda) fn peak(&mut self) -> Result<Measurement, Failure> {
        let shapes = peak_shapes(self.driver.properties());
        let each = Nanos::from_nanos(self.time.as_nanos() / shapes.len() as u64);
        let mut fastest: Option<(f64, GemmShape, Measurement)> = None;
        for shape in shapes {
            let seen = self.product(shape, result_of(self.trial.dtype), each)?;
            let millis = seen.timing.samples.iter().map(|sample| sample.get());
            let least = millis.min_by(f64::total_cmp).unwrap_or(f64::INFINITY);
            let operations = seen.timing.operations_per_sample as f64;
            let rate = seen.work.flops.map_or(0.0, fizeau_core::Flops::get) * operations / least;
            if fastest.as_ref().is_none_or(|(before, ..)| rate > *before) {
                fastest = Some((rate, shape, seen));
            }
        }
        let none = || Failure::NotHere("no product was tried".to_owned());
        let (_, shape, mut seen) = fastest.ok_or_else(none)?;
        seen.work.bytes = ByteCounts::default();
        let GemmShape { m, n, k, .. } = shape;
        seen.notes.push(format!(
            "the fastest of {} large products, {m} x {n} x {k}: what a library reaches, not what units could",
            shapes.len()
        ));
        Ok(seen)
    }

    fn product(
        &mut self,
        shape: GemmShape,
        output: Dtype,
        time: Nanos,
    ) -> Result<Measurement, Failure> {
        let dtype = self.trial.dtype;
        let (format, version) = self.format(dtype)?;
        let device = self.driver.properties();
        let (l2, memory) = (device.l2_bytes, device.memory_bytes);
        let room = Room::of(shape, format, output, l2);
        let workspace_bytes = WORKSPACE.min(memory / WORKSPACE_OF_MEMORY);
        let scaled = [shape.m, shape.n].map(|rows| scales(dtype, rows, shape.k, shape.batch));
        let of_scales = scaled.map(|scales| scales.map_or(0, |(bytes, _)| bytes).max(4));
        let [inputs, weights, result] = room.strides.map(|stride| stride * room.copies);
        let lengths = [inputs, weights, result, of_scales[0], of_scales[1], workspace_bytes];
        self.fits(lengths.iter().sum())?;
        let mut seen = super::with_arrays(self.driver, lengths, |driver, arrays| {
            let [inputs, weights, result, input_scales, weight_scales, workspace] = arrays;
            for (at, length, seed) in [(inputs, lengths[0], 0), (weights, lengths[1], 1)] {
                fill(driver, at, length, format.fill.seeded(SEEDS[seed]))?;
            }
            for (at, scales) in [input_scales, weight_scales].into_iter().zip(scaled) {
                if let Some((bytes, ones)) = scales {
                    fill(driver, at, bytes, ones)?;
                }
            }
            let scales = [input_scales, weight_scales];
            let spec = ProductSpec { shape, dtype, output, scales, workspace, workspace_bytes };
            let product = driver.prepare_product(&spec)?;
            let rotation = room.rotation([inputs, weights, result]);
            // The first time loads the kernel, which must not happen while a graph is recorded.
            driver.multiply(product, rotation[0])?;
            driver.wait()?;
            let graph = driver.record_products(product, &rotation)?;
            let before = clock(driver)?;
            let mut sampled = sampled(driver, time, |driver, count| {
                (0..count).try_for_each(|_| driver.replay(graph))
            })?;
            let clocks = [before, clock(driver)?];
            sampled.timing.operations_per_sample *= rotation.len() as u64;
            sampled.warm_up_operations *= rotation.len() as u64;
            let verification = verified(driver, &room, product, &rotation)?;
            let on = Measuring { driver, device: self.device, time, trial: self.trial };
            let mut seen = on.measurement(sampled, clocks, shape.work(dtype, output));
            seen.verification = verification;
            seen.notes.push(said(&room, rotation.len(), version, workspace_bytes));
            Ok(seen)
        })?;
        seen.dtype = Some(dtype);
        seen.method.instructions = Some("cublaslt".to_owned());
        seen.method.data = Some(DataPattern::Uniform);
        seen.method.launch = Some(LaunchCost::Outside);
        let is_cold = room.total() >= CACHES * l2;
        seen.method.cache =
            Some(if is_cold { CacheState::ColdByRotation } else { CacheState::Warm });
        Ok(seen)
    }

    /// How `dtype` is stored, if device and library can multiply it, and the library's version.
    fn format(&mut self, dtype: Dtype) -> Result<(Format, (u32, u32, u32)), Failure> {
        let Some(format) = Format::of(dtype) else {
            return Err(Failure::not_written(format!(
                "products of {dtype} are not written for GPUs"
            )));
        };
        let device = self.driver.properties();
        if device.capability < format.capability {
            let (device, found) = (device.name.clone(), device.capability);
            let needs = format.capability;
            return Err(CudaError::NoUnits { device, operands: dtype, needs, found }.into());
        }
        let version = self.driver.product_library()?;
        let found = (version.0, version.1);
        if found < format.library {
            let (library, needs) = ("cublasLt", format.library);
            return Err(CudaError::LibraryTooOld { library, operands: dtype, needs, found }.into());
        }
        Ok((format, version))
    }
}

/// How it was done, in a sentence.
fn said(room: &Room, in_graph: usize, version: (u32, u32, u32), workspace: u64) -> String {
    let (major, minor, patch) = version;
    let [workspace, total] =
        [workspace, room.total()].map(|bytes| crate::measurement::size(Bytes::new(bytes as f64)));
    let fast = match room.format.bits {
        8 => "; one scale a matrix, fast accumulation",
        4 => "; a scale of one for each 16 elements",
        _ => "",
    };
    format!(
        "cublasLt {major}.{minor}.{patch}, the first algorithm of its heuristic with {workspace} of workspace; \
         {in_graph} products in a graph over {} copies, {total} together{fast}",
        room.copies
    )
}

/// Some elements of the result of the last copy, against the host's own sums in double precision.
fn verified(
    driver: &mut dyn Driver,
    room: &Room,
    product: Product,
    rotation: &[Operands],
) -> Result<Verification, CudaError> {
    let Room { shape: GemmShape { m, n, k, batch }, format, strides, .. } = *room;
    let copy = room.copies - 1;
    let on = rotation[copy as usize];
    // What earlier products left must not be taken for what this one wrote.
    fill(driver, on.output, strides[2], format.fill.seeded(SEEDS[2]))?;
    driver.multiply(product, on)?;
    let elements = batch * m * n;
    let checked = CHECKED.min(elements);
    let in_copy = strides.map(|bytes| bytes * 8 / u64::from(format.bits) * copy);
    let operand =
        |of: usize, index| format.element(format.fill.seeded(SEEDS[of]), in_copy[of] + index);
    let mut worst = 0.0_f64;
    for number in 0..checked {
        // From the first to the last, in different columns.
        let place = if checked > 1 { (elements - 1) * number / (checked - 1) } else { 0 };
        let mut bytes = [0; 2];
        driver.download(on.output + 2 * place, &mut bytes)?;
        let found = result(room.output, u16::from_le_bytes(bytes));
        let (at, row, column) = (place / (m * n), place / n % m, place % n);
        let (input, weight) = ((at * m + row) * k, (at * n + column) * k);
        let (mut sum, mut squares) = (0.0, 0.0);
        for depth in 0..k {
            let one = operand(0, input + depth) * operand(1, weight + depth);
            sum += one;
            squares += one * one;
        }
        let error = (found - sum).abs() / squares.sqrt();
        worst = worse(worst, error);
    }
    Ok(Verification::within(worst, format.tolerance))
}
