//! Collectives as somebody measured them, which take the place of what links would give.

use std::sync::Arc;

use fizeau_core::{Bytes, BytesPerSec, Seconds};

use super::DeviceError;

/// An operation that a group of devices does together.
///
/// The amount of data is that of the larger buffer of one rank, as `nccl-tests` counts it.
///
/// ```
/// use fizeau_core::{Bytes, BytesPerSec, Seconds};
/// use fizeau_roofline::{Algorithm, Collective, Link, ReductionSite, Topology};
///
/// let nvlink = Link {
///     bandwidth: BytesPerSec::new(450e9),
///     latency: Seconds::new(1e-6),
///     topology: Topology::Switch { domain: 8, reduces: ReductionSite::AtEndpoints },
/// };
/// // A token of 8,192 elements in 16 bits, summed over 8 devices: a ring is mostly hops.
/// let token = Bytes::new(16_384.0);
/// let ring = Collective::AllReduce.time(Algorithm::Ring, 8, token, &nvlink).ok_or("no ring")?;
/// assert_eq!(format!("{:.2} us", ring.total().get() * 1e6), "14.06 us");
/// // To read all peers at once moves four times the bytes, in one hop.
/// let (algorithm, best) = Collective::AllReduce.best(8, token, &nvlink).ok_or("too many")?;
/// assert_eq!(algorithm, Algorithm::OneShot);
/// assert_eq!(format!("{:.2} us", best.total().get() * 1e6), "1.25 us");
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Collective {
    /// Every rank has a buffer of its own and all get the sum. Counted: that buffer.
    AllReduce,
    /// Every rank has a part and all get the whole. Counted: the whole.
    AllGather,
    /// Every rank has a buffer of its own and each gets a part of the sum. Counted: that buffer.
    ReduceScatter,
    /// Every rank has something else for each. Counted: all that a rank has, its own part included.
    AllToAll,
    /// Every rank sends to one neighbour. Counted: what it sends.
    SendReceive,
}

impl Collective {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::AllReduce, Self::AllGather, Self::ReduceScatter, Self::AllToAll, Self::SendReceive];
}

fizeau_core::words! {
    /// The name used in files and messages, such as `all-reduce`.
    pub Collective::as_str, shown {
        AllReduce = "all-reduce", AllGather = "all-gather", ReduceScatter = "reduce-scatter",
        AllToAll = "all-to-all", SendReceive = "send-receive",
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    /// Between 4 and 16 bytes as many times more than the one as less than the other: 8.
    #[test]
    fn between_two_lines_the_nearer_one_counts() {
        let line = |ranks, [from, to]: [f64; 2]| {
            let sizes = [Bytes::new(from), Bytes::new(to)];
            let times = (Seconds::new(from), None);
            MeasuredCollective::new(Collective::AllGather, ranks, sizes, times, "somebody")
        };
        let all = [
            line(4, [256.0, 1024.0]),
            line(2, [1.0, 2.0]),
            line(4, [1.0, 4.0]),
            line(4, [16.0, 64.0]),
        ];
        let lines = MeasuredLines::of(&all, Collective::AllGather, 4).unwrap();
        let first = |bytes| lines.at(bytes).sizes[0].get();
        let found = [0.5, 8.0, 8.1, 128.0, 128.1, 1e9].map(first);
        assert_eq!(found, [1.0, 1.0, 16.0, 16.0, 256.0, 256.0]);
        assert_eq!(MeasuredLines::of(&all, Collective::AllGather, 8), None);
        assert_eq!(MeasuredLines::of(&all, Collective::AllReduce, 4), None);
    }
}
