//! Whether a model can be cut so.

use super::Deployment;
use crate::Model;
use crate::model::{FeedForward, Layers, Mixer};

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
    #[error("{degree} of {value} does not divide the {whole} {what}; {} would", either(.fitting))]
    DoesNotDivide {
        /// Which degree.
        degree: &'static str,
        /// What it was.
        value: u32,
        /// What is cut.
        what: &'static str,
        /// How many of them there are.
        whole: u64,
        /// The nearest degrees below and above with which all would divide.
        fitting: Vec<u32>,
    },
    /// Key-value heads that can be neither cut evenly nor repeated evenly.
    #[error(
        "tensor parallelism of {value} neither divides the {heads} key-value heads nor is a multiple of \
         them; {} would be",
        either(.fitting)
    )]
    KeyValueHeads {
        /// The degree.
        value: u32,
        /// The heads.
        heads: u64,
        /// The nearest degrees below and above with which all would divide.
        fitting: Vec<u32>,
    },
    /// More stages than layers.
    #[error(
        "{stages} pipeline stages for {layers} layers leave stages without a layer; use at most {layers}"
    )]
    MoreStagesThanLayers {
        /// The stages.
        stages: u32,
        /// The layers.
        layers: u64,
    },
    /// A word that names no degree and no option.
    #[error("\"{word}\" is not a part of a deployment; write one like \"TP8 PP2 EP8 DP8 x2\"")]
    Unreadable {
        /// The word.
        word: String,
    },
}

fn either(fitting: &[u32]) -> String {
    let words: Vec<String> = fitting.iter().map(u32::to_string).collect();
    words.join(" or ")
}

impl Deployment {
    /// Whether `model` can be cut so.
    ///
    /// # Errors
    /// If there are more stages than layers, or heads, widths or experts do not divide, naming which and what would.
    pub fn check(&self, model: &Model) -> Result<(), DeploymentError> {
        let layers: u64 = model.layers.iter().map(|layers| layers.count).sum();
        if u64::from(self.pipeline()) > layers {
            return Err(DeploymentError::MoreStagesThanLayers { stages: self.pipeline(), layers });
        }
        let value = self.tensor();
        let obstacle_to = |degree| model.layers.iter().find_map(|of| tensor_obstacle(of, degree));
        match obstacle_to(value) {
            None => {}
            Some(Obstacle::Divides { what, whole }) => {
                let fitting = nearest(value, |degree| obstacle_to(degree).is_none());
                let degree = "tensor parallelism";
                return Err(DeploymentError::DoesNotDivide { degree, value, what, whole, fitting });
            }
            Some(Obstacle::KeyValueHeads { heads }) => {
                let fitting = nearest(value, |degree| obstacle_to(degree).is_none());
                return Err(DeploymentError::KeyValueHeads { value, heads, fitting });
            }
        }
        self.check_experts(model)
    }

    fn check_experts(&self, model: &Model) -> Result<(), DeploymentError> {
        let stage = self.devices_per_stage();
        let obstacle_to = |groups: u32| {
            let each = model.layers.iter().filter_map(|of| match &of.feed_forward {
                FeedForward::Experts(experts) => Some(("experts", experts.count)),
                _ => None,
            });
            let mut parts = std::iter::once(("devices of a stage", stage)).chain(each);
            parts.find(|(_, whole)| !whole.is_multiple_of(u64::from(groups)))
        };
        let value = self.expert_groups();
        let Some((what, whole)) = obstacle_to(value) else { return Ok(()) };
        let fitting = nearest(value, |groups| obstacle_to(groups).is_none());
        let degree = "expert parallelism";
        Err(DeploymentError::DoesNotDivide { degree, value, what, whole, fitting })
    }
}

/// Why layers cannot be cut a number of ways.
enum Obstacle {
    /// Something has to be cut into whole parts.
    Divides { what: &'static str, whole: u64 },
    /// Key-value heads may be repeated as well.
    KeyValueHeads { heads: u64 },
}

/// What keeps `layers` from being cut `degree` ways. Widths are not looked at: engines pad them.
fn tensor_obstacle(layers: &Layers, degree: u32) -> Option<Obstacle> {
    let degree = u64::from(degree);
    let whole = |what, whole: u64| {
        (!whole.is_multiple_of(degree)).then_some(Obstacle::Divides { what, whole })
    };
    match &layers.mixer {
        Mixer::Attention(attention) => whole("attention heads", attention.heads).or_else(|| {
            let heads = attention.kv_heads;
            let fits = heads.is_multiple_of(degree) || degree.is_multiple_of(heads);
            (!fits).then_some(Obstacle::KeyValueHeads { heads })
        }),
        Mixer::Latent(latent) => whole("attention heads", latent.heads),
        Mixer::DeltaNet(layer) => whole("key heads of linear attention", layer.key_heads)
            .or_else(|| whole("value heads of linear attention", layer.value_heads)),
        Mixer::Mamba2(layer) => whole("Mamba heads", layer.heads),
        Mixer::None => None,
    }
}

/// The nearest degrees below and above `value` that fit.
fn nearest(value: u32, fits: impl Fn(u32) -> bool) -> Vec<u32> {
    let below = (1..value).rev().find(|degree| fits(*degree));
    let above = (value + 1..=value.saturating_mul(4)).find(|degree| fits(*degree));
    below.into_iter().chain(above).collect()
}
