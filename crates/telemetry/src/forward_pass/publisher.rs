//! The publisher: what an engine does, for the simulated one and for tests.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::frames::{Frame, Frames, GREETING, READY_PUB};
use super::message;
use super::record::ForwardPass;

/// Publishes forward passes to whoever subscribes, as engines do: a message that a subscriber does not take in time is dropped for
/// that subscriber, and nothing ever waits.
#[derive(Debug)]
pub struct ForwardPassPublisher {
    address: SocketAddr,
    sequence: u64,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    is_over: AtomicBool,
    subscribers: Mutex<Vec<Subscriber>>,
}

/// Bytes that may wait for a subscriber: some 2,000 messages.
const HIGH_WATER: usize = 1 << 20;
const HANDSHAKE: Duration = Duration::from_secs(2);

impl ForwardPassPublisher {
    /// Listens at `address`; port 0 takes any that is free.
    ///
    /// # Errors
    /// If that cannot be listened at, or the system has no thread.
    pub fn bind(address: impl ToSocketAddrs) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("forward passes".to_owned());
        let thread = thread.spawn(move || accept(&listener, &theirs))?;
        Ok(Self { address, sequence: 0, shared, thread: Some(thread) })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many subscribe now.
    #[must_use]
    pub fn subscribers(&self) -> usize {
        locked(&self.shared.subscribers).len()
    }

    /// Publishes `pass` under the next sequence number, which counts whether anybody listens or not.
    pub fn publish(&mut self, pass: &ForwardPass) {
        let mut subscribers = locked(&self.shared.subscribers);
        if !subscribers.is_empty() {
            let bytes = message::write(self.sequence, pass);
            subscribers.retain_mut(|subscriber| subscriber.send(&bytes).is_ok());
        }
        self.sequence += 1;
    }

    /// Leaves out a sequence number, as a publisher does whose queue is full.
    pub fn drop_one(&mut self) {
        self.sequence += 1;
    }
}

impl Drop for ForwardPassPublisher {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        // The thread waits for a connection; if this one fails, it has none to wait for.
        drop(TcpStream::connect_timeout(&self.address, HANDSHAKE));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn locked(kept: &Mutex<Vec<Subscriber>>) -> MutexGuard<'_, Vec<Subscriber>> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
struct Subscriber {
    stream: TcpStream,
    /// The rest of what it has not taken yet: it begins within a message.
    waiting: Vec<u8>,
}

impl Subscriber {
    fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if self.waiting.len() + bytes.len() <= HIGH_WATER {
            self.waiting.extend_from_slice(bytes);
        }
        while !self.waiting.is_empty() {
            match self.stream.write(&self.waiting) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(taken) => drop(self.waiting.drain(..taken)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn accept(listener: &TcpListener, shared: &Shared) {
    for stream in listener.incoming() {
        if shared.is_over.load(Ordering::Acquire) {
            return;
        }
        // Whoever does not speak ZMTP is let go.
        if let Some(subscriber) = stream.ok().and_then(|stream| greeted(stream).ok()) {
            locked(&shared.subscribers).push(subscriber);
        }
    }
}

/// A subscriber, once it has said to what it subscribes.
fn greeted(mut stream: TcpStream) -> std::io::Result<Subscriber> {
    stream.set_read_timeout(Some(HANDSHAKE))?;
    stream.set_write_timeout(Some(HANDSHAKE))?;
    stream.set_nodelay(true)?;
    stream.write_all(&[GREETING.as_slice(), READY_PUB].concat())?;
    let mut frames = Frames::default();
    let mut piece = [0; 512];
    loop {
        let length = stream.read(&mut piece)?;
        if length == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        frames.feed(piece.get(..length).unwrap_or_default());
        while let Some(frame) = frames.next().map_err(|_| ErrorKind::InvalidData)? {
            let subscribes = match &frame {
                Frame::Message(parts) => parts.first().is_some_and(|part| part.first() == Some(&1)),
                // ZMTP 3.1 has a command for it.
                Frame::Command(name) => name == "SUBSCRIBE",
                Frame::Greeting => false,
            };
            if subscribes {
                stream.set_nonblocking(true)?;
                return Ok(Subscriber { stream, waiting: Vec::new() });
            }
        }
    }
}
