//! Decode attention over a cache in pages: a test of bandwidth in the shape of a decode step.

use fizeau_core::{Nanos, split_mix};

use super::{Failure, Measuring, clock, fill, floats, sampled};
use crate::cuda::driver::{Address, Argument, Driver, Launch, Properties, timed, with_arrays};
use crate::cuda::error::CudaError;
use crate::cuda::ptx::{self, COMBINE_THREADS, Fill, HEAD_DIM, PAGE_TOKENS, PagedDecode};
use crate::cuda::sweep::sweep;
use crate::gpu_coverage::decode_attention;
use crate::measurement::{
    AttentionShape, CacheState, DataPattern, Dtype, LaunchCost, Measurement, OperationWork,
    Verification, worse,
};

/// Into how many parts a sequence is split, the likely ones first.
const SPLITS: [u32; 8] = [16, 8, 32, 4, 64, 2, 128, 1];
/// Query heads whose results are computed on the host too.
const CHECKED_HEADS: u64 = 8;
/// Of outputs up to 2 in size, by sums in single precision of approximate powers.
const TOLERANCE: f64 = 2e-3;

/// What is fixed by the shape.
#[derive(Debug, Clone, Copy)]
struct Cache {
    shape: PagedDecode,
    batch: u64,
    /// Pages of a sequence.
    pages: u64,
}

impl Cache {
    /// The shape as the kernel has it; a sentence where it has not.
    fn of(shape: AttentionShape, dtype: Dtype) -> Result<Self, String> {
        if dtype != Dtype::Bf16 {
            return Err(format!("decode of {dtype} is not written for GPUs: only of bf16"));
        }
        decode_attention(&shape)?;
        let AttentionShape { query_heads, kv_heads, kv_len, .. } = shape;
        let (group, page) = (query_heads / kv_heads, u64::from(PAGE_TOKENS));
        let paged = PagedDecode { kv_heads: kv_heads as u32, group: group as u32 };
        Ok(Self { shape: paged, batch: shape.batch, pages: kv_len / page })
    }

    /// Heads of keys of all sequences.
    const fn rows(self) -> u64 {
        self.batch * self.shape.kv_heads as u64
    }

    const fn query_heads(self) -> u64 {
        self.rows() * self.shape.group as u64
    }

    /// Bytes of queries, keys, values, table, partial results, maxima with sums, outputs.
    fn lengths(self) -> [u64; 7] {
        let dims = u64::from(HEAD_DIM);
        let most_splits = u64::from(SPLITS.into_iter().max().unwrap_or(1));
        let keys = self.rows() * self.pages * u64::from(PAGE_TOKENS) * dims * 2;
        let heads = self.query_heads();
        [
            heads * dims * 2,
            keys,
            keys,
            self.batch * self.pages * 4,
            heads * most_splits * dims * 4,
            heads * most_splits * 8,
            heads * dims * 4,
        ]
    }

    /// Which page of the cache each page of each sequence is: all of them in an order that looks random.
    fn table(self) -> Vec<u32> {
        let count = (self.batch * self.pages) as usize;
        let mut table: Vec<u32> = (0..count as u32).collect();
        let mut state = 5;
        for last in (1..count).rev() {
            let other = (split_mix::next(&mut state) % (last as u64 + 1)) as usize;
            table.swap(last, other);
        }
        table
    }

    /// Both kernels of one step.
    fn launches(
        self,
        driver: &mut dyn Driver,
        arrays: [Address; 7],
        splits: u32,
    ) -> Result<[Launch; 2], CudaError> {
        let text =
            ptx::module([ptx::attention_decode(self.shape), ptx::attention_combine(self.shape)]);
        let [q, k, v, table, partial, stats, out] = arrays.map(Argument::Long);
        let scale =
            Argument::Float((f64::from(HEAD_DIM).sqrt().recip() * std::f64::consts::LOG2_E) as f32);
        let [pages, splits_given] = [self.pages as u32, splits].map(Argument::Word);
        Ok([
            Launch {
                kernel: driver.load(&text, "paged_decode")?,
                blocks: (self.rows() as u32, splits),
                threads: 32,
                arguments: vec![q, k, v, table, partial, stats, pages, splits_given, scale],
            },
            Launch {
                kernel: driver.load(&text, "paged_combine")?,
                blocks: (self.query_heads() as u32, 1),
                threads: COMBINE_THREADS,
                arguments: vec![partial, stats, out, splits_given],
            },
        ])
    }

    /// What `head` of all query heads has, in double precision.
    fn expected(self, head: u64, table: &[u32]) -> Vec<f64> {
        let (dims, page) = (u64::from(HEAD_DIM), u64::from(PAGE_TOKENS));
        let kv_heads = u64::from(self.shape.kv_heads);
        let row = head / u64::from(self.shape.group);
        let (sequence, kv_head) = (row / kv_heads, row % kv_heads);
        let first = |token: u64| {
            let physical = u64::from(table[(sequence * self.pages + token / page) as usize]);
            ((physical * kv_heads + kv_head) * page + token % page) * dims
        };
        let query: Vec<f64> = (0..dims).map(|d| element(Q_SEED, head * dims + d)).collect();
        let tokens = 0..self.pages * page;
        let score = |token: u64| {
            let at = first(token);
            let products = (at..).zip(&query).map(|(at, query)| query * element(K_SEED, at));
            products.sum::<f64>() / f64::from(HEAD_DIM).sqrt()
        };
        let scores: Vec<f64> = tokens.clone().map(score).collect();
        let highest = scores.iter().copied().fold(f64::MIN, f64::max);
        let (mut sum, mut values) = (0.0, vec![0.0; dims as usize]);
        for (token, score) in tokens.zip(scores) {
            let weight = (score - highest).exp();
            sum += weight;
            for (at, value) in (first(token)..).zip(&mut values) {
                *value += weight * element(V_SEED, at);
            }
        }
        values.into_iter().map(|value| value / sum).collect()
    }
}

/// The number of bf16 at `index` of what was filled.
fn element(seed: u32, index: u64) -> f64 {
    let word = Fill::BF16.seeded(seed).word(index / 2);
    f64::from(f32::from_bits(if index.is_multiple_of(2) { word << 16 } else { word & 0xffff_0000 }))
}

/// Whether the kernel's instructions take longer than its bytes. Of each token a query head costs 24 of a warp beside 19 for all, for 512
/// bytes, and a multiprocessor starts four a cycle: with four query heads an H200 reaches at most 4.7 of its 4.8 TB/s, with eight 2.5.
fn is_limited_by_instructions(of: &Properties, group: u32) -> bool {
    let starts = 4.0 * f64::from(of.multiprocessors) * f64::from(of.clock_khz) * 1e3;
    let memory = 2.0 * f64::from(of.memory_clock_khz) * 1e3 * f64::from(of.memory_bus_bits) / 8.0;
    512.0 * starts / (24.0 * f64::from(group) + 19.0) < memory
}

const Q_SEED: u32 = 11;
const K_SEED: u32 = 12;
const V_SEED: u32 = 13;

impl Measuring<'_> {
    pub(in crate::cuda) fn attention(
        &mut self,
        shape: AttentionShape,
    ) -> Result<Measurement, Failure> {
        let cache = Cache::of(shape, self.trial.dtype).map_err(Failure::not_written)?;
        let lengths = cache.lengths();
        self.fits(lengths.iter().sum())?;
        let (time, trial, device) = (self.time, self.trial, self.device);
        let l2 = self.driver.properties().l2_bytes;
        let mut seen = with_arrays(self.driver, lengths, |driver, arrays| {
            for (at, seed) in [(0, Q_SEED), (1, K_SEED), (2, V_SEED)] {
                fill(driver, arrays[at], lengths[at], Fill::BF16.seeded(seed))?;
            }
            let table = cache.table();
            let bytes: Vec<u8> = table.iter().flat_map(|page| page.to_le_bytes()).collect();
            driver.upload(arrays[3], &bytes)?;
            let splits: Vec<u32> =
                SPLITS.into_iter().filter(|splits| u64::from(*splits) <= cache.pages).collect();
            let quarter = Nanos::from_nanos(time.as_nanos() / 4);
            let swept = sweep(&splits, quarter, |splits| {
                let launches = cache.launches(driver, arrays, *splits)?;
                timed(driver, |driver| launches.iter().try_for_each(|launch| driver.launch(launch)))
            })?;
            let swept = swept.ok_or_else(|| CudaError::Lost("no split was tried".to_owned()))?;
            let launches = cache.launches(driver, arrays, swept.best)?;
            let before = clock(driver)?;
            let sampled = sampled(driver, time, |driver, count| {
                (0..count)
                    .try_for_each(|_| launches.iter().try_for_each(|launch| driver.launch(launch)))
            })?;
            let clocks = [before, clock(driver)?];
            // What was computed so far must not be taken for what is computed now.
            fill(driver, arrays[6], lengths[6], Fill::F32)?;
            launches.iter().try_for_each(|launch| driver.launch(launch))?;
            let verification = verified(driver, cache, arrays[6], &table)?;
            let on = Measuring { driver, device, time, trial };
            // Decode waits for memory: its rate of arithmetic says nothing of what the device can do, and is left out lest it is taken for
            // that.
            let work = OperationWork { flops: None, ..shape.work(trial.dtype) };
            let mut seen = on.measurement(sampled, clocks, work);
            seen.verification = verification;
            seen.notes.push(format!(
                "a straightforward kernel of this crate, each sequence in {} parts that a second launch combines: a tuned one may be faster",
                swept.best
            ));
            if is_limited_by_instructions(driver.properties(), cache.shape.group) {
                seen.notes.push(format!(
                    "with {} query heads to a head of keys its instructions limit it, and not memory",
                    cache.shape.group
                ));
            }
            Ok(seen)
        })?;
        seen.dtype = Some(trial.dtype);
        seen.method.data = Some(DataPattern::Uniform);
        seen.method.launch = Some(LaunchCost::Inside);
        seen.method.load_width_bytes = Some(8);
        let is_cold = (lengths[1] + lengths[2]) as f64 >= 4.0 * l2 as f64;
        seen.method.cache = Some(if is_cold { CacheState::ColdBySize } else { CacheState::Warm });
        Ok(seen)
    }
}

fn verified(
    driver: &mut dyn Driver,
    cache: Cache,
    out: Address,
    table: &[u32],
) -> Result<Verification, CudaError> {
    let (heads, dims) = (cache.query_heads(), u64::from(HEAD_DIM));
    let checked = CHECKED_HEADS.min(heads);
    let (mut worst, mut scale) = (0.0_f64, 0.0_f64);
    for number in 0..checked {
        let head = if checked > 1 { (heads - 1) * number / (checked - 1) } else { 0 };
        let found = floats(driver, out + head * dims * 4, dims as usize)?;
        for (found, expected) in found.into_iter().zip(cache.expected(head, table)) {
            let error = (f64::from(found) - expected).abs();
            worst = worse(worst, error);
            scale = scale.max(expected.abs());
        }
    }
    Ok(Verification::within(worst / scale, TOLERANCE))
}
