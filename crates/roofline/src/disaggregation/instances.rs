//! How many instances there are on either side.

use std::num::NonZeroU32;
use std::str::FromStr;

use thiserror::Error;

use crate::DeploymentError;
use crate::system::System;

/// So many instances that read prompts, and so many that decode.
///
/// ```
/// use fizeau_roofline::InstanceCounts;
/// let counts: InstanceCounts = "2:1".parse()?;
/// assert_eq!((counts.prefill.get(), counts.decode.get()), (2, 1));
/// assert!("2:0".parse::<InstanceCounts>().is_err());
/// # Ok::<(), fizeau_roofline::InstanceCountsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstanceCounts {
    /// Those that read prompts.
    pub prefill: NonZeroU32,
    /// Those that decode.
    pub decode: NonZeroU32,
}

impl InstanceCounts {
    /// As many of `system`, each of which does both: nothing that they do apart beats its bound.
    ///
    /// # Errors
    /// If they are more replicas than a deployment may have.
    pub fn together(self, system: &System) -> Result<System, DeploymentError> {
        let instances = self.prefill.get().saturating_add(self.decode.get());
        let all = system.deployment().replicas().saturating_mul(instances);
        system.spread(system.deployment().with_replicas(all)?)
    }
}

/// The most of both together: beyond this a search for the best split takes long.
const MOST: u64 = 4096;

/// Why a text gives no counts of instances.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InstanceCountsError {
    /// It is not two numbers.
    #[error("{text}: give two numbers of instances, such as 2:1")]
    NotText {
        /// The text.
        text: String,
    },
    /// They are too many.
    #[error("{text}: give at most {MOST} instances, both together")]
    TooMany {
        /// The text.
        text: String,
    },
}

impl FromStr for InstanceCounts {
    type Err = InstanceCountsError;

    fn from_str(text: &str) -> Result<Self, InstanceCountsError> {
        let wrong = || InstanceCountsError::NotText { text: text.to_owned() };
        let (prefill, decode) = text.split_once(':').ok_or_else(wrong)?;
        let count = |text: &str| text.trim().parse::<NonZeroU32>().map_err(|_| wrong());
        let (prefill, decode) = (count(prefill)?, count(decode)?);
        match u64::from(prefill.get()) + u64::from(decode.get()) > MOST {
            true => Err(InstanceCountsError::TooMany { text: text.to_owned() }),
            false => Ok(Self { prefill, decode }),
        }
    }
}
