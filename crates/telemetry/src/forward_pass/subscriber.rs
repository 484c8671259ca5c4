//! The subscriber: a thread that reads a publisher's socket.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fizeau_core::{Clock, Stamp};

use super::frames::{Frame, Frames, GREETING, READY_SUB, SUBSCRIBE_ALL};
use super::message;
use super::received::ForwardPasses;
use super::record::ForwardPass;
use crate::scraper::in_one_line;

/// Why there is no stream of forward passes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubscribeError {
    /// The address is none.
    #[error(
        "{address} is not an address of forward-pass records; give a host and a port, such as \
        127.0.0.1:20380"
    )]
    Address {
        /// What was given.
        address: String,
    },
    /// Nobody answers there.
    #[error("no connection to {address} for forward-pass records")]
    Connect {
        /// Where.
        address: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The system has no thread to give.
    #[error("the system refused a thread to read forward-pass records with")]
    Thread(#[source] std::io::Error),
}

/// Passes that are kept until they are taken: 4 minutes at 1,000 a second, some 50 MB.
const MOST_KEPT: usize = 1 << 18;
/// How soon the thread sees that it is to end.
const LOOK_UP: Duration = Duration::from_millis(50);
const CONNECT: Duration = Duration::from_secs(3);
/// How many times the thread looks up before it connects again.
const REST: u32 = 10;

/// A subscription to the forward passes of one engine, read by a thread of its own. If the connection ends, what came is kept,
/// [`ForwardPassSubscriber::ended`] says why, and another is tried twice a second: an engine may be started anew.
#[derive(Debug)]
pub struct ForwardPassSubscriber {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    is_over: AtomicBool,
    passes: Mutex<ForwardPasses>,
    ended: Mutex<Option<String>>,
    is_ready: AtomicBool,
}

impl ForwardPassSubscriber {
    /// Subscribes to the publisher at `address` (`HOST:PORT`), with stamps from `clock`.
    ///
    /// # Errors
    /// If the address is none, nobody answers there, or the system has no thread.
    pub fn connect<C: Clock + Send + 'static>(
        address: &str,
        clock: C,
    ) -> Result<Self, SubscribeError> {
        let stream = connected(address)?;
        let state = Arc::new(State::default());
        let work = Work { address: address.to_owned(), clock, state: Arc::clone(&state) };
        let thread = std::thread::Builder::new().name("forward passes".to_owned());
        thread.spawn(move || work.run(stream)).map_err(SubscribeError::Thread)?;
        Ok(Self { state })
    }

    /// Whether the publisher has greeted back, and knows what is subscribed to.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.state.is_ready.load(Ordering::Acquire)
    }

    /// Why nothing comes now, where the connection ended by itself and there is no other yet.
    #[must_use]
    pub fn ended(&self) -> Option<String> {
        locked(&self.state.ended).clone()
    }

    /// Looks at what came so far, while the thread waits.
    pub fn look<T>(&self, look: impl FnOnce(&ForwardPasses) -> T) -> T {
        look(&locked(&self.state.passes))
    }

    /// How many messages have come since it began, of any kind: as long as that stands still, nothing is under way.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.look(|passes| passes.heartbeats + passes.unreadable + passes.noted)
    }

    /// The passes that came since they were taken last, in order. What is counted goes on.
    #[must_use]
    pub fn take_passes(&self) -> VecDeque<(Stamp, ForwardPass)> {
        std::mem::take(&mut locked(&self.state.passes).passes)
    }

    /// Ends it, and gives all that came and was not taken.
    #[must_use]
    pub fn stop(self) -> ForwardPasses {
        self.state.is_over.store(true, Ordering::Release);
        std::mem::take(&mut *locked(&self.state.passes))
    }
}

impl Drop for ForwardPassSubscriber {
    /// The thread ends as soon as it looks up; nobody waits for that.
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Release);
    }
}

fn locked<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

fn connected(address: &str) -> Result<TcpStream, SubscribeError> {
    let given = address.strip_prefix("tcp://").unwrap_or(address);
    let none = || SubscribeError::Address { address: address.to_owned() };
    let places: Vec<SocketAddr> = given.to_socket_addrs().map_err(|_| none())?.collect();
    let refused = |source| SubscribeError::Connect { address: address.to_owned(), source };
    let mut last = None;
    for place in &places {
        match TcpStream::connect_timeout(place, CONNECT).and_then(prepared) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = Some(error),
        }
    }
    Err(last.map_or_else(none, refused))
}

fn prepared(stream: TcpStream) -> std::io::Result<TcpStream> {
    stream.set_read_timeout(Some(LOOK_UP))?;
    stream.set_write_timeout(Some(CONNECT))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

struct Work<C> {
    address: String,
    clock: C,
    state: Arc<State>,
}

impl<C: Clock> Work<C> {
    fn run(self, first: TcpStream) {
        let mut next = Ok(first);
        while !self.is_over() {
            let ended = next.and_then(|mut stream| self.subscribe(&mut stream));
            self.state.is_ready.store(false, Ordering::Release);
            locked(&self.state.passes).reconnected();
            if let Err(why) = ended {
                *locked(&self.state.ended) = Some(why);
            }
            for _ in 0..REST {
                if !self.is_over() {
                    std::thread::sleep(LOOK_UP);
                }
            }
            next = match self.is_over() {
                true => return,
                false => connected(&self.address).map_err(|error| in_one_line(&error)),
            };
        }
    }

    fn is_over(&self) -> bool {
        self.state.is_over.load(Ordering::Acquire)
    }

    /// Until it is over, or for a reason.
    fn subscribe(&self, stream: &mut TcpStream) -> Result<(), String> {
        say(stream, &GREETING)?;
        let mut frames = Frames::default();
        let mut piece = vec![0; 16 << 10];
        while !self.is_over() {
            let length = match stream.read(&mut piece) {
                Ok(0) => return Err("the publisher closed the connection".to_owned()),
                Ok(length) => length,
                Err(error) if may_go_on(error.kind()) => continue,
                Err(error) => return Err(format!("the connection broke: {error}")),
            };
            frames.feed(piece.get(..length).unwrap_or_default());
            while let Some(frame) = frames.next().map_err(|error| error.to_string())? {
                self.take(frame, stream)?;
            }
        }
        Ok(())
    }

    fn take(&self, frame: Frame, stream: &mut TcpStream) -> Result<(), String> {
        match frame {
            Frame::Greeting => say(stream, READY_SUB)?,
            Frame::Command(name) if name == "READY" => {
                say(stream, SUBSCRIBE_ALL)?;
                *locked(&self.state.ended) = None;
                self.state.is_ready.store(true, Ordering::Release);
            }
            Frame::Command(name) if name == "ERROR" => {
                return Err("the publisher refused the subscription".to_owned());
            }
            Frame::Command(_) => {}
            Frame::Message(parts) => {
                let at = self.clock.now();
                let read = message::read(&parts);
                let mut passes = locked(&self.state.passes);
                match read {
                    Ok((sequence, pass)) => passes.note(at, sequence, pass, MOST_KEPT),
                    Err(why) => passes.unreadable(why),
                }
            }
        }
        Ok(())
    }
}

fn say(stream: &mut TcpStream, bytes: &[u8]) -> Result<(), String> {
    let sent = stream.write_all(bytes);
    sent.map_err(|error| format!("the publisher could not be spoken to: {error}"))
}

/// Nothing came for a while, or a signal did.
fn may_go_on(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
