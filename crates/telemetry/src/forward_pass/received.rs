//! What a subscriber has.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use fizeau_core::Stamp;

use super::record::{ForwardPass, ForwardPassError};

/// The forward passes that came, each with the instant at which it was read, and what was lost.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ForwardPasses {
    /// Those that came, in order; without heartbeats, which are counted.
    pub passes: VecDeque<(Stamp, ForwardPass)>,
    /// Heartbeats of an idle engine.
    pub heartbeats: u64,
    /// Messages that the sequence shows were sent and did not come.
    pub lost: u64,
    /// Messages that are no forward passes.
    pub unreadable: u64,
    /// Why, of the first of them.
    pub first_unreadable: Option<ForwardPassError>,
    /// Passes that were forgotten, because more came than are kept.
    pub forgotten: u64,
    /// How often the sequence went back: the engine was restarted.
    pub restarts: u64,
    /// Passes that came, kept or not.
    pub noted: u64,
    last: Option<u64>,
    /// Names of workers and scopes, each once.
    texts: BTreeSet<Arc<str>>,
}

/// So many names share memory; a stream has one or two.
const TEXTS_SHARED: usize = 64;

impl ForwardPasses {
    /// Takes note of what came `at` that instant under that sequence number, of which at most `most` are kept.
    pub fn note(&mut self, at: Stamp, sequence: u64, mut pass: ForwardPass, most: usize) {
        match self.last {
            Some(last) if sequence > last => self.lost += sequence - last - 1,
            Some(_) => self.restarts += 1,
            None => {}
        }
        self.last = Some(sequence);
        if pass.is_heartbeat() {
            self.heartbeats += 1;
            return;
        }
        self.noted += 1;
        if self.passes.len() >= most.max(1) {
            self.passes.pop_front();
            self.forgotten += 1;
        }
        for text in [Some(&mut pass.worker_id), pass.timing_scope.as_mut()].into_iter().flatten() {
            self.share(text);
        }
        self.passes.push_back((at, pass));
    }

    fn share(&mut self, text: &mut Arc<str>) {
        match self.texts.get(&**text) {
            Some(known) => *text = Arc::clone(known),
            None if self.texts.len() < TEXTS_SHARED => {
                self.texts.insert(Arc::clone(text));
            }
            None => {}
        }
    }

    /// Takes note of a message that is none.
    pub fn unreadable(&mut self, why: ForwardPassError) {
        self.unreadable += 1;
        self.first_unreadable.get_or_insert(why);
    }

    /// A connection was lost: what came before says nothing of what is lost after.
    pub fn reconnected(&mut self) {
        self.last = None;
    }
}
