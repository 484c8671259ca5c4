//! Every figure of a level, once: its names, its unit, what it means, and how it is read off.
//!
//! Whoever lists figures asks the catalogue: the JSON of a level, goals, comparisons, columns of tables, metrics for monitoring. A
//! figure more is an entry more below.

mod entry;

pub(super) use entry::Source;

use fizeau_core::{Interval, Millis, Nanos, PerSec, TokenSource};

use super::latencies::Latencies;
use crate::json::EMPTY;
use crate::series::SentRequest;
use crate::statistic::Statistic;
use crate::{
    Distribution, LevelSummary, RateDistribution, RequestCounts, RequestMetrics, SampleSupport,
};
use Source::{Count, Each, OfRequests, Pooled, Rate, Series, Share};
pub use entry::{MetricEntry, TableColumns};

/// Which way is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BetterDirection {
    /// Rates, goodput.
    HigherIsBetter,
    /// Latencies.
    LowerIsBetter,
}

/// The figures: of latencies the field of the table, the variant, the key in JSON, how it is written where there are no values, and the
/// entry; of all others the variant and the entry. The first line of each comment is the definition that is shown.
macro_rules! catalogue {
    (
        |$table:ident or $tokens:ident| {$(
            #[doc = $about:literal] $(#[doc = $more:literal])*
            $field:ident = $variant:ident, $json:literal, $kind:ident ($($empty:expr)?) => $entry:expr;
        )*}
        {$(
            #[doc = $other_about:literal]
            $other:ident, $key:literal, $path:expr => $other_entry:expr;
        )*}
    ) => {
        /// Latencies, in milliseconds. In JSON each name ends in `_ms`.
        #[derive(Debug, Clone, PartialEq, Default)]
        #[non_exhaustive]
        pub struct MetricTable {$(
            #[doc = $about] $(#[doc = $more])*
            pub $field: Distribution,
        )*}

        json_object!(MetricTable, "Every latency that is measured.", |$table or $tokens| {
            $($json: $kind($field $(, $empty)?),)*
        } => Ok(MetricTable { $($field),* }));

        impl MetricTable {
            /// The figures that `of` gives of each latency.
            pub(super) fn of(of: impl Fn(Metric) -> Distribution) -> Self {
                Self { $($field: of(Metric::$variant)),* }
            }

            /// The latency that `metric` is; none for rates and shares.
            const fn get(&self, metric: Metric) -> Option<&Distribution> {
                match metric {
                    $(Metric::$variant => Some(&self.$field),)*
                    $(Metric::$other => None,)*
                }
            }

            /// Each latency, to be changed.
            pub(super) fn each_mut(&mut self) -> impl Iterator<Item = (Metric, &mut Distribution)> {
                [$((Metric::$variant, &mut self.$field)),*].into_iter()
            }
        }

        /// A figure of a level.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Metric {
            $(#[doc = $about] $(#[doc = $more])* $variant,)*
            $(#[doc = $other_about] $other,)*
        }

        impl Metric {
            /// Every figure, in the order of reports.
            pub const ALL: &[Self] = &[$(Self::$variant,)* $(Self::$other,)*];

            /// What the catalogue says of it.
            #[must_use]
            pub const fn entry(self) -> &'static MetricEntry {
                match self {
                    $(Self::$variant => {
                        const ENTRY: MetricEntry = $entry.named(stringify!($field), ["metrics", $json], $about);
                        &ENTRY
                    })*
                    $(Self::$other => {
                        const ENTRY: MetricEntry = $other_entry.named($key, $path, $other_about);
                        &ENTRY
                    })*
                }
            }
        }
    };
}

/// Why there is no latency of tokens.
pub(super) const fn no_tokens(source: Option<TokenSource>) -> &'static str {
    match source {
        None => "no request completed",
        Some(TokenSource::Tokenless) => "the replies have no tokens",
        Some(_) => EMPTY,
    }
}

const NO_REASONING: &str = "no request reasoned before its first visible token";
const NO_CONNECTION: &str = "no request had to make a connection";
const NO_NAME: &str = "no request had to resolve a name";
const NO_TLS: &str = "no request had to make a TLS handshake";
const NO_ROUND_TRIP: &str = "the kernel reported no connection's round trip";
const NO_KERNEL: &str = "the kernel stamped no arrival";

catalogue! {
    |table or tokens| {
        /// Send start to first token.
        ttft = Ttft, "ttft_ms", each(tokens) => MetricEntry::new("TTFT", "ms", Series(|of| ms(of.ttft()), |of| ms(of.ttft)))
            .goal().column("ttft_ms").exposed("fizeau_ttft_seconds").bounded().live()
            .spelled("Time to first token", "ms").tabled("TTFT ms", "", [[Some(12), Some(1)], [Some(18), Some(5)]]);
        /// Intended instant to first token.
        ttft_scheduled = TtftScheduled, "ttft_scheduled_ms", each(tokens)
            => MetricEntry::new("TTFT (scheduled)", "ms", Series(|of| ms(of.ttft_scheduled()), |of| ms(of.ttft_scheduled)))
            .goal().exposed("fizeau_ttft_scheduled_seconds");
        /// Send start to the first token that a reader would see.
        first_visible = FirstVisible, "first_visible_ms", each(tokens)
            => MetricEntry::new("first visible", "ms", Series(|of| ms(of.visible()), |of| ms(of.first_visible))).goal();
        /// First token to the first that a reader would see, of requests that reasoned in between.
        reasoning = Reasoning, "reasoning_ms", each(NO_REASONING) => MetricEntry::new("reasoning", "ms", Each(|of| of.reasoning));
        /// Time per output token, one value a request.
        /// It is the mean pace after the first event.
        tpot = Tpot, "tpot_ms", each(tokens) => MetricEntry::new("TPOT", "ms", Series(SentRequest::tpot, |of| of.tpot))
            .goal().column("tpot_ms").exposed("fizeau_tpot_seconds").bounded().live()
            .spelled("Time per output token", "ms").tabled("TPOT ms", "", [[Some(15), Some(0)], [Some(10), Some(4)]]);
        /// Gaps between tokens, of all requests.
        /// Each gap between events is shared over the tokens of the one that closes it, and weighted by them.
        itl = Itl, "itl_ms", each(tokens) => MetricEntry::new("ITL", "ms", Pooled(Latencies::itl))
            .goal().column("itl_ms").exposed("fizeau_itl_seconds").spelled("Inter-token latency", "ms");
        /// Gaps between generation events, of all requests.
        icl = Icl, "icl_ms", each(tokens) => MetricEntry::new("ICL", "ms", Pooled(Latencies::icl)).goal();
        /// Send start to the last of the output.
        /// That is a token, or an embedding.
        e2el = E2el, "e2el_ms", is() => MetricEntry::new("E2EL", "ms", Series(|of| ms(of.e2el()), |of| ms(of.e2el)))
            .goal().column("e2el_ms").exposed("fizeau_e2el_seconds").bounded()
            .spelled("End-to-end latency", "ms").tabled("E2EL ms", "", [[Some(11), Some(2)], [None, Some(6)]]);
        /// Intended instant to the last of the output.
        e2el_scheduled = E2elScheduled, "e2el_scheduled_ms", is()
            => MetricEntry::new("E2EL (scheduled)", "ms", Series(|of| ms(of.e2el_scheduled()), |of| ms(of.e2el_scheduled)))
            .goal().exposed("fizeau_e2el_scheduled_seconds");
        /// Intended instant to send start: the client's own doing.
        /// Of all requests that were sent.
        send_lateness = SendLateness, "send_lateness_ms", is() => MetricEntry::new("send lateness", "ms", Each(|of| of.send_lateness))
            .exposed("fizeau_send_lateness_seconds");
        /// Intended instant to release, of all requests.
        release_lateness = ReleaseLateness, "release_lateness_ms", is()
            => MetricEntry::new("release lateness", "ms", Each(|of| of.release_lateness));
        /// Release to send start, the wait for a connection not counted, of all requests that were sent.
        send_delay = SendDelay, "send_delay_ms", is() => MetricEntry::new("send delay", "ms", Each(|of| of.send_delay));
        /// The part of release to send start that went into making a connection, of all requests that were sent.
        /// It is zero where one was at hand.
        connection_wait = ConnectionWait, "connection_wait_ms", is()
            => MetricEntry::new("connection wait", "ms", Each(|of| of.connection_wait));
        /// The making of a connection, of requests that made one.
        connect = Connect, "connect_ms", each(NO_CONNECTION) => MetricEntry::new("connect", "ms", Each(|of| of.connect));
        /// The part of it that the name took, of those that had one to resolve.
        dns = Dns, "dns_ms", each(NO_NAME) => MetricEntry::new("DNS", "ms", Each(|of| of.dns));
        /// The part of it that the TCP handshake took.
        tcp = Tcp, "tcp_ms", each(NO_CONNECTION) => MetricEntry::new("TCP", "ms", Each(|of| of.tcp));
        /// The part of it that the TLS handshake took, of those that had one.
        tls = Tls, "tls_ms", each(NO_TLS) => MetricEntry::new("TLS", "ms", Each(|of| of.tls));
        /// One round trip of the network, of requests whose connection the kernel tells it of.
        /// It is the shortest that the connection has had.
        network = Network, "network_ms", later(NO_ROUND_TRIP) => MetricEntry::new("network", "ms", Each(|of| of.network))
            .exposed("fizeau_network_seconds");
        /// How long after the kernel's stamp each arrival was read, of all requests that the kernel stamped.
        /// A stamp of this process's own would have been late by as much.
        read_lag = ReadLag, "read_lag_ms", each(NO_KERNEL) => MetricEntry::new("read lag", "ms", Pooled(Latencies::read_lag));
    }
    {
        /// Requests completed per second.
        RequestsPerSec, "rps", ["throughput", "requests_per_s"]
            => MetricEntry::new("RPS", "req/s", Rate(|of| Some(of.requests_per_s), |ends| ends.requests_per_s))
            .goal().column("requests_per_s").exposed("fizeau_requests_per_second")
            .spelled("requests", "/s").tabled("req", "/s", [[None, Some(8)], [None; 2]]);
        /// Output tokens per second.
        OutputTokensPerSec, "output_tps", ["throughput", "output_tokens_per_s"]
            => MetricEntry::new("output TPS", "tok/s", Rate(|of| Some(of.output_tokens_per_s), |ends| ends.output_tokens_per_s))
            .goal().column("output_tps").exposed("fizeau_output_tokens_per_second").live()
            .spelled("output tokens", "/s").tabled("out tok", "/s", [[None, Some(7)], [None; 2]]);
        /// Prompt and output tokens per second.
        TotalTokensPerSec, "total_tps", ["throughput", "total_tokens_per_s"]
            => MetricEntry::new("total TPS", "tok/s", Rate(|of| of.total_tokens_per_s, |ends| ends.total_tokens_per_s))
            .column("total_tps").exposed("fizeau_total_tokens_per_second");
        /// Requests per second that met every goal for a request.
        GoodputPerSec, "goodput_per_s", ["throughput", "goodput_per_s"]
            => MetricEntry::new("goodput", "req/s", Rate(|of| Some(of.goodput?.rate), |ends| ends.goodput_per_s))
            .goal().column("goodput").exposed("fizeau_good_requests_per_second")
            .spelled("goodput", "/s").tabled("good", "req/s", [[Some(3), None], [None; 2]]);
        /// Good requests of all that were due, 0 to 1.
        GoodShare, "good_share", ["throughput", "good_share"]
            => MetricEntry::new("good share", "", Share(|of| Some(of.goodput?.share), |ends| ends.good_share))
            .goal().column("good_share").exposed("fizeau_good_requests_ratio")
            .spelled("good", "of 1").tabled("good", "%", [[Some(14), None], [None; 2]]);
        /// Failed requests of all that were sent, 0 to 1.
        FailedShare, "failed_share", ["requests", "failed_share"]
            => MetricEntry::new("failed share", "", Count(RequestCounts::failed_share))
            .goal().column("failed_share").exposed("fizeau_failed_requests_ratio");
        /// Output tokens per second of one user: one over TPOT.
        UserTokensPerSec, "user_tps", ["rates", "user_tokens_per_s"]
            => MetricEntry::new("user TPS", "tok/s", OfRequests(|of| &of.user_tps, Some(|of| of.user_tps)))
            .exposed("fizeau_user_output_tokens_per_second");
        /// Prompt tokens per second of a request: those that no cache supplied, over TTFT.
        PrefillTokensPerSec, "prefill_tps", ["rates", "prefill_tokens_per_s"]
            => MetricEntry::new("prefill TPS", "tok/s", OfRequests(|of| &of.prefill_tps, Some(|of| of.prefill_tps)));
        /// Bytes of visible text per second of a reply, after its first visible event.
        TextBytesPerSec, "text_bytes", ["rates", "text_bytes_per_s"]
            => MetricEntry::new("text bytes", "B/s", OfRequests(|of| &of.text_bytes, None));
        /// Characters of visible text per second of a reply, after its first visible event.
        TextCharsPerSec, "text_chars", ["rates", "text_chars_per_s"]
            => MetricEntry::new("text characters", "char/s", OfRequests(|of| &of.text_chars, None));
    }
}

fn ms(time: Option<Nanos>) -> Option<Millis> {
    time.map(Nanos::to_millis)
}

impl Metric {
    /// Those that a goal, a comparison or a stopping rule can be about, in the order of reports.
    pub fn goals() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|metric| metric.entry().is_goal)
    }

    /// The latencies that a level is known by: those that have columns in tables of levels.
    pub fn headline() -> impl Iterator<Item = Self> {
        Self::ALL
            .iter()
            .copied()
            .filter(|metric| metric.is_latency() && metric.entry().column.is_some())
    }

    /// The latencies that have columns in tables for people.
    pub fn tabled() -> impl Iterator<Item = Self> {
        let is_tabled = |metric: &Self| metric.is_latency() && metric.entry().table.is_some();
        Self::ALL.iter().copied().filter(is_tabled)
    }

    /// Whether it is followed while a run goes on.
    #[must_use]
    pub const fn is_live(self) -> bool {
        self.entry().is_live
    }

    /// Those that are followed while a run goes on.
    pub fn live() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|metric| metric.is_live())
    }

    /// The statistics that have columns of their own in tables of levels; none where the catalogue names no column.
    #[must_use]
    pub const fn tabulated(self) -> &'static [Statistic] {
        use Statistic::{Max, Mean, P50, P90, P99, Value};
        match (self.entry().column, self.is_latency()) {
            (None, _) => &[],
            (Some(_), true) => &[Mean, P50, P90, P99, Max],
            (Some(_), false) => &[Value],
        }
    }

    /// The name of such a column: `p99_ttft_ms`, `output_tps`; none where there is none.
    #[must_use]
    pub fn column(self, statistic: Statistic) -> Option<String> {
        let name = self.entry().column?;
        Some(match self.is_latency() {
            true => format!("{}_{name}", statistic.as_str()),
            false => name.to_owned(),
        })
    }

    /// How many [`Metric::series`] there are.
    pub(crate) const SERIES: usize = {
        let (mut at, mut count) = (0, 0);
        while at < Self::ALL.len() {
            if matches!(Self::ALL[at].source(), Series(..)) {
                count += 1;
            }
            at += 1;
        }
        count
    };

    /// The one of [`Metric::goals`] of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::goals().find(|metric| metric.entry().key == name)
    }

    /// The names of [`Metric::goals`], as messages list them.
    pub(crate) fn goal_names() -> String {
        Self::goals().map(|metric| metric.entry().key).collect::<Vec<_>>().join(", ")
    }

    /// The latencies that there is one of for each request, in the order of sending: those that single requests are compared by.
    pub fn series() -> impl Iterator<Item = Self> {
        let is_series = |metric: &Self| matches!(metric.source(), Series(..));
        Self::ALL.iter().copied().filter(is_series)
    }

    /// Which way is good: latencies and failures are better low, all else high.
    #[must_use]
    pub const fn direction(self) -> BetterDirection {
        if self.is_latency() || matches!(self, Self::FailedShare) {
            BetterDirection::LowerIsBetter
        } else {
            BetterDirection::HigherIsBetter
        }
    }

    /// The same from the schedule, of a latency that counts from the sending and is to be kept from the schedule too where there is one:
    /// a cap on requests in flight makes requests wait before they are sent, which the figure from the sending does not show.
    pub(crate) const fn scheduled(self) -> Option<Self> {
        match self {
            Self::Ttft => Some(Self::TtftScheduled),
            Self::E2el => Some(Self::E2elScheduled),
            _ => None,
        }
    }

    /// Whether it is a latency, which has statistics and is in milliseconds.
    #[must_use]
    pub const fn is_latency(self) -> bool {
        matches!(self.source(), Series(..) | Each(_) | Pooled(_))
    }

    /// The statistics that it has: of rates over the level and of shares the figure itself.
    #[must_use]
    pub const fn statistics(self) -> &'static [Statistic] {
        match self.source() {
            Series(..) | Each(_) | Pooled(_) => &Statistic::NAMED,
            OfRequests(..) => &[Statistic::Mean, Statistic::P50, Statistic::P90, Statistic::Max],
            Rate(..) | Share(..) | Count(_) => &[Statistic::Value],
        }
    }

    /// Whether it can have an interval. There is none of a greatest value, and of what is pooled none but the mean's.
    #[must_use]
    pub const fn has_interval(self, statistic: Statistic) -> bool {
        match self.source() {
            Rate(..) | Share(..) => true,
            Series(..) => !matches!(statistic, Statistic::Max),
            Pooled(_) => self.entry().is_goal && matches!(statistic, Statistic::Mean),
            Each(_) | OfRequests(..) | Count(_) => false,
        }
    }

    pub(super) const fn source(self) -> Source {
        self.entry().source
    }

    /// Whether it has MLPerf's bounds of its percentiles.
    pub(super) const fn is_bounded(self) -> bool {
        self.entry().is_bounded
    }

    /// Its distribution at `level`; none for a rate or a share.
    #[must_use]
    pub const fn distribution(self, level: &LevelSummary) -> Option<&Distribution> {
        level.metrics.get(self)
    }

    /// The rates of single requests that it is at `level`; none for anything else.
    #[must_use]
    pub fn rates(self, level: &LevelSummary) -> Option<&RateDistribution> {
        match self.source() {
            OfRequests(of, _) => Some(of(&level.rates)),
            _ => None,
        }
    }

    /// What a single request has of it, in its unit; none where it has none, and of what is pooled or of the whole level.
    #[must_use]
    pub fn of_request(self, request: &RequestMetrics) -> Option<f64> {
        match self.source() {
            Series(_, of) => of(request).map(Millis::get),
            Each(of) => of(request).map(Nanos::as_millis_f64),
            OfRequests(_, of) => of?(request).map(PerSec::get),
            Pooled(_) | Rate(..) | Share(..) | Count(_) => None,
        }
    }

    /// Whether single requests have it.
    #[must_use]
    pub const fn is_of_requests(self) -> bool {
        matches!(self.source(), Series(..) | Each(_) | OfRequests(_, Some(_)))
    }

    /// Its figure at `level`, in its unit; rates over the level and shares have [`Statistic::Value`], whatever is asked. None if the
    /// level does not have it, or its sample cannot support it.
    #[must_use]
    pub fn measured(self, statistic: Statistic, level: &LevelSummary) -> Option<f64> {
        let throughput = &level.throughput;
        match self.source() {
            // A window of no length has no rates; their zeros are no measurement.
            Rate(of, _) if throughput.duration.get() > 0.0 => of(throughput).map(PerSec::get),
            Rate(..) => None,
            Share(of, _) => of(throughput),
            Count(of) => of(&level.requests),
            OfRequests(of, _) => of(&level.rates).statistic(statistic).map(PerSec::get),
            _ => self.distribution(level)?.statistic(statistic).map(Millis::get),
        }
    }

    /// Where that figure's true value lies, at 95 %; none where it cannot be known: for greatest values and the percentiles of
    /// pooled gaps, for rates of single requests, and where the sample is too small.
    #[must_use]
    pub fn interval(self, statistic: Statistic, level: &LevelSummary) -> Option<Interval<f64>> {
        let ends = &level.throughput.intervals;
        match self.source() {
            Rate(_, of) => Some(of(ends).and_then(SampleSupport::known)?.map(PerSec::get)),
            Share(_, of) => of(ends).and_then(SampleSupport::known),
            OfRequests(..) | Count(_) => None,
            _ => Some(self.distribution(level)?.interval(statistic)?.map(Millis::get)),
        }
    }
}

fizeau_core::words! {
    /// As it is written: `higher`, `lower`.
    pub BetterDirection::as_str {
        HigherIsBetter = "higher", LowerIsBetter = "lower",
    }
}
