//! A collective's time as straight lines over its size, one an algorithm.

use fizeau_core::Seconds;

use super::{Algorithm, CollectiveTime};
use crate::{Collective, Link, ReductionSite, Topology};

/// One algorithm's time: so much a byte, and so much whatever the size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AlgorithmTime {
    pub(crate) algorithm: Algorithm,
    /// Seconds a byte.
    byte: f64,
    /// Seconds of hops.
    hops: f64,
}

impl AlgorithmTime {
    pub(crate) const fn at(&self, bytes: f64) -> CollectiveTime {
        CollectiveTime { link: Seconds::new(self.byte * bytes), hops: Seconds::new(self.hops) }
    }
}

/// The algorithms that a group has for a collective: at least one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AlgorithmTimes {
    first: AlgorithmTime,
    others: [Option<AlgorithmTime>; 3],
}

impl AlgorithmTimes {
    /// What `link` offers `ranks` devices; none where it does not join that many.
    pub(crate) fn new(collective: Collective, ranks: u32, link: &Link) -> Option<Self> {
        if ranks <= 1 {
            return Some(Self::FREE);
        }
        if ranks > link.topology.reach() {
            return None;
        }
        let among = Among { collective, n: f64::from(ranks), hop: link.latency.get() };
        let bandwidth = link.bandwidth.get();
        Some(match link.topology {
            Topology::Switch { reduces, .. } => among.switched(bandwidth, reduces),
            Topology::Mesh { pair: Some(pair), .. } if ranks == 2 => {
                among.switched(pair.get(), ReductionSite::AtEndpoints)
            }
            Topology::Mesh { domain, .. } => {
                let pair = bandwidth / f64::from(domain - 1);
                match collective {
                    Collective::SendReceive => among.switched(pair, ReductionSite::AtEndpoints),
                    _ => among.switched(pair * (among.n - 1.0), ReductionSite::AtEndpoints),
                }
            }
            Topology::Torus { dimensions } => {
                Torus::new(ranks, dimensions).lines(collective, bandwidth, link.latency.get())
            }
            Topology::Bridge { pair, cards } if ranks <= cards => {
                among.switched(pair.get(), ReductionSite::AtEndpoints)
            }
            Topology::Pcie if ranks == 2 => among.switched(bandwidth, ReductionSite::AtEndpoints),
            Topology::Pcie | Topology::Bridge { .. } => Self::only(among.ring(bandwidth)),
        })
    }

    /// One rank has nobody to talk to.
    const FREE: Self = Self {
        first: AlgorithmTime { algorithm: Algorithm::Ring, byte: 0.0, hops: 0.0 },
        others: [
            Some(AlgorithmTime { algorithm: Algorithm::OneShot, byte: 0.0, hops: 0.0 }),
            Some(AlgorithmTime { algorithm: Algorithm::TwoShot, byte: 0.0, hops: 0.0 }),
            Some(AlgorithmTime { algorithm: Algorithm::InSwitch, byte: 0.0, hops: 0.0 }),
        ],
    };

    const fn only(first: AlgorithmTime) -> Self {
        Self { first, others: [None; 3] }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &AlgorithmTime> {
        std::iter::once(&self.first).chain(self.others.iter().flatten())
    }

    /// The fastest for this size.
    pub(crate) fn best(&self, bytes: f64) -> (Algorithm, CollectiveTime) {
        let mut best = &self.first;
        let mut least = best.byte * bytes + best.hops;
        for line in self.others.iter().flatten() {
            let time = line.byte * bytes + line.hops;
            if time < least {
                (best, least) = (line, time);
            }
        }
        (best.algorithm, best.at(bytes))
    }
}

impl Topology {
    /// How many devices it joins; `u32::MAX` where that is not limited.
    pub(crate) const fn reach(self) -> u32 {
        match self {
            Self::Switch { domain, .. } | Self::Mesh { domain, .. } => domain,
            Self::Torus { .. } | Self::Pcie | Self::Bridge { .. } => u32::MAX,
        }
    }
}

/// A collective among `n` ranks that are all alike.
struct Among {
    collective: Collective,
    n: f64,
    hop: f64,
}

impl Among {
    /// Any rank reaches any other directly, `bandwidth` in all.
    fn switched(&self, bandwidth: f64, reduces: ReductionSite) -> AlgorithmTimes {
        let one_shot = match self.collective {
            Collective::AllReduce => self.n - 1.0,
            Collective::AllGather | Collective::ReduceScatter | Collective::AllToAll => {
                self.others()
            }
            Collective::SendReceive => return AlgorithmTimes::only(self.ring(bandwidth)),
        };
        let line = |algorithm, bytes: f64, hops: f64| {
            Some(AlgorithmTime { algorithm, byte: bytes / bandwidth, hops: hops * self.hop })
        };
        let sums = self.collective == Collective::AllReduce;
        let two_shot = line(Algorithm::TwoShot, 2.0 * self.others(), 2.0).filter(|_| sums);
        let in_switch = line(Algorithm::InSwitch, 1.0 + 1.0 / self.n, 2.0)
            .filter(|_| sums && reduces == ReductionSite::InSwitch);
        let others = [line(Algorithm::OneShot, one_shot, 1.0), two_shot, in_switch];
        AlgorithmTimes { first: self.ring(bandwidth), others }
    }

    fn ring(&self, bandwidth: f64) -> AlgorithmTime {
        let steps = self.n - 1.0;
        let (bytes, hops) = match self.collective {
            Collective::AllReduce => (2.0 * self.others(), 2.0 * steps),
            Collective::AllGather | Collective::ReduceScatter | Collective::AllToAll => {
                (self.others(), steps)
            }
            Collective::SendReceive => (1.0, 1.0),
        };
        AlgorithmTime { algorithm: Algorithm::Ring, byte: bytes / bandwidth, hops: hops * self.hop }
    }

    /// The share of the whole that is the others'.
    fn others(&self) -> f64 {
        (self.n - 1.0) / self.n
    }
}

/// A group in a torus, as compact as its number allows.
struct Torus {
    ranks: u32,
    /// Links of a device.
    links: f64,
    /// Length along each dimension; 1 where the group does not extend.
    sides: [u32; 6],
}

impl Torus {
    fn new(ranks: u32, dimensions: u8) -> Self {
        let mut sides = [1; 6];
        let mut left = ranks;
        let dimensions = dimensions.clamp(1, 6);
        for (side, still) in sides.iter_mut().zip((1..=u32::from(dimensions)).rev()) {
            *side = compact_side(left, still);
            left /= *side;
        }
        Self { ranks, links: 2.0 * f64::from(dimensions), sides }
    }

    /// A device's links along a side: one to the only neighbour, else two.
    fn links_along(side: u32) -> f64 {
        f64::from(side.saturating_sub(1).min(2))
    }

    fn lines(&self, collective: Collective, bandwidth: f64, hop: f64) -> AlgorithmTimes {
        let link = bandwidth / self.links;
        let used: f64 = self.sides.iter().map(|side| Self::links_along(*side)).sum();
        let across: f64 = self.sides.iter().map(|side| f64::from(side / 2)).sum();
        let others = f64::from(self.ranks - 1) / f64::from(self.ranks);
        let (byte, hops) = match collective {
            Collective::AllReduce => (2.0 * others / (used * link), 2.0 * across),
            Collective::AllGather | Collective::ReduceScatter => (others / (used * link), across),
            Collective::AllToAll => {
                let along =
                    |side: &u32| mean_distance(*side) / Self::links_along(*side).max(1.0) / link;
                (self.sides.iter().map(along).fold(0.0, f64::max), across)
            }
            Collective::SendReceive => (1.0 / link, 1.0),
        };
        AlgorithmTimes::only(AlgorithmTime { algorithm: Algorithm::Ring, byte, hops: hops * hop })
    }
}

/// The largest divisor of `ranks` that leaves the other dimensions sides at least as long.
fn compact_side(ranks: u32, dimensions: u32) -> u32 {
    if dimensions <= 1 {
        return ranks;
    }
    // A side is at most the root; degrees are at most 2^16, so this ends soon.
    let fits = |side: &u32| u64::from(*side).pow(dimensions) <= u64::from(ranks);
    (1..=ranks).take_while(fits).filter(|side| ranks.is_multiple_of(*side)).last().unwrap_or(1)
}

/// Hops between two ranks of a ring, the mean over all pairs, a rank and itself included: `n/4`.
fn mean_distance(ring: u32) -> f64 {
    let n = f64::from(ring);
    if ring.is_multiple_of(2) { n / 4.0 } else { (n * n - 1.0) / (4.0 * n) }
}
