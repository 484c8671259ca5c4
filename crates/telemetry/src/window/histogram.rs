//! Histograms.

use fizeau_core::document;
use std::collections::BTreeMap;

use super::{CounterOver, EdgePages, Window};
use crate::exposition::SeriesName;
use crate::samples::{History, SampledSeries};

document! {
    /// What a histogram of the server's took in over a window: exact counts and sums, and buckets as the server cuts them.
    #[non_exhaustive]
    pub struct HistogramOver {
        /// How many observations.
        pub count: CounterOver,
        /// Their sum.
        pub sum: CounterOver,
        /// Their mean, which is exact where both edges are quiet; absent without observations.
        pub mean?: f64,
        /// How many fell into each bucket, from the lowest.
        pub buckets: Vec<Bucket>,
    }
}

document! {
    /// A bucket of a histogram.
    #[derive(Copy)]
    pub struct Bucket {
        /// Its upper edge, which belongs to it; none of the last one, which has no end.
        pub up_to?: f64,
        /// How many fell into it (not into it or one below).
        pub count: f64,
    }
}

document! {
    /// Between which edges a percentile lies. More a histogram cannot say.
    #[derive(Copy)]
    pub struct PercentileBucket {
        /// Above that; none in the lowest bucket.
        pub above?: f64,
        /// At most that; none in the last bucket, which has no end.
        pub up_to?: f64,
    }
}

impl HistogramOver {
    /// What the histogram `metric` (its name without `_bucket`) of `history` took in over `window`, all its series together of which
    /// `is_wanted`, with edges and sum times `scale`; none where no page came before the window or behind it.
    #[must_use]
    pub fn of(
        history: &History,
        metric: &str,
        window: Window,
        scale: f64,
        is_wanted: impl Fn(&SeriesName) -> bool,
    ) -> Option<Self> {
        let edges = EdgePages::of(&history.fetches(), window)?;
        Self::between(history, metric, &edges, scale, is_wanted)
    }

    /// The same between pages that are known.
    pub(crate) fn between(
        history: &History,
        metric: &str,
        edges: &EdgePages,
        scale: f64,
        is_wanted: impl Fn(&SeriesName) -> bool,
    ) -> Option<Self> {
        let all_of = |suffix: &str| history.all_of(&format!("{metric}{suffix}"));
        let total = |suffix: &str| {
            let wanted = || all_of(suffix).filter(|series| is_wanted(series.name));
            let grown = wanted().filter_map(|series| CounterOver::of_series(edges, series));
            let is_cut_off = wanted().any(|series| edges.cut_off(&series));
            grown.reduce(|sum, more| sum + more).filter(|_| !is_cut_off)
        };
        let (count, sum) = (total("_count")?, total("_sum")?.scaled(scale));
        let wanted = all_of("_bucket").filter(|series| is_wanted(series.name));
        let wanted: Vec<_> = wanted.collect();
        let buckets = match wanted.iter().any(|series| edges.cut_off(series)) {
            true => Vec::new(),
            false => buckets(wanted.into_iter(), edges, scale),
        };
        let mean = sum.delta / count.delta;
        let mean = Some(mean).filter(|mean| mean.is_finite());
        Some(Self { count, sum, mean, buckets })
    }

    /// The bucket that the percentile lies in, 0 to 100; none without observations.
    #[must_use]
    pub fn holding(&self, percentile: f64) -> Option<PercentileBucket> {
        let total: f64 = self.buckets.iter().map(|bucket| bucket.count).sum();
        let wanted = total * (percentile.clamp(0.0, 100.0) / 100.0);
        let (mut below, mut above) = (0.0, None);
        for bucket in self.buckets.iter().filter(|_| total > 0.0) {
            below += bucket.count;
            if below >= wanted && bucket.count > 0.0 {
                return Some(PercentileBucket { above, up_to: bucket.up_to });
            }
            above = bucket.up_to;
        }
        None
    }
}

/// Of cumulative buckets by edge those by themselves.
fn buckets<'a>(
    series: impl Iterator<Item = SampledSeries<'a>>,
    edges: &EdgePages,
    scale: f64,
) -> Vec<Bucket> {
    let mut up_to: BTreeMap<Edge, f64> = BTreeMap::new();
    for series in series {
        let edge = series.name.labels.get("le").and_then(Edge::read);
        if let Some((edge, grown)) = edge.zip(CounterOver::of_series(edges, series)) {
            *up_to.entry(edge).or_default() += grown.delta;
        }
    }
    let mut below = 0.0;
    let alone = |(edge, cumulative): (Edge, f64)| {
        // The buckets of a page are not of one instant: a lower one may have more than the next.
        let count = (cumulative - below).max(0.0);
        below = cumulative.max(below);
        Bucket { up_to: edge.finite().map(|edge| edge * scale), count }
    };
    up_to.into_iter().map(alone).collect()
}

/// The upper edge of a bucket, in order.
#[derive(Clone, Copy, PartialEq)]
struct Edge(f64);

impl Edge {
    fn read(text: &str) -> Option<Self> {
        text.parse().ok().filter(|edge: &f64| !edge.is_nan()).map(Self)
    }

    fn finite(self) -> Option<f64> {
        Some(self.0).filter(|edge| edge.is_finite())
    }
}

impl Eq for Edge {}

impl PartialOrd for Edge {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Edge {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
