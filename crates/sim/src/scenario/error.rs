//! What cannot run, and the nearest that can.

use std::fmt;

use fizeau_core::{Bytes, Tokens};
use fizeau_roofline::{
    DeploymentError, Device, Drafter, Format, MathType, ModelConfigError, PowerError, System,
    UnknownDevice, UnknownModel, WeightChoice,
};

use super::layout::spread;
use super::{ScenarioSettings, memory};
use crate::cluster::ClusterError;
use crate::engine::{ConfigError, EngineConfig};
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
    Model(#[from] ModelConfigError),
    /// The limit of power is too low, or nothing is known of the device's power.
    #[error(transparent)]
    Power(#[from] PowerError),
    /// A calibration's constants hold for what was measured.
    #[error(
        "a calibration has no constants for a limit of power: leave out the calibration or the limit"
    )]
    PowerOfCalibrated,
    /// A drafter takes memory.
    #[error(
        "a drafter needs a length of drafts, and none is given: give one, or leave the drafter out"
    )]
    DrafterWithoutDrafts,
    /// The overheads are senseless.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The engines make no cluster.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// Nothing to send caches over.
    #[error(
        "no link of {device} is known that could carry KV caches from prefill to decode: give a device that has one"
    )]
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
    #[error(
        "{requested} blocks of {block} tokens do not fit beside the weights: at most {most} do"
    )]
    TooManyBlocks {
        /// The blocks that were asked for.
        requested: u64,
        /// Tokens of a block.
        block: Tokens,
        /// The most that fit.
        most: u64,
    },
    /// A request longer than the model's config allows.
    #[error("a context of {requested} tokens is more than the {most} that {model} is made for")]
    BeyondModel {
        /// What was asked for.
        requested: Tokens,
        /// What the config says.
        most: Tokens,
        /// The model's name.
        model: String,
    },
    /// A request longer than the cache.
    #[error(
        "a context of {requested} tokens does not fit into the cache of {model} on {devices}: the longest that does is {most}; \
         {remedies}"
    )]
    ContextTooLong {
        /// What was asked for.
        requested: Tokens,
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

// The nearest configurations that run.

/// The settings that would run instead, one change at a time. Each was computed, and has the tokens of cache that it would leave.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Remedies {
    /// The least tensor parallelism, at most 64.
    pub tensor: Option<(u32, Tokens)>,
    /// The widest format of weights.
    pub weights: Option<(Format, Tokens)>,
    /// Without the model that drafts: drafts of a search in the text.
    pub look_up: Option<Tokens>,
    /// The key-value cache in eight bits.
    pub cache: Option<(Format, Tokens)>,
    /// The device with the least memory, of the same vendor where one of its devices does.
    pub device: Option<(String, Tokens)>,
}

/// The most ranks that are tried.
const MOST_RANKS: u32 = 64;

impl Remedies {
    pub(super) fn of(of: &ScenarioSettings) -> Self {
        let system = &of.system;
        Self {
            tensor: more_ranks(of, system),
            weights: narrower_weights(of, system),
            look_up: without_drafter(of, system),
            cache: narrower_cache(of, system),
            device: larger_device(of, system),
        }
    }
}

/// The tokens of cache that `system` would leave beside a drafting model that is spread as it is, if what was asked for runs there.
fn holds(of: &ScenarioSettings, system: &System) -> Option<Tokens> {
    let drafter = match &of.drafter {
        Some(Drafter::Model(drafting))
            if of.system.model().draft_model().as_ref() == Some(drafting.model()) =>
        {
            Drafter::own_module(system).ok()?
        }
        Some(Drafter::Model(drafting)) => {
            let there = drafting.with_device(system.device().clone());
            Some(Drafter::Model(Box::new(spread(&there, *system.deployment()).ok()?)))
        }
        other => other.clone(),
    };
    holds_beside(of, system, drafter.as_ref())
}

fn without_drafter(of: &ScenarioSettings, system: &System) -> Option<Tokens> {
    matches!(of.drafter, Some(Drafter::Model(_))).then(|| holds_beside(of, system, None))?
}

fn holds_beside(
    of: &ScenarioSettings,
    system: &System,
    drafter: Option<&Drafter>,
) -> Option<Tokens> {
    let asked = &of.config;
    let blocks = memory::blocks(system, asked, drafter);
    let config = EngineConfig { blocks, ..asked.clone() };
    let needed = asked.max_context.unwrap_or_else(|| asked.block.max(Tokens::new(2)));
    let holds = config.kv_capacity();
    (blocks >= asked.blocks.max(1) && holds >= needed).then_some(holds)
}

fn more_ranks(of: &ScenarioSettings, system: &System) -> Option<(u32, Tokens)> {
    let before = system.deployment();
    (before.tensor() + 1..=MOST_RANKS).find_map(|ranks| {
        let other = spread(system, before.with_tensor(ranks).ok()?).ok()?;
        Some((ranks, holds(of, &other)?))
    })
}

fn narrower_weights(of: &ScenarioSettings, system: &System) -> Option<(Format, Tokens)> {
    let has_fp4 = system.device().dense_rate(MathType::Fp4).is_some();
    // Four bits that the device multiplies, or else those that are widened as they are read.
    let four = if has_fp4 { "nvfp4" } else { "int4-g128" };
    ["fp8", four].into_iter().find_map(|name| {
        let format: Format = name.parse().ok()?;
        let model = system.model().clone().with_weights(&WeightChoice::all(format));
        let other = System::new(model, system.device().clone(), *system.deployment()).ok()?;
        let other = other.with_serving(*system.serving());
        let is_smaller = other.weight_bytes_per_device() < system.weight_bytes_per_device();
        holds(of, &other).filter(|_| is_smaller).map(|tokens| (format, tokens))
    })
}

fn narrower_cache(of: &ScenarioSettings, system: &System) -> Option<(Format, Tokens)> {
    let format: Format = "fp8".parse().ok()?;
    let model = system.model().clone().with_kv_cache(format);
    let other = System::new(model, system.device().clone(), *system.deployment()).ok()?;
    let tokens = holds(of, &other.with_serving(*system.serving()))?;
    Some((format, tokens))
}

fn larger_device(of: &ScenarioSettings, system: &System) -> Option<(String, Tokens)> {
    let vendor = system.device().vendor.as_deref();
    let mut devices: Vec<&Device> = Device::all().iter().collect();
    devices.sort_by(|a, b| {
        let key =
            |device: &Device| (device.vendor.as_deref() != vendor, device.usable_memory().get());
        let ((other_a, memory_a), (other_b, memory_b)) = (key(a), key(b));
        other_a.cmp(&other_b).then(memory_a.total_cmp(&memory_b))
    });
    devices.into_iter().find_map(|device| {
        let tokens = holds(of, &system.with_device(device.clone()))?;
        Some((device.name.to_owned(), tokens))
    })
}

impl fmt::Display for Remedies {
    /// `it runs with TP2 (9408 tokens of cache), weights in fp8 (16000) or on h200-sxm (352000)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ways = [
            self.tensor.as_ref().map(|(ranks, holds)| (format!("with TP{ranks}"), holds)),
            self.weights
                .as_ref()
                .map(|(format, holds)| (format!("with weights in {format}"), holds)),
            self.cache
                .as_ref()
                .map(|(format, holds)| (format!("with its cache in {format}"), holds)),
            self.look_up.as_ref().map(|holds| ("without its drafter".to_owned(), holds)),
            self.device.as_ref().map(|(name, holds)| (format!("on {name}"), holds)),
        ];
        let ways: Vec<String> = ways
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(place, (way, holds))| match place {
                0 => format!("{way} ({holds} tokens of cache)"),
                _ => format!("{way} ({holds})"),
            })
            .collect();
        match ways.as_slice() {
            [] => f.write_str(
                "no larger tensor parallelism, narrower format or device of the table is enough",
            ),
            [one] => write!(f, "it runs {one}"),
            [first @ .., last] => write!(f, "it runs {} or {last}", first.join(", ")),
        }
    }
}
