//! Prefill and decode on separate devices, with the cache sent from one to the other.

mod instances;
mod split;
mod transfer;

pub use instances::{InstanceCounts, InstanceCountsError};
pub use split::DeviceSplit;
pub use transfer::CacheTransfer;

use std::num::NonZeroU32;

use fizeau_core::{PerSec, Seconds};

use crate::cost::CostShares;
use crate::estimate_kind::EstimateKind;
use crate::system::System;
use crate::{Cost, Figures, HourlyRate, Link, Pass, PassTime, UniformLoad};

/// Instances that only read prompts, and instances that only decode.
///
/// `RPS = min(n_p r_p, n_d r_d, links / cache)` with `r_p = 1 / Cp` and `r_d = B / ((O - 1) td(B))` of one instance, since
/// the first token is the prefill's. What is gained over instances that do both is that no step waits for a prompt, not arithmetic.
///
/// ```
/// use std::num::{NonZeroU32, NonZeroU64};
/// use fizeau_core::Tokens;
/// use fizeau_roofline::{Deployment, Device, Disaggregation, KnownModel, UniformLoad, System, CacheTransfer};
/// let model = KnownModel::named("llama-3.1-8b")?.model()?;
/// let device = Device::named("h100-sxm")?;
/// let link = *device.link().ok_or("no link")?;
/// let one = System::new(model, device.clone(), Deployment::SINGLE)?;
/// let two = NonZeroU32::new(2).ok_or("zero")?;
/// let apart = Disaggregation {
///     prefill: &one,
///     prefill_instances: NonZeroU32::MIN,
///     decode: &one,
///     decode_instances: two,
///     link,
///     transfer: CacheTransfer::BeforeFirstToken,
/// };
/// let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::new(96).ok_or("zero")?);
/// let answer = apart.answer(&load);
/// // 268 MB of cache over one NVLink.
/// assert_eq!(format!("{:.1} ms", answer.transfer.to_millis().get()), "0.6 ms");
/// // A token is out sooner than with a third of the requests on each of three devices that do both.
/// let third = UniformLoad { concurrency: NonZeroU64::new(32).ok_or("zero")?, ..load };
/// assert!(answer.expected.step < one.expected_figures(&third).step);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Disaggregation<'a> {
    /// One instance that reads prompts, all of its replicas.
    pub prefill: &'a System,
    /// How many there are.
    pub prefill_instances: NonZeroU32,
    /// One instance that decodes, all of its replicas.
    pub decode: &'a System,
    /// How many there are.
    pub decode_instances: NonZeroU32,
    /// What each device sends and receives caches over.
    pub link: Link,
    /// When the cache is sent.
    pub transfer: CacheTransfer,
}

/// What limits a disaggregated service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Bottleneck {
    /// The requests that are offered at once.
    Concurrency,
    /// The instances that read prompts.
    Prefill,
    /// The links between both.
    Transfer,
    /// The memory of the instances that decode: more sequences at once would make more of them.
    Decode,
}

/// The figures of a load on a disaggregated service.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DisaggregatedFigures {
    /// The bound, which nothing can beat. Its batch and its time per token are the expectation's; its rates are those of
    /// [`DisaggregatedFigures::bound_rate_batch`], so that no other use of the memory beats them.
    pub bound: Figures,
    /// The sequences that decode at the bound's rates, in all instances together.
    pub bound_rate_batch: f64,
    /// The expectation of the roofline model. Its batch is that of all decoding instances together.
    pub expected: Figures,
    /// Sending one request's cache, as it takes the links of the instances.
    pub transfer: Seconds,
    /// What limits the expectation.
    pub limited_by: Bottleneck,
    /// Generated tokens per second for each device, as expected.
    pub output_tokens_per_s_per_device: PerSec,
    /// Prefill instances for each decoding one that would keep both busy, `r_d / r_p`, as expected.
    pub balanced_ratio: f64,
}

fizeau_core::words! {
    /// The name used in files: `concurrency`, `prefill`, `transfer`, `decode`.
    pub Bottleneck::as_str {
        Concurrency = "concurrency", Prefill = "prefill", Transfer = "transfer", Decode = "decode",
    }
}

impl<'a> Disaggregation<'a> {
    /// So many instances of `system` on either side, with caches over the link between machines, or where none is known that between
    /// devices; none where neither is.
    #[must_use]
    pub fn of(
        system: &'a System,
        instances: InstanceCounts,
        transfer: CacheTransfer,
    ) -> Option<Self> {
        let device = system.device();
        let link = *device.network().or_else(|| device.link())?;
        let InstanceCounts { prefill: prefill_instances, decode: decode_instances } = instances;
        let (prefill, decode) = (system, system);
        Some(Self { prefill, prefill_instances, decode, decode_instances, link, transfer })
    }

    /// All devices.
    #[must_use]
    pub fn devices(&self) -> u64 {
        let of = |system: &System, instances: NonZeroU32| {
            system.deployment().devices() * u64::from(instances.get())
        };
        of(self.prefill, self.prefill_instances) + of(self.decode, self.decode_instances)
    }

    /// What becomes of `load`, in the steady state of a closed loop: of its concurrency some requests are being read in
    /// or sent, the others decode; who waits, waits to be read in.
    ///
    /// Serves nothing, limited by decode, where no sequence fits beside the weights.
    #[must_use]
    pub fn answer(&self, load: &UniformLoad) -> DisaggregatedFigures {
        let expected = self.stages(EstimateKind::Expected, load);
        let fitting = self.decode.max_batch(load) * f64::from(self.decode_instances.get());
        let (batch, limited_by) = expected.settle(fitting);
        let requests = lesser(expected.decode_rate(batch), expected.upstream());
        let first = expected.first();
        let expected_figures =
            Figures::new(load, batch, first.ttft, expected.step(batch) + first.later, requests);
        let bound = self.stages(EstimateKind::Bound, load);
        let most = self.decode.ideal_max_batch(load) * f64::from(self.decode_instances.get());
        let (most, _) = bound.settle(most);
        let requests_bound = lesser(bound.decode_rate(most), bound.upstream());
        let first_bound = bound.first();
        let tpot_bound = bound.step(batch) + first_bound.later;
        DisaggregatedFigures {
            bound: Figures::new(load, batch, first_bound.ttft, tpot_bound, requests_bound),
            bound_rate_batch: most,
            expected: expected_figures,
            transfer: expected.transfer,
            limited_by,
            output_tokens_per_s_per_device: expected_figures.output_tokens_per_s
                * (1.0 / self.devices() as f64),
            balanced_ratio: self.balanced_ratio(&expected, fitting),
        }
    }

    /// What tokens of `load` cost at `rate`: prompts what the instances that read them do, whether they are busy or not, and replies
    /// what the others do ([`System::cost`] of devices that do both).
    #[must_use]
    pub fn cost(&self, by: EstimateKind, load: &UniformLoad, rate: &HourlyRate) -> Cost {
        let answer = self.answer(load);
        let figures = match by {
            EstimateKind::Bound => answer.bound,
            EstimateKind::Expected => answer.expected,
        };
        let devices = self.devices() as f64;
        let reading = self.prefill.deployment().devices() * u64::from(self.prefill_instances.get());
        let shares = CostShares {
            seconds: devices / figures.requests_per_s.get(),
            prompt_share: reading as f64 / devices,
            computed: self.prefill.computed_share(by, load, figures.batch.max(1.0)),
        };
        shares.cost(load, rate)
    }

    /// Prefill instances for each decoding one that has all the sequences that fit, or that are offered.
    fn balanced_ratio(&self, stages: &StageRates<'_>, fitting: f64) -> f64 {
        let batch = fitting.min(stages.load.concurrency.get() as f64);
        let per_prefill = stages.prefill_rate.get() / f64::from(self.prefill_instances.get());
        let per_decode = stages.decode_rate(batch).get() / f64::from(self.decode_instances.get());
        per_decode / per_prefill
    }

    fn stages(&self, by: EstimateKind, load: &UniformLoad) -> StageRates<'_> {
        let transfer = self.transfer_time(by, load);
        StageRates {
            by,
            load: *load,
            decode: self.decode,
            instances: f64::from(self.decode_instances.get()),
            transfer,
            when: self.transfer,
            layers: self.prefill.model().layers.iter().map(|layers| layers.count).sum(),
            prompt: self.prefill.prompt_latency(by, &self.prefill.prefill_pass(load)),
            reading: self.reading(by, load),
            prefill_rate: self.prefill_rate(by, load),
            transfer_rate: self.transfer_rate(by, load),
        }
    }

    /// What a bound of passes that read prompts follows from; nothing of an expectation, whose passes say it.
    fn reading(&self, by: EstimateKind, load: &UniformLoad) -> ReadingPasses {
        let deployment = self.prefill.deployment();
        let each = deployment.replicas() * deployment.pipeline();
        let ways = f64::from(self.prefill_instances.get()) * f64::from(each);
        let pass = match by {
            EstimateKind::Bound => self.prefill.bound_pass(&self.prefill.prefill_pass(load)),
            EstimateKind::Expected => PassTime::default(),
        };
        ReadingPasses { ways, weights: pass.weights, cache: pass.own_cache() }
    }

    /// Prompts per second of all prefill instances. A bound reads the weights once for as many prompts as are in flight, an engine for
    /// as many as wait and a pass has room for ([`crate::Serving::max_batched_tokens`]).
    fn prefill_rate(&self, by: EstimateKind, load: &UniformLoad) -> PerSec {
        let system = self.prefill;
        let replicas = f64::from(system.deployment().replicas());
        let stages = f64::from(system.deployment().pipeline());
        let instances = f64::from(self.prefill_instances.get());
        let (input, _, cached) = load.lengths();
        let waiting = load.concurrency.get() as f64 / (instances * replicas * stages);
        let prompts = system.prompts_together(waiting * replicas * stages, input - cached, 1.0);
        let pass = Pass { prompts, ..system.prefill_pass(load) };
        let pass = system.pass_time(by, &pass).scaled(1.0 / prompts);
        let busy = match by {
            EstimateKind::Bound => {
                let weights = pass.weights * (prompts / waiting.max(1.0));
                (weights + pass.cache).max(pass.arithmetic())
            }
            EstimateKind::Expected => pass.total * system.unevenness(),
        };
        PerSec::new(instances * replicas * stages / busy.get())
    }
}

/// Passes over prompts at best: on so many stages of instances, each of which reads the weights once for all prompts that it has.
struct ReadingPasses {
    ways: f64,
    weights: Seconds,
    /// What one prompt reads and writes of its own cache.
    cache: Seconds,
}

impl ReadingPasses {
    /// The fewest prompts that are being read where so many come in a second: more of them share the weights.
    fn under_way(&self, rate: f64) -> f64 {
        let free = 1.0 - rate / self.ways * self.cache.get();
        if free > 0.0 { rate * self.weights.get() / free } else { f64::INFINITY }
    }
}

/// What each stage of the service can do, by one account.
struct StageRates<'a> {
    by: EstimateKind,
    load: UniformLoad,
    decode: &'a System,
    /// Decoding instances.
    instances: f64,
    transfer: Seconds,
    when: CacheTransfer,
    layers: u64,
    /// Reading one prompt.
    prompt: Seconds,
    reading: ReadingPasses,
    prefill_rate: PerSec,
    transfer_rate: PerSec,
}

/// What comes before decoding.
struct BeforeDecode {
    ttft: Seconds,
    /// What of the transfer each later token bears.
    later: Seconds,
    /// From sending a request until it decodes.
    latency: Seconds,
}

impl StageRates<'_> {
    /// A decode step with `batch` sequences in all instances. Less than one is one that decodes for a part of the time: its steps
    /// are no shorter for that.
    fn step(&self, batch: f64) -> Seconds {
        let pass = self.decode.decode_pass(&self.load, (batch / self.instances).max(1.0));
        let time = self.decode.pass_time(self.by, &pass).total;
        match self.by {
            EstimateKind::Bound => time,
            EstimateKind::Expected => time * self.decode.unevenness(),
        }
    }

    /// Requests per second of all decoding instances: the first token comes from the prefill.
    fn decode_rate(&self, batch: f64) -> PerSec {
        let (_, output, _) = self.load.lengths();
        // Where there is nothing to decode, as good as no time.
        let steps = (output - 1.0).max(1e-9);
        PerSec::new(batch / (steps * self.step(batch).get()))
    }

    /// The sequences that decode where `fitting` have room, and what keeps them from being more.
    fn settle(&self, fitting: f64) -> (f64, Bottleneck) {
        let offered = self.load.concurrency.get() as f64;
        if fitting <= 0.0 {
            return (0.0, Bottleneck::Decode);
        }
        let before = self.first().latency.get();
        // Those that decode, and those on the way to it.
        let under_way = |batch: f64| {
            let rate = self.decode_rate(batch).get();
            let more = self.reading.under_way(rate) - rate * self.prompt.get();
            batch + rate * before + more.max(0.0)
        };
        let mut batch = largest(offered.min(fitting), |batch| under_way(batch) <= offered);
        let mut limit = if batch < fitting { Bottleneck::Concurrency } else { Bottleneck::Decode };
        let slower =
            [(self.prefill_rate, Bottleneck::Prefill), (self.transfer_rate, Bottleneck::Transfer)];
        for (rate, by) in slower {
            if self.decode_rate(batch) > rate {
                batch = largest(batch, |batch| self.decode_rate(batch) <= rate);
                limit = by;
            }
        }
        (batch, limit)
    }

    fn upstream(&self) -> PerSec {
        lesser(self.prefill_rate, self.transfer_rate)
    }

    fn first(&self) -> BeforeDecode {
        let (_, output, _) = self.load.lengths();
        let done = self.when.done(self.prompt, self.transfer, self.layers);
        let left = done + self.prompt * -1.0;
        match self.when {
            CacheTransfer::BeforeSecondToken if output > 1.0 => BeforeDecode {
                ttft: self.prompt,
                later: left * (1.0 / (output - 1.0)),
                latency: done,
            },
            CacheTransfer::BeforeSecondToken => {
                BeforeDecode { ttft: self.prompt, later: Seconds::default(), latency: self.prompt }
            }
            CacheTransfer::BeforeFirstToken | CacheTransfer::LayerWise => {
                BeforeDecode { ttft: done, later: Seconds::default(), latency: done }
            }
        }
    }
}

fn lesser(one: PerSec, other: PerSec) -> PerSec {
    if other < one { other } else { one }
}

/// The largest number up to `most` for which `fits` holds, which holds for all below it; 0 where for none.
fn largest(most: f64, fits: impl Fn(f64) -> bool) -> f64 {
    if fits(most) {
        return most;
    }
    let (mut low, mut high) = (0.0, most);
    // Each turn halves what is left: past the precision of any figure that goes in.
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
