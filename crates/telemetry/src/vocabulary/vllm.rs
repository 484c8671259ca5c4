//! The names that vLLM uses, whatever stands before them.

use super::engines::{plain, seconds};
use super::entry::VocabularyEntry;
use super::exporter::Exporter::Vllm;
use super::meaning::MetricMeaning::*;

macro_rules! names {
    ($prefix:literal) => {
        &[
            plain(concat!($prefix, "num_requests_running"), Running, Vllm),
            plain(concat!($prefix, "num_requests_waiting"), Waiting, Vllm),
            plain(concat!($prefix, "num_requests_waiting_by_reason"), WaitingByReason, Vllm),
            plain(concat!($prefix, "kv_cache_usage_perc"), KvUse, Vllm),
            // Until 0.10.
            plain(concat!($prefix, "gpu_cache_usage_perc"), KvUse, Vllm),
            plain(concat!($prefix, "cache_config_info"), CacheConfig, Vllm),
            plain(concat!($prefix, "num_preemptions"), Preemptions, Vllm),
            plain(concat!($prefix, "prefix_cache_hits"), PrefixHits, Vllm),
            plain(concat!($prefix, "prefix_cache_queries"), PrefixQueries, Vllm),
            plain(concat!($prefix, "gpu_prefix_cache_hits"), PrefixHits, Vllm),
            plain(concat!($prefix, "gpu_prefix_cache_queries"), PrefixQueries, Vllm),
            plain(concat!($prefix, "external_prefix_cache_hits"), ExternalPrefixHits, Vllm),
            plain(concat!($prefix, "external_prefix_cache_queries"), ExternalPrefixQueries, Vllm),
            plain(concat!($prefix, "prompt_tokens"), PromptTokens, Vllm),
            plain(concat!($prefix, "prompt_tokens_by_source"), PromptTokensBySource, Vllm),
            plain(concat!($prefix, "prompt_tokens_cached"), PromptTokensCached, Vllm),
            plain(concat!($prefix, "generation_tokens"), GenerationTokens, Vllm),
            plain(concat!($prefix, "request_success"), Requests, Vllm),
            plain(concat!($prefix, "request_prompt_tokens"), RequestPromptTokens, Vllm),
            plain(concat!($prefix, "request_generation_tokens"), RequestGenerationTokens, Vllm),
            seconds(concat!($prefix, "time_to_first_token_seconds"), Ttft, Vllm),
            seconds(concat!($prefix, "inter_token_latency_seconds"), Itl, Vllm),
            // Until 0.11 the name of what it is now called inter-token latency.
            seconds(concat!($prefix, "time_per_output_token_seconds"), Itl, Vllm),
            seconds(concat!($prefix, "request_time_per_output_token_seconds"), Tpot, Vllm),
            seconds(concat!($prefix, "e2e_request_latency_seconds"), E2el, Vllm),
            seconds(concat!($prefix, "request_queue_time_seconds"), QueueTime, Vllm),
            seconds(concat!($prefix, "request_prefill_time_seconds"), PrefillTime, Vllm),
            seconds(concat!($prefix, "request_decode_time_seconds"), DecodeTime, Vllm),
            seconds(concat!($prefix, "request_inference_time_seconds"), InferenceTime, Vllm),
            plain(concat!($prefix, "iteration_tokens"), IterationTokens, Vllm),
            plain(concat!($prefix, "iteration_tokens_total"), IterationTokens, Vllm),
            plain(concat!($prefix, "spec_decode_num_drafts"), Drafts, Vllm),
            plain(concat!($prefix, "spec_decode_num_draft_tokens"), DraftTokens, Vllm),
            plain(concat!($prefix, "spec_decode_num_accepted_tokens"), AcceptedTokens, Vllm),
            plain(
                concat!($prefix, "spec_decode_num_accepted_tokens_per_pos"),
                AcceptedByPosition,
                Vllm,
            ),
            plain(concat!($prefix, "estimated_flops_per_gpu"), EstimatedFlops, Vllm),
            plain(concat!($prefix, "estimated_read_bytes_per_gpu"), EstimatedReadBytes, Vllm),
            plain(concat!($prefix, "estimated_write_bytes_per_gpu"), EstimatedWriteBytes, Vllm),
        ]
    };
}

pub(super) const VLLM: &[VocabularyEntry] = names!("vllm:");
/// In Ray Serve, where Ray's agent of metrics gives the page: `vllm/v1/metrics/ray_wrappers.py`. Colons are none of its names'.
pub(super) const IN_RAY: &[VocabularyEntry] = names!("ray_vllm_");
/// Likewise until 2025.
pub(super) const IN_OLD_RAY: &[VocabularyEntry] = names!("ray_vllm:");
