//! What a faulty reply does to its socket, act by act.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};

use fizeau_core::{Clock, Nanos, Stamp};

use crate::http::truth::Record;

/// One thing that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Act {
    /// Bytes in a write of their own, which so many tokens end with.
    Write {
        bytes: Vec<u8>,
        tokens: u64,
    },
    /// Nothing for so long, or for ever.
    Pause(Option<Nanos>),
    End(End),
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
    /// Nothing is left to do for now.
    Idle,
    Ended(End),
}

/// What is to be done, in order.
#[derive(Debug, Default)]
pub(super) struct Play {
    acts: VecDeque<Act>,
    /// How much of the first act's bytes is written.
    written: usize,
    /// When the pause that is the first act ends.
    paused_until: Option<Stamp>,
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
    ) -> io::Result<Stand> {
        while let Some(act) = self.acts.front() {
            match act {
                Act::Write { bytes, tokens } => {
                    let rest = bytes.get(self.written..).unwrap_or_default();
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
                    if sent < rest.len() {
                        self.written += sent;
                        continue;
                    }
                    record.hand(*tokens, before);
                    self.written = 0;
                }
                // For ever: only the client can end this.
                Act::Pause(None) => return Ok(Stand::Idle),
                Act::Pause(Some(pause)) => {
                    let now = clock.now();
                    let until = *self.paused_until.get_or_insert(now + *pause);
                    if now < until {
                        return Ok(Stand::Until(until));
                    }
                    self.paused_until = None;
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
