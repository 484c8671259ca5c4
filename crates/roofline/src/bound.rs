//! The speed of light: what no engine can beat, because the bytes must be read and the arithmetic done.

use std::fmt;
use std::num::NonZeroU64;

use fizeau_core::{Bytes, Flops, PerSec, Seconds, Tokens};

use crate::{Device, Model};

/// What is asked of an endpoint: requests all alike. Where lengths vary, give their means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Length of a prompt, `I`; at least 1.
    pub input_tokens: Tokens,
    /// Tokens generated per request, `O`; at least 1.
    pub output_tokens: Tokens,
    /// How many requests are under way at once, `N`.
    pub concurrency: NonZeroU64,
}

impl Load {
    /// The context that a sequence holds, averaged over the `O` passes that it takes part in: the prompt's,
    /// which leaves `I` tokens in the cache, and `O - 1` decode steps, which leave `I + 1` to `I + O - 1`.
    /// Hence `c = I + (O - 1) / 2`.
    fn mean_context(self) -> f64 {
        self.input_tokens.get() as f64 + self.decode_steps() / 2.0
    }

    /// Passes after the prompt's own, which already gives the first token.
    fn decode_steps(self) -> f64 {
        self.output_tokens.get() as f64 - 1.0
    }
}

/// The limits that a device sets to a model under a load.
///
/// In the formulas, `W` is the weight bytes that a step reads, `k` the cache bytes per token, `BW` the
/// memory bandwidth in bytes/s, `F` the dense rate in FLOP/s, `c = I + (O - 1) / 2` the mean context, and
/// `f = linear + head + pair * c` the arithmetic of one decoded token. Reading and computing are taken to
/// overlap perfectly, all memory is free for weights and cache, nothing is spent on launching, scheduling or
/// talking.
///
/// What would make a bound too strict, and so must not be measured against it: prompts that share a cached
/// prefix, speculative decoding, a cache or weights stored in fewer bytes than [`Model`] says, models so
/// small that the device's on-chip cache holds a good part of them, and mixes in which the long prompts have
/// the short outputs (the cache traffic of a mix is then less than that of its means).
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
///     let load = Load {
///         input_tokens: Tokens::new(2048),
///         output_tokens: Tokens::new(256),
///         concurrency,
///     };
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
    /// Time per output token in a step that carries the whole batch `B`: `max((W + B k c) / BW, B f / F)`.
    /// An engine that runs fewer sequences at once than are offered, and lets the others wait, can be
    /// faster, down to [`Bound::single_tpot`].
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
        let room = room_for_cache(model, device, load)?;
        let context = load.mean_context();
        let most = room.get() / (model.kv_bytes_per_token().get() * context);
        let batch = (load.concurrency.get() as f64).min(most);

        let alone = Work::decode(model, 1.0, context);
        let ttft = prefill(model, device, load.input_tokens);
        let single_tpot = alone.time(model, device);
        let passes = load.output_tokens.get() as f64;
        let flops =
            Work::prefill(model, load.input_tokens).flops + alone.flops * load.decode_steps();
        let weights = model.streamed_weight_bytes() * (passes / batch);
        let cache = model.kv_bytes_per_token() * (passes * context);
        let request = Work {
            bytes: weights + cache,
            flops,
        };
        let requests_per_s = 1.0 / request.time(model, device).get();
        Ok(Self {
            ttft,
            tpot: Work::decode(model, batch, context).time(model, device),
            single_tpot,
            e2el: ttft + single_tpot * load.decode_steps(),
            requests_per_s: PerSec::new(requests_per_s),
            output_tokens_per_s: PerSec::new(requests_per_s * passes),
            batch,
            max_batch: most as u64,
            limited_by: LimitedBy::of(&request, weights, cache, (model, device)),
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
    Work::prefill(model, prompt).time(model, device)
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
    /// A request without a prompt or without output is no request.
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
fn room_for_cache(model: &Model, device: &Device, load: Load) -> Result<Bytes, BoundError> {
    if load.input_tokens == Tokens::ZERO {
        return Err(BoundError::Empty("input tokens"));
    }
    if load.output_tokens == Tokens::ZERO {
        return Err(BoundError::Empty("output tokens"));
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
    let longest = load.input_tokens.get() as f64 + load.decode_steps();
    let needed = model.kv_bytes_per_token() * longest;
    if needed.get() > room.get() {
        return Err(BoundError::NoRoomForRequest {
            architecture: model.architecture().to_owned(),
            device: device.name().to_owned(),
            tokens: load.input_tokens + load.output_tokens,
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
    fn prefill(model: &Model, prompt: Tokens) -> Self {
        let n = prompt.get() as f64;
        Self {
            bytes: model.streamed_weight_bytes(),
            flops: model.linear_flops_per_token() * n
                + model.head_flops_per_token()
                + model.attention_flops_per_pair() * (n * (n + 1.0) / 2.0),
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
