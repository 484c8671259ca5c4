//! The kernel's own receive stamps, and the one file of this crate with unsafe code.
//!
//! Linux notes for each packet when it took it from the device (or from the loopback), long before the process
//! that waits for it runs. [`enable`] asks for these notes, [`receive`] reads bytes and how old they were by them.
//! The note is a reading of the wall clock, so it is only ever used as an *age*, against the wall clock of the
//! same moment: a clock that was set cannot hurt but within that age.
//!
//! See `Documentation/networking/timestamping.rst` in the Linux sources, sections 1.3.1 and 2.1.

#![allow(unsafe_code, reason = "the standard library reads no ancillary data")]
#![deny(clippy::undocumented_unsafe_blocks)]

pub(super) use system::{enable, receive};

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::mem::{self, MaybeUninit};
    use std::os::fd::AsRawFd;
    use std::ptr;
    use std::time::{Duration, SystemTime};

    use fizeau_core::Nanos;

    /// An age beyond this is none: the clock was set between stamp and reading.
    const OLDEST: Duration = Duration::from_secs(60);

    /// Asks for a stamp with whatever is received on `socket` from now on. The kernel needs a moment after the
    /// first time in the whole system that somebody asks: bytes that come before it is ready have no stamp.
    ///
    /// # Errors
    /// If the kernel cannot.
    pub(in crate::http) fn enable(socket: &impl AsRawFd) -> io::Result<()> {
        let wanted = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
        // SAFETY: the option's value is a `c_uint` that outlives the call, and the length says so.
        let done = unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_TIMESTAMPING,
                ptr::from_ref(&wanted).cast(),
                size_of_val(&wanted) as libc::socklen_t,
            )
        };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Room for ancillary data: one header and three `timespec`s, and as much again to be sure.
    #[repr(C, align(8))]
    struct Control(MaybeUninit<[u8; 128]>);

    /// Reads what is there, without waiting: how many bytes, and how long ago the last of them came, if the kernel
    /// says so. No bytes mean the end.
    ///
    /// # Errors
    /// What the system says; [`io::ErrorKind::WouldBlock`] if nothing is there.
    pub(in crate::http) fn receive(
        socket: &impl AsRawFd,
        into: &mut [u8],
    ) -> io::Result<(usize, Option<Nanos>)> {
        let mut control = Control(MaybeUninit::uninit());
        let mut part = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
        // SAFETY: a `msghdr` is numbers and pointers of C, for which zero is a value.
        let mut message: libc::msghdr = unsafe { mem::zeroed() };
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = size_of::<Control>() as _;
        // SAFETY: the message points to one `iovec`, which describes `into`, borrowed for writing, and to `control`
        // with its true size. All outlive the call.
        let got =
            unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
        let got = usize::try_from(got).map_err(|_| io::Error::last_os_error())?;
        // SAFETY: `recvmsg` succeeded with this message, and `control`, to which it points, is still there.
        let stamp = unsafe { stamp_in(&message) };
        Ok((got, stamp.and_then(age)))
    }

    /// The stamp in a message's ancillary data, since the start of 1970.
    ///
    /// # Safety
    /// `message` was filled by a `recvmsg` that succeeded, and its control buffer is aligned for a `cmsghdr` and
    /// still there.
    unsafe fn stamp_in(message: &libc::msghdr) -> Option<Duration> {
        // SAFETY: by the caller's promise the control buffer holds whole headers as far as its length says.
        let mut next = unsafe { libc::CMSG_FIRSTHDR(message) };
        // SAFETY: these macros give null or a pointer to a header that lies within the buffer.
        while let Some(header) = unsafe { next.as_ref() } {
            // SAFETY: this only adds up numbers.
            let least = unsafe { libc::CMSG_LEN(size_of::<libc::timespec>() as u32) } as usize;
            if (header.cmsg_level, header.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING)
                && header.cmsg_len as usize >= least
            {
                // SAFETY: the header's length was seen to cover a `timespec`. It may lie at any address.
                let stamp: libc::timespec =
                    unsafe { ptr::read_unaligned(libc::CMSG_DATA(next).cast()) };
                return since_1970(&stamp);
            }
            // SAFETY: `next` is a header of this message.
            next = unsafe { libc::CMSG_NXTHDR(message, next) };
        }
        None
    }

    /// The stamp as a length of time; none where it is zero (the kernel had none) or no time at all.
    fn since_1970(stamp: &libc::timespec) -> Option<Duration> {
        let secs = u64::try_from(stamp.tv_sec).ok().filter(|secs| *secs > 0)?;
        let nanos = u32::try_from(stamp.tv_nsec).ok().filter(|nanos| *nanos < 1_000_000_000)?;
        Some(Duration::new(secs, nanos))
    }

    /// How long ago `stamp` was; none if it lies ahead or too far back, because the clock was set in between.
    fn age(stamp: Duration) -> Option<Nanos> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
        now.checked_sub(stamp).filter(|age| *age <= OLDEST).map(Nanos::from)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_clock_that_was_set_gives_no_age() {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            assert!(age(now).is_some());
            assert_eq!(age(now + Duration::from_secs(3600)), None);
            assert_eq!(age(now.saturating_sub(Duration::from_secs(61))), None);
        }

        #[test]
        fn stamps_that_are_none() {
            let stamp = |tv_sec, tv_nsec| since_1970(&libc::timespec { tv_sec, tv_nsec });
            assert_eq!(stamp(7, 9), Some(Duration::new(7, 9)));
            for (secs, nanos) in [(0, 0), (-1, 0), (7, 1_000_000_000), (7, -1)] {
                assert_eq!(stamp(secs, nanos), None, "{secs} {nanos}");
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;

    use fizeau_core::Nanos;
    use tokio::net::TcpStream;

    /// Always fails: only Linux is known to stamp.
    pub(in crate::http) fn enable(_: &TcpStream) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Reads what is there; never with an age.
    pub(in crate::http) fn receive(
        socket: &TcpStream,
        into: &mut [u8],
    ) -> io::Result<(usize, Option<Nanos>)> {
        socket.try_read(into).map(|got| (got, None))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{ErrorKind, Write};
    use std::net::{TcpListener, TcpStream};

    use fizeau_core::Clock;

    use super::{enable, receive};
    use crate::clock::MonotonicClock;

    /// The first stamps may be missing: the kernel takes a moment to begin.
    const MOST_TRIES: usize = 100_000;

    #[test]
    fn on_loopback_a_stamp_lies_between_write_and_read() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (far, _) = listener.accept().unwrap();
        enable(&far).unwrap();
        let clock = MonotonicClock::new();
        let mut bytes = [0; 8];
        let stamped = (0..MOST_TRIES).find_map(|_| {
            let before = clock.now();
            near.write_all(b"token").unwrap();
            let (got, age) = loop {
                match receive(&far, &mut bytes) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    other => break other.unwrap(),
                }
            };
            let after = clock.now();
            assert_eq!(&bytes[..got], b"token");
            age.map(|age| (before, age, after))
        });
        let (before, age, after) = stamped.expect("a kernel that stamps");
        assert!(after.since(before).unwrap() >= age, "{age} within {before:?} to {after:?}");
    }

    #[test]
    fn without_asking_there_is_no_stamp() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (far, _) = listener.accept().unwrap();
        let mut bytes = [0; 8];
        assert_eq!(receive(&far, &mut bytes).unwrap_err().kind(), ErrorKind::WouldBlock);
        near.write_all(b"token").unwrap();
        drop(near);
        let got = loop {
            match receive(&far, &mut bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => break other.unwrap(),
            }
        };
        assert_eq!(got, (5, None));
    }
}
