//! What drafting adds to a step.

use std::num::NonZeroU32;

use fizeau_core::Seconds;
use fizeau_roofline::{Drafter, PassSums, System};

/// Drafting that takes time, by a share of a step or by passes of a model of the kind `M`.
#[derive(Debug, Clone)]
pub(super) struct Drafting<M> {
    by: By<M>,
    /// Tokens of a draft, each drafted after the one before it.
    levels: f64,
}

#[derive(Debug, Clone)]
enum By<M> {
    Share(f64),
    Model(M),
}

/// A time, and the least time that a limit of power allows it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Taken {
    pub(super) time: Seconds,
    pub(super) power: Seconds,
}

impl Taken {
    fn and(self, times: f64, other: Self) -> Self {
        Self { time: self.time + other.time * times, power: self.power + other.power * times }
    }
}

impl<M> Drafting<M> {
    /// None where it takes no time. `prepare` makes of a system what its passes are asked of.
    pub(super) fn new(
        drafter: Drafter,
        length: NonZeroU32,
        prepare: impl FnOnce(System) -> M,
    ) -> Option<Self> {
        let by = match drafter {
            Drafter::Share(share) => By::Share(share.max(0.0)),
            Drafter::Model(system) => By::Model(prepare(*system)),
            _ => return None,
        };
        Some(Self { by, levels: f64::from(length.get()) })
    }

    /// What drafting takes in a step with the batch `sums`: of a model a pass for each token of the drafts, and the prompts, which
    /// it reads as well. `pass` is what a pass of the drafting model takes, `plain` one of the model that is drafted for.
    pub(super) fn time(
        &self,
        sums: &PassSums,
        pass: impl Fn(&M, &PassSums) -> Taken,
        plain: impl Fn(&PassSums) -> Taken,
    ) -> Taken {
        let mut taken = Taken::default();
        let drafts = sums.drafted > 0.0;
        let decoding =
            PassSums { decoding: sums.decoding, context: sums.context, ..PassSums::default() };
        match &self.by {
            By::Share(share) if drafts => taken = taken.and(share * self.levels, plain(&decoding)),
            By::Model(model) if drafts => taken = taken.and(self.levels, pass(model, &decoding)),
            _ => {}
        }
        match &self.by {
            By::Model(model) if sums.prompts > 0.0 => {
                let (decoding, drafted, padding, context) = (0.0, 0.0, 0.0, 0.0);
                let prompts = PassSums { decoding, drafted, padding, context, ..*sums };
                taken.and(1.0, pass(model, &prompts))
            }
            _ => taken,
        }
    }
}
