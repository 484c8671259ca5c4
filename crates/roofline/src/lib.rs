//! What a model on devices could do at the very best, what to expect of it, and what a calibrated engine is predicted to
//! do: the speed of light of LLM inference.
//!
//! A [`Model`] comes from a `config.json`, a [`Device`] from the table (or from your own figures), a [`Deployment`] says how
//! the one is spread over several of the other: together they are a [`System`]. Asked about a [`Load`] it gives
//!
//! - the *bound* ([`System::bound_figures`]): times that no serving engine can undercut and rates that none can exceed;
//! - the *expectation* ([`System::expected_figures`]): physics operator by operator, without a fitted constant;
//! - with a [`Calibration`] a *prediction* with an interval ([`Predictor::predict`]);
//!
//! and never mixes them. [`System::answer`] has all that a load comes to, or why it cannot be. For what was *measured*,
//! [`Bound::over`] takes the lengths that the requests really had, and [`Measured::percent_of`] puts the measurement beside it.
//!
//! ```
//! use std::num::NonZeroU64;
//! use fizeau_roofline::{Deployment, Device, KnownModel, Load, System, Tokens};
//!
//! // Or `Model::from_config_json(text)`.
//! let model = KnownModel::named("llama-3.1-8b")?.model()?;
//! let device = Device::named("h100-sxm")?.clone();
//! let system = System::new(model, device, Deployment::SINGLE)?;
//! let load = Load::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(32).ok_or("zero")?);
//! let answer = system.answer(&load)?;
//! assert_eq!(format!("{:.1}", answer.bound.requests_per_s.get()), "17.4");
//! assert_eq!(format!("{:.1}", answer.expected.requests_per_s.get()), "11.3");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Use this crate** to hold a measurement, a simulator or a capacity plan against the limit that the silicon sets, to see
//! what limits a deployment and what would help, and to carry what was measured over to other models and loads. **Do not use
//! it** to predict an engine without having measured one: neither a bound nor an expectation has overheads in it. Nor for what
//! a queue does to single requests: that is for a simulation.
//!
//! The formulas, their sources and worked examples: `docs/speed-of-light.md` in the repository.
//!
//! # How a time comes about
//!
//! A [`Pass`] carries decoding sequences and prompts. The operators of all layers are accounts that are affine in its
//! tokens, sequences and contexts ([`OperatorKind`]). The bound spreads each perfectly over all devices of a stage, adds
//! them up and takes the longer of all memory and all arithmetic. The expectation cuts them as engines do, takes the
//! longer of memory and arithmetic for each by itself, and adds what devices have to tell each other.
//!
//! # Invariants
//!
//! - Pure: no I/O, no clock, no randomness. The same inputs give the same bits.
//! - Sound: a simplification may make a bound harder to reach, never easier to beat. More bandwidth, more arithmetic or more
//!   devices never make a bound worse, and no expected or predicted time is below its bound.
//! - Once a [`System`] is made, a bound or an expectation allocates nothing.
//! - Nothing depends on a model's name: behaviour follows the fields of its config.
//! - No figure is NaN or infinite; what cannot be said is an error or absent.
//! - Rates are dense, bytes are bytes, and a multiply-add counts as two.

mod alone;
mod answer;
mod batch;
mod bound;
mod calibration;
mod carried;
mod chunking;
mod collective;
mod compare;
mod cost;
mod curve;
mod deployment;
mod device;
mod disaggregation;
mod energy;
mod excess;
mod exchange;
mod expected;
mod explain;
mod figures;
mod format;
mod inverse;
mod lengths;
mod limits;
mod load;
mod memory;
mod model;
mod operator;
mod pass;
mod rates;
mod reach;
mod reckoning;
mod room;
mod routing;
mod sensitivity;
mod serving;
mod share;
mod span;
mod speculation;
mod system;
mod timed;
mod totals;

/// The units and nouns of `fizeau-core` that are asked for and answered here.
pub use fizeau_core::{
    Bytes, BytesPerSec, Confidence, Estimate, FlopsPerSec, Interval, Joules, PerSec, Seconds,
    Tokens, Usd, UsdPerHour, Watts,
};

pub use alone::SingleRequest;
pub use answer::{Answer, AnswerError};
pub use bound::{Bound, LimitedBy};
pub use calibration::{
    CalibratedStepTime, Calibration, CalibrationFileError, Constant, Constants, Errors, Fit,
    FitError, FittedConstant, Judged, MeasuredError, MeasuredLevel, MeasuredTable, OutsideRegime,
    Prediction, Predictor, Sample, SampleError, Scope, Summary, UnknownConstant,
};
pub use carried::PassSums;
pub use chunking::Chunked;
pub use collective::{Algorithm, Collective, CollectiveTime, Group, GroupError};
pub use compare::{Measured, SpeedOfLight};
pub use cost::{
    Cost, CostError, HourlyRate, Origin, OwnedHour, Ownership, OwnershipError, UsdRange,
};
pub use curve::{BatchCurve, BatchPoint, CurveEnd, Stride};
pub use deployment::{Deployment, DeploymentError, ExpertExchange, Overlap};
pub use device::{
    Cell, Device, DeviceError, Link, MathType, Price, Reduces, Topology, UnknownDevice,
};
pub use disaggregation::{Bottleneck, Disaggregated, Disaggregation, Split, Transfer};
pub use energy::{Energy, PowerCap, PowerCapError, PowerDraw, PowerError};
pub use excess::{Excess, Input, MeasuredFigure, Remedy};
pub use expected::Expected;
pub use explain::{Part, Phase, Term};
pub use figures::{Figures, Schedule};
pub use format::{FileType, Format, GgmlType, Mixed, UnknownFormat};
pub use inverse::{
    Aim, Choice, Found, Goal, GoalError, LargestBatch, LargestContext, Need, Query, SearchError,
    Shortfall,
};
pub use lengths::Lengths;
pub use limits::{Limit, Limits};
pub use load::Load;
pub use model::{
    Attention, CacheAt, DeltaNet, Dense, ExpertGroups, Experts, FeedForward, Indexer, Keys,
    KnownModel, Latent, Layers, Mamba2, Mixer, Model, ModelError, ModelSheet, Parameters,
    QueryNorm, TensorClass, TensorSheet, Tensors, UnknownModel, WeightChoice, WeightChoiceError,
};
pub use operator::OperatorKind;
pub use pass::{Binding, Pass, PassTime};
pub use reckoning::Reckoning;
pub use room::MemoryUse;
pub use routing::{Routing, RoutingError};
pub use sensitivity::{Gain, Sensitivities, Sensitivity};
pub use serving::{Admission, Prefix, Serving};
pub use share::Share;
pub use span::Span;
pub use speculation::{Acceptance, AcceptanceError, Drafter, Speculated, Speculation};
pub use system::System;

/// The worked examples of the page that derives the formulas.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/speed-of-light.md")]
struct Page;

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
