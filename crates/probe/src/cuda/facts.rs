//! What is known of a GPU before anything is measured.

use fizeau_core::{Bytes, BytesPerSec, PerSec};
use fizeau_roofline::Device;

use super::driver::Properties;
use crate::device::{DeviceFacts, Peak, SpecifiedPeak};

/// The device as its driver describes it, with what its vendor prints where the name is one of the table of devices. What its units give in a
/// cycle is not among it: their clock under load is not measured.
pub(super) fn device(of: &Properties, name: &str) -> DeviceFacts {
    let mut facts = DeviceFacts::new(name, &of.name);
    facts.memory = Some(Bytes::new(of.memory_bytes as f64));
    facts.last_cache = (of.l2_bytes > 0).then(|| Bytes::new(of.l2_bytes as f64));
    facts.multiprocessors = Some(of.multiprocessors);
    facts.highest_clock = (of.clock_khz > 0).then(|| PerSec::new(f64::from(of.clock_khz) * 1e3));
    let (major, minor) = of.driver;
    facts.software.push(format!("a driver for CUDA {major}.{minor}"));
    let listed = listed(&of.name).and_then(|name| Device::named(name).ok());
    match listed {
        Some(listed) => facts.specified_by(listed),
        None => {
            facts.specification.extend(bus(of));
            facts
        }
    }
}

/// The table's name of a device that its driver names so.
fn listed(name: &str) -> Option<&'static str> {
    let name = name.trim_start_matches("NVIDIA ").trim_start_matches("GeForce ");
    Some(match name {
        "A100-SXM4-40GB" => "a100-sxm-40",
        "A100-SXM4-80GB" => "a100-sxm-80",
        "A100 80GB PCIe" => "a100-pcie-80",
        "H100 80GB HBM3" => "h100-sxm",
        "H100 PCIe" => "h100-pcie",
        "H100 NVL" => "h100-nvl",
        "H200" => "h200-sxm",
        "H200 NVL" => "h200-nvl",
        "H800" => "h800-sxm",
        "H20" => "h20",
        "B200" => "b200-sxm",
        "GB200" => "gb200",
        "L4" => "l4",
        "L40S" => "l40s",
        "RTX 4090" => "rtx-4090",
        "RTX 5090" => "rtx-5090",
        _ => return None,
    })
}

/// Memory's bandwidth by its bus and clock, which carries two words a cycle.
fn bus(of: &Properties) -> Option<SpecifiedPeak> {
    let rate = 2.0 * f64::from(of.memory_clock_khz) * 1e3 * f64::from(of.memory_bus_bits) / 8.0;
    (rate > 0.0).then(|| SpecifiedPeak {
        peak: Peak::Bandwidth(BytesPerSec::new(rate)),
        dtype: None,
        source: format!(
            "{} bits at {:.0} MHz, two words a cycle, as the driver reports",
            of.memory_bus_bits,
            f64::from(of.memory_clock_khz) / 1e3
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_one_of_the_table() {
        for name in [
            "NVIDIA A100-SXM4-80GB",
            "NVIDIA H100 80GB HBM3",
            "NVIDIA H200",
            "NVIDIA B200",
            "NVIDIA GeForce RTX 4090",
        ] {
            let found = listed(name).and_then(|name| Device::named(name).ok());
            assert!(found.is_some(), "{name}");
        }
        assert_eq!(listed("Quadro"), None);
    }

    /// The H100's sheet says 3.35 TB/s.
    #[test]
    fn a_bus_and_its_clock_are_a_bandwidth() {
        let of = Properties {
            memory_clock_khz: 2_619_000,
            memory_bus_bits: 5120,
            ..Properties::default()
        };
        let Some(Peak::Bandwidth(rate)) = bus(&of).map(|printed| printed.peak) else { panic!() };
        assert!((rate.get() / 3.35e12 - 1.0).abs() < 0.01, "{rate:?}");
        assert_eq!(bus(&Properties::default()), None);
    }
}
