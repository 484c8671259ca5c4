//! The signals that ask a program to end.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use tokio::signal::unix::{self, SignalKind};

/// What asks the program to end, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Signal {
    /// The terminal was closed.
    HangUp = 1,
    /// Ctrl-C.
    Interrupt = 2,
    /// Whoever started it.
    Terminate = 15,
}

/// Those that are heeded; from when this is made they no longer end the program.
pub(super) struct Signals(Vec<(Signal, unix::Signal)>);

impl Signals {
    /// Must be called within a runtime.
    pub(super) fn listen() -> io::Result<Self> {
        let mut heeded = vec![
            (Signal::Interrupt, unix::signal(SignalKind::interrupt())?),
            (Signal::Terminate, unix::signal(SignalKind::terminate())?),
        ];
        if !outlives_its_terminal() {
            heeded.push((Signal::HangUp, unix::signal(SignalKind::hangup())?));
        }
        Ok(Self(heeded))
    }

    /// The next that comes.
    pub(super) async fn next(&mut self) -> Signal {
        poll_fn(|cx| {
            let come = self
                .0
                .iter_mut()
                .find_map(|(signal, heard)| heard.poll_recv(cx).is_ready().then_some(*signal));
            come.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// Whether hangups are ignored, as `nohup` has it. Where the system does not say, they are left as they are.
fn outlives_its_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status");
    status.map_or(true, |status| ignores(&status, Signal::HangUp).unwrap_or(true))
}

/// Whether a process of this `/proc/PID/status` ignores `signal`.
fn ignores(status: &str, signal: Signal) -> Option<bool> {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let ignored = u64::from_str_radix(ignored.trim(), 16).ok()?;
    Some(ignored >> (signal as u8 - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_says_which_signals_it_ignores() {
        let status = "Name:\tfizeau\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\n";
        assert_eq!(ignores(status, Signal::HangUp), Some(true));
        assert_eq!(ignores(status, Signal::Interrupt), Some(false));
        assert_eq!(ignores(&status.replace("1001", "5000"), Signal::Terminate), Some(true));
        assert_eq!(ignores("Name:\tfizeau\n", Signal::HangUp), None);
    }
}
