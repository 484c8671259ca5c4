//! What the server was at: load, cache, tokens, latencies.

use fizeau_record::LevelTelemetry;
use fizeau_record::text::{four_digits, number, percent};
use fizeau_telemetry::ReportedCounter;

use super::wording::{bucket, by_name, counter, gap, gauge, mean, numbers, of, whole};
use super::{TelemetryFigure, export, export_ms, labelled, word};

/// A latency by both.
macro_rules! latency {
    ($of:ident, $name:literal) => {
        TelemetryFigure::new(
            concat!($name, ", client / server / gap"),
            "ms",
            |said| gap(said.gaps.$of),
            &[
                export_ms(
                    [
                        concat!("client_", stringify!($of), "_ms"),
                        concat!("fizeau_client_", stringify!($of), "_seconds"),
                    ],
                    concat!(
                        "The client's mean ",
                        $name,
                        ", over the same requests as the server's."
                    ),
                    |said| Some(said.gaps.$of?.client.get()),
                ),
                export_ms(
                    [
                        concat!("server_", stringify!($of), "_ms"),
                        concat!("fizeau_server_", stringify!($of), "_seconds"),
                    ],
                    concat!("The server's mean ", $name, "."),
                    |said| Some(said.gaps.$of?.server.get()),
                ),
                export_ms(
                    [
                        concat!("gap_", stringify!($of), "_ms"),
                        concat!("fizeau_gap_", stringify!($of), "_seconds"),
                    ],
                    concat!("The client's mean ", $name, " less the server's."),
                    |said| Some(said.gaps.$of?.gap.get()),
                ),
            ],
        )
    };
}

pub(super) static FIGURES: &[TelemetryFigure] = &[
    TelemetryFigure::new(
        "server",
        "",
        exporter,
        &[word(
            ["server_exporter", "fizeau_server_info", "exporter"],
            "Whose page of metrics it is.",
            exporter,
        )],
    ),
    TelemetryFigure::new(
        "running, mean / peak",
        "",
        |said| gauge(of(said)?.running.as_ref(), four_digits),
        &[
            export(
                ["server_running", "fizeau_server_running_requests"],
                "Requests in the server's batch, as the mean over time.",
                |said| Some(of(said)?.running.as_ref()?.figure.mean),
            ),
            export(
                ["server_running_peak", "fizeau_server_running_requests_peak"],
                "The most requests that any page showed in the server's batch.",
                |said| of(said)?.running.as_ref()?.figure.peak,
            ),
        ],
    ),
    TelemetryFigure::new(
        "waiting, mean / peak",
        "",
        |said| gauge(of(said)?.waiting.as_ref(), four_digits),
        &[
            export(
                ["server_waiting", "fizeau_server_waiting_requests"],
                "Requests in the server's queue, as the mean over time.",
                |said| Some(of(said)?.waiting.as_ref()?.figure.mean),
            ),
            export(
                ["server_waiting_peak", "fizeau_server_waiting_requests_peak"],
                "The most requests that any page showed in the server's queue.",
                |said| of(said)?.waiting.as_ref()?.figure.peak,
            ),
        ],
    ),
    TelemetryFigure::new(
        "waiting by reason, mean",
        "",
        |said| by_name(&by_reason(said), four_digits),
        &[labelled(
            ["server_waiting_by_reason", "fizeau_server_waiting_requests_by_reason", "reason"],
            "Requests in the server's queue by reason, for room or held back on purpose, as the mean over time.",
            by_reason,
        )],
    ),
    TelemetryFigure::new(
        "KV cache in use, mean / peak",
        "",
        |said| gauge(of(said)?.kv_use.as_ref(), percent),
        &[
            export(
                ["server_kv_use_share", "fizeau_server_kv_use_ratio"],
                "The share of the KV cache in use, as the mean over time, 0 to 1.",
                |said| Some(of(said)?.kv_use.as_ref()?.figure.mean),
            ),
            export(
                ["server_kv_use_share_peak", "fizeau_server_kv_use_peak_ratio"],
                "The greatest share of the KV cache that any page showed in use, 0 to 1.",
                |said| of(said)?.kv_use.as_ref()?.figure.peak,
            ),
        ],
    ),
    TelemetryFigure::new(
        "KV cache in use, steady part",
        "",
        |said| gauge(said.steady.as_ref()?.kv_use.as_ref(), percent),
        &[
            export(
                ["server_kv_use_share_steady", "fizeau_server_kv_use_steady_ratio"],
                "The share of the KV cache in use in the steady part, as the mean over time, 0 to 1.",
                |said| Some(said.steady.as_ref()?.kv_use.as_ref()?.figure.mean),
            ),
            export(
                ["server_kv_use_share_steady_peak", "fizeau_server_kv_use_steady_peak_ratio"],
                "The greatest share of the KV cache that any page of the steady part showed in use, 0 to 1.",
                |said| said.steady.as_ref()?.kv_use.as_ref()?.figure.peak,
            ),
        ],
    ),
    TelemetryFigure::new(
        "preemptions",
        "",
        |said| counter(of(said)?.preemptions.as_ref()),
        &[export(
            ["server_preemptions", "fizeau_server_preemptions"],
            "Requests that the server put off and computed again.",
            |said| Some(of(said)?.preemptions.as_ref()?.figure.delta),
        )],
    ),
    TelemetryFigure::new(
        "prefix cache, hits of queries",
        "",
        |said| said.prefix_hit_share().map(percent),
        &[export(
            ["server_prefix_hit_share", "fizeau_server_prefix_hit_ratio"],
            "The share of prompt tokens that the server found in its prefix cache, 0 to 1.",
            LevelTelemetry::prefix_hit_share,
        )],
    ),
    TelemetryFigure::new(
        "cache outside the engine, hits of queries",
        "",
        |said| external_hits(said).map(percent),
        &[export(
            ["server_external_prefix_hit_share", "fizeau_server_external_prefix_hit_ratio"],
            "The share of prompt tokens looked up in a cache outside the engine that it had, 0 to 1.",
            external_hits,
        )],
    ),
    TelemetryFigure::new(
        "prompt tokens",
        "",
        |said| counter(of(said)?.prompt_tokens.as_ref()),
        &[export(
            ["server_prompt_tokens", "fizeau_server_prompt_tokens"],
            "Prompt tokens that the server counted.",
            |said| Some(of(said)?.prompt_tokens.as_ref()?.figure.delta),
        )],
    ),
    TelemetryFigure::new(
        "prompt tokens by source",
        "",
        |said| by_name(&by_source(said), whole),
        &[labelled(
            ["server_prompt_tokens_by_source", "fizeau_server_prompt_tokens_by_source", "source"],
            "Prompt tokens that the server counted, by where their keys and values came from.",
            by_source,
        )],
    ),
    TelemetryFigure::new(
        "generated tokens",
        "",
        |said| counter(of(said)?.generation_tokens.as_ref()),
        &[export(
            ["server_generated_tokens", "fizeau_server_generated_tokens"],
            "Generated tokens that the server counted.",
            |said| Some(of(said)?.generation_tokens.as_ref()?.figure.delta),
        )],
    ),
    latency!(ttft, "TTFT"),
    latency!(tpot, "TPOT"),
    latency!(e2el, "E2EL"),
    TelemetryFigure::new(
        "queue, mean",
        "ms",
        |said| mean(of(said)?.queue_time.as_ref()),
        &[export_ms(
            ["server_queue_ms", "fizeau_server_queue_seconds"],
            "The mean time of a request in the server's queue.",
            |said| of(said)?.queue_time.as_ref()?.figure.mean,
        )],
    ),
    TelemetryFigure::new(
        "prefill, mean",
        "ms",
        |said| mean(of(said)?.prefill_time.as_ref()),
        &[export_ms(
            ["server_prefill_ms", "fizeau_server_prefill_seconds"],
            "The mean time from being scheduled to the first token.",
            |said| of(said)?.prefill_time.as_ref()?.figure.mean,
        )],
    ),
    TelemetryFigure::new(
        "decode, mean",
        "ms",
        |said| mean(of(said)?.decode_time.as_ref()),
        &[export_ms(
            ["server_decode_ms", "fizeau_server_decode_seconds"],
            "The mean time from the first token to the last by the server.",
            |said| of(said)?.decode_time.as_ref()?.figure.mean,
        )],
    ),
    TelemetryFigure::new(
        "server's p99 TTFT, bucket",
        "ms",
        |said| bucket(of(said)?.ttft.as_ref()),
        &[
            export_ms(
                ["server_ttft_p99_above_ms", "fizeau_server_ttft_p99_above_seconds"],
                "The lower end of the bucket that holds the server's p99 TTFT.",
                |said| of(said)?.ttft.as_ref()?.figure.holding(99.0)?.above,
            ),
            export_ms(
                ["server_ttft_p99_up_to_ms", "fizeau_server_ttft_p99_up_to_seconds"],
                "The upper end of that bucket.",
                |said| of(said)?.ttft.as_ref()?.figure.holding(99.0)?.up_to,
            ),
        ],
    ),
    TelemetryFigure::new(
        "tokens an iteration, mean",
        "",
        |said| of(said)?.mean_iteration_tokens().map(number),
        &[export(
            ["server_iteration_tokens", "fizeau_server_iteration_tokens"],
            "Tokens that one iteration works on, as the mean.",
            |said| of(said)?.mean_iteration_tokens(),
        )],
    ),
];

fn exporter(said: &LevelTelemetry) -> Option<String> {
    Some(of(said)?.exporter?.name().to_owned())
}

fn by_source(said: &LevelTelemetry) -> Vec<(String, f64)> {
    of(said).map(|server| numbers(&server.prompt_tokens_by_source)).unwrap_or_default()
}

fn external_hits(said: &LevelTelemetry) -> Option<f64> {
    let delta = |told: &Option<ReportedCounter>| Some(told.as_ref()?.figure.delta);
    let server = of(said)?;
    let share = delta(&server.external_prefix_hits)? / delta(&server.external_prefix_queries)?;
    Some(share).filter(|share| share.is_finite())
}

/// Gauges have a mean where counters have what they counted.
fn by_reason(said: &LevelTelemetry) -> Vec<(String, f64)> {
    let each = of(said).into_iter().flat_map(|server| &server.waiting_by_reason);
    each.map(|(reason, told)| (reason.clone(), told.figure.mean)).collect()
}
