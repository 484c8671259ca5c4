//! Devices as JSON.

use fizeau::core::{BytesPerSec, FlopsPerSec, Watts};
use fizeau::roofline::{self, Cell, Device, MathType, Price, Reduces, Topology};
use serde::Serialize;

use crate::exit::Fail;

/// The document of `fizeau devices --json`.
pub(super) fn of(devices: &[&Device]) -> Result<String, Fail> {
    let document = Document {
        schema: "fizeau.devices/1",
        version: env!("CARGO_PKG_VERSION"),
        devices: devices.iter().map(|device| known(device)).collect(),
    };
    serde_json::to_string_pretty(&document).map_err(Fail::broken)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    devices: Vec<Known<'a>>,
}

#[derive(Serialize)]
struct Known<'a> {
    name: &'a str,
    title: &'a str,
    vendor: Option<&'a str>,
    generation: Option<&'a str>,
    aliases: &'a [String],
    note: Option<&'a str>,
    memory_bytes: f64,
    usable_memory_bytes: f64,
    memory_bytes_per_s: f64,
    dense_flop_per_s: Rates,
    link: Option<Link>,
    network: Option<Link>,
    tdp_w: Option<f64>,
    prices: Vec<Asked<'a>>,
    figures: Vec<Figure<'a>>,
    doubts: Vec<String>,
}

#[derive(Serialize)]
struct Rates {
    bf16: Option<f64>,
    fp8: Option<f64>,
    fp4: Option<f64>,
    int8: Option<f64>,
}

/// One direction, and for one hop.
#[derive(Serialize)]
struct Link {
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

#[derive(Serialize)]
struct Asked<'a> {
    low_usd_per_h: f64,
    high_usd_per_h: f64,
    kind: &'a str,
    source: &'a str,
    date: &'a str,
    is_unverified: bool,
    note: Option<&'a str>,
}

#[derive(Serialize)]
struct Figure<'a> {
    field: &'a str,
    value: &'a str,
    printed: Option<&'a str>,
    range: Option<(&'a str, &'a str)>,
    source: &'a str,
    date: Option<&'a str>,
    is_unverified: bool,
    note: Option<&'a str>,
}

fn known(device: &Device) -> Known<'_> {
    let [bf16, fp8, fp4, int8] =
        MathType::ALL.map(|math| device.dense_rate(math).map(FlopsPerSec::get));
    Known {
        name: device.name(),
        title: device.title(),
        vendor: device.vendor(),
        generation: device.generation(),
        aliases: device.aliases(),
        note: device.note(),
        memory_bytes: device.memory().get(),
        usable_memory_bytes: device.usable_memory().get(),
        memory_bytes_per_s: device.memory_bandwidth().get(),
        dense_flop_per_s: Rates { bf16, fp8, fp4, int8 },
        link: device.link().map(link),
        network: device.network().map(link),
        tdp_w: device.tdp().map(Watts::get),
        prices: device.prices().iter().map(asked).collect(),
        figures: device.cells().map(figure).collect(),
        doubts: device.doubts(),
    }
}

fn link(link: &roofline::Link) -> Link {
    let plain = Link {
        topology: link.topology.name(),
        bytes_per_s: link.bandwidth.get(),
        hop_s: link.latency.get(),
        devices: None,
        reduces: None,
        dimensions: None,
        pair_bytes_per_s: None,
        bridged_devices: None,
    };
    match link.topology {
        Topology::Switch { domain, reduces } => Link {
            devices: (domain < u32::MAX).then_some(domain),
            reduces: Some(match reduces {
                Reduces::InSwitch => "in-switch",
                Reduces::AtEndpoints => "at-endpoints",
            }),
            ..plain
        },
        Topology::Mesh { domain, pair } => {
            let pair_bytes_per_s = pair.map(BytesPerSec::get);
            Link { devices: Some(domain), pair_bytes_per_s, ..plain }
        }
        Topology::Torus { dimensions } => Link { dimensions: Some(dimensions), ..plain },
        Topology::Pcie => plain,
        Topology::Bridge { pair, cards } => {
            Link { pair_bytes_per_s: Some(pair.get()), bridged_devices: Some(cards), ..plain }
        }
    }
}

fn asked(price: &Price) -> Asked<'_> {
    Asked {
        low_usd_per_h: price.low().get(),
        high_usd_per_h: price.high().get(),
        kind: price.kind(),
        source: price.source(),
        date: price.date(),
        is_unverified: price.is_unverified(),
        note: price.note(),
    }
}

fn figure(cell: &Cell) -> Figure<'_> {
    Figure {
        field: cell.field(),
        value: cell.value(),
        printed: cell.printed(),
        range: cell.range(),
        source: cell.source(),
        date: cell.date(),
        is_unverified: cell.is_unverified(),
        note: cell.note(),
    }
}
