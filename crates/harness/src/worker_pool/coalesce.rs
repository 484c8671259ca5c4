//! Coalescing of wake-ups: a worker lets arrivals gather for a moment before it looks for them, where that can do no harm.
//!
//! To go to sleep and to be woken costs a thread more than to read what has come. With hundreds of streams a worker
//! would be woken for nearly every token; after a pause it finds a dozen at once. What the kernel has stamped does not
//! age meanwhile: arrivals keep their instants, and the read lag shows the pauses.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fizeau_core::{
    CallOff, Clock, Failure, Nanos, Release, Request, Stamp, StampSource, Tape, Timer, Transport,
};

use super::Preconnect;

/// The longest pause; the system adds its timer slack, 50 us on Linux. A reply's end waits for it too, and with it the
/// request that takes its slot.
const LONGEST: Nanos = Nanos::from_micros(450);
/// A shorter pause gathers too little.
const SHORTEST: Nanos = Nanos::from_micros(100);
/// How many arrivals are worth a pause; to gather more saves little, and holds up the replies that end.
const ENOUGH: u64 = 20;
/// How many pauses a gap between two events of one reply must hold: what is read together shares a stamp.
const PAUSES_IN_A_GAP: u64 = 10;
/// No pause is taken when something is due within this.
const CLEAR: Nanos = Nanos::from_millis(1);
/// Fewer than one in so many gaps may be close: events that come in pairs look slow on average.
const FEW: u64 = 50;
/// Below so many requests in flight a worker has little to read and time enough for it.
const FEWEST: u32 = 32;

/// What decides whether a worker may pause.
#[derive(Debug, Clone)]
pub(super) struct PollCoalescer(Arc<CoalescerState>);

#[derive(Debug)]
struct CoalescerState {
    in_flight: AtomicU32,
    /// The gap between the events of the last reply, in nanoseconds; zero while it is not known, or where the kernel did
    /// not stamp it, so that a pause would spoil the stamps.
    pace: AtomicU64,
    /// When something is due: a request of the load, a probe, a slot that opens. All waits are the worker's own, so that
    /// the lock is never contended.
    due: Mutex<Vec<Stamp>>,
}

impl CoalescerState {
    fn due(&self) -> MutexGuard<'_, Vec<Stamp>> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PollCoalescer {
    /// No pauses until a reply has shown that they do no harm.
    pub(super) fn new() -> Self {
        Self(Arc::new(CoalescerState {
            in_flight: AtomicU32::new(0),
            pace: AtomicU64::new(0),
            due: Mutex::default(),
        }))
    }

    /// Pauses if that does no harm. To be called by the worker's thread when it has nothing to do.
    pub(super) fn take(&self, clock: &impl Clock) {
        if let Some(pause) = self.length(|| clock.now()) {
            std::thread::sleep(Duration::from(pause));
        }
    }

    fn length(&self, now: impl FnOnce() -> Stamp) -> Option<Nanos> {
        let state = &*self.0;
        let pace = Nanos::from_nanos(state.pace.load(Relaxed));
        let in_flight = state.in_flight.load(Relaxed);
        let enough = pace / u64::from(in_flight) * ENOUGH;
        let pause = (pace / PAUSES_IN_A_GAP).min(enough).min(LONGEST);
        let is_clear = || state.due().iter().min().is_none_or(|due| now() + CLEAR < *due);
        let is_fine = pause >= SHORTEST && in_flight >= FEWEST && is_clear();
        is_fine.then_some(pause)
    }

    /// Forgets what was known of the server's pace: another level may have another.
    pub(super) fn forget(&self) {
        self.0.pace.store(0, Relaxed);
    }

    fn note(&self, tape: &Tape) {
        let span = tape.first_token().zip(tape.last_token());
        let span = span.and_then(|(first, last)| last.since(first));
        let gaps = tape.arrivals.len().saturating_sub(1) as u64;
        if let Some(span) = span.filter(|_| gaps > 0) {
            // Over HTTP/2 many replies share a socket, whose round trip is then none of theirs: what came of all of them in a pause would
            // be read at once, with the stamp of the last packet.
            let is_alone = tape.round_trip.is_some();
            let is_stamped = tape.stamps == StampSource::Kernel && is_alone;
            let is_fine = is_stamped && close_gaps(tape) * FEW < gaps;
            self.0.pace.store(if is_fine { (span / gaps).as_nanos() } else { 0 }, Relaxed);
        }
    }
}

/// How many events came so soon after the one before that a pause might have taken in both.
fn close_gaps(tape: &Tape) -> u64 {
    let pairs = tape.arrivals.iter().zip(tape.arrivals.iter().skip(1));
    let gaps = pairs.filter_map(|(earlier, later)| later.at.since(earlier.at));
    gaps.filter(|gap| (Nanos::from_nanos(1)..CLEAR).contains(gap)).count() as u64
}

/// A transport that counts what is in flight and looks at what came of it.
#[derive(Debug)]
pub(super) struct CountedTransport<T> {
    pub(super) transport: T,
    pub(super) coalescer: PollCoalescer,
}

impl<T: Transport> Transport for CountedTransport<T> {
    type Error = T::Error;

    async fn send(&self, request: &Request, release: Release) -> Result<Tape, T::Error> {
        self.send_until(request, release, &CallOff::default()).await
    }

    async fn send_until(
        &self,
        request: &Request,
        release: Release,
        off: &CallOff,
    ) -> Result<Tape, T::Error> {
        let in_flight = InFlightGuard::begin(&self.coalescer);
        let sent = self.transport.send_until(request, release, off).await;
        drop(in_flight);
        sent.inspect(|tape| self.coalescer.note(tape))
    }
}

impl<T: Preconnect> Preconnect for CountedTransport<T> {
    async fn preconnect(&self, count: usize) -> Result<(), Failure> {
        self.transport.preconnect(count).await
    }
}

/// A request in flight, until it is dropped.
struct InFlightGuard<'n>(&'n PollCoalescer);

impl<'n> InFlightGuard<'n> {
    fn begin(coalescer: &'n PollCoalescer) -> Self {
        coalescer.0.in_flight.fetch_add(1, Relaxed);
        Self(coalescer)
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.0.in_flight.fetch_sub(1, Relaxed);
    }
}

/// A timer whose waits no pause may overrun.
#[derive(Debug)]
pub(super) struct CoalescedTimer<C> {
    pub(super) timer: C,
    pub(super) coalescer: PollCoalescer,
}

impl<C: Clock> Clock for CoalescedTimer<C> {
    fn now(&self) -> Stamp {
        self.timer.now()
    }
}

impl<C: Timer> Timer for CoalescedTimer<C> {
    async fn sleep_until(&self, at: Stamp) {
        let due = DueGuard::at(&self.coalescer, at);
        self.timer.sleep_until(at).await;
        drop(due);
    }
}

/// Something that is due, until it is dropped.
struct DueGuard<'n> {
    coalescer: &'n PollCoalescer,
    at: Stamp,
}

impl<'n> DueGuard<'n> {
    fn at(coalescer: &'n PollCoalescer, at: Stamp) -> Self {
        coalescer.0.due().push(at);
        Self { coalescer, at }
    }
}

impl Drop for DueGuard<'_> {
    fn drop(&mut self) {
        let mut due = self.coalescer.0.due();
        if let Some(own) = due.iter().position(|at| *at == self.at) {
            due.swap_remove(own);
        }
    }
}

#[cfg(test)]
mod tests {
    use fizeau_core::{Arrival, Channel};

    use super::*;

    fn ms(ms: u64) -> Stamp {
        Stamp::EPOCH + Nanos::from_millis(ms)
    }

    /// A tape with an event every `pace`.
    fn tape(pace: u64, stamps: StampSource) -> Tape {
        let mut tape = Tape::sent_at(ms(0));
        (tape.stamps, tape.round_trip) = (stamps, Some(Nanos::from_micros(20)));
        let arrival = |i| Arrival::tokens(ms(50 + i * pace), 1, Channel::Visible);
        tape.arrivals = (0..10).map(arrival).collect();
        tape
    }

    #[test]
    fn wake_ups_are_coalesced_where_it_does_no_harm_and_only_there() {
        let coalescer = PollCoalescer::new();
        let flights: Vec<_> = (0..FEWEST).map(|_| InFlightGuard::begin(&coalescer)).collect();
        let length = || coalescer.length(|| ms(0));
        let fine = || length().is_some();
        assert!(!fine(), "nothing is known of the server's pace yet");
        coalescer.note(&tape(2, StampSource::Kernel));
        assert_eq!(length(), Some(Nanos::from_micros(200)));
        coalescer.note(&tape(500, StampSource::Kernel));
        assert_eq!(length(), Some(LONGEST));
        coalescer.note(&tape(5, StampSource::User));
        assert!(!fine(), "a stamp of our own would be late by the pause");
        coalescer.note(&Tape { round_trip: None, ..tape(5, StampSource::Kernel) });
        assert!(!fine(), "other replies on the same socket would be read with it");
        coalescer.note(&tape(0, StampSource::Kernel));
        assert!(!fine(), "two events might share a stamp");
        let mut pairs = tape(10, StampSource::Kernel);
        for pair in pairs.arrivals.chunks_mut(2) {
            pair[1].at = pair[0].at + Nanos::from_micros(300);
        }
        coalescer.note(&pairs);
        assert!(!fine(), "nor may the two of a pair");
        coalescer.note(&tape(5, StampSource::Kernel));
        coalescer.forget();
        assert!(!fine(), "another level may be another server's");
        coalescer.note(&tape(5, StampSource::Kernel));
        let soon = DueGuard::at(&coalescer, ms(1));
        assert!(!fine(), "a request is due");
        drop(soon);
        let later = DueGuard::at(&coalescer, ms(2));
        assert!(fine());
        let probe = DueGuard::at(&coalescer, ms(1));
        assert!(!fine(), "of two that are due the sooner counts");
        drop(probe);
        assert!(fine());
        drop(later);
        drop(flights);
        assert!(!fine(), "there is little to gather");
    }
}
