//! Who is in flight, so that a cancelled request leaves a tape too.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fizeau_core::{
    Failure, FailureClass, Outcome, Release, Request, RequestId, RequestMarks, RequestPurpose,
    RequestedTokens, SessionId, Stamp, Tape,
};

pub(super) struct InFlightTable {
    entries: BTreeMap<RequestId, InFlightEntry>,
    /// Told of each; none where nobody counts.
    count: Option<InFlight>,
}

struct InFlightEntry {
    session: SessionId,
    turn: u32,
    part: RequestPurpose,
    model: Option<Arc<str>>,
    requested: RequestedTokens,
    release: Release,
}

impl InFlightTable {
    /// Of nobody yet.
    pub(super) const fn new(count: Option<InFlight>) -> Self {
        Self { entries: BTreeMap::new(), count }
    }

    pub(super) fn enter(&mut self, request: &Request, release: Release) {
        let requested = RequestedTokens {
            input_tokens: request.input_tokens,
            output_tokens: request.max_output_tokens,
            eos: request.eos,
        };
        let Request { session, turn, part, .. } = *request;
        let model = request.model.clone();
        let entry = InFlightEntry { session, turn, part, model, requested, release };
        self.entries.insert(request.id, entry);
        self.count.iter().for_each(InFlight::left);
    }

    pub(super) fn leave(&mut self, id: RequestId) {
        if self.entries.remove(&id).is_some() {
            self.count.iter().for_each(|count| count.back(1));
        }
    }

    /// The tapes of all that are still in flight, called off `now`.
    pub(super) fn cancelled(mut self, now: Stamp) -> impl Iterator<Item = Tape> {
        let entries = std::mem::take(&mut self.entries);
        self.count.iter().for_each(|count| count.back(entries.len() as u64));
        entries.into_iter().map(move |(request, entry)| Tape {
            request,
            session: entry.session,
            turn: entry.turn,
            part: entry.part,
            model: entry.model,
            requested: entry.requested,
            marks: RequestMarks { end: Some(now), ..RequestMarks::released(entry.release) },
            outcome: Outcome::Failed(Failure::new(
                FailureClass::Cancelled,
                "the run was cancelled while this request was in flight",
            )),
            ..Tape::sent_at(entry.release.released)
        })
    }
}

impl Drop for InFlightTable {
    /// A drive that breaks off or is dropped leaves nobody in flight.
    fn drop(&mut self) {
        self.count.iter().for_each(|count| count.back(self.entries.len() as u64));
    }
}

// How many requests are under way, for whoever watches.

/// How many requests of a level's load are in flight: released, and their tapes not yet made. Warm-up requests and probes do
/// not count.
///
/// Clones share the count, and any thread may read it at any time. The drivers of all workers keep it with one atomic
/// addition as a request leaves and one as it is back; nothing is sent, locked or woken for it.
///
/// ```
/// use fizeau_harness::InFlight;
///
/// assert_eq!(InFlight::default().get(), 0);
/// ```
#[derive(Debug, Clone, Default)]
pub struct InFlight(Arc<AtomicU64>);

impl InFlight {
    /// How many there are now. Between a request that is back and its notice there is a moment in which it is in neither.
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// One left.
    pub(crate) fn left(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// So many are back.
    pub(crate) fn back(&self, count: u64) {
        self.0.fetch_sub(count, Ordering::Relaxed);
    }
}
