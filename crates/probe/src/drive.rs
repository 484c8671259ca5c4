//! Trial after trial, within a time, with each result kept as it comes.

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};

use fizeau_core::{Clock, Nanos};

use crate::measurement::Measurement;
use crate::trial::{ProbeBackend, ProbeTrial, Unavailable};

/// Where measurements go as they are made: a file, memory.
pub trait MeasurementSink {
    /// Why one could not be kept.
    type Error: std::error::Error;

    /// Keeps `measured`, so that a program that is killed afterwards has it.
    ///
    /// # Errors
    /// If it could not be kept; nothing more is measured then.
    fn keep(&mut self, measured: &Measurement) -> Result<(), Self::Error>;
}

/// In memory.
impl MeasurementSink for Vec<Measurement> {
    type Error = std::convert::Infallible;

    fn keep(&mut self, measured: &Measurement) -> Result<(), Self::Error> {
        self.push(measured.clone());
        Ok(())
    }
}

/// What happens while a machine is measured.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ProbeEvent<'a> {
    /// A trial begins.
    Began {
        /// Which.
        trial: &'a ProbeTrial,
        /// How many were before it.
        done: usize,
        /// How many there are in all.
        of: usize,
        /// How long the rest is to take, this one included.
        left: Nanos,
    },
    /// It gave a measurement.
    Measured(&'a Measurement),
    /// It cannot be measured here.
    NotAvailable {
        /// Which.
        trial: &'a ProbeTrial,
        /// Why.
        reason: &'a Unavailable,
    },
    /// The time was over before it.
    LeftOut(&'a ProbeTrial),
}

/// What begins, in a line: `[3/40] memory read, 12 s left`; empty for anything else.
impl Display for ProbeEvent<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self::Began { trial, done, of, left } = self else { return Ok(()) };
        let (number, left) = (done + 1, left.as_secs_f64());
        write!(f, "[{number}/{of}] {}, {left:.0} s left", trial.operation)
    }
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ProbeOutcome {
    /// Trials that gave a measurement.
    pub measured: usize,
    /// Trials that cannot be measured here.
    pub unavailable: usize,
    /// Trials for which no time was left.
    pub left_out: usize,
    /// Whether somebody ended it before.
    pub cancelled: bool,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepGoing {
    /// The next trial.
    Yes,
    /// No trial more.
    No,
}

/// Measures `trials` within `budget`, and tells `watch` what happens, which says whether to go on.
///
/// Of each component of each device they are measured in order, and it is the turn of the component that has had the least time: one of
/// which a trial takes long leaves the others theirs. Each has the time that is left in proportion to its weight. What takes longer takes
/// it from those that follow; of those for which nothing is left none is measured.
///
/// # Errors
/// If a measurement could not be kept. Those before it are kept.
pub fn run_trials<S: MeasurementSink>(
    backend: &mut impl ProbeBackend,
    trials: &[ProbeTrial],
    (clock, budget): (&impl Clock, Nanos),
    sink: &mut S,
    mut watch: impl FnMut(ProbeEvent<'_>) -> KeepGoing,
) -> Result<ProbeOutcome, S::Error> {
    let begun = clock.now();
    let mut outcome = ProbeOutcome::default();
    let mut weight_left: f64 = trials.iter().map(|trial| trial.weight).sum();
    let mut turns = Turns::of(trials);
    for done in 0..trials.len() {
        let Some((turn, trial)) = turns.next() else { break };
        let from = clock.now();
        let left = budget.saturating_sub(from.saturating_since(begun));
        if left == Nanos::ZERO {
            outcome.left_out += 1;
            watch(ProbeEvent::LeftOut(trial));
            continue;
        }
        if watch(ProbeEvent::Began { trial, done, of: trials.len(), left }) == KeepGoing::No {
            outcome.cancelled = true;
            outcome.left_out += trials.len() - done;
            break;
        }
        let share = trial.weight / weight_left.max(trial.weight);
        weight_left -= trial.weight;
        let time = Nanos::from_nanos((left.as_nanos() as f64 * share * SAMPLING_SHARE) as u64);
        let measured = backend.measure(trial, time);
        turns.took(turn, clock.now().saturating_since(from));
        match measured {
            Ok(measured) => {
                sink.keep(&measured)?;
                outcome.measured += 1;
                watch(ProbeEvent::Measured(&measured));
            }
            Err(reason) => {
                outcome.unavailable += 1;
                watch(ProbeEvent::NotAvailable { trial, reason: &reason });
            }
        }
    }
    Ok(outcome)
}

/// Whose turn it is.
struct Turns<'a> {
    /// What is left of each component of each device, in order, and how long those before took.
    lines: Vec<(VecDeque<&'a ProbeTrial>, Nanos)>,
}

impl<'a> Turns<'a> {
    fn of(trials: &'a [ProbeTrial]) -> Self {
        let mut lines: Vec<(VecDeque<&ProbeTrial>, Nanos)> = Vec::new();
        let kind = |trial: &'a ProbeTrial| (trial.operation.component(), &trial.device);
        for trial in trials {
            let own = |line: &&mut (VecDeque<&'a ProbeTrial>, Nanos)| {
                line.0.front().is_some_and(|first| kind(first) == kind(trial))
            };
            match lines.iter_mut().find(own) {
                Some((line, _)) => line.push_back(trial),
                None => lines.push((VecDeque::from([trial]), Nanos::ZERO)),
            }
        }
        Self { lines }
    }

    /// The next of whoever had the least time, the first of several; none where nothing is left.
    fn next(&mut self) -> Option<(usize, &'a ProbeTrial)> {
        let waiting = self.lines.iter().enumerate().filter(|(_, (line, _))| !line.is_empty());
        let (turn, _) = waiting.min_by_key(|(_, (_, spent))| *spent)?;
        Some((turn, self.lines[turn].0.pop_front()?))
    }

    fn took(&mut self, turn: usize, time: Nanos) {
        let spent = &mut self.lines[turn].1;
        *spent = Nanos::from_nanos(spent.as_nanos().saturating_add(time.as_nanos()));
    }
}

/// Of the time of a trial, what sampling has: filling arrays, warm-up and checks take the rest. What they do not take those that follow
/// have, so that less here makes no probe shorter, and the last trial has its time.
const SAMPLING_SHARE: f64 = 0.5;

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use fizeau_core::{Millis, Stamp};
    use proptest::prelude::*;

    use super::*;
    use crate::device::DeviceFacts;
    use crate::host::ProbeHost;
    use crate::measurement::{Component, Dtype, Operation, Provenance, Timing};

    #[derive(Clone, Default)]
    struct ByHand(Rc<Cell<u64>>);

    impl Clock for ByHand {
        fn now(&self) -> Stamp {
            Stamp::from_nanos(self.0.get())
        }
    }

    /// Takes as long as the rule says for a trial that is given so much time; where it says nothing it cannot measure that.
    struct Scripted<F>(ByHand, F);

    /// So many times the time that is given, but for trials of more than three threads.
    fn times(slow: f64) -> impl Fn(&ProbeTrial, Nanos) -> Option<u64> {
        move |trial, time| {
            (trial.threads <= 3).then_some((time.as_nanos() as f64 * slow + 1.0) as u64)
        }
    }

    impl<F: Fn(&ProbeTrial, Nanos) -> Option<u64>> ProbeBackend for Scripted<F> {
        fn host(&self) -> ProbeHost {
            ProbeHost::named("scripted")
        }

        fn devices(&self) -> Vec<DeviceFacts> {
            Vec::new()
        }

        fn trials(&self, _: Component) -> Vec<ProbeTrial> {
            Vec::new()
        }

        fn measure(&mut self, trial: &ProbeTrial, time: Nanos) -> Result<Measurement, Unavailable> {
            let took = (self.1)(trial, time);
            let took = took.ok_or_else(|| Unavailable::because("too many threads"))?;
            self.0.0.set(self.0.0.get() + took);
            let timing = Timing::of_samples(vec![Millis::new(1.0)], 1);
            Ok(Measurement::new("cpu", trial.operation.clone(), timing, Provenance::native()))
        }
    }

    fn trials(count: u32) -> Vec<ProbeTrial> {
        (0..count).map(|at| ProbeTrial::new(Operation::Peak, Dtype::F32, 1 + at % 5)).collect()
    }

    proptest! {
        #[test]
        fn every_trial_is_accounted_for_and_time_is_kept(count in 0_u32..60, slow in 0.1_f64..4.0, millis in 1_u64..10_000) {
            let clock = ByHand::default();
            let (mut sink, mut events) = (Vec::new(), 0);
            let budget = Nanos::from_millis(millis);
            let outcome = run_trials(&mut Scripted(clock.clone(), times(slow)), &trials(count), (&clock, budget), &mut sink, |event| {
                events += usize::from(!matches!(event, ProbeEvent::Began { .. }));
                KeepGoing::Yes
            }).unwrap();
            prop_assert_eq!(outcome.measured + outcome.unavailable + outcome.left_out, count as usize);
            prop_assert_eq!((sink.len(), events), (outcome.measured, count as usize));
            if slow <= 1.0 / SAMPLING_SHARE {
                prop_assert_eq!(outcome.left_out, 0);
                prop_assert!(clock.0.get() <= budget.as_nanos() + u64::from(count));
            }
        }
    }

    /// A component of which each trial takes longer than all others together leaves them their time.
    #[test]
    fn a_slow_component_does_not_take_the_time_of_the_others() {
        let takes = |trial: &ProbeTrial, _: Nanos| match trial.operation.component() {
            Component::Latency => Some(400_000_000),
            _ => Some(1_000_000),
        };
        let slow =
            ProbeTrial::new(Operation::latency(fizeau_core::Bytes::new(1e9)), Dtype::Int64, 1);
        let trials = [vec![slow; 10], trials(20)].concat();
        let clock = ByHand::default();
        let mut sink: Vec<Measurement> = Vec::new();
        let budget = Nanos::from_secs(1);
        let backend = &mut Scripted(clock.clone(), takes);
        let watch = |_: ProbeEvent<'_>| KeepGoing::Yes;
        let outcome = run_trials(backend, &trials, (&clock, budget), &mut sink, watch).unwrap();
        let peaks = sink.iter().filter(|row| row.operation == Operation::Peak).count();
        assert_eq!((peaks, outcome.measured, outcome.left_out), (20, 23, 7));
    }

    #[test]
    fn it_ends_when_it_is_told_to() {
        let clock = ByHand::default();
        let (mut sink, mut begun) = (Vec::new(), 0);
        let budget = Nanos::from_secs(1);
        let backend = &mut Scripted(clock.clone(), times(1.0));
        let outcome = run_trials(backend, &trials(3), (&clock, budget), &mut sink, |event| {
            begun += usize::from(matches!(event, ProbeEvent::Began { .. }));
            if begun > 1 { KeepGoing::No } else { KeepGoing::Yes }
        });
        let outcome = outcome.unwrap();
        assert_eq!((outcome.measured, outcome.left_out, outcome.cancelled), (1, 2, true));
        assert_eq!(sink.len(), 1);
    }
}
