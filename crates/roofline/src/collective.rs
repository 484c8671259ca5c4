//! What it costs that devices tell each other something.

mod group;
mod line;
mod measured;

use fizeau_core::{Bytes, Seconds};

use crate::Link;

pub(crate) use group::GroupCollective;
pub use group::{DeviceGroup, DeviceGroupError};
use line::AlgorithmTimes;
pub use measured::MeasuredCollective;
pub(crate) use measured::MeasuredLines;

/// An operation that a group of devices does together.
///
/// The amount of data is that of the larger buffer of one rank, as `nccl-tests` counts it.
///
/// ```
/// use fizeau_core::{Bytes, BytesPerSec, Seconds};
/// use fizeau_roofline::{Algorithm, Collective, Link, Reduces, Topology};
///
/// let nvlink = Link {
///     bandwidth: BytesPerSec::new(450e9),
///     latency: Seconds::new(1e-6),
///     topology: Topology::Switch { domain: 8, reduces: Reduces::AtEndpoints },
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

    /// What `ranks` devices on one `link` take for `bytes`.
    ///
    /// None where the link does not join that many, or its topology does not offer the algorithm. One rank, or none,
    /// takes no time. For groups that go beyond a link see [`DeviceGroup`].
    #[must_use]
    pub fn time(
        self,
        algorithm: Algorithm,
        ranks: u32,
        bytes: Bytes,
        link: &Link,
    ) -> Option<CollectiveTime> {
        let lines = AlgorithmTimes::new(self, ranks, link)?;
        lines.iter().find(|line| line.algorithm == algorithm).map(|line| line.at(bytes.get()))
    }

    /// The fastest algorithm that the link's topology offers for this size, and what it takes.
    ///
    /// None where the link does not join that many.
    #[must_use]
    pub fn best(
        self,
        ranks: u32,
        bytes: Bytes,
        link: &Link,
    ) -> Option<(Algorithm, CollectiveTime)> {
        Some(AlgorithmTimes::new(self, ranks, link)?.best(bytes.get()))
    }
}

fizeau_core::words! {
    /// The name used in files and messages, such as `all-reduce`.
    pub Collective::as_str, shown {
        AllReduce = "all-reduce", AllGather = "all-gather", ReduceScatter = "reduce-scatter",
        AllToAll = "all-to-all", SendReceive = "send-receive",
    }
}

/// How a collective is done. `n` ranks, `S` bytes, `A` bytes per second that a device sends (or receives), `a`
/// seconds a hop.
///
/// | | all-reduce | all-gather, reduce-scatter, all-to-all |
/// |---|---|---|
/// | ring | `2 (n-1)/n S/A + 2 (n-1) a` | `(n-1)/n S/A + (n-1) a` |
/// | one-shot | `(n-1) S/A + a` | `(n-1)/n S/A + a` |
/// | two-shot | `2 (n-1)/n S/A + 2 a` | - |
/// | in-switch | `(1 + 1/n) S/A + 2 a` | - |
///
/// Sources: rings from Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
/// MPICH" (2005), and the notes on bus bandwidth of `nccl-tests`; one-shot and two-shot as in TensorRT-LLM's and vLLM's
/// own all-reduce kernels; in-switch as in NVLink SHARP: a rank sends its buffer once and its share of the sum
/// once, and receives as much.
///
/// `A` is what the topology leaves to `n` ranks:
///
/// - a switch: all of the device's bandwidth;
/// - a mesh of `m` devices: the `n-1` of a device's `m-1` links that lead to a member, with as many rings as links;
/// - a torus: the links of those dimensions along which the group extends, in rings both ways, so that there are
///   `n_i/2` hops along a side of `n_i`. The group is taken to be as compact as its number allows. A message of
///   an all-to-all passes a quarter of each side ("How to Scale Your Model", Google DeepMind, 2025);
/// - PCIe: a device's own lanes, in a ring; directly between two only. All are taken to be in one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// Each hands on to the next, `n-1` times; for all-to-all, to another partner each time.
    Ring,
    /// Each reads all others at once.
    OneShot,
    /// Each reads its share of all others, sums it, and all read that.
    TwoShot,
    /// The switch sums and spreads.
    InSwitch,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ring, Self::OneShot, Self::TwoShot, Self::InSwitch];
}

fizeau_core::words! {
    /// The name used in files and messages, such as `two-shot`.
    pub(crate) Algorithm::as_str, shown {
        Ring = "ring", OneShot = "one-shot", TwoShot = "two-shot", InSwitch = "in-switch",
    }
}

/// What a collective takes: its bytes, and its hops, which a small message waits for just as long.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CollectiveTime {
    /// Moving the bytes.
    pub link: Seconds,
    /// Hops, however few the bytes.
    pub hops: Seconds,
}

impl CollectiveTime {
    /// Both, one after the other.
    #[must_use]
    pub fn total(&self) -> Seconds {
        self.link + self.hops
    }
}

impl std::ops::Add for CollectiveTime {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { link: self.link + other.link, hops: self.hops + other.hops }
    }
}

impl std::ops::Mul<f64> for CollectiveTime {
    type Output = Self;

    fn mul(self, times: f64) -> Self {
        Self { link: self.link * times, hops: self.hops * times }
    }
}
