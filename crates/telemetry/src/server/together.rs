//! Several servers as one.

use std::collections::BTreeMap;

use fizeau_core::Tokens;

use super::{ReportedCounter, ReportedGauge, ReportedHistogram, ServerWindow};
use crate::figure::Reported;
use crate::window::{Bucket, CounterOver, GaugeOver, HistogramOver};

impl ServerWindow {
    /// Several servers over the same window as one: replicas behind one address. Counters and histograms are added, requests too;
    /// shares of KV caches are weighted by what they hold where all say that. A figure that one of them does not tell is absent,
    /// since a part would pass for the whole; so are the least and the largest of a gauge, which need not be of
    /// one instant.
    #[must_use]
    pub fn together(all: &[Self]) -> Self {
        let [first, rest @ ..] = all else { return Self::default() };
        if rest.is_empty() {
            return first.clone();
        }
        let counter =
            |of: fn(&Self) -> &Option<ReportedCounter>| added(all, of, |left, right| left + right);
        let mean = |of: fn(&Self) -> &Option<ReportedCounter>| {
            let mut told = counter(of)?;
            told.figure = told.figure.scaled(1.0 / all.len() as f64);
            Some(told)
        };
        let gauge = |of: fn(&Self) -> &Option<ReportedGauge>| added(all, of, sum_of_gauges);
        let mean_gauge = |of: fn(&Self) -> &Option<ReportedGauge>| {
            let mut told = gauge(of)?;
            told.figure = told.figure.scaled(1.0 / all.len() as f64);
            Some(told)
        };
        let histogram = |of: fn(&Self) -> &Option<ReportedHistogram>| {
            added(all, of, |left, right| sum_of_histograms(&left, &right))
        };
        let total = |of: fn(&Self) -> u32| all.iter().map(of).sum();
        let alike = all.iter().all(|one| one.exporter == first.exporter);
        Self {
            exporter: first.exporter.filter(|_| alike),
            engines: total(|one| one.engines),
            pages: total(|one| one.pages),
            missing_pages: total(|one| one.missing_pages),
            missing_why: all.iter().find_map(|one| one.missing_why.clone()),
            running: gauge(|one| &one.running),
            waiting: gauge(|one| &one.waiting),
            waiting_by_reason: by(all, |one| &one.waiting_by_reason, sum_of_gauges),
            kv_use: kv_use(all),
            kv_capacity_tokens: capacity(all),
            preemptions: counter(|one| &one.preemptions),
            prefix_hits: counter(|one| &one.prefix_hits),
            prefix_queries: counter(|one| &one.prefix_queries),
            external_prefix_hits: counter(|one| &one.external_prefix_hits),
            external_prefix_queries: counter(|one| &one.external_prefix_queries),
            prompt_tokens: counter(|one| &one.prompt_tokens),
            prompt_tokens_by_source: by(all, |one| &one.prompt_tokens_by_source, |a, b| a + b),
            prompt_tokens_cached: counter(|one| &one.prompt_tokens_cached),
            generation_tokens: counter(|one| &one.generation_tokens),
            requests: counter(|one| &one.requests),
            request_prompt_tokens: histogram(|one| &one.request_prompt_tokens),
            request_generation_tokens: histogram(|one| &one.request_generation_tokens),
            ttft: histogram(|one| &one.ttft),
            itl: histogram(|one| &one.itl),
            tpot: histogram(|one| &one.tpot),
            e2el: histogram(|one| &one.e2el),
            queue_time: histogram(|one| &one.queue_time),
            prefill_time: histogram(|one| &one.prefill_time),
            decode_time: histogram(|one| &one.decode_time),
            inference_time: histogram(|one| &one.inference_time),
            iteration_tokens: histogram(|one| &one.iteration_tokens),
            iterations: counter(|one| &one.iterations),
            drafts: counter(|one| &one.drafts),
            draft_tokens: counter(|one| &one.draft_tokens),
            accepted_tokens: counter(|one| &one.accepted_tokens),
            accepted_by_position: by(all, |one| &one.accepted_by_position, |a, b| a + b),
            accept_length: mean_gauge(|one| &one.accept_length),
            estimated_flops_per_gpu: mean(|one| &one.estimated_flops_per_gpu),
            estimated_read_bytes_per_gpu: mean(|one| &one.estimated_read_bytes_per_gpu),
            estimated_write_bytes_per_gpu: mean(|one| &one.estimated_write_bytes_per_gpu),
        }
    }
}

/// A figure of all of them; none if one does not tell it.
fn added<T: Clone>(
    all: &[ServerWindow],
    of: fn(&ServerWindow) -> &Option<Reported<T>>,
    add: impl Fn(T, T) -> T,
) -> Option<Reported<T>> {
    let told: Option<Vec<Reported<T>>> = all.iter().map(|one| of(one).clone()).collect();
    let add = |left: Reported<T>, right: Reported<T>| {
        Reported::new(left.metric, add(left.figure, right.figure))
    };
    told?.into_iter().reduce(add)
}

/// Figures by a label: a server that has not that value has none of it.
fn by<K: Ord + Clone, T: Clone>(
    all: &[ServerWindow],
    of: fn(&ServerWindow) -> &BTreeMap<K, Reported<T>>,
    add: impl Fn(T, T) -> T,
) -> BTreeMap<K, Reported<T>> {
    let mut together: BTreeMap<K, Reported<T>> = BTreeMap::new();
    for (key, told) in all.iter().flat_map(of) {
        let figure = match together.remove(key) {
            Some(before) => add(before.figure, told.figure.clone()),
            None => told.figure.clone(),
        };
        together.insert(key.clone(), Reported::new(told.metric.clone(), figure));
    }
    together
}

pub(super) fn sum_of_gauges(left: GaugeOver, right: GaugeOver) -> GaugeOver {
    GaugeOver {
        mean: left.mean + right.mean,
        min: None,
        peak: None,
        pages: left.pages.max(right.pages),
        changes: left.changes.max(right.changes),
        resolution: left
            .resolution
            .zip(right.resolution)
            .map(|(one, other)| if one > other { one } else { other }),
        covered: left.covered.min(right.covered),
    }
}

fn sum_of_histograms(left: &HistogramOver, right: &HistogramOver) -> HistogramOver {
    let (count, sum) = (left.count + right.count, left.sum + right.sum);
    let same_edges = left.buckets.len() == right.buckets.len()
        && left.buckets.iter().zip(&right.buckets).all(|(one, other)| one.up_to == other.up_to);
    let add = |(one, other): (&Bucket, &Bucket)| Bucket {
        up_to: one.up_to,
        count: one.count + other.count,
    };
    let buckets = match same_edges {
        true => left.buckets.iter().zip(&right.buckets).map(add).collect(),
        // Servers of different versions cut differently: no bucket can be told of both.
        false => Vec::new(),
    };
    HistogramOver { count, sum, mean: mean_of(count, sum), buckets }
}

fn mean_of(count: CounterOver, sum: CounterOver) -> Option<f64> {
    Some(sum.delta / count.delta).filter(|mean| mean.is_finite())
}

fn capacity(all: &[ServerWindow]) -> Option<Tokens> {
    all.iter()
        .map(|one| one.kv_capacity_tokens.map(Tokens::get))
        .sum::<Option<u64>>()
        .map(Tokens::new)
}

fn kv_use(all: &[ServerWindow]) -> Option<ReportedGauge> {
    let known = all.iter().all(|one| one.kv_capacity_tokens.is_some());
    let weight = |one: &ServerWindow| match one.kv_capacity_tokens {
        Some(tokens) if known => tokens.get() as f64,
        _ => 1.0,
    };
    let total: f64 = all.iter().map(weight).sum();
    let shares: Vec<ServerWindow> = all
        .iter()
        .map(|one| {
            let scaled = |told: &ReportedGauge| {
                Reported::new(told.metric.clone(), told.figure.scaled(weight(one) / total))
            };
            ServerWindow { kv_use: one.kv_use.as_ref().map(scaled), ..ServerWindow::default() }
        })
        .collect();
    added(&shares, |one| &one.kv_use, sum_of_gauges)
}
