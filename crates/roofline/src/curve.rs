//! The speed-of-light curve over the batch.

use crate::system::System;
use crate::{Figures, UniformLoad};

/// The batch sizes at which a curve has points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CurveStride {
    /// Every number.
    Each,
    /// All up to 64, then 32 for each doubling, and the last.
    Fine,
    /// 1, 2, 4, 8, ... and the last.
    Doubling,
}

/// Why a curve ends where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CurveEnd {
    /// Memory holds no more.
    Memory,
    /// [`crate::Serving::max_sequences`] allows no more.
    MaxSequences,
    /// The model's config declares no longer context.
    MaxContext,
    /// A time that was asked for would be exceeded.
    Goal,
    /// It was asked for no further.
    Requested,
}

/// A point of the speed-of-light curve: both accounts of a load with so many sequences running.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BatchPoint {
    /// Sequences that run at once.
    pub batch: u64,
    /// What nothing can beat with that many.
    pub bound: Figures,
    /// What the roofline model expects with that many.
    pub expected: Figures,
}

/// The points of a load over the batch, from 1 until memory or the load's concurrency ends it.
#[derive(Debug, Clone)]
pub struct BatchCurve<'a> {
    system: &'a System,
    load: UniformLoad,
    next: BatchSteps,
    end: CurveEnd,
}

impl System {
    /// The speed-of-light curve of `load`: throughput against latency over the batch, up to its concurrency or what fits.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{CurveEnd, Deployment, Device, KnownModel, UniformLoad, CurveStride, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::MAX);
    /// let curve = system.batch_curve(&load, CurveStride::Doubling);
    /// assert_eq!(curve.end(), CurveEnd::Memory);
    /// let batches: Vec<u64> = curve.map(|point| point.batch).collect();
    /// assert_eq!(batches[..4], [1, 2, 4, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn batch_curve(&self, load: &UniformLoad, stride: CurveStride) -> BatchCurve<'_> {
        let asked = load.concurrency.get();
        let fitting = self.max_batch(load);
        let (last, end) = if fitting >= asked as f64 {
            (asked, CurveEnd::Requested)
        } else if self.fills_memory(load) {
            (fitting as u64, CurveEnd::Memory)
        } else {
            (fitting as u64, CurveEnd::MaxSequences)
        };
        BatchCurve { system: self, load: *load, next: BatchSteps::new(1, last, stride), end }
    }
}

impl BatchCurve<'_> {
    /// Why it ends.
    #[must_use]
    pub const fn end(&self) -> CurveEnd {
        self.end
    }
}

impl Iterator for BatchCurve<'_> {
    type Item = BatchPoint;

    fn next(&mut self) -> Option<BatchPoint> {
        let batch = self.next.next()?;
        let (load, running) = (&self.load, batch as f64);
        Some(BatchPoint {
            batch,
            bound: self.system.figures_at(crate::EstimateKind::Bound, load, running),
            expected: self.system.figures_at(crate::EstimateKind::Expected, load, running),
        })
    }
}

/// Whole numbers up to a last one, which is among them.
#[derive(Debug, Clone, Copy)]
struct BatchSteps {
    next: Option<u64>,
    last: u64,
    stride: CurveStride,
}

impl BatchSteps {
    fn new(first: u64, last: u64, stride: CurveStride) -> Self {
        Self { next: Some(first).filter(|first| *first <= last), last, stride }
    }
}

impl Iterator for BatchSteps {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let now = self.next?;
        let then = match self.stride {
            CurveStride::Each => now.saturating_add(1),
            CurveStride::Fine => {
                let step = 1 << (now / 32).max(1).ilog2();
                now.saturating_add(step).min(self.last)
            }
            CurveStride::Doubling => now.saturating_mul(2).min(self.last),
        };
        self.next = Some(then).filter(|then| *then > now && *then <= self.last);
        Some(now)
    }
}

/// The largest whole number from `from` to `to` for which `fits` holds, which holds for all below it.
pub(crate) fn largest_whole(from: u64, to: u64, fits: impl Fn(u64) -> bool) -> Option<u64> {
    if from > to || !fits(from) {
        return None;
    }
    if fits(to) {
        return Some(to);
    }
    let (mut low, mut high) = (from, to);
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        if fits(middle) { low = middle } else { high = middle }
    }
    Some(low)
}
