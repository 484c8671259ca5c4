//! Every figure that servers, devices and the client's host tell of a level, once: how people read it, and what programs get of it.

use std::collections::BTreeMap;
use std::fmt::Display;

use fizeau_core::Millis;
use fizeau_record::text::{four_digits, number, percent};
use fizeau_record::{LevelTelemetry, PassSource};
use fizeau_telemetry::{
    DeviceWindow, LatencyGap, LightWitness, ScrapeCost, ServerWindow, ToldCounter, ToldGauge,
    ToldHistogram, WitnessShare, total_power,
};

/// A figure of a level.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TelemetryFigure {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    /// What is shown of it; none where nobody said it.
    pub(crate) shown: fn(&LevelTelemetry) -> Option<String>,
    exports: &'static [TelemetryExport],
}

/// A number of it, for programs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TelemetryExport {
    /// The column of the table of levels, with its unit.
    pub(crate) column: &'static str,
    /// The metric for monitoring, in base units.
    pub(crate) metric: &'static str,
    /// What it is, in a sentence.
    pub(crate) about: &'static str,
    /// The number of the column.
    pub(crate) value: fn(&LevelTelemetry) -> Option<f64>,
    /// What that is multiplied with, to be in base units.
    pub(crate) to_base: f64,
}

impl TelemetryFigure {
    const fn new(
        name: &'static str,
        unit: &'static str,
        shown: fn(&LevelTelemetry) -> Option<String>,
    ) -> Self {
        Self { name, unit, shown, exports: &[] }
    }

    const fn exported(self, exports: &'static [TelemetryExport]) -> Self {
        Self { exports, ..self }
    }
}

const fn export(
    names: [&'static str; 2],
    about: &'static str,
    value: fn(&LevelTelemetry) -> Option<f64>,
) -> TelemetryExport {
    let [column, metric] = names;
    TelemetryExport { column, metric, about, value, to_base: 1.0 }
}

/// A time in milliseconds, of which the metric is in seconds.
const fn export_ms(
    names: [&'static str; 2],
    about: &'static str,
    value: fn(&LevelTelemetry) -> Option<f64>,
) -> TelemetryExport {
    TelemetryExport { to_base: 1e-3, ..export(names, about, value) }
}

/// What programs get, in order.
pub(crate) fn exported() -> impl Iterator<Item = &'static TelemetryExport> {
    FIGURES.iter().flat_map(|figure| figure.exports)
}

/// All that there is of a level, in order; what nobody said is left out.
pub(crate) static FIGURES: [TelemetryFigure; 35] = [
    TelemetryFigure::new("server", "", |said| Some(of(said)?.exporter?.name().to_owned())),
    TelemetryFigure::new("running, mean / peak", "", |said| {
        gauge(of(said)?.running.as_ref(), four_digits)
    })
    .exported(&[
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
    ]),
    TelemetryFigure::new("waiting, mean / peak", "", |said| {
        gauge(of(said)?.waiting.as_ref(), four_digits)
    })
    .exported(&[
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
    ]),
    TelemetryFigure::new("KV cache in use, mean / peak", "", |said| {
        gauge(of(said)?.kv_use.as_ref(), percent)
    })
    .exported(&[
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
    ]),
    TelemetryFigure::new("the same in the steady part", "", |said| {
        gauge(said.steady.as_ref()?.kv_use.as_ref(), percent)
    }),
    TelemetryFigure::new("preemptions", "", |said| counter(of(said)?.preemptions.as_ref())).exported(
        &[export(
            ["server_preemptions", "fizeau_server_preemptions"],
            "Requests that the server put off and computed again.",
            |said| Some(of(said)?.preemptions.as_ref()?.figure.delta),
        )],
    ),
    TelemetryFigure::new("prefix cache, hits of queries", "", |said| {
        said.prefix_hit_share().map(percent)
    })
    .exported(&[export(
        ["server_prefix_hit_share", "fizeau_server_prefix_hit_ratio"],
        "The share of prompt tokens that the server found in its prefix cache, 0 to 1.",
        LevelTelemetry::prefix_hit_share,
    )]),
    TelemetryFigure::new("prompt tokens", "", |said| counter(of(said)?.prompt_tokens.as_ref()))
        .exported(&[export(
            ["server_prompt_tokens", "fizeau_server_prompt_tokens"],
            "Prompt tokens that the server counted.",
            |said| Some(of(said)?.prompt_tokens.as_ref()?.figure.delta),
        )]),
    TelemetryFigure::new("the same by source", "", |said| {
        by_name(&of(said)?.prompt_tokens_by_source)
    }),
    TelemetryFigure::new("generated tokens", "", |said| {
        counter(of(said)?.generation_tokens.as_ref())
    })
    .exported(&[export(
        ["server_generated_tokens", "fizeau_server_generated_tokens"],
        "Generated tokens that the server counted.",
        |said| Some(of(said)?.generation_tokens.as_ref()?.figure.delta),
    )]),
    TelemetryFigure::new("TTFT, client / server / gap", "ms", |said| gap(said.gaps.ttft)).exported(&[
        export_ms(
            ["gap_ttft_ms", "fizeau_gap_ttft_seconds"],
            "The client's mean TTFT less the server's.",
            |said| Some(said.gaps.ttft?.gap.get()),
        ),
    ]),
    TelemetryFigure::new("TPOT, client / server / gap", "ms", |said| gap(said.gaps.tpot)).exported(&[
        export_ms(
            ["gap_tpot_ms", "fizeau_gap_tpot_seconds"],
            "The client's mean TPOT less the server's.",
            |said| Some(said.gaps.tpot?.gap.get()),
        ),
    ]),
    TelemetryFigure::new("E2EL, client / server / gap", "ms", |said| gap(said.gaps.e2el)).exported(&[
        export_ms(
            ["gap_e2el_ms", "fizeau_gap_e2el_seconds"],
            "The client's mean E2EL less the server's.",
            |said| Some(said.gaps.e2el?.gap.get()),
        ),
    ]),
    TelemetryFigure::new("queue, mean", "ms", |said| mean(of(said)?.queue_time.as_ref())).exported(&[
        export_ms(
            ["server_queue_ms", "fizeau_server_queue_seconds"],
            "The mean time of a request in the server's queue.",
            |said| of(said)?.queue_time.as_ref()?.figure.mean,
        ),
    ]),
    TelemetryFigure::new("prefill, mean", "ms", |said| mean(of(said)?.prefill_time.as_ref()))
        .exported(&[export_ms(
            ["server_prefill_ms", "fizeau_server_prefill_seconds"],
            "The mean time from being scheduled to the first token.",
            |said| of(said)?.prefill_time.as_ref()?.figure.mean,
        )]),
    TelemetryFigure::new("decode, mean", "ms", |said| mean(of(said)?.decode_time.as_ref())).exported(
        &[export_ms(
            ["server_decode_ms", "fizeau_server_decode_seconds"],
            "The mean time from the first token to the last by the server.",
            |said| of(said)?.decode_time.as_ref()?.figure.mean,
        )],
    ),
    TelemetryFigure::new("server's p99 TTFT, bucket", "ms", |said| bucket(of(said)?.ttft.as_ref())),
    TelemetryFigure::new("tokens an iteration, mean", "", |said| {
        of(said)?.mean_iteration_tokens().map(number)
    })
    .exported(&[export(
        ["server_iteration_tokens", "fizeau_server_iteration_tokens"],
        "Tokens that one iteration works on, as the mean.",
        |said| of(said)?.mean_iteration_tokens(),
    )]),
    TelemetryFigure::new("drafted tokens accepted", "", |said| {
        of(said)?.accepted_share().map(percent)
    })
    .exported(&[export(
        ["server_accepted_share", "fizeau_server_accepted_draft_tokens_ratio"],
        "The share of drafted tokens that was accepted, 0 to 1.",
        |said| of(said)?.accepted_share(),
    )]),
    TelemetryFigure::new("the same by position in the draft", "", |said| {
        by_name(&of(said)?.accepted_by_position)
    }),
    TelemetryFigure::new("share of the speed of light, by the client", "", |said| {
        share(said, LightWitness::ClientThroughput)
    })
    .exported(&[export(
        ["witness_client_share", "fizeau_speed_of_light_client_ratio"],
        "The share of the speed of light by what the client received, 0 to 1.",
        |said| share_of(said, LightWitness::ClientThroughput),
    )]),
    TelemetryFigure::new("the same by the engine's counters", "", |said| {
        share(said, LightWitness::EngineCounters)
    })
    .exported(&[export(
        ["witness_counters_share", "fizeau_speed_of_light_counters_ratio"],
        "The same by the engine's own counters of operations and bytes, 0 to 1.",
        |said| share_of(said, LightWitness::EngineCounters),
    )]),
    TelemetryFigure::new("the same by the devices' activity", "", |said| {
        share(said, LightWitness::DeviceActivity)
    })
    .exported(&[export(
        ["witness_devices_share", "fizeau_speed_of_light_devices_ratio"],
        "The same by how busy the devices' memory and tensor units were, 0 to 1.",
        |said| share_of(said, LightWitness::DeviceActivity),
    )]),
    TelemetryFigure::new("the same by forward passes", "", |said| {
        share(said, LightWitness::ForwardPasses)
    })
    .exported(&[export(
        ["witness_passes_share", "fizeau_speed_of_light_passes_ratio"],
        "The same step by step, by the engine's forward-pass records, 0 to 1.",
        |said| share_of(said, LightWitness::ForwardPasses),
    )]),
    TelemetryFigure::new("forward passes / lost", "", |said| {
        let total = |of: fn(&PassSource) -> u64| said.pass_sources.iter().map(of).sum::<u64>();
        let lost = total(|source| source.lost);
        (!said.pass_sources.is_empty()).then(|| format!("{} / {lost}", total(|of| of.passes)))
    }),
    TelemetryFigure::new("a step's share of its bound, decode / with prompts", "", |said| {
        let steps = said.steps.as_ref()?;
        let shown = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), percent);
        Some(format!("{} / {}", shown(steps.decode_share), shown(steps.prefill_share)))
    }),
    TelemetryFigure::new("time without a step", "", |said| {
        said.witnesses.as_ref()?.idle.map(percent)
    })
    .exported(&[export(
        ["idle_share", "fizeau_server_idle_ratio"],
        "The share of the level's time in which the engine ran no step, 0 to 1.",
        |said| said.witnesses.as_ref()?.idle,
    )]),
    TelemetryFigure::new("power of all devices", "W", |said| {
        Some(number(total_power(&said.devices)?.get()))
    }),
    TelemetryFigure::new("energy", "J", |said| Some(number(said.energy?.get()))).exported(&[export(
        ["energy_j", "fizeau_energy_joules"],
        "What the devices took, by their counters of energy.",
        |said| Some(said.energy?.get()),
    )]),
    TelemetryFigure::new("energy a token", "J", |said| {
        Some(number(said.joules_per_token?.get()))
    })
    .exported(&[export(
        ["energy_j_per_token", "fizeau_energy_per_output_token_joules"],
        "The same for each output token.",
        |said| Some(said.joules_per_token?.get()),
    )]),
    TelemetryFigure::new("tokens a joule", "", |said| Some(number(said.tokens_per_joule?.get())))
        .exported(&[export(
            ["tokens_per_joule", "fizeau_output_tokens_per_joule"],
            "Output tokens that a joule gave.",
            |said| Some(said.tokens_per_joule?.get()),
        )]),
    TelemetryFigure::new("clocks lowered by power or heat", "", |said| throttled(said).map(percent))
        .exported(&[export(
            ["throttled_share", "fizeau_throttled_ratio"],
            "The share of time in which power or heat lowered the clocks of a device, of the worst one, 0 to 1.",
            throttled,
        )]),
    TelemetryFigure::new("host CPU busy / stolen", "", |said| {
        let host = said.host?;
        Some(format!("{} / {}", percent(host.cpu_busy?), percent(host.cpu_steal?)))
    })
    .exported(&[export(
        ["client_host_cpu_busy_share", "fizeau_client_host_cpu_busy_ratio"],
        "The share of the client's processors that worked, 0 to 1.",
        |said| said.host?.cpu_busy,
    )]),
    TelemetryFigure::new("pages read / missed", "", |said| {
        let total = |of: fn(&ScrapeCost) -> u64| {
            said.sources.iter().map(|source| of(&source.cost)).sum::<u64>()
        };
        let missed = total(|cost| cost.failed);
        if said.sources.is_empty() {
            return None;
        }
        Some(format!("{} / {missed}, {} bytes", total(|cost| cost.pages), total(|cost| cost.bytes)))
    }),
    TelemetryFigure::new("time a page, mean / slowest", "ms", |said| {
        let (mean, slowest) = fetch_times(said)?;
        Some(format!("{} / {}", number(mean.get()), number(slowest.get())))
    })
    .exported(&[export_ms(
        ["server_page_ms", "fizeau_server_page_seconds"],
        "The mean time that a page of metrics took, of the source with the slowest one.",
        |said| Some(fetch_times(said)?.0.get()),
    )]),
];

/// Of the device that was held down the longest.
fn throttled(said: &LevelTelemetry) -> Option<f64> {
    said.devices.iter().filter_map(DeviceWindow::throttled_share).reduce(f64::max)
}

/// The mean and the slowest fetch of the source with the slowest one.
fn fetch_times(said: &LevelTelemetry) -> Option<(Millis, Millis)> {
    let slowest = |of: &ScrapeCost| of.slowest.get();
    let worst = said.sources.iter().max_by(|a, b| slowest(&a.cost).total_cmp(&slowest(&b.cost)))?;
    Some((worst.mean_fetch?, worst.cost.slowest))
}

const fn of(said: &LevelTelemetry) -> Option<&ServerWindow> {
    said.server.as_ref()
}

fn share(said: &LevelTelemetry, witness: LightWitness) -> Option<String> {
    Some(shown(&said.witnesses.as_ref()?.share_of(witness)?))
}

fn share_of(said: &LevelTelemetry, witness: LightWitness) -> Option<f64> {
    Some(said.witnesses.as_ref()?.share_of(witness)?.share)
}

/// `31 %`, or where its uncertainty shows `31 % (28 % to 34 %)`.
pub(crate) fn shown(told: &WitnessShare) -> String {
    let [low, share, high] = [told.low, told.share, told.high].map(percent);
    // Less than half of a point is no figure of a line.
    match told.high - told.low < 0.005 {
        true => share,
        false => format!("{share} ({low} to {high})"),
    }
}

/// `local_cache_hit 1200, local_compute 2800`; none where nothing is told apart.
fn by_name<K: Display>(told: &BTreeMap<K, ToldCounter>) -> Option<String> {
    let each = told.iter().map(|(name, told)| format!("{name} {:.0}", told.figure.delta));
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| each.join(", "))
}

fn gauge(told: Option<&ToldGauge>, shown: fn(f64) -> String) -> Option<String> {
    let figure = told?.figure;
    let peak = figure.peak.map_or_else(|| "-".to_owned(), shown);
    Some(format!("{} / {peak}", shown(figure.mean)))
}

/// Counters are whole, but for an edge within a load.
pub(super) fn counter(told: Option<&ToldCounter>) -> Option<String> {
    Some(format!("{:.0}", told?.figure.delta))
}

fn mean(told: Option<&ToldHistogram>) -> Option<String> {
    told?.figure.mean.map(number)
}

/// Between which edges the percentile lies: more a histogram cannot say.
fn bucket(told: Option<&ToldHistogram>) -> Option<String> {
    let holding = told?.figure.holding(99.0)?;
    Some(match (holding.above, holding.up_to) {
        (Some(above), Some(to)) => format!("{} to {}", number(above), number(to)),
        (None, Some(to)) => format!("up to {}", number(to)),
        (above, None) => format!("above {}", number(above.unwrap_or(0.0))),
    })
}

fn gap(gap: Option<LatencyGap>) -> Option<String> {
    let LatencyGap { client, server, gap } = gap?;
    let [client, server, gap] = [client, server, gap].map(|time| number(time.get()));
    Some(format!("{client} / {server} / {gap}"))
}
