//! `--live`: a run on the whole terminal, with its curves growing.
//!
//! It is drawn on standard error, so that the report can go elsewhere, by a thread of its own: at most ten times a second it
//! looks at the state that the collecting side keeps, and holds that for as long as it takes to fill a buffer, not for the
//! writing of it. What measures runs on other threads and never waits for it.

mod chart;
mod draw;
mod levels;
#[cfg(test)]
#[path = "../../tests/it/pty.rs"]
#[allow(dead_code, reason = "other tests have a use for it")]
mod pty;
mod screen;

pub(crate) use screen::{Screen, is_on, leave};
