//! The figures, as vendors print them.
//!
//! Three habits of data sheets are undone here. Rates with structured sparsity are halved to dense ones.
//! Sheets for boards of two or eight are divided to one device. And memory is counted in binary gigabytes
//! whatever the sheet's unit: "80 GB" of stacked memory is 80 x 2^30 bytes, of which a driver shows a few
//! per cent less; read as decimal it would make a capacity bound that a real device beats.

use std::borrow::Cow;

use fizeau_core::{Bytes, BytesPerSec, FlopsPerSec};

use super::Device;

/// One row: memory in GiB, bandwidth in GB/s, dense rates in TFLOP/s, power in watts.
struct Row {
    name: &'static str,
    title: &'static str,
    gib: u32,
    gb_per_s: f64,
    bf16_tflops: f64,
    fp8_tflops: Option<f64>,
    tdp_watts: u32,
    source: &'static str,
}

pub(super) static DEVICES: [Device; 14] = [
    device(&Row {
        name: "a100-sxm-40",
        title: "NVIDIA A100 SXM 40 GB",
        gib: 40,
        gb_per_s: 1555.0,
        bf16_tflops: 312.0,
        fp8_tflops: None,
        tdp_watts: 400,
        source: "NVIDIA A100 Tensor Core GPU data sheet, 40 GB edition",
    }),
    device(&Row {
        name: "a100-sxm-80",
        title: "NVIDIA A100 SXM 80 GB",
        gib: 80,
        gb_per_s: 2039.0,
        bf16_tflops: 312.0,
        fp8_tflops: None,
        tdp_watts: 400,
        source: "NVIDIA A100 Tensor Core GPU data sheet, 80 GB edition",
    }),
    device(&Row {
        name: "a100-pcie-80",
        title: "NVIDIA A100 PCIe 80 GB",
        gib: 80,
        gb_per_s: 1935.0,
        bf16_tflops: 312.0,
        fp8_tflops: None,
        tdp_watts: 300,
        source: "NVIDIA A100 Tensor Core GPU data sheet, 80 GB edition",
    }),
    device(&Row {
        name: "h100-sxm",
        title: "NVIDIA H100 SXM 80 GB",
        gib: 80,
        gb_per_s: 3350.0,
        bf16_tflops: 989.5,
        fp8_tflops: Some(1979.0),
        tdp_watts: 700,
        source: "NVIDIA H100 Tensor Core GPU data sheet (1979 and 3958 TFLOP/s are with sparsity)",
    }),
    device(&Row {
        name: "h100-pcie",
        title: "NVIDIA H100 PCIe 80 GB",
        gib: 80,
        gb_per_s: 2000.0,
        bf16_tflops: 756.5,
        fp8_tflops: Some(1513.0),
        tdp_watts: 350,
        source: "NVIDIA H100 Tensor Core GPU data sheet (1513 and 3026 TFLOP/s are with sparsity)",
    }),
    device(&Row {
        name: "h200-sxm",
        title: "NVIDIA H200 SXM 141 GB",
        gib: 141,
        gb_per_s: 4800.0,
        bf16_tflops: 989.5,
        fp8_tflops: Some(1979.0),
        tdp_watts: 700,
        source: "NVIDIA H200 Tensor Core GPU data sheet (1979 and 3958 TFLOP/s are with sparsity)",
    }),
    device(&Row {
        name: "b200-sxm",
        title: "NVIDIA B200 SXM 180 GB",
        gib: 180,
        gb_per_s: 8000.0,
        bf16_tflops: 2250.0,
        fp8_tflops: Some(4500.0),
        tdp_watts: 1000,
        source: "NVIDIA DGX B200 data sheet, an eighth of the system (72 PFLOP/s fp8 are with sparsity)",
    }),
    device(&Row {
        name: "gb200",
        title: "NVIDIA GB200 186 GB, one of the superchip's two GPUs",
        gib: 186,
        gb_per_s: 8000.0,
        bf16_tflops: 2500.0,
        fp8_tflops: Some(5000.0),
        tdp_watts: 1200,
        source: "NVIDIA GB200 NVL72 product page, half a superchip, without sparsity",
    }),
    device(&Row {
        name: "l4",
        title: "NVIDIA L4 24 GB",
        gib: 24,
        gb_per_s: 300.0,
        bf16_tflops: 121.0,
        fp8_tflops: Some(242.0),
        tdp_watts: 72,
        source: "NVIDIA L4 Tensor Core GPU data sheet (242 and 485 TFLOP/s are with sparsity)",
    }),
    device(&Row {
        name: "l40s",
        title: "NVIDIA L40S 48 GB",
        gib: 48,
        gb_per_s: 864.0,
        bf16_tflops: 362.05,
        fp8_tflops: Some(733.0),
        tdp_watts: 350,
        source: "NVIDIA L40S data sheet (733 bf16 and 1466 fp8 TFLOP/s are with sparsity)",
    }),
    device(&Row {
        name: "rtx-4090",
        title: "NVIDIA GeForce RTX 4090 24 GB",
        gib: 24,
        gb_per_s: 1008.0,
        // With 16-bit accumulation, which float16 engines may use; with 32-bit it is half of that. A bound takes the
        // larger.
        bf16_tflops: 330.3,
        fp8_tflops: Some(660.6),
        tdp_watts: 450,
        source: "NVIDIA Ada GPU Architecture white paper, dense, with 16-bit accumulation",
    }),
    device(&Row {
        name: "mi300x",
        title: "AMD Instinct MI300X 192 GB",
        gib: 192,
        gb_per_s: 5300.0,
        bf16_tflops: 1307.4,
        fp8_tflops: Some(2614.9),
        tdp_watts: 750,
        source: "AMD Instinct MI300X data sheet, without sparsity",
    }),
    device(&Row {
        name: "mi325x",
        title: "AMD Instinct MI325X 256 GB",
        gib: 256,
        gb_per_s: 6000.0,
        bf16_tflops: 1307.4,
        fp8_tflops: Some(2614.9),
        tdp_watts: 1000,
        source: "AMD Instinct MI325X data sheet, without sparsity",
    }),
    device(&Row {
        name: "mi355x",
        title: "AMD Instinct MI355X 288 GB",
        gib: 288,
        gb_per_s: 8000.0,
        bf16_tflops: 2516.6,
        fp8_tflops: Some(5033.2),
        tdp_watts: 1400,
        source: "AMD Instinct MI355X data sheet, without sparsity",
    }),
];

const fn device(row: &Row) -> Device {
    Device {
        link: None,
        network: None,
        name: Cow::Borrowed(row.name),
        title: Cow::Borrowed(row.title),
        source: Cow::Borrowed(row.source),
        memory: Bytes::new(row.gib as f64 * 1_073_741_824.0),
        memory_bandwidth: BytesPerSec::new(row.gb_per_s * 1e9),
        bf16: FlopsPerSec::new(row.bf16_tflops * 1e12),
        fp8: match row.fp8_tflops {
            Some(tflops) => Some(FlopsPerSec::new(tflops * 1e12)),
            None => None,
        },
        tdp_watts: Some(row.tdp_watts),
    }
}
