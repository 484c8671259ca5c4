//! What a goal can be about.

use fizeau_core::{Interval, Millis, PerSec};

use crate::{Distribution, LevelSummary, Support};

/// A metric that a goal can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Metric {
    /// Send start to first token.
    Ttft,
    /// Intended release to first token.
    TtftScheduled,
    /// Send start to first visible token.
    FirstVisible,
    /// Mean pace of a request after its first event.
    Tpot,
    /// Inter-token latency.
    Itl,
    /// Inter-chunk latency.
    Icl,
    /// Send start to last token.
    E2el,
    /// Intended release to last token.
    E2elScheduled,
    /// Requests completed per second.
    RequestsPerSec,
    /// Output tokens per second.
    OutputTokensPerSec,
    /// Requests per second that met every goal for a request.
    GoodputPerSec,
    /// Their share of all sent, from 0 to 1.
    GoodShare,
}

/// Which statistic of a metric a goal is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Statistic {
    /// The mean.
    Mean,
    /// The median.
    P50,
    /// The 90th percentile.
    P90,
    /// The 95th percentile.
    P95,
    /// The 99th percentile; that of a latency unless another is named.
    P99,
    /// The 99.9th percentile.
    P999,
    /// The greatest value.
    Max,
    /// The figure itself: a rate or a share is a single number for the whole level.
    Value,
}

impl Metric {
    /// Every metric, in the order of reports.
    pub const ALL: [Self; 12] = [
        Self::Ttft,
        Self::TtftScheduled,
        Self::FirstVisible,
        Self::Tpot,
        Self::Itl,
        Self::Icl,
        Self::E2el,
        Self::E2elScheduled,
        Self::RequestsPerSec,
        Self::OutputTokensPerSec,
        Self::GoodputPerSec,
        Self::GoodShare,
    ];

    /// The name in goals: `ttft`, `rps`, `good_share`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ttft => "ttft",
            Self::TtftScheduled => "ttft_scheduled",
            Self::FirstVisible => "first_visible",
            Self::Tpot => "tpot",
            Self::Itl => "itl",
            Self::Icl => "icl",
            Self::E2el => "e2el",
            Self::E2elScheduled => "e2el_scheduled",
            Self::RequestsPerSec => "rps",
            Self::OutputTokensPerSec => "output_tps",
            Self::GoodputPerSec => "goodput_per_s",
            Self::GoodShare => "good_share",
        }
    }

    /// The name for people: `TTFT`, `output TPS`, `good share`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Ttft => "TTFT",
            Self::TtftScheduled => "TTFT (scheduled)",
            Self::FirstVisible => "first visible",
            Self::Tpot => "TPOT",
            Self::Itl => "ITL",
            Self::Icl => "ICL",
            Self::E2el => "E2EL",
            Self::E2elScheduled => "E2EL (scheduled)",
            Self::RequestsPerSec => "RPS",
            Self::OutputTokensPerSec => "output TPS",
            Self::GoodputPerSec => "goodput",
            Self::GoodShare => "good share",
        }
    }

    /// The unit of its figures and limits: `ms`, `req/s`, `tok/s`; empty for a share.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::RequestsPerSec | Self::GoodputPerSec => "req/s",
            Self::OutputTokensPerSec => "tok/s",
            Self::GoodShare => "",
            _ => "ms",
        }
    }

    /// Whether it is a latency, which has statistics and is in milliseconds.
    #[must_use]
    pub const fn is_latency(self) -> bool {
        !matches!(
            self,
            Self::RequestsPerSec | Self::OutputTokensPerSec | Self::GoodputPerSec | Self::GoodShare
        )
    }

    /// Its distribution at `level`; none for a rate or a share.
    #[must_use]
    pub const fn distribution(self, level: &LevelSummary) -> Option<&Distribution> {
        let table = &level.metrics;
        Some(match self {
            Self::Ttft => &table.ttft,
            Self::TtftScheduled => &table.ttft_scheduled,
            Self::FirstVisible => &table.first_visible,
            Self::Tpot => &table.tpot,
            Self::Itl => &table.itl,
            Self::Icl => &table.icl,
            Self::E2el => &table.e2el,
            Self::E2elScheduled => &table.e2el_scheduled,
            Self::RequestsPerSec
            | Self::OutputTokensPerSec
            | Self::GoodputPerSec
            | Self::GoodShare => return None,
        })
    }

    /// Its figure at `level`, in its unit; `statistic` is for latencies alone. None if the level does not have it, or its
    /// sample cannot support it.
    #[must_use]
    pub fn measured(self, statistic: Statistic, level: &LevelSummary) -> Option<f64> {
        if let Some(distribution) = self.distribution(level) {
            return distribution.statistic(statistic).map(Millis::get);
        }
        let throughput = &level.throughput;
        if self == Self::GoodShare {
            return throughput.goodput.map(|goodput| goodput.share);
        }
        // A window of no length has no rates; their zeros are no measurement.
        if throughput.duration.get() <= 0.0 {
            return None;
        }
        match self {
            Self::RequestsPerSec => Some(throughput.requests_per_s),
            Self::OutputTokensPerSec => Some(throughput.output_tokens_per_s),
            _ => throughput.goodput.map(|goodput| goodput.rate),
        }
        .map(PerSec::get)
    }

    /// Where that figure's true value lies, at 95 %; none where there is no telling: for greatest values and the percentiles of
    /// pooled gaps, and where the sample is too small.
    #[must_use]
    pub fn interval(self, statistic: Statistic, level: &LevelSummary) -> Option<Interval<f64>> {
        if let Some(distribution) = self.distribution(level) {
            return Some(distribution.interval(statistic)?.map(Millis::get));
        }
        let ends = &level.throughput.intervals;
        if self == Self::GoodShare {
            return ends.good_share.and_then(Support::known);
        }
        let rate = match self {
            Self::RequestsPerSec => ends.requests_per_s,
            Self::OutputTokensPerSec => ends.output_tokens_per_s,
            _ => ends.goodput_per_s,
        };
        Some(rate.and_then(Support::known)?.map(PerSec::get))
    }
}

impl Statistic {
    /// Every statistic that has a name.
    pub(crate) const NAMED: [Self; 7] =
        [Self::Mean, Self::P50, Self::P90, Self::P95, Self::P99, Self::P999, Self::Max];

    /// The name in goals and reports: `mean`, `p50` ... `p999`, `max`; empty for [`Statistic::Value`].
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p999",
            Self::Max => "max",
            Self::Value => "",
        }
    }
}
