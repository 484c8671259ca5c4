//! What a model on a device could do at the very best: the speed of light of LLM inference.
//!
//! A [`Model`] comes from a `config.json`, a [`Device`] from the table (or from your own figures), a
//! [`Load`] says what is asked; [`Bound::at`] then gives times that no serving engine can undercut and rates
//! that none can exceed. For what was measured, [`Bound::over`] takes the lengths that the requests really had,
//! and [`Measured::percent_of`] puts the measurement beside it.
//!
//! ```
//! use std::num::NonZeroU64;
//! use fizeau_core::Tokens;
//! use fizeau_roofline::{Bound, Deployment, Device, Load, Model, System};
//!
//! # let text = include_str!(concat!(
//! #     env!("CARGO_MANIFEST_DIR"),
//! #     "/../../fixtures/models/llama-3.1-8b/config.json"
//! # ));
//! // `text` is the content of Llama-3.1-8B's config.json.
//! let model = Model::from_config_json(text)?;
//! let device = Device::named("h100-sxm")?;
//! let load = Load::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(32).ok_or("zero")?);
//! let system = System::new(model, device.clone(), Deployment::SINGLE)?;
//! let bound = Bound::at(&system, &load)?;
//! assert_eq!(format!("{:.1}", bound.requests_per_s.get()), "17.4");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Use this crate** to hold a measurement, a simulator or a capacity plan against the limit that the silicon
//! sets. **Do not use it** to predict what an engine will do: a bound has no overheads in it. Nor for mixtures of
//! experts, latent attention, sliding windows (refused by name, never guessed) or several devices.
//!
//! # Invariants
//!
//! - Pure: no I/O, no clock, no randomness. The same inputs give the same bits.
//! - Sound: a simplification may make a bound harder to reach, never easier to beat. More bandwidth or more
//!   arithmetic never makes a bound worse.
//! - No figure is NaN or infinite; what cannot be said is an error or absent.
//! - Rates are dense, bytes are bytes, and a multiply-add counts as two.

mod alone;
mod answer;
mod batch;
mod bound;
mod carried;
mod collective;
mod compare;
mod deployment;
mod device;
mod excess;
mod exchange;
mod expected;
mod explain;
mod figures;
mod format;
mod lengths;
mod limits;
mod load;
mod memory;
mod model;
mod operator;
mod pass;
mod rates;
mod reach;
mod routing;
mod sensitivity;
mod serving;
mod span;
mod system;
mod timed;

pub use alone::SingleRequest;
pub use answer::{Answer, AnswerError};
pub use bound::{Bound, LimitedBy};
pub use carried::PassSums;
pub use collective::{Algorithm, Collective, CollectiveTime, Group, GroupError};
pub use compare::{Measured, Share, SpeedOfLight};
pub use deployment::{Deployment, DeploymentError, ExpertExchange, Overlap};
pub use device::{
    Cell, Device, DeviceError, Link, MathType, Price, Reduces, Topology, UnknownDevice,
};
pub use excess::{Excess, Input, MeasuredFigure, Remedy};
pub use expected::Expected;
pub use explain::{Part, Phase, Term};
pub use figures::{Figures, Schedule};
pub use format::{FileType, Format, GgmlType, Mixed, UnknownFormat};
pub use lengths::Lengths;
pub use limits::{Limit, Limits};
pub use load::Load;
pub use memory::MemoryUse;
pub use model::{
    Attention, DeltaNet, Dense, ExpertGroups, Experts, FeedForward, Indexer, Keys, KnownModel,
    Latent, Layers, Mamba2, Mixer, Model, ModelError, Parameters, TensorClass, Tensors,
    UnknownModel, WeightChoice, WeightChoiceError,
};
pub use operator::OperatorKind;
pub use pass::{Binding, Pass, PassTime};
pub use routing::Routing;
pub use sensitivity::{Gain, Sensitivities, Sensitivity};
pub use serving::{Admission, Prefix, Serving};
pub use span::Span;
pub use system::System;

/// The example of the README, compiled so that it cannot go stale.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
