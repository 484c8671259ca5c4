//! How many of something were going on at an instant.

use std::iter::Peekable;

use fizeau_core::Stamp;

use super::{TimeSpan, TimeWeighted};
use crate::sort::ascending;

/// How many of something were going on at every instant: requests in flight, in prefill, in decode. An instant and a number for
/// each change.
///
/// One that ends at the very instant at which another begins is gone by then, so that the count of a closed loop never
/// exceeds its slots. What begins and ends at one instant never counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CountSeries {
    /// In order; no two at one instant.
    steps: Vec<(Stamp, u64)>,
}

impl CountSeries {
    /// Of these spans, in any order.
    pub(crate) fn of(spans: impl IntoIterator<Item = TimeSpan>) -> Self {
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for span in spans {
            starts.push(span.from());
            ends.push(span.to());
        }
        ascending(&mut starts, |at| at.as_nanos());
        ascending(&mut ends, |at| at.as_nanos());
        let one = |at: Stamp| (at, 1);
        Self::of_ordered(starts.into_iter().map(one), ends.into_iter().map(one))
    }

    /// Of how many began when, and how many ended, both in order.
    pub(crate) fn of_ordered(
        starts: impl Iterator<Item = (Stamp, u64)>,
        ends: impl Iterator<Item = (Stamp, u64)>,
    ) -> Self {
        let (mut starts, mut ends) = (starts.peekable(), ends.peekable());
        let (mut value, mut steps) = (0_u64, Vec::new());
        while let Some(at) = next_at(&mut starts, &mut ends) {
            let before = value;
            while let Some((_, begun)) = starts.next_if(|&(start, _)| start == at) {
                value += begun;
            }
            while let Some((_, over)) = ends.next_if(|&(end, _)| end == at) {
                value = value.saturating_sub(over);
            }
            if value != before {
                steps.push((at, value));
            }
        }
        Self { steps }
    }

    /// The same at each of `instants`, which ascend.
    pub(crate) fn values_at(
        &self,
        instants: impl Iterator<Item = Stamp>,
    ) -> impl Iterator<Item = u64> {
        let mut steps = self.steps.iter().peekable();
        let mut value = 0;
        instants.map(move |at| {
            while let Some(&(_, next)) = steps.next_if(|(step, _)| *step <= at) {
                value = next;
            }
            value
        })
    }

    /// The most at any instant.
    pub(crate) fn peak(&self) -> u64 {
        self.steps().map(|(_, value)| value).max().unwrap_or(0)
    }

    /// Every change: its instant and the number from there on, in order.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (Stamp, u64)> {
        self.steps.iter().copied()
    }

    /// How long which number held within `span`.
    pub(crate) fn over(&self, span: TimeSpan) -> TimeWeighted {
        let (before, after) =
            self.steps.split_at(self.steps.partition_point(|(at, _)| *at <= span.from()));
        let first = (span.from(), before.last().map_or(0, |(_, value)| *value));
        TimeWeighted::of(std::iter::once(first).chain(after.iter().copied()), span)
    }
}

/// The next instant at which anything begins or ends.
fn next_at(
    starts: &mut Peekable<impl Iterator<Item = (Stamp, u64)>>,
    ends: &mut Peekable<impl Iterator<Item = (Stamp, u64)>>,
) -> Option<Stamp> {
    match (starts.peek(), ends.peek()) {
        (Some((start, _)), Some((end, _))) => Some(*start.min(end)),
        (Some((at, _)), None) | (None, Some((at, _))) => Some(*at),
        (None, None) => None,
    }
}
