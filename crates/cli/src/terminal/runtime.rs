//! The event loop of the command's own thread, which collects; the threads that measure have their own.

use tokio::runtime::{Builder, Runtime};

use crate::exit::Fail;

/// A current-thread runtime with sockets, timers and signals.
pub(crate) fn single() -> Result<Runtime, Fail> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| broken!("the system cannot start an event loop: {error}"))
}
