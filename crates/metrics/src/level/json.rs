//! A level in JSON: what is unknown is null, with the reason beside it.

mod output;
mod over_time;
mod workload;

use fizeau_core::TokenSource;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Jitter, LevelSummary, MetricTable, Throughput, TokenCounts};
use crate::distribution::{OrReason, interval_or_reason};
use crate::json::known_or_reason;

const NO_GOALS: &str = "no goals were given, or nothing was sent";

impl Serialize for LevelSummary {
    /// An object of the fields' names; in `metrics` each latency ends in `_ms`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const CLOSED: &str = "a closed loop: the endpoint sets the pace";
        let metrics = Metrics { table: &self.metrics, source: self.tokens.source };
        let (arrivals, probe) = (self.arrivals.as_ref(), self.probe.as_ref());
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("requests", &self.requests)?;
        map.serialize_entry("tokens", &self.tokens)?;
        map.serialize_entry("metrics", &metrics)?;
        map.serialize_entry("jitter", &self.jitter)?;
        map.serialize_entry("rates", &self.rates)?;
        map.serialize_entry("output", &self.output)?;
        map.serialize_entry("throughput", &self.throughput)?;
        known_or_reason(&mut map, "goodput", self.goodput.as_ref(), NO_GOALS)?;
        known_or_reason(&mut map, "over_time", self.over_time, "the level has no length")?;
        map.serialize_entry("windowed", &self.windowed)?;
        known_or_reason(&mut map, "saturation", self.saturation, CLOSED)?;
        known_or_reason(&mut map, "arrivals", arrivals, CLOSED)?;
        map.serialize_entry("lengths", &self.lengths)?;
        let models = self.models.as_deref();
        known_or_reason(&mut map, "models", models, "no more than one model was asked")?;
        known_or_reason(&mut map, "probe", probe, "there was no probe stream")?;
        map.end()
    }
}

/// The latencies, with what it takes to say why one has no values.
struct Metrics<'a> {
    table: &'a MetricTable,
    source: Option<TokenSource>,
}

impl Serialize for Metrics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const EMPTY: &str = "no values";
        const NO_CONNECTION: &str = "no request had to make a connection";
        let tokens = match self.source {
            None => "no request completed",
            Some(TokenSource::Tokenless) => "the replies have no tokens",
            Some(_) => EMPTY,
        };
        let m = self.table;
        let entries = [
            ("ttft_ms", &m.ttft, tokens),
            ("ttft_scheduled_ms", &m.ttft_scheduled, tokens),
            ("first_visible_ms", &m.first_visible, tokens),
            ("reasoning_ms", &m.reasoning, "no request reasoned before its first visible token"),
            ("tpot_ms", &m.tpot, tokens),
            ("itl_ms", &m.itl, tokens),
            ("icl_ms", &m.icl, tokens),
            ("e2el_ms", &m.e2el, EMPTY),
            ("e2el_scheduled_ms", &m.e2el_scheduled, EMPTY),
            ("send_lateness_ms", &m.send_lateness, EMPTY),
            ("release_lateness_ms", &m.release_lateness, EMPTY),
            ("send_delay_ms", &m.send_delay, EMPTY),
            ("connection_wait_ms", &m.connection_wait, EMPTY),
            ("connect_ms", &m.connect, NO_CONNECTION),
            ("dns_ms", &m.dns, "no request had to resolve a name"),
            ("tcp_ms", &m.tcp, NO_CONNECTION),
            ("tls_ms", &m.tls, "no request had to make a TLS handshake"),
            ("read_lag_ms", &m.read_lag, "the kernel stamped no arrival"),
        ];
        let mut map = serializer.serialize_map(Some(entries.len()))?;
        for (name, distribution, empty) in entries {
            map.serialize_entry(name, &OrReason { distribution, empty })?;
        }
        map.end()
    }
}

impl Serialize for TokenCounts {
    /// An object of the fields' names and `tokens_per_event`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NO_INPUT: &str = "neither the server nor the plan knew the length of every prompt";
        const NO_CACHE: &str = "the server did not say for any request";
        const NO_SHARE: &str = "no prompt length is known, or no prompt has a token";
        let mut map = serializer.serialize_map(None)?;
        known_or_reason(&mut map, "input", self.input, NO_INPUT)?;
        map.serialize_entry("output", &self.output)?;
        known_or_reason(&mut map, "source", self.source, "no request completed")?;
        map.serialize_entry("events", &self.events)?;
        let no_events = "no generation events";
        known_or_reason(&mut map, "tokens_per_event", self.per_event(), no_events)?;
        known_or_reason(&mut map, "cached_input", self.cached_input, NO_CACHE)?;
        map.serialize_entry("cached_reported", &self.cached_reported)?;
        let reason = if self.cached_input.is_none() { NO_CACHE } else { NO_SHARE };
        known_or_reason(&mut map, "cached_share", self.cached_share(), reason)?;
        map.serialize_entry("output_length_differs", &self.output_length_differs)?;
        map.end()
    }
}

impl Serialize for Jitter {
    /// An object of the fields' names.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NO_RATIO: &str = "the sample supports no p99, or its median is zero";
        let mut map = serializer.serialize_map(None)?;
        known_or_reason(&mut map, "itl_std_ms", self.itl_std, "no gaps")?;
        known_or_reason(&mut map, "itl_tail_ratio", self.itl_tail_ratio, NO_RATIO)?;
        known_or_reason(&mut map, "ttft_tail_ratio", self.ttft_tail_ratio, NO_RATIO)?;
        known_or_reason(&mut map, "tpot_tail_ratio", self.tpot_tail_ratio, NO_RATIO)?;
        known_or_reason(&mut map, "e2el_tail_ratio", self.e2el_tail_ratio, NO_RATIO)?;
        known_or_reason(&mut map, "zero_gap_share", self.zero_gap_share, "no gaps")?;
        map.end()
    }
}

impl Serialize for Throughput {
    /// An object of `window`, `duration_s`, `requests_per_s`, `output_tokens_per_s`, `total_tokens_per_s`,
    /// `goodput_per_s`, `good_share`; a rate whose interval can be asked for has a sibling `..._ci`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NO_LENGTH: &str = "the window has no length";
        const NO_INPUT: &str = "the length of some prompts is unknown";
        let has_length = self.duration.get() > 0.0;
        let requests = has_length.then_some(self.requests_per_s);
        let output = has_length.then_some(self.output_tokens_per_s);
        let total = self.total_tokens_per_s.filter(|_| has_length);
        let goodput = self.goodput.map(|goodput| goodput.rate);
        let share = self.goodput.map(|goodput| goodput.share);
        let unless_empty = |reason| if has_length { reason } else { NO_LENGTH };

        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("window", &self.window)?;
        map.serialize_entry("duration_s", &self.duration)?;
        known_or_reason(&mut map, "requests_per_s", requests, NO_LENGTH)?;
        interval_or_reason(&mut map, "requests_per_s", self.intervals.requests_per_s)?;
        known_or_reason(&mut map, "output_tokens_per_s", output, NO_LENGTH)?;
        interval_or_reason(&mut map, "output_tokens_per_s", self.intervals.output_tokens_per_s)?;
        let reason = unless_empty(NO_INPUT);
        known_or_reason(&mut map, "total_tokens_per_s", total, reason)?;
        interval_or_reason(&mut map, "total_tokens_per_s", self.intervals.total_tokens_per_s)?;
        let goodput = goodput.filter(|_| has_length);
        let reason = if self.goodput.is_none() { NO_GOALS } else { NO_LENGTH };
        known_or_reason(&mut map, "goodput_per_s", goodput, reason)?;
        interval_or_reason(&mut map, "goodput_per_s", self.intervals.goodput_per_s)?;
        known_or_reason(&mut map, "good_share", share, NO_GOALS)?;
        interval_or_reason(&mut map, "good_share", self.intervals.good_share)?;
        map.end()
    }
}
