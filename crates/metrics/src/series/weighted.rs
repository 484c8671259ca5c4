//! Statistics of a step function, each value weighted by how long it held.

use std::collections::BTreeMap;

use fizeau_core::{Nanos, Stamp};

use super::TimeSpan;

/// How long a step function had which value within a span.
///
/// Memory grows with the number of different values, not with that of steps: a stream of any length can be taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TimeWeighted {
    length: Nanos,
    /// Nanoseconds by value.
    held: BTreeMap<u64, u64>,
}

impl TimeWeighted {
    /// Of the function that has each value from its instant to the next one's, and zero before the first. `steps` are in
    /// order of their instants; one that is not counts as if it had come at once.
    pub(crate) fn of(steps: impl IntoIterator<Item = (Stamp, u64)>, span: TimeSpan) -> Self {
        let mut held = TimeByValue::default();
        let mut hold = |value: u64, from: Stamp, to: Stamp| {
            let time = to.min(span.to).saturating_since(from.max(span.from)).as_nanos();
            if time > 0 {
                held.add(value, time);
            }
        };
        let (mut at, mut value) = (span.from, 0);
        for (next_at, next) in steps {
            let next_at = next_at.max(at);
            hold(value, at, next_at);
            (at, value) = (next_at, next);
            if at >= span.to {
                break;
            }
        }
        hold(value, at, span.to);
        Self { length: span.length(), held: held.by_value() }
    }

    /// The greatest value that held for any time; none in a span of no length.
    pub(crate) fn peak(&self) -> Option<u64> {
        self.held.keys().next_back().copied()
    }

    /// The sum of value times nanoseconds, exact. Of a number of requests in flight: the time that all of them spent there.
    pub(crate) fn integral(&self) -> u128 {
        self.held.iter().map(|(&value, &time)| u128::from(value) * u128::from(time)).sum()
    }

    /// The mean over time; none in a span of no length.
    pub(crate) fn mean(&self) -> Option<f64> {
        let length = self.length.as_nanos();
        (length > 0).then(|| self.integral() as f64 / length as f64)
    }

    /// The least value that was not exceeded for a share `q` of the time (from 0 to 1); none for another `q` and in a span of
    /// no length. Time is continuous and values are whole: there is nothing to interpolate.
    pub(crate) fn quantile(&self, q: f64) -> Option<u64> {
        if !(0.0..=1.0).contains(&q) {
            return None;
        }
        let wanted = self.length.as_nanos() as f64 * q;
        let mut below = 0;
        for (&value, &time) in &self.held {
            below += time;
            if below as f64 >= wanted {
                return Some(value);
            }
        }
        self.peak()
    }

    /// The share of the time, from 0 to 1, with a value of at least `least`; none in a span of no length.
    pub(crate) fn share_at_least(&self, least: u64) -> Option<f64> {
        let length = self.length.as_nanos();
        let time: u64 = self.held.range(least..).map(|(_, &time)| time).sum();
        (length > 0).then(|| time as f64 / length as f64)
    }
}

/// Values below this have a place each while time is added up.
const NEAR: u64 = 1 << 14;

/// Time by value, as it is added up: steps are many, and most values small.
#[derive(Default)]
struct TimeByValue {
    near: Vec<u64>,
    far: BTreeMap<u64, u64>,
}

impl TimeByValue {
    fn add(&mut self, value: u64, time: u64) {
        if value >= NEAR {
            *self.far.entry(value).or_default() += time;
            return;
        }
        let index = value as usize;
        if index >= self.near.len() {
            self.near.resize(index + 1, 0);
        }
        self.near[index] += time;
    }

    fn by_value(self) -> BTreeMap<u64, u64> {
        let near = (0..).zip(self.near).filter(|(_, time)| *time > 0);
        near.chain(self.far).collect()
    }
}
