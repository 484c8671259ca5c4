//! How a model is spread over devices.

mod candidates;
mod check;
mod notes;
mod text;

use fizeau_core::{Choice, NamedChoice};
use std::num::NonZeroU32;

pub use check::DeploymentError;

/// How a model is spread over devices: `t` tensor-parallel, `p` pipeline stages, `D` attention groups, `e` expert
/// groups, and whole replicas of all that.
///
/// One replica has `t D p` devices. Within a stage attention is cut `t` ways in each of `D` groups, which share
/// nothing of a sequence; experts are spread over all `t D` devices, whole ones over `e` groups and each cut
/// `t D / e` ways. Devices of a tensor-parallel group are the nearest to each other, then groups of a stage, then stages.
///
/// ```
/// use fizeau_roofline::Deployment;
/// let two_nodes = Deployment::SINGLE.with_tensor(8)?.with_pipeline(2)?;
/// assert_eq!(two_nodes.devices(), 16);
/// assert_eq!(two_nodes.to_string(), "TP8 PP2");
/// assert_eq!("tp8 pp2".parse(), Ok(two_nodes));
/// assert!(Deployment::SINGLE.with_tensor(0).is_err());
/// # Ok::<(), fizeau_roofline::DeploymentError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Deployment {
    tensor: NonZeroU32,
    pipeline: NonZeroU32,
    attention: NonZeroU32,
    expert: NonZeroU32,
    replicas: NonZeroU32,
    exchange: ExpertExchange,
    overlap: Overlap,
}

/// How tokens reach their experts where attention groups keep them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ExpertExchange {
    /// Whichever is faster for the pass.
    #[default]
    Fastest,
    /// Each token goes to the ranks that have its experts, and comes back from them (DeepEP, pplx-kernels).
    AllToAll,
    /// All tokens go to all ranks; what comes back is summed on the way.
    AllGather,
}

impl Choice for ExpertExchange {
    const CHOICES: &'static [NamedChoice<Self>] = &[
        NamedChoice::new("fastest", Self::Fastest, "Whichever is faster"),
        NamedChoice::new(
            "all-to-all",
            Self::AllToAll,
            "Each token goes to its experts' devices and back",
        ),
        NamedChoice::new("all-gather", Self::AllGather, "All tokens go to all devices"),
    ];
}

/// Whether communication and arithmetic go on at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Overlap {
    /// One after the other.
    #[default]
    None,
    /// Half of the batch talks while the other half computes, where that is faster. Each half reads the weights.
    TwoBatches,
}

impl Choice for Overlap {
    const CHOICES: &'static [NamedChoice<Self>] = &[
        NamedChoice::new("none", Self::None, "One after the other"),
        NamedChoice::new(
            "two-batches",
            Self::TwoBatches,
            "Half of a batch communicates while the other half computes",
        ),
    ];
}

impl Deployment {
    /// One device.
    pub const SINGLE: Self = Self {
        tensor: NonZeroU32::MIN,
        pipeline: NonZeroU32::MIN,
        attention: NonZeroU32::MIN,
        expert: NonZeroU32::MIN,
        replicas: NonZeroU32::MIN,
        exchange: ExpertExchange::Fastest,
        overlap: Overlap::None,
    };

    /// Matrices and heads cut `degree` ways (TP).
    ///
    /// # Errors
    /// If the degree is 0 or above 65,536.
    pub fn with_tensor(self, degree: u32) -> Result<Self, DeploymentError> {
        Ok(Self { tensor: checked("tensor parallelism", degree)?, ..self })
    }

    /// Layers cut into `stages` (PP).
    ///
    /// # Errors
    /// If the degree is 0 or above 65,536.
    pub fn with_pipeline(self, stages: u32) -> Result<Self, DeploymentError> {
        Ok(Self { pipeline: checked("pipeline parallelism", stages)?, ..self })
    }

    /// Attention in `groups` that each serve sequences of their own (attention-DP).
    ///
    /// # Errors
    /// If the degree is 0 or above 65,536.
    pub fn with_attention_groups(self, groups: u32) -> Result<Self, DeploymentError> {
        Ok(Self { attention: checked("attention data parallelism", groups)?, ..self })
    }

    /// Whole experts over `groups` of devices (EP).
    ///
    /// # Errors
    /// If the degree is 0 or above 65,536.
    pub fn with_expert_groups(self, groups: u32) -> Result<Self, DeploymentError> {
        Ok(Self { expert: checked("expert parallelism", groups)?, ..self })
    }

    /// All of it `count` times, requests shared among them.
    ///
    /// # Errors
    /// If the count is 0 or above 65,536.
    pub fn with_replicas(self, count: u32) -> Result<Self, DeploymentError> {
        Ok(Self { replicas: checked("replicas", count)?, ..self })
    }

    /// Tokens reach their experts by `exchange`. It matters with more than one attention group.
    #[must_use]
    pub const fn with_expert_exchange(self, exchange: ExpertExchange) -> Self {
        Self { exchange, ..self }
    }

    /// Communication overlapped as `overlap` says.
    #[must_use]
    pub const fn with_overlap(self, overlap: Overlap) -> Self {
        Self { overlap, ..self }
    }

    /// Tokens reach their experts, and communication overlaps, as in `other`.
    pub(crate) const fn with_ways_of(self, other: &Self) -> Self {
        Self { exchange: other.exchange, overlap: other.overlap, ..self }
    }

    /// The tensor-parallel degree, `t`.
    #[must_use]
    pub const fn tensor(&self) -> u32 {
        self.tensor.get()
    }

    /// The pipeline's stages, `p`.
    #[must_use]
    pub const fn pipeline(&self) -> u32 {
        self.pipeline.get()
    }

    /// The attention groups, `D`.
    #[must_use]
    pub const fn attention_groups(&self) -> u32 {
        self.attention.get()
    }

    /// The expert groups, `e`.
    #[must_use]
    pub const fn expert_groups(&self) -> u32 {
        self.expert.get()
    }

    /// The replicas.
    #[must_use]
    pub const fn replicas(&self) -> u32 {
        self.replicas.get()
    }

    /// How tokens reach their experts.
    pub(crate) const fn expert_exchange(&self) -> ExpertExchange {
        self.exchange
    }

    /// How communication is overlapped.
    pub(crate) const fn overlap(&self) -> Overlap {
        self.overlap
    }

    /// Devices that work on one layer together, `t D`.
    #[must_use]
    pub const fn devices_per_stage(&self) -> u64 {
        self.tensor.get() as u64 * self.attention.get() as u64
    }

    /// Devices of one replica, `t D p`.
    #[must_use]
    pub const fn devices_per_replica(&self) -> u64 {
        self.devices_per_stage().saturating_mul(self.pipeline.get() as u64)
    }

    /// All devices.
    #[must_use]
    pub const fn devices(&self) -> u64 {
        self.devices_per_replica().saturating_mul(self.replicas.get() as u64)
    }
}

/// How much more than the mean the fullest of `groups` has of `picks`.
pub(crate) fn imbalance(groups: f64, picks: f64) -> f64 {
    let mean = picks / groups;
    if groups > 1.0 && mean > 0.0 {
        (1.0 + (2.0 * groups.ln() / mean).sqrt()).min(groups)
    } else {
        1.0
    }
}

impl Default for Deployment {
    fn default() -> Self {
        Self::SINGLE
    }
}

fn checked(degree: &'static str, value: u32) -> Result<NonZeroU32, DeploymentError> {
    NonZeroU32::new(value)
        .filter(|value| value.get() <= 1 << 16)
        .ok_or(DeploymentError::OutOfRange { degree, value })
}

#[cfg(test)]
mod tests {
    use super::imbalance;

    #[test]
    fn few_tokens_among_many_groups_are_uneven() {
        let of = |tokens: f64| format!("{:.2}", imbalance(32.0, tokens * 8.0));
        assert_eq!((of(128.0), of(128e3)), ("1.47".to_owned(), "1.01".to_owned()));
        assert_eq!(imbalance(1.0, 1024.0), 1.0);
    }
}
