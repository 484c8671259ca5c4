//! Which loads to measure on an engine, so that its constants are known best for the time that it takes.

mod candidates;
mod information;
#[cfg(test)]
mod tests;

use std::num::NonZeroU64;

use fizeau_core::{Seconds, Tokens};
use thiserror::Error;

use super::FEWEST;
use crate::{System, UniformLoad};

use candidates::Candidate;
use information::Information;

/// The loads that a calibration of an engine may be measured at, with what each is expected to take and to tell.
///
/// Pure: the same system, engine and budget give the same design.
///
/// ```
/// use fizeau_core::Seconds;
/// use fizeau_roofline::{CalibrationLoads, Deployment, Device, KnownModel, System};
/// let model = KnownModel::named("llama-3.1-8b")?.model()?;
/// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
/// let design = CalibrationLoads::new(&system, Some("vllm")).design(Seconds::new(180.0))?;
/// assert!(design.loads.len() >= 5 && design.time().get() <= 180.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct CalibrationLoads {
    candidates: Vec<Candidate>,
    /// How many times as long as expected everything takes.
    slowdown: f64,
}

/// The loads that are chosen.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CalibrationDesign {
    /// Each once, in the order in which they are to be measured. The first is the smallest, which tells how fast the engine is at all
    /// ([`CalibrationLoads::slower`]).
    pub loads: Vec<DesignedLoad>,
}

/// A load that is to be measured.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DesignedLoad {
    /// Its lengths and its concurrency.
    pub load: UniformLoad,
    /// How many requests to send.
    pub requests: NonZeroU64,
    /// How many requests to send first that do not count.
    pub warmups: u64,
    /// The mean time per output token that is expected.
    pub tpot: Seconds,
    /// What all of it is expected to take.
    pub time: Seconds,
}

/// Why there is no design.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum CalibrationDesignError {
    /// The time is too short for the loads that a fit needs.
    #[error(
        "{:.0} s is too short: the {FEWEST} smallest loads alone take {:.0} s", .budget.get(), .least.get().ceil()
    )]
    TooShort {
        /// What was given.
        budget: Seconds,
        /// What is needed at least.
        least: Seconds,
    },
    /// Hardly any load fits into memory.
    #[error(
        "{fitting} loads fit into the memory and the context of the system, and a fit needs {FEWEST}"
    )]
    TooFewFit {
        /// How many do.
        fitting: usize,
    },
}

/// A load more is measured only if it makes what is known narrower by this: the determinant of all constants' uncertainties together,
/// as a logarithm. 0.02 is one constant known 2 % better.
const LITTLE: f64 = 0.02;

/// By what a load adds, through what it adds for its time.
const POWERS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Times are added up in other orders, and a budget that is just enough must do.
const ROUNDING: f64 = 1.0 + 1e-9;

/// More levels than these are no longer a few.
const MOST: usize = 24;

impl CalibrationLoads {
    /// The loads that `system` can run. What they take is expected by the constants that ship for `engine` on its device, or else those
    /// that accelerators usually have.
    #[must_use]
    pub fn new(system: &System, engine: Option<&str>) -> Self {
        Self { candidates: candidates::all(system, engine), slowdown: 1.0 }
    }

    /// The same loads but for those of which a prompt and its reply are longer together than `most`.
    #[must_use]
    pub fn within(mut self, most: Tokens) -> Self {
        self.candidates.retain(|candidate| candidate.longest() <= most.get());
        self
    }

    /// The same loads of an engine that takes so many times as long as expected, as its first load showed. What is not a finite number
    /// above 0 changes nothing.
    #[must_use]
    pub fn slower(self, times: f64) -> Self {
        let slowdown = if times.is_finite() && times > 0.0 { times } else { 1.0 };
        Self { slowdown, ..self }
    }

    /// The loads that tell the most of the constants within `budget`: D-optimal among all candidates as far as greedy choices (by what a
    /// load tells, and by what it tells for its time) find it, whose loads are then exchanged for others as long as that helps, beginning
    /// with the smallest load. See `docs/calibration.md`.
    ///
    /// # Errors
    /// If the least design takes longer, which it says, or too few loads fit.
    pub fn design(&self, budget: Seconds) -> Result<CalibrationDesign, CalibrationDesignError> {
        let fitting = self.candidates.len();
        if fitting < FEWEST {
            return Err(CalibrationDesignError::TooFewFit { fitting });
        }
        let least = Seconds::new(self.cheapest(&[]));
        if least > budget {
            return Err(CalibrationDesignError::TooShort { budget, least });
        }
        let mut best = (Vec::new(), f64::NEG_INFINITY);
        for power in POWERS {
            let greedy = self.greedy(budget.get(), power);
            let chosen = self.exchanged(greedy, budget.get());
            let told = self.information(&chosen).log_determinant();
            if told > best.1 {
                best = (chosen, told);
            }
        }
        let (chosen, _) = best;
        Ok(CalibrationDesign { loads: self.in_order(chosen) })
    }

    /// The candidates of which each in turn adds the most by this power of its time, within `budget`.
    fn greedy(&self, budget: f64, power: f64) -> Vec<usize> {
        let (mut chosen, mut known) = (Vec::new(), Information::NOTHING);
        let mut left = budget * ROUNDING;
        let mut next = self.smallest();
        while let Some(at) = next {
            known.learn(&self.candidates[at]);
            left -= self.time(at);
            chosen.push(at);
            if chosen.len() >= MOST {
                break;
            }
            // Until there are enough for a fit, room is kept for the cheapest of the others.
            let fits = |at: usize| {
                let with = [&chosen[..], &[at]].concat();
                !chosen.contains(&at) && self.time(at) + self.cheapest(&with) <= left
            };
            let gains = (0..self.candidates.len()).filter(|at| fits(*at));
            let gains = gains.map(|at| (at, known.gain(&self.candidates[at])));
            let gains = gains.filter(|(_, gain)| *gain >= LITTLE || chosen.len() < FEWEST);
            let worths = gains.map(|(at, gain)| (at, gain / self.time(at).powf(power)));
            // Of two that are worth as much the first.
            let best = worths.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            next = best.map(|(at, _)| at);
        }
        chosen
    }

    /// The same, each but the first exchanged for another candidate as long as that tells more within `budget` (Fedorov's exchange).
    fn exchanged(&self, mut chosen: Vec<usize>, budget: f64) -> Vec<usize> {
        loop {
            let left = budget * ROUNDING - chosen.iter().map(|at| self.time(*at)).sum::<f64>();
            let mut best = (self.information(&chosen).log_determinant() + LITTLE, None);
            for place in 1..chosen.len() {
                let mut others = chosen.clone();
                let room = left + self.time(others.remove(place));
                let known = self.information(&others);
                let fits = |at: &usize| !chosen.contains(at) && self.time(*at) <= room;
                for at in (0..self.candidates.len()).filter(fits) {
                    let told = known.log_determinant() + known.gain(&self.candidates[at]);
                    if told > best.0 {
                        best = (told, Some((place, at)));
                    }
                }
            }
            let Some((place, at)) = best.1 else { return chosen };
            chosen[place] = at;
        }
    }

    /// What is known once these are measured.
    fn information(&self, chosen: &[usize]) -> Information {
        let mut known = Information::NOTHING;
        chosen.iter().for_each(|at| known.learn(&self.candidates[*at]));
        known
    }

    /// What the cheapest loads take that a fit needs besides those that are `chosen`; the smallest is always one of them.
    fn cheapest(&self, chosen: &[usize]) -> f64 {
        let smallest = self.smallest().filter(|at| !chosen.contains(at));
        let others = (0..self.candidates.len()).filter(|at| !chosen.contains(at));
        let mut times: Vec<f64> =
            others.filter(|at| Some(*at) != smallest).map(|at| self.time(at)).collect();
        times.sort_unstable_by(f64::total_cmp);
        let needed = FEWEST.saturating_sub(chosen.len());
        let needed = needed.saturating_sub(usize::from(smallest.is_some()));
        times.iter().take(needed).sum::<f64>() + smallest.map_or(0.0, |at| self.time(at))
    }

    /// The shortest load of a single request at a time.
    fn smallest(&self) -> Option<usize> {
        let all = (0..self.candidates.len()).filter(|at| self.candidates[*at].is_lone());
        all.min_by(|a, b| self.time(*a).total_cmp(&self.time(*b)))
    }

    fn time(&self, at: usize) -> f64 {
        self.candidates[at].time(self.slowdown)
    }

    /// The first as it is; the others by shape, with rising concurrency.
    fn in_order(&self, chosen: Vec<usize>) -> Vec<DesignedLoad> {
        let mut loads: Vec<DesignedLoad> =
            chosen.into_iter().map(|at| self.candidates[at].designed(self.slowdown)).collect();
        if let Some((_, others)) = loads.split_first_mut() {
            others.sort_by_key(|designed| {
                let UniformLoad { input_tokens, output_tokens, concurrency, .. } = designed.load;
                (input_tokens, output_tokens, concurrency)
            });
        }
        loads
    }
}

impl CalibrationDesign {
    /// What all of it is expected to take.
    #[must_use]
    pub fn time(&self) -> Seconds {
        Seconds::new(self.loads.iter().map(|designed| designed.time.get()).sum())
    }
}
