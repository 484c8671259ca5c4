//! The largest batch, and the largest context.

use fizeau_core::{Seconds, Tokens};

use super::{ServingGoal, UnmetNeed};
use crate::curve::{CurveEnd, largest_whole};
use crate::estimate_kind::EstimateKind;
use crate::system::System;
use crate::{Figures, UniformLoad};

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
    /// The figures of requests that end at that context.
    pub figures: Figures,
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
    /// assert_eq!((found.batch, found.limited_by), (35, Some(UnmetNeed::Tpot)));
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

    /// The largest context, up to `most`, at which requests may end that generate as many tokens as those of `load`, so that `batch` of
    /// them fit and keep `goal`'s time per token and, without a wait, its time to first token. None where not even a prompt of one
    /// token does.
    #[must_use]
    pub fn largest_context(
        &self,
        by: EstimateKind,
        load: &UniformLoad,
        batch: f64,
        goal: &ServingGoal,
        most: Tokens,
    ) -> Option<LargestContext> {
        let declared = self.model().max_context.filter(|declared| *declared < most);
        let last = declared.unwrap_or(most).get();
        let figures = |context: u64| {
            let input_tokens = Tokens::new(context - load.output_tokens.get());
            self.figures_at(by, &UniformLoad { input_tokens, ..*load }, batch)
        };
        let breaks = |context: u64| {
            if self.max_batch_at(Tokens::new(context)) < batch {
                return Some(UnmetNeed::Context);
            }
            let figures = figures(context);
            if figures.tpot.zip(goal.tpot()).is_some_and(|(tpot, target)| tpot > target) {
                return Some(UnmetNeed::Tpot);
            }
            goal.ttft.is_some_and(|first| figures.ttft > first).then_some(UnmetNeed::Ttft)
        };
        let shortest = load.output_tokens.get() + 1;
        let context = largest_whole(shortest, last, |context| breaks(context).is_none())?;
        let limited_by = if context < last { breaks(context + 1) } else { None };
        let end = match (limited_by, declared) {
            (Some(UnmetNeed::Context), _) => CurveEnd::Memory,
            (Some(_), _) => CurveEnd::Goal,
            (None, Some(_)) => CurveEnd::MaxContext,
            (None, None) => CurveEnd::Requested,
        };
        let (context, figures) = (Tokens::new(context), figures(context));
        Some(LargestContext { context, figures, limited_by, end })
    }
}
