//! What is told while a run is made ready.

use fizeau::experiment::{RunEvent, Watcher};

use crate::commands::shared::probe;
use crate::terminal::progress::{Waiting, words};
use crate::terminal::say::say;

/// Tells what happens while a run is made ready.
#[derive(Default)]
pub(crate) struct Opening {
    /// Whether nothing but a document may be printed.
    pub(crate) prints_document: bool,
    waiting: Option<Waiting>,
}

impl Watcher for Opening {
    fn event(&mut self, event: RunEvent) {
        self.waiting = None;
        match event {
            RunEvent::Note(note) => tell!("{}", words(&note)),
            RunEvent::Asking(url) => self.waiting = Some(Waiting::for_reply(&url)),
            // Who cannot be told now is told by the next line.
            RunEvent::Detected(found) if !self.prints_document => drop(say(probe::block(&found))),
            _ => {}
        }
    }
}
