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
//! # From a plan to a frontier, with no socket
//!
//! The simulated engine is a [`Transport`](core::Transport) like any other. Here it runs in virtual time, where a
//! hundred seconds take a few milliseconds:
//!
//! ```
//! use std::num::NonZeroU32;
//!
//! use fizeau::core::Tokens;
//! use fizeau::experiment::{SweepRunner, SweepSpec};
//! use fizeau::harness::{Cancel, Rig, SelfWatch};
//! use fizeau::core::LevelLoad;
//! use fizeau::sim::{Scenario, SimTransport, VirtualTime};
//! use fizeau::workload::{Lengths, PlanSpec};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let time = VirtualTime::new();
//! let engine = SimTransport::new(&time, Scenario::llama_3_1_8b_h100()?.engine());
//! let cancel = Cancel::new();
//! let rig = Rig { transport: &engine, timer: &time, watch: SelfWatch::Off, cancel: &cancel };
//! let levels = [1, 8, 64].into_iter().filter_map(NonZeroU32::new).map(LevelLoad::from);
//! let workload = PlanSpec { lengths: Lengths::fixed(250, 50), ..PlanSpec::new(100)? };
//! let spec = SweepSpec::new(levels, workload);
//! let mut sweep = SweepRunner::new(rig, &spec, None);
//! let points = time.block_on(async {
//!     let mut points = Vec::new();
//!     for ask in spec.asks() {
//!         let level = sweep.level(ask, &mut ()).await?.ok_or("called off")?;
//!         let summary = level.run.summary;
//!         let rate = summary.throughput.requests_per_s.get();
//!         let latency = summary.metrics.e2el.p99.value().ok_or("100 requests have a p99")?;
//!         points.push([rate, latency.get()]);
//!     }
//!     Ok::<_, Box<dyn std::error::Error>>(points)
//! })??;
//!
//! use fizeau::pareto::{Objective, frontier};
//! let best = frontier(&points, &[Objective::Maximize, Objective::Minimize])?;
//! assert_eq!(best, [0, 1, 2]); // Each level buys throughput with latency.
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! - `http`: the simulated engine behind a real HTTP server, in wall time.
//! - `tls`: endpoints behind `https://`.
//! - `tiktoken`, `hf-tokenizer`: tokenizers of the client's own.
//! - `html`: `report.html` and the page of several runs. `pictures`, `png`: charts as SVG and PNG files.
//! - `probe`: micro-benchmarks of this machine. `telemetry`: pages of metrics over HTTP, forward-pass records over ZeroMQ.
//! - `parquet`: tables as Parquet. `schema`: the JSON Schemas of what is written.

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
