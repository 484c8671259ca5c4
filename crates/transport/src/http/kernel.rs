//! The kernel's own receive stamps, and the one file of this crate with unsafe code.
//!
//! Linux notes for each packet when it took it from the device (or from the loopback), long before the process
//! that waits for it runs. [`enable`] asks for these notes, [`receive`] reads bytes and how old they were by them.
//! The note is a reading of the wall clock, so it is only ever used as an *age*, against the wall clock of the
//! same moment: a clock that was set cannot hurt but within that age.
//!
//! See `Documentation/networking/timestamping.rst` in the Linux sources, sections 1.3.1 and 2.1.
//!
//! [`least_round_trip`] and [`unacknowledged`] ask the kernel what it knows of a connection's way.

#![allow(unsafe_code, reason = "the standard library reads no ancillary data")]
#![deny(clippy::undocumented_unsafe_blocks)]

pub(crate) use system::wall_clock_error;
#[cfg(target_os = "linux")]
pub(super) use system::{EpollFd, hear};
pub(super) use system::{enable, least_round_trip, peek, receive, unacknowledged};

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::mem::{self, MaybeUninit};
    use std::os::fd::{AsRawFd, OwnedFd, RawFd};
    use std::ptr;
    use std::sync::Arc;

    use fizeau_core::Nanos;
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// An age beyond this is none: the clock was set between stamp and reading.
    const OLDEST: Nanos = Nanos::from_secs(60);

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

    /// An epoll descriptor, as the runtime hears of it.
    #[derive(Debug)]
    pub(in crate::http) struct EpollFd(Arc<OwnedFd>);

    impl AsRawFd for EpollFd {
        fn as_raw_fd(&self) -> RawFd {
            self.0.as_raw_fd()
        }
    }

    /// Has the runtime hear when `epoll` has something to tell.
    ///
    /// # Errors
    /// If it cannot.
    pub(in crate::http) fn hear(epoll: Arc<OwnedFd>) -> io::Result<AsyncFd<EpollFd>> {
        // SAFETY: the value owns the descriptor and always names the same one, so that it is open for as long as it is
        // registered.
        let heard = unsafe { AsyncFd::register_with_interest(EpollFd(epoll), Interest::READABLE) };
        Ok(heard?)
    }

    /// By how much the wall clock may be wrong at the most, as the kernel keeps account of it: `maxerror` of adjtimex(2). None where
    /// nobody sets the clock by another, so that nobody knows.
    pub(crate) fn wall_clock_error() -> Option<Nanos> {
        let mut state = MaybeUninit::<libc::timex>::zeroed();
        // SAFETY: all bytes zero are a `timex`, whose `modes` of 0 ask for nothing to be changed; it outlives the call.
        let (status, state) = unsafe {
            let status = libc::adjtimex(state.as_mut_ptr());
            (status, state.assume_init())
        };
        let is_set =
            status >= 0 && status != libc::TIME_ERROR && state.status & libc::STA_UNSYNC == 0;
        let micros = u64::try_from(state.maxerror).ok().filter(|_| is_set)?;
        Some(Nanos::from_micros(micros))
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
        // The library's own call is a point at which a thread may be cancelled, which costs it two locked instructions each time.
        //
        // SAFETY: the message points to one `iovec`, which describes `into`, borrowed for writing, and to `control`
        // with its true size. All outlive the call.
        let got = unsafe {
            let [fd, flags] = [socket.as_raw_fd(), libc::MSG_DONTWAIT].map(libc::c_long::from);
            libc::syscall(libc::SYS_recvmsg, fd, &raw mut message, flags)
        };
        let got = usize::try_from(got).map_err(|_| io::Error::last_os_error())?;
        // SAFETY: `recvmsg` succeeded with this message, and `control`, to which it points, is still there.
        let stamp = unsafe { stamp_in(&message) };
        Ok((got, stamp.and_then(|stamp| age(&stamp, &now()))))
    }

    /// As [`receive`], but leaves the bytes where they are, and asks for no age.
    ///
    /// # Errors
    /// What the system says; [`io::ErrorKind::WouldBlock`] if nothing is there.
    pub(in crate::http) fn peek(socket: &impl AsRawFd, into: &mut [u8]) -> io::Result<usize> {
        let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
        // SAFETY: pointer and length are those of `into`, borrowed for writing.
        let got =
            unsafe { libc::recv(socket.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), flags) };
        usize::try_from(got).map_err(|_| io::Error::last_os_error())
    }

    /// The shortest round trip of the connection that `socket` is, by the kernel's account of the last five minutes
    /// (`net.ipv4.tcp_min_rtt_wlen`). The smoothed one beside it has what the server waits before it acknowledges a request,
    /// which may be longer than the way. None where the kernel has seen none, or is older than 4.6.
    pub(in crate::http) fn least_round_trip(socket: &impl AsRawFd) -> Option<Nanos> {
        // `tcpi_min_rtt` lies at byte 148.
        let [.., micros] = tcp_info::<38>(socket)?;
        // Zero is none as well, and all bits set are the kernel's word for it.
        (1..u32::MAX).contains(&micros).then(|| Nanos::from_micros(micros.into()))
    }

    /// How many of the bytes that `socket` sent the other end's kernel had not acknowledged when its last packet left it. A packet
    /// that ends the connection from there (FIN) acknowledges all that had come: what it leaves out came after it. None where the
    /// kernel does not say, as before 4.19.
    pub(in crate::http) fn unacknowledged(socket: &impl AsRawFd) -> Option<u64> {
        let info = tcp_info::<54>(socket)?;
        let long = |at: usize| {
            let [first, second] = [at / 4, at / 4 + 1].map(|word| info.get(word).copied());
            let halves = [first?.to_ne_bytes(), second?.to_ne_bytes()];
            Some(u64::from_ne_bytes(halves.concat().try_into().ok()?))
        };
        // `tcpi_bytes_acked`, `tcpi_bytes_sent` and `tcpi_bytes_retrans`; the first counts the SYN as a byte, the second what was
        // sent again.
        let (acknowledged, sent, again) = (long(120)?.checked_sub(1)?, long(200)?, long(208)?);
        sent.checked_sub(again)?.checked_sub(acknowledged)
    }

    /// The first words of the kernel's account of a connection (`include/uapi/linux/tcp.h`; fields are only ever added behind the
    /// last). None where it has fewer.
    fn tcp_info<const WORDS: usize>(socket: &impl AsRawFd) -> Option<[u32; WORDS]> {
        let mut info = [0_u32; WORDS];
        let mut length = size_of_val(&info) as libc::socklen_t;
        // SAFETY: pointer and length are those of `info`, borrowed for writing, which any bits are a value of; both outlive the call.
        let done = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                info.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        let is_whole = done == 0 && usize::try_from(length).ok()? == size_of_val(&info);
        is_whole.then_some(info)
    }

    /// The stamp in a message's ancillary data, by the wall clock; none where it is zero, the kernel's word for
    /// none.
    ///
    /// # Safety
    /// `message` was filled by a `recvmsg` that succeeded, and its control buffer is aligned for a `cmsghdr` and
    /// still there.
    unsafe fn stamp_in(message: &libc::msghdr) -> Option<libc::timespec> {
        // SAFETY: by the caller's promise the control buffer holds whole headers as far as its length says.
        let mut next = unsafe { libc::CMSG_FIRSTHDR(message) };
        // SAFETY: these macros give null or a pointer to a header that lies within the buffer.
        while let Some(header) = unsafe { next.as_ref() } {
            // SAFETY: this only adds up numbers.
            let least = unsafe { libc::CMSG_LEN(size_of::<libc::timespec>() as u32) } as _;
            if (header.cmsg_level, header.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING)
                && header.cmsg_len >= least
            {
                // SAFETY: the header's length was seen to cover a `timespec`. It may lie at any address.
                let stamp: libc::timespec =
                    unsafe { ptr::read_unaligned(libc::CMSG_DATA(next).cast()) };
                return Some(stamp).filter(|stamp| stamp.tv_sec > 0);
            }
            // SAFETY: `next` is a header of this message.
            next = unsafe { libc::CMSG_NXTHDR(message, next) };
        }
        None
    }

    /// The wall clock. The standard library reads the same one, with arithmetic around it that would cost as much
    /// as the rest of the work on a read.
    fn now() -> libc::timespec {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `now` is a `timespec` that outlives the call. The call cannot fail for this clock; if it did, the
        // zero would give no age.
        let _ = unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) };
        now
    }

    /// How long before `now` `stamp` was; none if it lies ahead or too far back, because the clock was set in between.
    fn age(stamp: &libc::timespec, now: &libc::timespec) -> Option<Nanos> {
        let nanos =
            |at: &libc::timespec| i128::from(at.tv_sec) * 1_000_000_000 + i128::from(at.tv_nsec);
        let age = u64::try_from(nanos(now) - nanos(stamp)).ok().map(Nanos::from_nanos);
        age.filter(|age| *age <= OLDEST)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const fn at(tv_sec: libc::time_t, tv_nsec: libc::c_long) -> libc::timespec {
            libc::timespec { tv_sec, tv_nsec }
        }

        #[test]
        fn ages() {
            let now = at(1_000, 500);
            assert_eq!(age(&at(1_000, 500), &now), Some(Nanos::ZERO));
            assert_eq!(age(&at(1_000, 200), &now), Some(Nanos::from_nanos(300)));
            assert_eq!(age(&at(999, 999_999_900), &now), Some(Nanos::from_nanos(600)));
        }

        #[test]
        fn a_clock_that_was_set_gives_no_age() {
            let now = at(1_000, 500);
            for stamp in
                [at(1_000, 501), at(1_001, 0), at(9_000, 0), at(938, 0), at(libc::time_t::MIN, 0)]
            {
                assert_eq!(age(&stamp, &now), None, "{stamp:?}");
            }
        }

        #[test]
        fn the_clock_is_the_wall() {
            let wall = std::time::SystemTime::now();
            let wall = wall.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap();
            assert!(now().tv_sec >= wall.as_secs().cast_signed());
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io::{self, Read};
    use std::net;

    use fizeau_core::Nanos;
    use tokio::net::TcpStream;

    /// A stream that can be read without waiting.
    pub(in crate::http) trait TryRead {
        fn try_read(&self, into: &mut [u8]) -> io::Result<usize>;
    }

    impl TryRead for TcpStream {
        fn try_read(&self, into: &mut [u8]) -> io::Result<usize> {
            Self::try_read(self, into)
        }
    }

    /// One that does not block.
    impl TryRead for net::TcpStream {
        fn try_read(&self, into: &mut [u8]) -> io::Result<usize> {
            let mut stream = self;
            stream.read(into)
        }
    }

    /// Never known: only Linux is asked.
    pub(in crate::http) fn least_round_trip<S>(_: &S) -> Option<Nanos> {
        None
    }

    /// Never known: only Linux is asked.
    pub(in crate::http) fn unacknowledged<S>(_: &S) -> Option<u64> {
        None
    }

    /// Never known: only Linux is asked.
    pub(crate) fn wall_clock_error() -> Option<Nanos> {
        None
    }

    /// Always fails: only Linux is known to stamp.
    pub(in crate::http) fn enable(_: &TcpStream) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Never asked: it is of use with ages only.
    pub(in crate::http) fn peek(_: &impl TryRead, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Reads what is there; never with an age.
    pub(in crate::http) fn receive(
        socket: &impl TryRead,
        into: &mut [u8],
    ) -> io::Result<(usize, Option<Nanos>)> {
        socket.try_read(into).map(|got| (got, None))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream};

    use fizeau_core::{Clock, Nanos};

    use super::{enable, least_round_trip, receive, unacknowledged};
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
    fn a_connection_has_a_round_trip_since_its_handshake_and_nothing_else_has() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let round_trip = least_round_trip(&near).unwrap();
        assert!(round_trip > Nanos::ZERO && round_trip < Nanos::from_secs(1), "{round_trip}");
        assert_eq!(least_round_trip(&std::fs::File::open("/dev/null").unwrap()), None);
    }

    #[test]
    fn what_a_server_took_before_its_end_is_acknowledged_and_what_came_after_it_is_not() {
        for takes in [true, false] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut far, _) = listener.accept().unwrap();
            let mut bytes = [0; 8];
            near.write_all(b"first").unwrap();
            far.read_exact(&mut bytes[..5]).unwrap();
            far.write_all(b"reply").unwrap();
            near.read_exact(&mut bytes[..5]).unwrap();
            assert_eq!(unacknowledged(&near), Some(0));
            if takes {
                near.write_all(b"second").unwrap();
                far.read_exact(&mut bytes[..6]).unwrap();
            }
            drop(far);
            if !takes {
                near.write_all(b"second").unwrap();
            }
            assert_eq!(near.read(&mut bytes).unwrap(), 0);
            assert_eq!(unacknowledged(&near), Some(if takes { 0 } else { 6 }));
        }
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
