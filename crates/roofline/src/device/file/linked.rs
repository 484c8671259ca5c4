//! A device's links, from the tables `[link]` and `[network]`.

use fizeau_core::{BytesPerSec, Seconds};

use super::figure::Sources;
use super::section::Section;
use crate::device::quantity::FigureQuantity;
use crate::device::{Device, DeviceError, Link, PublishedFigure, ReductionSite, Topology};

/// What a hop takes where a file does not say it. Nobody publishes it of a device. These are the low ends of what
/// operations of a few bytes take, so that a time with them in it is rather too short than too long: NCCL's
/// 3.5 us for 1 KiB over four H800 (nccl issue 1984) and 3.1 us for nothing over eight H20 (DeepEP issue 303) are
/// two hops and the start of a kernel.
const ASSUMED: &str = "an assumption: the low end of the order that small operations take";
const ASSUMED_AT: &str = "2026-11";
const INSIDE: f64 = 1e-6;
const OVER_PCIE: f64 = 3e-6;
const OVER_NETWORK: f64 = 5e-6;

const PAIR: &str = "link.pair";
const MOST_DEVICES: u32 = 1_000_000;

/// Which link is read, and what its figures are called.
struct LinkField {
    table: &'static str,
    each_way: &'static str,
    latency: &'static str,
}

const LINK: LinkField =
    LinkField { table: "link", each_way: "link.each_way", latency: "link.latency" };
const NETWORK: LinkField =
    LinkField { table: "network", each_way: "network.each_way", latency: "network.latency" };

pub(super) fn read(
    root: &Section<'_>,
    sources: &Sources<'_>,
    device: &mut Device,
) -> Result<(), DeviceError> {
    if let Some(section) = root.table(LINK.table)? {
        let topology = topology(&section, sources, &mut device.cells)?;
        let latency = match topology {
            Topology::Pcie | Topology::Bridge { .. } => OVER_PCIE,
            _ => INSIDE,
        };
        device.link = Some(linked(&section, sources, &LINK, topology, latency, device)?);
    }
    if let Some(section) = root.table(NETWORK.table)? {
        section.only(&["each_way", "latency"])?;
        let topology = Topology::Switch { domain: u32::MAX, reduces: ReductionSite::AtEndpoints };
        device.network = Some(linked(&section, sources, &NETWORK, topology, OVER_NETWORK, device)?);
    }
    Ok(())
}

fn linked<'a>(
    section: &Section<'a>,
    sources: &Sources<'a>,
    which: &LinkField,
    topology: Topology,
    assumed: f64,
    device: &mut Device,
) -> Result<Link, DeviceError> {
    let each_way = sources.needed(section, which.each_way, FigureQuantity::Bandwidth)?;
    let latency =
        sources.cell(section, which.latency, FigureQuantity::Time)?.unwrap_or_else(|| {
            PublishedFigure {
                source: ASSUMED.to_owned(),
                date: Some(ASSUMED_AT.to_owned()),
                is_unverified: true,
                ..PublishedFigure::given(which.latency, FigureQuantity::Time, assumed)
            }
        });
    let link = Link {
        bandwidth: BytesPerSec::new(each_way.number),
        latency: Seconds::new(latency.number),
        topology,
    };
    device.cells.extend([each_way, latency]);
    link.checked()
}

fn topology<'a>(
    section: &Section<'a>,
    sources: &Sources<'a>,
    cells: &mut Vec<PublishedFigure>,
) -> Result<Topology, DeviceError> {
    const WANTED: &str = "\"switch\", \"mesh\", \"torus\", \"pcie\" or \"bridge\"";
    let only = |more: &[&str]| section.only(&[&["topology", "each_way", "latency"], more].concat());
    match section.needed_text("topology", WANTED)? {
        "switch" => {
            only(&["devices", "reduces"])?;
            let domain = section.count("devices", 2..=MOST_DEVICES)?;
            Ok(Topology::Switch { domain, reduces: reduces(section)? })
        }
        "mesh" => {
            only(&["devices", "pair"])?;
            let domain = section.count("devices", 2..=MOST_DEVICES)?;
            let pair = sources.cell(section, PAIR, FigureQuantity::Bandwidth)?;
            let carried = pair.as_ref().map(|pair| BytesPerSec::new(pair.number));
            cells.extend(pair);
            Ok(Topology::Mesh { domain, pair: carried })
        }
        "torus" => {
            only(&["dimensions"])?;
            let dimensions = section.count("dimensions", 1..=6)?;
            Ok(Topology::Torus { dimensions: u8::try_from(dimensions).unwrap_or(u8::MAX) })
        }
        "pcie" => only(&[]).map(|()| Topology::Pcie),
        "bridge" => {
            only(&["pair", "cards"])?;
            let pair = sources.needed(section, PAIR, FigureQuantity::Bandwidth)?;
            let bandwidth = BytesPerSec::new(pair.number);
            cells.push(pair);
            let cards = match section.value("cards") {
                Some(_) => section.count("cards", 2..=MOST_DEVICES)?,
                None => 2,
            };
            Ok(Topology::Bridge { pair: bandwidth, cards })
        }
        _ => Err(misnamed(section, "topology", WANTED)),
    }
}

fn reduces(section: &Section<'_>) -> Result<ReductionSite, DeviceError> {
    match section.text("reduces")? {
        None | Some("at-endpoints") => Ok(ReductionSite::AtEndpoints),
        Some("in-switch") => Ok(ReductionSite::InSwitch),
        Some(_) => Err(misnamed(section, "reduces", "\"in-switch\" or \"at-endpoints\"")),
    }
}

fn misnamed(section: &Section<'_>, key: &str, wanted: &str) -> DeviceError {
    match section.value(key) {
        Some(value) => section.wrong(key, value, wanted),
        None => section.missing(key, wanted),
    }
}
