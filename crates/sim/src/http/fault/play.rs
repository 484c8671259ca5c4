//! What a faulty reply does to its socket, act by act.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};

use fizeau_core::{Clock, Nanos, Stamp};

use super::cut::Cut;
use crate::http::truth::Record;

/// One thing that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    Write(Piece),
    /// Nothing for so long, or for ever.
    Pause(Option<Nanos>),
    End(End),
}

/// Bytes in a write of their own, or in several where they are cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    /// How many tokens end where.
    pub(super) ends: Vec<(usize, u64)>,
    pub(super) cut: Cut,
}

/// How a faulty reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum End {
    /// As it should: the connection is free for the next request, unless it was to close.
    Whole,
    /// With the connection.
    Close,
    /// The server says that it sends no more, and waits for the client to go.
    Fin,
    /// The connection is reset.
    Reset,
}

/// Where a reply stands after its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum Stand {
    /// The socket is full.
    Blocked,
    /// Nothing can be done before then.
    Until(Stamp),
    /// More could be done at once; others have their turn first.
    More,
    /// Nothing is left to do for now.
    Idle,
    Ended(End),
}

/// What is to be done, in order.
#[derive(Debug, Default)]
pub(super) struct Play {
    acts: VecDeque<Act>,
    /// How much of the first act's bytes is written, and how many of its ends with it.
    written: usize,
    ended: usize,
    /// Whether the pause that comes next has begun, or the one before the next byte is still to come.
    pause: Pausing,
}

/// Where a pause stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Pausing {
    #[default]
    Not,
    /// At a cut that was not waited at.
    Due,
    Until(Stamp),
}

/// How much one reply may do before others have their turn, in bytes; a write counts as some however short it is.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Budget {
    const A_WRITE: usize = 256;

    pub(super) const fn of_turn() -> Self {
        Self(64 << 10)
    }

    const fn spend(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub(bytes + Self::A_WRITE);
    }

    const fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

impl Act {
    /// A write without tokens, in one piece.
    pub(super) const fn write(bytes: Vec<u8>) -> Self {
        Self::Write(Piece { bytes, ends: Vec::new(), cut: Cut::NEVER })
    }
}

impl Play {
    pub(super) fn extend(&mut self, acts: impl IntoIterator<Item = Act>) {
        self.acts.extend(acts);
    }

    /// Does what can be done now. A token is stamped just before the write that takes its last byte.
    pub(super) fn turn(
        &mut self,
        to: &mut impl Write,
        clock: &impl Clock,
        record: &mut Record,
        budget: &mut Budget,
    ) -> io::Result<Stand> {
        while let Some(act) = self.acts.front() {
            if budget.is_spent() {
                return Ok(Stand::More);
            }
            match act {
                Act::Write(piece) => {
                    if self.pause != Pausing::Not
                        && let Some(until) = wait(&mut self.pause, piece.cut.pause, clock)
                    {
                        return Ok(Stand::Until(until));
                    }
                    let end = piece.cut.next(&piece.bytes, self.written);
                    let rest = piece.bytes.get(self.written..end).unwrap_or_default();
                    let before = clock.now();
                    let sent = match to.write(rest) {
                        Ok(0) if !rest.is_empty() => return Err(ErrorKind::WriteZero.into()),
                        Ok(sent) => sent,
                        Err(error) if error.kind() == ErrorKind::WouldBlock => {
                            return Ok(Stand::Blocked);
                        }
                        Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                        Err(error) => return Err(error),
                    };
                    budget.spend(sent);
                    self.written += sent;
                    let ends = piece.ends.get(self.ended..).unwrap_or_default();
                    for (_, tokens) in ends.iter().take_while(|(end, _)| *end <= self.written) {
                        record.hand(*tokens, before);
                        self.ended += 1;
                    }
                    if self.written < piece.bytes.len() {
                        if self.written == end {
                            self.pause = Pausing::Due;
                        }
                        continue;
                    }
                    (self.written, self.ended) = (0, 0);
                }
                // For ever: only the client can end this.
                Act::Pause(None) => return Ok(Stand::Idle),
                Act::Pause(Some(pause)) => {
                    if let Some(until) = wait(&mut self.pause, *pause, clock) {
                        return Ok(Stand::Until(until));
                    }
                }
                Act::End(end) => return Ok(Stand::Ended(*end)),
            }
            self.acts.pop_front();
        }
        Ok(Stand::Idle)
    }

    /// Whether all that was to be done is done.
    pub(super) fn is_over(&self) -> bool {
        self.acts.is_empty()
    }
}

/// Begins a pause, or goes on with it; until when it lasts, unless it is over.
fn wait(pausing: &mut Pausing, pause: Nanos, clock: &impl Clock) -> Option<Stamp> {
    let now = clock.now();
    let until = match *pausing {
        Pausing::Until(until) => until,
        Pausing::Not | Pausing::Due => now + pause,
    };
    let waits = now < until;
    *pausing = if waits { Pausing::Until(until) } else { Pausing::Not };
    waits.then_some(until)
}
