//! What calls a run off: Ctrl-C, or a system that asks the program to end (CI, `timeout`, a container, a terminal that is
//! closed). The first of them ends the run and keeps what it has, the second ends the program.

mod signals;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fizeau::harness::Cancel;

use crate::exit::{Exit, Fail};
use crate::terminal::{progress, runtime};
use signals::{Signal, Signals};

/// The number of the first signal that came; 0 before it.
static FIRST: AtomicU8 = AtomicU8::new(0);

/// What the next signal calls off: the run under way, or the one before it.
static UNDER_WAY: Mutex<Option<Cancel>> = Mutex::new(None);

/// The number by which a program ends that ends like this; after a signal as shells have it. Ctrl-C may have been typed as a key, too.
pub(crate) fn exit_code(exit: Exit) -> ExitCode {
    ExitCode::from(match (exit, FIRST.load(Ordering::SeqCst)) {
        (Exit::Interrupted, signal @ 1..) => BASE + signal,
        (exit, _) => exit as u8,
    })
}

/// Whether the terminal was closed, so that nobody reads any more.
pub(crate) fn is_hung_up() -> bool {
    FIRST.load(Ordering::SeqCst) == Signal::HangUp as u8
}

/// What shells add to the number of a signal.
const BASE: u8 = 128;

/// From now on calls `cancel` off at a signal, and no run before it. On a thread of its own: neither a disk that stalls nor a
/// busy loop shall stand between the user and the end of the run.
pub(crate) fn listen(cancel: Cancel) -> Result<(), Fail> {
    if FIRST.load(Ordering::SeqCst) != 0 {
        // One of several runs was interrupted, and so are those after it.
        cancel.cancel();
    }
    let mut under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    if under_way.replace(cancel).is_some() {
        return Ok(());
    }
    let runtime = runtime::single()?;
    let signals = {
        let _entered = runtime.enter();
        Signals::listen().map_err(|error| broken!("the system delivers no signals: {error}"))?
    };
    let named = thread::Builder::new().name("fizeau-signals".into());
    let spawned = named.spawn(move || runtime.block_on(heed(signals)));
    spawned.map_err(|error| broken!("the system cannot start a thread: {error}"))?;
    Ok(())
}

async fn heed(mut signals: Signals) {
    let mut first: Option<Instant> = None;
    loop {
        let signal = signals.next().await;
        if first.is_some_and(|first| ends_at_once(signal, first.elapsed())) {
            progress::leave_screen();
            std::process::exit((BASE + signal as u8).into());
        }
        let is_first = first.is_none();
        if is_first {
            first = Some(Instant::now());
            FIRST.store(signal as u8, Ordering::SeqCst);
        }
        // Before anything is said: a terminal that is stopped holds up whoever writes to it.
        if let Some(cancel) = &*UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner) {
            cancel.cancel();
        }
        if is_first && !progress::is_full_screen() {
            tell!("interrupted: ending the level and writing what was measured (again to quit)");
        }
    }
}

/// Whether a signal that comes so long after the first ends the program. `timeout` sends its signal to the program and then to
/// its group, and of a terminal that is closed both the shell and the kernel tell: these are one signal in two.
fn ends_at_once(signal: Signal, after_the_first: Duration) -> bool {
    match signal {
        Signal::Interrupt => true,
        Signal::Terminate => after_the_first >= Duration::from_secs(1),
        Signal::HangUp => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::process::{Command, Stdio};

    use super::*;

    /// Says that this process is the one that is interrupted.
    const LISTENS: &str = "FIZEAU_TEST_LISTENS";

    #[test]
    fn the_second_signal_ends_a_program_that_does_not_end() {
        let this = "terminal::interrupt::tests::the_second_signal_ends_a_program_that_does_not_end";
        if std::env::var_os(LISTENS).is_some() {
            let cancel = Cancel::new();
            listen(cancel.clone()).unwrap();
            std::io::stderr().write_all(b"listening\n").unwrap();
            // Until the test is over.
            let _ = std::io::stdin().read(&mut [0]);
            panic!("nothing ended it");
        }
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", this, "--nocapture"]).env(LISTENS, "1");
        again.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = again.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        for (heard, name) in [("listening", "TERM"), ("interrupted: ", "INT")] {
            assert!(said.any(|line| line.unwrap().contains(heard)), "{heard}");
            let kill = format!("kill -{name} {}", child.id());
            assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        }
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }

    #[test]
    fn only_what_is_meant_as_a_second_signal_ends_the_program() {
        let (soon, later) = (Duration::from_millis(5), Duration::from_secs(3));
        assert!(ends_at_once(Signal::Interrupt, soon) && ends_at_once(Signal::Interrupt, later));
        assert!(!ends_at_once(Signal::Terminate, soon) && ends_at_once(Signal::Terminate, later));
        assert!(!ends_at_once(Signal::HangUp, soon) && !ends_at_once(Signal::HangUp, later));
    }
}
