//! What the server was at: load, cache, tokens, latencies.

use fizeau_record::LevelTelemetry;
use fizeau_record::text::{four_digits, number, percent};
use fizeau_telemetry::ReportedCounter;

use super::ExportValue::{Labelled, Word};
use super::FigureText::{All, Each, Own};
use super::wording::{bucket, numbers, of};
use super::{TelemetryFigure, export, figure, ms, plain, whole};

/// A latency by both.
macro_rules! latency {
    ($of:ident, $name:literal) => {
        figure([concat!($name, ", client / server / gap"), "ms"], All(number), &[
            latency!($of, "client_", client, "The client's mean ", $name, ", over the same requests as the server's."),
            latency!($of, "server_", server, "The server's mean ", $name, "."),
            latency!($of, "gap_", gap, "The client's mean ", $name, " less the server's."),
        ])
    };
    ($of:ident, $whose:literal, $field:ident, $($about:literal),*) => {
        export(
            [
                concat!($whose, stringify!($of), "_ms"),
                concat!("fizeau_", $whose, stringify!($of), "_seconds"),
            ],
            concat!($($about),*),
            ms(|said| Some(said.gaps.$of?.$field.get())),
        )
    };
}

#[rustfmt::skip] // A figure is a row, and what programs get of it are three lines.
pub(super) static FIGURES: &[TelemetryFigure] = &[
    figure(["server", ""], Each(whole), &[
        export(["server_exporter", "fizeau_server_info"],
            "Whose page of metrics it is.",
            Word { label: "exporter", of: exporter }),
    ]),
    figure(["running, mean / peak", ""], Each(four_digits), &[
        export(["server_running", "fizeau_server_running_requests"],
            "Requests in the server's batch, as the mean over time.",
            plain(|said| Some(of(said)?.running.as_ref()?.figure.mean))),
        export(["server_running_peak", "fizeau_server_running_requests_peak"],
            "The most requests that any page showed in the server's batch.",
            plain(|said| of(said)?.running.as_ref()?.figure.peak)),
    ]),
    figure(["waiting, mean / peak", ""], Each(four_digits), &[
        export(["server_waiting", "fizeau_server_waiting_requests"],
            "Requests in the server's queue, as the mean over time.",
            plain(|said| Some(of(said)?.waiting.as_ref()?.figure.mean))),
        export(["server_waiting_peak", "fizeau_server_waiting_requests_peak"],
            "The most requests that any page showed in the server's queue.",
            plain(|said| of(said)?.waiting.as_ref()?.figure.peak)),
    ]),
    figure(["waiting by reason, mean", ""], Each(four_digits), &[
        export(["server_waiting_by_reason", "fizeau_server_waiting_requests_by_reason"],
            "Requests in the server's queue by reason, for room or held back on purpose, as the mean over time.",
            Labelled { label: "reason", of: by_reason }),
    ]),
    figure(["KV cache in use, mean / peak", ""], Each(percent), &[
        export(["server_kv_use_share", "fizeau_server_kv_use_ratio"],
            "The share of the KV cache in use, as the mean over time, 0 to 1.",
            plain(|said| Some(of(said)?.kv_use.as_ref()?.figure.mean))),
        export(["server_kv_use_share_peak", "fizeau_server_kv_use_peak_ratio"],
            "The greatest share of the KV cache that any page showed in use, 0 to 1.",
            plain(|said| of(said)?.kv_use.as_ref()?.figure.peak)),
    ]),
    figure(["KV cache in use, steady part", ""], Each(percent), &[
        export(["server_kv_use_share_steady", "fizeau_server_kv_use_steady_ratio"],
            "The share of the KV cache in use in the steady part, as the mean over time, 0 to 1.",
            plain(|said| Some(said.steady.as_ref()?.kv_use.as_ref()?.figure.mean))),
        export(["server_kv_use_share_steady_peak", "fizeau_server_kv_use_steady_peak_ratio"],
            "The greatest share of the KV cache that any page of the steady part showed in use, 0 to 1.",
            plain(|said| said.steady.as_ref()?.kv_use.as_ref()?.figure.peak)),
    ]),
    figure(["preemptions", ""], Each(whole), &[
        export(["server_preemptions", "fizeau_server_preemptions"],
            "Requests that the server put off and computed again.",
            plain(|said| Some(of(said)?.preemptions.as_ref()?.figure.delta))),
    ]),
    figure(["prefix cache, hits of queries", ""], Each(percent), &[
        export(["server_prefix_hit_share", "fizeau_server_prefix_hit_ratio"],
            "The share of prompt tokens that the server found in its prefix cache, 0 to 1.",
            plain(LevelTelemetry::prefix_hit_share)),
    ]),
    figure(["cache outside the engine, hits of queries", ""], Each(percent), &[
        export(["server_external_prefix_hit_share", "fizeau_server_external_prefix_hit_ratio"],
            "The share of prompt tokens looked up in a cache outside the engine that it had, 0 to 1.",
            plain(external_hits)),
    ]),
    figure(["prompt tokens", ""], Each(whole), &[
        export(["server_prompt_tokens", "fizeau_server_prompt_tokens"],
            "Prompt tokens that the server counted.",
            plain(|said| Some(of(said)?.prompt_tokens.as_ref()?.figure.delta))),
    ]),
    figure(["prompt tokens by source", ""], Each(whole), &[
        export(["server_prompt_tokens_by_source", "fizeau_server_prompt_tokens_by_source"],
            "Prompt tokens that the server counted, by where their keys and values came from.",
            Labelled { label: "source", of: by_source }),
    ]),
    figure(["generated tokens", ""], Each(whole), &[
        export(["server_generated_tokens", "fizeau_server_generated_tokens"],
            "Generated tokens that the server counted.",
            plain(|said| Some(of(said)?.generation_tokens.as_ref()?.figure.delta))),
    ]),
    latency!(ttft, "TTFT"),
    latency!(tpot, "TPOT"),
    latency!(e2el, "E2EL"),
    figure(["queue, mean", "ms"], Each(number), &[
        export(["server_queue_ms", "fizeau_server_queue_seconds"],
            "The mean time of a request in the server's queue.",
            ms(|said| of(said)?.queue_time.as_ref()?.figure.mean)),
    ]),
    figure(["prefill, mean", "ms"], Each(number), &[
        export(["server_prefill_ms", "fizeau_server_prefill_seconds"],
            "The mean time from being scheduled to the first token.",
            ms(|said| of(said)?.prefill_time.as_ref()?.figure.mean)),
    ]),
    figure(["decode, mean", "ms"], Each(number), &[
        export(["server_decode_ms", "fizeau_server_decode_seconds"],
            "The mean time from the first token to the last by the server.",
            ms(|said| of(said)?.decode_time.as_ref()?.figure.mean)),
    ]),
    figure(["server's p99 TTFT, bucket", "ms"], Own(|said| bucket(of(said)?.ttft.as_ref())), &[
        export(["server_ttft_p99_above_ms", "fizeau_server_ttft_p99_above_seconds"],
            "The lower end of the bucket that holds the server's p99 TTFT.",
            ms(|said| of(said)?.ttft.as_ref()?.figure.holding(99.0)?.above)),
        export(["server_ttft_p99_up_to_ms", "fizeau_server_ttft_p99_up_to_seconds"],
            "The upper end of that bucket.",
            ms(|said| of(said)?.ttft.as_ref()?.figure.holding(99.0)?.up_to)),
    ]),
    figure(["tokens an iteration, mean", ""], Each(number), &[
        export(["server_iteration_tokens", "fizeau_server_iteration_tokens"],
            "Tokens that one iteration works on, as the mean.",
            plain(|said| of(said)?.mean_iteration_tokens())),
    ]),
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
