//! What a faulty reply does to its socket, act by act.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};

use fizeau_core::{Clock, Nanos, Stamp};

use super::pieces::CutRule;
use crate::http::truth::TruthRecord;

/// One thing that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FaultAction {
    Write(WritePiece),
    /// Nothing for so long, or for ever.
    Pause(Option<Nanos>),
    End(FaultedEnd),
}

/// Bytes in a write of their own, or in several where they are cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WritePiece {
    pub(super) bytes: Vec<u8>,
    /// How many tokens end where.
    pub(super) ends: Vec<(usize, u64)>,
    pub(super) cut: CutRule,
}

/// How a faulty reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http) enum FaultedEnd {
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
pub(in crate::http) enum ReplyState {
    /// The socket is full.
    Blocked,
    /// Nothing can be done before then.
    Until(Stamp),
    /// More could be done at once; others have their turn first.
    More,
    /// Nothing is left to do for now.
    Idle,
    Ended(FaultedEnd),
}

/// What is to be done, in order.
#[derive(Debug, Default)]
pub(super) struct ActionQueue {
    acts: VecDeque<FaultAction>,
    place: ActionProgress,
}

/// How far the first act is done.
#[derive(Debug, Default)]
struct ActionProgress {
    /// How much of its bytes is written, and how many of its ends with it.
    written: usize,
    ended: usize,
    pause: PauseState,
}

/// Where a pause stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum PauseState {
    #[default]
    Not,
    /// At a cut that was not waited at.
    Due,
    Until(Stamp),
}

/// When a pause begins that has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PauseStart {
    Now,
    /// Only at a cut.
    AtCut,
}

/// How much one reply may do before others have their turn, in bytes; a write counts as some however short it is.
#[derive(Debug)]
pub(super) struct TurnBudget(usize);

impl TurnBudget {
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

impl FaultAction {
    /// A write without tokens, in one piece.
    pub(super) const fn write(bytes: Vec<u8>) -> Self {
        Self::Write(WritePiece { bytes, ends: Vec::new(), cut: CutRule::NEVER })
    }
}

impl ActionQueue {
    pub(super) fn extend(&mut self, acts: impl IntoIterator<Item = FaultAction>) {
        self.acts.extend(acts);
    }

    /// Does what can be done now. A token is stamped just before the write that takes its last byte.
    pub(super) fn turn(
        &mut self,
        to: &mut impl Write,
        clock: &impl Clock,
        record: &mut TruthRecord,
        budget: &mut TurnBudget,
    ) -> io::Result<ReplyState> {
        while let Some(act) = self.acts.front() {
            if budget.is_spent() {
                return Ok(ReplyState::More);
            }
            match act {
                FaultAction::Write(piece) => {
                    if let Some(until) = self.place.wait(piece.cut.pause, clock, PauseStart::AtCut)
                    {
                        return Ok(ReplyState::Until(until));
                    }
                    match self.place.write(piece, to, clock, record) {
                        Ok(sent) => budget.spend(sent),
                        Err(error) if error.kind() == ErrorKind::WouldBlock => {
                            return Ok(ReplyState::Blocked);
                        }
                        Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                        Err(error) => return Err(error),
                    }
                    if self.place.written < piece.bytes.len() {
                        continue;
                    }
                }
                // For ever: only the client can end this.
                FaultAction::Pause(None) => return Ok(ReplyState::Idle),
                FaultAction::Pause(Some(pause)) => {
                    if let Some(until) = self.place.wait(*pause, clock, PauseStart::Now) {
                        return Ok(ReplyState::Until(until));
                    }
                }
                FaultAction::End(end) => return Ok(ReplyState::Ended(*end)),
            }
            self.acts.pop_front();
            self.place = ActionProgress::default();
        }
        Ok(ReplyState::Idle)
    }

    /// Whether all that was to be done is done.
    pub(super) fn is_over(&self) -> bool {
        self.acts.is_empty()
    }
}

impl ActionProgress {
    /// Begins a pause, or goes on with it; until when it lasts, unless it is over.
    fn wait(&mut self, pause: Nanos, clock: &impl Clock, begin: PauseStart) -> Option<Stamp> {
        let now = match (self.pause, begin) {
            (PauseState::Not, PauseStart::AtCut) => return None,
            _ => clock.now(),
        };
        let until = match self.pause {
            PauseState::Until(until) => until,
            PauseState::Not | PauseState::Due => now + pause,
        };
        let waits = now < until;
        self.pause = if waits { PauseState::Until(until) } else { PauseState::Not };
        waits.then_some(until)
    }

    /// Writes up to the next cut at most; how many bytes went.
    fn write(
        &mut self,
        piece: &WritePiece,
        to: &mut impl Write,
        clock: &impl Clock,
        record: &mut TruthRecord,
    ) -> io::Result<usize> {
        let cut = piece.cut.next(&piece.bytes, self.written);
        let rest = piece.bytes.get(self.written..cut).unwrap_or_default();
        let before = clock.now();
        let sent = to.write(rest)?;
        if sent == 0 && !rest.is_empty() {
            return Err(ErrorKind::WriteZero.into());
        }
        self.written += sent;
        if self.written == cut {
            self.pause = PauseState::Due;
        }
        let ends = piece.ends.get(self.ended..).unwrap_or_default();
        for (_, tokens) in ends.iter().take_while(|(end, _)| *end <= self.written) {
            record.hand(*tokens, before);
            self.ended += 1;
        }
        Ok(sent)
    }
}
