//! The names that engines use.

use super::entry::VocabularyEntry;
use super::exporter::Exporter::{self, Dynamo, LlamaCpp, Sglang, TensorrtLlm, Tgi, Vllm};
use super::meaning::MetricMeaning::{self, *};

const fn plain(name: &'static str, meaning: MetricMeaning, exporter: Exporter) -> VocabularyEntry {
    VocabularyEntry { name, meaning, exporter, scale: 1.0 }
}

/// Of a time in seconds.
const fn seconds(
    name: &'static str,
    meaning: MetricMeaning,
    exporter: Exporter,
) -> VocabularyEntry {
    VocabularyEntry { name, meaning, exporter, scale: 1e3 }
}

pub(super) const ENGINES: &[VocabularyEntry] = &[
    plain("vllm:num_requests_running", Running, Vllm),
    plain("vllm:num_requests_waiting", Waiting, Vllm),
    plain("vllm:num_requests_waiting_by_reason", WaitingByReason, Vllm),
    plain("vllm:kv_cache_usage_perc", KvUse, Vllm),
    // Until 0.10.
    plain("vllm:gpu_cache_usage_perc", KvUse, Vllm),
    plain("vllm:cache_config_info", CacheConfig, Vllm),
    plain("vllm:num_preemptions", Preemptions, Vllm),
    plain("vllm:prefix_cache_hits", PrefixHits, Vllm),
    plain("vllm:prefix_cache_queries", PrefixQueries, Vllm),
    plain("vllm:gpu_prefix_cache_hits", PrefixHits, Vllm),
    plain("vllm:gpu_prefix_cache_queries", PrefixQueries, Vllm),
    plain("vllm:external_prefix_cache_hits", ExternalPrefixHits, Vllm),
    plain("vllm:external_prefix_cache_queries", ExternalPrefixQueries, Vllm),
    plain("vllm:prompt_tokens", PromptTokens, Vllm),
    plain("vllm:prompt_tokens_by_source", PromptTokensBySource, Vllm),
    plain("vllm:prompt_tokens_cached", PromptTokensCached, Vllm),
    plain("vllm:generation_tokens", GenerationTokens, Vllm),
    plain("vllm:request_success", Requests, Vllm),
    plain("vllm:request_prompt_tokens", RequestPromptTokens, Vllm),
    plain("vllm:request_generation_tokens", RequestGenerationTokens, Vllm),
    seconds("vllm:time_to_first_token_seconds", Ttft, Vllm),
    seconds("vllm:inter_token_latency_seconds", Itl, Vllm),
    // Until 0.11 the name of what it is now called inter-token latency.
    seconds("vllm:time_per_output_token_seconds", Itl, Vllm),
    seconds("vllm:request_time_per_output_token_seconds", Tpot, Vllm),
    seconds("vllm:e2e_request_latency_seconds", E2el, Vllm),
    seconds("vllm:request_queue_time_seconds", QueueTime, Vllm),
    seconds("vllm:request_prefill_time_seconds", PrefillTime, Vllm),
    seconds("vllm:request_decode_time_seconds", DecodeTime, Vllm),
    seconds("vllm:request_inference_time_seconds", InferenceTime, Vllm),
    plain("vllm:iteration_tokens", IterationTokens, Vllm),
    plain("vllm:iteration_tokens_total", IterationTokens, Vllm),
    plain("vllm:spec_decode_num_drafts", Drafts, Vllm),
    plain("vllm:spec_decode_num_draft_tokens", DraftTokens, Vllm),
    plain("vllm:spec_decode_num_accepted_tokens", AcceptedTokens, Vllm),
    plain("vllm:spec_decode_num_accepted_tokens_per_pos", AcceptedByPosition, Vllm),
    plain("vllm:estimated_flops_per_gpu", EstimatedFlops, Vllm),
    plain("vllm:estimated_read_bytes_per_gpu", EstimatedReadBytes, Vllm),
    plain("vllm:estimated_write_bytes_per_gpu", EstimatedWriteBytes, Vllm),
    // ---
    plain("sglang:num_running_reqs", Running, Sglang),
    plain("sglang:num_queue_reqs", Waiting, Sglang),
    plain("sglang:token_usage", KvUse, Sglang),
    plain("sglang:max_total_num_tokens", KvTokens, Sglang),
    // Requests taken out of the batch to make room, since late 2025; `num_retracted_reqs` is a gauge.
    plain("sglang:num_retracted_requests", Preemptions, Sglang),
    plain("sglang:cached_tokens", PromptTokensCached, Sglang),
    plain("sglang:prompt_tokens", PromptTokens, Sglang),
    plain("sglang:generation_tokens", GenerationTokens, Sglang),
    plain("sglang:num_requests", Requests, Sglang),
    plain("sglang:prompt_tokens_histogram", RequestPromptTokens, Sglang),
    plain("sglang:generation_tokens_histogram", RequestGenerationTokens, Sglang),
    seconds("sglang:time_to_first_token_seconds", Ttft, Sglang),
    seconds("sglang:inter_token_latency_seconds", Itl, Sglang),
    seconds("sglang:time_per_output_token_seconds", Tpot, Sglang),
    seconds("sglang:e2e_request_latency_seconds", E2el, Sglang),
    seconds("sglang:queue_time_seconds", QueueTime, Sglang),
    // By the label `stage`, of which `prefill_forward` is taken: from the last pass that took the prompt in to its end. Decoding is a
    // stage too, but not on the page (`python/sglang/srt/observability/req_time_stats.py`).
    seconds("sglang:per_stage_req_latency_seconds", PrefillTime, Sglang),
    plain("sglang:spec_accept_length", AcceptLength, Sglang),
    plain("sglang:estimated_flops_per_gpu", EstimatedFlops, Sglang),
    plain("sglang:estimated_read_bytes_per_gpu", EstimatedReadBytes, Sglang),
    plain("sglang:estimated_write_bytes_per_gpu", EstimatedWriteBytes, Sglang),
    // ---
    plain("trtllm_num_requests_running", Running, TensorrtLlm),
    plain("trtllm_num_requests_waiting", Waiting, TensorrtLlm),
    plain("trtllm_kv_cache_utilization", KvUse, TensorrtLlm),
    plain("trtllm_prompt_tokens", PromptTokens, TensorrtLlm),
    plain("trtllm_generation_tokens", GenerationTokens, TensorrtLlm),
    plain("trtllm_request_success", Requests, TensorrtLlm),
    seconds("trtllm_time_to_first_token_seconds", Ttft, TensorrtLlm),
    seconds("trtllm_time_per_output_token_seconds", Tpot, TensorrtLlm),
    seconds("trtllm_e2e_request_latency_seconds", E2el, TensorrtLlm),
    seconds("trtllm_request_queue_time_seconds", QueueTime, TensorrtLlm),
    seconds("trtllm_request_prefill_time_seconds", PrefillTime, TensorrtLlm),
    seconds("trtllm_request_decode_time_seconds", DecodeTime, TensorrtLlm),
    seconds("trtllm_request_inference_time_seconds", InferenceTime, TensorrtLlm),
    // As Dynamo passed them on until 0.8.
    plain("trtllm:request_success", Requests, TensorrtLlm),
    seconds("trtllm:time_to_first_token_seconds", Ttft, TensorrtLlm),
    seconds("trtllm:time_per_output_token_seconds", Tpot, TensorrtLlm),
    seconds("trtllm:e2e_request_latency_seconds", E2el, TensorrtLlm),
    seconds("trtllm:request_queue_time_seconds", QueueTime, TensorrtLlm),
    // Of its JSON array, by the way to the number.
    plain("trtllm.numActiveRequests", Running, TensorrtLlm),
    plain("trtllm.numQueuedRequests", Waiting, TensorrtLlm),
    plain("trtllm.kvCacheStats.usedNumBlocks", KvBlocksUsed, TensorrtLlm),
    plain("trtllm.kvCacheStats.maxNumBlocks", KvBlocks, TensorrtLlm),
    plain("trtllm.kvCacheStats.tokensPerBlock", KvBlockSize, TensorrtLlm),
    // How many there were since the page before: `trtllm.iter` of the last one is missing where there was none.
    plain("trtllm.iterations", Iterations, TensorrtLlm),
    // ---
    plain("tgi_batch_current_size", Running, Tgi),
    plain("tgi_queue_size", Waiting, Tgi),
    plain("tgi_request_success", Requests, Tgi),
    plain("tgi_request_input_length", RequestPromptTokens, Tgi),
    plain("tgi_request_generated_tokens", RequestGenerationTokens, Tgi),
    // The sums of these two are its counters of tokens.
    plain("tgi_request_input_length_sum", PromptTokens, Tgi),
    plain("tgi_request_generated_tokens_sum", GenerationTokens, Tgi),
    seconds("tgi_request_duration", E2el, Tgi),
    seconds("tgi_request_queue_duration", QueueTime, Tgi),
    // `tgi_request_mean_time_per_token_duration` is this time over all tokens, so that prefill is in it: no TPOT.
    seconds("tgi_request_inference_duration", InferenceTime, Tgi),
    // ---
    plain("llamacpp:requests_processing", Running, LlamaCpp),
    plain("llamacpp:requests_deferred", Waiting, LlamaCpp),
    // Until 2025.
    plain("llamacpp:kv_cache_usage_ratio", KvUse, LlamaCpp),
    plain("llamacpp:prompt_tokens", PromptTokens, LlamaCpp),
    plain("llamacpp:prompt_tokens_cached", PromptTokensCached, LlamaCpp),
    plain("llamacpp:tokens_predicted", GenerationTokens, LlamaCpp),
    plain("llamacpp:n_decode", Iterations, LlamaCpp),
    plain("llamacpp:spec_decode_num_drafts", Drafts, LlamaCpp),
    plain("llamacpp:spec_decode_num_draft_tokens", DraftTokens, LlamaCpp),
    plain("llamacpp:spec_decode_num_accepted_tokens", AcceptedTokens, LlamaCpp),
    // ---
    plain("dynamo_frontend_inflight_requests", Running, Dynamo),
    plain("dynamo_frontend_queued_requests", Waiting, Dynamo),
    plain("dynamo_component_gpu_cache_usage_percent", KvUse, Dynamo),
    plain("dynamo_component_kvstats_gpu_cache_usage_percent", KvUse, Dynamo),
    // `dynamo_frontend_model_total_kv_blocks` is of one worker of a model, however many serve it.
    plain("dynamo_frontend_output_tokens", GenerationTokens, Dynamo),
    plain("dynamo_frontend_requests", Requests, Dynamo),
    plain("dynamo_frontend_input_sequence_tokens", RequestPromptTokens, Dynamo),
    plain("dynamo_frontend_output_sequence_tokens", RequestGenerationTokens, Dynamo),
    seconds("dynamo_frontend_time_to_first_token_seconds", Ttft, Dynamo),
    seconds("dynamo_frontend_inter_token_latency_seconds", Itl, Dynamo),
    seconds("dynamo_frontend_request_duration_seconds", E2el, Dynamo),
];
