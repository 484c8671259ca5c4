//! The names that engines use.

use super::entry::VocabularyEntry;
use super::exporter::Exporter::{self, Dynamo, LlamaCpp, Lmdeploy, Nim, Sglang, TensorrtLlm, Tgi};
use super::meaning::MetricMeaning::{self, *};

pub(super) const fn plain(
    name: &'static str,
    meaning: MetricMeaning,
    exporter: Exporter,
) -> VocabularyEntry {
    VocabularyEntry { name, meaning, exporter, scale: 1.0 }
}

/// Of a time in seconds.
pub(super) const fn seconds(
    name: &'static str,
    meaning: MetricMeaning,
    exporter: Exporter,
) -> VocabularyEntry {
    VocabularyEntry { name, meaning, exporter, scale: 1e3 }
}

/// A series for each kind of request, by the label `request_type`.
pub(super) const TRITON_REQUESTS: &str = "nv_trt_llm_request_metrics";
/// A series for each figure of the KV cache, by the label `kv_cache_block_type`.
pub(super) const TRITON_BLOCKS: &str = "nv_trt_llm_kv_cache_block_metrics";

pub(super) const ENGINES: &[VocabularyEntry] = &[
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
    plain("trtllm_kv_cache_max_blocks", KvBlocks, TensorrtLlm),
    plain("trtllm_kv_cache_used_blocks", KvBlocksUsed, TensorrtLlm),
    plain("trtllm_kv_cache_tokens_per_block", KvBlockSize, TensorrtLlm),
    plain("trtllm_kv_cache_reused_blocks", PrefixHits, TensorrtLlm),
    // Those that were not there alone: hits are added to them.
    plain("trtllm_kv_cache_missed_blocks", PrefixQueries, TensorrtLlm),
    plain("trtllm_prompt_tokens", PromptTokens, TensorrtLlm),
    plain("trtllm_prompt_cached_tokens", PromptTokensCached, TensorrtLlm),
    plain("trtllm_generation_tokens", GenerationTokens, TensorrtLlm),
    plain("trtllm_request_success", Requests, TensorrtLlm),
    seconds("trtllm_time_to_first_token_seconds", Ttft, TensorrtLlm),
    seconds("trtllm_time_per_output_token_seconds", Tpot, TensorrtLlm),
    seconds("trtllm_e2e_request_latency_seconds", E2el, TensorrtLlm),
    seconds("trtllm_request_queue_time_seconds", QueueTime, TensorrtLlm),
    seconds("trtllm_request_prefill_time_seconds", PrefillTime, TensorrtLlm),
    seconds("trtllm_request_decode_time_seconds", DecodeTime, TensorrtLlm),
    seconds("trtllm_request_inference_time_seconds", InferenceTime, TensorrtLlm),
    // By the label `token_position`, of requests that ended, as generated tokens are.
    plain("trtllm_spec_decode_drafted_tokens", DraftTokens, TensorrtLlm),
    plain("trtllm_spec_decode_accepted_tokens", AcceptedTokens, TensorrtLlm),
    // Step by step.
    plain("trtllm_spec_decode_num_draft_tokens", DraftTokens, TensorrtLlm),
    plain("trtllm_spec_decode_num_accepted_tokens", AcceptedTokens, TensorrtLlm),
    plain("trtllm_spec_decode_acceptance_length", AcceptLength, TensorrtLlm),
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
    // Of Triton's backend: what each series is about its label says (`VocabularyEntry::has`). It counts no tokens.
    plain(TRITON_REQUESTS, Running, TensorrtLlm),
    plain(TRITON_REQUESTS, Waiting, TensorrtLlm),
    plain(TRITON_BLOCKS, KvUse, TensorrtLlm),
    plain(TRITON_BLOCKS, KvBlocks, TensorrtLlm),
    plain(TRITON_BLOCKS, KvBlocksUsed, TensorrtLlm),
    plain(TRITON_BLOCKS, KvBlockSize, TensorrtLlm),
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
    plain("lmdeploy:num_requests_running", Running, Lmdeploy),
    plain("lmdeploy:num_requests_waiting", Waiting, Lmdeploy),
    plain("lmdeploy:gpu_cache_usage_perc", KvUse, Lmdeploy),
    plain("lmdeploy:prompt_tokens", PromptTokens, Lmdeploy),
    plain("lmdeploy:generation_tokens", GenerationTokens, Lmdeploy),
    plain("lmdeploy:request_success", Requests, Lmdeploy),
    plain("lmdeploy:request_prompt_tokens", RequestPromptTokens, Lmdeploy),
    plain("lmdeploy:request_generation_tokens", RequestGenerationTokens, Lmdeploy),
    seconds("lmdeploy:time_to_first_token_seconds", Ttft, Lmdeploy),
    seconds("lmdeploy:iter_token_latency", Itl, Lmdeploy),
    // Of an iteration and not of a request, for all its name (`lmdeploy/metrics/loggers.py`).
    seconds("lmdeploy:time_per_output_token_seconds", Itl, Lmdeploy),
    seconds("lmdeploy:e2e_request_latency_seconds", E2el, Lmdeploy),
    seconds("lmdeploy:request_queue_time_seconds", QueueTime, Lmdeploy),
    seconds("lmdeploy:request_prefill_time_seconds", PrefillTime, Lmdeploy),
    seconds("lmdeploy:request_decode_time_seconds", DecodeTime, Lmdeploy),
    seconds("lmdeploy:request_inference_time_seconds", InferenceTime, Lmdeploy),
    plain("lmdeploy:iteration_tokens_total", IterationTokens, Lmdeploy),
    plain("lmdeploy:spec_decode_num_drafts", Drafts, Lmdeploy),
    plain("lmdeploy:spec_decode_num_draft_tokens", DraftTokens, Lmdeploy),
    plain("lmdeploy:spec_decode_num_accepted_tokens", AcceptedTokens, Lmdeploy),
    plain("lmdeploy:spec_decode_num_accepted_tokens_per_pos", AcceptedByPosition, Lmdeploy),
    // ---
    plain("num_requests_running", Running, Nim),
    plain("num_requests_waiting", Waiting, Nim),
    plain("gpu_cache_usage_perc", KvUse, Nim),
    plain("prompt_tokens", PromptTokens, Nim),
    plain("generation_tokens", GenerationTokens, Nim),
    plain("request_success", Requests, Nim),
    plain("request_prompt_tokens", RequestPromptTokens, Nim),
    plain("request_generation_tokens", RequestGenerationTokens, Nim),
    seconds("time_to_first_token_seconds", Ttft, Nim),
    seconds("time_per_output_token_seconds", Tpot, Nim),
    seconds("e2e_request_latency_seconds", E2el, Nim),
    // ---
    plain("dynamo_frontend_inflight_requests", Running, Dynamo),
    // The name since 1.0 of the same: from the handler's entry to the end of the reply.
    plain("dynamo_frontend_active_requests", Running, Dynamo),
    // Part of both. Since 1.0 by the labels `stage` and `phase`, whose sum is the other's.
    plain("dynamo_frontend_queued_requests", AwaitingFirstToken, Dynamo),
    plain("dynamo_frontend_stage_requests", AwaitingFirstToken, Dynamo),
    plain("dynamo_component_gpu_cache_usage_percent", KvUse, Dynamo),
    plain("dynamo_component_kvstats_gpu_cache_usage_percent", KvUse, Dynamo),
    // `dynamo_frontend_model_total_kv_blocks` is of one worker of a model, however many serve it.
    plain("dynamo_frontend_output_tokens", GenerationTokens, Dynamo),
    // The sums of these two are its counters of prompts.
    plain("dynamo_frontend_input_sequence_tokens_sum", PromptTokens, Dynamo),
    plain("dynamo_frontend_cached_tokens_sum", PromptTokensCached, Dynamo),
    plain("dynamo_frontend_requests", Requests, Dynamo),
    plain("dynamo_frontend_input_sequence_tokens", RequestPromptTokens, Dynamo),
    plain("dynamo_frontend_output_sequence_tokens", RequestGenerationTokens, Dynamo),
    seconds("dynamo_frontend_time_to_first_token_seconds", Ttft, Dynamo),
    seconds("dynamo_frontend_inter_token_latency_seconds", Itl, Dynamo),
    seconds("dynamo_frontend_request_duration_seconds", E2el, Dynamo),
];
