//! The thread that owns the engine and keeps its time.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};

use fizeau_core::{Clock, Nanos};
use tokio::sync::mpsc::UnboundedSender;

use super::clock::WallClock;
use crate::job::{Emission, Job, JobId, SubmitError};
use crate::serve::Serve;

/// How long before an instant the thread stops sleeping and watches the clock. Linux rounds a thread's sleep
/// by 50 us (`PR_SET_TIMERSLACK`), and waking costs as much again. Timers of async runtimes tick in
/// milliseconds.
const WATCH: Nanos = Nanos::from_micros(100);

/// What connections tell the engine.
#[derive(Debug)]
pub(super) enum Command {
    Cancel(JobId),
    Submit(Job, UnboundedSender<Event>),
}

/// What the engine tells a connection.
#[derive(Debug)]
pub(super) enum Event {
    Refused(SubmitError),
    Token(Emission),
}

pub(super) struct Driver {
    engine: Box<dyn Serve + Send>,
    clock: WallClock,
    inbox: Receiver<Command>,
    calls: HashMap<JobId, UnboundedSender<Event>>,
}

enum Woken {
    /// All connections are gone, and with them the server.
    Closed,
    Command(Command),
    /// The engine's next event is due.
    Due,
}

impl Driver {
    pub(super) fn new(
        engine: Box<dyn Serve + Send>,
        clock: WallClock,
        inbox: Receiver<Command>,
    ) -> Self {
        Self { engine, clock, inbox, calls: HashMap::new() }
    }

    /// Runs until every sender of commands is gone.
    pub(super) fn run(mut self) {
        loop {
            match self.wait() {
                Woken::Closed => return,
                Woken::Command(command) => self.handle(command),
                Woken::Due => {}
            }
            // All that has arrived goes in before time passes: a job that came before a step began is part of it.
            while let Ok(command) = self.inbox.try_recv() {
                self.handle(command);
            }
            self.advance();
        }
    }

    fn wait(&self) -> Woken {
        let Some(at) = self.engine.next_event() else {
            return self.inbox.recv().map_or(Woken::Closed, Woken::Command);
        };
        let left = at.saturating_since(self.clock.now());
        if left > WATCH {
            match self.inbox.recv_timeout(left.saturating_sub(WATCH).into()) {
                Ok(command) => return Woken::Command(command),
                Err(RecvTimeoutError::Disconnected) => return Woken::Closed,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        while self.clock.now() < at {
            match self.inbox.try_recv() {
                Ok(command) => return Woken::Command(command),
                Err(TryRecvError::Disconnected) => return Woken::Closed,
                // Yields rather than spins: on a small machine the client under test needs the core more.
                Err(TryRecvError::Empty) => std::thread::yield_now(),
            }
        }
        Woken::Due
    }

    fn handle(&mut self, command: Command) {
        match command {
            Command::Cancel(id) => {
                self.engine.cancel(id);
                self.calls.remove(&id);
            }
            Command::Submit(job, to) => match self.engine.submit(job) {
                Ok(()) => drop(self.calls.insert(job.id, to)),
                // Whoever hung up meanwhile need not know.
                Err(error) => drop(to.send(Event::Refused(error))),
            },
        }
    }

    fn advance(&mut self) {
        let calls = &mut self.calls;
        self.engine.advance(self.clock.now(), &mut |emission| {
            if let Some(call) = calls.get(&emission.job) {
                // Whoever hung up has sent a `Cancel`, which is on its way.
                drop(call.send(Event::Token(emission)));
            }
            if emission.last {
                calls.remove(&emission.job);
            }
        });
    }
}
