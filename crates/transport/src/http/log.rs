//! What passed through a socket during one request.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use fizeau_core::{Nanos, ReadLag, Stamp, StampSource};

use crate::event::ReadMark;

/// What passed through a socket since the present request began. The socket writes it, the request reads it, and
/// layers such as TLS may stand between them.
///
/// Both are on one thread; atomic only so that the socket can move to another.
#[derive(Debug, Default)]
pub(super) struct IoLog {
    first_write: Slot,
    last_write: Slot,
    first_read: Slot,
    last_read: Slot,
    /// When the last read call returned.
    returned: Slot,
    reads: AtomicU32,
    /// How many of the reads the kernel did not stamp.
    unstamped: AtomicU32,
}

impl IoLog {
    /// Starts over for another request.
    pub(super) fn begin(&self) {
        for slot in [&self.first_write, &self.last_write, &self.first_read, &self.last_read] {
            slot.set(None);
        }
        self.returned.set(None);
        self.reads.store(0, Relaxed);
        self.unstamped.store(0, Relaxed);
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

    /// Takes note of a write: `before` the call, because the kernel may deliver the bytes within it, and
    /// `after`.
    pub(super) fn wrote(&self, before: Stamp, after: Stamp) {
        self.first_write.set_first(before);
        self.last_write.set(Some(after));
    }

    /// Takes note of a read that brought bytes: when it returned, and how long ago the kernel had them.
    pub(super) fn read(&self, returned: Stamp, age: Option<Nanos>) {
        let at = returned - age.unwrap_or_default();
        // Two reads in the order of their bytes: a wall clock set back by less than an age must not turn it round.
        let at = self.last_read.get().map_or(at, |last| at.max(last));
        self.first_read.set_first(at);
        self.last_read.set(Some(at));
        self.returned.set(Some(returned));
        self.reads.fetch_add(1, Relaxed);
        if age.is_none() {
            self.unstamped.fetch_add(1, Relaxed);
        }
    }
}

/// A stamp, or none.
#[derive(Debug)]
struct Slot(AtomicU64);

impl Slot {
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

impl Default for Slot {
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
    fn writes_from_the_first_to_the_last() {
        let log = IoLog::default();
        log.wrote(at(1), at(2));
        log.wrote(at(3), at(4));
        assert_eq!((log.first_write(), log.last_write()), (Some(at(1)), Some(at(4))));
    }
}
