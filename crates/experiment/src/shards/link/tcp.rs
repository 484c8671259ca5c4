//! A TCP connection: a message is a line of JSON, and a file is compressed, in parts after lines that say how long each is.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

use flate2::Compression;
use flate2::write::{DeflateDecoder, DeflateEncoder};

use super::late::LateComers;
use super::{IsCut, Link, LinkError, Message, TICK, Wait, decode, encode};
#[cfg(target_os = "linux")]
use crate::shards::waits::CUT;
use crate::shards::waits::WRITE;

/// A message is a few kilobytes; a `run.json` with a long plan some more.
const MOST_BYTES: usize = 64 << 20;

/// How many bytes of compressed tapes are sent at a time.
const PART_BYTES: usize = 1 << 18;

#[derive(Debug)]
pub(super) struct TcpLink {
    stream: TcpStream,
    /// What came and was not taken yet.
    unread: Vec<u8>,
}

impl TcpLink {
    pub(super) fn new(stream: TcpStream) -> Result<Self, LinkError> {
        stream.set_nonblocking(false)?;
        // A ping must not wait for company.
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TICK))?;
        stream.set_write_timeout(Some(WRITE))?;
        #[cfg(target_os = "linux")]
        notice_cuts(&stream)?;
        Ok(Self { stream, unread: Vec::new() })
    }

    /// Takes in what comes next.
    fn fill(&mut self, wait: &Wait) -> Result<(), LinkError> {
        let mut bytes = [0; 1 << 16];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(LinkError::Gone),
                Ok(count) => {
                    self.unread.extend(bytes.iter().take(count));
                    return Ok(());
                }
                Err(error) if is_patience(&error) => wait.check()?,
                Err(error) => return Err(gone(error)),
            }
        }
    }
}

/// Has the systems of both ends look after a link on which nothing is said, as while a level is measured. Where they do not, a cut is
/// noticed once somebody has waited for long enough.
#[cfg(target_os = "linux")]
fn notice_cuts(stream: &TcpStream) -> io::Result<()> {
    use rustix::net::sockopt;
    // Five questions without an answer are the half minute.
    let part = CUT / 6;
    sockopt::set_tcp_keepidle(stream, part)?;
    sockopt::set_tcp_keepintvl(stream, part)?;
    sockopt::set_tcp_keepcnt(stream, 5)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_user_timeout(stream, u32::try_from(CUT.as_millis()).unwrap_or(u32::MAX))?;
    Ok(())
}

/// Whether nothing came yet. On Linux a time limit of ours is another error than one of the connection's own.
fn is_patience(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    let is_cut = cfg!(target_os = "linux") && error.kind() == TimedOut;
    !is_cut && matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

/// Whether it says that the other end's system did not answer, rather than that the other end is closed.
#[cfg(target_os = "linux")]
const fn cuts(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{HostUnreachable, NetworkUnreachable, TimedOut};
    matches!(kind, HostUnreachable | NetworkUnreachable | TimedOut)
}

fn gone(error: io::Error) -> LinkError {
    use io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionReset, HostUnreachable, NetworkUnreachable,
        TimedOut,
    };
    match error.kind() {
        BrokenPipe | ConnectionAborted | ConnectionReset | HostUnreachable | NetworkUnreachable
        | TimedOut => LinkError::Gone,
        _ => LinkError::System(error),
    }
}

/// What is written, in parts that each say how long they are.
struct Parts<'a>(&'a mut TcpStream);

impl io::Write for Parts<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = Message::Bytes { bytes: bytes.len() as u64 };
        self.0.write_all(&encode(&length).map_err(io::Error::other)?)?;
        self.0.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Link for TcpLink {
    fn send(&mut self, message: &Message) -> Result<(), LinkError> {
        self.stream.write_all(&encode(message)?).map_err(gone)
    }

    fn receive(&mut self, wait: &Wait) -> Result<Message, LinkError> {
        let mut seen = 0;
        loop {
            let end = self.unread.iter().skip(seen).position(|byte| *byte == b'\n');
            if let Some(end) = end.map(|end| end + seen) {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                return decode(&line);
            }
            seen = self.unread.len();
            if seen > MOST_BYTES {
                return Err(LinkError::NotUnderstood("a line without an end".to_owned()));
            }
            if seen > 0 {
                // Somebody who sends a byte now and then is waited for no longer than somebody who sends none.
                wait.check()?;
            }
            self.fill(wait)?;
        }
    }

    fn send_file(&mut self, path: &Path) -> Result<(), LinkError> {
        let mut file = File::open(path)?;
        let parts = BufWriter::with_capacity(PART_BYTES, Parts(&mut self.stream));
        let mut compressed = DeflateEncoder::new(parts, Compression::fast());
        io::copy(&mut file, &mut compressed).map_err(gone)?;
        compressed.finish().and_then(|mut parts| parts.flush()).map_err(gone)?;
        self.send(&Message::Bytes { bytes: 0 })
    }

    fn receive_file(&mut self, path: &Path, wait: &Wait) -> Result<(), LinkError> {
        let not_kept = LinkError::not_kept(path);
        // What cannot be unpacked, or lies behind the end of it, is no fault of this end's.
        let not_taken = |error: io::Error| match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::WriteZero => {
                LinkError::NotUnderstood(format!("tapes that cannot be unpacked: {error}"))
            }
            _ => not_kept(error),
        };
        // What cannot be kept is taken to its end all the same: who sends it would not hear why otherwise.
        let (mut kept, mut file) = match File::create(path) {
            Ok(file) => (Ok(()), Some(DeflateDecoder::new(file))),
            Err(error) => (Err(not_kept(error)), None),
        };
        loop {
            // However long all of it takes, the next part comes soon.
            let wait = &wait.again();
            let Message::Bytes { bytes: mut left } = self.receive(wait)? else {
                return Err(LinkError::NotUnderstood("tapes without their length".to_owned()));
            };
            if left == 0 {
                let finished = file.map_or(Ok(()), |file| file.finish().map(drop));
                return kept.and_then(|()| finished.map_err(not_taken));
            }
            while left > 0 {
                if self.unread.is_empty() {
                    self.fill(wait)?;
                }
                let count = usize::try_from(left).unwrap_or(usize::MAX).min(self.unread.len());
                let part: Vec<u8> = self.unread.drain(..count).collect();
                if let Some(Err(error)) = file.as_mut().map(|file| file.write_all(&part)) {
                    (kept, file) = (Err(not_taken(error)), None);
                }
                left -= count as u64;
            }
        }
    }

    #[cfg(target_os = "linux")]
    fn is_cut(&self) -> Option<IsCut> {
        use rustix::net::{RecvFlags, recv};
        let stream = self.stream.try_clone().ok()?;
        Some(Box::new(move || {
            let looked = recv(&stream, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
            looked.is_err_and(|error| cuts(io::Error::from(error).kind()))
        }))
    }

    fn has_round_trips(&self) -> bool {
        true
    }
}

/// Where shard 0 waits for the others.
#[derive(Debug)]
pub(in crate::shards) struct TcpHost {
    listener: TcpListener,
    late: Option<LateComers>,
}

impl TcpHost {
    /// Listens at the port of `address`: on the loopback where it names that, else on every interface, since the name by which
    /// others know this machine need not be one that it knows itself.
    pub(in crate::shards) fn open(address: &str) -> io::Result<Self> {
        let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
        let wrong = |_| io::Error::new(io::ErrorKind::InvalidInput, "write HOST:PORT");
        let port: u16 = port.parse().map_err(wrong)?;
        let host = host.trim_matches(['[', ']']);
        let is_loopback = (host, port)
            .to_socket_addrs()
            .is_ok_and(|mut found| found.all(|address| address.ip().is_loopback()));
        let listener = match is_loopback {
            true => TcpListener::bind((host, port))?,
            false => TcpListener::bind((Ipv6Addr::UNSPECIFIED, port))
                .or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)))?,
        };
        listener.set_nonblocking(true)?;
        // Shards come all at once, and there may be more of them than the standard library lets wait.
        #[cfg(target_os = "linux")]
        rustix::net::listen(&listener, 4_096)?;
        Ok(Self { listener, late: None })
    }

    /// Refuses whoever comes from now on.
    pub(in crate::shards) fn close(&mut self) {
        self.late = LateComers::refuse(&self.listener);
    }

    /// The next that comes.
    pub(in crate::shards) fn next(&self, wait: &Wait) -> Result<Box<dyn Link>, LinkError> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => return Ok(Box::new(TcpLink::new(stream)?)),
                Err(error) if is_patience(&error) => {
                    wait.check()?;
                    thread::sleep(Duration::from_millis(1));
                }
                Err(error) => match gone(error) {
                    // One that was gone before it was taken says nothing of the others.
                    LinkError::Gone => {}
                    other => return Err(other),
                },
            }
        }
    }
}

/// The connection to shard 0 at `address`, which may come up later than this one.
pub(in crate::shards) fn join(address: &str, wait: &Wait) -> Result<Box<dyn Link>, LinkError> {
    loop {
        // A name may be known later too.
        if let Ok(stream) = TcpStream::connect(address) {
            return Ok(Box::new(TcpLink::new(stream)?));
        }
        wait.check().map_err(LinkError::nobody)?;
        thread::sleep(TICK);
    }
}

#[cfg(test)]
mod tests {
    use fizeau_harness::Cancel;

    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_cut_link_is_looked_after_by_the_system_and_is_gone() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let link =
            TcpLink::new(TcpStream::connect(listener.local_addr().unwrap()).unwrap()).unwrap();
        let limit = rustix::net::sockopt::tcp_user_timeout(&link.stream).unwrap();
        assert_eq!(
            (u128::from(limit), rustix::net::sockopt::socket_keepalive(&link.stream)),
            (CUT.as_millis(), Ok(true))
        );
        // The connection's own time limit, as tcp(7) has it, is not one of ours.
        let cut = || io::Error::from(rustix::io::Errno::TIMEDOUT);
        assert!(!is_patience(&cut()) && matches!(gone(cut()), LinkError::Gone));
        assert!(is_patience(&io::Error::from(rustix::io::Errno::AGAIN)));
        // While it measures, a shard tells one from an end that is closed, and from silence.
        assert!(cuts(cut().kind()) && !cuts(io::ErrorKind::ConnectionReset));
        let is_cut = link.is_cut().unwrap();
        assert!(!is_cut(), "nothing was said");
        drop(listener);
        assert!(!is_cut(), "it is closed");
    }

    /// Whoever sends what cannot be kept is still there to be told.
    #[test]
    fn a_file_that_cannot_be_kept_is_taken_to_its_end() {
        let host = TcpHost::open("127.0.0.1:0").unwrap();
        let address = host.listener.local_addr().unwrap().to_string();
        let wait = Wait::of(Duration::from_secs(60), &Cancel::new());
        let mut there = join(&address, &wait).unwrap();
        let mut here = host.next(&wait).unwrap();
        let name = format!("fizeau-link-full-{}", std::process::id());
        let from = std::env::temp_dir().join(name);
        // Beyond what the systems of both ends hold back.
        let content: Vec<u8> = (0..4_000_000_u64)
            .map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
            .collect();
        std::fs::write(&from, content).unwrap();
        let path = from.clone();
        let sender = thread::spawn(move || {
            there.send_file(&path).unwrap();
            there.receive(&Wait::of(Duration::from_secs(60), &Cancel::new())).unwrap()
        });
        let refused = here.receive_file(Path::new("/proc/fizeau/tapes.jsonl"), &wait).unwrap_err();
        assert!(matches!(refused, LinkError::NotKept { .. }), "{refused}");
        here.send(&Message::Done { is_cut: false }).unwrap();
        assert_eq!(sender.join().unwrap(), Message::Done { is_cut: false });
        std::fs::remove_file(from).unwrap();
    }

    #[test]
    fn messages_and_files_come_whole_through_a_connection() {
        let host = TcpHost::open("127.0.0.1:0").unwrap();
        let address = host.listener.local_addr().unwrap().to_string();
        let wait = Wait::of(Duration::from_secs(20), &Cancel::new());
        let mut there = join(&address, &wait).unwrap();
        let mut here = host.next(&wait).unwrap();
        let folder = std::env::temp_dir().join(format!("fizeau-link-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (from, to) = (folder.join("from"), folder.join("to"));
        let content: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
        std::fs::write(&from, &content).unwrap();
        let sender = thread::spawn(move || {
            there.send(&Message::Ready).unwrap();
            there.send_file(&from).unwrap();
            there.send(&Message::Agreed).unwrap();
        });
        assert_eq!(here.receive(&wait).unwrap(), Message::Ready);
        here.receive_file(&to, &wait).unwrap();
        assert_eq!(here.receive(&wait).unwrap(), Message::Agreed);
        assert!(std::fs::read(&to).unwrap() == content, "the file came otherwise");
        sender.join().unwrap();
        assert!(matches!(here.receive(&wait), Err(LinkError::Gone)));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
