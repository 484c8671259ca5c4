//! Drives load against an LLM endpoint: releases requests at their instants, collects tapes, runs levels, and keeps the
//! client's own proof.
//!
//! **Use this crate** to run a level inside your own program, against any
//! [`Transport`](fizeau_core::Transport): HTTP, a simulated engine in virtual time, or one of your own.
//! **Use `fizeau-experiment`** for a sweep, a search or an A/B run, and **`fizeau-metrics`** alone if you already have tapes.
//!
//! # Invariants
//!
//! - One driver ([`drive`]) serves closed and open loops, real and virtual time: it is generic over the clock.
//! - A request that leaves late is recorded with its lateness; it is never skipped, and its intended instant never
//!   moves.
//! - What was measured is kept: tapes are written as requests end, and a run that is called off keeps its finished
//!   part.
//! - Warm-up requests never count.

mod cancel;
mod crew;
mod drive;
mod headroom;
mod host;
mod in_flight;
mod level;
mod observe;
mod pacer;
mod preflight;
mod proof;
mod recount;
mod until;

pub use cancel::Cancel;
pub use crew::{Crew, Preconnect};
pub use drive::{DriveError, Driven, Ended, Load, TextAfter, drive};
pub use headroom::{HeadroomError, Needs, headroom};
pub use host::Host;
pub use in_flight::InFlight;
pub use level::{
    LevelError, LevelRun, LevelSpec, Measure, PlannedLevel, Probe, Rig, Warmup, connections_ahead,
    run_level,
};
pub use observe::{Notice, Observer};
pub use pacer::Pacer;
pub use preflight::{PreflightError, preflight};
pub use proof::SelfWatch;
pub use recount::Recounted;
