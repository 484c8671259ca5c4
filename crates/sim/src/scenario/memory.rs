//! What of a device's memory is left for caches, and how many blocks that makes.

use std::num::NonZeroU64;

use fizeau_core::{Bytes, Tokens};
use fizeau_roofline::{Drafter, System};

use super::{Remedies, ScenarioError, ScenarioSettings, text};
use crate::engine::EngineConfig;

/// The most sequences at once where nobody says how many: vLLM's default on devices of 70 GiB and more but the A100; on others it
/// has 256 (`vllm/engine/arg_utils.py` at commit 99d7eb5d).
const USUAL_SEQUENCES: u64 = 1_024;

/// The configuration that `of` asks for with all that follows.
pub(super) fn settle(of: &ScenarioSettings) -> Result<EngineConfig, ScenarioError> {
    let system = &of.system;
    let requested = with_groups(&of.config, system);
    if of.drafter.is_some() && requested.drafts.is_none() {
        return Err(ScenarioError::DrafterWithoutDrafts);
    }
    // First what is senseless whatever the memory.
    EngineConfig { blocks: u64::MAX, ..requested.clone() }.check()?;
    let footprint = Footprint::of(system, of.drafter.as_ref());
    let most = footprint.blocks(&requested);
    if most == 0 {
        return Err(no_room(of, &requested, &footprint));
    }
    if requested.blocks > most {
        let (block, requested) = (requested.block, requested.blocks);
        return Err(ScenarioError::TooManyBlocks { requested, block, most });
    }
    let blocks = if requested.blocks == 0 { most } else { requested.blocks };
    let config = EngineConfig { blocks, ..requested };
    let made_for = system.model().max_context;
    let max_context = match (config.max_context, made_for) {
        (Some(requested), Some(most)) if requested > most => {
            let model = of.model_name.clone();
            return Err(ScenarioError::BeyondModel { requested, most, model });
        }
        // Where blocks were counted, their number is at fault, of which the check below tells.
        (Some(requested), _) if requested > config.kv_capacity() && of.config.blocks == 0 => {
            return Err(ScenarioError::ContextTooLong {
                requested,
                most: config.kv_capacity(),
                model: named(of),
                devices: text::devices(system),
                remedies: Box::new(Remedies::of(of)),
            });
        }
        (Some(requested), _) => Some(requested),
        (None, most) => most.map(|most| most.min(config.kv_capacity())),
    };
    let config = EngineConfig { max_context, ..config };
    config.check()?;
    Ok(config)
}

/// `config` with the attention groups that the deployment has.
fn with_groups(config: &EngineConfig, system: &System) -> EngineConfig {
    EngineConfig { groups: system.deployment().attention_groups().into(), ..config.clone() }
}

/// What takes memory: the model, and a model that drafts for it.
fn named(of: &ScenarioSettings) -> String {
    match of.drafter {
        Some(Drafter::Model(_)) => format!("{} with its drafter", of.model_name),
        _ => of.model_name.clone(),
    }
}

/// Why there is not one block.
fn no_room(of: &ScenarioSettings, config: &EngineConfig, footprint: &Footprint) -> ScenarioError {
    let system = &of.system;
    let many = system.deployment().devices_per_replica();
    let most = footprint.most_sequences(config.block);
    if most > 0 {
        return ScenarioError::TooManySequences {
            sequences: config.max_num_seqs,
            many,
            kept: Bytes::new(footprint.constant),
            room: Bytes::new(footprint.room()),
            most,
        };
    }
    let tokens = footprint.most_tokens();
    if tokens >= 1.0 {
        let (block, most) = (config.block, Tokens::new(tokens as u64));
        return ScenarioError::BlockTooLarge { block, most };
    }
    ScenarioError::TooLarge {
        model: named(of),
        devices: text::devices(system),
        many,
        weights: Bytes::new(footprint.weights),
        usable: Bytes::new(footprint.usable),
        remedies: Box::new(Remedies::of(of)),
    }
}

/// Blocks of `config` on `system` beside `drafter`; 0 where it does not run.
pub(super) fn blocks(system: &System, config: &EngineConfig, drafter: Option<&Drafter>) -> u64 {
    Footprint::of(system, drafter).blocks(config)
}

pub(super) fn usual_sequences(system: &System, config: &EngineConfig) -> u64 {
    let each = config.drafts.as_ref().map_or(1, |drafts| 1 + u64::from(drafts.length));
    let budget = config.max_batched_tokens.get() / each;
    let footprint = Footprint::of(system, None);
    let beside = match footprint.constant > 0.0 {
        true => (footprint.room() / 2.0 / footprint.constant) as u64,
        false => u64::MAX,
    };
    USUAL_SEQUENCES.min(budget).min(beside).max(1)
}

/// `system` with the settings that decide how many sequences run as the engine has them, for what is expected of it: of memory
/// for blocks that it does not have nothing is expected.
pub(super) fn with_limits(
    system: System,
    config: &EngineConfig,
    drafter: Option<&Drafter>,
) -> System {
    let footprint = Footprint::of(&system, drafter);
    let unused = footprint.blocks(config).saturating_sub(config.blocks) as f64;
    let mut serving = *system.serving();
    // Whole bytes, for files.
    let bytes = (unused * config.block.get() as f64 * footprint.per_token).floor();
    serving.reserve = serving.reserve + Bytes::new(bytes);
    serving.max_sequences = NonZeroU64::new(config.max_num_seqs);
    serving.max_batched_tokens = config.max_batched_tokens;
    serving.block = config.block;
    serving.admission = config.admission;
    let drafted = config.drafts.as_ref().map_or(0, |drafts| drafts.length);
    serving.tokens_per_step = NonZeroU64::MIN.saturating_add(drafted.into());
    system.with_serving(serving)
}

/// What takes memory on the fullest device of a group, in bytes.
struct Footprint {
    usable: f64,
    /// The weights, those of a drafter included.
    weights: f64,
    /// What a sequence keeps whatever its length: states, and windows once they are full.
    constant: f64,
    /// What one more token takes once a sequence is longer than all windows.
    per_token: f64,
}

/// A context beyond all windows.
const FAR: f64 = 16_777_216.0;

impl Footprint {
    fn of(system: &System, drafter: Option<&Drafter>) -> Self {
        let serving = system.serving();
        let usable = system.device().usable_memory() * serving.memory_share;
        let (constant, per_token) = kept_with(system, drafter);
        let mut footprint = Self {
            usable: usable.get() - serving.reserve.get(),
            weights: system.weight_bytes_per_device().get(),
            constant,
            per_token,
        };
        let beside = drafter.map(|drafter| drafter.weight_bytes_beside(system).get());
        footprint.weights += beside.unwrap_or_default();
        footprint
    }

    fn room(&self) -> f64 {
        self.usable - self.weights
    }

    /// Whole blocks beside what `config`'s sequences keep whatever their length.
    fn blocks(&self, config: &EngineConfig) -> u64 {
        let left = self.room() - self.constant * config.max_num_seqs as f64;
        let block = config.block.get() as f64;
        match self.per_token {
            _ if left <= 0.0 => 0,
            // Nothing grows with the context.
            0.0 => (FAR / block) as u64 * config.max_num_seqs,
            each => (left / (each * block)) as u64,
        }
    }

    /// The longest sequence that has room.
    fn most_tokens(&self) -> f64 {
        (self.room() - self.constant) / self.per_token
    }

    /// How many sequences leave room for a block each.
    fn most_sequences(&self, block: Tokens) -> u64 {
        (self.room() / (self.constant + self.per_token * block.get() as f64)) as u64
    }
}

/// What a sequence keeps whatever its length, and with each token, for a drafting model too.
pub(super) fn kept_with(system: &System, drafter: Option<&Drafter>) -> (f64, f64) {
    let (constant, per_token) = kept(system);
    let Some(Drafter::Model(drafting)) = drafter else { return (constant, per_token) };
    let more = kept(drafting);
    (constant + more.0, per_token + more.1)
}

fn kept(system: &System) -> (f64, f64) {
    let at = |context| system.cache_bytes_per_device(context).get();
    let per_token = at(FAR) - at(FAR - 1.0);
    ((at(FAR) - per_token * FAR).max(0.0), per_token)
}
