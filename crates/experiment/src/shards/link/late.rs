//! Who comes to shard 0 when all have met, or the run has begun without it: it is told so at once.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use fizeau_harness::Cancel;

use super::tcp::TcpLink;
use super::{Link as _, Message, Wait};
use crate::shards::error::{ShardError, ShardMismatch};
use crate::shards::waits::GREETING;

/// Refuses by name whoever comes, until it is dropped. Nothing happens while nobody does.
#[derive(Debug)]
pub(super) struct LateComers {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl LateComers {
    /// At this port; none where the system refuses, so that whoever comes waits for nothing.
    pub(super) fn refuse(listener: &TcpListener) -> Option<Self> {
        let (listener, address) = (listener.try_clone().ok()?, listener.local_addr().ok()?);
        listener.set_nonblocking(false).ok()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&is_over);
        let wait = move || {
            while let Ok((stream, _)) = listener.accept() {
                if until.load(Ordering::SeqCst) {
                    return;
                }
                refuse(stream);
            }
        };
        let thread = thread::Builder::new().name("late shards".to_owned()).spawn(wait).ok()?;
        Some(Self { address, is_over, thread: Some(thread) })
    }
}

/// Tells whoever came that it is too late; one that says nothing is left alone.
fn refuse(stream: TcpStream) {
    let Ok(mut link) = TcpLink::new(stream) else { return };
    let Ok(Message::Hello(hello)) = link.receive(&Wait::of(GREETING, &Cancel::new())) else {
        return;
    };
    let error = ShardMismatch::TooLate { shard: hello.name() };
    // Whoever is gone need not be told.
    let _ = link.send(&Message::Refused(ShardError::Mismatch(error)));
}

impl Drop for LateComers {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let mut own = self.address;
        if own.ip().is_unspecified() {
            own.set_ip(match own.ip() {
                IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
                IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
            });
        }
        // It waits for somebody to come. Where nobody can, it ends with the process.
        if TcpStream::connect(own).is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shards::message::Hello;

    #[test]
    fn who_comes_late_is_refused_by_name() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let late = LateComers::refuse(&listener).unwrap();
        let mut link =
            TcpLink::new(TcpStream::connect(listener.local_addr().unwrap()).unwrap()).unwrap();
        let hello = Hello {
            version: "fizeau 0.0.0".to_owned(),
            index: 1,
            count: 2,
            host: "n2".to_owned(),
            drawn: String::new(),
        };
        link.send(&Message::Hello(hello)).unwrap();
        let answer = link.receive(&Wait::of(GREETING, &Cancel::new())).unwrap();
        let Message::Refused(error) = answer else { panic!("{answer:?}") };
        let text = "shard 1/2 on n2 came when the run had begun without it; start all shards of a run together";
        assert_eq!(error, ShardError::Mismatch(text.to_owned().into()));
        drop(late);
    }
}
