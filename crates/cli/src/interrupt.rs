//! Ctrl-C: the first ends the run and keeps what it has, the second ends the program.

use fizeau::harness::Cancel;

use crate::exit::Exit;

/// Listens for Ctrl-C on the running runtime and calls `cancel` off.
pub(crate) fn listen(cancel: Cancel) {
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_err() {
            return;
        }
        eprintln!("\ninterrupted: ending the level and writing what was measured (again to quit)");
        cancel.cancel();
        if tokio::signal::ctrl_c().await.is_ok() {
            std::process::exit(Exit::Interrupted as i32);
        }
    });
}
