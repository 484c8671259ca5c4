//! The tapes of several runs as those of one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::BufRead;
use std::mem;
use std::ops::Range;

use fizeau_core::{Nanos, Stamp, Tape};

use super::{StoredError, StoredTapes};
use crate::ClockAxis;

/// The tapes of several files on one axis of time, in the order in which the requests ended: each file's own order is kept,
/// and one tape of each is in memory.
///
/// ```
/// use fizeau_core::{Nanos, Stamp, Tape};
/// use fizeau_record::{MergedTapes, StoredTapes};
///
/// let line = serde_json::to_string(&Tape::sent_at(Stamp::EPOCH))?;
/// let shard = || StoredTapes::new("tapes.jsonl", line.as_bytes());
/// let both = MergedTapes::new([(shard(), Nanos::from_millis(5)), (shard(), Nanos::ZERO)]);
/// let sent: Vec<_> = both.filter_map(Result::ok).map(|tape| tape.marks.released).collect();
/// assert_eq!(sent, [Stamp::EPOCH, Stamp::EPOCH + Nanos::from_millis(5)]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct MergedTapes<R> {
    files: Vec<Source<R>>,
    /// When the next tape of each file ended, and the file's number.
    order: BinaryHeap<Reverse<(Stamp, usize)>>,
    /// The files whose next tape is not in memory yet.
    unread: Range<usize>,
}

#[derive(Debug)]
struct Source<R> {
    tapes: StoredTapes<R>,
    onto: OntoAxis,
    /// What comes next of it.
    next: Option<Tape>,
    /// From its first release to its last end, on the common axis.
    span: Option<(Stamp, Stamp)>,
}

/// How a file's tapes come onto the common axis.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OntoAxis {
    /// Their stamps are put later by this much.
    Later(Nanos),
    /// By readings of its clock.
    Read(ClockAxis),
}

impl OntoAxis {
    /// By how many nanoseconds stamps are put later; less than none where they are put earlier.
    pub(crate) fn later_ns(self) -> i64 {
        match self {
            Self::Later(later) => i64::try_from(later.as_nanos()).unwrap_or(i64::MAX),
            Self::Read(axis) => axis.last().ahead_ns.saturating_neg(),
        }
    }
}

impl<R: BufRead> MergedTapes<R> {
    /// Of files, each with the length of time by which its epoch is after the common one.
    pub fn new(files: impl IntoIterator<Item = (StoredTapes<R>, Nanos)>) -> Self {
        Self::onto(files.into_iter().map(|(tapes, later)| (tapes, OntoAxis::Later(later))))
    }

    /// Of files, each with what was read of its clock; none for the one whose clock is the common one.
    pub fn by_clocks(files: impl IntoIterator<Item = (StoredTapes<R>, Option<ClockAxis>)>) -> Self {
        let onto =
            |axis: Option<ClockAxis>| axis.map_or(OntoAxis::Later(Nanos::ZERO), OntoAxis::Read);
        Self::onto(files.into_iter().map(|(tapes, axis)| (tapes, onto(axis))))
    }

    pub(crate) fn onto(files: impl Iterator<Item = (StoredTapes<R>, OntoAxis)>) -> Self {
        let source = |(tapes, onto)| Source { tapes, onto, next: None, span: None };
        let files: Vec<_> = files.map(source).collect();
        Self { unread: 0..files.len(), files, order: BinaryHeap::new() }
    }

    /// The next tape, with the number of its file.
    pub fn next_of(&mut self) -> Option<Result<(usize, Tape), StoredError>> {
        let Self { files, order, unread } = self;
        for number in mem::replace(unread, 0..0) {
            match files.get_mut(number)?.fill() {
                Ok(ended) => order.extend(ended.map(|ended| Reverse((ended, number)))),
                Err(error) => {
                    order.clear();
                    return Some(Err(error));
                }
            }
        }
        let Reverse((_, number)) = order.pop()?;
        *unread = number..number + 1;
        files.get_mut(number)?.next.take().map(|tape| Ok((number, tape)))
    }

    /// The files, in the order in which they were given: each says what was cut of it, once all was read.
    pub fn files(&self) -> impl Iterator<Item = &StoredTapes<R>> {
        self.files.iter().map(|source| &source.tapes)
    }

    /// Of each file, in the same order, the first release and the last end on the common axis, of what was read so far.
    pub fn spans(&self) -> impl Iterator<Item = Option<(Stamp, Stamp)>> {
        self.files.iter().map(|source| source.span)
    }
}

impl<R: BufRead> Source<R> {
    /// Reads its next tape. Gives when that ended; none at the end.
    fn fill(&mut self) -> Result<Option<Stamp>, StoredError> {
        let Some(mut tape) = self.tapes.next().transpose()? else { return Ok(None) };
        match self.onto {
            OntoAxis::Later(later) => tape.put_later(later),
            OntoAxis::Read(axis) => axis.correct(&mut tape),
        }
        let (start, end) = (tape.marks.released, ended(&tape));
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
        self.next = Some(tape);
        Ok(Some(end))
    }
}

impl<R: BufRead> Iterator for MergedTapes<R> {
    type Item = Result<Tape, StoredError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_of().map(|next| next.map(|(_, tape)| tape))
    }
}

/// When it was written, as near as its stamps tell.
fn ended(tape: &Tape) -> Stamp {
    let marks = &tape.marks;
    marks.end.or_else(|| tape.last_output()).or(marks.send_end).unwrap_or(marks.released)
}
