//! The floor: one bare epoll loop that reads the same streams with the kernel's stamps and does nothing else. No client that learns
//! when each token came can be cheaper.

#![allow(unsafe_code, reason = "no safe function asks a socket for stamps")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::fs;
use std::io::{IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::ptr;

use anyhow::{Context, Result, bail, ensure};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvFlags, recvmsg};

use crate::cores::{Core, Priority};
use crate::folder::Scratch;
use crate::process::{Finished, Running, pinned};
use crate::server::Server;
use crate::shape::{Shape, TOKENS};
use crate::wrk;

/// How this program is told to be the loop: address, streams, requests of each, and the file with a body.
pub(crate) const FLAG: &str = "--floor";

/// The loop as a process of its own, on the client's core.
#[derive(Debug)]
pub(crate) struct Floor {
    core: Core,
    body: PathBuf,
}

impl Floor {
    pub(crate) fn new(core: Core, scratch: &Scratch) -> Result<Self> {
        let body = scratch.path().join("body.json");
        fs::write(&body, wrk::body()?).context("cannot write the body of a request")?;
        Ok(Self { core, body })
    }

    /// CPU seconds per million tokens, of all requests of `shape`.
    pub(crate) fn cpu_per_million(
        &self,
        shape: &Shape,
        priority: Priority,
        server: &Server,
    ) -> Result<f64> {
        let program = std::env::current_exe().context("this program has no path")?;
        let mut command = pinned(self.core, priority, &program.to_string_lossy());
        command.arg(FLAG).arg(server.address());
        command.args([shape.streams, shape.per_stream].map(|number| number.to_string()));
        let Finished { code, cpu, stderr, .. } =
            Running::start(command.arg(&self.body))?.finish()?;
        ensure!(code == Some(0), "the bare loop failed:\n{stderr}");
        Ok(cpu.as_secs_f64() / (shape.requests() * TOKENS) as f64 * 1e6)
    }
}

/// What ends a reply in chunks.
const END: &[u8; 5] = b"0\r\n\r\n";

/// A connection, and what is still to be asked on it.
struct Stream {
    socket: TcpStream,
    requests_left: u64,
    /// The last bytes that came.
    tail: [u8; END.len()],
}

/// Is the loop, as [`FLAG`] asks.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let [address, streams, each, body] = words else { bail!("{FLAG} takes four values") };
    let (streams, each): (usize, u64) = (streams.parse()?, each.parse()?);
    let body = fs::read(body).context("cannot read the body of a request")?;
    let head = format!(
        "POST /v1/completions HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    let request = [head.as_bytes(), &body].concat();
    let ready = epoll::create(CreateFlags::CLOEXEC)?;
    let mut open = Vec::with_capacity(streams);
    for number in 0..streams as u64 {
        let socket = TcpStream::connect(address).context("the server is not there")?;
        socket.set_nodelay(true)?;
        ask_for_stamps(&socket)?;
        let edges = EventFlags::IN | EventFlags::ET;
        epoll::add(&ready, &socket, EventData::new_u64(number), edges)?;
        open.push(Stream { socket, requests_left: each, tail: [0; END.len()] });
    }
    for stream in &mut open {
        stream.socket.write_all(&request)?;
    }
    let mut buffer = vec![0; 1 << 16];
    let mut events: Vec<epoll::Event> = Vec::with_capacity(1024);
    let mut left = streams as u64 * each;
    while left > 0 {
        match epoll::wait(&ready, spare_capacity(&mut events), None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in events.drain(..) {
            let stream = open.get_mut(usize::try_from(event.data.u64())?);
            left -= stream.context("an event of no stream")?.read(&mut buffer, &request)?;
        }
    }
    Ok(())
}

impl Stream {
    /// Reads what is there, and asks again where a reply has ended. Gives how many have.
    fn read(&mut self, buffer: &mut [u8], request: &[u8]) -> Result<u64> {
        let mut ended = 0;
        loop {
            // The stamp is in it, and nobody looks.
            let mut space = [MaybeUninit::uninit(); 128];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let into = &mut [IoSliceMut::new(buffer)];
            let got = match recvmsg(&self.socket, into, &mut control, RecvFlags::DONTWAIT) {
                Ok(read) => read.bytes,
                Err(Errno::AGAIN) => return Ok(ended),
                Err(error) => return Err(error.into()),
            };
            ensure!(got > 0 || self.requests_left == 0, "the server closed a connection");
            if self.ends_with(&buffer[..got]) {
                ended += 1;
                self.requests_left -= 1;
                self.tail = [0; END.len()];
                if self.requests_left > 0 {
                    self.socket.write_all(request)?;
                }
            }
            if got < buffer.len() {
                return Ok(ended);
            }
        }
    }

    /// Whether the reply ends with what has just come.
    fn ends_with(&mut self, bytes: &[u8]) -> bool {
        let kept = END.len().saturating_sub(bytes.len());
        self.tail.copy_within(END.len() - kept.., 0);
        self.tail[kept..].copy_from_slice(&bytes[bytes.len() - (END.len() - kept)..]);
        self.tail == *END
    }
}

/// Asks the kernel for a stamp with whatever is received, as the client does.
fn ask_for_stamps(socket: &TcpStream) -> Result<()> {
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
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error().into()) }
}
