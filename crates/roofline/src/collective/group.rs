//! Groups of devices, on one link or on two levels of them.

use fizeau_core::{Bytes, BytesPerSec};

use super::{AlgorithmTimes, CollectiveTime};
use crate::device::{Collective, MeasuredLines};
use crate::{Device, Link, ReductionSite, Topology};

/// A group of devices that talk to each other: over their link as far as that reaches, over the network beyond.
///
/// Where a group spans several links' domains (machines, racks), the same number of its ranks is in each, `r` in each of
/// `q`, and collectives go by levels: an all-reduce is a reduce-scatter within, an all-reduce of the `r`-th part
/// across, and an all-gather within. The fastest algorithm is chosen for each.
///
/// ```
/// use fizeau_core::{Bytes, BytesPerSec, Seconds};
/// use fizeau_roofline::{Collective, DeviceGroup, Link, ReductionSite, Topology};
///
/// let nvlink = Link {
///     bandwidth: BytesPerSec::new(450e9),
///     latency: Seconds::new(1e-6),
///     topology: Topology::Switch { domain: 8, reduces: ReductionSite::AtEndpoints },
/// };
/// let network = Link {
///     bandwidth: BytesPerSec::new(50e9),
///     latency: Seconds::new(5e-6),
///     topology: Topology::Switch { domain: u32::MAX, reduces: ReductionSite::AtEndpoints },
/// };
/// let two_machines = DeviceGroup::new(16, Some(&nvlink), Some(&network))?;
/// let time = two_machines.time(Collective::AllReduce, Bytes::new(16_384.0));
/// assert_eq!(format!("{:.1} us", time.total().get() * 1e6), "7.1 us");
/// assert!(DeviceGroup::new(16, Some(&nvlink), None).is_err());
/// # Ok::<(), fizeau_roofline::DeviceGroupError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceGroup {
    ranks: u32,
    /// Ranks in each domain of the link, and their link.
    within: (u32, Option<Link>),
    /// Domains, and what joins them.
    across: (u32, Option<Link>),
}

impl DeviceGroup {
    /// A group of `ranks` devices joined by `link`, and by `network` where that does not reach or where there is no link.
    ///
    /// # Errors
    /// If there is more than one rank and neither link nor network, or more than the link joins and no network.
    pub fn new(
        ranks: u32,
        link: Option<&Link>,
        network: Option<&Link>,
    ) -> Result<Self, DeviceGroupError> {
        let ranks = ranks.max(1);
        if ranks == 1 {
            return Ok(Self { ranks, within: (1, None), across: (1, None) });
        }
        // Some have nothing but adapters of a network.
        let link = link.or(network).ok_or(DeviceGroupError::NoLink { ranks })?;
        let (near, far) = match link.topology {
            Topology::Bridge { pair, cards } => bridged(link, pair, cards),
            _ => (*link, network.copied()),
        };
        let domain = near.topology.reach().max(1);
        if ranks <= domain {
            return Ok(Self { ranks, within: (ranks, Some(near)), across: (1, None) });
        }
        let domains = ranks.div_ceil(domain);
        let far = far.filter(|far| domains <= far.topology.reach());
        let far = far.ok_or(DeviceGroupError::NoNetwork { ranks, domain })?;
        Ok(Self {
            ranks,
            within: (ranks.div_ceil(domains), Some(near)),
            across: (domains, Some(far)),
        })
    }

    /// A group of `ranks` of these devices, as near to each other as they can be.
    ///
    /// # Errors
    /// If no link, or no network where one is needed, is known of the device.
    pub fn of(device: &Device, ranks: u32) -> Result<Self, DeviceGroupError> {
        Self::new(ranks, device.link(), device.network())
    }

    /// How many ranks it has.
    pub(crate) const fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Ranks that share a link's domain, `r`.
    #[must_use]
    pub const fn ranks_within(&self) -> u32 {
        self.within.0
    }

    /// Domains, `q`: 1 where one link joins all.
    #[must_use]
    pub const fn domains(&self) -> u32 {
        self.across.0
    }

    /// What the collective takes with the fastest algorithms for its size, which counts as [`Collective`] has it.
    #[must_use]
    pub fn time(&self, collective: Collective, bytes: Bytes) -> CollectiveTime {
        self.prepare(collective).at(bytes.get())
    }

    /// An all-to-all that moves `near` of the bytes over the link and `far` of them over the network; as it was `measured`, where
    /// nothing goes over the network.
    pub(crate) fn routed(
        &self,
        near: f64,
        far: f64,
        measured: Option<MeasuredLines>,
    ) -> GroupCollective {
        // Of what an all-to-all counts, a rank keeps its own part.
        let counted =
            |moved: f64, ranks: u32| moved * f64::from(ranks) / f64::from(ranks.max(2) - 1);
        if let Some(lines) = measured.filter(|_| self.domains() == 1) {
            return GroupCollective::Measured(lines, counted(near, self.ranks));
        }
        GroupCollective::Levels([
            phase(Collective::AllToAll, self.within, counted(near, self.within.0)),
            phase(Collective::AllToAll, self.across, counted(far, self.across.0)),
            None,
        ])
    }

    /// All that does not depend on the size.
    pub(crate) fn prepare(&self, collective: Collective) -> GroupCollective {
        use Collective::{AllGather, AllReduce, AllToAll, ReduceScatter, SendReceive};
        let (r, q) = (f64::from(self.within.0), f64::from(self.across.0));
        let near = |collective, share| phase(collective, self.within, share);
        let far = |collective, share| phase(collective, self.across, share);
        GroupCollective::Levels(match collective {
            AllReduce if q > 1.0 => {
                [near(ReduceScatter, 1.0), far(AllReduce, 1.0 / r), near(AllGather, 1.0)]
            }
            AllReduce => [near(AllReduce, 1.0), None, None],
            AllGather | ReduceScatter => [near(collective, 1.0), far(collective, 1.0 / r), None],
            // Over the network to the rank of the same place, over the link to the right one.
            AllToAll => [near(AllToAll, 1.0), far(AllToAll, 1.0), None],
            SendReceive if q > 1.0 => [far(SendReceive, 1.0), None, None],
            SendReceive => [near(SendReceive, 1.0), None, None],
        })
    }
}

/// Cards by their bridge, and what joins the bridged.
fn bridged(link: &Link, pair: BytesPerSec, cards: u32) -> (Link, Option<Link>) {
    let bridge = Topology::Switch { domain: cards, reduces: ReductionSite::AtEndpoints };
    let near = Link { bandwidth: pair, latency: link.latency, topology: bridge };
    (near, Some(Link { topology: Topology::Pcie, ..*link }))
}

fn phase(
    collective: Collective,
    (ranks, link): (u32, Option<Link>),
    share: f64,
) -> Option<CollectivePhase> {
    let lines = AlgorithmTimes::new(collective, ranks, link.as_ref()?)?;
    Some(CollectivePhase { lines, share })
}

/// A group's collective, ready for any size.
#[expect(clippy::large_enum_variant, reason = "few are held, and a box would cost each evaluation")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum GroupCollective {
    /// By links: its phases, one after the other.
    Levels([Option<CollectivePhase>; 3]),
    /// As it was measured among as many, on that share of the bytes.
    Measured(MeasuredLines, f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CollectivePhase {
    lines: AlgorithmTimes,
    /// Of the bytes, those that it works on.
    share: f64,
}

impl GroupCollective {
    pub(crate) const FREE: Self = Self::Levels([None; 3]);

    pub(crate) fn at(&self, bytes: f64) -> CollectiveTime {
        match self {
            Self::Levels(levels) => {
                let phases = levels.iter().flatten();
                let each = phases.map(|phase| phase.lines.best(bytes * phase.share).1);
                each.fold(CollectiveTime::default(), |sum, time| sum + time)
            }
            Self::Measured(lines, share) => {
                let bytes = bytes * share;
                lines.at(bytes).time(Bytes::new(bytes))
            }
        }
    }

    /// How far what was measured at that size may be off; none where nobody measured it.
    pub(crate) fn within(&self, bytes: f64) -> Option<f64> {
        match self {
            Self::Levels(_) => None,
            Self::Measured(lines, share) => Some(lines.at(bytes * share).within),
        }
    }
}

/// Why it cannot be said what a group's collectives take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceGroupError {
    /// Nothing is known of how devices reach each other.
    #[error("{ranks} devices exchange data, and no link between them is known")]
    NoLink {
        /// How many.
        ranks: u32,
    },
    /// Nothing is known of what is beyond the link, or that does not reach as far either.
    #[error(
        "{ranks} devices exchange data, a link joins only {domain} of them, and no network that joins the rest is known"
    )]
    NoNetwork {
        /// How many.
        ranks: u32,
        /// How many a link joins.
        domain: u32,
    },
}
