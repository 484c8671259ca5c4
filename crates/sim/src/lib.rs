//! A simulated LLM serving engine: one state machine, two clocks.
//!
//! [`Engine`] batches continuously, as real engines do: slots, a budget of tokens for each step, prompts in
//! chunks beside decoding, a paged key-value cache with preemption and shared prefixes, drafts, attention groups
//! and pipeline stages, and a step time from a [`StepTime`], usually the roofline of a model on a device
//! ([`RooflineStep`]). [`FixedTiming`] answers on a timetable instead, for tests of clients. Both are a [`Serve`];
//! so are several of them behind a router ([`Replicas`]) and some that read prompts before some that decode
//! ([`DisaggregatedEngine`]). Whatever is a `Serve` runs
//!
//! - in **virtual time**, with no socket and no sleeping: [`VirtualTime`] is the clock, the timer and the
//!   executor, [`SimTransport`] the transport;
//! - in **wall time** behind a real HTTP server that streams as vLLM does: module `http`, with the feature of
//!   that name.
//!
//! **Use this crate** to try a harness without an endpoint, to ask what a change of load would do, or to put
//! a server of known timing in front of a client. **Do not use it** to learn how fast a real engine is: no
//! figure from here is a measurement, and every [`Scenario`] says so in its description.
//!
//! # Invariants
//!
//! - The state machines read no clock and do no I/O, and chance follows from a seed ([`EngineConfig::seed`]). The same jobs
//!   give the same emissions.
//! - An engine on a [`RooflineStep`] is never faster than the roofline that it was made from.
//! - Only module `http` has a thread, a socket or the wall clock.
//!
//! # Example
//!
//! Two requests against one slot: the second waits for the first.
//!
//! ```
//! use fizeau_core::{
//!     EosRule, Nanos, Prompt, Release, Request, RequestId, SessionId, Stamp, Tokens, Transport,
//! };
//! use fizeau_sim::{Engine, EngineConfig, SimTransport, StepLoad, VirtualTime};
//! use futures_util::future::join;
//!
//! let config = EngineConfig::new(1, Tokens::new(1_000));
//! let engine = Engine::new(config, |_: &StepLoad| Nanos::from_millis(10))?;
//! let time = VirtualTime::new();
//! let transport = SimTransport::new(&time, engine);
//!
//! let prompt = || Prompt::TokenIds(vec![7; 100]);
//! let request = |id| Request::new(RequestId(id), prompt(), Tokens::new(5));
//! let (first, second) = (request(0), request(1));
//! let both = join(
//!     transport.send(&first, Release::at(Stamp::EPOCH)),
//!     transport.send(&second, Release::at(Stamp::EPOCH)),
//! );
//! let (first, second) = time.block_on(both)?;
//! assert_eq!(first?.last_token(), Some(Stamp::EPOCH + Nanos::from_millis(50)));
//! assert_eq!(second?.first_token(), Some(Stamp::EPOCH + Nanos::from_millis(60)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
#![doc = include_str!("../place.md")]

mod chance;
mod cluster;
mod content;
mod engine;
mod fixed;
#[cfg(feature = "http")]
pub mod http;
mod pass;
mod scenario;
mod serve;
mod step;
mod text;
mod transport;
mod virtual_time;

pub use cluster::{ClusterError, DisaggregatedEngine, Handover, ReplicaRouting, Replicas};
pub use engine::{
    AdmissionOrder, Chunking, ConfigError, Engine, EngineConfig, EngineDrafts, LinearStepTimes,
    Policy, PrefixCaching, StepLoad, StepTime,
};
pub use fixed::FixedTiming;
pub use pass::EnginePass;
pub use scenario::{Remedies, Scenario, ScenarioError};
pub use serve::{
    BlockHashes, Emission, EngineJob, Gauges, JobId, JobTiming, Priority, Serve, SubmitError,
};
pub use step::{CalibratedStep, FixedStep, Overheads, RooflineStep, StepError, StepModel};
pub use transport::SimTransport;
pub use virtual_time::{Deadlock, VirtualTime};

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
