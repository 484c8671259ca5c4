//! A run on the whole terminal, with its curves growing.

mod chart;
mod draw;
mod levels;
mod terminal;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fizeau_harness::Cancel;
use fizeau_record::text::Charset;

use super::{ProgressState, RunHistory, SharedProgress};
use crate::event::{RunEvent, Watcher};
use terminal::Painter;

/// A run that is shown on the whole terminal of standard error, until this is dropped: who watches it, with curves that grow.
///
/// A thread of its own draws it at most ten times a second, and holds what was noted only for as long as it takes to fill a buffer. What
/// measures never waits for it. A panic gives the terminal back before it is told.
#[derive(Debug)]
pub struct LiveScreen {
    watched: Watched,
    cancel: Cancel,
    /// Thrown when it is to draw no more.
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// What is drawn. Pure: it is folded from events, and times come in, counted from where the run began.
#[derive(Debug, Default)]
pub(super) struct ScreenState {
    title: String,
    pub(super) progress: ProgressState,
    history: RunHistory,
    /// What was to be said meanwhile.
    notes: Vec<String>,
    is_interrupted: bool,
}

impl ScreenState {
    pub(super) fn new(title: String) -> Self {
        Self { title, ..Self::default() }
    }

    pub(super) fn note(&mut self, event: &RunEvent, now: Duration) {
        self.progress.note(event, now);
        if let Some(level) = self.progress.level() {
            self.history.note(event, level, now);
        }
    }
}

/// What is drawn, and since when: whoever draws has one too.
type Watched = SharedProgress<ScreenState>;

impl LiveScreen {
    /// Takes the terminal, which has the characters of `charset`. The keys q and Ctrl-C throw `cancel`, and after that Ctrl-C gives the
    /// terminal back and calls `quit`.
    ///
    /// # Errors
    /// If standard error is no terminal that takes this, or the system refuses a thread. Then it is as it was.
    pub fn start(
        title: String,
        charset: Charset,
        cancel: &Cancel,
        quit: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let watched = Watched::begin(ScreenState::new(title));
        let over = Arc::new(AtomicBool::new(false));
        let shown = (watched.clone(), cancel.clone(), Arc::clone(&over));
        let painter = Painter::enter(shown, charset, Box::new(quit))?;
        let named = thread::Builder::new().name("fizeau-screen".into());
        let thread = named.spawn(move || painter.run()).inspect_err(|_| Self::give_back())?;
        Ok(Self { watched, cancel: cancel.clone(), over, thread: Some(thread) })
    }

    /// Whether a run has the whole terminal, so that nobody else may write on it.
    #[must_use]
    pub fn is_shown() -> bool {
        terminal::is_on()
    }

    /// Gives the terminal back as it was, if a run has it: for who is about to end the program.
    pub fn give_back() {
        terminal::leave();
    }

    /// Shows `text`, which [`Self::leave`] gives back.
    pub fn note(&self, text: &str) {
        self.watched.now().0.notes.push(text.to_owned());
    }

    /// Gives the terminal back, and what is to be said there now.
    pub fn leave(&mut self) -> Vec<String> {
        self.over.store(true, Ordering::SeqCst);
        let Some(thread) = self.thread.take() else { return Vec::new() };
        // Its panic has been told by the hook.
        let _ = thread.join();
        Self::give_back();
        let mut notes = std::mem::take(&mut self.watched.now().0.notes);
        if self.cancel.is_cancelled() {
            notes.push("interrupted: what was measured is written".to_owned());
        }
        notes
    }
}

impl Watcher for LiveScreen {
    fn event(&mut self, event: RunEvent) {
        let (mut state, now) = self.watched.now();
        state.note(&event, now);
    }
}

impl Drop for LiveScreen {
    fn drop(&mut self) {
        self.leave();
    }
}
