//! What makes the drafts of speculative decoding, as text.

use std::fmt::{self, Display};
use std::str::FromStr;

use fizeau_roofline::{DeploymentError, Drafter, System};
use thiserror::Error;

use crate::model::{LoadModelError, LoadedModel};

/// What makes the drafts of speculative decoding.
///
/// ```
/// use fizeau_experiment::DrafterSpec;
/// assert_eq!("lookup".parse(), Ok(DrafterSpec::Lookup));
/// assert_eq!("0.05".parse(), Ok(DrafterSpec::Share(0.05)));
/// assert_eq!("llama-3.2-1b".parse(), Ok(DrafterSpec::Model("llama-3.2-1b".to_owned())));
/// assert!("-1".parse::<DrafterSpec>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum DrafterSpec {
    /// The model's own module where it has one, else a search in the text so far.
    #[default]
    Usual,
    /// A search in the text so far: `lookup`.
    Lookup,
    /// The model's own module: `mtp`.
    OwnModule,
    /// Something that takes this share of a step for each token.
    Share(f64),
    /// Another model: the path of its config.json, or the name of one that is built in.
    Model(String),
}

/// Why a text names no drafter.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{share}: give a share of a step from 0, such as 0.1")]
pub struct DrafterTextError {
    share: f64,
}

/// Why there is no such drafter.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum DrafterError {
    /// The model has none of its own.
    #[error("the model has no module that predicts further tokens")]
    NoModule,
    /// The model's own module, or the other model, cannot be spread as the model is.
    #[error(transparent)]
    Deployment(#[from] DeploymentError),
    /// The other model is not understood.
    #[error(transparent)]
    Model(#[from] LoadModelError),
}

impl FromStr for DrafterSpec {
    type Err = DrafterTextError;

    fn from_str(text: &str) -> Result<Self, DrafterTextError> {
        match (text, text.parse::<f64>()) {
            ("lookup", _) => Ok(Self::Lookup),
            ("mtp", _) => Ok(Self::OwnModule),
            (_, Ok(share)) if share.is_finite() && share >= 0.0 => Ok(Self::Share(share)),
            (_, Ok(share)) => Err(DrafterTextError { share }),
            (name, Err(_)) => Ok(Self::Model(name.to_owned())),
        }
    }
}

impl Display for DrafterSpec {
    /// As text that is read again; the usual one is `mtp`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usual | Self::OwnModule => f.write_str("mtp"),
            Self::Lookup => f.write_str("lookup"),
            Self::Share(share) => write!(f, "{share}"),
            Self::Model(name) => f.write_str(name),
        }
    }
}

impl DrafterSpec {
    /// The drafter for `system`. Files are read.
    ///
    /// # Errors
    /// If the model has no module of its own, or the other model is not understood or cannot be spread so.
    pub fn load(&self, system: &System) -> Result<Drafter, DrafterError> {
        Ok(match self {
            Self::Usual => Drafter::own_module(system)?.unwrap_or(Drafter::Lookup),
            Self::Lookup => Drafter::Lookup,
            Self::OwnModule => Drafter::own_module(system)?.ok_or(DrafterError::NoModule)?,
            Self::Share(share) => Drafter::Share(*share),
            Self::Model(name) => {
                let model = LoadedModel::named(name)?.model;
                let draft = System::new(model, system.device().clone(), *system.deployment())?;
                Drafter::Model(Box::new(draft))
            }
        })
    }
}
