//! How a sweep goes on from level to level, decided.

use std::num::NonZeroU32;
use std::time::Duration;

use fizeau::core::Nanos;
use fizeau::experiment::StopRule;

use crate::args::{BudgetArgs, ProtocolArgs};
use crate::exit::{Fail, Named};

/// How a sweep goes on from level to level.
#[derive(Debug, Clone)]
pub(crate) struct Protocol {
    /// When to raise the load no further; none for never.
    pub(super) stop: Option<StopRule>,
    /// How many times each load is measured.
    pub(super) repeats: NonZeroU32,
    /// How many further levels there may be; none for as many as the budget allows, if there is one.
    pub(super) refine: Option<u32>,
    /// How long the sustained run takes; none for what the budget allows, if there is one.
    pub(super) sustain: Option<Nanos>,
    /// The time for all of it.
    pub(super) budget: Option<Duration>,
}

impl Default for Protocol {
    /// Each load once, and nothing besides.
    fn default() -> Self {
        Self { stop: None, repeats: NonZeroU32::MIN, refine: None, sustain: None, budget: None }
    }
}

impl Protocol {
    /// Of a sweep that takes its time.
    pub(crate) fn measured(args: &ProtocolArgs, time: &BudgetArgs) -> Result<Self, Fail> {
        let stop = (!args.no_stop).then(StopRule::default);
        Ok(Self { stop, budget: time.budget, ..Self::simulated(args)? })
    }

    /// Of a sweep in virtual time, which costs nobody any: what lies beyond saturation is had for nothing.
    pub(crate) fn simulated(args: &ProtocolArgs) -> Result<Self, Fail> {
        let sustain = args.sustain.map(Nanos::from_secs_f64).transpose().named("--sustain")?;
        if sustain == Some(Nanos::ZERO) {
            return Err(Fail::usage("--sustain: a run takes some time; give more than 0"));
        }
        Ok(Self {
            stop: args.stop_at_saturation.then(StopRule::default),
            repeats: args.repeats,
            refine: args.refine,
            sustain,
            budget: None,
        })
    }
}
