//! Curves: the frontier over the batch, and speed over the context.

use fizeau_core::{Bytes, PerSec, Seconds, Tokens};

use crate::span::Span;
use crate::system::System;
use crate::{Figures, Load, Pass};

/// What a curve goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stride {
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
    /// It was asked for no further.
    Asked,
}

impl CurveEnd {
    /// The name used in files: `memory`, `max_sequences`, `max_context`, `asked`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::MaxSequences => "max_sequences",
            Self::MaxContext => "max_context",
            Self::Asked => "asked",
        }
    }
}

/// A point of the speed-of-light curve: both accounts of a load with so many sequences running.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BatchPoint {
    /// Sequences that run at once.
    pub batch: u64,
    /// What nothing can beat with that many.
    pub bound: Figures,
    /// What physics leads one to expect with that many.
    pub expected: Figures,
}

/// The points of a load over the batch, from 1 until memory or the load's concurrency ends it.
#[derive(Debug, Clone)]
pub struct BatchCurve<'a> {
    system: &'a System,
    load: Load,
    next: Progress,
    end: CurveEnd,
}

/// A point of the curve over the context: one more token for sequences that have so much already.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ContextPoint {
    /// Tokens that each sequence sees.
    pub context: Tokens,
    /// A decode step at best.
    pub bound_step: Seconds,
    /// A decode step as expected.
    pub expected_step: Seconds,
    /// Reading in a prompt of that length at best.
    pub bound_prefill: Seconds,
    /// Reading in a prompt of that length as expected.
    pub expected_prefill: Seconds,
    /// What one sequence keeps, all devices together, nothing repeated.
    pub cache: Bytes,
    /// How many such sequences fit in all.
    pub max_batch: f64,
}

impl ContextPoint {
    /// Tokens per second of one user at best.
    #[must_use]
    pub fn bound_tokens_per_s(&self) -> PerSec {
        PerSec::new(1.0 / self.bound_step.get())
    }

    /// Tokens per second of one user as expected.
    #[must_use]
    pub fn expected_tokens_per_s(&self) -> PerSec {
        PerSec::new(1.0 / self.expected_step.get())
    }
}

/// The points of so many sequences over the context, doubling from the first until memory, the model's own longest
/// context or what was asked ends it.
#[derive(Debug, Clone)]
pub struct ContextCurve<'a> {
    system: &'a System,
    batch: f64,
    next: Progress,
    end: CurveEnd,
}

/// The longest context that [`System::context_curve`] is usually asked for.
pub const MILLION_TOKENS: Tokens = Tokens::new(1 << 20);

impl System {
    /// The speed-of-light curve of `load`: throughput against latency over the batch, up to its concurrency or what fits.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{CurveEnd, Deployment, Device, KnownModel, Load, Stride, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let load = Load::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::MAX);
    /// let curve = system.batch_curve(&load, Stride::Doubling);
    /// assert_eq!(curve.end(), CurveEnd::Memory);
    /// let batches: Vec<u64> = curve.map(|point| point.batch).collect();
    /// assert_eq!(batches[..4], [1, 2, 4, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn batch_curve(&self, load: &Load, stride: Stride) -> BatchCurve<'_> {
        let asked = load.concurrency.get();
        let fitting = self.max_batch(load);
        let (last, end) = if fitting >= asked as f64 {
            (asked, CurveEnd::Asked)
        } else if self.fills_memory(load) {
            (fitting as u64, CurveEnd::Memory)
        } else {
            (fitting as u64, CurveEnd::MaxSequences)
        };
        BatchCurve { system: self, load: *load, next: Progress::new(1, last, stride), end }
    }

    /// Speed over the context, for `batch` sequences that decode: doubling from `from` to `to`, or as far as memory and the
    /// model allow.
    ///
    /// ```
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{CurveEnd, Deployment, Device, KnownModel, MILLION_TOKENS, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let curve = system.context_curve(1.0, Tokens::new(1024), MILLION_TOKENS);
    /// assert_eq!(curve.end(), CurveEnd::MaxContext);
    /// let last = curve.last().ok_or("no point")?;
    /// assert_eq!(last.context, Tokens::new(131_072));
    /// // 17.2 GB of cache, and more to read of it than of weights.
    /// assert_eq!(format!("{:.1}", last.cache.get() / 1e9), "17.2");
    /// assert!(last.bound_tokens_per_s().get() < 105.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn context_curve(&self, batch: f64, from: Tokens, to: Tokens) -> ContextCurve<'_> {
        let from = from.get().max(1);
        let fits = |context: u64| self.fitting_at(Tokens::new(context)) >= batch;
        let (mut last, mut end) = (to.get(), CurveEnd::Asked);
        if let Some(most) = self.model().max_context()
            && most.get() < last
        {
            (last, end) = (most.get(), CurveEnd::MaxContext);
        }
        if let Some(most) = largest_whole(from, last, fits) {
            if most < last {
                (last, end) = (most, CurveEnd::Memory);
            }
        } else if self.most_at_once() < batch {
            (last, end) = (0, CurveEnd::MaxSequences);
        } else {
            (last, end) = (0, CurveEnd::Memory);
        }
        ContextCurve { system: self, batch, next: Progress::new(from, last, Stride::Doubling), end }
    }

    /// How many sequences of `context` tokens fit at once.
    pub(crate) fn fitting_at(&self, context: Tokens) -> f64 {
        self.max_batch(&Load::new(context, Tokens::ZERO, std::num::NonZeroU64::MIN))
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
            bound: self.system.figures_at(crate::Reckoning::Bound, load, running),
            expected: self.system.figures_at(crate::Reckoning::Expected, load, running),
        })
    }
}

impl ContextCurve<'_> {
    /// Why it ends.
    #[must_use]
    pub const fn end(&self) -> CurveEnd {
        self.end
    }
}

impl Iterator for ContextCurve<'_> {
    type Item = ContextPoint;

    fn next(&mut self) -> Option<ContextPoint> {
        let context = self.next.next()?;
        let tokens = context as f64;
        let each = self.system.micro_batch(self.batch);
        let (step, prompt) = (Pass::decode(each, Span::at(tokens)), Pass::prefill(tokens, 0.0));
        Some(ContextPoint {
            context: Tokens::new(context),
            bound_step: self.system.bound_pass(&step).total,
            expected_step: self.system.expected_pass(&step).total,
            bound_prefill: self.system.bound_pass(&prompt).total,
            expected_prefill: self.system.expected_pass(&prompt).total,
            cache: self.system.model().cache_bytes(tokens),
            max_batch: self.system.fitting_at(Tokens::new(context)),
        })
    }
}

/// Whole numbers up to a last one, which is among them.
#[derive(Debug, Clone, Copy)]
struct Progress {
    next: Option<u64>,
    last: u64,
    stride: Stride,
}

impl Progress {
    fn new(first: u64, last: u64, stride: Stride) -> Self {
        Self { next: Some(first).filter(|first| *first <= last), last, stride }
    }
}

impl Iterator for Progress {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let now = self.next?;
        let then = match self.stride {
            Stride::Each => now.saturating_add(1),
            Stride::Fine => {
                let step = 1 << (now / 32).max(1).ilog2();
                now.saturating_add(step).min(self.last)
            }
            Stride::Doubling => now.saturating_mul(2).min(self.last),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fine_stride_has_all_up_to_64_and_32_for_each_doubling() {
        for last in [1, 2, 64, 65, 215, 100_000] {
            let all: Vec<u64> = Progress::new(1, last, Stride::Fine).collect();
            assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
            assert_eq!((all[0], all[all.len() - 1]), (1, last));
            assert!(all.iter().zip(1..=64).all(|(batch, all)| *batch == all));
        }
        let all: Vec<u64> = Progress::new(1, 1024, Stride::Fine).collect();
        assert_eq!(all.len(), 64 + 4 * 32);
    }

    #[test]
    fn the_last_is_always_among_them() {
        let all = |last, stride| Progress::new(1, last, stride).collect::<Vec<_>>();
        assert_eq!(all(6, Stride::Doubling), [1, 2, 4, 6]);
        assert_eq!(all(8, Stride::Doubling), [1, 2, 4, 8]);
        assert_eq!(all(3, Stride::Each), [1, 2, 3]);
        assert_eq!(all(0, Stride::Each), [0; 0]);
    }

    #[test]
    fn the_largest_that_fits_is_found() {
        for most in 3..40 {
            let found = largest_whole(3, 40, |number| number <= most);
            assert_eq!(found, Some(most));
        }
        assert_eq!(largest_whole(3, 40, |_| true), Some(40));
        assert_eq!(largest_whole(3, 40, |_| false), None);
    }
}
