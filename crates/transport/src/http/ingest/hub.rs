//! The loop and its connections.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::net;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use fizeau_core::{Clock, Stamp};
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;
use tokio::io::unix::AsyncFd;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::task::{AbortHandle, yield_now};

use super::{DrainOutcome, LinedBody, NotAdopted, RegisteredSocket};
use crate::http::kernel::{self, EpollFd};
use crate::http::watchdog::TimeoutAlarm;
use crate::http::wire::BodyEnding;
use crate::prefetch;

/// The most sockets that are read before other tasks have their turn: reading them takes a tenth of a millisecond.
const SOCKETS_IN_A_TURN: usize = 64;

/// The longest single read; what a server sends in a few milliseconds where it outruns us.
const SCRATCH: usize = 64 << 10;

/// The loop of one transport, begun with the first connection.
pub(in crate::http) struct IngestLoop<C>(RefCell<Option<Running<C>>>);

struct Running<C> {
    hub: Arc<Hub<C>>,
    task: AbortHandle,
}

impl<C> fmt::Debug for IngestLoop<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IngestLoop").finish_non_exhaustive()
    }
}

impl<C> Drop for Running<C> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<C: Clock + Send + 'static> IngestLoop<C> {
    pub(in crate::http) const fn new() -> Self {
        Self(RefCell::new(None))
    }

    /// Takes a stream over from the runtime.
    pub(in crate::http) fn adopt(
        &self,
        stream: TcpStream,
    ) -> Result<RegisteredSocket<C>, NotAdopted> {
        let Ok(hub) = self.hub() else { return Err(NotAdopted::Kept(stream)) };
        let stream = stream.into_std().map_err(NotAdopted::Lost)?;
        match hub.add(&stream) {
            Ok(key) => Ok(RegisteredSocket::new(hub, key, stream)),
            Err(_) => {
                let kept = TcpStream::from_std(stream);
                Err(kept.map_or_else(NotAdopted::Lost, NotAdopted::Kept))
            }
        }
    }

    /// The hub of a loop that runs.
    fn hub(&self) -> io::Result<Arc<Hub<C>>> {
        let mut running = self.0.borrow_mut();
        // A loop ends with the runtime that it was begun in.
        if let Some(Running { hub, task }) = &*running
            && !task.is_finished()
        {
            return Ok(Arc::clone(hub));
        }
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let hub = Arc::new(Hub::new()?);
        let heard = kernel::hear(Arc::clone(&hub.epoll))?;
        let task = runtime.spawn(run(Arc::clone(&hub), heard)).abort_handle();
        *running = Some(Running { hub: Arc::clone(&hub), task });
        Ok(hub)
    }
}

/// The loop itself.
async fn run<C: Clock + Send + 'static>(hub: Arc<Hub<C>>, heard: AsyncFd<EpollFd>) {
    let guard = EndGuard(hub);
    let hub = &guard.0;
    let mut scratch = vec![0; SCRATCH].into_boxed_slice();
    let mut woken = Vec::new();
    while let Ok(mut readiness) = heard.readable().await {
        loop {
            let has_more = hub.turn(&mut scratch, &mut woken);
            woken.drain(..).for_each(Waker::wake);
            if !has_more {
                break;
            }
            yield_now().await;
        }
        readiness.clear_ready();
    }
}

/// Tells all who wait that nobody reads any more.
struct EndGuard<C>(Arc<Hub<C>>);

impl<C> Drop for EndGuard<C> {
    fn drop(&mut self) {
        let waiting: Vec<_> = {
            let mut state = self.0.state();
            state.is_over = true;
            state.slots.iter_mut().filter_map(|slot| slot.waker.take()).collect()
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// The connections. The lock is taken once for a turn of the loop, and rarely by requests, on the same thread.
pub(super) struct Hub<C> {
    epoll: Arc<OwnedFd>,
    state: Mutex<HubState<C>>,
}

struct HubState<C> {
    slots: Vec<Slot<C>>,
    free: Vec<usize>,
    /// Slots that have more to read than one turn could.
    unread: Vec<usize>,
    /// The loop has ended.
    is_over: bool,
}

/// One connection.
struct Slot<C> {
    /// What the loop reads, if it is its turn.
    body: Option<LinedBody<C>>,
    ended: Option<GivenEnd>,
    readiness: SlotReadiness,
    /// Who waits for it.
    waker: Option<Waker>,
}

/// What the kernel has said of a socket, as far as nothing has shown otherwise since.
pub(super) struct SlotReadiness {
    pub(super) is_readable: bool,
    pub(super) is_writable: bool,
    /// Behind what can still be read comes the end, of which no further edge tells.
    has_ended: bool,
}

/// How the loop's reading of a body ended.
enum GivenEnd {
    Ended(BodyEnding),
    Panicked(Box<dyn Any + Send>),
}

impl<C> Slot<C> {
    /// As a socket is that has just been connected.
    const fn fresh() -> Self {
        let readiness = SlotReadiness { is_readable: false, is_writable: true, has_ended: false };
        Self { body: None, ended: None, readiness, waker: None }
    }

    fn wait(&mut self, cx: &Context<'_>) {
        if !self.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            self.waker = Some(cx.waker().clone());
        }
    }
}

impl<C> Hub<C> {
    fn new() -> io::Result<Self> {
        let state =
            HubState { slots: Vec::new(), free: Vec::new(), unread: Vec::new(), is_over: false };
        let epoll = Arc::new(epoll::create(CreateFlags::CLOEXEC)?);
        Ok(Self { epoll, state: Mutex::new(state) })
    }

    /// What panics while it is held is caught on the spot.
    fn state(&self) -> MutexGuard<'_, HubState<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, stream: &net::TcpStream) -> io::Result<usize> {
        let mut state = self.state();
        let key = state.free.pop().unwrap_or(state.slots.len());
        match state.slots.get_mut(key) {
            Some(slot) => *slot = Slot::fresh(),
            None => state.slots.push(Slot::fresh()),
        }
        let edges = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        let added = epoll::add(&*self.epoll, stream, EventData::new_u64(key as u64), edges);
        if added.is_err() {
            state.free.push(key);
        }
        Ok(added.map(|()| key)?)
    }

    pub(super) fn remove(&self, key: usize, stream: &net::TcpStream) {
        // It fails only where there is nothing to remove.
        let _ = epoll::delete(&*self.epoll, stream);
        let mut state = self.state();
        if let Some(slot) = state.slots.get_mut(key) {
            *slot = Slot::fresh();
        }
        state.unread.retain(|unread| *unread != key);
        state.free.push(key);
    }
}

impl<C> Hub<C> {
    /// What the loop was given to read, if it has not been taken yet.
    pub(super) fn take_back(&self, key: usize) -> Option<LinedBody<C>> {
        let mut state = self.state();
        state.unread.retain(|unread| *unread != key);
        state.slots.get_mut(key)?.body.take()
    }
}

impl<C: Clock + Send + 'static> Hub<C> {
    /// Reads what is there on some sockets. Whether there may be more on others; `woken` then has who is to be woken.
    fn turn(&self, scratch: &mut [u8], woken: &mut Vec<Waker>) -> bool {
        let mut state = self.state();
        let HubState { slots, unread, .. } = &mut *state;
        let again = std::mem::take(unread);
        let mut room = [const { MaybeUninit::uninit() }; SOCKETS_IN_A_TURN];
        let (events, may_have_more) = match epoll::wait(&*self.epoll, &mut room, Some(&NO_TIME)) {
            Ok((events, rest)) => (&*events, rest.is_empty()),
            // Nothing was heard; the next turn finds it.
            Err(error) => (Default::default(), error == Errno::INTR),
        };
        let heard = events.iter().enumerate().map(|(at, event)| {
            let flags = event.flags;
            (slot_key(event), flags, at + 1)
        });
        let again = again.into_iter().map(|key| (key, EventFlags::IN, 0));
        for (key, flags, next) in again.chain(heard) {
            // Three steps, each while the kernel reads for the slot before: the slot, what it points to, and what that points to.
            let ahead = |by: usize| slots.get(slot_key(events.get(next + by)?));
            ahead(1).into_iter().for_each(prefetch::fetch);
            ahead(0).into_iter().for_each(Slot::fetch_ahead);
            let Some(slot) = slots.get_mut(key) else { continue };
            let progress = slot.hear(flags, scratch, woken);
            if progress == SlotProgress::More && !unread.contains(&key) {
                unread.push(key);
            }
        }
        may_have_more || !unread.is_empty()
    }

    /// Gives the loop a body to read, unless there is something left to be written or read first.
    pub(super) fn give(&self, key: usize, body: LinedBody<C>) -> Result<(), Box<LinedBody<C>>> {
        let mut state = self.state();
        let is_over = state.is_over;
        match state.slots.get_mut(key) {
            Some(slot) if !is_over && !slot.readiness.is_readable && body.h1.is_sent() => {
                slot.ended = None;
                slot.body = Some(body);
                Ok(())
            }
            _ => Err(Box::new(body)),
        }
    }

    pub(super) fn poll_given(
        &self,
        key: usize,
        cx: &mut Context<'_>,
        now: impl Fn() -> Stamp,
    ) -> Poll<(LinedBody<C>, Result<BodyEnding, TimeoutAlarm>)> {
        let mut state = self.state();
        let is_over = state.is_over;
        let Some(slot) = state.slots.get_mut(key) else { return Poll::Pending };
        let how = match slot.ended.take() {
            Some(GivenEnd::Ended(ending)) => Ok(ending),
            Some(GivenEnd::Panicked(panic)) => {
                drop(state);
                resume_unwind(panic)
            }
            None if is_over => Ok(BodyEnding::Cut),
            None => {
                slot.wait(cx);
                let Some(body) = &mut slot.body else { return Poll::Pending };
                match body.content.watchdog.poll(cx, now) {
                    Poll::Ready(alarm) => Err(alarm),
                    Poll::Pending => return Poll::Pending,
                }
            }
        };
        match slot.body.take() {
            Some(body) => Poll::Ready((body, how)),
            None => Poll::Pending,
        }
    }
}

/// Whose slot `event` is about.
fn slot_key(event: &epoll::Event) -> usize {
    let epoll::Event { data, .. } = *event;
    usize::try_from(data.u64()).unwrap_or(usize::MAX)
}

/// What waiting without waiting takes.
const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Whether a slot has more to read.
#[derive(PartialEq, Eq)]
enum SlotProgress {
    Done,
    More,
}

impl<C: Clock + Send + 'static> Slot<C> {
    /// Has what the slot points to fetched.
    fn fetch_ahead(&self) {
        self.body.iter().for_each(LinedBody::fetch_ahead);
    }

    /// Takes note of what the kernel says, and reads if that is the loop's to do.
    fn hear(
        &mut self,
        flags: EventFlags,
        scratch: &mut [u8],
        woken: &mut Vec<Waker>,
    ) -> SlotProgress {
        let broken = EventFlags::HUP | EventFlags::ERR;
        self.readiness.is_writable |= flags.intersects(EventFlags::OUT | broken);
        let is_news = flags.intersects(EventFlags::IN | EventFlags::RDHUP | broken);
        self.readiness.is_readable |= is_news;
        self.readiness.has_ended |= flags.intersects(EventFlags::RDHUP | EventFlags::HUP);
        let Some(body) = self.body.as_mut().filter(|_| self.ended.is_none()) else {
            woken.extend(self.waker.take());
            return SlotProgress::Done;
        };
        if !is_news {
            return SlotProgress::Done;
        }
        let phase = body.content.watchdog.phase();
        let drained = catch_unwind(AssertUnwindSafe(|| body.drain(scratch)));
        match drained {
            Ok(DrainOutcome::Emptied) if self.readiness.has_ended => return SlotProgress::More,
            Ok(DrainOutcome::Emptied) => {
                self.readiness.is_readable = false;
                let watchdog = &body.content.watchdog;
                if watchdog.phase() != phase && watchdog.is_set_too_late() {
                    woken.extend(self.waker.take());
                }
            }
            Ok(DrainOutcome::More) => return SlotProgress::More,
            Ok(DrainOutcome::Ended(ending)) => self.end(GivenEnd::Ended(ending), woken),
            Err(panic) => self.end(GivenEnd::Panicked(panic), woken),
        }
        SlotProgress::Done
    }

    fn end(&mut self, how: GivenEnd, woken: &mut Vec<Waker>) {
        self.ended = Some(how);
        woken.extend(self.waker.take());
    }
}

impl<C: Clock + Send + 'static> LinedBody<C> {
    /// Has connection and reader fetched, whose addresses are at hand.
    fn fetch_ahead(&self) {
        prefetch::fetch(&*self.h1);
        self.content.fetch_ahead();
    }

    /// Reads what is there.
    fn drain(&mut self, scratch: &mut [u8]) -> DrainOutcome {
        let Self { h1, content } = self;
        prefetch::fetch(&**h1.log());
        content.fetch_buffers();
        h1.drain_body(scratch, &mut |log, bytes, mark| content.take(log, bytes, mark))
    }
}

impl<C> Hub<C> {
    /// Does `act`, if slot `key` is ready for it, and takes note if it would have to wait. An edge that comes meanwhile is
    /// heard after that.
    pub(super) fn attempt<R>(
        &self,
        key: usize,
        is_ready: impl Fn(&mut SlotReadiness) -> &mut bool,
        act: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        let mut state = self.state();
        let would_wait = || io::Error::from(io::ErrorKind::WouldBlock);
        let readiness = state.slots.get_mut(key).map(|slot| &mut slot.readiness);
        let readiness = readiness.ok_or_else(would_wait)?;
        if !*is_ready(readiness) {
            return Err(would_wait());
        }
        let done = act();
        let has_waited = matches!(&done, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        *is_ready(readiness) = !has_waited;
        readiness.is_readable |= readiness.has_ended;
        done
    }

    pub(super) fn poll_ready(
        &self,
        key: usize,
        cx: &mut Context<'_>,
        is_ready: impl FnOnce(&SlotReadiness) -> bool,
    ) -> Poll<io::Result<()>> {
        let mut state = self.state();
        let is_over = state.is_over;
        match state.slots.get_mut(key) {
            Some(slot) if is_ready(&slot.readiness) => Poll::Ready(Ok(())),
            Some(slot) if !is_over => {
                slot.wait(cx);
                Poll::Pending
            }
            _ => Poll::Ready(Err(io::Error::other("the event loop of the connection has ended"))),
        }
    }
}
