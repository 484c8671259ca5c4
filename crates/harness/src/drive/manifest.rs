//! Who is in flight, so that a cancelled request leaves a tape too.

use std::collections::BTreeMap;
use std::sync::Arc;

use fizeau_core::{
    Asked, Failure, FailureClass, Marks, Outcome, Part, Request, RequestId, SessionId, Stamp, Tape,
};

#[derive(Default)]
pub(super) struct Manifest(BTreeMap<RequestId, Entry>);

struct Entry {
    session: SessionId,
    turn: u32,
    part: Part,
    model: Option<Arc<str>>,
    asked: Asked,
    intended: Stamp,
    released: Stamp,
}

impl Manifest {
    pub(super) fn enter(&mut self, request: &Request, intended: Stamp, released: Stamp) {
        let asked = Asked {
            input_tokens: request.input_tokens,
            output_tokens: request.max_output_tokens,
            eos: request.eos,
        };
        let Request { session, turn, part, .. } = *request;
        let model = request.model.clone();
        self.0.insert(request.id, Entry { session, turn, part, model, asked, intended, released });
    }

    pub(super) fn leave(&mut self, id: RequestId) {
        self.0.remove(&id);
    }

    /// The tapes of all that are still in flight, called off `now`.
    pub(super) fn cancelled(self, now: Stamp) -> impl Iterator<Item = Tape> {
        self.0.into_iter().map(move |(request, entry)| Tape {
            request,
            session: entry.session,
            turn: entry.turn,
            part: entry.part,
            model: entry.model,
            asked: entry.asked,
            marks: Marks { end: Some(now), ..Marks::released(entry.intended, entry.released) },
            outcome: Outcome::Failed(Failure::new(
                FailureClass::Cancelled,
                "the run was called off while this request was in flight",
            )),
            ..Tape::sent_at(entry.released)
        })
    }
}
