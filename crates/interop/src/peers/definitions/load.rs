//! Of whole runs.

use super::{Definition, table};

pub(in crate::peers) static THROUGHPUT: [Definition; 11] = table(&[
    (
        "output_throughput",
        "tokens of successes / issuing loop until all ended",
        "the wait before the first arrival is in the time",
    ),
    ("output_throughput", "as vllm; its steady state counts events", "events may pass for tokens"),
    (
        "output_throughput",
        "tokens of successes / issuing loop until all ended",
        "the asked length counts where there is no usage",
    ),
    (
        "output_token_throughput",
        "tokens / (last content - first start), successes alone",
        "time of failed requests is not in it; its own tokenizer",
    ),
    (
        "output_tokens_per_second",
        "over an evened-out curve between warm-up and cool-down",
        "tokens are spread evenly over a reply",
    ),
    (
        "output_tokens_per_sec",
        "tokens of successes / (last end - first start) of all",
        "its own tokenizer",
    ),
    (
        "token_throughput_secs",
        "tokens / (last end - start of the first that ended)",
        "it begins with the first to end, not to start",
    ),
    (
        "mean_output_throughput_token_per_s",
        "tokens / (start of the threads - their join)",
        "counts with one Llama tokenizer for all models",
    ),
    (
        "Completed tokens per second",
        "tokens / (start of the schedule - end of the last issued)",
        "what ends after the last issued is not in the time; its samples a second are one less",
    ),
    ("Output Throughput (tok/s)", "tokens of successes / (last end - first start) of all", ""),
    ("output_token_throughput", "tokens / (last response - first start)", "its own tokenizer"),
]);

pub(in crate::peers) static GOODPUT: [Definition; 11] = table(&[
    (
        "request_goodput",
        "successes within every goal / time",
        "a reply of one token has a TPOT of 0; no share is given",
    ),
    ("request_goodput", "as vllm", "as vllm"),
    (
        "request_goodput",
        "good / time; its slo_attainment is good / all sent",
        "a reply of one token has a TPOT of 0",
    ),
    ("goodput", "good / benchmark duration; fraction of all requests", ""),
    (
        "",
        "conforming / those with a verdict, within the window",
        "who has a verdict depends on the goals",
    ),
    (
        "request_goodput",
        "good / time of successes; its goodput_percentage is good / successes",
        "the time of failed requests is not in it, nor they in the share",
    ),
    ("", "none", ""),
    ("", "none", ""),
    ("", "none: a run is valid or not by a percentile", "a verdict on the run, not on requests"),
    ("", "none per request; groups of goals on averages and percentiles", ""),
    ("request_goodput", "good / time", ""),
]);

pub(in crate::peers) static CONCURRENCY: [Definition; 11] = table(&[
    (
        "max_concurrent_requests",
        "most requests that touch one second of the clock",
        "requests that follow each other within a second are added up",
    ),
    ("max_concurrent_requests", "as vllm", "as vllm"),
    (
        "max_concurrent_requests",
        "as vllm; its concurrency is a mean, sum of latencies / duration",
        "as vllm",
    ),
    ("effective_concurrency", "by events, weighted by time", "a mean"),
    ("request_concurrency", "by starts and ends, weighted by time", "a mean"),
    ("", "as configured", "not measured"),
    ("", "as configured", "not measured"),
    ("", "as configured", "not measured"),
    ("", "none", ""),
    ("", "its Concurrency is the one configured", "not measured"),
    ("", "as configured", "not measured"),
]);
