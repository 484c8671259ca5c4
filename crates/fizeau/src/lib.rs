//! Measure how fast an LLM endpoint is, prove that the measurement can be trusted, and say how far the endpoint is from
//! the speed of light: the limit that its silicon sets.
//!
//! This crate holds no logic. It gathers the layers under one name, so that a program needs one dependency; each layer
//! is a crate that can be used alone.
//!
//! | module | crate | what it does |
//! |---|---|---|
//! | [`core`] | `fizeau-core` | the nouns ([`Tape`](core::Tape), [`Stamp`](core::Stamp), [`Request`](core::Request)) and the boundary traits |
//! | [`workload`] | `fizeau-workload` | what is asked, and when: a plan, as a pure function of specification and seed |
//! | [`transport`] | `fizeau-transport` | one request over HTTP, to a tape of stamped arrivals |
//! | [`metrics`] | `fizeau-metrics` | tapes to TTFT, TPOT, ITL, E2EL, throughput, goodput, with intervals; whether two runs differ |
//! | [`roofline`] | `fizeau-roofline` | model x hardware to the bound that nothing can beat |
//! | [`pareto`] | `fizeau-pareto` | points to frontier, hypervolume, knee and operating point; which load to test next; how many carry a rate |
//! | [`sim`] | `fizeau-sim` | a simulated serving engine, in virtual time or behind HTTP |
//! | `probe` | `fizeau-probe` | what a machine really does, measured part by part (feature `probe`) |
//! | [`telemetry`] | `fizeau-telemetry` | what the server, the GPU and the host say, over exactly the window of a level |
//! | [`record`] | `fizeau-record` | the run's folder as typed documents, both ways |
//! | [`harness`] | `fizeau-harness` | warm-up, levels, the worker pool, and the client's own proof |
//! | [`experiment`] | `fizeau-experiment` | whole experiments: prepare, run, evaluate, keep |
//! | [`interop`] | `fizeau-interop` | other tools' definitions, files in and files out |
//! | [`report`] | `fizeau-report` | levels to terminal, page, pictures, Markdown, JSON, CSV, metrics and other tools' files, or a sink of your own; the decision, the plan, the checklist |
//!
//! # A sweep of an endpoint
//!
//! In the background of any tokio runtime. What is not said is the same as on the command line: eight concurrencies of a minute each,
//! until more load brings nothing, and the goals of a person who chats.
//!
//! ```no_run
//! use fizeau::experiment::{Experiment, SweepLoads, SweepRates};
//! use fizeau::report::Shown;
//! use fizeau::transport::{Backend, Target};
//!
//! # async fn sweep() -> Result<(), Box<dyn std::error::Error>> {
//! let target = Target::new("http://127.0.0.1:8000", Backend::Vllm, "my-model")?;
//! let mut run = Experiment::new(target)
//!     .loads(SweepLoads::new(&[1, 8, 64], SweepRates::default())?)
//!     .slo("p99 ttft<500ms, p99 tpot<20ms".parse()?)
//!     .folder("runs/monday")
//!     .spawn()?;
//! while let Some(event) = run.progress.next().await {
//!     println!("{event:?}");
//! }
//! let report = run.join().await?;
//! if let Some(level) = report.operating_level() {
//!     println!("run it at {}", level.load);
//! }
//! println!("{}", Shown(&report).markdown());
//! # Ok(())
//! # }
//! ```
//!
//! One level, a search, an A/B run or a calibration is the same with other [settings](experiment::Experiment::settings).
//!
//! # The same with no socket
//!
//! A [simulated engine](experiment::SimulatedSystem) runs in virtual time, where a hundred seconds take a few milliseconds:
//!
//! ```
//! use fizeau::experiment::{SimulatedSystemSpec, SweepLoads, SweepRates, WorkloadSpec};
//! use fizeau::workload::Lengths;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = SimulatedSystemSpec::new("llama-3.1-8b", "h100-sxm").load()?;
//! let mut workload = WorkloadSpec::default();
//! workload.lengths = Lengths::fixed(250, 50);
//! let loads = SweepLoads::new(&[1, 8, 64], SweepRates::default())?;
//! let sweep = engine.experiment().loads(loads).workload(workload);
//! let report = engine.run(&sweep, &mut ())?;
//! assert_eq!(report.frontier(), [0, 1, 2]); // Each level buys throughput with latency.
//! # Ok(())
//! # }
//! ```
//!
//! It is a [`Transport`](core::Transport) like any other ([`sim::SimTransport`]), for a harness of one's own.
//!
#![doc = include_str!("../place.md")]

pub use fizeau_core as core;
pub use fizeau_experiment as experiment;
pub use fizeau_harness as harness;
pub use fizeau_interop as interop;
pub use fizeau_metrics as metrics;
pub use fizeau_pareto as pareto;
#[cfg(feature = "probe")]
pub use fizeau_probe as probe;
pub use fizeau_record as record;
pub use fizeau_report as report;
pub use fizeau_roofline as roofline;
pub use fizeau_sim as sim;
pub use fizeau_telemetry as telemetry;
pub use fizeau_transport as transport;
pub use fizeau_workload as workload;
