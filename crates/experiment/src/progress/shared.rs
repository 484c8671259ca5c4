//! A state that a run keeps up and that somebody draws.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::ProgressState;

/// What is known of a run under way, by whoever watches it and by whoever draws that on a thread of its own. Clones share the state.
///
/// ```
/// use fizeau_experiment::{LevelStarted, ProgressState, RunEvent, SharedProgress};
///
/// let watched = SharedProgress::<ProgressState>::default();
/// let drawn = watched.clone();
/// let (mut state, now) = watched.now();
/// state.note(&RunEvent::LevelStarted(LevelStarted::new("concurrency 8".to_owned(), 100)), now);
/// drop(state);
/// assert!(drawn.now().0.level().is_some());
/// ```
#[derive(Debug)]
pub struct SharedProgress<S = ProgressState> {
    state: Arc<Mutex<S>>,
    begun: Instant,
}

impl<S> SharedProgress<S> {
    /// Of a run that begins now.
    #[must_use]
    pub fn begin(state: S) -> Self {
        Self { state: Arc::new(Mutex::new(state)), begun: Instant::now() }
    }

    /// The state now, and how long the run goes on. Whoever holds it holds up the other: no longer than to look.
    pub fn now(&self) -> (MutexGuard<'_, S>, Duration) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state, self.begun.elapsed())
    }
}

impl<S> Clone for SharedProgress<S> {
    fn clone(&self) -> Self {
        Self { state: Arc::clone(&self.state), begun: self.begun }
    }
}

impl<S: Default> Default for SharedProgress<S> {
    fn default() -> Self {
        Self::begin(S::default())
    }
}
