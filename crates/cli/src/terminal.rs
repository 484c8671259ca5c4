//! Standard output and standard error, signals, and a run shown while it goes on.

#[macro_use]
pub(crate) mod say;

pub(crate) mod interrupt;
pub(crate) mod progress;
pub(crate) mod runtime;
pub(crate) mod screen;
