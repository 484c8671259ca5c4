//! How a model is spread over devices.

use std::fmt;
use std::num::NonZeroU32;

use crate::Model;
use crate::model::{FeedForward, Mixer};

/// How a model is spread over devices: `t` tensor-parallel, `p` pipeline stages, `D` attention groups, `e` expert
/// groups, and whole replicas of all that.
///
/// One replica has `t D p` devices. Within a stage attention is cut `t` ways in each of `D` groups, which share
/// nothing of a sequence; experts are spread over all `t D` devices, whole ones over `e` groups and each cut
/// `t D / e` ways.
///
/// ```
/// use fizeau_roofline::Deployment;
/// let two_nodes = Deployment::SINGLE.with_tensor(8)?.with_pipeline(2)?;
/// assert_eq!(two_nodes.devices(), 16);
/// assert_eq!(two_nodes.to_string(), "TP8 PP2");
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
}

impl Deployment {
    /// One device.
    pub const SINGLE: Self = Self {
        tensor: NonZeroU32::MIN,
        pipeline: NonZeroU32::MIN,
        attention: NonZeroU32::MIN,
        expert: NonZeroU32::MIN,
        replicas: NonZeroU32::MIN,
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

    /// Devices that work on one layer together, `t D`.
    #[must_use]
    pub const fn devices_per_stage(&self) -> u64 {
        self.tensor.get() as u64 * self.attention.get() as u64
    }

    /// Devices of one replica, `t D p`.
    #[must_use]
    pub const fn devices_per_replica(&self) -> u64 {
        self.devices_per_stage() * self.pipeline.get() as u64
    }

    /// All devices.
    #[must_use]
    pub const fn devices(&self) -> u64 {
        self.devices_per_replica() * self.replicas.get() as u64
    }

    /// Whether `model` can be cut so.
    ///
    /// # Errors
    /// If heads, layers or experts do not divide, naming which and what would.
    pub fn check(&self, model: &Model) -> Result<(), DeploymentError> {
        let tensor = u64::from(self.tensor());
        let layers: u64 = model.layers().iter().map(|layers| layers.count).sum();
        if u64::from(self.pipeline()) > layers {
            return Err(DeploymentError::does_not_divide(
                "pipeline parallelism",
                self.pipeline(),
                "layers",
                layers,
            ));
        }
        for layers in model.layers() {
            let heads = match &layers.mixer {
                Mixer::Attention(attention) => attention.heads,
                Mixer::Latent(latent) => latent.heads,
                Mixer::DeltaNet(layer) => layer.value_heads,
                Mixer::Mamba2(layer) => layer.heads,
                Mixer::None => tensor,
            };
            if !heads.is_multiple_of(tensor) {
                return Err(DeploymentError::does_not_divide(
                    "tensor parallelism",
                    self.tensor(),
                    "heads",
                    heads,
                ));
            }
            if let FeedForward::Experts(experts) = &layers.feed_forward
                && !experts.count.is_multiple_of(u64::from(self.expert_groups()))
            {
                return Err(DeploymentError::does_not_divide(
                    "expert parallelism",
                    self.expert_groups(),
                    "experts",
                    experts.count,
                ));
            }
        }
        if !self.devices_per_stage().is_multiple_of(u64::from(self.expert_groups())) {
            return Err(DeploymentError::does_not_divide(
                "expert parallelism",
                self.expert_groups(),
                "devices of a stage",
                self.devices_per_stage(),
            ));
        }
        Ok(())
    }
}

impl Default for Deployment {
    fn default() -> Self {
        Self::SINGLE
    }
}

impl fmt::Display for Deployment {
    /// Only the degrees above 1: `TP8 PP2`; `1 device` where there is none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = [
            ("TP", self.tensor),
            ("PP", self.pipeline),
            ("EP", self.expert),
            ("DP", self.attention),
            ("x", self.replicas),
        ];
        let mut words = each.iter().filter(|(_, degree)| degree.get() > 1).peekable();
        if words.peek().is_none() {
            return f.write_str("1 device");
        }
        let words: Vec<String> = words.map(|(name, degree)| format!("{name}{degree}")).collect();
        f.write_str(&words.join(" "))
    }
}

/// Why a model cannot be spread so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeploymentError {
    /// A degree out of range.
    #[error("{degree} is {value}; it must be a whole number from 1 to 65536")]
    OutOfRange {
        /// Which degree.
        degree: &'static str,
        /// What it was.
        value: u32,
    },
    /// A degree that does not divide what it cuts.
    #[error("{degree} of {value} does not divide the {whole} {what}; {fitting} would")]
    DoesNotDivide {
        /// Which degree.
        degree: &'static str,
        /// What it was.
        value: u32,
        /// What is cut.
        what: &'static str,
        /// How many of them there are.
        whole: u64,
        /// The nearest degree below that divides.
        fitting: u64,
    },
}

impl DeploymentError {
    fn does_not_divide(degree: &'static str, value: u32, what: &'static str, whole: u64) -> Self {
        let fits = |candidate: &u64| whole.is_multiple_of(*candidate);
        let fitting = (1..=u64::from(value)).rev().find(fits).unwrap_or(1);
        Self::DoesNotDivide { degree, value, what, whole, fitting }
    }
}

fn checked(degree: &'static str, value: u32) -> Result<NonZeroU32, DeploymentError> {
    NonZeroU32::new(value)
        .filter(|value| value.get() <= 1 << 16)
        .ok_or(DeploymentError::OutOfRange { degree, value })
}
