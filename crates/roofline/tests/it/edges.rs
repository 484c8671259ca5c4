//! What is taken and what is refused right at the edge between both.

use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec, Seconds, UsdPerHour, Watts};
use fizeau_roofline::{
    BoundShare, CachedRead, Collective, Device, HourlyRate, Link, MeasuredCollective, PowerCap,
    Price, PublishedFigure, ReductionSite, Topology,
};

fn plain() -> Device {
    let (bytes, rate) = (Bytes::new(80e9), BytesPerSec::new(2e12));
    Device::new("plain", bytes, rate, FlopsPerSec::new(1e15)).unwrap()
}

#[test]
fn links_that_make_sense() {
    let switch = |domain| Topology::Switch { domain, reduces: ReductionSite::AtEndpoints };
    let mesh = |pair: f64| Topology::Mesh { domain: 2, pair: Some(BytesPerSec::new(pair)) };
    let bridge = |pair, cards| Topology::Bridge { pair: BytesPerSec::new(pair), cards };
    let torus = |dimensions| Topology::Torus { dimensions };
    for (topology, bandwidth, latency, is_good) in [
        (switch(2), 1.0, 0.0, true),
        (switch(1), 1.0, 0.0, false),
        (switch(2), 0.0, 0.0, false),
        (switch(2), f64::INFINITY, 0.0, false),
        (switch(2), 1.0, -1e-12, false),
        (switch(2), 1.0, f64::INFINITY, false),
        (switch(2), 1.0, f64::NAN, false),
        (mesh(1.0), 1.0, 0.0, true),
        (mesh(0.0), 1.0, 0.0, false),
        (Topology::Mesh { domain: 1, pair: None }, 1.0, 0.0, false),
        (bridge(1.0, 2), 1.0, 0.0, true),
        (bridge(0.0, 2), 1.0, 0.0, false),
        (bridge(1.0, 1), 1.0, 0.0, false),
        (torus(0), 1.0, 0.0, false),
        (torus(1), 1.0, 0.0, true),
        (torus(6), 1.0, 0.0, true),
        (torus(7), 1.0, 0.0, false),
        (Topology::Pcie, 1.0, 0.0, true),
    ] {
        let (bandwidth, latency) = (BytesPerSec::new(bandwidth), Seconds::new(latency));
        let link = Link { bandwidth, latency, topology };
        assert_eq!(plain().with_link(link).is_ok(), is_good, "{link:?}");
        assert_eq!(plain().with_network(link).is_ok(), is_good, "{link:?}");
    }
}

#[test]
fn measured_collectives_that_make_sense() {
    let measured = |ranks, sizes: [f64; 2], latency, bandwidth: Option<f64>, within| {
        let line = (Seconds::new(latency), bandwidth.map(BytesPerSec::new));
        let sizes = sizes.map(Bytes::new);
        let of = MeasuredCollective::new(Collective::AllReduce, ranks, sizes, line, "somebody");
        plain().with_collective(of.with_within(within)).map_err(|error| error.to_string())
    };
    let good = [0.0, 5.0];
    for (taken, is_good) in [
        (measured(2, good, 0.0, Some(1.0), 0.0), true),
        (measured(1, good, 0.0, Some(1.0), 0.0), false),
        (measured(2, [5.0, 5.0], 0.0, Some(1.0), 0.0), true),
        (measured(2, [6.0, 5.0], 0.0, Some(1.0), 0.0), false),
        (measured(2, [-1.0, 5.0], 0.0, Some(1.0), 0.0), false),
        (measured(2, [0.0, f64::INFINITY], 0.0, Some(1.0), 0.0), false),
        (measured(2, good, -1e-9, Some(1.0), 0.0), false),
        (measured(2, good, f64::NAN, Some(1.0), 0.0), false),
        (measured(2, good, 0.0, Some(0.0), 0.0), false),
        (measured(2, good, 0.0, Some(f64::INFINITY), 0.0), false),
        (measured(2, good, 0.0, None, 0.0), false),
        (measured(2, good, 1e-6, None, 0.0), true),
        (measured(2, good, 1e-6, None, -0.01), false),
        (measured(2, good, 1e-6, None, f64::INFINITY), false),
    ] {
        assert_eq!(taken.is_ok(), is_good, "{taken:?}");
    }
}

#[test]
fn caches_are_read_at_the_rate_of_what_is_as_large() {
    let read = |bytes, rate| CachedRead {
        working_set: Bytes::new(bytes),
        bandwidth: BytesPerSec::new(rate),
    };
    let device = plain().with_cached_read(read(32e6, 4e12)).unwrap();
    let device = device.with_cached_read(read(1e6, 9e12)).unwrap();
    // One that is slower than memory is none.
    let device = device.with_cached_read(read(64e6, 1e12)).unwrap();
    let sizes: Vec<f64> = device.cached_reads().iter().map(|read| read.working_set.get()).collect();
    assert_eq!(sizes, [1e6, 32e6, 64e6]);
    let rate = |bytes| device.read_bandwidth(Bytes::new(bytes)).get();
    let rates = [0.5e6, 1e6, 31.9e6, 32e6, 63e6, 64e6, 1e9].map(rate);
    assert_eq!(rates, [9e12, 9e12, 9e12, 4e12, 4e12, 2e12, 2e12]);
    for wrong in [read(0.0, 1.0), read(1.0, 0.0), read(f64::INFINITY, 1.0)] {
        assert!(plain().with_cached_read(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn prices_that_make_sense() {
    let price = |low, high| {
        Price::new(UsdPerHour::new(low), UsdPerHour::new(high), "a", "b", "2026").is_ok()
    };
    assert!(price(2.0, 2.0) && price(1.0, 2.0));
    assert!(!price(2.1, 2.0) && !price(0.0, 2.0) && !price(1.0, f64::INFINITY));
    let given = |value| HourlyRate::given(UsdPerHour::new(value)).is_ok();
    assert!(given(0.01) && !given(0.0) && !given(-1.0) && !given(f64::INFINITY));
}

#[test]
fn limits_of_power_as_people_write_them() {
    let device = Device::named("h100-sxm").unwrap();
    let of = |text: &str| text.parse::<PowerCap>().ok().and_then(|cap| cap.of(device));
    for (text, watts) in [("500", 500.0), ("70%", 490.0), (" 0.5 %", 3.5), ("tdp", 700.0)] {
        assert!((of(text).unwrap().get() - watts).abs() < 1e-9, "{text}");
    }
    for text in ["0", "-1", "0%", "inf", "nan", "", "%", "TDP", "5 W"] {
        assert_eq!(of(text), None, "{text}");
    }
    // A share of what is not known is not known, and a number of watts is.
    assert_eq!("50%".parse::<PowerCap>().unwrap().of(&plain()), None);
    assert_eq!(PowerCap::Watts(Watts::new(9.0)).of(&plain()), Some(Watts::new(9.0)));
}

#[test]
fn shares_that_are_none() {
    let share = |part, whole| BoundShare::of(part, whole).map(BoundShare::percent);
    assert_eq!(share(0.0, 4.0), Some(0.0));
    assert_eq!(share(3.0, 4.0), Some(75.0));
    for (part, whole) in [(-1.0, 4.0), (-1.0, -4.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, f64::NAN)] {
        assert_eq!(share(part, whole), None, "{part} of {whole}");
    }
}

/// What sources disagree about: the least of them, over what is used.
#[test]
fn the_low_end_of_a_figure() {
    let text = "name = \"x\"\n[memory]\ncapacity = \"80 GiB\"\nbandwidth = { value = \"2000 GB/s\", range = [\"1500 GB/s\", \"2000 GB/s\"] }\n\
                [rates]\nbf16 = \"900 TFLOP/s\"\n";
    let device = Device::from_toml(text).unwrap();
    let low = |field: &str| {
        device.cells().find(|cell| cell.field == field).and_then(PublishedFigure::low_over_value)
    };
    assert_eq!((low("memory.bandwidth"), low("rates.bf16")), (Some(0.75), None));
}
