//! Prompts whose beginning is known already: what a hit saves, and whether to fetch or to compute again.

use fizeau_core::{BytesPerSec, Seconds, Tokens};

use crate::figures::Phases;
use crate::reckoning::Reckoning;
use crate::system::System;
use crate::{Figures, Load, Pass};

/// A place that keeps caches of prompts outside of the devices' memory: the host's memory, a disk, other machines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tier {
    /// How fast each device reads from it.
    pub bandwidth: BytesPerSec,
    /// How long the first byte takes.
    pub latency: Seconds,
}

/// How often a prompt's beginning is found, and where.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Hits {
    /// The share of requests that find it, from 0 to 1.
    share: f64,
    tier: Option<Tier>,
}

/// Getting the beginning of a prompt from a tier, against computing it again.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Fetch {
    /// Fetching it.
    pub fetch: Seconds,
    /// What computing it adds to the prefill.
    pub recompute: Seconds,
}

impl Fetch {
    /// Whether to fetch.
    #[must_use]
    pub fn is_faster(&self) -> bool {
        self.fetch < self.recompute
    }
}

impl Hits {
    /// Of the requests, `share` find their cached tokens in the devices' memory; not below 0, nor above 1.
    #[must_use]
    pub const fn in_memory(share: f64) -> Self {
        Self { share: share.clamp(0.0, 1.0), tier: None }
    }

    /// Of the requests, `share` find them in `tier` and wait for them.
    #[must_use]
    pub const fn in_tier(share: f64, tier: Tier) -> Self {
        Self { tier: Some(tier), ..Self::in_memory(share) }
    }
}

impl System {
    /// The figures of `load` with `batch` sequences running where only some of the requests find their
    /// [`Load::cached_tokens`]; its TTFT is the mean over all requests. A hit spares the linear arithmetic of its
    /// tokens and the attention among them; what attends to them later must read them as before.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{Deployment, Device, Hits, KnownModel, Load, Reckoning, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let load = Load::new(Tokens::new(8192), Tokens::new(256), NonZeroU64::new(32).ok_or("zero")?);
    /// let load = load.with_cached(Tokens::new(6144));
    /// let at = |share| system.figures_with_hits(Reckoning::Expected, &load, 32.0, Hits::in_memory(share));
    /// assert!(at(1.0).ttft.get() < 0.3 * at(0.0).ttft.get());
    /// assert_eq!(at(1.0).tpot, system.figures_at(Reckoning::Expected, &load, 32.0).tpot);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn figures_with_hits(&self, by: Reckoning, load: &Load, batch: f64, hits: Hits) -> Figures {
        let hit = self.phases(by, load, batch);
        let missed = self.phases(by, &load.with_cached(Tokens::ZERO), batch);
        let (_, _, cached) = load.lengths();
        let fetch =
            hits.tier.map_or_else(Seconds::default, |tier| self.fetch_time(by, tier, cached));
        let mean = |one: crate::PassTime, other: crate::PassTime| {
            one.scaled(hits.share).then(other.scaled(1.0 - hits.share))
        };
        let phases = Phases {
            prefill: mean(hit.prefill, missed.prefill),
            alone: mean(hit.alone, missed.alone),
            ..hit
        };
        let figures = self.figures_of(by, load, batch, &phases);
        // Others are served meanwhile: fetching takes no time of the devices.
        let waits = fetch * hits.share;
        Figures { ttft: figures.ttft + waits, e2el: figures.e2el + waits, ..figures }
    }

    /// Getting the [`Load::cached_tokens`] of a request from `tier`, against computing them with the rest of its
    /// prompt. Fetching wins where `latency + g kv / bandwidth` is less than the time of `2 P g` FLOPs and of the
    /// attention among `g` tokens.
    #[must_use]
    pub fn fetch_or_recompute(&self, by: Reckoning, load: &Load, tier: Tier) -> Fetch {
        let (input, _, cached) = load.lengths();
        self.fetch_of(by, tier, input, cached)
    }

    /// The least number of tokens at a prompt's beginning from which fetching them from `tier` is faster than computing
    /// them again, in a prompt of `input` tokens. None where it never is.
    #[must_use]
    pub fn fetch_crossover(&self, by: Reckoning, input: Tokens, tier: Tier) -> Option<Tokens> {
        let input = input.get();
        let wins = |tokens: u64| self.fetch_of(by, tier, input as f64, tokens as f64).is_faster();
        let (mut low, mut high) = (0, 1);
        // What is saved grows faster than what is fetched, but for a prompt's last tokens, whose pass takes what reading
        // the weights takes: look from below, in steps of a twentieth.
        while high < input && !wins(high) {
            low = high;
            high += (high / 20).max(1);
        }
        if high >= input {
            return None;
        }
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            if wins(middle) { high = middle } else { low = middle }
        }
        Some(Tokens::new(high))
    }

    fn fetch_of(&self, by: Reckoning, tier: Tier, input: f64, cached: f64) -> Fetch {
        let time = |cached: f64| self.pass_time(by, &Pass::prefill(input, cached)).total.get();
        Fetch {
            fetch: self.fetch_time(by, tier, cached),
            recompute: Seconds::new((time(0.0) - time(cached)).max(0.0)),
        }
    }

    /// Each device fetches what it keeps; for a bound, its even share.
    fn fetch_time(&self, by: Reckoning, tier: Tier, tokens: f64) -> Seconds {
        let each = match by {
            Reckoning::Bound => {
                let devices = self.deployment().devices_per_replica() as f64;
                self.model().cache_bytes(tokens) * (1.0 / devices)
            }
            Reckoning::Expected => self.cache_bytes_per_device(tokens),
        };
        tier.latency + each / tier.bandwidth
    }
}
