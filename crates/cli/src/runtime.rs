//! The runtime that measures: one thread, so that no lock and no hop stands between a byte and its stamp.

use tokio::runtime::{Builder, Runtime};

use crate::exit::Fail;

/// A current-thread runtime with sockets, timers and signals.
pub(crate) fn single() -> Result<Runtime, Fail> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Fail::broken(format!("the system refuses an event loop: {error}")))
}
