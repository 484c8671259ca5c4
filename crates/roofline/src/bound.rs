//! The speed of light: what no engine can beat, because the bytes must be read and the arithmetic done.

use std::fmt;
use std::num::NonZeroU64;

use fizeau_core::{PerSec, Seconds};

use crate::pass::PassTime;
use crate::serving::Prefix;
use crate::system::System;
use crate::{LoadAnalysisError, RequestLengths, UniformLoad};

/// The limits that a system's silicon sets to requests.
///
/// In the formulas, `W` is the weight bytes that a step reads, `k` the cache bytes per token, `BW` the
/// memory bandwidth in bytes/s, `F` the dense rate in FLOP/s, `c = I + (O - 1) / 2` the mean context of a pass, and
/// `f = linear + head + pair * c` the arithmetic of one decoded token; of several devices all work together. Reading
/// and computing are taken to overlap perfectly, all memory is free for weights and cache, nothing is spent on
/// launching, scheduling or talking. Each sum is over all requests, and a time bounds the mean of theirs. Layers with
/// windows, states and experts are counted as [`System::bound_pass`] counts them.
///
/// A step that yields several tokens to a sequence, as with speculative decoding ([`Serving::tokens_per_step`](crate::Serving)),
/// reads for all of them at once; its arithmetic is that of each.
///
/// What would make a bound too strict, and so must not be measured against it: more devices than said, drafts that it was not
/// told of, a cache or weights stored in fewer bytes than [`crate::Model`] says, attention computed in fewer bits
/// than the weights, and models so small that the devices' on-chip caches hold a good part of them.
///
/// ```
/// use std::num::NonZeroU64;
/// use fizeau_core::Tokens;
/// use fizeau_roofline::{Bound, Deployment, Device, KnownModel, LimitedBy, UniformLoad, System};
///
/// let model = KnownModel::named("llama-3.1-8b")?.model()?; // Llama-3.1-8B
/// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
/// let at = |concurrency| {
///     let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), concurrency);
///     Bound::at(&system, &load)
/// };
/// let one = at(NonZeroU64::MIN)?;
/// assert_eq!(format!("{:.2}", one.requests_per_s.get()), "0.86");
/// assert_eq!(one.limited_by, LimitedBy::WeightTraffic);
///
/// let many = at(NonZeroU64::new(128).ok_or("zero")?)?;
/// assert_eq!(format!("{:.1}", many.requests_per_s.get()), "30.1");
/// assert_eq!(many.limited_by, LimitedBy::Compute);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Bound {
    /// Time to first token of a prompt that has the devices to itself. No request can be faster.
    pub ttft: Seconds,
    /// The step that carries the whole batch `B`: `max((W + B k c) / BW, B f / F)`. It bounds the pace of an
    /// engine that runs all that is offered; one that runs fewer sequences at once, and lets the others wait,
    /// can be faster, down to [`Bound::single_tpot`].
    pub tpot: Seconds,
    /// Time per output token of a sequence that has the devices to itself: [`Bound::tpot`] at `B = 1`. No
    /// request can be faster.
    pub single_tpot: Seconds,
    /// A whole request from sending to last token, at best: `ttft + (O - 1) * single_tpot`. No request can
    /// be faster.
    pub e2el: Seconds,
    /// Requests per second: `1 / max((prefill FLOPs + (O - 1) f) / F, O (W / B + k c) / BW)`.
    ///
    /// The first term is all arithmetic of a request. The second is its traffic: it takes part in `O`
    /// passes, each of which reads the weights for at most `B` sequences; its prompt writes `I` tokens of
    /// cache and its decode step `i` reads `I + i - 1` and writes one, `O c` in all. No mix of prefill and
    /// decode can exceed it.
    pub requests_per_s: PerSec,
    /// Generated tokens per second: `O` times [`Bound::requests_per_s`].
    pub output_tokens_per_s: PerSec,
    /// The sequences that can run at once on average, `B`: the concurrency, or what the memory beside the
    /// weights holds of them at their mean context, whichever is less. At least 1.
    pub batch: f64,
    /// How many sequences the memory beside the weights holds at their mean context, whatever the concurrency.
    pub max_batch: u64,
    /// What sets [`Bound::requests_per_s`].
    pub limited_by: LimitedBy,
}

impl Bound {
    /// The bound for `system` under `load`.
    ///
    /// # Errors
    /// If the model, or one request beside it, does not fit the devices' memory, or the load has no tokens.
    pub fn at(system: &System, load: &UniformLoad) -> Result<Self, LoadAnalysisError> {
        Self::over(system, &RequestLengths::of_load(system.model(), load), load.concurrency)
    }

    /// The bound for `system` over requests of these lengths, at most `concurrency` of them under way at once: for
    /// rates and means that were measured over just these requests.
    ///
    /// It holds for any lengths in any combination, and over as few requests as there are: nothing is averaged
    /// that is not a sum.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{Bound, Deployment, Device, KnownModel, RequestLengths, UniformLoad, System};
    ///
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// # let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// # let (input, asked, came) = (Tokens::new(250), Tokens::new(250), Tokens::new(20));
    /// // 250 tokens were asked for; the model ended after 20.
    /// let mut measured = RequestLengths::for_model(system.model());
    /// measured.extend([(input, came); 100]);
    /// let bound = Bound::over(&system, &measured, NonZeroU64::MIN)?;
    /// assert_eq!(format!("{:.1}", bound.requests_per_s.get()), "11.1");
    ///
    /// let load = UniformLoad::new(input, asked, NonZeroU64::MIN);
    /// assert_eq!(format!("{:.1}", Bound::at(&system, &load)?.requests_per_s.get()), "0.9");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the model, or the longest request beside it, does not fit the devices' memory, or there are no requests,
    /// or one has no prompt or no output, or the lengths were added up for a model with other windows.
    pub fn over(
        system: &System,
        lengths: &RequestLengths,
        concurrency: NonZeroU64,
    ) -> Result<Self, LoadAnalysisError> {
        system.check_ideal(lengths)?;
        let ideal = system.ideal();
        let most = system.most_of(lengths);
        let batch = (concurrency.get() as f64).min(most);
        let (local, active) = system.local(batch);
        let stages = f64::from(system.deployment().pipeline());

        // Whether cached tokens are the same ones is not known of measured requests, so that they are taken to be.
        let micro = (local / stages).max(1.0);
        let prefix = system.serving().prefix;
        let among = if prefix == Prefix::Own { 1.0 } else { micro };
        let [every, decoded, step, single] =
            [lengths.all(), lengths.decoding(), lengths.step(micro), lengths.single()]
                .map(|view| view.with_prefix(prefix));

        let count = lengths.requests() as f64;
        let ttft = system.bound_prompt(&ideal.time(&lengths.prompt()));
        let decoding = ideal.all(&decoded, lengths.steps());
        let per_step = system.serving().tokens_per_step.get() as f64;
        let passes = lengths.passes - lengths.steps() + lengths.steps() / per_step;
        let all = ideal.all(&every.among(among), passes / batch);
        let spared = ideal.all(&decoded.among(among), 0.0).cache.get();
        let spared = spared * (1.0 - 1.0 / per_step);
        // What a batch does not share is spread over all stages and replicas.
        let spread = stages * active;
        let cache = (all.cache.get() - spared) / spread;
        let computing = all.arithmetic().get() / spread;
        let memory = all.weights.get() + cache;
        let time = memory.max(computing);
        Ok(Self {
            ttft,
            tpot: yielding(&ideal.time(&step.among(among)), per_step),
            single_tpot: yielding(&ideal.time(&single), per_step),
            e2el: ttft + yielding(&decoding, per_step) * (1.0 / count),
            requests_per_s: PerSec::new(count / time),
            output_tokens_per_s: PerSec::new(lengths.passes / time),
            batch,
            max_batch: most as u64,
            limited_by: match () {
                () if computing >= memory => LimitedBy::Compute,
                () if all.weights.get() >= cache => LimitedBy::WeightTraffic,
                () => LimitedBy::KvTraffic,
            },
        })
    }

    /// The most output tokens per second under balanced routing: where each token of a step chooses its experts for itself and all
    /// equally often, as routers are trained and served, no step but one in a million reads as few experts as are counted here. None
    /// where that is what [`Bound::over`] says: where the model has no experts, or a step has so few tokens that chance lets
    /// them agree.
    ///
    /// The bound lets all tokens agree on their experts, which no router does: this is what a mixture of experts can be held against. It
    /// holds under that assumption alone: a router that favours some experts reads fewer of them, and so do requests that are
    /// alike.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{Bound, Deployment, Device, KnownModel, RequestLengths, System};
    ///
    /// let model = KnownModel::named("gpt-oss-120b")?.model()?;
    /// let system = System::new(model, Device::named("b200-sxm")?.clone(), Deployment::SINGLE)?;
    /// let mut lengths = RequestLengths::for_model(system.model());
    /// lengths.extend([(Tokens::new(1024), Tokens::new(1024)); 64]);
    /// let many = NonZeroU64::new(64).ok_or("zero")?;
    /// let bound = Bound::over(&system, &lengths, many)?.output_tokens_per_s;
    /// let even = Bound::evenly_routed(&system, &lengths, many)?.ok_or("no experts")?;
    /// let rounded = |rate: fizeau_core::PerSec| format!("{:.0}", rate.get());
    /// assert_eq!((rounded(bound), rounded(even)), ("58686".to_owned(), "10028".to_owned()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Bound::over`].
    pub fn evenly_routed(
        system: &System,
        lengths: &RequestLengths,
        concurrency: NonZeroU64,
    ) -> Result<Option<PerSec>, LoadAnalysisError> {
        let batch = Self::over(system, lengths, concurrency)?.batch;
        // Stages work on micro-batches: fewer tokens a pass read fewer experts in it.
        let stages = f64::from(system.deployment().pipeline());
        let micro = (system.local(batch).0 / stages).max(1.0);
        let tokens = micro * system.serving().tokens_per_step.get() as f64;
        let even = system.evenly_routed(tokens).map(|even| Self::over(&even, lengths, concurrency));
        even.transpose().map(|even| even.map(|bound| bound.output_tokens_per_s))
    }
}

/// Decoding in steps that each yield so many tokens, where one token would take `time`.
fn yielding(time: &PassTime, per_step: f64) -> Seconds {
    (time.memory() * (1.0 / per_step)).max(time.arithmetic())
}

/// What sets the bound on throughput.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitedBy {
    /// Arithmetic: more sequences at once would not help.
    Compute,
    /// Reading the key-value cache: more sequences at once would hardly help.
    KvTraffic,
    /// Reading the weights: more sequences at once would share it.
    WeightTraffic,
}

fizeau_core::words! {
    /// The name used in files: `compute`, `kv_traffic`, `weight_traffic`.
    pub LimitedBy::as_str {
        Compute = "compute", KvTraffic = "kv_traffic", WeightTraffic = "weight_traffic",
    }
}

impl fmt::Display for LimitedBy {
    /// For a reader: `compute`, `KV traffic`, `weight traffic`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compute => "compute",
            Self::KvTraffic => "KV traffic",
            Self::WeightTraffic => "weight traffic",
        })
    }
}
