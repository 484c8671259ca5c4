//! Drives load against an LLM endpoint: releases requests at their instants, collects tapes, runs levels, and keeps the
//! client's own proof.
//!
//! **Use this crate** to run a level inside your own program, against any
//! [`Transport`](fizeau_core::Transport): HTTP, a simulated engine in virtual time, or one of your own.
//! **Use `fizeau-experiment`** for a sweep, a search or an A/B run, and **`fizeau-metrics`** alone if you already have tapes.
//!
//! One level against a transport of your own, eight requests in flight:
//!
//! ```
//! use std::num::NonZeroU32;
//!
//! use fizeau_core::{Clock, Release, Request, Tape, Transport};
//! use fizeau_harness::{Cancel, DriveLimits, Pacer, drive};
//! use fizeau_transport::MonotonicClock;
//! use fizeau_workload::{Plan, PlanSpec};
//!
//! struct Instant(MonotonicClock);
//!
//! impl Transport for Instant {
//!     type Error = std::convert::Infallible;
//!
//!     async fn send(&self, request: &Request, _: Release) -> Result<Tape, Self::Error> {
//!         Ok(Tape { request: request.id, ..Tape::sent_at(self.0.now()) })
//!     }
//! }
//!
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! let (clock, cancel) = (MonotonicClock::new(), Cancel::new());
//! let mut requests = Plan::new(PlanSpec::new(100)?)?.source();
//! let load = DriveLimits { max_in_flight: NonZeroU32::new(8), ..DriveLimits::default() };
//! let mut tapes = Vec::new();
//! let (server, pacer) = (Instant(clock), Pacer::new(clock));
//! runtime.block_on(drive(&mut requests, &server, &pacer, load, &mut tapes, &cancel))?;
//! assert_eq!(tapes.len(), 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Threads and runtimes
//!
//! A [`WorkerPool`] has threads and event loops of its own; it is [`Send`], and its futures may be awaited in a task of any runtime.
//! [`drive`] and a [`TaskDriver`] run on the task that awaits them, with futures that are `Send` where the transport's
//! are: an [`HttpTransport`](fizeau_transport::HttpTransport)'s are not. [`on_own_thread`] carries out what is not `Send`.
//!
//! Build with optimisation: without, the client comes some 5 ms late, and levels may be judged suspect for that.
//!
//! # Invariants
//!
//! - One driver ([`drive`]) serves closed and open loops, real and virtual time: it is generic over the clock.
//! - A request that leaves late is recorded with its lateness; it is never skipped, and its intended instant never
//!   moves.
//! - What was measured is kept: tapes are written as requests end, and a run that is called off keeps its finished
//!   part.
//! - Warm-up requests never count.
//!
#![doc = include_str!("../place.md")]

mod apart;
mod cancel;
mod drive;
mod level;
mod observe;
mod pacer;
mod preflight;
mod proof;
mod recount;
mod worker_pool;

pub use apart::on_own_thread;
pub use cancel::Cancel;
pub use drive::{DriveEnding, DriveError, DriveLimits, DriveOutcome, InFlight, TextAfter, drive};
pub use level::{LevelRun, Measure, PlannedLevel, Probe, StartGate, TaskDriver, connections_ahead};
pub use observe::{DriveNotice, Observer};
pub use pacer::Pacer;
pub use preflight::{HeadroomError, PreflightError, SystemNeeds, headroom, preflight};
pub use proof::SelfWatch;
pub use recount::Recounted;
pub use worker_pool::{Preconnect, WorkerPool};

/// Compiles the example of the README with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
