//! Figures by meaning, out of the samples of one source.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use fizeau_core::{Nanos, Tokens};

use super::copies::Copies;
use super::{ReportedCounter, ReportedGauge, ReportedHistogram};
use crate::exposition::SeriesName;
use crate::figure::Reported;
use crate::samples::{Combine, Fetch, FetchFailure, History, SampledSeries, SeriesPoint};
use crate::vocabulary::{Exporter, MetricMeaning, VocabularyEntry, entries};
use crate::window::{CounterOver, EdgePages, GaugeOver, HistogramOver, Window};

/// The label by which engines of one server tell themselves apart: vLLM's data-parallel ranks, SGLang's.
const ENGINE: [&str; 2] = ["engine", "dp_rank"];

pub(super) struct View<'a> {
    history: &'a History,
    window: Window,
    hold: Nanos,
    /// The metrics of the pages, in order.
    metrics: Vec<&'a str>,
    exporter: Option<Exporter>,
    /// None where no page came before the window or behind it.
    edges: Option<EdgePages>,
}

impl<'a> View<'a> {
    pub(super) fn new(history: &'a History, window: Window, hold: Nanos) -> Self {
        let metrics = history.metrics();
        let exporter = Exporter::of_metrics(&metrics);
        let edges = EdgePages::of(&history.fetches(), window);
        Self { history, window, hold, metrics, exporter, edges }
    }

    pub(super) const fn exporter(&self) -> Option<Exporter> {
        self.exporter
    }

    /// The metric of that meaning that is on the pages, with one of these ends to its name: the page's own program first, then in the
    /// order of the table.
    fn found(
        &self,
        meaning: MetricMeaning,
        ends: &[&str],
    ) -> Option<(&'static VocabularyEntry, &'a str)> {
        let metric = |entry: &VocabularyEntry, end: &str| {
            let name = || entry.name.bytes().chain(end.bytes());
            let at = self.metrics.binary_search_by(|metric| metric.bytes().cmp(name())).ok()?;
            self.metrics.get(at).copied()
        };
        let named = |entry: &'static VocabularyEntry| {
            Some((entry, ends.iter().find_map(|end| metric(entry, end))?))
        };
        let mut all = entries().filter(|entry| entry.meaning == meaning).filter_map(named);
        let first = all.next()?;
        let own = |found: &(&VocabularyEntry, &str)| Some(found.0.exporter) == self.exporter;
        Some(if own(&first) { first } else { all.find(own).unwrap_or(first) })
    }

    /// The series of a meaning with their metric and entry.
    fn series(
        &self,
        meaning: MetricMeaning,
    ) -> Option<(&'a str, &'static VocabularyEntry, Vec<SampledSeries<'a>>)> {
        let (entry, name) = self.found(meaning, &["", "_total"])?;
        let is_of_it = self.counts(entry, name);
        let series = self.history.all_of(name).filter(|series| is_of_it(series.name));
        Some((name, entry, series.collect()))
    }

    /// Whether a series of `metric` is one of `entry`, and not what another says already.
    fn counts(
        &self,
        entry: &'static VocabularyEntry,
        metric: &str,
    ) -> impl Fn(&SeriesName) -> bool + use<'a> {
        let is_sglang = entry.exporter == Exporter::Sglang;
        let copies = is_sglang.then(|| Copies::among(self.history.series_of(metric)));
        move |name| {
            let is_copy = copies.as_ref().is_some_and(|copies| copies.has(name));
            entry.has(&name.labels) && !is_copy
        }
    }

    fn over(&self, entry: &VocabularyEntry, series: SampledSeries<'_>) -> Option<CounterOver> {
        let grown = if entry.is_since_last_page() {
            let mut points: Vec<_> = series.points().collect();
            let mut total = 0.0;
            for value in points.iter_mut().filter_map(|point| point.value.as_mut()) {
                total += *value;
                *value = total;
            }
            CounterOver::of(&points, self.window)
        } else {
            CounterOver::of_series(self.edges.as_ref()?, series)
        };
        Some(grown?.scaled(entry.scale))
    }

    /// The series of a counter; none where a page that stopped half way hides any of them.
    fn counted(
        &self,
        meaning: MetricMeaning,
    ) -> Option<(&'a str, &'static VocabularyEntry, Vec<SampledSeries<'a>>)> {
        let hides =
            |series: &SampledSeries<'_>| self.edges.is_some_and(|edges| edges.cut_off(series));
        self.series(meaning).filter(|(.., all)| !all.iter().any(hides))
    }

    pub(super) fn counter(&self, meaning: MetricMeaning) -> Option<ReportedCounter> {
        let Some((metric, entry, series)) = self.counted(meaning) else {
            return self.never_counted(meaning);
        };
        let grown = series.into_iter().filter_map(|series| self.over(entry, series));
        Some(Reported::new(metric, grown.reduce(of_one_server)?))
    }

    /// A counter that pages declare and none has a series of: programs make one when there is something to count.
    fn never_counted(&self, meaning: MetricMeaning) -> Option<ReportedCounter> {
        if self.found(meaning, &["", "_total"]).is_some() || self.history.cut_short() > 0 {
            return None;
        }
        self.edges?;
        let of_page = |entry: &&VocabularyEntry| {
            entry.meaning == meaning && Some(entry.exporter) == self.exporter
        };
        let declared = |entry: &VocabularyEntry| {
            let names = [entry.name.to_owned(), format!("{}_total", entry.name)];
            names.into_iter().find(|name| self.history.declares_counter(name))
        };
        let metric = entries().filter(of_page).find_map(declared)?;
        Some(Reported::new(metric, CounterOver { delta: 0.0, low: 0.0, high: 0.0, resets: 0 }))
    }

    /// Tokens of prompts, cached ones among them: llama.cpp counts these apart.
    pub(super) fn prompt_tokens(&self) -> Option<ReportedCounter> {
        use MetricMeaning::{PromptTokens, PromptTokensCached};
        self.with_part(PromptTokens, PromptTokensCached, Exporter::LlamaCpp)
    }

    /// What was looked up in the prefix cache, hits among it: TensorRT-LLM counts misses by themselves.
    pub(super) fn prefix_queries(&self) -> Option<ReportedCounter> {
        use MetricMeaning::{PrefixHits, PrefixQueries};
        self.with_part(PrefixQueries, PrefixHits, Exporter::TensorrtLlm)
    }

    /// A counter with a part of it that one program counts apart.
    fn with_part(
        &self,
        whole: MetricMeaning,
        part: MetricMeaning,
        apart: Exporter,
    ) -> Option<ReportedCounter> {
        let mut told = self.counter(whole)?;
        if self.exporter == Some(apart)
            && let Some(part) = self.counter(part)
        {
            told.figure = of_one_server(told.figure, part.figure);
        }
        Some(told)
    }

    /// The mean over engines, of what each says of one of its devices: over the series that are counted.
    pub(super) fn counter_mean(&self, meaning: MetricMeaning) -> Option<ReportedCounter> {
        let (metric, entry, series) = self.counted(meaning)?;
        let grown = series.into_iter().filter_map(|series| self.over(entry, series));
        let (mut engines, mut total) = (0_u32, None);
        for one in grown {
            engines += 1;
            total = Some(total.map_or(one, |so_far| of_one_server(so_far, one)));
        }
        Some(Reported::new(metric, total?.scaled(1.0 / f64::from(engines))))
    }

    /// By the values of a label, as far as these can be read.
    pub(super) fn counters_by<K: Ord + FromStr>(
        &self,
        meaning: MetricMeaning,
        label: &str,
    ) -> BTreeMap<K, ReportedCounter> {
        let mut by: BTreeMap<K, ReportedCounter> = BTreeMap::new();
        let Some((metric, entry, series)) = self.counted(meaning) else { return by };
        for series in series {
            let key = series.name.labels.get(label).and_then(|value| value.parse().ok());
            let Some((key, grown)) = key.zip(self.over(entry, series)) else { continue };
            by.entry(key)
                .and_modify(|so_far| so_far.figure = of_one_server(so_far.figure, grown))
                .or_insert_with(|| Reported::new(metric, grown));
        }
        by
    }

    pub(super) fn histogram(&self, meaning: MetricMeaning) -> Option<ReportedHistogram> {
        let (entry, metric) = self.found(meaning, &["_count"])?;
        let edges = self.edges.as_ref()?;
        let is_of_it = self.counts(entry, metric);
        let over = HistogramOver::between(self.history, entry.name, edges, entry.scale, is_of_it)?;
        Some(Reported::new(entry.name, over))
    }

    fn over_points(&self, points: &[SeriesPoint]) -> Option<GaugeOver> {
        GaugeOver::of(points, self.window, self.hold)
    }

    /// All engines added, a point a page, in the meaning's unit.
    pub(super) fn sum_points(&self, meaning: MetricMeaning) -> Option<(&'a str, Vec<SeriesPoint>)> {
        let (metric, entry, series) = self.series(meaning)?;
        let series = series.into_iter().map(|series| (series, 1.0));
        Some((metric, scaled(Combine::Sum.of(series), entry.scale)))
    }

    /// All engines added.
    pub(super) fn gauge(&self, meaning: MetricMeaning) -> Option<ReportedGauge> {
        let (metric, points) = self.sum_points(meaning)?;
        Some(Reported::new(metric, self.over_points(&points)?))
    }

    /// Requests in the running batch, a point a page. Dynamo's front end counts a request from its arrival to its end, so that those that
    /// have no token yet are taken off; whether these wait or are in prefill it does not say.
    pub(super) fn running_points(&self) -> Option<(&'a str, Vec<SeriesPoint>)> {
        let (metric, mut points) = self.sum_points(MetricMeaning::Running)?;
        if self.exporter == Some(Exporter::Dynamo)
            && let Some((_, early)) = self.sum_points(MetricMeaning::AwaitingFirstToken)
        {
            for (point, early) in points.iter_mut().zip(early) {
                let early = early.value.unwrap_or(0.0);
                point.value = point.value.map(|all| (all - early).max(0.0));
            }
        }
        Some((metric, points))
    }

    pub(super) fn running(&self) -> Option<ReportedGauge> {
        let (metric, points) = self.running_points()?;
        Some(Reported::new(metric, self.over_points(&points)?))
    }

    /// The mean over engines.
    /// What a round of drafting gives, the mean over engines and over the pages that tell of one: TensorRT-LLM sets it to 0 in each step
    /// without a draft (`pyexecutor/py_executor.py`).
    pub(super) fn accept_length(&self) -> Option<ReportedGauge> {
        let (metric, entry, series) = self.series(MetricMeaning::AcceptLength)?;
        let points = Combine::WeightedMean.of(series.into_iter().map(|series| (series, 1.0)));
        let of_a_round = |point: SeriesPoint| SeriesPoint {
            value: point.value.filter(|tokens| *tokens >= 1.0),
            ..point
        };
        let points: Vec<SeriesPoint> =
            scaled(points, entry.scale).into_iter().map(of_a_round).collect();
        Some(Reported::new(metric, self.over_points(&points)?))
    }

    pub(super) fn gauges_by(
        &self,
        meaning: MetricMeaning,
        label: &str,
    ) -> BTreeMap<String, ReportedGauge> {
        let Some((metric, entry, series)) = self.series(meaning) else { return BTreeMap::new() };
        let mut by: BTreeMap<&str, Vec<(SampledSeries<'_>, f64)>> = BTreeMap::new();
        for series in series {
            if let Some(value) = series.name.labels.get(label) {
                by.entry(value).or_default().push((series, 1.0));
            }
        }
        let told = |(value, series): (&str, Vec<_>)| {
            let points = scaled(Combine::Sum.of(series), entry.scale);
            let figure = self.over_points(&points)?;
            Some((value.to_owned(), Reported::new(metric, figure)))
        };
        by.into_iter().filter_map(told).collect()
    }

    pub(super) fn kv_use(&self) -> Option<ReportedGauge> {
        let (metric, points) = self.kv_points()?;
        Some(Reported::new(metric, self.over_points(&points)?))
    }

    /// The share of the cache in use over all engines, each weighted by what its cache holds, where all say that; else alike. Of an
    /// engine that tells blocks, the used ones over all.
    pub(super) fn kv_points(&self) -> Option<(&'a str, Vec<SeriesPoint>)> {
        let told = self.series(MetricMeaning::KvUse).filter(|(.., series)| !series.is_empty());
        let Some((metric, entry, series)) = told else {
            return self.used_blocks();
        };
        let configs = self.configs();
        let capacity = |series: &SampledSeries<'_>| {
            let engine = engine_of(series.name)?;
            capacity(configs.iter().find(|name| engine_of(name) == Some(engine))?)
        };
        let capacities: Option<Vec<f64>> = series.iter().map(capacity).collect();
        let weights = capacities.unwrap_or_else(|| vec![1.0; series.len()]);
        let points = Combine::WeightedMean.of(series.into_iter().zip(weights));
        Some((metric, scaled(points, entry.scale)))
    }

    fn used_blocks(&self) -> Option<(&'a str, Vec<SeriesPoint>)> {
        let (metric, used) = self.sum_points(MetricMeaning::KvBlocksUsed)?;
        let (_, all) = self.sum_points(MetricMeaning::KvBlocks)?;
        let share = |(used, all): (SeriesPoint, SeriesPoint)| {
            let share = used.value.zip(all.value).map(|(used, all)| used / all);
            SeriesPoint { value: share.filter(|share| share.is_finite()), ..used }
        };
        Some((metric, used.into_iter().zip(all).map(share).collect()))
    }

    /// All caches together, in tokens.
    pub(super) fn kv_capacity(&self) -> Option<Tokens> {
        let configs = self.configs();
        let total: Option<f64> = configs.iter().map(|name| capacity(name)).sum();
        let total = match total.filter(|_| !configs.is_empty()) {
            Some(total) => total,
            None => self.peak(MetricMeaning::KvTokens).or_else(|| {
                Some(self.peak(MetricMeaning::KvBlocks)? * self.peak(MetricMeaning::KvBlockSize)?)
            })?,
        };
        Some(Tokens::new(total as u64)).filter(|tokens| *tokens > Tokens::ZERO)
    }

    fn peak(&self, meaning: MetricMeaning) -> Option<f64> {
        self.gauge(meaning)?.figure.peak
    }

    /// The caches as the last page of the window has them: an engine that was started anew has another series than before, where
    /// its cache has another size, and the old one is no cache any more.
    fn configs(&self) -> Vec<&'a SeriesName> {
        let Some((.., all)) = self.series(MetricMeaning::CacheConfig) else { return Vec::new() };
        let is_there = |series: &SampledSeries<'_>| {
            let until_end = series.points().take_while(|point| point.at() <= self.window.to);
            let clear = until_end.filter(|point| !point.is_unclear);
            clear.last().is_some_and(|point| point.value.is_some())
        };
        all.into_iter().filter(is_there).map(|series| series.name).collect()
    }

    pub(super) fn engines(&self) -> u32 {
        let meanings = [MetricMeaning::Running, MetricMeaning::KvUse];
        let series = meanings.into_iter().filter_map(|meaning| self.series(meaning));
        let named: BTreeSet<Option<&str>> =
            series.flat_map(|(_, _, series)| series).map(|series| engine_of(series.name)).collect();
        u32::try_from(named.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn pages(&self) -> u32 {
        let Window { from, to, .. } = self.window;
        let is_in = |fetch: &Fetch| from <= fetch.middle() && fetch.middle() <= to;
        u32::try_from(self.history.fetches().filter(is_in).count()).unwrap_or(u32::MAX)
    }

    /// Pages that did not come in the window.
    pub(super) fn missing(&self) -> impl DoubleEndedIterator<Item = &'a FetchFailure> + use<'a> {
        let Window { from, to, .. } = self.window;
        let failures = self.history.failures().iter();
        failures
            .filter(move |failure| from <= failure.fetch.answered && failure.fetch.requested <= to)
    }
}

/// Series of one server added: a restart makes all of them begin anew, and is one all the same.
fn of_one_server(one: CounterOver, other: CounterOver) -> CounterOver {
    CounterOver { resets: one.resets.max(other.resets), ..one + other }
}

fn scaled(mut points: Vec<SeriesPoint>, scale: f64) -> Vec<SeriesPoint> {
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
