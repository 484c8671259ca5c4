//! What the decoders have in common: the events that they hand out, and the reads that brought them.

use fizeau_core::{ReadLag, Stamp};

/// The most bytes of one event, unless told otherwise: 16 MiB. First events that repeat the prompt as token
/// ids, and last ones that repeat the whole answer, exceed 1 MiB.
pub const DEFAULT_EVENT_LIMIT: usize = 16 << 20;

/// How far a decoder has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecoderState {
    Reading,
    /// The limit was exceeded and the error not handed out yet.
    TooLong,
    Over,
}

/// One return of the read call, by which all bytes that it brought are stamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadMark {
    /// When the bytes came: by the kernel's own stamp or, without one, when the call returned.
    pub at: Stamp,
    /// The number of the call within its request, from 0.
    pub number: u32,
    /// How long after `at` the call returned.
    pub lag: ReadLag,
}

impl ReadMark {
    /// Call `number`, stamped by this process as it returned, at `at`.
    #[must_use]
    pub const fn user(at: Stamp, number: u32) -> Self {
        Self { at, number, lag: ReadLag::ZERO }
    }
}

/// One event as it was framed, not yet understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RawEvent<'a> {
    /// Its bytes: the `data` lines of a server-sent event, joined by LF, or a line of NDJSON.
    pub data: &'a [u8],
    /// The `event` field of a server-sent event; empty if it had none.
    pub name: &'a [u8],
    /// The read that brought the bytes which completed it.
    pub mark: ReadMark,
}
