//! What it costs that devices tell each other something.

mod group;
mod line;

use fizeau_core::{Bytes, Seconds};

use crate::device::{Collective, Link, MeasuredCollective};

pub(crate) use group::GroupCollective;
pub use group::{DeviceGroup, DeviceGroupError};
use line::AlgorithmTimes;

impl Collective {
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

impl MeasuredCollective {
    /// What it takes for `bytes`, by this line.
    #[must_use]
    pub fn time(&self, bytes: Bytes) -> CollectiveTime {
        let link = self.bandwidth.map_or(0.0, |bandwidth| bytes.get() / bandwidth.get());
        CollectiveTime { link: Seconds::new(link), hops: self.latency }
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
