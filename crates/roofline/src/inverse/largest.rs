//! The largest batch, and the largest context.

use fizeau_core::{Seconds, Tokens};

use super::{ServingGoal, UnmetNeed};
use crate::curve::{CurveEnd, largest_whole};
use crate::estimate_kind::EstimateKind;
use crate::system::System;
use crate::{Figures, Pass, UniformLoad};

/// The largest batch for a time per token.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LargestBatch {
    /// Sequences at once.
    pub batch: u64,
    /// The figures with that many.
    pub figures: Figures,
    /// What one more would break; none where the load has no more.
    pub limited_by: Option<UnmetNeed>,
}

/// The largest context for a goal.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LargestContext {
    /// Tokens of each sequence.
    pub context: Tokens,
    /// A decode step at that context.
    pub tpot: Seconds,
    /// Reading in a prompt of that length.
    pub ttft: Seconds,
    /// What one more token would break, in the words of a goal; none where nothing did.
    pub limited_by: Option<UnmetNeed>,
    /// Where the search ended.
    pub end: CurveEnd,
}

impl System {
    /// The largest batch of `load` whose time per token is `target` at most: by trial, halving what is left. None
    /// where not even one sequence meets it or fits.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::{Seconds, Tokens};
    /// use fizeau_roofline::{Deployment, Device, KnownModel, UniformLoad, UnmetNeed, EstimateKind, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::MAX);
    /// let found = system.largest_batch(EstimateKind::Expected, &load, Seconds::new(0.011));
    /// let found = found.ok_or("none")?;
    /// assert_eq!((found.batch, found.limited_by), (32, Some(UnmetNeed::Tpot)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn largest_batch(
        &self,
        by: EstimateKind,
        load: &UniformLoad,
        target: Seconds,
    ) -> Option<LargestBatch> {
        let (asked, fitting) = (load.concurrency.get(), self.max_batch(load));
        let most = (asked as f64).min(fitting) as u64;
        let batch = largest_whole(1, most, |batch| self.keeps_tpot(by, load, batch, target))?;
        let limited_by = if batch < most {
            Some(UnmetNeed::Tpot)
        } else if batch < asked {
            Some(UnmetNeed::Concurrency)
        } else {
            None
        };
        Some(LargestBatch { batch, figures: self.figures_at(by, load, batch as f64), limited_by })
    }

    /// Whether `batch` sequences have no longer time per token; those of requests with one token have none.
    pub(super) fn keeps_tpot(
        &self,
        by: EstimateKind,
        load: &UniformLoad,
        batch: u64,
        target: Seconds,
    ) -> bool {
        self.figures_at(by, load, batch as f64).tpot.is_none_or(|tpot| tpot <= target)
    }

    /// The largest context, up to `most`, with which `batch` sequences fit, decode within `goal`'s time per token, and are
    /// read in within its time to first token. None where not even one token does.
    #[must_use]
    pub fn largest_context(
        &self,
        by: EstimateKind,
        batch: f64,
        goal: &ServingGoal,
        most: Tokens,
    ) -> Option<LargestContext> {
        let declared = self.model().max_context.filter(|declared| *declared < most);
        let last = declared.unwrap_or(most).get();
        let target = goal.tightest_tpot();
        let breaks = |context: u64| self.breaks(by, batch, target, goal.ttft, context);
        let context = largest_whole(1, last, |context| breaks(context).is_none())?;
        let limited_by = if context < last { breaks(context + 1) } else { None };
        let end = match (limited_by, declared) {
            (Some(UnmetNeed::Context), _) => CurveEnd::Memory,
            (None, Some(_)) => CurveEnd::MaxContext,
            _ => CurveEnd::Requested,
        };
        let (tpot, ttft) = self.times_at(by, batch, context);
        Some(LargestContext { context: Tokens::new(context), tpot, ttft, limited_by, end })
    }

    /// What does not hold with `batch` sequences of `context` tokens.
    fn breaks(
        &self,
        by: EstimateKind,
        batch: f64,
        target: Option<Seconds>,
        first: Option<Seconds>,
        context: u64,
    ) -> Option<UnmetNeed> {
        if self.max_batch_at(Tokens::new(context)) < batch {
            return Some(UnmetNeed::Context);
        }
        let (tpot, ttft) = self.times_at(by, batch, context);
        if target.is_some_and(|target| tpot > target) {
            return Some(UnmetNeed::Tpot);
        }
        first.is_some_and(|first| ttft > first).then_some(UnmetNeed::Ttft)
    }

    /// A decode step of `batch` sequences of `context` tokens, and reading in a prompt of that length.
    fn times_at(&self, by: EstimateKind, batch: f64, context: u64) -> (Seconds, Seconds) {
        let step = self.decode_step(by, batch, Tokens::new(context)).total;
        (step, self.prompt_latency(by, &Pass::prefill(context as f64, 0.0)))
    }
}
