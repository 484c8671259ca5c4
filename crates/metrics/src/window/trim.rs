//! Windows that were asked for: so many requests, or so much time.

use fizeau_core::Nanos;

use super::{CutReason, MeasuredWindow, NoWindow, NoWindowReason};
use crate::Timeline;

/// How much to cut at one end of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowTrim {
    /// So many requests, in order of sending. A window is a part of the time, and has all that were sent at one instant or none:
    /// where the first one that is kept was not sent alone, the others are kept too, so that fewer are cut; at the back
    /// all of them are cut, so that more are.
    Requests(u64),
    /// So much time, from the first sending on or back from the last.
    Time(Nanos),
}

impl Timeline {
    /// The level without a warm-up `front` and a cool-down `back`.
    ///
    /// # Errors
    /// If nothing is left.
    ///
    /// ```
    /// use fizeau_core::{Nanos, Stamp, Tape};
    /// use fizeau_metrics::{WindowTrim, NoWindow, Timeline};
    ///
    /// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
    /// let tapes: Vec<Tape> = (0..10).map(|n| Tape::sent_at(ms(100 * n))).collect();
    /// let window = Timeline::of(&tapes).trimmed(WindowTrim::Requests(2), WindowTrim::Time(Nanos::from_millis(250)))?;
    /// assert_eq!((window.span.from(), window.span.to()), (ms(200), ms(650)));
    /// assert_eq!((window.cut_front, window.kept, window.cut_back), (2, 5, 3));
    /// # Ok::<(), NoWindow>(())
    /// ```
    pub fn trimmed(&self, front: WindowTrim, back: WindowTrim) -> Result<MeasuredWindow, NoWindow> {
        let ends = || {
            let requests = self.requests();
            let sent = |index: usize| Some(requests.get(index)?.at);
            let last = requests.len().checked_sub(1)?;
            let kept = |count: u64| (count as f64 / self.each_stands_for()) as usize;
            let from = match front {
                WindowTrim::Requests(count) => sent(kept(count))?,
                WindowTrim::Time(time) => sent(0)? + time,
            };
            let to = match back {
                // A window ends with a sending, which is no more in it.
                WindowTrim::Requests(count) => sent((last + 1).checked_sub(kept(count).max(1))?)?,
                WindowTrim::Time(time) => sent(last)? - time,
            };
            Some((from, to))
        };
        let ends = ends().ok_or(NoWindowReason::NothingLeft)?;
        self.window(ends, CutReason::Requested, Vec::new())
    }
}
