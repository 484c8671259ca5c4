//! Steps that wait for the host rather than for the silicon.

use std::collections::BTreeMap;
use std::fmt;

use fizeau_core::{Millis, Nanos, Seconds, Stamp, document};

use super::{JudgedStep, Rank};

document! {
    /// Decode steps of small batches that take much longer than the silicon needs for them, and than a calibrated engine takes: the host
    /// schedules, samples and launches, and the device waits.
    #[derive(Copy)]
    #[non_exhaustive]
    pub struct HostBoundSteps {
        /// How many steps it is of: those that only decode, follow upon the one before, and do so little arithmetic that more requests would
        /// cost hardly more.
        pub steps: u64,
        /// The requests of one, in the mean, as all that follows.
        pub batch: f64,
        /// From the end of the step before to its end.
        pub cycle as "cycle_ms": Millis,
        /// What of that lies between the two, by the engine's own time of the step.
        pub between as "between_ms": Millis,
        /// What every step takes beyond its bound by the engine's own time: no mean, but the least of all.
        pub floor as "floor_ms": Millis,
        /// The least time that the silicon needs for it.
        pub bound as "bound_ms": Millis,
        /// What a calibrated engine takes; absent where none is known.
        pub calibrated as "calibrated_ms"?: Millis,
    }
}

/// Fewer steps than this are no habit of an engine.
const FEWEST: u64 = 20;
/// Engines whose kernels keep the memory busy reach more than half of what it can do.
const OVER_BOUND: f64 = 2.0;
/// A calibration is a few percent off where it was fitted, and some ten elsewhere.
const OVER_CALIBRATED: f64 = 1.5;

impl HostBoundSteps {
    /// What `judged` say, in the order in which they were read; none where steps do not wait for the host, or nobody can tell.
    pub(super) fn of<'a>(judged: impl IntoIterator<Item = &'a JudgedStep>) -> Option<Self> {
        let mut sums = Sums::default();
        let mut last: BTreeMap<&Rank, (u64, Stamp)> = BTreeMap::new();
        for step in judged {
            let before = last.insert(&step.rank, (step.counter, step.at));
            // Of what decodes now, the step before had the token before: the engine had work all the while.
            let follows =
                before.filter(|(counter, _)| counter.checked_add(1) == Some(step.counter));
            if let Some((_, since)) = follows.filter(|_| step.is_small_decode()) {
                sums.add(step, step.at.saturating_since(since));
            }
        }
        sums.mean().filter(Self::is_bound_by_host)
    }

    fn is_bound_by_host(&self) -> bool {
        let excess = self.cycle.get() - self.bound.get();
        let is_constant = self.between.get() + self.floor.get() >= excess / 2.0;
        let is_slow = self.cycle.get() > OVER_BOUND * self.bound.get();
        let is_slower = |calibrated: Millis| self.cycle.get() > OVER_CALIBRATED * calibrated.get();
        self.steps >= FEWEST && is_constant && is_slow && self.calibrated.is_none_or(is_slower)
    }
}

/// Sums over steps.
#[derive(Default)]
struct Sums {
    steps: u64,
    requests: u64,
    cycle: Nanos,
    wall: Seconds,
    bound: Seconds,
    floor: Option<f64>,
    calibrated: Option<Seconds>,
}

impl Sums {
    fn add(&mut self, step: &JudgedStep, cycle: Nanos) {
        let beyond = step.wall.get() - step.bound.get();
        self.floor = Some(self.floor.map_or(beyond, |least| least.min(beyond)));
        let before = if self.steps == 0 { Some(Seconds::default()) } else { self.calibrated };
        self.calibrated = before.zip(step.calibrated).map(|(sum, more)| sum + more);
        self.steps += 1;
        self.requests += step.requests;
        self.cycle += cycle;
        self.wall = self.wall + step.wall;
        self.bound = self.bound + step.bound;
    }

    fn mean(self) -> Option<HostBoundSteps> {
        let each = |sum: f64| Millis::new(sum / self.steps as f64 * 1e3);
        let between = (self.cycle.as_secs_f64() - self.wall.get()).max(0.0);
        Some(HostBoundSteps {
            steps: self.steps,
            batch: self.requests as f64 / self.steps as f64,
            cycle: each(self.cycle.as_secs_f64()),
            between: each(between),
            floor: Millis::new(self.floor?.max(0.0) * 1e3),
            bound: each(self.bound.get()),
            calibrated: self.calibrated.map(|sum| each(sum.get())),
        })
    }
}

impl fmt::Display for HostBoundSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { batch, cycle, between, floor, bound, calibrated, .. } = *self;
        let times = |of: Millis| cycle.get() / of.get();
        write!(
            f,
            "host-bound steps: decode steps of {batch:.1} requests come every {:.2} ms, {:.1} times their bound ({:.2} ms)",
            cycle.get(),
            times(bound),
            bound.get()
        )?;
        if let Some(calibrated) = calibrated {
            write!(f, " and {:.1} times the calibrated step", times(calibrated))?;
        }
        match between >= floor {
            true => write!(
                f,
                "; {:.2} ms of it lie between steps, where the host schedules",
                between.get()
            ),
            false => write!(
                f,
                "; even the shortest step takes {:.2} ms more than its bound: launches, or a wait for the host",
                floor.get()
            ),
        }
    }
}
