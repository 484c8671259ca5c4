//! What devices of each generation have.

use super::beyond;
use crate::Device;
use crate::device::quantity::FigureQuantity;

/// The limits of a generation: memory at most in GiB, bandwidth in GB/s, dense bf16 at most in TFLOP/s, link at
/// most in GB/s, one direction. They are those of the largest device on the vendor's sheets.
pub(super) struct GenerationLimits {
    pub(super) generation: &'static str,
    gib: f64,
    bandwidth: (f64, f64),
    bf16: f64,
    link: f64,
}

const fn limits(
    generation: &'static str,
    gib: f64,
    bandwidth: (f64, f64),
    bf16: f64,
    link: f64,
) -> GenerationLimits {
    GenerationLimits { generation, gib, bandwidth, bf16, link }
}

const GENERATIONS: [GenerationLimits; 17] = [
    limits("ampere", 80.0, (200.0, 2039.0), 312.0, 300.0),
    limits("ada", 48.0, (200.0, 1008.0), 366.5, 32.0),
    limits("hopper", 144.0, (1935.0, 4917.0), 989.5, 450.0),
    limits("blackwell", 192.0, (7700.0, 8184.0), 2500.0, 900.0),
    limits("blackwell-ultra", 288.0, (7700.0, 8000.0), 2500.0, 900.0),
    // Workstation, consumer and GB10.
    limits("blackwell-rtx", 128.0, (250.0, 1800.0), 504.0, 64.0),
    // A die, of which a card has two.
    limits("cdna2", 64.0, (1600.0, 1640.0), 191.5, 200.0),
    limits("cdna3", 256.0, (5200.0, 6000.0), 1307.4, 448.0),
    limits("cdna4", 288.0, (8000.0, 8000.0), 2516.6, 537.6),
    limits("gaudi2", 96.0, (2400.0, 2460.0), 432.0, 300.0),
    limits("gaudi3", 128.0, (3600.0, 3700.0), 1835.0, 600.0),
    limits("tpu-v5e", 16.0, (810.0, 859.0), 197.0, 200.0),
    limits("tpu-v5p", 96.0, (2700.0, 2800.0), 459.0, 600.0),
    limits("tpu-v6e", 32.0, (1600.0, 1640.0), 918.0, 448.0),
    limits("tpu-v7x", 192.0, (7300.0, 7400.0), 2307.0, 600.0),
    limits("trainium2", 96.0, (2800.0, 2900.0), 667.0, 640.0),
    limits("inferentia2", 32.0, (820.0, 881.0), 190.0, 206.2),
];

pub(super) fn check(device: &Device, doubts: &mut Vec<String>) {
    let Some(generation) = device.generation.as_deref() else {
        return;
    };
    let Some(limits) = GENERATIONS.iter().find(|limits| limits.generation == generation) else {
        let known: Vec<&str> = GENERATIONS.iter().map(|limits| limits.generation).collect();
        doubts.push(format!(
            "generation \"{}\" is not known, so no figure was held against it; known are {}",
            generation.chars().take(40).collect::<String>(),
            known.join(", ")
        ));
        return;
    };
    let board = "is it a board's or a server's, or counted in another unit?";
    let wire = "is it of both directions, or of several devices?";
    let gib = 1_073_741_824.0;
    let (least, most) = limits.bandwidth;
    let of = |measure, why| (limits, measure, why);
    let memory = device.memory.get();
    doubts.extend(beyond(
        "memory.capacity",
        memory,
        (0.0, limits.gib * gib),
        of(FigureQuantity::Memory, board),
    ));
    let bandwidth = device.memory_bandwidth.get();
    let range = (least * 1e9, most * 1e9);
    doubts.extend(beyond(
        "memory.bandwidth",
        bandwidth,
        range,
        of(FigureQuantity::Bandwidth, board),
    ));
    let dense = "is it with sparsity, of fp8, or of several devices?";
    let rate = device.bf16.get();
    doubts.extend(beyond(
        "rates.bf16",
        rate,
        (0.0, limits.bf16 * 1e12),
        of(FigureQuantity::Rate, dense),
    ));
    if let Some(link) = device.link {
        let range = (0.0, limits.link * 1e9);
        let carried = link.bandwidth.get();
        doubts.extend(beyond("link.each_way", carried, range, of(FigureQuantity::Bandwidth, wire)));
    }
}
