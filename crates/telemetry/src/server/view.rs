//! Figures by meaning, out of the samples of one source.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use fizeau_core::{Nanos, Tokens};

use super::{ReportedCounter, ReportedGauge, ReportedHistogram};
use crate::exposition::SeriesName;
use crate::figure::Reported;
use crate::samples::{Combine, Fetch, History, Point};
use crate::vocabulary::{Entry, Exporter, Meaning, entries};
use crate::window::{CounterOver, GaugeOver, HistogramOver, Window};

/// The label by which engines of one server tell themselves apart: vLLM's data-parallel ranks, SGLang's.
const ENGINE: [&str; 2] = ["engine", "dp_rank"];

pub(super) struct View<'a> {
    history: &'a History,
    window: Window,
    hold: Nanos,
    exporter: Option<Exporter>,
}

impl<'a> View<'a> {
    pub(super) fn new(history: &'a History, window: Window, hold: Nanos) -> Self {
        let exporter = Exporter::of_history(history);
        Self { history, window, hold, exporter }
    }

    pub(super) const fn exporter(&self) -> Option<Exporter> {
        self.exporter
    }

    /// The metric of that meaning that is on the pages, with one of these ends to its name: the page's own program first, then in the
    /// order of the table.
    fn found(&self, meaning: Meaning, ends: &[&str]) -> Option<(&'static Entry, String)> {
        let is_there = |name: &String| self.history.series_of(name).next().is_some();
        let named = |entry: &'static Entry| {
            let name = ends.iter().map(|end| format!("{}{end}", entry.name)).find(is_there)?;
            Some((entry, name))
        };
        let mut all = entries().filter(|entry| entry.meaning == meaning).filter_map(named);
        let first = all.next()?;
        let own = |found: &(&Entry, String)| Some(found.0.exporter) == self.exporter;
        Some(if own(&first) { first } else { all.find(own).unwrap_or(first) })
    }

    /// The series of a meaning with their metric and entry.
    fn series(&self, meaning: Meaning) -> Option<(String, &'static Entry, Vec<&'a SeriesName>)> {
        let (entry, name) = self.found(meaning, &["", "_total"])?;
        let series = self.history.series_of(&name).filter(|name| entry.has(&name.labels)).collect();
        Some((name, entry, series))
    }

    fn over(&self, entry: &Entry, name: &SeriesName) -> Option<CounterOver> {
        let mut points: Vec<_> = self.history.points(name).collect();
        if entry.is_since_last_page() {
            let mut total = 0.0;
            for value in points.iter_mut().filter_map(|point| point.value.as_mut()) {
                total += *value;
                *value = total;
            }
        }
        Some(CounterOver::of(&points, self.window)?.scaled(entry.scale))
    }

    pub(super) fn counter(&self, meaning: Meaning) -> Option<ReportedCounter> {
        let (metric, entry, series) = self.series(meaning)?;
        let grown = series.iter().filter_map(|name| self.over(entry, name));
        Some(Reported::new(metric, grown.reduce(|sum, more| sum + more)?))
    }

    /// Tokens of prompts, cached ones among them: llama.cpp counts these apart.
    pub(super) fn prompt_tokens(&self) -> Option<ReportedCounter> {
        let mut told = self.counter(Meaning::PromptTokens)?;
        if self.exporter == Some(Exporter::LlamaCpp)
            && let Some(cached) = self.counter(Meaning::PromptTokensCached)
        {
            told.figure = told.figure + cached.figure;
        }
        Some(told)
    }

    /// The mean over engines, of what each says of one of its devices.
    pub(super) fn counter_mean(&self, meaning: Meaning) -> Option<ReportedCounter> {
        let Reported { metric, figure } = self.counter(meaning)?;
        let engines = self.history.series_of(&metric).count();
        Some(Reported::new(metric, figure.scaled(1.0 / engines as f64)))
    }

    /// By the values of a label, as far as these can be read.
    pub(super) fn counters_by<K: Ord + FromStr>(
        &self,
        meaning: Meaning,
        label: &str,
    ) -> BTreeMap<K, ReportedCounter> {
        let mut by: BTreeMap<K, ReportedCounter> = BTreeMap::new();
        let Some((metric, entry, series)) = self.series(meaning) else { return by };
        for name in series {
            let key = name.labels.get(label).and_then(|value| value.parse().ok());
            let Some((key, grown)) = key.zip(self.over(entry, name)) else { continue };
            by.entry(key)
                .and_modify(|so_far| so_far.figure = so_far.figure + grown)
                .or_insert_with(|| Reported::new(metric.clone(), grown));
        }
        by
    }

    pub(super) fn histogram(&self, meaning: Meaning) -> Option<ReportedHistogram> {
        let (entry, _) = self.found(meaning, &["_count"])?;
        let over = HistogramOver::of(self.history, entry.name, self.window, entry.scale, |_| true)?;
        Some(Reported::new(entry.name, over))
    }

    fn over_points(&self, points: &[Point]) -> Option<GaugeOver> {
        GaugeOver::of(points, self.window, self.hold)
    }

    /// All engines added, a point a page, in the meaning's unit.
    pub(super) fn sum_points(&self, meaning: Meaning) -> Option<(String, Vec<Point>)> {
        let (metric, entry, series) = self.series(meaning)?;
        let series: Vec<_> = series.into_iter().map(|name| (name, 1.0)).collect();
        Some((metric, scaled(Combine::Sum.points(self.history, &series), entry.scale)))
    }

    /// All engines added.
    pub(super) fn gauge(&self, meaning: Meaning) -> Option<ReportedGauge> {
        let (metric, points) = self.sum_points(meaning)?;
        Some(Reported::new(metric, self.over_points(&points)?))
    }

    pub(super) fn gauges_by(
        &self,
        meaning: Meaning,
        label: &str,
    ) -> BTreeMap<String, ReportedGauge> {
        let Some((metric, entry, series)) = self.series(meaning) else { return BTreeMap::new() };
        let mut by: BTreeMap<&str, Vec<(&SeriesName, f64)>> = BTreeMap::new();
        for name in series {
            if let Some(value) = name.labels.get(label) {
                by.entry(value).or_default().push((name, 1.0));
            }
        }
        let told = |(value, series): (&str, Vec<_>)| {
            let points = scaled(Combine::Sum.points(self.history, &series), entry.scale);
            let figure = self.over_points(&points)?;
            Some((value.to_owned(), Reported::new(metric.clone(), figure)))
        };
        by.into_iter().filter_map(told).collect()
    }

    pub(super) fn kv_use(&self) -> Option<ReportedGauge> {
        let (metric, points) = self.kv_points()?;
        Some(Reported::new(metric, self.over_points(&points)?))
    }

    /// The share of the cache in use over all engines, each weighted by what its cache holds, where all say that; else alike. Of an
    /// engine that tells blocks, the used ones over all.
    pub(super) fn kv_points(&self) -> Option<(String, Vec<Point>)> {
        let Some((metric, entry, series)) = self.series(Meaning::KvUse) else {
            return self.used_blocks();
        };
        let capacity = |name: &SeriesName| self.capacity_of(engine_of(name)?);
        let capacities: Option<Vec<f64>> = series.iter().map(|name| capacity(name)).collect();
        let weights = capacities.unwrap_or_else(|| vec![1.0; series.len()]);
        let series: Vec<_> = series.into_iter().zip(weights).collect();
        Some((metric, scaled(Combine::WeightedMean.points(self.history, &series), entry.scale)))
    }

    fn used_blocks(&self) -> Option<(String, Vec<Point>)> {
        let (metric, used) = self.sum_points(Meaning::KvBlocksUsed)?;
        let (_, all) = self.sum_points(Meaning::KvBlocks)?;
        let share = |(used, all): (Point, Point)| {
            let share = used.value.zip(all.value).map(|(used, all)| used / all);
            Point { value: share.filter(|share| share.is_finite()), ..used }
        };
        Some((metric, used.into_iter().zip(all).map(share).collect()))
    }

    /// All caches together, in tokens.
    pub(super) fn kv_capacity(&self) -> Option<Tokens> {
        let configs = self.configs();
        let total: Option<f64> = configs.iter().map(|name| capacity(name)).sum();
        let total = match total.filter(|_| !configs.is_empty()) {
            Some(total) => total,
            None => self.peak(Meaning::KvTokens).or_else(|| {
                Some(self.peak(Meaning::KvBlocks)? * self.peak(Meaning::KvBlockSize)?)
            })?,
        };
        Some(Tokens::new(total as u64)).filter(|tokens| *tokens > Tokens::ZERO)
    }

    fn peak(&self, meaning: Meaning) -> Option<f64> {
        self.gauge(meaning)?.figure.peak
    }

    fn configs(&self) -> Vec<&'a SeriesName> {
        self.series(Meaning::CacheConfig).map_or_else(Vec::new, |(_, _, series)| series)
    }

    fn capacity_of(&self, engine: &str) -> Option<f64> {
        let config = self.configs().into_iter().find(|name| engine_of(name) == Some(engine))?;
        capacity(config)
    }

    pub(super) fn engines(&self) -> u32 {
        let meanings = [Meaning::Running, Meaning::KvUse];
        let series = meanings.into_iter().filter_map(|meaning| self.series(meaning));
        let named: BTreeSet<Option<&str>> =
            series.flat_map(|(_, _, series)| series).map(engine_of).collect();
        u32::try_from(named.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn pages(&self) -> u32 {
        let Window { from, to, .. } = self.window;
        let is_in = |fetch: &Fetch| from <= fetch.middle() && fetch.middle() <= to;
        u32::try_from(self.history.fetches().filter(is_in).count()).unwrap_or(u32::MAX)
    }

    pub(super) fn missing_pages(&self) -> u32 {
        let Window { from, to, .. } = self.window;
        let failures = self.history.failures().iter();
        let within =
            failures.filter(|failure| from <= failure.fetch.answered && failure.fetch.asked <= to);
        u32::try_from(within.count()).unwrap_or(u32::MAX)
    }
}

fn scaled(mut points: Vec<Point>, scale: f64) -> Vec<Point> {
    for point in &mut points {
        point.value = point.value.map(|value| value * scale);
    }
    points
}

fn engine_of(name: &SeriesName) -> Option<&str> {
    ENGINE.into_iter().find_map(|label| name.labels.get(label))
}

/// How many tokens a cache holds, by the labels of vLLM's `cache_config_info`.
fn capacity(name: &SeriesName) -> Option<f64> {
    let number = |label| name.labels.get(label)?.parse::<f64>().ok().filter(|number| *number > 0.0);
    number("kv_cache_size_tokens")
        .or_else(|| Some(number("num_gpu_blocks")? * number("block_size")?))
}
