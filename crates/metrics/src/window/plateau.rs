//! The window of a closed loop in which all its slots were in use.

use std::ops::Range;

use super::choice::MovableEnds;
use super::{CutReason, MeasuredWindow, NoWindow, NoWindowReason};
use crate::{TimeSpan, Timeline};

/// The least share of its time that a plateau spends at its level. A slot that is taken again at once is empty for well under a
/// thousandth of its time.
const AT_LEVEL: f64 = 0.95;

impl Timeline {
    /// The window in which the concurrency was at its plateau: from when it first reached its peak to when it last left it,
    /// if it was there for at least 95 % of the time between. The share is in the reason.
    ///
    /// Where users think between turns there is no such plateau; [`Timeline::steady`] looks for one that varies.
    ///
    /// # Errors
    /// If the concurrency did not stay at its peak, or half of the requests or more were sent at other times.
    ///
    /// ```
    /// use fizeau_core::{Nanos, Stamp, Tape};
    /// use fizeau_metrics::{CutReason, NoWindow, Timeline};
    ///
    /// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
    /// // Two slots, 100 ms a request; the second opens 5 ms after the first.
    /// let tapes = (0..20).map(|n| {
    ///     let mut tape = Tape::sent_at(ms(n / 2 * 100 + n % 2 * 5));
    ///     tape.marks.end = tape.marks.send_start.map(|sent| sent + Nanos::from_millis(100));
    ///     tape
    /// });
    /// let window = Timeline::of(&tapes.collect::<Vec<_>>()).plateau()?;
    /// assert_eq!(window.reason, CutReason::Plateau { level: 2, share: 1.0 });
    /// assert_eq!((window.span.from(), window.span.to()), (ms(5), ms(905)));
    /// # Ok::<(), NoWindow>(())
    /// ```
    pub fn plateau(&self) -> Result<MeasuredWindow, NoWindow> {
        self.plateau_within(0..self.requests().len(), MovableEnds::Both)
    }

    /// The same among those of the requests that are `asked` for, by their place in the order of sending: only the ends that are
    /// `moving` are moved.
    pub(super) fn plateau_within(
        &self,
        asked: Range<usize>,
        moving: MovableEnds,
    ) -> Result<MeasuredWindow, NoWindow> {
        let in_flight = self.in_flight();
        let level = in_flight.peak();
        let (mut reached, mut left, mut there) = (None, None, false);
        for (at, value) in in_flight.steps() {
            if value >= level && reached.is_none() {
                reached = Some(at);
            }
            if there && value < level {
                left = Some(at);
            }
            there = value >= level;
        }
        let (reached, left) = reached.zip(left).ok_or(NoWindowReason::NothingLeft)?;
        // Sending ends the window even where the last requests are still at the level.
        let requests = self.requests();
        let last = requests.last().ok_or(NoWindowReason::NothingLeft)?.at;
        let first = requests.get(asked.start).map_or(reached, |first| first.at);
        let end = requests.get(asked.end).map_or(last, |end| end.at);
        let from = if moving == MovableEnds::Back { first } else { reached.max(first) };
        let to = if moving == MovableEnds::Front { end } else { left.min(end) };
        let held = in_flight.over(TimeSpan::new(from, to));
        let share = held.share_at_least(level).ok_or(NoWindowReason::NothingLeft)?;
        if share < AT_LEVEL {
            return Err(NoWindowReason::NoPlateau { level, share }.into());
        }
        let window = self.window((from, to), CutReason::Plateau { level, share }, Vec::new())?;
        let (kept, all) = (window.kept, asked.len() as u64);
        // A peak that was reached for a moment is at its level all of that moment.
        if kept * 2 <= all {
            return Err(NoWindowReason::ShortPlateau { level, kept, all }.into());
        }
        Ok(window)
    }
}
