//! What a model on devices could do at the very best, what to expect of it, and what a calibrated engine is predicted to
//! do: the speed of light of LLM inference.
//!
//! A [`Model`] comes from a `config.json`, a [`Device`] from the table (or from your own figures), a [`Deployment`] says how
//! the one is spread over several of the other: together they are a [`System`]. Asked about a [`UniformLoad`] it gives
//!
//! - the *bound* ([`System::bound_figures`]): times that no serving engine can undercut and rates that none can exceed;
//! - the *expectation* ([`System::expected_figures`]): the roofline model, operator by operator, without a fitted constant;
//! - with a [`Calibration`] a *prediction* with an interval ([`Predictor::predict`]);
//!
//! and never mixes them. [`System::answer`] has all that a load comes to, or why it cannot be. For what was *measured*,
//! [`Bound::over`] takes the lengths that the requests really had, and [`MeasuredFigures::percent_of`] puts the measurement beside it.
//!
//! ```
//! use std::num::NonZeroU64;
//! use fizeau_roofline::{Deployment, Device, KnownModel, UniformLoad, System, Tokens};
//!
//! // Or `Model::from_config_json(text)`.
//! let model = KnownModel::named("llama-3.1-8b")?.model()?;
//! let device = Device::named("h100-sxm")?.clone();
//! let system = System::new(model, device, Deployment::SINGLE)?;
//! let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(32).ok_or("zero")?);
//! let answer = system.answer(&load)?;
//! assert_eq!(format!("{:.1}", answer.bound.requests_per_s.get()), "17.4");
//! assert_eq!(format!("{:.1}", answer.expected.requests_per_s.get()), "12.0");
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
//!
#![doc = include_str!("../place.md")]

mod alone;
mod answer;
mod batch;
mod bound;
mod bound_violation;
mod calibration;
mod chunking;
mod collective;
mod compare;
mod context_curve;
mod context_spread;
mod cost;
mod curve;
mod deployment;
mod device;
mod disaggregation;
mod energy;
mod estimate_kind;
mod exchange;
mod expected;
mod explain;
mod figures;
mod format;
mod improvement;
mod inverse;
mod lengths;
mod limits;
mod load;
mod memory;
mod model;
mod operator;
mod pass;
mod pass_demand;
mod rates;
mod reach;
mod room;
mod routing;
mod scope;
mod sensitivity;
mod serving;
mod share;
mod span;
mod speculation;
mod system;
mod timed;
mod totals;
mod work;

/// The units and nouns of `fizeau-core` that are asked for and answered here.
pub use fizeau_core::{
    Bytes, BytesPerSec, Confidence, Estimate, Flops, FlopsPerSec, Interval, Joules, PerSec,
    Seconds, Tokens, Usd, UsdPerHour, Watts,
};

pub use alone::SingleRequest;
pub use answer::{LoadAnalysis, LoadAnalysisError};
pub use bound::{Bound, LimitedBy};
pub use bound_violation::{BoundInput, BoundViolation, InputRemedy};
pub use calibration::{
    CalibratedStepTime, Calibration, CalibrationDesign, CalibrationDesignError,
    CalibrationEvidence, CalibrationFileError, CalibrationFit, CalibrationFitError,
    CalibrationLoads, CalibrationSample, CalibrationSampleError, Constant, ConstantUse, Constants,
    DesignedLoad, ErrorSummary, FitSummary, FittedConstant, JudgedFit, MeasuredError, MeasuredRow,
    MeasuredTable, OutsideRegime, PassScope, Prediction, PredictionGap, PredictionInput,
    PredictionRemedy, Predictor, RowExclusion, Scope, ShippedCalibration, SimultaneousStart,
    UnknownConstant,
};
pub use chunking::ChunkedLoad;
pub use collective::{Algorithm, CollectiveTime, DeviceGroup, DeviceGroupError};
pub use compare::{MeasuredFigure, MeasuredFigures, MeasuredFiguresError, SpeedOfLightShares};
pub use context_curve::ContextPoint;
pub use context_spread::ContextSpread;
pub use cost::{
    Cost, CostError, HourlyRate, OwnedHour, Ownership, OwnershipError, PriceOrigin, UsdRange,
};
pub use curve::{BatchCurve, BatchPoint, CurveEnd, CurveStride};
pub use deployment::{Deployment, DeploymentError, ExpertExchange, Overlap};
pub use device::{
    CachedRead, Device, DeviceError, Link, MathType, Price, PublishedFigure, ReductionSite,
    Topology, UnknownDevice,
};
pub use device::{Collective, MeasuredCollective};
pub use disaggregation::{
    Bottleneck, CacheTransfer, DeviceSplit, DisaggregatedFigures, Disaggregation, InstanceCounts,
    InstanceCountsError,
};
pub use energy::{Energy, PowerCap, PowerCapError, PowerDraw, PowerError};
pub use estimate_kind::EstimateKind;
pub use exchange::PassCollective;
pub use expected::Expected;
pub use explain::{PassPhase, PassTerm, TermKind};
pub use figures::{Figures, PhaseSchedule, TokenTime};
pub use format::{
    Activations, FileType, Format, GgmlType, MixedFormat, UnknownFormat, WeightsBeside,
};
pub use improvement::{Improvement, ImprovementGain};
pub use inverse::{
    DeploymentChoice, DeploymentObjective, DeploymentQuery, DeploymentRanking,
    DeploymentSearchError, LargestBatch, LargestContext, ServingGoal, ServingGoalError,
    ServingNeed, Shortfall, UnmetNeed,
};
pub use lengths::RequestLengths;
pub use limits::{LimitingResource, LimitingResources};
pub use load::UniformLoad;
pub use model::{
    Attention, AttentionKeys, CacheAt, DeltaNet, Dense, ExpertGroups, Experts, FeedForward,
    Indexer, KnownModel, Latent, Layers, Mamba2, Mixer, Model, ModelConfigError, ModelSheet,
    Parameters, QueryNorm, TensorClass, TensorSheet, Tensors, UnknownModel, WeightChoice,
    WeightChoiceError,
};
pub use operator::OperatorKind;
pub use pass::{Binding, Pass, PassTime};
pub use pass_demand::PassSums;
pub use room::MemoryUse;
pub use routing::{ExpertRouting, ExpertRoutingError};
pub use scope::SolScope;
pub use sensitivity::{FigureGain, Sensitivities, Sensitivity};
pub use serving::{Admission, Prefix, Serving};
pub use share::BoundShare;
pub use span::ContextSpan;
pub use speculation::{
    Acceptance, AcceptanceError, Drafter, Speculated, SpeculatedAnswer, Speculation,
};
pub use system::System;
pub use work::PassWork;

/// The worked examples of the page that derives the formulas; a package has a copy of it in place of the link.
#[cfg(doctest)]
#[doc = include_str!("../speed-of-light.txt")]
struct Page;

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
