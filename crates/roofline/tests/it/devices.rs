//! Looking devices up, and devices of one's own by their figures.

use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec, Seconds, UsdPerHour};
use fizeau_roofline::{Device, Link, MathType, Price, ReductionSite, Topology};

#[test]
fn every_device_is_found_by_its_names() {
    for device in Device::all() {
        assert_eq!(Device::named(&device.name).unwrap(), device);
        assert_eq!(&Device::from_toml(Device::file(&device.name).unwrap()).unwrap(), device);
        for alias in &device.aliases {
            assert_eq!(Device::named(alias).unwrap().name, device.name, "{alias}");
        }
    }
}

#[test]
fn spelling_is_forgiven_where_nothing_else_could_be_meant() {
    assert_eq!(Device::named(" H100_SXM ").unwrap().name, "h100-sxm");
    assert_eq!(Device::named("RTX 4090").unwrap().name, "rtx-4090");
    // The parts that these names are mostly used for.
    for (short, name) in [("h100", "h100-sxm"), ("H200", "h200-sxm"), ("a100", "a100-sxm-80")] {
        assert_eq!(Device::named(short).unwrap().name, name);
    }
    assert_eq!(Device::named("GB10").unwrap().name, "dgx-spark");
    assert_eq!(Device::named("trn2").unwrap().name, "trainium2");
}

#[test]
fn an_unknown_name_gets_a_suggestion() {
    for (wrong, nearest) in [
        ("h100-smx", "h100-sxm"),
        ("h20-sxm", "h200-sxm"),
        ("h1000", "h100-sxm"),
        ("mi300", "mi300x"),
        ("4090", "rtx-4090"),
        ("gaudi", "gaudi2"),
    ] {
        let error = Device::named(wrong).unwrap_err();
        assert_eq!(error.nearest, nearest, "for {wrong}");
        let message = error.to_string();
        assert!(message.contains(wrong), "{message}");
        assert!(message.contains(&format!("did you mean \"{nearest}\"?")), "{message}");
    }
    assert!(Device::named("").is_err());
    assert!(Device::named(&"x".repeat(100_000)).unwrap_err().to_string().len() < 800);
}

#[test]
fn rates_fall_back_to_the_next_wider_type() {
    let hopper = Device::named("h100-sxm").unwrap();
    assert_eq!(hopper.rate_for(MathType::Bf16).get(), 989.5e12);
    assert_eq!(hopper.rate_for(MathType::Fp4).get(), 1979e12);
    let ampere = Device::named("a100-sxm-80").unwrap();
    assert_eq!(ampere.dense_rate(MathType::Fp8), None);
    assert_eq!(ampere.rate_for(MathType::Fp8).get(), 312e12);
}

fn new(memory: f64, bandwidth: f64, rate: f64) -> Result<Device, fizeau_roofline::DeviceError> {
    Device::new("mine", Bytes::new(memory), BytesPerSec::new(bandwidth), FlopsPerSec::new(rate))
}

#[test]
fn a_device_of_ones_own_needs_sane_figures() {
    let mine = new(24e9, 1e12, 2e14).unwrap();
    assert_eq!((&*mine.name, &*mine.title), ("mine", "mine"));
    assert_eq!((mine.tdp(), mine.link(), mine.network()), (None, None, None));
    assert_eq!(mine.usable_memory(), mine.memory());
    assert_eq!(mine.source(), "given by the caller");

    let message = new(24e9, 0.0, 2e14).unwrap_err().to_string();
    assert!(message.contains("memory bandwidth is 0"), "{message}");
    assert!(new(f64::NAN, 1e12, 2e14).is_err());
    assert!(new(24e9, 1e12, f64::INFINITY).is_err());
    assert!(mine.clone().with_rate(MathType::Fp8, FlopsPerSec::new(-1.0)).is_err());
    let message = mine.with_usable_memory(Bytes::new(25e9)).unwrap_err().to_string();
    assert!(message.contains("usable memory is 25000000000"), "{message}");
}

#[test]
fn what_is_given_replaces_what_was_published() {
    let rate = FlopsPerSec::new(4e14);
    let fast = new(24e9, 1e12, 2e14).unwrap().with_rate(MathType::Fp8, rate).unwrap();
    assert_eq!(fast.dense_rate(MathType::Fp8), Some(rate));
    assert_eq!(fast.dense_rate(MathType::Fp4), None);

    let known = Device::named("h100-sxm").unwrap();
    let cells = known.cells().count();
    let slow = known.clone().with_rate(MathType::Fp8, rate).unwrap();
    let cell = slow.cells().find(|cell| cell.field == "rates.fp8").unwrap();
    assert_eq!((&*cell.value, &*cell.source), ("400 TFLOP/s", "given by the caller"));
    assert_eq!(slow.cells().count(), cells);
    let small = slow.with_usable_memory(Bytes::new(70e9)).unwrap();
    assert_eq!(small.usable_memory().get(), 70e9);
    assert_eq!(small.memory(), known.memory());
}

#[test]
fn a_link_needs_sane_figures() {
    let link = |bandwidth, latency, topology| {
        let (bandwidth, latency) = (BytesPerSec::new(bandwidth), Seconds::new(latency));
        new(24e9, 1e12, 2e14).unwrap().with_link(Link { bandwidth, latency, topology })
    };
    let switch = |domain| Topology::Switch { domain, reduces: ReductionSite::AtEndpoints };
    let linked = link(450e9, 1e-6, switch(8)).unwrap();
    assert_eq!(linked.link().unwrap().topology, switch(8));
    assert_eq!(
        linked.clone().with_network(*linked.link().unwrap()).unwrap().network(),
        linked.link()
    );
    assert!(link(450e9, 0.0, Topology::Pcie).is_ok(), "a bound may do without latency");
    for (wrong, word) in [
        (link(0.0, 1e-6, switch(8)), "bandwidth"),
        (link(450e9, -1e-6, switch(8)), "latency"),
        (link(450e9, f64::NAN, switch(8)), "latency"),
        (link(450e9, 1e-6, switch(1)), "domain"),
        (link(450e9, 1e-6, Topology::Mesh { domain: 0, pair: None }), "domain"),
        (link(450e9, 1e-6, Topology::Torus { dimensions: 0 }), "dimensions"),
        (link(64e9, 1e-6, Topology::Bridge { pair: BytesPerSec::new(-1.0), cards: 2 }), "bridge"),
        (link(64e9, 1e-6, Topology::Bridge { pair: BytesPerSec::new(1.0), cards: 1 }), "domain"),
    ] {
        let message = wrong.unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn a_price_has_two_ends() {
    let price = |low, high| {
        Price::new(UsdPerHour::new(low), UsdPerHour::new(high), "mine", "a bill", "2026-11")
    };
    let device = new(24e9, 1e12, 2e14).unwrap().with_price(price(1.0, 2.0).unwrap());
    let known = device.prices.first().unwrap();
    assert_eq!((known.low.get(), known.high.get()), (1.0, 2.0));
    assert_eq!((&*known.kind, &*known.source, &*known.date), ("mine", "a bill", "2026-11"));
    assert!(price(2.0, 1.0).unwrap_err().to_string().contains("lowest price is 2"));
    assert!(price(0.0, 1.0).is_err());
    assert!(price(1.0, f64::INFINITY).is_err());
}
