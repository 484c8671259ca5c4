//! How devices reach one another.

use fizeau_core::{BytesPerSec, Seconds};

use super::DeviceError;
use super::error::positive;

/// A device's way to others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// What one device can send at once, one direction, over all its links together. It can receive as much at
    /// the same time; data sheets often print the sum of both.
    pub bandwidth: BytesPerSec,
    /// How long the first byte takes over one hop.
    pub latency: Seconds,
    /// Which devices a link joins.
    pub topology: Topology,
}

/// Which devices a link joins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Topology {
    /// Everybody to a switch that does not block (NVLink switches, a network): any pair has the whole bandwidth.
    Switch {
        /// How many devices hang on it; `u32::MAX` where it is as many as there are.
        domain: u32,
        /// Where sums are made.
        reduces: ReductionSite,
    },
    /// Everybody to everybody else by a link of its own (xGMI, Gaudi): a pair has the bandwidth divided by
    /// `domain - 1`, and no more however few take part.
    Mesh {
        /// How many devices are in it.
        domain: u32,
        /// What the two dies of a card have between them, one direction, where a card holds two devices; it serves
        /// groups of two.
        pair: Option<BytesPerSec>,
    },
    /// To the two neighbours in each dimension (TPU, Trainium): a neighbour has the bandwidth divided by twice the
    /// dimensions.
    Torus {
        /// How many dimensions.
        dimensions: u8,
    },
    /// Over the host's PCIe.
    Pcie,
    /// Over the host's PCIe, at [`Link::bandwidth`], but for bridges between neighbouring cards.
    Bridge {
        /// What a card sends over its bridge, one direction.
        pair: BytesPerSec,
        /// How many cards a bridge joins: 2, or 4 of the H200 NVL.
        cards: u32,
    },
}

/// Where the sums of a collective are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReductionSite {
    /// In the switch (NVLink SHARP), so that each value crosses a device's link once each way.
    InSwitch,
    /// By the devices.
    AtEndpoints,
}

impl Link {
    /// The same link, if its figures make sense.
    ///
    /// # Errors
    /// If a bandwidth is not a positive finite number, the latency is negative or not finite, fewer than two devices
    /// are linked, or a torus has no dimension or more than six.
    pub(crate) fn checked(self) -> Result<Self, DeviceError> {
        positive(self.bandwidth.get(), "link bandwidth")?;
        let latency = self.latency.get();
        if !latency.is_finite() || latency < 0.0 {
            let wanted = "a finite number of seconds, not below 0";
            return Err(DeviceError::figure("link latency", latency, wanted));
        }
        match self.topology {
            Topology::Switch { domain, .. }
            | Topology::Mesh { domain, .. }
            | Topology::Bridge { cards: domain, .. }
                if domain < 2 =>
            {
                Err(DeviceError::figure("link domain", f64::from(domain), "2 devices or more"))
            }
            Topology::Torus { dimensions } if !(1..=6).contains(&dimensions) => {
                let figure = "torus's number of dimensions";
                Err(DeviceError::figure(figure, f64::from(dimensions), "from 1 to 6"))
            }
            Topology::Bridge { pair, .. } => {
                positive(pair.get(), "bridge's bandwidth").map(|_| self)
            }
            Topology::Mesh { pair: Some(pair), .. } => {
                positive(pair.get(), "bandwidth within a card").map(|_| self)
            }
            _ => Ok(self),
        }
    }
}

impl Topology {
    /// The name in files and tables, such as `mesh`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Switch { .. } => "switch",
            Self::Mesh { .. } => "mesh",
            Self::Torus { .. } => "torus",
            Self::Pcie => "pcie",
            Self::Bridge { .. } => "bridge",
        }
    }
}
