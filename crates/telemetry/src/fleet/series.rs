//! A fleet's figures as series of Prometheus.

use std::fmt::Write;

use fizeau_core::{Joules, PerJoule, PerSec, Usd, Watts};

use super::FleetReport;
use crate::assessment::{ServingAssessment, ServingLimit};

/// A series of an assessment.
struct FleetGauge {
    name: &'static str,
    help: &'static str,
    value: fn(&ServingAssessment) -> Option<f64>,
}

const fn series(
    name: &'static str,
    help: &'static str,
    value: fn(&ServingAssessment) -> Option<f64>,
) -> FleetGauge {
    FleetGauge { name, help, value }
}

/// Each of the fleet (`replica=""`) and of each replica.
static SERIES: [FleetGauge; 24] = [
    series("fizeau_watch_devices", "Devices that serve.", |of| Some(of.devices as f64)),
    series("fizeau_watch_running_requests", "Requests in the running batch, on average.", |of| {
        Some(of.running)
    }),
    series("fizeau_watch_waiting_requests", "Requests that wait, on average.", |of| of.waiting),
    series("fizeau_watch_kv_cache_ratio", "The share of the KV cache in use.", |of| of.kv_use),
    series("fizeau_watch_context_tokens", "The mean context of a running request.", |of| {
        of.context.map(|context| context.tokens)
    }),
    series("fizeau_watch_output_tokens_per_second", "Generated tokens.", |of| {
        Some(of.output_tokens_per_s.get())
    }),
    series("fizeau_watch_prompt_tokens_per_second", "Tokens of prompts.", |of| {
        of.prompt_tokens_per_s.map(PerSec::get)
    }),
    series("fizeau_watch_cached_ratio", "The share of prompts' tokens that a cache had.", |of| {
        Some(of.cached_share)
    }),
    series(
        "fizeau_watch_bound_output_tokens_per_second",
        "Generated tokens that the bound allows with this batch.",
        |of| of.bound_output_tokens_per_s.map(PerSec::get),
    ),
    series("fizeau_watch_speed_of_light_ratio", "Throughput over its bound.", |of| of.share),
    series(
        "fizeau_watch_decode_speed_of_light_ratio",
        "The bound of a decode step over TPOT.",
        |of| of.decode.as_ref().map(|decode| decode.share),
    ),
    series(
        "fizeau_watch_prefill_speed_of_light_ratio",
        "The bound of a prompt over its time.",
        |of| of.prefill.as_ref().map(|prefill| prefill.share),
    ),
    series(
        "fizeau_watch_even_routing_bound_output_tokens_per_second",
        "Of a mixture of experts, generated tokens that the bound under balanced routing allows with this batch.",
        |of| Some(of.even_routing.as_ref()?.bound_output_tokens_per_s.get()),
    ),
    series(
        "fizeau_watch_even_routing_ratio",
        "Throughput over the bound under balanced routing.",
        |of| Some(of.even_routing.as_ref()?.share),
    ),
    series(
        "fizeau_watch_decode_even_routing_ratio",
        "The bound of a decode step under balanced routing over TPOT.",
        |of| Some(of.even_routing.as_ref()?.decode.as_ref()?.share),
    ),
    series(
        "fizeau_watch_prefill_even_routing_ratio",
        "The bound of a prompt under balanced routing over its time.",
        |of| Some(of.even_routing.as_ref()?.prefill.as_ref()?.share),
    ),
    series(
        "fizeau_watch_even_routing_same_latency_output_tokens_per_second",
        "Generated tokens that the bound under balanced routing allows at the time per token of now.",
        |of| Some(of.even_routing.as_ref()?.same_latency.as_ref()?.output_tokens_per_s.get()),
    ),
    series(
        "fizeau_watch_even_routing_same_latency_usd_per_million_output_tokens",
        "What a million of those would cost.",
        |of| {
            let same = of.even_routing.as_ref()?.same_latency.as_ref()?;
            same.usd_per_million_output_tokens.map(Usd::get)
        },
    ),
    series("fizeau_watch_tpot_seconds", "Time per output token.", |of| {
        of.decode.as_ref().map(|decode| decode.tpot.get() / 1e3)
    }),
    series("fizeau_watch_prefill_seconds", "From being scheduled to the first token.", |of| {
        of.prefill.as_ref().map(|prefill| prefill.prefill.get() / 1e3)
    }),
    series("fizeau_watch_queue_seconds", "Time in the queue.", |of| {
        of.queue.map(|queue| queue.get() / 1e3)
    }),
    series("fizeau_watch_usd_per_million_output_tokens", "What a million tokens cost now.", |of| {
        of.usd_per_million_output_tokens.map(Usd::get)
    }),
    series(
        "fizeau_watch_same_latency_output_tokens_per_second",
        "Generated tokens that the bound allows at the time per token of now.",
        |of| of.same_latency.as_ref().map(|same| same.output_tokens_per_s.get()),
    ),
    series(
        "fizeau_watch_same_latency_usd_per_million_output_tokens",
        "What a million of those would cost.",
        |of| of.same_latency.as_ref()?.usd_per_million_output_tokens.map(Usd::get),
    ),
];

/// A series of the whole fleet, without labels.
struct FleetSeries {
    name: &'static str,
    help: &'static str,
    value: fn(&FleetReport) -> Option<f64>,
}

const fn of_fleet(
    name: &'static str,
    help: &'static str,
    value: fn(&FleetReport) -> Option<f64>,
) -> FleetSeries {
    FleetSeries { name, help, value }
}

static OF_FLEET: &[FleetSeries] = &[
    of_fleet("fizeau_watch_device_power_watts", "What the devices draw.", |of| {
        of.devices?.power.map(Watts::get)
    }),
    of_fleet("fizeau_watch_joules_per_output_token", "Energy of a generated token.", |of| {
        of.devices?.joules_per_token.map(Joules::get)
    }),
    of_fleet("fizeau_watch_output_tokens_per_joule", "Generated tokens of a joule.", |of| {
        of.devices?.tokens_per_joule.map(PerJoule::get)
    }),
    of_fleet("fizeau_watch_steps", "Forward passes of the window.", |of| {
        of.steps.as_ref().map(|steps| steps.steps as f64)
    }),
    of_fleet("fizeau_watch_steps_lost", "Records that were lost since the watch began.", |of| {
        of.steps.as_ref().map(|steps| steps.lost as f64)
    }),
    of_fleet(
        "fizeau_watch_steps_speed_of_light_ratio",
        "The bounds of forward passes over their times.",
        |of| of.steps.as_ref().map(|steps| steps.share),
    ),
    of_fleet(
        "fizeau_watch_decode_steps_speed_of_light_ratio",
        "The same of those that only decode.",
        |of| of.steps.as_ref()?.decode_share,
    ),
    of_fleet(
        "fizeau_watch_prefill_steps_speed_of_light_ratio",
        "The same of those with prompts.",
        |of| of.steps.as_ref()?.prefill_share,
    ),
];

/// Those that are not of an assessment.
const LIMITED_BY: &str = "fizeau_watch_limited_by";
const UP: &str = "fizeau_watch_replica_up";
const FINDINGS: &str = "fizeau_watch_findings";

impl FleetReport {
    /// The figures in the text format of Prometheus, version 0.0.4
    /// (<https://prometheus.io/docs/instrumenting/exposition_formats/>). What is not known has no series. The fleet has the label
    /// `replica=""`, each replica its address.
    #[must_use]
    pub fn to_prometheus(&self) -> String {
        let mut out = String::new();
        for series in &SERIES {
            family(&mut out, series.name, series.help, |put| {
                for (replica, told) in self.told() {
                    if let Some(value) = (series.value)(told).filter(|value| value.is_finite()) {
                        put(&[("replica", replica)], value);
                    }
                }
            });
        }
        family(&mut out, LIMITED_BY, "1 for what limits, 0 for the others.", |put| {
            for (replica, told) in self.told() {
                for limit in ServingLimit::ALL {
                    let is = f64::from(u8::from(limit == told.limited_by));
                    put(&[("replica", replica), ("limit", limit.as_str())], is);
                }
            }
        });
        family(
            &mut out,
            UP,
            "1 for a replica that reports its figures, 0 for one that does not.",
            |put| {
                for replica in &self.replicas {
                    let is = f64::from(u8::from(replica.assessment.is_some()));
                    put(&[("replica", &*replica.address)], is);
                }
            },
        );
        for series in OF_FLEET {
            family(&mut out, series.name, series.help, |put| {
                if let Some(value) = (series.value)(self).filter(|value| value.is_finite()) {
                    put(&[], value);
                }
            });
        }
        family(&mut out, FINDINGS, "How many things are worth a look.", |put| {
            put(&[], self.findings.len() as f64);
        });
        out
    }

    /// The names of all series that there can be.
    pub fn series_names() -> impl Iterator<Item = &'static str> {
        let of_fleet = OF_FLEET.iter().map(|series| series.name);
        let each = SERIES.iter().map(|series| series.name);
        each.chain(of_fleet).chain([LIMITED_BY, UP, FINDINGS])
    }

    /// The fleet and its replicas that tell, by the label that tells them apart.
    fn told(&self) -> impl Iterator<Item = (&str, &ServingAssessment)> {
        let fleet = self.fleet.iter().map(|fleet| ("", fleet));
        let replicas = self.replicas.iter();
        fleet.chain(replicas.filter_map(|of| Some((&*of.address, of.assessment.as_ref()?))))
    }
}

/// One metric with its series; nothing where it has none. Writing to a string does not fail.
fn family(
    out: &mut String,
    name: &str,
    help: &str,
    fill: impl FnOnce(&mut dyn FnMut(&[(&str, &str)], f64)),
) {
    let mut lines = String::new();
    fill(&mut |labels: &[(&str, &str)], value: f64| {
        let labels: Vec<String> =
            labels.iter().map(|(label, text)| format!("{label}=\"{}\"", escaped(text))).collect();
        let labels = labels.join(",");
        let braces = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(lines, "{name}{braces} {value}");
    });
    if !lines.is_empty() {
        let _ = write!(out, "# HELP {name} {help}\n# TYPE {name} gauge\n{lines}");
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
