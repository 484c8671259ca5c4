//! How many of something were going on at an instant.

use fizeau_core::Stamp;

use super::{TimeSpan, TimeWeighted};
use crate::sort::ascending;

/// How many of something were going on at every instant: requests in flight, in prefill, in decode. Two stamps each.
///
/// One that ends at the very instant at which another begins is gone by then, so that the count of a closed loop never
/// exceeds its slots. What begins and ends at one instant never counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CountSeries {
    starts: Vec<Stamp>,
    ends: Vec<Stamp>,
}

impl CountSeries {
    /// Of these spans, in any order.
    pub(crate) fn of(spans: impl IntoIterator<Item = TimeSpan>) -> Self {
        let mut series = Self::default();
        for span in spans {
            series.starts.push(span.from());
            series.ends.push(span.to());
        }
        ascending(&mut series.starts, |at| at.as_nanos());
        ascending(&mut series.ends, |at| at.as_nanos());
        series
    }

    /// The same at each of `instants`, which ascend.
    pub(crate) fn values_at(
        &self,
        instants: impl Iterator<Item = Stamp>,
    ) -> impl Iterator<Item = u64> {
        let (mut starts, mut ends) = (self.starts.iter().peekable(), self.ends.iter().peekable());
        let mut value = 0;
        instants.map(move |at| {
            while starts.next_if(|&&start| start <= at).is_some() {
                value += 1;
            }
            while ends.next_if(|&&end| end <= at).is_some() {
                value -= 1;
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
        self.steps_after(0, 0)
    }

    /// How long which number held within `span`.
    pub(crate) fn over(&self, span: TimeSpan) -> TimeWeighted {
        let before = self.until(span.from());
        let first = (span.from(), (before.0 - before.1) as u64);
        TimeWeighted::of(std::iter::once(first).chain(self.steps_after(before.0, before.1)), span)
    }

    /// How many had begun and how many were over at `at`. No end comes before its start, so the second is never the greater.
    fn until(&self, at: Stamp) -> (usize, usize) {
        let count = |stamps: &[Stamp]| stamps.partition_point(|&stamp| stamp <= at);
        (count(&self.starts), count(&self.ends))
    }

    /// The changes that come after so many starts and ends.
    fn steps_after(&self, mut begun: usize, mut over: usize) -> impl Iterator<Item = (Stamp, u64)> {
        std::iter::from_fn(move || {
            loop {
                let before = begun - over;
                let end = *self.ends.get(over)?;
                let at = self.starts.get(begun).map_or(end, |&start| start.min(end));
                begun += run_of(&self.starts, begun, at);
                over += run_of(&self.ends, over, at);
                if begun - over != before {
                    return Some((at, (begun - over) as u64));
                }
            }
        })
    }
}

/// How many from index `from` on are `at`.
fn run_of(stamps: &[Stamp], from: usize, at: Stamp) -> usize {
    stamps.iter().skip(from).take_while(|&&stamp| stamp == at).count()
}
