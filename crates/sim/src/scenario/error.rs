//! What cannot run, and the nearest that can.

use fizeau_core::{Bytes, Tokens};
use fizeau_roofline::{DeploymentError, ModelError, PowerError, UnknownDevice, UnknownModel};

use super::Remedies;
use crate::cluster::ClusterError;
use crate::engine::ConfigError;
use crate::step::StepError;

/// Why a scenario does not stand.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The engine's limits are senseless.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The model cannot be spread so.
    #[error(transparent)]
    Deployment(#[from] DeploymentError),
    /// The device is not in the table.
    #[error(transparent)]
    Device(#[from] UnknownDevice),
    /// The model is not among the built-in ones.
    #[error(transparent)]
    KnownModel(#[from] UnknownModel),
    /// The model's config was not understood.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The limit of power is too low, or nothing is known of the device's power.
    #[error(transparent)]
    Power(#[from] PowerError),
    /// A calibration's constants hold for what was measured.
    #[error("a calibration knows nothing of power: leave out either it or the limit")]
    PowerOfCalibrated,
    /// A drafter takes memory.
    #[error(
        "a drafter drafts nothing where no drafts are asked for: say how long they are, or leave it out"
    )]
    DrafterWithoutDrafts,
    /// The overheads are senseless.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The engines make no cluster.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// Nothing to send caches over.
    #[error("no link is known of {device}, over which caches could go from prefill to decode")]
    NoLink {
        /// The device's name.
        device: String,
    },
    /// The weights leave no memory for requests.
    #[error(
        "{model} leaves no memory for requests on {devices}: its weights take {:.1} GB of the {:.1} GB that an engine may \
         use{}; {remedies}",
        gb(*.weights), gb(*.usable), each(*.many)
    )]
    TooLarge {
        /// The model's name.
        model: String,
        /// The devices.
        devices: String,
        /// How many of them a replica has.
        many: u64,
        /// What the weights take on the fullest, those of a drafter included.
        weights: Bytes,
        /// What the engine may use of it.
        usable: Bytes,
        /// What would run.
        remedies: Box<Remedies>,
    },
    /// What sequences keep whatever their length leaves nothing for their tokens.
    #[error(
        "{sequences} sequences at once keep {:.1} GB of states and windows{}, and {:.1} GB are left beside the weights: at \
         most {most} have room for a request each",
        gb(*.kept) * *.sequences as f64, each(*.many), gb(*.room)
    )]
    TooManySequences {
        /// The sequences that were asked for.
        sequences: u64,
        /// How many devices a replica has.
        many: u64,
        /// What each keeps on the fullest device.
        kept: Bytes,
        /// What is left there beside the weights.
        room: Bytes,
        /// How many have room.
        most: u64,
    },
    /// Not one block fits.
    #[error(
        "one block of {block} tokens does not fit beside the weights: there is room for {most} tokens"
    )]
    BlockTooLarge {
        /// Tokens of a block.
        block: Tokens,
        /// Tokens that have room.
        most: Tokens,
    },
    /// More blocks than memory holds.
    #[error("{asked} blocks of {block} tokens do not fit beside the weights: at most {most} do")]
    TooManyBlocks {
        /// The blocks that were asked for.
        asked: u64,
        /// Tokens of a block.
        block: Tokens,
        /// The most that fit.
        most: u64,
    },
    /// A request longer than the model's config allows.
    #[error("a context of {asked} tokens is more than the {most} that {model} is made for")]
    BeyondModel {
        /// What was asked for.
        asked: Tokens,
        /// What the config says.
        most: Tokens,
        /// The model's name.
        model: String,
    },
    /// A request longer than the cache.
    #[error(
        "a context of {asked} tokens does not fit into the cache of {model} on {devices}: the longest that does is {most}; \
         {remedies}"
    )]
    ContextTooLong {
        /// What was asked for.
        asked: Tokens,
        /// The longest that fits.
        most: Tokens,
        /// The model's name.
        model: String,
        /// The devices.
        devices: String,
        /// What would hold it.
        remedies: Box<Remedies>,
    },
}

fn gb(bytes: Bytes) -> f64 {
    bytes.get() / 1e9
}

fn each(devices: u64) -> String {
    if devices > 1 { format!(" on each of {devices} devices") } else { String::new() }
}
