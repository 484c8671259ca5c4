//! Collectives as somebody measured them, which take the place of what links would give.

use std::sync::Arc;

use fizeau_core::{Bytes, BytesPerSec, Seconds};

use super::{Collective, CollectiveTime};
use crate::DeviceError;

/// What a collective among so many ranks took over a range of sizes: `latency + bytes / bandwidth`, the alpha and the beta of its
/// algorithm there.
///
/// Other software than was measured may be faster, so that such a line serves an expectation and never a bound.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MeasuredCollective {
    /// Which.
    pub collective: Collective,
    /// Among how many devices.
    pub ranks: u32,
    /// The smallest and the largest message that it holds for, counted as [`Collective`] has it.
    pub sizes: [Bytes; 2],
    /// What it takes however few the bytes: alpha.
    pub latency: Seconds,
    /// How many bytes of the message are done each second beyond that: beta. None where times do not grow with sizes.
    pub bandwidth: Option<BytesPerSec>,
    /// How far off the line what was measured lies at most, relative to the line: 0.04 is 4 %.
    pub within: f64,
    /// Who measured it.
    pub source: String,
}

impl MeasuredCollective {
    /// A line through what was measured of `collective` among `ranks` from `sizes[0]` to `sizes[1]`, by `source`.
    #[must_use]
    pub fn new(
        collective: Collective,
        ranks: u32,
        sizes: [Bytes; 2],
        (latency, bandwidth): (Seconds, Option<BytesPerSec>),
        source: impl Into<String>,
    ) -> Self {
        Self { collective, ranks, sizes, latency, bandwidth, within: 0.0, source: source.into() }
    }

    /// The same, of which what was measured lies `within` that share of the line.
    #[must_use]
    pub fn with_within(self, within: f64) -> Self {
        Self { within, ..self }
    }

    /// What it takes for `bytes`, by this line.
    #[must_use]
    pub fn time(&self, bytes: Bytes) -> CollectiveTime {
        let link = self.bandwidth.map_or(0.0, |bandwidth| bytes.get() / bandwidth.get());
        CollectiveTime { link: Seconds::new(link), hops: self.latency }
    }

    /// The same, if its figures make sense.
    pub(crate) fn checked(self) -> Result<Self, DeviceError> {
        let wrong = |figure: &str, value: f64, wanted| {
            let figure = format!("measured {}'s {figure}", self.collective);
            Err(DeviceError::figure(&figure, value, wanted))
        };
        let is_size = |bytes: f64| bytes.is_finite() && bytes >= 0.0;
        let ([from, to], latency) = (self.sizes.map(Bytes::get), self.latency.get());
        let bandwidth = self.bandwidth.map(BytesPerSec::get);
        if self.ranks < 2 {
            return wrong("number of ranks", f64::from(self.ranks), "2 or more");
        }
        if !is_size(from) || !is_size(to) || from > to {
            return wrong("smallest size", from, "a number of bytes, no more than its largest");
        }
        if !latency.is_finite() || latency < 0.0 {
            return wrong("latency", latency, "a finite number of seconds, not below 0");
        }
        if let Some(rate) = bandwidth.filter(|rate| !rate.is_finite() || *rate <= 0.0) {
            return wrong("bandwidth", rate, "a positive finite number");
        }
        if bandwidth.is_none() && latency <= 0.0 {
            return wrong("latency", latency, "above 0 where it has no bandwidth");
        }
        if !self.within.is_finite() || self.within < 0.0 {
            return wrong("distance from its line", self.within, "a share, not below 0");
        }
        Ok(self)
    }
}

/// All lines of one collective among as many ranks, the smallest sizes first; at least one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MeasuredLines(Arc<[MeasuredCollective]>);

impl MeasuredLines {
    /// Those among `all`; none where nobody measured that one.
    pub(crate) fn of(
        all: &[MeasuredCollective],
        collective: Collective,
        ranks: u32,
    ) -> Option<Self> {
        let is_one =
            |line: &&MeasuredCollective| line.collective == collective && line.ranks == ranks;
        let mut lines: Vec<MeasuredCollective> = all.iter().filter(is_one).cloned().collect();
        lines.sort_by(|a, b| a.sizes[0].get().total_cmp(&b.sizes[0].get()));
        (!lines.is_empty()).then(|| Self(lines.into()))
    }

    /// The line for `bytes`. Between two it is the nearer by the ratio of sizes; beyond all, the first or the last.
    pub(crate) fn at(&self, bytes: f64) -> &MeasuredCollective {
        let lines = &self.0;
        let next = |pair: &&[MeasuredCollective]| {
            let [upper, lower] = [pair[0].sizes[1].get(), pair[1].sizes[0].get()];
            bytes * bytes > upper * lower
        };
        &lines[lines.windows(2).take_while(next).count()]
    }
}
