//! Ctrl-C: the first ends the run and keeps what it has, the second ends the program.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::thread;

use fizeau::harness::Cancel;

use crate::exit::{Exit, Fail};
use crate::{progress, runtime};

/// From now on calls `cancel` off at Ctrl-C. On a thread of its own: neither a disk that stalls nor a busy loop shall stand
/// between the user and the end of the run.
pub(crate) fn listen(cancel: Cancel) -> Result<(), Fail> {
    let runtime = runtime::single()?;
    let (listening, is_listening) = std::sync::mpsc::channel();
    let listen = async move {
        let mut first = pin!(tokio::signal::ctrl_c());
        let mut interrupted = poll_fn(|cx| Poll::Ready(first.as_mut().poll(cx))).await;
        // Only now does the signal come here instead of ending the program.
        let _ = listening.send(());
        if interrupted.is_pending() {
            interrupted = Poll::Ready(first.await);
        }
        if !matches!(interrupted, Poll::Ready(Ok(()))) {
            return;
        }
        if !progress::is_full_screen() {
            eprintln!(
                "\ninterrupted: ending the level and writing what was measured (again to quit)"
            );
        }
        cancel.cancel();
        if tokio::signal::ctrl_c().await.is_ok() {
            progress::leave_screen();
            std::process::exit(Exit::Interrupted as i32);
        }
    };
    let named = thread::Builder::new().name("fizeau-signals".into());
    let spawned = named.spawn(move || runtime.block_on(listen));
    spawned.map_err(|error| Fail::broken(format!("the system refuses a thread: {error}")))?;
    // A thread that ended without a word cannot listen, and Ctrl-C ends the program as it always does.
    let _ = is_listening.recv();
    Ok(())
}
