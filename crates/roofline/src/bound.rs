//! The speed of light: what no engine can beat, because the bytes must be read and the arithmetic done.

use std::fmt;
use std::num::NonZeroU64;

use fizeau_core::{Bytes, Flops, PerSec, Seconds, Tokens};

use crate::{Device, Lengths, Model};

/// What is asked of an endpoint: requests all alike. Where lengths vary, use [`Bound::over`]: the bound at the
/// mean lengths does not bound a mix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Length of a prompt, `I`; at least 1.
    pub input_tokens: Tokens,
    /// Tokens generated per request, `O`; at least 1.
    pub output_tokens: Tokens,
    /// How many requests are under way at once, `N`.
    pub concurrency: NonZeroU64,
    /// Tokens of each prompt that are cached already and need not be computed, `g`; fewer than the prompt's.
    pub cached_tokens: Tokens,
}

impl Load {
    /// Requests of `input` and `output` tokens, `concurrency` at once, nothing cached.
    #[must_use]
    pub const fn new(input: Tokens, output: Tokens, concurrency: NonZeroU64) -> Self {
        Self {
            input_tokens: input,
            output_tokens: output,
            concurrency,
            cached_tokens: Tokens::ZERO,
        }
    }

    /// The same load with the first `cached` tokens of each prompt in the cache already.
    #[must_use]
    pub const fn with_cached(self, cached: Tokens) -> Self {
        Self { cached_tokens: cached, ..self }
    }
}

/// The limits that a device sets to a model under a load.
///
/// In the formulas, `W` is the weight bytes that a step reads, `k` the cache bytes per token, `BW` the
/// memory bandwidth in bytes/s, `F` the dense rate in FLOP/s, `c = I + (O - 1) / 2` the mean context, and
/// `f = linear + head + pair * c` the arithmetic of one decoded token. Reading and computing are taken to
/// overlap perfectly, all memory is free for weights and cache, nothing is spent on launching, scheduling or
/// talking. For requests of different lengths ([`Bound::over`]) each sum is over all of them, and a time bounds
/// the mean of theirs.
///
/// What would make a bound too strict, and so must not be measured against it: several devices, prompts that
/// share a cached prefix, speculative decoding, a cache or weights stored in fewer bytes than [`Model`] says,
/// attention computed in fewer bits than the weights, and models so small that the device's on-chip cache holds
/// a good part of them.
///
/// ```
/// use std::num::NonZeroU64;
/// use fizeau_core::Tokens;
/// use fizeau_roofline::{Bound, Device, LimitedBy, Load, Model};
///
/// # let text = include_str!(concat!(
/// #     env!("CARGO_MANIFEST_DIR"),
/// #     "/../../fixtures/models/llama-3.1-8b/config.json"
/// # ));
/// let model = Model::from_config_json(text)?; // Llama-3.1-8B
/// let device = Device::named("h100-sxm")?;
/// let at = |concurrency| {
///     let load = Load::new(Tokens::new(2048), Tokens::new(256), concurrency);
///     Bound::at(&model, device, load)
/// };
/// let one = at(NonZeroU64::MIN)?;
/// assert_eq!(format!("{:.2}", one.requests_per_s.get()), "0.86");
/// assert_eq!(one.limited_by, LimitedBy::WeightTraffic);
///
/// let many = at(NonZeroU64::new(128).ok_or("zero")?)?;
/// assert_eq!(format!("{:.1}", many.requests_per_s.get()), "29.3");
/// assert_eq!(many.limited_by, LimitedBy::Compute);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Bound {
    /// Time to first token of a prompt that has the device to itself: [`prefill`]. No request can be faster.
    pub ttft: Seconds,
    /// The step that carries the whole batch `B`: `max((W + B k c) / BW, B f / F)`. It bounds the pace of an
    /// engine that runs all that is offered; one that runs fewer sequences at once, and lets the others wait,
    /// can be faster, down to [`Bound::single_tpot`].
    pub tpot: Seconds,
    /// Time per output token of a sequence that has the device to itself: [`Bound::tpot`] at `B = 1`. No
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
    /// The bound for `model` on one `device` under `load`.
    ///
    /// # Errors
    /// If the model, or one request beside it, does not fit the device's memory, or the load has no tokens.
    pub fn at(model: &Model, device: &Device, load: Load) -> Result<Self, BoundError> {
        Self::over(model, device, &load.into(), load.concurrency)
    }

    /// The bound for `model` on one `device` over requests of these lengths, at most `concurrency` of them under
    /// way at once: for rates and means that were measured over just these requests.
    ///
    /// It holds for any lengths in any combination, and over as few requests as there are: nothing is averaged
    /// that is not a sum.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{Bound, Device, Lengths, Load, Model};
    ///
    /// # let text = include_str!(concat!(
    /// #     env!("CARGO_MANIFEST_DIR"),
    /// #     "/../../fixtures/models/llama-3.1-8b/config.json"
    /// # ));
    /// # let model = Model::from_config_json(text)?;
    /// # let device = Device::named("h100-sxm")?;
    /// # let (input, asked, came) = (Tokens::new(250), Tokens::new(250), Tokens::new(20));
    /// // 250 tokens were asked for; the model ended after 20.
    /// let measured: Lengths = [(input, came); 100].into_iter().collect();
    /// let bound = Bound::over(&model, device, &measured, NonZeroU64::MIN)?;
    /// assert_eq!(format!("{:.1}", bound.requests_per_s.get()), "11.1");
    ///
    /// let load = Load::new(input, asked, NonZeroU64::MIN);
    /// assert_eq!(format!("{:.1}", Bound::at(&model, device, load)?.requests_per_s.get()), "0.9");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the model, or the longest request beside it, does not fit the device's memory, or there are no requests,
    /// or one has no prompt or no output.
    pub fn over(
        model: &Model,
        device: &Device,
        lengths: &Lengths,
        concurrency: NonZeroU64,
    ) -> Result<Self, BoundError> {
        let room = room_for_cache(model, device, lengths)?;
        let context = lengths.context_of_passes();
        let most = room.get() / (model.kv_bytes_per_token().get() * context);
        let batch = (concurrency.get() as f64).min(most);

        let count = lengths.requests() as f64;
        let mean = 1.0 / count;
        let prompts = Work::prefill(model, lengths);
        // Of a mean prompt: the weights are read for each, however many there are.
        let ttft = Work { bytes: model.streamed_weight_bytes(), flops: prompts.flops * mean };
        let ttft = ttft.time(model, device);
        let decoding = Work::decode_alone(model, lengths);
        let single = Work::decode(model, 1.0, lengths.context_of_requests());

        let weights = model.streamed_weight_bytes() * (lengths.passes / batch);
        let cache = model.kv_bytes_per_token() * lengths.cached;
        let all = Work { bytes: weights + cache, flops: prompts.flops + decoding.flops };
        let time = all.time(model, device).get();
        Ok(Self {
            ttft,
            tpot: Work::decode(model, batch, context).time(model, device),
            single_tpot: single.time(model, device),
            e2el: ttft + decoding.time(model, device) * mean,
            requests_per_s: PerSec::new(count / time),
            output_tokens_per_s: PerSec::new(lengths.passes / time),
            batch,
            max_batch: most as u64,
            limited_by: LimitedBy::of(&all, weights, cache, (model, device)),
        })
    }
}

/// One decode step of `sequences` sequences, each with `context` tokens in its cache, at the speed of light:
/// `max((W + n k c) / BW, n f / F)`, with the symbols of [`Bound`].
///
/// ```
/// # use std::num::NonZeroU64;
/// # use fizeau_core::Tokens;
/// # use fizeau_roofline::{Device, Model, decode_step};
/// # let text = include_str!(concat!(
/// #     env!("CARGO_MANIFEST_DIR"),
/// #     "/../../fixtures/models/llama-3.1-8b/config.json"
/// # ));
/// # let model = Model::from_config_json(text)?;
/// // Llama-3.1-8B in bf16 on one H100: 15.009 GB over 3.35 TB/s.
/// let device = Device::named("h100-sxm")?;
/// let fresh = decode_step(&model, device, NonZeroU64::MIN, Tokens::ZERO);
/// assert_eq!(format!("{:.3} ms", fresh.to_millis().get()), "4.480 ms");
/// assert_eq!(format!("{:.1} tokens/s", 1.0 / fresh.get()), "223.2 tokens/s");
///
/// // With 8,192 tokens of cache, 1.074 GB more.
/// let long = decode_step(&model, device, NonZeroU64::MIN, Tokens::new(8192));
/// assert_eq!(format!("{:.1} tokens/s", 1.0 / long.get()), "208.3 tokens/s");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn decode_step(
    model: &Model,
    device: &Device,
    sequences: NonZeroU64,
    context: Tokens,
) -> Seconds {
    Work::decode(model, sequences.get() as f64, context.get() as f64).time(model, device)
}

/// The pass over one prompt of `n` tokens, alone and with nothing of it cached, at the speed of light:
/// `max(W / BW, (n linear + head + pair n (n + 1) / 2) / F)`. Logits are needed for the last position only.
///
/// ```
/// # use fizeau_core::Tokens;
/// # use fizeau_roofline::{Device, Model, prefill};
/// # let text = include_str!(concat!(
/// #     env!("CARGO_MANIFEST_DIR"),
/// #     "/../../fixtures/models/llama-3.1-8b/config.json"
/// # ));
/// # let model = Model::from_config_json(text)?;
/// // Llama-3.1-8B on one H100: 1.319e14 FLOP at 989.5 TFLOP/s.
/// let device = Device::named("h100-sxm")?;
/// let time = prefill(&model, device, Tokens::new(8192));
/// assert_eq!(format!("{:.1} ms", time.to_millis().get()), "133.3 ms");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn prefill(model: &Model, device: &Device, prompt: Tokens) -> Seconds {
    let alone: Lengths = std::iter::once((prompt, Tokens::new(1))).collect();
    Work::prefill(model, &alone).time(model, device)
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

impl LimitedBy {
    /// The name used in files: `compute`, `kv_traffic`, `weight_traffic`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::KvTraffic => "kv_traffic",
            Self::WeightTraffic => "weight_traffic",
        }
    }

    fn of(work: &Work, weights: Bytes, cache: Bytes, (model, device): (&Model, &Device)) -> Self {
        let computing = work.flops / device.compute_rate(model);
        if computing.get() >= (work.bytes / device.memory_bandwidth()).get() {
            Self::Compute
        } else if weights.get() >= cache.get() {
            Self::WeightTraffic
        } else {
            Self::KvTraffic
        }
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

/// Why there is no bound.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BoundError {
    /// A load without requests is no load, and a request without a prompt or without output is no request.
    #[error("the load has 0 {0}; it must have at least 1")]
    Empty(&'static str),
    /// The weights fit, one request's cache beside them does not.
    #[error(
        "one request of {tokens} tokens needs {:.2} GB of cache, {:.2} GB more than {device} has beside the \
         weights of {architecture}; shorten it or take a larger device",
        gb(*.needed), gb(*.needed) - gb(*.room)
    )]
    NoRoomForRequest {
        /// The model's architecture.
        architecture: String,
        /// The device's name.
        device: String,
        /// Prompt and output together.
        tokens: Tokens,
        /// The request's cache at its end.
        needed: Bytes,
        /// The memory that the weights leave.
        room: Bytes,
    },
    /// The weights alone exceed the device's memory.
    #[error(
        "the weights of {architecture} take {:.2} GB, {:.2} GB more than the {:.2} GB of {device}; take a larger \
         device or fewer bytes per weight",
        gb(*.needed), gb(*.needed) - gb(*.memory), gb(*.memory)
    )]
    WeightsDoNotFit {
        /// The model's architecture.
        architecture: String,
        /// The device's name.
        device: String,
        /// What the weights take.
        needed: Bytes,
        /// What the device has.
        memory: Bytes,
    },
}

fn gb(bytes: Bytes) -> f64 {
    bytes.get() / 1e9
}

/// The memory that the weights leave for the cache: enough for at least one request.
fn room_for_cache(model: &Model, device: &Device, lengths: &Lengths) -> Result<Bytes, BoundError> {
    if let Some(what) = lengths.lacks() {
        return Err(BoundError::Empty(what));
    }
    let weights = model.resident_weight_bytes();
    let memory = device.memory();
    if weights.get() >= memory.get() {
        return Err(BoundError::WeightsDoNotFit {
            architecture: model.architecture().to_owned(),
            device: device.name().to_owned(),
            needed: weights,
            memory,
        });
    }
    let room = Bytes::new(memory.get() - weights.get());
    // The last token is never cached.
    let needed = model.kv_bytes_per_token() * (lengths.longest.get() as f64 - 1.0);
    if needed.get() > room.get() {
        return Err(BoundError::NoRoomForRequest {
            architecture: model.architecture().to_owned(),
            device: device.name().to_owned(),
            tokens: lengths.longest,
            needed,
            room,
        });
    }
    Ok(room)
}

/// Bytes to move and arithmetic to do, in whatever order and overlap.
struct Work {
    bytes: Bytes,
    flops: Flops,
}

impl Work {
    /// All prompts in one pass.
    fn prefill(model: &Model, lengths: &Lengths) -> Self {
        Self {
            bytes: model.streamed_weight_bytes(),
            flops: model.linear_flops_per_token() * lengths.input
                + model.head_flops_per_token() * lengths.requests() as f64
                + model.attention_flops_per_pair() * lengths.prompt_pairs,
        }
    }

    /// All decode steps of all requests, each in a pass of its own.
    fn decode_alone(model: &Model, lengths: &Lengths) -> Self {
        let steps = lengths.passes - lengths.requests() as f64;
        let per_token = model.linear_flops_per_token() + model.head_flops_per_token();
        Self {
            bytes: model.streamed_weight_bytes() * steps
                + model.kv_bytes_per_token() * lengths.decoded,
            flops: per_token * steps + model.attention_flops_per_pair() * lengths.decoded,
        }
    }

    fn decode(model: &Model, sequences: f64, context: f64) -> Self {
        let per_token = model.linear_flops_per_token()
            + model.head_flops_per_token()
            + model.attention_flops_per_pair() * context;
        Self {
            bytes: model.streamed_weight_bytes()
                + model.kv_bytes_per_token() * (sequences * context),
            flops: per_token * sequences,
        }
    }

    /// The longer of reading and computing: they overlap perfectly.
    fn time(&self, model: &Model, device: &Device) -> Seconds {
        let reading = self.bytes / device.memory_bandwidth();
        reading.max(self.flops / device.compute_rate(model))
    }
}
