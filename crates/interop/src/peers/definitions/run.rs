//! Of what goes into the figures of a run.

use super::{Definition, table};

pub(in crate::peers) static DURATION: [Definition; 11] = table(&[
    (
        "duration",
        "issuing loop until all ended",
        "the wait before the first arrival is in it, which no tape has",
    ),
    ("duration", "as vllm", "as vllm"),
    ("duration", "as vllm", "as vllm"),
    (
        "benchmark_duration",
        "last content - first start, of successes",
        "the time of failed requests is not in it",
    ),
    ("", "end of warm-up to begin of cool-down", "a part of the run"),
    ("", "last end - first start, of all", "begins with a sending, not a release"),
    ("duration_ms", "last end - start of the first that ended", "begins with the first to end"),
    ("", "start of the threads to their join", "the time between requests' threads is in it"),
    ("", "start of the schedule to end of the last issued", "what ends after that is not in it"),
    ("Test Duration (s)", "last end - first start, of all", "begins with a sending, not a release"),
    ("", "last response - first start, of successes", "the time of failed requests is not in it"),
]);

/// What all that give any percentile of any sample have in common.
const ANY: &str = "given of any sample, however small";

pub(in crate::peers) static PERCENTILES: [Definition; 11] = table(&[
    ("p99_ttft_ms", "linear, as numpy", ANY),
    ("p99_ttft_ms", "linear, as numpy", ANY),
    ("p99_ttft_ms", "linear, as numpy", ANY),
    (
        "time_to_first_token.p99",
        "linear, as numpy; `nearest` for adj_*; a t-digest for lists if asked",
        ANY,
    ),
    (
        "successful.time_to_first_token_ms.percentiles.p99",
        "least value at which the weights reach p",
        "nothing between two values; what is missing counts as 0.0",
    ),
    ("successes.latency.time_to_first_token.p99", "linear, as numpy", ANY),
    ("time_to_first_token_ms.p99", "linear", ANY),
    ("results_ttft_s_quantiles_p99", "linear, as pandas", ANY),
    (
        "99.00 percentile first token latency (ns)",
        "value at index floor(n p), from 0",
        "a rank too high where n p is whole",
    ),
    (
        "TTFT (ms) 99%",
        "nearest rank, to four decimals",
        "before, index floor(n p) and two decimals: a rank too high where n p is whole",
    ),
    ("time_to_first_token.p99", "linear, as numpy", ANY),
]);

pub(in crate::peers) static FAILURES: [Definition; 11] = table(&[
    (
        "failed",
        "no HTTP 200 or no token; out of latencies and rates",
        "a stream that breaks off after a token can pass",
    ),
    ("failed", "as vllm", "as vllm"),
    (
        "",
        "what is not completed of all sent; out of latencies and rates",
        "as vllm; no count of them",
    ),
    (
        "error_request_count",
        "counted apart, and in no other figure",
        "their time is not in the duration",
    ),
    (
        "errored.request_count",
        "a group with distributions of its own; called-off ones are another",
        "its total has them in the latencies",
    ),
    ("failures.count", "counted apart; their time stays in the duration", ""),
    ("failed_requests", "counted apart; their time stays in the duration", ""),
    ("results_number_errors", "counted apart; their time stays in the duration", ""),
    ("", "none: every query completes", "a failed one cannot be told"),
    ("Failed Requests", "counted apart; their time stays in the duration", ""),
    ("", "those with an error event", "a reply that breaks off passes for a whole one"),
]);

pub(in crate::peers) static TOKENS: [Definition; 11] = table(&[
    ("total_output_tokens", "usage, else its tokenizer over the text, else 1", "no source is told"),
    ("total_output_tokens", "usage, else the number of events", "events may pass for tokens"),
    (
        "total_output_tokens",
        "usage, else the length that was asked for",
        "a length that was asked for may pass for one that came",
    ),
    (
        "total_osl",
        "its tokenizer over the text, or usage if told so",
        "text encoded again need not give the tokens that came",
    ),
    ("", "usage, else the number of iterations", "events may pass for tokens"),
    ("", "its tokenizer over the text; usage if told so", "as aiperf"),
    ("total_tokens", "its tokenizer over each event", "as aiperf"),
    ("", "one Llama tokenizer for every model", "another model's tokens are not counted"),
    ("", "as the system under test says", "not seen by the client"),
    ("", "usage, else its tokenizer over the text", "no source is told"),
    ("", "its tokenizer over the text", "as aiperf"),
]);
