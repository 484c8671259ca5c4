//! The bound as a function of what it is computed from.

use std::num::NonZeroU64;

use crate::pass::PassTime;
use crate::serving::Prefix;
use crate::system::System;
use crate::{MeasuredFigures, RequestLengths};

/// How inputs are thought to differ from what was given: factors, 1 for none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct InputChange {
    /// Of the memory's bandwidth.
    pub(super) bandwidth: f64,
    /// Of the arithmetic's rates.
    pub(super) arithmetic: f64,
    /// Of the number of devices.
    pub(super) devices: f64,
    /// Of the weights' bytes.
    pub(super) weights: f64,
    /// Of the cache's bytes.
    pub(super) cache: f64,
    /// Of the prompts' tokens that are computed, the rest being cached.
    pub(super) computed: f64,
    /// Of the tokens that a decode step yields to each sequence.
    pub(super) per_step: f64,
}

impl InputChange {
    pub(super) const NONE: Self = Self {
        bandwidth: 1.0,
        arithmetic: 1.0,
        devices: 1.0,
        weights: 1.0,
        cache: 1.0,
        computed: 1.0,
        per_step: 1.0,
    };
}

/// Times in seconds; that of a request is the inverse of the rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ChangedTimes {
    ttft: f64,
    tpot: f64,
    e2el: f64,
    request: f64,
}

/// All that a bound over some requests is made of.
pub(super) struct BoundInputs {
    /// The mean prompt.
    prompt: PassTime,
    /// One decode step of a mean request.
    single: PassTime,
    /// All decode steps of a mean request.
    decoding: PassTime,
    /// Reading the weights once.
    weights: f64,
    /// Passes of a mean request, and decode steps among them.
    passes: f64,
    steps: f64,
    /// Bytes that a request keeps, and what there is for weights and caches.
    kept: f64,
    weight_bytes: f64,
    memory: f64,
    concurrency: NonZeroU64,
    stages: f64,
    replicas: f64,
    prefix: Prefix,
    /// Tokens that a decode step yields as it is.
    per_step: f64,
}

impl BoundInputs {
    pub(super) fn new(system: &System, lengths: &RequestLengths, concurrency: NonZeroU64) -> Self {
        let (ideal, memory) = (system.ideal(), system.memory_account());
        let count = lengths.requests() as f64;
        let room = memory.ideal_room(system.device(), system.deployment());
        let (tokens, state) = memory.ideal_kept();
        let prefix = system.serving().prefix;
        let kept = tokens.iter().map(|(reach, bytes)| bytes * lengths.resident(reach, prefix));
        Self {
            prompt: ideal.time(&lengths.prompt()),
            single: ideal.time(&lengths.single()),
            decoding: ideal.all(&lengths.decoding(), lengths.steps()).scaled(1.0 / count),
            weights: ideal.all(&lengths.decoding(), 1.0).weights.get(),
            passes: lengths.passes / count,
            steps: lengths.steps() / count,
            kept: kept.sum::<f64>() + state,
            weight_bytes: memory.ideal_weights(),
            memory: room + memory.ideal_weights(),
            concurrency,
            stages: f64::from(system.deployment().pipeline()),
            replicas: f64::from(system.deployment().replicas()),
            prefix,
            per_step: system.serving().tokens_per_step.get() as f64,
        }
    }

    /// Tokens that a decode step yields as it is.
    pub(super) const fn per_step(&self) -> f64 {
        self.per_step
    }

    pub(super) const fn concurrency(&self) -> NonZeroU64 {
        self.concurrency
    }

    /// The bound if inputs were as `change` has them; with [`InputChange::NONE`] that of [`Bound::over`](crate::Bound::over).
    pub(super) fn times(&self, change: &InputChange) -> ChangedTimes {
        let reading = 1.0 / (change.bandwidth * change.devices);
        let computing = 1.0 / (change.arithmetic * change.devices);
        let (weights, cache) = (reading * change.weights, reading * change.cache);
        let per_step = self.per_step * change.per_step;
        let (prompt, single, decoding) = (&self.prompt, &self.single, &self.decoding);

        // Of the pairs within a prompt those that its cached part has with itself are spared.
        let spared = 1.0 - (1.0 - change.computed).powi(2);
        let prompt_computing =
            computing * (prompt.matrices.get() * change.computed + prompt.attention.get() * spared);
        let prompt_cache = prompt.cache.get() * cache;
        let decode_computing = decoding.arithmetic().get() * computing;
        let decode_cache = decoding.cache.get() * cache / per_step;
        let decode_weights = decoding.weights.get() * weights / per_step;

        let prompt_weights = prompt.weights.get() * weights;
        let ttft =
            (prompt_weights + prompt_cache / self.stages).max(prompt_computing / self.stages);
        let reads = single.weights.get() * weights + single.cache.get() * cache;
        let tpot = (reads / per_step).max(single.arithmetic().get() * computing);

        let room = self.memory * change.devices - self.weight_bytes * change.weights;
        let most = (room / (self.kept * change.cache)).max(1.0) * self.replicas;
        let batch = (self.concurrency.get() as f64).min(most);
        let spread = self.stages * self.replicas.min(batch.max(1.0));
        // What sequences of a pass may share is read for one of them.
        let spared = match self.prefix {
            Prefix::Shared => 1.0 - 1.0 / (batch / spread).max(1.0),
            Prefix::Own => 0.0,
        };
        let shared = prompt.shared.get() + decoding.shared.get() / per_step;
        let spared = shared * cache * spared;
        let passes = self.passes - self.steps + self.steps / per_step;
        let memory = self.weights * weights * passes / batch
            + (prompt_cache + decode_cache - spared) / spread;
        ChangedTimes {
            ttft,
            tpot,
            e2el: ttft + (decode_weights + decode_cache).max(decode_computing),
            request: memory.max((prompt_computing + decode_computing) / spread),
        }
    }

    /// Whether all of `measured` would be possible.
    pub(super) fn allows(&self, change: &InputChange, measured: &MeasuredFigures) -> bool {
        let times = self.times(change);
        // What rounding may hide, so that a needed value is itself enough.
        let slack = 1.0 + 1e-9;
        let in_time = |measured: Option<fizeau_core::Seconds>, bound: f64| {
            let measured = measured.filter(|time| time.get() > 0.0);
            measured.is_none_or(|time| bound <= time.get() * slack)
        };
        let in_rate = |measured: Option<fizeau_core::PerSec>, bound: f64| {
            let measured = measured.filter(|rate| rate.get() > 0.0);
            measured.is_none_or(|rate| rate.get() * bound <= slack)
        };
        in_time(measured.ttft, times.ttft)
            && in_time(measured.tpot, times.tpot)
            && in_time(measured.e2el, times.e2el)
            && in_rate(measured.requests_per_s, times.request)
            && in_rate(measured.output_tokens_per_s, times.request / self.passes)
    }
}

#[cfg(test)]
mod tests {
    use fizeau_core::Tokens;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed};

    use super::{BoundInputs, InputChange};
    use crate::{Bound, Deployment, Device, KnownModel, RequestLengths, Serving, System};

    const MODELS: [&str; 4] = ["llama-3.1-8b", "gpt-oss-120b", "deepseek-v3", "qwen3-next-80b-a3b"];

    proptest! {
        #![proptest_config(Config {
            rng_seed: RngSeed::Fixed(1849),
            failure_persistence: None,
            ..Config::default()
        })]

        /// The bound is worked out here a second time, so that inputs can be varied without a new system.
        #[test]
        fn without_a_change_it_is_the_bound(
            model in 0_usize..4,
            stages in 1_u32..3,
            replicas in 1_u32..3,
            requests in prop::collection::vec((1_u64..4000, 0_u64..4000, 1_u64..900), 1..6),
            concurrency in 1_u64..3000,
            tokens_per_step in 1_u64..6,
        ) {
            let model = KnownModel::named(MODELS[model]).unwrap().model().unwrap();
            let deployment = Deployment::SINGLE.with_tensor(8).unwrap().with_pipeline(stages).unwrap();
            let deployment = deployment.with_replicas(replicas).unwrap();
            let device = Device::named("h200-sxm").unwrap().clone();
            let system = System::new(model, device, deployment).unwrap();
            let tokens_per_step = tokens_per_step.try_into().unwrap();
            let system = system.with_serving(Serving { tokens_per_step, ..Serving::default() });
            let mut lengths = RequestLengths::for_model(system.model());
            for (input, cached, output) in requests {
                lengths.add_cached(Tokens::new(input), Tokens::new(cached), Tokens::new(output));
            }
            let concurrency = std::num::NonZeroU64::new(concurrency).unwrap();
            let bound = Bound::over(&system, &lengths, concurrency).unwrap();
            let times = BoundInputs::new(&system, &lengths, concurrency).times(&InputChange::NONE);
            let is = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
            prop_assert!(is(times.ttft, bound.ttft.get()));
            prop_assert!(is(times.tpot, bound.single_tpot.get()));
            prop_assert!(is(times.e2el, bound.e2el.get()), "{} {}", times.e2el, bound.e2el.get());
            prop_assert!(is(times.request * bound.requests_per_s.get(), 1.0));
        }
    }
}
