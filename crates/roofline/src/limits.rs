//! What limits a phase.

use std::fmt;

use crate::UniformLoad;
use crate::pass::Binding;
use crate::system::System;

/// The resource that limits a phase: more of it, or less use of it, would help most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitingResource {
    /// Reading weights.
    Weights,
    /// Reading and writing caches and states.
    Kv,
    /// Arithmetic.
    Compute,
    /// Moving data between devices.
    Link,
    /// Room for more sequences, which would share the reading of weights.
    Capacity,
    /// Electrical power. A matter of [`crate::System`] with a power limit only.
    Power,
}

fizeau_core::words! {
    /// The name used in files: `weights`, `kv`, `compute`, `link`, `capacity`, `power`.
    pub LimitingResource::as_str {
        Weights = "weights", Kv = "kv", Compute = "compute", Link = "link", Capacity = "capacity",
        Power = "power",
    }
}

impl fmt::Display for LimitingResource {
    /// For a reader: `weights`, `KV`, `compute`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kv => "KV",
            _ => self.as_str(),
        })
    }
}

/// What limits each phase of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LimitingResources {
    /// The pass over a prompt.
    pub prefill: LimitingResource,
    /// A decode step.
    pub decode: LimitingResource,
}

impl LimitingResources {
    /// The same, but for phases that a limit of power is what holds back in `capped`.
    #[must_use]
    pub fn or_power_of(self, capped: Self) -> Self {
        let of = |own, capped| match capped {
            LimitingResource::Power => capped,
            _ => own,
        };
        Self { prefill: of(self.prefill, capped.prefill), decode: of(self.decode, capped.decode) }
    }
}

impl Binding {
    /// The largest part. Activations count as arithmetic's: both grow with the tokens alone.
    #[must_use]
    pub fn limit(&self) -> LimitingResource {
        let mut largest = (LimitingResource::Weights, self.weights);
        for part in [
            (LimitingResource::Kv, self.cache),
            (LimitingResource::Compute, self.compute + self.activations),
            (LimitingResource::Link, self.link + self.hops),
        ] {
            if part.1 > largest.1 {
                largest = part;
            }
        }
        largest.0
    }
}

impl System {
    /// What limits each phase of `load`, by the parts of the expected passes.
    ///
    /// Decode is limited by capacity where reading the weights takes longest and memory holds fewer sequences than are
    /// offered, which would share it.
    #[must_use]
    pub fn limits(&self, load: &UniformLoad) -> LimitingResources {
        let prefill = self.expected_pass(&self.prefill_pass(load)).binding.limit();
        let decode = self.expected_decode(load, self.running_batch(load)).binding.limit();
        let decode = match decode {
            LimitingResource::Weights if self.fills_memory(load) => LimitingResource::Capacity,
            other => other,
        };
        LimitingResources { prefill, decode }
    }

    /// Whether memory, and no setting, keeps requests of `load` waiting.
    pub(crate) fn fills_memory(&self, load: &UniformLoad) -> bool {
        let most = self.max_batch(load);
        most < load.concurrency.get() as f64 && most < self.most_at_once()
    }

    /// How many sequences the engine's settings let run at once, whatever memory holds.
    pub(crate) fn most_at_once(&self) -> f64 {
        let set = self.serving().max_sequences.map_or(f64::INFINITY, |most| most.get() as f64);
        let groups = f64::from(self.deployment().attention_groups())
            * f64::from(self.deployment().replicas());
        set * groups
    }
}
