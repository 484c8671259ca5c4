//! Devices, hosts of servers and the client's own, metrics asked for by name, and what reading all of it cost.

use std::collections::BTreeMap;

use fizeau_core::{Bytes, Millis};
use fizeau_record::LevelTelemetry;
use fizeau_record::text::{number, percent};
use fizeau_telemetry::{
    DeviceWindow, GaugeOver, HostWindow, ReportedGauge, ScrapeCost, ThrottleReason, total_power,
};

use super::ExportValue::Labelled;
use super::FigureText::{All, Each, Own};
use super::{MEGA, TelemetryFigure, export, figure, megahertz, ms, plain, whole};

/// How busy a part of the devices was, of the least busy one.
macro_rules! activity {
    ($of:ident, $name:literal, $share_of:literal, $names:expr) => {
        figure(
            [concat!($name, " of the least busy device"), ""],
            Each(percent),
            &[export(
                $names,
                concat!("The share of ", $share_of, ", 0 to 1."),
                plain(|said| Some(slowest(said, |device| device.$of.as_ref())?.mean)),
            )],
        )
    };
}

#[rustfmt::skip] // A figure is a row, and what programs get of it are three lines.
pub(super) static FIGURES: &[TelemetryFigure] = &[
    figure(["power of all devices", "W"], Each(number), &[
        export(["power_w", "fizeau_device_power_watts"],
            "The power of all devices together, as the mean over time.",
            plain(|said| Some(total_power(said.serving_devices())?.get()))),
    ]),
    figure(["energy", "J"], Each(number), &[
        export(["energy_j", "fizeau_energy_joules"],
            "The energy that the devices used, by their own counters.",
            plain(|said| Some(said.energy?.get()))),
    ]),
    figure(["energy a token", "J"], Each(number), &[
        export(["energy_j_per_token", "fizeau_energy_per_output_token_joules"],
            "The energy that the devices used for each output token.",
            plain(|said| Some(said.joules_per_token?.get()))),
    ]),
    figure(["tokens a joule", ""], Each(number), &[
        export(["tokens_per_joule", "fizeau_output_tokens_per_joule"],
            "Output tokens for each joule of the devices.",
            plain(|said| Some(said.tokens_per_joule?.get()))),
    ]),
    figure(["compute clock of the slowest device, mean / least", "MHz"], Each(number), &[
        export(["compute_clock_mhz", "fizeau_device_compute_clock_hertz"],
            "The clock of the multiprocessors of the slowest device, as the mean over time.",
            megahertz(|said| Some(slowest(said, |device| device.compute_clock.as_ref())?.mean / MEGA))),
        export(["compute_clock_min_mhz", "fizeau_device_compute_clock_min_hertz"],
            "The lowest that any page showed of that clock.",
            megahertz(|said| Some(slowest(said, |device| device.compute_clock.as_ref())?.min? / MEGA))),
    ]),
    figure(["memory clock of the slowest device, mean / least", "MHz"], Each(number), &[
        export(["memory_clock_mhz", "fizeau_device_memory_clock_hertz"],
            "The clock of the memory of the slowest device, as the mean over time.",
            megahertz(|said| Some(slowest(said, |device| device.memory_clock.as_ref())?.mean / MEGA))),
        export(["memory_clock_min_mhz", "fizeau_device_memory_clock_min_hertz"],
            "The lowest that any page showed of that clock.",
            megahertz(|said| Some(slowest(said, |device| device.memory_clock.as_ref())?.min? / MEGA))),
    ]),
    figure(["clocks lowered by power or heat", ""], Each(percent), &[
        export(["throttled_share", "fizeau_throttled_ratio"],
            "The share of time in which power or heat lowered the clocks of a device, of the worst one, 0 to 1.",
            plain(throttled)),
    ]),
    figure(["clocks lowered, by reason", ""], Each(percent), &[
        export(["lowered_clocks_share_by_reason", "fizeau_lowered_clocks_ratio"],
            "The share of time in which clocks of a device were lowered, by reason, of the worst device each, 0 to 1.",
            Labelled { label: "reason", of: lowered }),
    ]),
    activity!(utilization, "utilization",
        "time in which any kernel was resident on the least busy device",
        ["device_utilization_share", "fizeau_device_utilization_ratio"]),
    activity!(dram_active, "DRAM activity",
        "cycles in which the DRAM of the least busy device moved data",
        ["dram_active_share", "fizeau_device_dram_active_ratio"]),
    activity!(tensor_active, "tensor activity",
        "cycles in which the tensor pipes of the least busy device worked",
        ["tensor_active_share", "fizeau_device_tensor_active_ratio"]),
    activity!(sm_active, "SM activity",
        "cycles in which the multiprocessors of the least busy device had work",
        ["sm_active_share", "fizeau_device_sm_active_ratio"]),
    figure(["memory in use, of the fullest device", "GB"], Each(giga), &[
        export(["device_memory_used_bytes", "fizeau_device_memory_used_bytes"],
            "The most memory that any page showed in use, of the fullest device.",
            plain(|said| highest(said, |device| device.memory_used.as_ref()))),
    ]),
    figure(["temperature of the hottest device", "°C"], Each(number), &[
        export(["device_temperature_c", "fizeau_device_temperature_celsius"],
            "The highest temperature that any page showed, of the hottest device.",
            plain(|said| highest(said, |device| device.temperature.as_ref()))),
    ]),
    figure(["busiest host of a server, CPU busy", ""], Each(percent), &[
        export(["server_host_cpu_busy_share", "fizeau_server_host_cpu_busy_ratio"],
            "The share of the processors that worked, of the busiest host of a server, 0 to 1.",
            plain(|said| most(said, |host| host.cpu_busy))),
    ]),
    figure(["the same, stolen", ""], Each(percent), &[
        export(["server_host_cpu_steal_share", "fizeau_server_host_cpu_steal_ratio"],
            "The share of the processors that a hypervisor took, of the host of a server that lost most, 0 to 1.",
            plain(|said| most(said, |host| host.cpu_steal))),
    ]),
    figure(["memory available, of the host of a server with the least", "GB"], Each(giga), &[
        export(["server_host_memory_available_bytes", "fizeau_server_host_memory_available_bytes"],
            "Memory that could be had at the end, on the host of a server with the least.",
            plain(least_memory)),
    ]),
    figure(["TCP segments sent again, of the host of a server with the most", ""], Each(whole), &[
        export(["server_host_retransmits", "fizeau_server_host_retransmits"],
            "TCP segments sent again, of the host of a server with the most.",
            plain(|said| most(said, |host| Some(host.retransmits? as f64)))),
    ]),
    figure(["host CPU busy / stolen", ""], All(percent), &[
        export(["client_host_cpu_busy_share", "fizeau_client_host_cpu_busy_ratio"],
            "The share of the client's processors that worked, 0 to 1.",
            plain(|said| said.host?.cpu_busy)),
        export(["client_host_cpu_steal_share", "fizeau_client_host_cpu_steal_ratio"],
            "The share of them that the client's hypervisor took, 0 to 1.",
            plain(|said| said.host?.cpu_steal)),
    ]),
    figure(["host memory available / all", "GB"], All(giga), &[
        export(["client_host_memory_available_bytes", "fizeau_client_host_memory_available_bytes"],
            "Memory that could be had on the client's machine, at the end.",
            plain(|said| Some(said.host?.memory_available?.get()))),
        export(["client_host_memory_bytes", "fizeau_client_host_memory_bytes"],
            "All memory of the client's machine.",
            plain(|said| Some(said.host?.memory?.get()))),
    ]),
    figure(["host TCP segments sent again", ""], Own(sent_again), &[
        export(["client_host_retransmits", "fizeau_client_host_retransmits"],
            "TCP segments that the client's machine sent again, of all its connections.",
            plain(|said| Some(said.host?.retransmits? as f64))),
        export(["client_host_retransmit_share", "fizeau_client_host_retransmit_ratio"],
            "Their share of all segments sent, 0 to 1.",
            plain(|said| said.host?.retransmit_share)),
    ]),
    figure(["host clock off by at most", "ms"], Each(number), &[
        export(["client_host_clock_error_ms", "fizeau_client_host_clock_error_seconds"],
            "By how much the client's wall clock may be off the true time at the most, as its system estimates.",
            ms(|said| Some(said.host?.clock_error?.get()))),
    ]),
    figure(["metrics asked for by name", ""], Each(number), &[
        export(["other_metrics", "fizeau_other_metric"],
            "Metrics of pages that were asked for by name: how much a counter grew, the mean over time of a gauge.",
            Labelled { label: "metric", of: other_metrics }),
    ]),
    figure(["pages read / missed", ""], Own(pages_read), &[
        export(["server_pages", "fizeau_server_pages"],
            "Pages of metrics that were read.",
            plain(|said| pages(said, PAGES).map(|count| count as f64))),
        export(["server_pages_missed", "fizeau_server_pages_missed"],
            "Pages of metrics that did not come.",
            plain(|said| pages(said, MISSED).map(|count| count as f64))),
        export(["server_page_bytes", "fizeau_server_page_bytes"],
            "Bytes of all those pages.",
            plain(|said| pages(said, BYTES).map(|count| count as f64))),
    ]),
    figure(["time a page, mean / slowest", "ms"], All(number), &[
        export(["server_page_ms", "fizeau_server_page_seconds"],
            "The mean time that a page of metrics took, of the source with the slowest one.",
            ms(|said| Some(fetch_times(said)?.0.get()))),
        export(["server_page_max_ms", "fizeau_server_page_max_seconds"],
            "The time that the slowest page of metrics took.",
            ms(|said| Some(fetch_times(said)?.1.get()))),
    ]),
];

fn giga(bytes: f64) -> String {
    number(bytes / 1e9)
}

fn sent_again(said: &LevelTelemetry) -> Option<String> {
    let host = said.host?;
    Some(format!("{}, {}", host.retransmits?, percent(host.retransmit_share?)))
}

const PAGES: fn(&ScrapeCost) -> u64 = |cost| cost.pages;
const MISSED: fn(&ScrapeCost) -> u64 = |cost| cost.failed;
const BYTES: fn(&ScrapeCost) -> u64 = |cost| cost.bytes;

fn pages_read(said: &LevelTelemetry) -> Option<String> {
    let [pages, missed, bytes] = [PAGES, MISSED, BYTES].map(|of| pages(said, of));
    Some(format!("{} / {}, {} bytes", pages?, missed?, bytes?))
}

/// Of all sources; none where there is none.
fn pages(said: &LevelTelemetry, of: fn(&ScrapeCost) -> u64) -> Option<u64> {
    let all = &said.sources;
    (!all.is_empty()).then(|| all.iter().map(|source| of(&source.cost)).sum())
}

/// Of the device whose mean is the least.
fn slowest(
    said: &LevelTelemetry,
    of: fn(&DeviceWindow) -> Option<&ReportedGauge>,
) -> Option<GaugeOver> {
    let all = said.serving_devices().iter().filter_map(of).map(|told| told.figure);
    all.min_by(|a, b| a.mean.total_cmp(&b.mean))
}

/// The highest that any page showed of any device.
fn highest(said: &LevelTelemetry, of: fn(&DeviceWindow) -> Option<&ReportedGauge>) -> Option<f64> {
    said.serving_devices()
        .iter()
        .filter_map(of)
        .filter_map(|told| told.figure.peak)
        .reduce(f64::max)
}

/// The most that a host of a server has.
fn most(said: &LevelTelemetry, of: fn(&HostWindow) -> Option<f64>) -> Option<f64> {
    said.server_hosts.values().filter_map(of).reduce(f64::max)
}

fn least_memory(said: &LevelTelemetry) -> Option<f64> {
    let each = said.server_hosts.values().filter_map(|host| host.memory_available);
    each.map(Bytes::get).reduce(f64::min)
}

/// Of the device that was held down the longest.
fn throttled(said: &LevelTelemetry) -> Option<f64> {
    said.serving_devices().iter().filter_map(DeviceWindow::throttled_share).reduce(f64::max)
}

/// The share of time by reason, of the device for which it held the longest.
fn lowered(said: &LevelTelemetry) -> Vec<(String, f64)> {
    let mut worst: BTreeMap<ThrottleReason, f64> = BTreeMap::new();
    for (reason, share) in
        said.serving_devices().iter().filter_map(|one| one.lowered_clocks.as_ref()).flatten()
    {
        let so_far = worst.entry(*reason).or_insert(0.0);
        *so_far = so_far.max(*share);
    }
    worst.into_iter().map(|(reason, share)| (reason.to_string(), share)).collect()
}

fn other_metrics(said: &LevelTelemetry) -> Vec<(String, f64)> {
    said.other_metrics.iter().map(|(name, figure)| (name.clone(), figure.value())).collect()
}

/// The mean and the slowest fetch of the source with the slowest one.
fn fetch_times(said: &LevelTelemetry) -> Option<(Millis, Millis)> {
    let slowest = |of: &ScrapeCost| of.slowest.get();
    let worst = said.sources.iter().max_by(|a, b| slowest(&a.cost).total_cmp(&slowest(&b.cost)))?;
    Some((worst.mean_fetch?, worst.cost.slowest))
}
