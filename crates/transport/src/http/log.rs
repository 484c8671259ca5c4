//! What passed through a socket during one request.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use fizeau_core::{Nanos, ReadLag, Stamp, StampSource};

use crate::event::ReadMark;

/// What passed through a socket since the present request began. The socket writes it, the request reads it, and
/// layers such as TLS may stand between them.
///
/// Both are on one thread; atomic only so that the socket can move to another.
#[derive(Debug, Default)]
pub(super) struct IoLog {
    first_write: StampSlot,
    last_write: StampSlot,
    first_read: StampSlot,
    last_read: StampSlot,
    /// When the last read call returned.
    returned: StampSlot,
    reads: AtomicU32,
    /// How many of the reads the kernel did not stamp.
    unstamped: AtomicU32,
    /// Whether the kernel stamped the last read.
    last_is_kernels: AtomicBool,
    /// Whether anything read was handed on to the request.
    heeded: AtomicBool,
    /// The last two gaps between reads, in nanoseconds.
    gaps: [AtomicU64; 2],
    /// How many bytes were written.
    written: AtomicU64,
    /// Since when nothing had passed before the present request.
    idle_since: StampSlot,
}

/// Gaps below this are not told apart: what shares a stamp with the next within it is off by no more.
const SHORTEST_GAP: Nanos = Nanos::from_micros(500);

impl IoLog {
    /// That of a connection that stands since `made`.
    pub(super) fn since(made: Stamp) -> Self {
        let log = Self::default();
        log.idle_since.set(Some(made));
        log
    }

    /// Starts over for another request.
    pub(super) fn begin(&self) {
        self.rested(self.last_use());
        self.written.store(0, Relaxed);
        self.first_write.set(None);
        self.last_write.set(None);
        self.heeded.store(false, Relaxed);
        self.forget_reads();
    }

    /// Takes note that nothing has passed since `last_use`.
    pub(super) fn rested(&self, last_use: Option<Stamp>) {
        if last_use.is_some() {
            self.idle_since.set(last_use);
        }
    }

    /// When a byte last passed, or else since when the connection stands.
    pub(super) fn last_use(&self) -> Option<Stamp> {
        self.last_read.get().max(self.last_write.get()).or_else(|| self.idle_since.get())
    }

    fn forget_reads(&self) {
        for slot in [&self.first_read, &self.last_read, &self.returned] {
            slot.set(None);
        }
        self.reads.store(0, Relaxed);
        self.unstamped.store(0, Relaxed);
        for gap in &self.gaps {
            gap.store(0, Relaxed);
        }
    }

    /// Whether more than one of the server's messages may wait to be read at `now`: nothing is known yet of their
    /// pace, or by that pace a second one is due.
    pub(super) fn is_behind(&self, now: Stamp) -> bool {
        let reads = self.reads.load(Relaxed);
        let Some(last) = self.last_read.get().filter(|_| reads > 2) else {
            return true;
        };
        let [newer, older] = &self.gaps;
        // The longer of two: a message that comes in two packets has a short gap within it.
        let gap = Nanos::from_nanos(newer.load(Relaxed).max(older.load(Relaxed)));
        gap >= SHORTEST_GAP && now.saturating_since(last) >= gap * 7 / 4
    }

    /// Something that was read has been handed on to the request.
    #[cfg(feature = "tls")]
    pub(super) fn heed(&self) {
        self.heeded.store(true, Relaxed);
    }

    /// Forgets reads before the first that brought anything for the request.
    #[cfg(feature = "tls")]
    pub(super) fn forget_unheeded(&self) {
        if !self.heeded.load(Relaxed) && self.reads() > 0 {
            self.forget_reads();
        }
    }

    /// How many reads brought bytes.
    pub(super) fn reads(&self) -> u32 {
        self.reads.load(Relaxed)
    }

    /// The last read that brought bytes: when it returned, and how long ago the kernel had them, if it says.
    pub(super) fn last(&self) -> Option<(Stamp, Option<Nanos>)> {
        let (returned, at) = (self.returned.get()?, self.last_read.get()?);
        let age = self.last_is_kernels.load(Relaxed).then(|| returned.saturating_since(at));
        Some((returned, age))
    }

    /// How long nothing had passed when the present request was sent, where it was.
    pub(super) fn rest(&self) -> Option<Nanos> {
        Some(self.first_write.get()?.saturating_since(self.idle_since.get()?))
    }

    /// How many bytes of the present request were written.
    pub(super) fn written(&self) -> u64 {
        self.written.load(Relaxed)
    }

    pub(super) fn first_write(&self) -> Option<Stamp> {
        self.first_write.get()
    }

    pub(super) fn last_write(&self) -> Option<Stamp> {
        self.last_write.get()
    }

    pub(super) fn first_read(&self) -> Option<Stamp> {
        self.first_read.get()
    }

    pub(super) fn last_read(&self) -> Option<Stamp> {
        self.last_read.get()
    }

    /// When the last read call that brought bytes returned.
    pub(super) fn returned(&self) -> Option<Stamp> {
        self.returned.get()
    }

    /// The last read that brought bytes.
    pub(super) fn mark(&self) -> ReadMark {
        let at = self.last_read.get().unwrap_or_default();
        let lag = self.returned.get().unwrap_or_default().saturating_since(at);
        let number = self.reads.load(Relaxed).saturating_sub(1);
        ReadMark { at, number, lag: ReadLag::of(lag) }
    }

    /// Who stamped the reads: the kernel only if it stamped every one.
    pub(super) fn stamps(&self) -> StampSource {
        if self.reads.load(Relaxed) > 0 && self.unstamped.load(Relaxed) == 0 {
            StampSource::Kernel
        } else {
            StampSource::User
        }
    }

    /// Takes note of a write of so many `bytes`: `before` the call, because the kernel may deliver the bytes within it, and
    /// `after`.
    pub(super) fn wrote(&self, before: Stamp, after: Stamp, bytes: usize) {
        self.written.store(self.written() + bytes as u64, Relaxed);
        self.first_write.set_first(before);
        self.last_write.set(Some(after));
    }

    /// Takes note of a read that brought bytes: when it returned, and how long ago the kernel had them.
    pub(super) fn read(&self, returned: Stamp, age: Option<Nanos>) {
        let at = returned - age.unwrap_or_default();
        // Two reads in the order of their bytes, and the first after the request: a wall clock that was set must not
        // turn it round.
        let last = self.last_read.get();
        let earliest = last.or_else(|| self.first_write.get());
        let at = earliest.map_or(at, |earliest| at.max(earliest));
        if let Some(gap) = last.and_then(|last| at.since(last)) {
            let [newer, older] = &self.gaps;
            // Nobody else writes: no exchange is needed, which would cost more than all the rest.
            older.store(newer.load(Relaxed), Relaxed);
            newer.store(gap.as_nanos(), Relaxed);
        }
        self.first_read.set_first(at);
        self.last_read.set(Some(at));
        self.returned.set(Some(returned));
        self.reads.store(self.reads() + 1, Relaxed);
        self.last_is_kernels.store(age.is_some(), Relaxed);
        if age.is_none() {
            self.unstamped.store(self.unstamped.load(Relaxed) + 1, Relaxed);
        }
    }
}

/// A stamp, or none.
#[derive(Debug)]
struct StampSlot(AtomicU64);

impl StampSlot {
    /// 584 years after the epoch: no stamp is that late.
    const NONE: u64 = u64::MAX;

    fn get(&self) -> Option<Stamp> {
        let nanos = self.0.load(Relaxed);
        (nanos != Self::NONE).then(|| Stamp::from_nanos(nanos))
    }

    fn set(&self, stamp: Option<Stamp>) {
        self.0.store(stamp.map_or(Self::NONE, Stamp::as_nanos), Relaxed);
    }

    fn set_first(&self, stamp: Stamp) {
        if self.get().is_none() {
            self.set(Some(stamp));
        }
    }
}

impl Default for StampSlot {
    fn default() -> Self {
        Self(AtomicU64::new(Self::NONE))
    }
}

#[cfg(test)]
mod tests {
    use fizeau_core::{Nanos, ReadLag, Stamp, StampSource};

    use super::IoLog;

    const fn at(nanos: u64) -> Stamp {
        Stamp::from_nanos(nanos)
    }

    #[test]
    fn a_read_is_as_old_as_the_kernel_says() {
        let log = IoLog::default();
        assert_eq!((log.stamps(), log.returned()), (StampSource::User, None));
        log.read(at(100), Some(Nanos::from_nanos(30)));
        log.read(at(200), Some(Nanos::from_nanos(10)));
        let mark = log.mark();
        assert_eq!((mark.at, mark.number), (at(190), 1));
        assert_eq!(mark.lag, ReadLag::of(Nanos::from_nanos(10)));
        assert_eq!((log.first_read(), log.returned()), (Some(at(70)), Some(at(200))));
        assert_eq!(log.stamps(), StampSource::Kernel);
    }

    #[test]
    fn one_read_without_a_stamp_and_the_kernel_is_not_named() {
        let log = IoLog::default();
        log.read(at(100), None);
        log.read(at(200), Some(Nanos::from_nanos(10)));
        assert_eq!(log.stamps(), StampSource::User);
        assert_eq!(log.first_read(), Some(at(100)));
        log.begin();
        assert_eq!((log.first_read(), log.mark().number), (None, 0));
        log.read(at(300), Some(Nanos::from_nanos(10)));
        assert_eq!(log.stamps(), StampSource::Kernel);
    }

    #[test]
    fn stamps_never_run_backwards() {
        let log = IoLog::default();
        log.read(at(100), Some(Nanos::from_nanos(1)));
        log.read(at(200), Some(Nanos::from_nanos(150)));
        assert_eq!(log.mark().at, at(99));
        assert_eq!(log.mark().lag.to_nanos(), Nanos::from_nanos(101));
    }

    #[test]
    fn no_reply_is_stamped_before_its_request() {
        let log = IoLog::default();
        log.wrote(at(90), at(95), 1);
        log.read(at(100), Some(Nanos::from_nanos(50)));
        assert_eq!((log.first_read(), log.last_read()), (Some(at(90)), Some(at(90))));
        assert_eq!(log.mark().lag, ReadLag::of(Nanos::from_nanos(10)));
    }

    #[test]
    fn behind_by_the_servers_own_pace() {
        let log = IoLog::default();
        let ms = |ms| Stamp::EPOCH + Nanos::from_millis(ms);
        let age = Some(Nanos::ZERO);
        assert!(log.is_behind(ms(0)));
        for at in [0, 50, 60, 60, 70] {
            log.read(ms(at), age);
        }
        assert!(!log.is_behind(ms(87)));
        assert!(log.is_behind(ms(88)));
        log.begin();
        assert!(log.is_behind(ms(71)), "nothing is known of another reply");
        for _ in 0..5 {
            log.read(ms(100), age);
        }
        assert!(!log.is_behind(ms(200)), "flat out");
    }

    #[test]
    fn writes_from_the_first_to_the_last() {
        let log = IoLog::default();
        log.wrote(at(1), at(2), 7);
        log.wrote(at(3), at(4), 5);
        assert_eq!((log.first_write(), log.last_write()), (Some(at(1)), Some(at(4))));
        assert_eq!(log.written(), 12);
        log.begin();
        assert_eq!((log.first_write(), log.written()), (None, 0));
    }

    #[test]
    fn the_rest_before_a_request_begins_with_what_passed_last() {
        let log = IoLog::since(at(100));
        let rest_at = |sent| {
            log.begin();
            assert_eq!(log.rest(), None, "nothing was sent");
            log.wrote(at(sent), at(sent + 1), 1);
            log.rest().map(Nanos::as_nanos)
        };
        assert_eq!(rest_at(130), Some(30), "since it was made");
        log.read(at(150), None);
        log.read(at(180), Some(Nanos::from_nanos(10)));
        assert_eq!(rest_at(200), Some(30), "since the server's last byte");
        assert_eq!(rest_at(210), Some(9), "since a request without a reply");
    }
}
