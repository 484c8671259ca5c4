//! Of single requests.

use super::{Definition, table};

pub(in crate::peers) static TTFT: [Definition; 11] = table(&[
    ("ttft_ms", "first event with choices or content - start", "an empty first text counts"),
    ("ttft_ms", "as vllm", "as vllm"),
    ("ttft_ms", "first event with text - start", "tokens without text do not count"),
    (
        "time_to_first_token",
        "first response with content or reasoning - start",
        "tokens without text do not count; \
         time_to_first_output_token leaves reasoning out",
    ),
    (
        "time_to_first_token_ms",
        "first iteration - start, by the wall clock",
        "0.0 where there is none; a clock step moves it",
    ),
    (
        "time_to_first_token",
        "first event whose text has a token - start",
        "absent of replies of one token",
    ),
    ("time_to_first_token_ms", "first event - start", ""),
    ("ttft_s", "first content - start", ""),
    (
        "First Token latency",
        "as the system under test reports it - schedule",
        "our scheduled TTFT, if the client sees what the system says",
    ),
    ("TTFT (ms)", "first event - start", ""),
    (
        "time_to_first_token",
        "first response - start",
        "empty ones dropped, events of one read merged",
    ),
]);

pub(in crate::peers) static TPOT: [Definition; 11] = table(&[
    (
        "tpot_ms",
        "(latency - ttft) / (n - 1), n > 1",
        "subtracts 1, whatever the first event carried; 0 for goodput where n = 1",
    ),
    ("tpot_ms", "as vllm; n counts events without usage", "as vllm; events may pass for tokens"),
    (
        "tpot_ms",
        "(e - s - ttft) / (n - 1), n > 1",
        "runs to the end of the stream; n is the asked length without usage",
    ),
    (
        "inter_token_latency",
        "(latency - ttft) / (n - 1), n > 1",
        "subtracts 1 unless --per-chunk-usage tells the first event's tokens",
    ),
    (
        "inter_token_latency_ms",
        "(l - f) / (n - 1), means weighted by n - 1",
        "weighted by tokens; its time_per_output_token_ms is (l - s) / n, TTFT included",
    ),
    ("time_per_output_token", "(l - f) / (n - 1)", "subtracts 1, whatever the first event carried"),
    (
        "inter_token_latency_ms",
        "sum of later gaps / (n - 1)",
        "subtracts 1, whatever the first event carried",
    ),
    (
        "inter_token_latency_s",
        "sum of all gaps, ttft included / events or tokens",
        "the time to the first token is in it",
    ),
    ("Time to Output Token", "(latency - ttft) / (n - 1)", "both as the system reports them"),
    ("TPOT (ms)", "(latency - ttft) / (n - 1)", "subtracts 1, whatever the first event carried"),
    (
        "inter_token_latency",
        "(latency - ttft) / (n - 1), to whole nanoseconds",
        "subtracts 1, whatever the first event carried",
    ),
]);

pub(in crate::peers) static ITL: [Definition; 11] = table(&[
    (
        "itl_ms",
        "gaps between events, all requests pooled",
        "an event of two tokens is one gap: our ICL",
    ),
    ("itl_ms", "as vllm", "as vllm"),
    (
        "itl_ms",
        "gaps between events with text; shared over tokens on its native route",
        "on OpenAI routes our ICL",
    ),
    ("inter_chunk_latency", "gaps between responses with content", "our ICL"),
    (
        "inter_token_latency_ms",
        "one mean a request; times are spread evenly over a reply",
        "no gap is seen: a stall vanishes in its reply's mean",
    ),
    (
        "inter_token_latency",
        "gaps between tokens; those of one event have its instant",
        "gaps within an event are zero",
    ),
    ("inter_token_latency_ms", "one mean a request", "no gap is reported"),
    ("inter_token_latency_s", "one mean a request, ttft included", "no gap is reported"),
    ("", "none", "it sees no events"),
    ("ITL (ms)", "gaps between events", "our ICL"),
    ("inter_token_latency", "one mean a request", "no gap is reported"),
]);

pub(in crate::peers) static E2EL: [Definition; 11] = table(&[
    ("e2el_ms", "l - start, the start after the wait for a cap", ""),
    ("e2el_ms", "as vllm", ""),
    ("e2e_latency_ms", "last line of the stream - start", "usage event and end marker extend it"),
    ("request_latency", "last response with content - start", ""),
    ("request_latency", "end of the stream - start, in seconds", "usage and end extend it"),
    ("request_latency", "end - start, in seconds", "usage and end extend it"),
    ("e2e_latency_ms", "close of the stream - start", "usage and end extend it"),
    ("end_to_end_latency_s", "end - start", "usage and end extend it"),
    ("latency (ns)", "completion - schedule", "our scheduled E2EL; ends when the client says so"),
    ("Latency (s)", "last event - start", ""),
    ("request_latency", "last response with text - start", ""),
]);
