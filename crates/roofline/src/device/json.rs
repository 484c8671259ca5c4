//! A device as JSON: what is used of it, and where each figure is from.

use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec, Watts};
use serde::{Serialize, Serializer};

use super::{CachedRead, Device, MathType, Price, PublishedFigure, ReductionSite, Topology};
use crate::MeasuredCollective;

/// By hand, since rates of math types follow from one another. Rates and sizes are in base units, as the names of the fields say.
impl Serialize for Device {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let [bf16, fp8, fp4, int8] =
            MathType::ALL.map(|math| self.dense_rate(math).map(FlopsPerSec::get));
        DeviceDocument {
            name: &self.name,
            title: &self.title,
            vendor: self.vendor.as_deref(),
            generation: self.generation.as_deref(),
            aliases: &self.aliases,
            note: self.note.as_deref(),
            memory_bytes: self.memory.get(),
            usable_memory_bytes: self.usable_memory.get(),
            memory_bytes_per_s: self.memory_bandwidth.get(),
            cached_reads: self.cached_reads().iter().map(cached_read).collect(),
            dense_flop_per_s: DeviceRates { bf16, fp8, fp4, int8 },
            link: self.link().map(link),
            network: self.network().map(link),
            collectives: self.collectives().iter().map(collective).collect(),
            tdp_w: self.tdp().map(Watts::get),
            prices: &self.prices,
            figures: self.cells().collect(),
            doubts: self.doubts(),
        }
        .serialize(to)
    }
}

#[derive(Serialize)]
struct DeviceDocument<'a> {
    name: &'a str,
    title: &'a str,
    vendor: Option<&'a str>,
    generation: Option<&'a str>,
    aliases: &'a [String],
    note: Option<&'a str>,
    memory_bytes: f64,
    usable_memory_bytes: f64,
    memory_bytes_per_s: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cached_reads: Vec<CachedReadDocument>,
    dense_flop_per_s: DeviceRates,
    link: Option<LinkDocument>,
    network: Option<LinkDocument>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    collectives: Vec<CollectiveDocument<'a>>,
    tdp_w: Option<f64>,
    prices: &'a [Price],
    figures: Vec<&'a PublishedFigure>,
    doubts: Vec<String>,
}

#[derive(Serialize)]
struct DeviceRates {
    bf16: Option<f64>,
    fp8: Option<f64>,
    fp4: Option<f64>,
    int8: Option<f64>,
}

/// A size that caches hold, and how fast it is read.
#[derive(Serialize)]
struct CachedReadDocument {
    working_set_bytes: f64,
    bytes_per_s: f64,
}

fn cached_read(of: &CachedRead) -> CachedReadDocument {
    CachedReadDocument { working_set_bytes: of.working_set.get(), bytes_per_s: of.bandwidth.get() }
}

/// Alpha and beta over a range of sizes.
#[derive(Serialize)]
struct CollectiveDocument<'a> {
    op: &'static str,
    ranks: u32,
    from_bytes: f64,
    to_bytes: f64,
    alpha_s: f64,
    beta_bytes_per_s: Option<f64>,
    within: f64,
    source: &'a str,
}

fn collective(of: &MeasuredCollective) -> CollectiveDocument<'_> {
    let [from, to] = of.sizes.map(Bytes::get);
    CollectiveDocument {
        op: of.collective.as_str(),
        ranks: of.ranks,
        from_bytes: from,
        to_bytes: to,
        alpha_s: of.latency.get(),
        beta_bytes_per_s: of.bandwidth.map(BytesPerSec::get),
        within: of.within,
        source: &of.source,
    }
}

/// One direction, and for one hop.
#[derive(Serialize, Default)]
struct LinkDocument {
    topology: &'static str,
    bytes_per_s: f64,
    hop_s: f64,
    /// None where it is as many as there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    devices: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reduces: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pair_bytes_per_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bridged_devices: Option<u32>,
}

fn link(link: &super::Link) -> LinkDocument {
    let plain = LinkDocument {
        topology: link.topology.name(),
        bytes_per_s: link.bandwidth.get(),
        hop_s: link.latency.get(),
        ..LinkDocument::default()
    };
    match link.topology {
        Topology::Switch { domain, reduces } => LinkDocument {
            devices: (domain < u32::MAX).then_some(domain),
            reduces: Some(match reduces {
                ReductionSite::InSwitch => "in-switch",
                ReductionSite::AtEndpoints => "at-endpoints",
            }),
            ..plain
        },
        Topology::Mesh { domain, pair } => {
            let pair_bytes_per_s = pair.map(BytesPerSec::get);
            LinkDocument { devices: Some(domain), pair_bytes_per_s, ..plain }
        }
        Topology::Torus { dimensions } => LinkDocument { dimensions: Some(dimensions), ..plain },
        Topology::Pcie => plain,
        Topology::Bridge { pair, cards } => LinkDocument {
            pair_bytes_per_s: Some(pair.get()),
            bridged_devices: Some(cards),
            ..plain
        },
    }
}
