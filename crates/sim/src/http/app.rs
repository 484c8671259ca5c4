//! What all connections share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fizeau_core::{Stamp, Tokens};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::ServerConfig;
use super::ask::Ask;
use super::clock::WallClock;
use super::driver::{Command, Event};
use super::truth::Truth;
use crate::job::{Job, JobId};

/// The model's name where neither the server nor the client gave one.
const NAMELESS: &str = "simulated";

pub(super) struct App {
    pub(super) clock: WallClock,
    pub(super) body_limit: usize,
    pub(super) longest_job: Option<Tokens>,
    model: Option<String>,
    commands: Sender<Command>,
    next_id: AtomicU64,
    truth: Mutex<Truth>,
}

impl App {
    pub(super) fn new(clock: WallClock, commands: Sender<Command>, config: &ServerConfig) -> Self {
        Self {
            clock,
            body_limit: config.body_limit,
            longest_job: config.engine.longest_job(),
            model: config.model.clone(),
            commands,
            next_id: AtomicU64::new(0),
            truth: Mutex::new(Truth::new(clock.started_rfc3339(), config.truth_limit)),
        }
    }

    /// The name that the model is listed under.
    pub(super) fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(NAMELESS)
    }

    /// Whether a request for `model` is served here.
    pub(super) fn serves(&self, model: &str) -> bool {
        self.model.as_deref().is_none_or(|name| name == model)
    }

    /// The server's record. A panic while it was held cannot have left it half written in a way that matters.
    pub(super) fn truth(&self) -> MutexGuard<'_, Truth> {
        self.truth.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a request that arrived at `arrived` to the engine.
    pub(super) fn submit(self: &Arc<Self>, ask: &Ask, arrived: Stamp) -> Call {
        let id = JobId(self.next_id.fetch_add(1, Ordering::Relaxed));
        let (to, events) = unbounded_channel();
        let job = Job {
            id,
            prompt_tokens: ask.prompt_tokens,
            output_tokens: ask.max_tokens,
            at: arrived,
        };
        // Fails only once the engine's thread is gone; then `events` is closed too, and the reply breaks off.
        drop(self.commands.send(Command::Submit(job, to)));
        Call { id, events, app: Arc::clone(self), open: true }
    }
}

/// A job in the engine's hands. Given up before its end, it is cancelled.
pub(super) struct Call {
    pub(super) id: JobId,
    pub(super) events: UnboundedReceiver<Event>,
    pub(super) app: Arc<App>,
    open: bool,
}

impl Call {
    /// Notes that the engine is done with the job.
    pub(super) const fn close(&mut self) {
        self.open = false;
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.open {
            self.app.truth().cancelled();
            drop(self.app.commands.send(Command::Cancel(self.id)));
        }
    }
}
