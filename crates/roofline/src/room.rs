//! What fits: how many sequences a system can run at once, and what its memory is used for.

use std::num::NonZeroU64;

use fizeau_core::{Bytes, Tokens};

use crate::memory::{Memory, OtherMemory, usable};
use crate::serving::Prefix;
use crate::system::System;
use crate::{Admission, UniformLoad};

/// What a device's memory is used for under a load, on the fullest device.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MemoryUse {
    /// What the device has.
    pub total: Bytes,
    /// What the engine leaves alone: all beyond its share, and its reserve.
    pub reserve: Bytes,
    /// The weights.
    pub weights: Bytes,
    /// One sequence's cache on average.
    pub sequence: Bytes,
    /// The caches of all sequences that run.
    pub cache: Bytes,
    /// What is left for more of them; 0 where the weights do not fit.
    pub free: Bytes,
}

impl System {
    /// What the weights take on the fullest device: what engines repeat on each rank counts, and a stage with a layer
    /// more than others.
    #[must_use]
    pub const fn weight_bytes_per_device(&self) -> Bytes {
        Bytes::new(self.memory_account().weights())
    }

    /// What a sequence of `context` tokens takes on each device that keeps a part of it. Latents, and heads fewer than
    /// ranks, are repeated.
    #[must_use]
    pub fn cache_bytes_per_device(&self, context: f64) -> Bytes {
        Bytes::new(self.memory_account().sequence(context, 0.0))
    }

    /// How many sequences of `load` all replicas together can run at once by their memory and
    /// [`crate::Serving::max_sequences`]: whole ones in each attention group, since none is split between two.
    ///
    /// `(usable - weights) / (cache of a sequence)` on the fullest device, rounded down, times attention groups and
    /// replicas.
    #[must_use]
    pub fn max_batch(&self, load: &UniformLoad) -> f64 {
        self.max_batch_beside(load, OtherMemory::default())
    }

    /// How many sequences that see `context` tokens each fit at once, as [`System::max_batch`] counts them.
    #[must_use]
    pub fn max_batch_at(&self, context: Tokens) -> f64 {
        self.max_batch(&UniformLoad::new(context, Tokens::ZERO, NonZeroU64::MIN))
    }

    /// [`System::max_batch`] with something beside it on each device.
    pub(crate) fn max_batch_beside(&self, load: &UniformLoad, beside: OtherMemory) -> f64 {
        let serving = self.serving();
        let groups = f64::from(self.deployment().attention_groups())
            * f64::from(self.deployment().replicas());
        let (own, once) = self.resident(load);
        let room = self.memory_account().room(self.device(), serving) - once - beside.once;
        let fitting = if room > 0.0 { room / (own + beside.own) } else { 0.0 };
        let most = serving.max_sequences.map_or(f64::INFINITY, |most| most.get() as f64);
        (fitting.min(most).max(0.0) + 1e-9).floor() * groups
    }

    /// What this system keeps where it drafts for `other`. A module of the other model's own uses its tables.
    pub(crate) fn kept_beside(&self, other: &Self, load: &UniformLoad) -> OtherMemory {
        let (own, once) = self.resident(load);
        OtherMemory { own, once: once + self.weights_beside(other) }
    }

    /// What its weights take on each device beside those of `other`, for which it drafts, in bytes.
    pub(crate) fn weights_beside(&self, other: &Self) -> f64 {
        let memory = self.memory_account();
        let is_own_module = other.model().draft_model().as_ref() == Some(self.model());
        memory.weights() - if is_own_module { memory.tables() } else { 0.0 }
    }

    /// The sequences of `load` that run at once: its concurrency, or as many whole ones as fit. Where not even one
    /// fits, of which [`System::answer`] tells, figures are those of one.
    #[must_use]
    pub fn running_batch(&self, load: &UniformLoad) -> f64 {
        (load.concurrency.get() as f64).min(self.max_batch(load).floor()).max(1.0)
    }

    /// The most sequences of `load` that the silicon could hold, whatever engine serves it: all memory, nothing
    /// repeated, nothing rounded. What the bound on throughput takes.
    #[must_use]
    pub fn ideal_max_batch(&self, load: &UniformLoad) -> f64 {
        let memory = self.memory_account();
        let shared = self.shared(load);
        let most = memory.most(self.device(), self.deployment(), load, shared);
        (most * f64::from(self.deployment().replicas())).max(0.0)
    }

    /// What the fullest device's memory is used for while `batch` sequences of `load` run.
    #[must_use]
    pub fn memory_use(&self, load: &UniformLoad, batch: f64) -> MemoryUse {
        let total = self.device().memory().get();
        let usable = usable(self.device(), self.serving());
        let (own, once) = self.resident(load);
        let groups = f64::from(self.deployment().attention_groups())
            * f64::from(self.deployment().replicas());
        let cache = own * (batch / groups).max(batch.min(1.0)) + once;
        let weights = self.memory_account().weights();
        MemoryUse {
            total: Bytes::new(total),
            reserve: Bytes::new(total - usable),
            weights: Bytes::new(weights),
            sequence: Bytes::new(own),
            cache: Bytes::new(cache),
            free: Bytes::new((usable - weights - cache).max(0.0)),
        }
    }

    /// What a sequence of `load` keeps of its own on the fullest of its devices, on average while it runs, and what all
    /// of them keep once.
    pub(crate) fn resident(&self, load: &UniformLoad) -> (f64, f64) {
        self.resident_in(self.memory_account(), load)
    }

    /// What one request of `load` takes beside nothing but the weights: at its end, and when it is admitted.
    pub(crate) fn needed_by_one(&self, memory: &Memory, load: &UniformLoad) -> f64 {
        let (input, output, _) = load.lengths();
        let (own, once) = self.resident_in(memory, load);
        // The last token is never cached.
        memory.sequence(self.in_blocks(input + output - 1.0), 0.0).max(own + once)
    }

    /// Whole blocks for a context.
    pub(crate) fn in_blocks(&self, context: f64) -> f64 {
        let block = self.serving().block.get().max(1) as f64;
        (context / block).ceil() * block
    }

    /// [`System::resident`] where the model lies as in `memory`.
    fn resident_in(&self, memory: &Memory, load: &UniformLoad) -> (f64, f64) {
        let (input, output, cached) = load.lengths();
        let serving = self.serving();
        let context = match serving.admission {
            Admission::AsItGrows => input + output / 2.0,
            Admission::Whole => input + output,
        };
        let rounded = self.in_blocks(context);
        match serving.prefix {
            Prefix::Shared if cached > 0.0 => {
                (memory.sequence(rounded, cached), memory.sequence(cached, 0.0))
            }
            _ => (memory.sequence(rounded, 0.0), 0.0),
        }
    }
}
