//! The devices that come with the crate: the files of `data/devices`, by vendor and generation.

use std::sync::LazyLock;

use super::{Device, file};

/// Every device of the table.
pub(super) fn devices() -> &'static [Device] {
    // Each file is read by a test, so none is left out.
    static DEVICES: LazyLock<Vec<Device>> =
        LazyLock::new(|| FILES.iter().filter_map(|text| file::device(text).ok()).collect());
    &DEVICES
}

macro_rules! files {
    ($($name:literal,)*) => {
        [$(include_str!(concat!("../../data/devices/", $name, ".toml")),)*]
    };
}

/// The texts.
#[rustfmt::skip] // One name a line would fill a screen.
pub(super) static FILES: [&str; 33] = files![
    "a100-sxm-40", "a100-sxm-80", "a100-pcie-80", "h100-sxm", "h100-pcie", "h100-nvl", "h800-sxm",
    "h200-sxm", "h200-nvl", "h20", "b200-sxm", "gb200", "b300-sxm", "gb300", "l4", "l40s",
    "rtx-4090", "rtx-5090", "rtx-pro-6000-server", "dgx-spark", "mi250x", "mi300x", "mi325x",
    "mi350x", "mi355x", "gaudi2", "gaudi3", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu-v7x",
    "trainium2", "inferentia2",
];
