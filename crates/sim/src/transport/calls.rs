//! The requests under way, and what has come of each.

use std::collections::VecDeque;
use std::task::Waker;

use fizeau_core::{Arrival, Channel, Tokens};

use crate::serve::{Emission, JobId};
use crate::text;

/// Requests by the numbers of their jobs, which rise by one: those of the open ones lie close together.
#[derive(Debug, Default)]
pub(super) struct SimCalls {
    /// From the oldest that is open; none where one has ended since.
    open: VecDeque<Option<Box<SimCall>>>,
    /// How many came before the first of those.
    passed: u64,
}

/// A request under way.
#[derive(Debug)]
pub(super) struct SimCall {
    pub(super) reply: SimReply,
    pub(super) waker: Option<Waker>,
}

/// What has come of a request so far.
#[derive(Debug, Default)]
pub(super) struct SimReply {
    pub(super) arrivals: Vec<Arrival>,
    /// The last that came.
    pub(super) last: Option<Emission>,
}

impl SimCalls {
    /// The number that the next job has.
    pub(super) fn next_id(&self) -> JobId {
        JobId(self.passed + self.open.len() as u64)
    }

    /// Takes in the next job, of which `tokens` tokens will come.
    pub(super) fn open(&mut self, tokens: Tokens) {
        // What a caller asks for is no reason to take up memory before it comes.
        let room = tokens.get().min(4_096) as usize;
        let reply = SimReply { arrivals: Vec::with_capacity(room), last: None };
        self.open.push_back(Some(Box::new(SimCall { reply, waker: None })));
    }

    pub(super) fn get_mut(&mut self, id: JobId) -> Option<&mut SimCall> {
        self.slot(id)?.as_deref_mut()
    }

    /// Takes a job out.
    pub(super) fn close(&mut self, id: JobId) -> Option<Box<SimCall>> {
        let call = self.slot(id)?.take();
        while self.open.front().is_some_and(Option::is_none) {
            self.open.pop_front();
            self.passed += 1;
        }
        call
    }

    pub(super) fn len(&self) -> usize {
        self.open.iter().flatten().count()
    }

    fn slot(&mut self, id: JobId) -> Option<&mut Option<Box<SimCall>>> {
        let place = id.0.checked_sub(self.passed)?;
        self.open.get_mut(usize::try_from(place).ok()?)
    }
}

impl SimReply {
    /// Takes in what left the engine: one arrival, of one token or several.
    pub(super) fn add(&mut self, emission: Emission) {
        let Emission { job, at, index, count, .. } = emission;
        let words = (index..index.saturating_add(count)).map(|index| text::word(job, index).len());
        let size = u32::try_from(words.sum::<usize>()).unwrap_or(u32::MAX);
        let tokens = u32::try_from(count).unwrap_or(u32::MAX);
        self.arrivals.push(Arrival {
            read: u32::try_from(self.arrivals.len()).unwrap_or(u32::MAX),
            bytes: size,
            // The words are ASCII.
            chars: size,
            ..Arrival::tokens(at, tokens, Channel::Visible)
        });
        self.last = Some(emission);
    }

    /// Whether all of it has come.
    pub(super) fn is_whole(&self) -> bool {
        self.last.is_some_and(|emission| emission.last)
    }

    /// Its words.
    pub(super) fn text(&self) -> String {
        let Some(Emission { job, index, count, .. }) = self.last else { return String::new() };
        (0..index.saturating_add(count)).map(|index| text::word(job, index)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_ended_is_forgotten_once_all_before_it_has() {
        let mut calls = SimCalls::default();
        for _ in 0..4 {
            calls.open(Tokens::new(1));
        }
        assert!(calls.close(JobId(1)).is_some());
        assert!(calls.close(JobId(1)).is_none(), "it has ended");
        assert_eq!((calls.len(), calls.open.len(), calls.next_id()), (3, 4, JobId(4)));
        calls.close(JobId(0));
        assert_eq!((calls.len(), calls.open.len(), calls.next_id()), (2, 2, JobId(4)));
        assert!(calls.get_mut(JobId(0)).is_none() && calls.get_mut(JobId(3)).is_some());
        assert!(calls.get_mut(JobId(4)).is_none(), "it has not come");
    }
}
