//! One forward pass.

use std::sync::Arc;

use fizeau_core::{Seconds, Tokens, document};
use fizeau_roofline::{ContextSpread, PassSums};
use serde::{Deserialize, Serialize};

document! {
    /// What an engine says of one forward pass, or of a second without any.
    ///
    /// Field names are those of the stream. What a version does not send is absent or zero, as its own readers take it.
    #[derive(Default)]
    #[serde(default)]
    pub struct ForwardPass {
        /// The version of the map; SGLang's first form has none.
        pub version?: u32,
        /// Which worker.
        pub worker_id: Arc<str>,
        /// Which data-parallel rank of it.
        pub dp_rank: u32,
        /// The engine's own count of passes.
        pub counter_id: u64,
        /// What `wall_time` is the time of: `execute_model_cuda` in vLLM, which leaves scheduling out; from scheduling to output in
        /// engines that do not say.
        pub timing_scope?: Arc<str>,
        /// How long it took.
        pub wall_time: Seconds,
        /// What it worked on.
        pub scheduled_requests: ScheduledWork,
        /// What waited meanwhile.
        pub queued_requests: QueuedWork,
    }
}

/// What a pass worked on.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ScheduledWork {
    /// Requests in prefill.
    pub num_prefill_requests: u64,
    /// Their tokens of this pass.
    pub sum_prefill_tokens: u64,
    /// The variance of their prompts' lengths: of whole prompts, not of chunks.
    pub var_prefill_length: f64,
    /// Tokens of theirs that the KV cache had before.
    pub sum_prefill_kv_tokens: u64,
    /// Requests in decode.
    pub num_decode_requests: u64,
    /// The lengths of their contexts together.
    pub sum_decode_kv_tokens: u64,
    /// The variance of these.
    pub var_decode_kv_tokens: f64,
}

/// What waited while a pass ran.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct QueuedWork {
    /// Requests that wait for prefill.
    pub num_prefill_requests: u64,
    /// The tokens of their prompts.
    pub sum_prefill_tokens: u64,
    /// The variance of their lengths.
    pub var_prefill_length: f64,
    /// Requests that were put off during decode.
    pub num_decode_requests: u64,
    /// The lengths of their contexts together.
    pub sum_decode_kv_tokens: u64,
    /// The variance of these.
    pub var_decode_kv_tokens: f64,
}

impl ScheduledWork {
    /// The batch, as the roofline counts it, where prompts are alike: of several a record has sums alone, and what their tokens attend
    /// to follows from how they share them.
    #[must_use]
    pub fn even_sums(&self) -> PassSums {
        let [prompts, tokens, before] =
            [self.num_prefill_requests, self.sum_prefill_tokens, self.sum_prefill_kv_tokens]
                .map(|count| count as f64);
        let each = |sum: f64| if prompts > 0.0 { sum / prompts } else { 0.0 };
        PassSums {
            decoding: self.num_decode_requests as f64,
            context: self.sum_decode_kv_tokens as f64,
            prompts,
            prompt_tokens: tokens,
            prompt_context: tokens + before,
            prompt_pairs: tokens * ((each(tokens) + 1.0) / 2.0 + each(before)),
            ..PassSums::default()
        }
    }

    /// The least that the batch can be, for a bound: contexts differ as their sums and their variance allow, up to `longest`, which is
    /// the most that the model takes; and of several prompts each attends at least to itself.
    #[must_use]
    pub fn least_sums(&self, longest: Option<Tokens>) -> PassSums {
        let even = self.even_sums();
        // The others have a token at least.
        let alone = |sum: f64, count: f64| sum - (count - 1.0).max(0.0);
        let within =
            alone(even.context, even.decoding).max(alone(even.prompt_context, even.prompts));
        let most = ContextSpread::up_to(longest);
        let longest = most.longest.min(within);
        let spread = Some(ContextSpread { longest, variance: self.decode_variance() });
        if self.num_prefill_requests == 1 {
            return PassSums { spread, ..even };
        }
        let nothing_before = Self { sum_prefill_kv_tokens: 0, ..*self };
        PassSums { prompt_pairs: nothing_before.even_sums().prompt_pairs, spread, ..even }
    }

    /// The variance of the contexts that decode. One that is zero where they cannot all be alike was not sent.
    fn decode_variance(&self) -> Option<f64> {
        let may_be_alike = self.sum_decode_kv_tokens.is_multiple_of(self.num_decode_requests);
        let variance = Some(self.var_decode_kv_tokens).filter(|variance| variance.is_finite());
        variance.filter(|variance| *variance > 0.0 || (*variance == 0.0 && may_be_alike))
    }
}

/// Why a message is no forward pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForwardPassError {
    /// Another number of parts.
    #[error("a message of {0} parts; a forward pass has three: topic, sequence, map")]
    Parts(usize),
    /// A sequence of another length.
    #[error("a sequence of {0} bytes; it has eight")]
    Sequence(usize),
    /// No such map.
    #[error("not a map of a forward pass: {0}")]
    Map(String),
    /// A time that is none.
    #[error("a wall time that is no length of time")]
    WallTime,
}

/// The bytes of a text; of a longer one the beginning is kept.
#[cfg(feature = "forward-pass")]
const LONGEST_TEXT: usize = 256;

impl ForwardPass {
    /// Reads the map. Texts that are far longer than any engine's are cut.
    ///
    /// # Errors
    /// If `bytes` is no such map, or its time is no length of time.
    #[cfg(feature = "forward-pass")]
    pub fn from_msgpack(bytes: &[u8]) -> Result<Self, ForwardPassError> {
        let mut pass: Self = rmp_serde::from_slice(bytes).map_err(|error| {
            ForwardPassError::Map(error.to_string().chars().take(120).collect())
        })?;
        let texts = [Some(&mut pass.worker_id), pass.timing_scope.as_mut()];
        for text in texts.into_iter().flatten().filter(|text| text.len() > LONGEST_TEXT) {
            *text = text.chars().take(LONGEST_TEXT / 4).collect::<String>().into();
        }
        let is_time = pass.wall_time.get().is_finite() && pass.wall_time.get() >= 0.0;
        is_time.then_some(pass).ok_or(ForwardPassError::WallTime)
    }

    /// As the map that [`ForwardPass::from_msgpack`] reads.
    #[cfg(feature = "forward-pass")]
    #[must_use]
    pub fn to_msgpack(&self) -> Vec<u8> {
        // Numbers and texts under names that are texts can always be written.
        rmp_serde::to_vec_named(self).unwrap_or_default()
    }

    /// Whether it says no more than that the engine lives.
    #[must_use]
    pub fn is_heartbeat(&self) -> bool {
        let work = &self.scheduled_requests;
        work.num_prefill_requests == 0 && work.num_decode_requests == 0
    }

    /// The share of its tokens that are of prompts, 0 to 1; none of a heartbeat.
    #[must_use]
    pub fn prefill_share(&self) -> Option<f64> {
        let work = &self.scheduled_requests;
        let tokens = work.sum_prefill_tokens as f64;
        Some(tokens / (tokens + work.num_decode_requests as f64)).filter(|share| share.is_finite())
    }
}
