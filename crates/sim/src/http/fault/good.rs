//! A reply as it would be with nothing wrong, event by event.

use super::event::Event;
use crate::http::frames::{Failure, Frames};
use crate::job::Emission;

/// The events that faults set out from. Each may be asked for more than once.
pub(super) struct Good(Frames);

impl Good {
    pub(super) const fn new(frames: Frames) -> Self {
        Self(frames)
    }

    /// How many tokens the reply has.
    pub(super) const fn total(&self) -> u64 {
        self.0.total()
    }

    /// Notes what the engine said with the first token.
    pub(super) const fn begun(&mut self, first: &Emission) {
        self.0.cached(first.timing.cached_tokens);
    }

    /// What comes with the head.
    pub(super) fn opening(&self) -> Vec<Event> {
        let mut bytes = Vec::new();
        self.0.opening(&mut bytes);
        Event::read(&bytes, 0)
    }

    /// What comes with the first token, before it.
    pub(super) fn start(&self) -> Vec<Event> {
        let mut bytes = Vec::new();
        self.0.start(&mut bytes);
        Event::read(&bytes, 0)
    }

    /// Token `index`.
    pub(super) fn token(&self, index: u64) -> Vec<Event> {
        let mut bytes = Vec::new();
        self.0.tokens(index..index + 1, &mut bytes);
        Event::read(&bytes, 1)
    }

    /// What ends a reply that fails behind token `made`.
    pub(super) fn failed(&self, made: u64, failure: Failure) -> Vec<Event> {
        let mut bytes = Vec::new();
        self.0.fail(made, failure, &mut bytes);
        Event::read(&bytes, 0)
    }

    /// What comes behind the last token.
    pub(super) fn end(&self) -> Vec<Event> {
        let mut bytes = Vec::new();
        self.0.end(&mut bytes);
        Event::read(&bytes, 0)
    }
}
