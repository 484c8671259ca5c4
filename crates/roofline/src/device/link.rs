//! How devices reach one another.

use fizeau_core::{BytesPerSec, Seconds};

/// A device's way to others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// What one device can send at once, one direction, over all its links together. It can receive as much at
    /// the same time; data sheets often print the sum of both.
    pub bandwidth: BytesPerSec,
    /// How long the first byte takes over one hop.
    pub latency: Seconds,
    /// Who is linked to whom.
    pub topology: Topology,
}

/// Who is linked to whom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Topology {
    /// Everybody to a switch that does not block (NVLink switches, a network): any pair has the whole bandwidth.
    Switch {
        /// How many devices hang on it; `u32::MAX` where it is as many as there are.
        domain: u32,
        /// Where sums are made.
        reduces: Reduces,
    },
    /// Everybody to everybody else by a link of its own (xGMI, Gaudi): a pair has the bandwidth divided by
    /// `domain - 1`, and no more however few take part.
    Mesh {
        /// How many devices are in it.
        domain: u32,
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
        /// What the bridge carries, one direction.
        pair: BytesPerSec,
    },
}

/// Where a collective's sums are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reduces {
    /// In the switch (NVLink SHARP), so that each value crosses a device's link once each way.
    InSwitch,
    /// By the devices.
    AtEndpoints,
}
