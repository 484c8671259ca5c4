//! The tapes of several runs as those of one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::mem;
use std::ops::Range;
use std::path::{Path, PathBuf};

use fizeau_core::{Nanos, Stamp, Tape};

use super::seen::SeenRequests;
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
    /// What was read so far, where each request is to be there once at the most.
    seen: Option<SeenRequests>,
}

#[derive(Debug)]
struct Source<R> {
    tapes: StoredTapes<R>,
    onto: OntoAxis,
    /// What comes next of it.
    next: Option<Tape>,
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
        let source = |(tapes, onto)| Source { tapes, onto, next: None };
        let files: Vec<_> = files.map(source).collect();
        Self { unread: 0..files.len(), files, order: BinaryHeap::new(), seen: None }
    }

    /// The same, in which a request that comes for the second time is an error: shards of one run have no request in common. It takes a
    /// bit a request.
    #[must_use]
    pub fn each_once(self) -> Self {
        Self { seen: Some(SeenRequests::default()), ..self }
    }

    /// The next tape, with the number of its file.
    pub fn next_of(&mut self) -> Option<Result<(usize, Tape), StoredError>> {
        let Self { files, order, unread, seen } = self;
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
        let tape = files.get_mut(number)?.next.take()?;
        if seen.as_mut().is_none_or(|seen| seen.is_new(&tape)) {
            return Some(Ok((number, tape)));
        }
        order.clear();
        *unread = 0..0;
        Some(Err(self.repeated(number, &tape)))
    }

    /// That the request of `tape`, which came of the file with this number, came before.
    fn repeated(&self, number: usize, tape: &Tape) -> StoredError {
        let paths = || self.files.iter().map(|source| source.tapes.path());
        let own = || paths().skip(number).take(1);
        let others = paths().take(number).chain(paths().skip(number + 1));
        // Where no other has it, it is twice in its own.
        let also = others.chain(own()).find(|path| has(path, tape)).or_else(|| own().next());
        let path = |path: Option<&Path>| path.map(PathBuf::from).unwrap_or_default();
        StoredError::Repeated {
            path: path(own().next()),
            also: path(also),
            request: tape.request.0,
        }
    }

    /// The files, in the order in which they were given: each says what was cut of it, once all was read.
    pub fn files(&self) -> impl Iterator<Item = &StoredTapes<R>> {
        self.files.iter().map(|source| &source.tapes)
    }
}

/// Whether a file of tapes has one of the request of `tape`, as far as it can be read.
fn has(path: &Path, tape: &Tape) -> bool {
    let is_same = |other: Tape| other.request == tape.request && other.part == tape.part;
    File::open(path).is_ok_and(|file| {
        StoredTapes::new(path, BufReader::new(file)).map_while(Result::ok).any(is_same)
    })
}

impl<R: BufRead> Source<R> {
    /// Reads its next tape. Gives when that ended; none at the end.
    fn fill(&mut self) -> Result<Option<Stamp>, StoredError> {
        let Some(mut tape) = self.tapes.next().transpose()? else { return Ok(None) };
        match self.onto {
            OntoAxis::Later(later) => tape.put_later(later),
            OntoAxis::Read(axis) => axis.correct(&mut tape),
        }
        let end = ended(&tape);
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
pub(crate) fn ended(tape: &Tape) -> Stamp {
    let marks = &tape.marks;
    marks.end.or_else(|| tape.last_output()).or(marks.send_end).unwrap_or(marks.released)
}
