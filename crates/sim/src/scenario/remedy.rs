//! The nearest configurations that run.

use std::fmt;

use fizeau_core::Tokens;
use fizeau_roofline::{Device, Drafter, Format, MathType, System, WeightChoice};

use super::layout::spread;
use super::{Asked, memory};
use crate::engine::EngineConfig;

/// What would run instead, one change at a time; each was reckoned, and has the tokens of cache that it would leave.
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
    pub(super) fn of(of: &Asked) -> Self {
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
fn holds(of: &Asked, system: &System) -> Option<Tokens> {
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

fn without_drafter(of: &Asked, system: &System) -> Option<Tokens> {
    matches!(of.drafter, Some(Drafter::Model(_))).then(|| holds_beside(of, system, None))?
}

fn holds_beside(of: &Asked, system: &System, drafter: Option<&Drafter>) -> Option<Tokens> {
    let asked = &of.config;
    let blocks = memory::blocks(system, asked, drafter);
    let config = EngineConfig { blocks, ..asked.clone() };
    let needed = asked.max_context.unwrap_or_else(|| asked.block.max(Tokens::new(2)));
    let holds = config.kv_capacity();
    (blocks >= asked.blocks.max(1) && holds >= needed).then_some(holds)
}

fn more_ranks(of: &Asked, system: &System) -> Option<(u32, Tokens)> {
    let before = system.deployment();
    (before.tensor() + 1..=MOST_RANKS).find_map(|ranks| {
        let other = spread(system, before.with_tensor(ranks).ok()?).ok()?;
        Some((ranks, holds(of, &other)?))
    })
}

fn narrower_weights(of: &Asked, system: &System) -> Option<(Format, Tokens)> {
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

fn narrower_cache(of: &Asked, system: &System) -> Option<(Format, Tokens)> {
    let format: Format = "fp8".parse().ok()?;
    let model = system.model().clone().with_kv_cache(format);
    let other = System::new(model, system.device().clone(), *system.deployment()).ok()?;
    let tokens = holds(of, &other.with_serving(*system.serving()))?;
    Some((format, tokens))
}

fn larger_device(of: &Asked, system: &System) -> Option<(String, Tokens)> {
    let vendor = system.device().vendor();
    let mut devices: Vec<&Device> = Device::all().iter().collect();
    devices.sort_by(|a, b| {
        let key = |device: &Device| (device.vendor() != vendor, device.usable_memory().get());
        let ((other_a, memory_a), (other_b, memory_b)) = (key(a), key(b));
        other_a.cmp(&other_b).then(memory_a.total_cmp(&memory_b))
    });
    devices.into_iter().find_map(|device| {
        let tokens = holds(of, &system.with_device(device.clone()))?;
        Some((device.name().to_owned(), tokens))
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
