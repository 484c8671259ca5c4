//! What is said of a sweep, wherever it is shown.

mod client;
mod cost;
mod decision_text;
mod kinds;
mod reasons;
mod repeats;
mod sustained;
mod unmeasured;
mod until;

pub(crate) use repeats::{HEADS, ONE_RUN_NOTE, REPEATS_NOTE};

/// What the mark `!` means, wherever it stands.
pub(crate) const SATURATED_NOTE: &str =
    "saturated: more was sent than served, so that latencies depend on how long the level ran";
