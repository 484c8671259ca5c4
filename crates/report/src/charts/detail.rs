//! What the tapes of a level show, in a form that takes little room in a page.

use std::collections::BTreeMap;

use fizeau_core::{Millis, document};
use fizeau_metrics::{LevelTimeSeries, Metric, QuantilePoint, TimeSeriesBin};
use fizeau_record::{LevelDetail, LevelReport, LevelTelemetry};
use fizeau_telemetry::{JudgedStep, ServerTimeline, TimelinePoint};
use serde::Serialize;

use crate::level::part_name;

/// Distributions and the timeline of a level.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChartDetail {
    /// Pairs of share (0 to 1) and milliseconds, by metric.
    pub quantiles: BTreeMap<String, Vec<(f64, f64)>>,
    /// The level over time.
    pub timeline: ChartTimeSeries,
    /// Pairs of prompt tokens and milliseconds to the first token.
    pub ttft_by_input: Vec<(u64, f64)>,
}

document! {
    /// A level over time: lists of one value a bin.
    #[derive(Debug, Clone, PartialEq)]
    #[non_exhaustive]
    pub view ChartTimeSeries, fn of(timeline: &LevelTimeSeries, level: &LevelReport) {
        let each = |of: fn(&TimeSeriesBin) -> f64| {
            timeline.bins.iter().map(|bin| rounded(of(bin))).collect()
        };
        let times = |of: fn(&TimeSeriesBin) -> Option<Millis>| {
            timeline.bins.iter().map(|bin| of(bin).map(|time| rounded(time.get()))).collect()
        };
        let part = level.summary.windowed.figures().map(|figures| &figures.window);
        // The timeline begins at the first release, as the window is counted from the epoch; both are of one clock.
        let seconds = |at: fizeau_core::Stamp| at.saturating_since(timeline.start).as_secs_f64();
    } {
        /// The length of a bin in seconds.
        pub bin_s: f64 = timeline.bin.as_secs_f64(),
        /// The part that has figures beside those of the whole, in seconds from the first bin's start; absent where there is none.
        pub window_s: Option<(f64, f64)> = part.map(|part| (seconds(part.span.from()), seconds(part.span.to()))),
        /// What kind of part it is: `steady part`, `part asked for`, or a `plateau of the concurrency`, which is not known to be steady.
        pub window_kind: Option<&'static str> = part.map(part_name),
        /// Requests in flight.
        pub in_flight: Vec<f64> = each(|bin| bin.in_flight),
        /// Requests waiting for their first token.
        pub prefilling: Vec<f64> = each(|bin| bin.prefilling),
        /// Output tokens per second.
        pub output_tps: Vec<f64> = each(|bin| bin.output_tokens_per_s.get()),
        /// The median time to first token of those that came.
        pub ttft_p50_ms: Vec<Option<f64>> = times(|bin| bin.ttft_p50),
        /// The longest of them.
        pub ttft_max_ms: Vec<Option<f64>> = times(|bin| bin.ttft_max),
        /// The median gap between tokens.
        pub itl_p50_ms: Vec<Option<f64>> = times(|bin| bin.itl_p50),
        /// The 99th percentile of the gaps.
        pub itl_p99_ms: Vec<Option<f64>> = times(|bin| bin.itl_p99),
        /// The longest gap.
        pub itl_max_ms: Vec<Option<f64>> = times(|bin| bin.itl_max),
        /// What the servers said meanwhile; absent where nobody asked them.
        pub server?: ChartServer = level.telemetry.as_ref().and_then(|said| server(timeline, said)),
    }
}

/// Servers over time, by their own pages, all together: one value a bin, none where no page says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ChartServer {
    /// Requests in the running batch.
    pub running: Vec<Option<f64>>,
    /// Requests that wait.
    pub waiting: Vec<Option<f64>>,
    /// The share of the KV cache in use, in percent.
    pub kv_percent: Vec<Option<f64>>,
    /// What all devices draw, in watts.
    pub power_w: Vec<Option<f64>>,
}

document! {
    /// A step of an engine beside the least time of what it worked on.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub view ChartStep, from |step: &JudgedStep| {} {
        /// The least time.
        pub bound_ms: f64 = rounded(step.bound.to_millis().get()),
        /// How long it took.
        pub wall_ms: f64 = rounded(step.wall.to_millis().get()),
        /// The share of its tokens that are of prompts, 0 to 1.
        pub prefill_share: f64 = rounded(step.prefill_share),
    }
}

impl ChartStep {
    /// Those of `level` that are kept.
    pub(super) fn all(level: &LevelReport) -> Vec<Self> {
        let kept = level.telemetry.iter().flat_map(|said| &said.judged);
        kept.map(Self::from).collect()
    }
}

impl ChartDetail {
    /// What charts take of `level`; none where its tapes were not read.
    pub(super) fn of(level: &LevelReport) -> Option<Self> {
        let LevelDetail { shape, .. } = level.detail.as_deref()?;
        let curve = |points: &[QuantilePoint]| {
            points.iter().map(|point| (point.share, rounded(point.value.get()))).collect()
        };
        let curves = shape.quantiles.0.iter();
        let named = |(metric, points): &(Metric, Vec<QuantilePoint>)| {
            Some((metric.entry().column?.to_owned(), curve(points)))
        };
        let quantiles = curves.filter_map(named).collect();
        let pairs = shape.ttft_by_input.iter();
        let ttft_by_input =
            pairs.map(|pair| (pair.input.get(), rounded(pair.ttft.get()))).collect();
        Some(Self {
            quantiles,
            timeline: ChartTimeSeries::of(&shape.timeline, level),
            ttft_by_input,
        })
    }
}

/// What servers said, bin by bin of the client's own timeline; none where no page came meanwhile.
fn server(timeline: &LevelTimeSeries, said: &LevelTelemetry) -> Option<ChartServer> {
    let bins = timeline.bins.len();
    let begins = said.from.saturating_since(timeline.start).as_secs_f64();
    // The last value stands until the next page, for as long as one may take that comes late.
    let slowest = said.sources.iter().map(|source| source.cost.interval.get()).fold(0.0, f64::max);
    let hold = (2.0 * slowest / 1e3 / timeline.bin.as_secs_f64()).ceil() as usize;
    let by_bin = |points: &[TimelinePoint]| {
        let mut all = vec![Vec::new(); bins];
        for point in points {
            let bin = (begins + point.at_ms.get() / 1e3) / timeline.bin.as_secs_f64();
            if let Some(bin) = all.get_mut(bin as usize) {
                bin.push(point.value);
            }
        }
        let mean = |of: &Vec<f64>| of.iter().sum::<f64>() / of.len() as f64;
        let means = all.iter().map(|of| (!of.is_empty()).then(|| mean(of)));
        let held = means.scan((None, 0), |(last, age), mean| {
            (*last, *age) = if mean.is_some() { (mean, 0) } else { (*last, *age + 1) };
            Some(last.filter(|_| *age <= hold))
        });
        held.collect::<Vec<Option<f64>>>()
    };
    let told = |all: Vec<&[TimelinePoint]>| {
        let told = all.into_iter().filter(|points| !points.is_empty());
        told.map(by_bin).collect::<Vec<_>>()
    };
    // Servers that share the requests are added, and devices; caches are shown as the mean of theirs.
    let each =
        |of: fn(&ServerTimeline) -> &[TimelinePoint]| told(said.timeline.iter().map(of).collect());
    let sum = |all: Vec<Vec<Option<f64>>>, scale: f64| {
        let at = |bin: usize| {
            let values: Option<f64> = all.iter().map(|one| one.get(bin).copied().flatten()).sum();
            values.filter(|_| !all.is_empty()).map(|sum| rounded(sum * scale))
        };
        (0..bins).map(at).collect::<Vec<_>>()
    };
    let caches = each(|of| &of.kv_use);
    let percent = 100.0 / caches.len().max(1) as f64;
    let server = ChartServer {
        running: sum(each(|of| &of.running), 1.0),
        waiting: sum(each(|of| &of.waiting), 1.0),
        kv_percent: sum(caches, percent),
        power_w: sum(told(said.power_timelines.iter().map(Vec::as_slice).collect()), 1.0),
    };
    let lines = [&server.running, &server.waiting, &server.kv_percent, &server.power_w];
    let is_known = lines.into_iter().flatten().any(Option::is_some);
    is_known.then_some(server)
}

/// To four digits: no chart shows more, and a page has thousands of them.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10_f64.powf(3.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}
