//! A TCP connection: a message is a line of JSON, and a file is its bytes after a line that says how many.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::{Link, LinkError, Message, TICK, Wait, decode, encode};

/// A message is a few kilobytes; a `run.json` with a long plan some more.
const MOST_BYTES: usize = 64 << 20;

/// How long one write may take.
const WRITE_TIME: Duration = Duration::from_secs(60);

#[derive(Debug)]
struct TcpLink {
    stream: TcpStream,
    /// What came and was not taken yet.
    unread: Vec<u8>,
}

impl TcpLink {
    fn new(stream: TcpStream) -> Result<Self, LinkError> {
        stream.set_nonblocking(false)?;
        // A ping must not wait for company.
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TICK))?;
        stream.set_write_timeout(Some(WRITE_TIME))?;
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

/// Whether nothing came yet.
fn is_patience(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

fn gone(error: io::Error) -> LinkError {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    match error.kind() {
        BrokenPipe | ConnectionAborted | ConnectionReset => LinkError::Gone,
        _ => LinkError::System(error),
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
            self.fill(wait)?;
        }
    }

    fn send_file(&mut self, path: &Path) -> Result<(), LinkError> {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        self.send(&Message::Bytes { bytes })?;
        io::copy(&mut file.take(bytes), &mut self.stream).map_err(gone)?;
        Ok(())
    }

    fn receive_file(&mut self, path: &Path, wait: &Wait) -> Result<(), LinkError> {
        let Message::Bytes { bytes } = self.receive(wait)? else {
            return Err(LinkError::NotUnderstood("tapes without their length".to_owned()));
        };
        let (mut file, mut left) = (File::create(path)?, bytes);
        while left > 0 {
            if self.unread.is_empty() {
                self.fill(wait)?;
            }
            let count = usize::try_from(left).unwrap_or(usize::MAX).min(self.unread.len());
            let part: Vec<u8> = self.unread.drain(..count).collect();
            file.write_all(&part)?;
            left -= count as u64;
        }
        Ok(())
    }

    fn has_round_trips(&self) -> bool {
        true
    }
}

/// Where shard 0 waits for the others.
#[derive(Debug)]
pub(in crate::shards) struct TcpHost(TcpListener);

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
        Ok(Self(listener))
    }

    /// The next that comes.
    pub(in crate::shards) fn next(&self, wait: &Wait) -> Result<Box<dyn Link>, LinkError> {
        loop {
            match self.0.accept() {
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
        wait.check()?;
        thread::sleep(TICK);
    }
}

#[cfg(test)]
mod tests {
    use fizeau_harness::Cancel;

    use super::*;

    #[test]
    fn messages_and_files_come_whole_through_a_connection() {
        let host = TcpHost::open("127.0.0.1:0").unwrap();
        let address = host.0.local_addr().unwrap().to_string();
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
            there.send(&Message::Done).unwrap();
        });
        assert_eq!(here.receive(&wait).unwrap(), Message::Ready);
        here.receive_file(&to, &wait).unwrap();
        assert_eq!(here.receive(&wait).unwrap(), Message::Done);
        assert!(std::fs::read(&to).unwrap() == content, "the file came otherwise");
        sender.join().unwrap();
        assert!(matches!(here.receive(&wait), Err(LinkError::Gone)));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
